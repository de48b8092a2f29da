//! A picture in memory: RGB, eight bits a channel, row after row. Everything that reads, changes or writes pictures agrees on
//! this form, and on the one way of resizing it.

use std::num::NonZeroUsize;

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};

use crate::error::{Error, Result};

/// The longest side of a picture in memory: what JPEG can express.
const LONGEST_SIDE: usize = u16::MAX as usize;

/// Width and height of a picture, both from 1 to 65,535.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    width: u16,
    height: u16,
}

impl Size {
    /// A size of so many pixels a row and so many rows.
    ///
    /// # Errors
    /// [`Error::Input`] where a side is 0 or larger than 65,535.
    pub fn new(width: usize, height: usize) -> Result<Self> {
        match (u16::try_from(width), u16::try_from(height)) {
            (Ok(width @ 1..), Ok(height @ 1..)) => Ok(Self { width, height }),
            _ => Err(Error::input(
                format!("a picture cannot have {width} x {height} pixels"),
                Some(format!("each side is from 1 to {LONGEST_SIDE}; the default is 224 x 224")),
            )),
        }
    }

    /// Pixels a row.
    #[must_use]
    pub fn width(self) -> usize {
        usize::from(self.width)
    }

    /// Rows.
    #[must_use]
    pub fn height(self) -> usize {
        usize::from(self.height)
    }

    /// Bytes of a picture of this size.
    #[must_use]
    pub fn bytes(self) -> usize {
        3 * self.width() * self.height()
    }

    /// The size with the same aspect ratio whose longer side is `side`.
    #[must_use]
    pub fn within(self, side: NonZeroUsize) -> Self {
        let (width, height, side) = (self.width(), self.height(), side.get());
        let longest = width.max(height);
        let scaled = |length: usize| ((length * side + longest / 2) / longest).max(1);
        // Smaller than a square of `side`, or than what was there: its bytes can be counted.
        Self::new(scaled(width), scaled(height)).unwrap_or(self)
    }

    /// The size after a quarter turn.
    #[must_use]
    pub fn turned(self) -> Self {
        Self { width: self.height, height: self.width }
    }
}

/// RGB pixels of eight bits a channel, row after row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    size: Size,
    pixels: Vec<u8>,
}

impl Picture {
    /// A picture of these bytes.
    ///
    /// # Errors
    /// [`Error::Input`] where the bytes are not as many as the size asks for.
    pub fn new(size: Size, pixels: Vec<u8>) -> Result<Self> {
        if pixels.len() == size.bytes() {
            return Ok(Self { size, pixels });
        }
        let (width, height) = (size.width(), size.height());
        Err(Error::input(
            format!("{width} x {height} RGB pixels are {} bytes, not {}", size.bytes(), pixels.len()),
            None,
        ))
    }

    /// A picture of one colour.
    #[must_use]
    pub fn filled(size: Size, color: [u8; 3]) -> Self {
        Self { size, pixels: color.repeat(size.bytes() / 3) }
    }

    /// Width and height.
    #[must_use]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The bytes: rows of RGB.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The bytes, to be changed in place.
    #[must_use]
    pub fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// The bytes alone.
    #[must_use]
    pub fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// The picture stretched or shrunk to `size`: a convolution with a triangle that is as wide as a target pixel is in the
    /// source, and never narrower than a source pixel, so that shrinking does not alias. This is Pillow's `BILINEAR` and
    /// torchvision's `antialias=True`, up to one step of rounding. The aspect ratio is not kept.
    #[must_use]
    pub fn resized(&self, size: Size) -> Self {
        if size == self.size {
            return self.clone();
        }
        let mut pixels = vec![0; size.bytes()];
        let side = |side: usize| side as u32;
        // Types that say what a pixel is: asked for any, the crate's loops are compiled here for all thirteen.
        let source =
            TypedImageRef::<U8x3>::from_buffer(side(self.size.width()), side(self.size.height()), &self.pixels);
        let target = TypedImage::<U8x3>::from_buffer(side(size.width()), side(size.height()), &mut pixels);
        let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear));
        // Lengths agree by construction, which is all that these can refuse.
        if let (Ok(source), Ok(mut target)) = (source, target) {
            let resized = Resizer::new().resize_typed(&source, &mut target, &options);
            debug_assert!(resized.is_ok());
        }
        Self { size, pixels }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_bytes_are_checked() {
        assert!(Size::new(1, 65_535).is_ok());
        let error = Size::new(0, 5).unwrap_err().to_string();
        assert!(error.starts_with("a picture cannot have 0 x 5 pixels\nhint: each side is from 1 to 65535"), "{error}");
        assert!(Size::new(65_536, 5).is_err());
        let error = Picture::new(Size::new(2, 3).unwrap(), vec![0; 17]).unwrap_err();
        assert_eq!(error.to_string(), "2 x 3 RGB pixels are 18 bytes, not 17");
    }

    #[test]
    fn shrinking_takes_every_pixel_into_account() {
        // Stripes of one pixel become their mean; picking pixels would give one of the two.
        let size = Size::new(64, 64).unwrap();
        let pixels = (0..64 * 64).flat_map(|at| [if at % 2 == 0 { 0 } else { 200 }; 3]).collect();
        let small = Picture::new(size, pixels).unwrap().resized(Size::new(8, 8).unwrap());
        assert!(small.pixels().iter().all(|&value| value.abs_diff(100) <= 4), "{:?}", small.pixels());
    }

    #[test]
    fn the_triangle_has_its_closed_form() {
        // 4 pixels to 2: support 2 around 1.0 and 3.0; distances of pixel centres 0.5, 0.5, 1.5, so weights 3, 3, 1 of 7.
        let row = [0, 70, 140, 210];
        let picture =
            Picture::new(Size::new(4, 1).unwrap(), row.iter().flat_map(|&value| [value; 3]).collect()).unwrap();
        let small = picture.resized(Size::new(2, 1).unwrap());
        // (3 * 0 + 3 * 70 + 140) / 7 = 50 and, mirrored, 160.
        assert_eq!(small.pixels(), [50, 50, 50, 160, 160, 160]);
        // 2 pixels to 4: weights 1 | 3:1 | 1:3 | 1.
        let large = small.resized(Size::new(4, 1).unwrap());
        let channel: Vec<u8> = large.pixels().iter().step_by(3).copied().collect();
        assert!(channel.iter().zip([50, 77, 132, 160]).all(|(&got, want)| got.abs_diff(want) <= 1), "{channel:?}");
    }
}
