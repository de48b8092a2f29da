//! Turning, slanting, scaling and moving a picture about its centre in one step, so that pixels are interpolated only once.

use crate::media::picture::Picture;

/// A change of place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    /// Clockwise.
    pub(super) degrees: f64,
    /// Slant along the rows, in degrees.
    pub(super) shear: f64,
    /// Factor of size.
    pub(super) scale: f64,
    /// To the right and downwards, in shares of width and height.
    pub(super) translate: (f64, f64),
}

impl Affine {
    /// Each pixel of the result looks up where it came from and takes the four nearest there, bilinearly; where it came from
    /// outside, it is `fill`.
    pub(super) fn apply(&self, picture: Picture, fill: [u8; 3]) -> Picture {
        if self.degrees == 0.0 && self.shear == 0.0 && self.scale == 1.0 && self.translate == (0.0, 0.0) {
            return picture;
        }
        let (width, height) = (picture.size().width(), picture.size().height());
        let (center_x, center_y) = (width as f64 / 2.0, height as f64 / 2.0);
        let (moved_x, moved_y) = (self.translate.0 * width as f64, self.translate.1 * height as f64);
        let [a, b, c, d] = self.inverse();
        let mut result = Picture::filled(picture.size(), fill);
        for (row, line) in result.pixels_mut().chunks_exact_mut(3 * width).enumerate() {
            let y = row as f64 + 0.5 - center_y - moved_y;
            for (column, pixel) in line.chunks_exact_mut(3).enumerate() {
                let x = column as f64 + 0.5 - center_x - moved_x;
                let (from_x, from_y) = (a * x + b * y + center_x, c * x + d * y + center_y);
                if (0.0..width as f64).contains(&from_x) && (0.0..height as f64).contains(&from_y) {
                    sample(&picture, from_x - 0.5, from_y - 0.5, pixel);
                }
            }
        }
        result
    }

    /// The inverse of rotation x slant x scale, row by row.
    fn inverse(&self) -> [f64; 4] {
        let (sine, cosine) = self.degrees.to_radians().sin_cos();
        let slant = self.shear.to_radians().tan();
        // Rotation back, then slant back, then scale back; rows point downwards, so clockwise is positive.
        let [a, b, c, d] = [cosine, sine, -sine, cosine];
        [(a - slant * c) / self.scale, (b - slant * d) / self.scale, c / self.scale, d / self.scale]
    }
}

/// The picture between pixel centres; beyond the outermost centres their pixels go on.
fn sample(picture: &Picture, x: f64, y: f64, pixel: &mut [u8]) {
    let (width, height) = (picture.size().width(), picture.size().height());
    let (left, right, share_x) = neighbours(x, width);
    let (top, bottom, share_y) = neighbours(y, height);
    let at = |column: usize, row: usize| 3 * (row * width + column);
    let corners = [at(left, top), at(right, top), at(left, bottom), at(right, bottom)];
    let pixels = picture.pixels();
    for (channel, value) in pixel.iter_mut().enumerate() {
        let [upper_left, upper_right, lower_left, lower_right] =
            corners.map(|corner| f32::from(pixels[corner + channel]));
        let upper = upper_left + (upper_right - upper_left) * share_x;
        let lower = lower_left + (lower_right - lower_left) * share_x;
        *value = (upper + (lower - upper) * share_y + 0.5) as u8;
    }
}

/// The pixels on both sides of a place, and how far it is from the first to the second.
fn neighbours(place: f64, count: usize) -> (usize, usize, f32) {
    // From 0.5 upwards the cast is the floor, without the call that `floor` is.
    let shifted = place + 1.0;
    let second = shifted as i32;
    let share = (shifted - f64::from(second)) as f32;
    ((second as usize).saturating_sub(1), (second as usize).min(count - 1), share)
}
