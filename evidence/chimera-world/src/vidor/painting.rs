//! A clip as pictures: the place, shadows, and everybody from the farthest to the nearest; and as masks.

use std::ops::Range;

use chimera_data::error::Result;
use chimera_data::media::picture::{Picture, Size};
use fastrand::Rng;
use glam::{Affine2, Mat2, Vec2};

use super::backdrop;
use super::figure::{Aspect, Look, Part, parts};
use super::lens::EXTENT;
use super::story::Story;
use crate::brush::{Canvas, Outline, Rgb, mixed};

/// Cells of the canvas a pixel, across and down.
const FINE: usize = 3;

/// Cells that are painted at a time: twelve megabytes.
const BAND: usize = 1 << 22;

/// Whoever is painted, and where.
pub(super) type Figure = (usize, Vec<Part>, Affine2);

impl Story {
    /// How everybody looks, and what random numbers are left for the place.
    pub(super) fn looks(&self) -> (Vec<Look>, Rng) {
        let mut random = Rng::with_seed(self.paint);
        let looks = self.beings.iter().map(|being| Look::drawn(&mut random, being.category)).collect();
        (looks, random)
    }

    /// Everybody in a frame, from the farthest to the nearest.
    pub(super) fn figures(&self, looks: &[Look], frame: usize) -> Vec<Figure> {
        let moments = &self.walks[frame];
        let mut order: Vec<usize> = (0..self.beings.len()).collect();
        order.sort_by(|one, other| moments[*other].place.y.total_cmp(&moments[*one].place.y));
        let figure = |who: usize| {
            let (being, moment) = (&self.beings[who], &moments[who]);
            let (parts, aspect) = parts(being.category, &looks[who], moment);
            let scale = self.lens.scale(moment.place.y) * being.size;
            let mirror = if aspect == (Aspect::Side { mirrored: true }) { -scale } else { scale };
            let foot = self.lens.seen(moment.place, moment.lift);
            // Up is down in pictures.
            (who, parts, Affine2::from_mat2_translation(Mat2::from_diagonal(Vec2::new(mirror, -scale)), foot))
        };
        order.into_iter().map(figure).collect()
    }

    /// Frames as pictures.
    ///
    /// # Errors
    /// None that can happen: all rows are painted.
    pub fn pictures(&self, size: Size, frames: &[u64]) -> impl Iterator<Item = Result<Picture>> {
        self.pictures_in_bands(size, frames, BAND)
    }

    /// In bands of so many cells, or of a row of pixels.
    fn pictures_in_bands(&self, size: Size, frames: &[u64], cells: usize) -> impl Iterator<Item = Result<Picture>> {
        let (looks, mut random) = self.looks();
        let light = 0.78 + 0.3 * random.f32();
        let step = (cells / (size.width() * FINE * FINE)).max(1);
        let empty = move |rows: &Range<usize>| {
            let mut canvas = Canvas::for_rows(size, rows, FINE, EXTENT);
            backdrop::paint(&mut canvas, &self.lens, &mut random.clone());
            canvas
        };
        // What is one band is the same in all frames but for those who move.
        let whole = (step >= size.height()).then(|| empty(&(0..size.height())));
        frames.iter().map(move |&frame| {
            let mut pixels = Vec::with_capacity(size.bytes());
            for first in (0..size.height()).step_by(step) {
                let rows = first..(first + step).min(size.height());
                let mut canvas = whole.clone().unwrap_or_else(|| empty(&rows));
                self.paint(&mut canvas, &looks, frame as usize);
                canvas.add_to(&mut pixels, FINE, light);
            }
            Picture::new(size, pixels)
        })
    }

    fn paint(&self, canvas: &mut Canvas<Rgb>, looks: &[Look], frame: usize) {
        for (being, moment) in self.beings.iter().zip(&self.walks[frame]) {
            let on_ground = self.lens.seen(moment.place, 0.0);
            let reach = self.lens.scale(moment.place.y) * being.reach();
            let shadow = Outline::ellipse(on_ground.into(), [1.1 * reach, 0.35 * reach], 0.0);
            canvas.fill(&shadow, |_, ink| mixed(ink, [0; 3], 0.25));
        }
        for (_, parts, map) in self.figures(looks, frame) {
            for part in parts {
                canvas.fill(&part.outline.mapped(&map), |_, _| part.ink);
            }
        }
    }

    /// Who is at each pixel of a frame, row after row: all of them, or one as if it were alone.
    #[must_use]
    pub fn mask(&self, size: Size, frame: usize, alone: Option<usize>) -> Vec<Option<usize>> {
        let (looks, _) = self.looks();
        let mut canvas = Canvas::new([size.width(), size.height()], EXTENT, None);
        for (who, parts, map) in self.figures(&looks, frame) {
            if alone.is_none_or(|alone| alone == who) {
                parts.iter().for_each(|part| canvas.fill(&part.outline.mapped(&map), |_, _| Some(who)));
            }
        }
        canvas.inks().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Kind;
    use crate::vidor::story::Stories;

    /// Bands change no pixel.
    #[test]
    fn a_picture_in_bands_is_the_whole() {
        let (kind, mut random) = (Stories::new(0.3).unwrap(), Rng::with_seed(4));
        let mut draw = || {
            let cast = kind.objects(&mut random, None);
            kind.place(&mut random, &cast)
        };
        let (size, frames) = (Size::new(50, 31).unwrap(), [4, 60]);
        for story in std::iter::repeat_with(&mut draw).flatten().take(4) {
            let painted = |cells: usize| -> Vec<Picture> {
                story.pictures_in_bands(size, &frames, cells).map(Result::unwrap).collect()
            };
            let whole = painted(50 * 31 * 9);
            for cells in [1, 50 * 9 * 7, 50 * 9 * 30] {
                let bands = painted(cells);
                assert!(bands.iter().zip(&whole).all(|(one, other)| one.pixels() == other.pixels()), "{cells}");
            }
        }
    }
}
