//! A rectangle of a picture erased, so that no single spot decides what is on it.

use fastrand::Rng;

use super::between;
use crate::media::picture::{Picture, Size};

/// A rectangle may turn out too long for the picture; so many are tried before none is erased, as in torchvision.
const ATTEMPTS: usize = 10;

/// Rectangles in shares of the picture, of which the first that fits is erased.
#[derive(Clone, Debug)]
pub(super) struct Erasing {
    area: (f64, f64),
    attempts: [Attempt; ATTEMPTS],
}

#[derive(Clone, Copy, Debug)]
struct Attempt {
    area: f64,
    aspect: f64,
    left: f64,
    top: f64,
}

/// A rectangle in pixels.
struct Rectangle {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

impl Erasing {
    pub(super) fn draw(rng: &mut Rng, area: (f64, f64), aspect: (f64, f64)) -> Self {
        // In logarithms, lying and standing rectangles are equally likely.
        let logarithms = (aspect.0.ln(), aspect.1.ln());
        let attempts = std::array::from_fn(|_| Attempt {
            area: between(rng, area),
            aspect: between(rng, logarithms).exp(),
            left: rng.f64(),
            top: rng.f64(),
        });
        Self { area, attempts }
    }

    pub(super) fn apply(&self, picture: &mut Picture, fill: [u8; 3]) {
        let size = picture.size();
        let Some(rectangle) = self.attempts.iter().find_map(|attempt| self.fit(attempt, size)) else { return };
        let Rectangle { left, top, width, height } = rectangle;
        let rows = picture.pixels_mut().chunks_exact_mut(3 * size.width());
        for row in rows.skip(top).take(height) {
            row[3 * left..3 * (left + width)].as_chunks_mut().0.fill(fill);
        }
    }

    /// The attempt in whole pixels, where it fits and its share is still one that was asked for.
    fn fit(&self, attempt: &Attempt, size: Size) -> Option<Rectangle> {
        let pixels = (size.width() * size.height()) as f64;
        let wanted = attempt.area * pixels;
        let height = (wanted * attempt.aspect).sqrt().round() as usize;
        let width = (wanted / attempt.aspect).sqrt().round() as usize;
        let share = (width * height) as f64 / pixels;
        let fits = width <= size.width() && height <= size.height();
        if !fits || share < self.area.0 || share > self.area.1 {
            return None;
        }
        let place = |share: f64, room: usize| (share * (room + 1) as f64) as usize;
        let (left, top) = (place(attempt.left, size.width() - width), place(attempt.top, size.height() - height));
        Some(Rectangle { left, top, width, height })
    }
}
