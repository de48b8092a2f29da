//! A brush: filled outlines on a canvas that is finer than the picture it becomes, so that edges are smooth. What is painted
//! may be colours, or numbers of objects: then the canvas is a mask.

use chimera::error::Result;
use chimera::media::picture::{Picture, Size};
use glam::{Affine2, Vec2};

/// Points of a round end of a limb.
const ROUND: usize = 7;

/// A closed outline, in whatever units the canvas has.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// Straight edges from point to point; what they go around twice is outside.
    Polygon(Vec<Vec2>),
    /// All points `center + a cos t + b sin t` around, less the same with axes shortened to the share `hole`.
    Oval {
        /// Its middle.
        center: Vec2,
        /// Two half axes; they need not be at right angles.
        axes: [Vec2; 2],
        /// How much of it is cut out, from 0 to 1.
        hole: f32,
    },
}

impl Outline {
    /// A polygon.
    #[must_use]
    pub fn polygon(points: &[[f32; 2]]) -> Self {
        Self::Polygon(points.iter().copied().map(Vec2::from).collect())
    }

    /// An upright rectangle between two corners.
    #[must_use]
    pub fn rectangle([left, top]: [f32; 2], [right, bottom]: [f32; 2]) -> Self {
        Self::polygon(&[[left, top], [right, top], [right, bottom], [left, bottom]])
    }

    /// An ellipse, turned from its first axis to its second by an angle.
    #[must_use]
    pub fn ellipse(center: [f32; 2], radii: [f32; 2], turn: f32) -> Self {
        let along = Vec2::from_angle(turn);
        Self::Oval { center: center.into(), axes: [along * radii[0], along.perp() * radii[1]], hole: 0.0 }
    }

    /// A disc.
    #[must_use]
    pub fn disc(center: [f32; 2], radius: f32) -> Self {
        Self::ellipse(center, [radius; 2], 0.0)
    }

    /// A disc with a hole, so wide between them.
    #[must_use]
    pub fn ring(center: [f32; 2], radius: f32, width: f32) -> Self {
        let axes = [Vec2::new(radius, 0.0), Vec2::new(0.0, radius)];
        Self::Oval { center: center.into(), axes, hole: (1.0 - width / radius).max(0.0) }
    }

    /// What lies between and in two discs: a stroke with round ends.
    #[must_use]
    pub fn limb(from: [f32; 2], to: [f32; 2], radii: [f32; 2]) -> Self {
        let (from, to) = (Vec2::from(from), Vec2::from(to));
        let along = (to - from).normalize_or(Vec2::X);
        let mut points = Vec::with_capacity(2 * ROUND);
        for (center, radius, start) in [(to, radii[1], -along.perp()), (from, radii[0], along.perp())] {
            points.extend((0..ROUND).map(|step| {
                let angle = std::f32::consts::PI * step as f32 / (ROUND - 1) as f32;
                center + Vec2::from_angle(angle).rotate(start) * radius
            }));
        }
        Self::Polygon(points)
    }

    /// The outline after a map of the plane.
    #[must_use]
    pub fn mapped(&self, map: &Affine2) -> Self {
        match self {
            Self::Polygon(points) => Self::Polygon(points.iter().map(|point| map.transform_point2(*point)).collect()),
            Self::Oval { center, axes, hole } => Self::Oval {
                center: map.transform_point2(*center),
                axes: axes.map(|axis| map.transform_vector2(axis)),
                hole: *hole,
            },
        }
    }

    /// The corners of the smallest upright rectangle around it; `None` around nothing.
    #[must_use]
    pub fn bounds(&self) -> Option<[Vec2; 2]> {
        match self {
            Self::Polygon(points) => {
                let (first, rest) = points.split_first()?;
                Some(rest.iter().fold([*first; 2], |[low, high], point| [low.min(*point), high.max(*point)]))
            }
            Self::Oval { center, axes: [a, b], .. } => {
                let reach = Vec2::new(a.x.hypot(b.x), a.y.hypot(b.y));
                Some([*center - reach, *center + reach])
            }
        }
    }

    /// From where to where it is crossed at a height; `cuts` comes empty and is filled with places in rising order, two a span.
    fn cut(&self, height: f32, cuts: &mut Vec<f32>) {
        match self {
            Self::Polygon(points) => {
                let ends = points.iter().zip(points.iter().cycle().skip(1));
                cuts.extend(
                    ends.filter(|(from, to)| (from.y <= height) != (to.y <= height))
                        .map(|(from, to)| from.x + (height - from.y) / (to.y - from.y) * (to.x - from.x)),
                );
                cuts.sort_unstable_by(f32::total_cmp);
            }
            Self::Oval { center, axes: [a, b], hole } => {
                let reach = a.y.hypot(b.y);
                let rise = height - center.y;
                // With the point of the outline that is highest at angle 0, a height is met at plus and minus the same angle.
                let across = (a.x * a.y + b.x * b.y) / reach;
                let width = a.perp_dot(*b).abs() / reach;
                let half = |share: f32| {
                    let inside = 1.0 - (rise / (reach * share)).powi(2);
                    (inside > 0.0).then(|| width * share * inside.sqrt())
                };
                let middle = center.x + across * rise / reach;
                let Some(outer) = half(1.0) else { return };
                match half(*hole).filter(|_| *hole > 0.0) {
                    Some(inner) => cuts.extend([middle - outer, middle - inner, middle + inner, middle + outer]),
                    None => cuts.extend([middle - outer, middle + outer]),
                }
            }
        }
    }
}

/// What is painted on. Places are in units of the caller's, from the upper left corner.
#[derive(Clone, Debug)]
pub struct Canvas<I> {
    /// Cells across and down.
    cells: [usize; 2],
    /// Cells a unit.
    scale: Vec2,
    inks: Vec<I>,
}

impl<I: Copy> Canvas<I> {
    /// A canvas of so many cells that shows so many units across and down.
    #[must_use]
    pub fn new(cells: [usize; 2], extent: Vec2, ink: I) -> Self {
        let scale = Vec2::new(cells[0] as f32, cells[1] as f32) / extent;
        Self { cells, scale, inks: vec![ink; cells[0] * cells[1]] }
    }

    /// Fills an outline: each cell whose middle is inside gets what `ink` says, given the middle and what was there.
    pub fn fill(&mut self, outline: &Outline, ink: impl Fn(Vec2, I) -> I) {
        let Some([low, high]) = outline.bounds() else { return };
        let [width, height] = self.cells;
        // A cell's middle is half a cell from where it begins; what is out of the canvas is cut off.
        let first = |at: f32, scale: f32, count: usize| ((at * scale - 0.5).ceil().max(0.0) as usize).min(count);
        let mut cuts = Vec::new();
        for row in first(low.y, self.scale.y, height)..first(high.y, self.scale.y, height) {
            let y = (row as f32 + 0.5) / self.scale.y;
            cuts.clear();
            outline.cut(y, &mut cuts);
            for span in cuts.chunks_exact(2) {
                let columns = first(span[0], self.scale.x, width)..first(span[1], self.scale.x, width);
                let start = columns.start;
                for (column, cell) in self.inks[row * width..][..width][columns].iter_mut().enumerate() {
                    *cell = ink(Vec2::new(((start + column) as f32 + 0.5) / self.scale.x, y), *cell);
                }
            }
        }
    }

    /// What was painted, row after row.
    #[must_use]
    pub fn inks(&self) -> &[I] {
        &self.inks
    }
}

/// Bytes of red, green and blue.
pub type Rgb = [u8; 3];

impl Canvas<Rgb> {
    /// A canvas for a picture, with so many cells a pixel across and down.
    #[must_use]
    pub fn for_picture(size: Size, fine: usize, extent: Vec2) -> Self {
        Self::new([size.width() * fine, size.height() * fine], extent, [0; 3])
    }

    /// The picture: each pixel the mean of its cells, and that times `light`.
    ///
    /// # Errors
    /// A size that is not that of the canvas divided by a whole number.
    pub fn picture(&self, size: Size, light: f32) -> Result<Picture> {
        let fine = (self.cells[0] / size.width()).max(1);
        let share = light / (fine * fine) as f32;
        let mut pixels = Vec::with_capacity(size.bytes());
        let mut sums = vec![[0_u32; 3]; size.width()];
        for rows in self.inks.chunks_exact(self.cells[0] * fine) {
            sums.fill([0; 3]);
            for row in rows.chunks_exact(self.cells[0]) {
                for (sum, cells) in sums.iter_mut().zip(row.chunks_exact(fine)) {
                    cells.iter().for_each(|ink| (0..3).for_each(|channel| sum[channel] += u32::from(ink[channel])));
                }
            }
            pixels.extend(sums.iter().flatten().map(|sum| (*sum as f32 * share).round().min(255.0) as u8));
        }
        Picture::new(size, pixels)
    }
}

/// A colour mixed with so much of another.
#[must_use]
pub fn mixed(one: Rgb, other: Rgb, share: f32) -> Rgb {
    std::array::from_fn(|channel| {
        let (one, other) = (f32::from(one[channel]), f32::from(other[channel]));
        (one + (other - one) * share).round() as u8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of a square of 4 x 4 units that is painted.
    fn area(outline: &Outline) -> f32 {
        let mut canvas = Canvas::new([400, 400], Vec2::splat(4.0), 0_u8);
        canvas.fill(outline, |_, before| before + 1);
        assert!(canvas.inks().iter().all(|ink| *ink <= 1), "a cell is filled twice");
        16.0 * canvas.inks().iter().filter(|ink| **ink > 0).count() as f32 / 160_000.0
    }

    #[test]
    fn areas_have_their_closed_forms() {
        let pi = std::f32::consts::PI;
        let near = |outline: &Outline, expected: f32| {
            let area = area(outline);
            assert!((area - expected).abs() < 0.03, "{outline:?}: {area} for {expected}");
        };
        near(&Outline::rectangle([0.5, 1.0], [2.5, 1.5]), 1.0);
        near(&Outline::polygon(&[[0.0, 0.0], [3.0, 0.0], [0.0, 2.0]]), 3.0);
        near(&Outline::ellipse([2.0, 2.0], [1.5, 0.5], 0.7), pi * 0.75);
        near(&Outline::ring([2.0, 2.0], 1.0, 0.25), pi * (1.0 - 0.75 * 0.75));
        // Half of it is out of the canvas.
        near(&Outline::disc([0.0, 2.0], 1.0), pi / 2.0);
        // A straight part of 2 x 1 and two half discs, which are polygons of 12 sides: 6 sin(30 degrees) / 4.
        near(&Outline::limb([1.0, 2.0], [3.0, 2.0], [0.5; 2]), 2.0 + 0.75);
        // A cross of five points: what is gone around twice, the pentagon inside, is out.
        let star: Vec<[f32; 2]> =
            (0..5).map(|tip| [2.0 + (0.8 * pi * tip as f32).sin(), 2.0 - (0.8 * pi * tip as f32).cos()]).collect();
        near(&Outline::polygon(&star), 1.1226 - 0.3474);
    }

    #[test]
    fn a_map_of_the_plane_moves_what_is_inside() {
        let map = Affine2::from_cols(Vec2::new(1.2, 0.3), Vec2::new(-0.4, 0.8), Vec2::new(1.0, 0.2));
        for outline in [
            Outline::ellipse([0.8, 0.9], [0.7, 0.3], 0.5),
            Outline::ring([0.9, 0.9], 0.6, 0.2),
            Outline::limb([0.4, 0.5], [1.2, 1.4], [0.3, 0.1]),
        ] {
            let mut plain = Canvas::new([300, 300], Vec2::splat(3.0), false);
            plain.fill(&outline, |_, _| true);
            let mapped = outline.mapped(&map);
            let mut moved = Canvas::new([300, 300], Vec2::splat(3.0), false);
            moved.fill(&mapped, |_, _| true);
            let (back, [low, high]) = (map.inverse(), mapped.bounds().unwrap());
            let mut off = 0;
            for (cell, ink) in moved.inks().iter().enumerate() {
                let at = Vec2::new((cell % 300) as f32 + 0.5, (cell / 300) as f32 + 0.5) / 100.0;
                assert!(!ink || (at.cmpge(low).all() && at.cmple(high).all()), "{outline:?} leaves its bounds");
                let from = (back.transform_point2(at) * 100.0).floor();
                let inside = from.min_element() >= 0.0 && from.max_element() < 300.0;
                let was = inside && plain.inks()[from.y as usize * 300 + from.x as usize];
                off += usize::from(was != *ink);
            }
            // Only cells at the edge, some hundreds of them around, fall to either side.
            assert!(off < 250, "{outline:?}: {off} cells");
        }
    }

    #[test]
    fn a_picture_is_the_mean_of_its_cells() {
        let size = Size::new(4, 2).unwrap();
        let mut canvas = Canvas::for_picture(size, 4, Vec2::new(4.0, 2.0));
        canvas.fill(&Outline::rectangle([0.0, 0.0], [1.5, 1.0]), |_, _| [200, 100, 40]);
        let picture = canvas.picture(size, 0.5).unwrap();
        assert_eq!(picture.pixels()[..9], [100, 50, 20, 50, 25, 10, 0, 0, 0]);
        assert!(picture.pixels()[12..].iter().all(|byte| *byte == 0));
        assert_eq!(mixed([0, 100, 200], [100, 0, 200], 0.25), [25, 75, 200]);
    }
}
