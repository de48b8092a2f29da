//! Figures on a canvas of linear light. A picture shows a frame that is half as wide again as high, whatever its size in
//! pixels.

use std::ops::Range;

use glam::{Vec2, Vec3};

use super::figure::Figure;
use super::shape::{Shape, Touch};

/// How wide a picture is, in heights.
pub(super) const WIDE: f32 = 1.5;

/// How much lighter what faces the sun is than what lies level.
const RELIEF: f32 = 0.4;

/// Where a figure is in the frame, and how it is turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    /// Where its ground is: across and down, in heights of the picture.
    pub(super) at: Vec2,
    /// How large its unit is, in heights of the picture.
    pub(super) size: f32,
    /// Whether it looks to the left.
    pub(super) is_mirrored: bool,
    /// How it is turned against the clock.
    pub(super) turn: f32,
}

impl Pose {
    /// A figure that is measured in heights of the picture, from its lower left corner.
    pub(super) const FRAME: Self = Self { at: Vec2::new(0.0, 1.0), size: 1.0, is_mirrored: false, turn: 0.0 };

    fn side(&self) -> f32 {
        if self.is_mirrored { -1.0 } else { 1.0 }
    }

    /// A place in the frame as the figure knows it; `turn` is back to where the figure is upright.
    fn inside(&self, place: Vec2, turn: Vec2) -> Vec2 {
        let turned = (place - self.at) / self.size * Vec2::new(1.0, -1.0);
        turned.rotate(turn) * Vec2::new(self.side(), 1.0)
    }

    /// The upper left and the lower right corner of what holds a box of the figure.
    pub(super) fn outside(&self, [low, high]: [Vec2; 2]) -> [Vec2; 2] {
        let turn = Vec2::from_angle(self.turn);
        let corners = [low, high, Vec2::new(low.x, high.y), Vec2::new(high.x, low.y)].map(|corner| {
            let turned = (corner * Vec2::new(self.side(), 1.0)).rotate(turn);
            self.at + turned * Vec2::new(1.0, -1.0) * self.size
        });
        let [first, others @ ..] = corners;
        others.into_iter().fold([first; 2], |[low, high], corner| [low.min(corner), high.max(corner)])
    }
}

/// Some rows of a picture of so many pixels across and down. Large pictures are painted band by band, so that memory does not
/// grow with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Band {
    pub(super) size: (usize, usize),
    pub(super) rows: Range<usize>,
}

impl Band {
    /// All rows.
    pub(super) fn whole(size: (usize, usize)) -> Self {
        Self { size, rows: 0..size.1 }
    }

    /// A picture in bands of at most so many pixels, or of a row.
    pub(super) fn all(size: (usize, usize), pixels: usize) -> impl Iterator<Item = Self> {
        let rows = (pixels / size.0).max(1);
        (0..size.1).step_by(rows).map(move |first| Self { size, rows: first..(first + rows).min(size.1) })
    }
}

/// Goes through the pixels in and around a shape, by their numbers in the band, with their places as the figure knows them, and
/// how far the shape is from each, in pixels.
pub(super) fn sweep(
    shape: &Shape,
    pose: &Pose,
    Band { size: (width, height), rows }: &Band,
    mut visit: impl FnMut(usize, Vec2, Touch),
) {
    let (width, height) = (*width, *height);
    let pixels = Vec2::new(width as f32 / WIDE, height as f32);
    let [low, high] = pose.outside(shape.bounds()).map(|corner| corner * pixels);
    let first = (low - 1.0).max(Vec2::ZERO);
    let last = (high + 1.0).min(Vec2::new(width as f32, height as f32));
    let (scale, turn) = (pose.size * (pixels.x * pixels.y).sqrt(), Vec2::from_angle(-pose.turn));
    for row in rows.start.max(first.y as usize)..rows.end.min(last.y.max(0.0) as usize) {
        for column in first.x as usize..last.x.max(0.0) as usize {
            let place = Vec2::new(column as f32 + 0.5, row as f32 + 0.5) / pixels;
            let inside = pose.inside(place, turn);
            let touch = shape.touch(inside);
            visit((row - rows.start) * width + column, inside, Touch { distance: touch.distance * scale, ..touch });
        }
    }
}

/// Pixels of linear light.
pub(super) struct Canvas {
    pub(super) band: Band,
    pub(super) light: Vec<Vec3>,
    /// From where light comes: to the right and up.
    pub(super) sun: Vec2,
}

impl Canvas {
    /// Paints a figure over what is there.
    pub(super) fn paint(&mut self, figure: &Figure, pose: &Pose) {
        let (sun, light) = (self.sun, &mut self.light);
        let sun = Vec2::new(sun.x * pose.side(), sun.y);
        for stroke in &figure.strokes {
            let fill = stroke.fill;
            sweep(&stroke.shape, pose, &self.band, |pixel, inside, touch| {
                let cover = (0.5 - touch.distance).clamp(0.0, 1.0) * fill.cover;
                if cover > 0.0 {
                    let grain = 1.0 + fill.grain * (2.0 * noise(inside * 24.0) - 1.0);
                    let color = fill.color * grain * (1.0 + RELIEF * touch.facing.dot(sun));
                    light[pixel] = light[pixel].lerp(color, cover);
                }
            });
        }
    }

    /// Darkens what lies in the shadow of a figure that stands there.
    pub(super) fn shade(&mut self, figure: &Figure, pose: &Pose) {
        let [low, high] = pose.outside(figure.bounds());
        let half = 0.5 * (high.x - low.x);
        let center = Vec2::new(0.5 * (low.x + high.x) - 0.3 * half * self.sun.x, pose.at.y);
        let radii = Vec2::new(1.05 * half, (0.16 * half).max(0.012));
        let Band { size: (width, height), rows } = &self.band;
        let (width, height) = (*width, *height);
        let pixels = Vec2::new(width as f32 / WIDE, height as f32);
        let [first, last] = [(center - radii) * pixels, (center + radii) * pixels];
        for row in rows.start.max(first.y.max(0.0) as usize)..rows.end.min(last.y.max(0.0) as usize + 1) {
            for column in first.x.max(0.0) as usize..width.min(last.x.max(0.0) as usize + 1) {
                let place = Vec2::new(column as f32 + 0.5, row as f32 + 0.5) / pixels;
                let far = ((place - center) / radii).length_squared();
                self.light[(row - rows.start) * width + column] *= 1.0 - 0.55 * (1.0 - far).clamp(0.0, 1.0);
            }
        }
    }
}

/// A number from 0 to 1 that goes up and down with the place, smoothly, about once a unit.
pub(super) fn noise(place: Vec2) -> f32 {
    let (corner, inside) = (place.floor(), place - place.floor());
    let (column, row) = (corner.x as i32, corner.y as i32);
    let smooth = inside * inside * (3.0 - 2.0 * inside);
    let mixed = |row: i32| {
        let (left, right) = (random_at(column, row), random_at(column.wrapping_add(1), row));
        left + (right - left) * smooth.x
    };
    let (low, high) = (mixed(row), mixed(row.wrapping_add(1)));
    low + (high - low) * smooth.y
}

/// A number from 0 to 1 that is another one at every place.
pub(super) fn random_at(column: i32, row: i32) -> f32 {
    let mut bits = (column as u32).wrapping_mul(0x9e37_79b1) ^ (row as u32).wrapping_mul(0x85eb_ca77);
    bits = (bits ^ bits >> 15).wrapping_mul(0x2c1b_3c6d);
    bits = (bits ^ bits >> 12).wrapping_mul(0x297a_2d39);
    ((bits ^ bits >> 15) >> 8) as f32 / (1 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back() {
        let pose = Pose { at: Vec2::new(0.7, 0.4), size: 0.3, is_mirrored: true, turn: 0.4 };
        let [low, high] = pose.outside([Vec2::new(0.2, 0.5); 2]);
        assert_eq!(low, high, "a point is a box");
        assert!(pose.inside(low, Vec2::from_angle(-0.4)).distance(Vec2::new(0.2, 0.5)) < 1e-5);
    }

    /// However it is turned and squeezed, a shape covers as many pixels as its area says.
    #[test]
    fn coverage_is_area() {
        let shape =
            Shape::Area { corners: [[0., 0.], [1., 0.], [1., 0.5], [0., 0.5]].map(Vec2::from).into(), round: 0.0 };
        for (size, tolerance) in [((96, 64), 0.02), ((64, 64), 0.04)] {
            for turn in [0.0, 0.3, 1.2] {
                let pose = Pose { at: Vec2::new(0.7, 0.6), size: 0.4, is_mirrored: turn > 1.0, turn };
                let mut covered = 0.0;
                sweep(&shape, &pose, &Band::whole(size), |_, _, touch| {
                    covered += (0.5 - touch.distance).clamp(0.0, 1.0);
                });
                let expected = 0.5 * 0.4 * 0.4 * size.0 as f32 / WIDE * size.1 as f32;
                assert!((covered / expected - 1.0).abs() < tolerance, "{covered} {expected}");
            }
        }
    }
}
