//! A brush: filled outlines on a canvas that is finer than the picture it becomes, so that edges are smooth. What is painted
//! may be colours, or numbers of objects: then the canvas is a mask.

use std::ops::Range;

use chimera_data::media::picture::Size;
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
    pub(crate) fn ellipse(center: [f32; 2], radii: [f32; 2], turn: f32) -> Self {
        let along = Vec2::from_angle(turn);
        Self::Oval { center: center.into(), axes: [along * radii[0], along.perp() * radii[1]], hole: 0.0 }
    }

    /// A disc.
    #[must_use]
    pub(crate) fn disc(center: [f32; 2], radius: f32) -> Self {
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
    pub(crate) fn limb(from: [f32; 2], to: [f32; 2], radii: [f32; 2]) -> Self {
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

/// What is painted on: some rows of a picture. Places are in units of the caller's, from the picture's upper left corner.
#[derive(Clone, Debug)]
pub(crate) struct Canvas<I> {
    /// Cells across.
    width: usize,
    /// Rows of cells that are here; large pictures are painted band by band, so that memory does not grow with them.
    rows: Range<usize>,
    /// Cells a unit.
    scale: Vec2,
    inks: Vec<I>,
}

impl<I: Copy> Canvas<I> {
    /// A canvas of so many cells that shows so many units across and down.
    #[must_use]
    pub(crate) fn new(cells: [usize; 2], extent: Vec2, ink: I) -> Self {
        Self::band(cells, 0..cells[1], extent, ink)
    }

    /// Some rows of one.
    #[must_use]
    pub(crate) fn band([width, height]: [usize; 2], rows: Range<usize>, extent: Vec2, ink: I) -> Self {
        let scale = Vec2::new(width as f32, height as f32) / extent;
        Self { width, scale, inks: vec![ink; width * rows.len()], rows }
    }

    /// Fills an outline: each cell whose middle is inside gets what `ink` says, given the middle and what was there.
    pub(crate) fn fill(&mut self, outline: &Outline, ink: impl Fn(Vec2, I) -> I) {
        let Some([low, high]) = outline.bounds() else { return };
        let (width, Range { start, end }) = (self.width, self.rows.clone());
        // A cell's middle is half a cell from where it begins; what is out of the canvas is cut off.
        let first = |at: f32, scale: f32, count: usize| ((at * scale - 0.5).ceil().max(0.0) as usize).min(count);
        let mut cuts = Vec::new();
        for row in first(low.y, self.scale.y, end).max(start)..first(high.y, self.scale.y, end) {
            let y = (row as f32 + 0.5) / self.scale.y;
            cuts.clear();
            outline.cut(y, &mut cuts);
            for span in cuts.chunks_exact(2) {
                let columns = first(span[0], self.scale.x, width)..first(span[1], self.scale.x, width);
                let left = columns.start;
                for (column, cell) in self.inks[(row - start) * width..][..width][columns].iter_mut().enumerate() {
                    *cell = ink(Vec2::new(((left + column) as f32 + 0.5) / self.scale.x, y), *cell);
                }
            }
        }
    }

    /// What was painted, row after row.
    #[must_use]
    pub(crate) fn inks(&self) -> &[I] {
        &self.inks
    }
}

/// Bytes of red, green and blue.
pub type Rgb = [u8; 3];

impl Canvas<Rgb> {
    /// A canvas for some rows of a picture, with so many cells a pixel across and down.
    #[must_use]
    pub(crate) fn for_rows(size: Size, rows: &Range<usize>, fine: usize, extent: Vec2) -> Self {
        let cells = [size.width() * fine, size.height() * fine];
        Self::band(cells, rows.start * fine..rows.end * fine, extent, [0; 3])
    }

    /// Adds its rows to the bytes of a picture: each pixel the mean of its cells, as many across as down, and that times
    /// `light`.
    pub(crate) fn add_to(&self, pixels: &mut Vec<u8>, fine: usize, light: f32) {
        let share = light / (fine * fine) as f32;
        let mut sums = vec![[0_u32; 3]; self.width / fine];
        for rows in self.inks.chunks_exact(self.width * fine) {
            sums.fill([0; 3]);
            for row in rows.chunks_exact(self.width) {
                for (sum, cells) in sums.iter_mut().zip(row.chunks_exact(fine)) {
                    cells.iter().for_each(|ink| (0..3).for_each(|channel| sum[channel] += u32::from(ink[channel])));
                }
            }
            pixels.extend(sums.iter().flatten().map(|sum| (*sum as f32 * share).round().min(255.0) as u8));
        }
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
mod tests;
