//! The camera: from points of the world to places in a picture and back. A picture always shows the same part of the
//! world, half as wide again as high, whatever its pixels; so what is in view does not depend on how large it is drawn.

use glam::Vec3;

/// Width of the view by its height, as in CLEVR's 480 x 320.
pub(crate) const ASPECT: f32 = 1.5;

/// A camera without roll.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands.
    pub position: Vec3,
    /// Where it looks; unit length, like the other two.
    pub forward: Vec3,
    /// What is right in the picture: always level.
    pub right: Vec3,
    /// What is up in the picture.
    pub up: Vec3,
    /// Distance of the picture's plane, in widths of the picture.
    focal: f32,
}

impl Camera {
    /// A camera that looks in the direction `yaw` (around the vertical, from the x-axis), `pitch` below the horizon.
    #[must_use]
    pub fn new(position: Vec3, yaw: f32, pitch: f32, focal: f32) -> Self {
        let (sin, cos) = yaw.sin_cos();
        let forward = Vec3::new(pitch.cos() * cos, pitch.cos() * sin, -pitch.sin());
        let right = Vec3::new(sin, -cos, 0.0);
        Self { position, forward, right, up: right.cross(forward), focal }
    }

    /// The direction, of unit length, in which a place of the picture is seen: across from the left and down from the
    /// top, both from 0 to 1.
    #[must_use]
    pub fn ray(&self, across: f32, down: f32) -> Vec3 {
        let (right, up) = (across - 0.5, (0.5 - down) / ASPECT);
        (self.forward * self.focal + self.right * right + self.up * up).normalize()
    }

    /// Where a point is in the picture, across and down, and how far it is along the line of sight. `None` behind the
    /// camera.
    #[must_use]
    pub(crate) fn project(&self, point: Vec3) -> Option<Place> {
        let offset = point - self.position;
        let depth = offset.dot(self.forward);
        let scale = self.focal / depth;
        (depth > 0.0).then(|| Place {
            across: 0.5 + scale * offset.dot(self.right),
            down: 0.5 - scale * offset.dot(self.up) * ASPECT,
            depth,
        })
    }

    /// The box, across and down, that a ball cannot be seen outside of; all of the picture where it is too near to tell.
    #[must_use]
    pub fn span(&self, center: Vec3, radius: f32) -> Span {
        let everything = Span { across: [0.0, 1.0], down: [0.0, 1.0] };
        match self.project(center) {
            Some(place) if place.depth > 2.0 * radius => {
                // A ball bulges outwards; the nearest part of it stands for all.
                let reach = 1.1 * self.focal * radius / (place.depth - radius);
                Span {
                    across: [place.across - reach, place.across + reach],
                    down: [place.down - reach * ASPECT, place.down + reach * ASPECT],
                }
            }
            _ if (center - self.position).length() > radius && (center - self.position).dot(self.forward) < -radius => {
                // Behind the camera: beyond every edge.
                Span { across: [2.0; 2], down: [2.0; 2] }
            }
            _ => everything,
        }
    }
}

/// A place in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// From the left, in widths of the picture.
    pub across: f32,
    /// From the top, in heights of the picture.
    pub down: f32,
    /// How far from the camera, along the line of sight.
    pub depth: f32,
}

/// A box in a picture, in its widths and heights; it may reach beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// Leftmost and rightmost.
    pub across: [f32; 2],
    /// Topmost and lowest.
    pub down: [f32; 2],
}

impl Span {
    /// The pixels of a picture that it touches: columns and rows, ends excluded.
    #[must_use]
    pub fn pixels(&self, width: usize, height: usize) -> [std::ops::Range<usize>; 2] {
        let range = |[from, to]: [f32; 2], pixels: usize| {
            let at = |place: f32| (place * pixels as f32).clamp(0.0, pixels as f32);
            at(from).floor() as usize..at(to).ceil() as usize
        };
        [range(self.across, width), range(self.down, height)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_seen_where_it_projects() {
        let camera = Camera::new(Vec3::new(4.0, -3.0, 2.5), 2.4, 0.5, 1.1);
        for point in [Vec3::ZERO, Vec3::new(0.7, 1.0, 0.3), Vec3::new(-2.0, 0.4, 1.0)] {
            let place = camera.project(point).unwrap();
            let ray = camera.ray(place.across, place.down);
            let direction = (point - camera.position).normalize();
            assert!(ray.distance(direction) < 1e-5, "{ray} {direction}");
            assert!((place.depth - (point - camera.position).dot(camera.forward)).abs() < 1e-5);
        }
        assert_eq!(camera.project(camera.position - camera.forward), None);
    }

    /// What the camera of CLEVR's first scene shows, by its file: within what that camera is shaken by.
    #[test]
    fn real_places_are_found_again() {
        let camera = Camera::new(Vec3::new(7.572, -6.541, 5.4), 2.429, 0.495, 528.6 / 480.0);
        let seen = [([-1.371, 2.079, 0.7], [269.0, 88.0]), ([1.019, -1.937, 0.35], [192.0, 197.0])];
        for (point, [across, down]) in seen {
            let place = camera.project(Vec3::from(point)).unwrap();
            assert!(
                (place.across * 480.0 - across).abs() < 12.0 && (place.down * 320.0 - down).abs() < 12.0,
                "{place:?}"
            );
        }
    }
}
