//! Still images: a file of any common format to RGB pixels of one size. Decoded, turned upright as its EXIF data ask, laid on
//! white where it is transparent, resized as [`Picture::resized`] says.
//!
//! JPEG, PNG, WebP, BMP and GIF are known by their first bytes, not by their name; of an animation the first picture is taken.
//! Sixteen bits a channel are rounded to eight, palettes and greys become RGB, CMYK is mixed on white paper; colour profiles
//! are ignored, as they are by Pillow and torchvision. What does not decode to its end is an error: half a picture is worse
//! than none. Sizes are checked before any pixel is allocated.

use std::io::{Cursor, Read};
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, RgbImage};

use super::jpeg;
use super::picture::{Picture, Size};
use crate::error::media::MediaProblem;
use crate::error::{Error, Result, lower_first};
use crate::file::open_regular;

/// Raised when the same file and size give other bytes than before.
const VERSION: u32 = 1;
/// Endings of pictures in formats that are read, and of some that are not.
pub(crate) const ENDINGS: [&str; 11] =
    ["jpg", "jpeg", "jpe", "jfif", "png", "webp", "bmp", "gif", "tif", "tiff", "avif"];
/// A decoder may use so many bytes for each pixel that is allowed: four channels of sixteen bits, twice.
const BYTES_PER_PIXEL: u64 = 16;

/// A result before it is known which path the problem belongs to.
pub(super) type Attempt<T> = std::result::Result<T, MediaProblem>;

/// How large an image may be before it is decoded. A small file can claim to be huge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLimits {
    /// Pixels of the longest side; 32,768 by default.
    pub side: u32,
    /// Pixels in all; 128 million (2^27) by default.
    pub pixels: u64,
    /// Bytes of the file; 512 MiB by default.
    pub bytes: u64,
}

impl Default for ImageLimits {
    fn default() -> Self {
        Self { side: 1 << 15, pixels: 1 << 27, bytes: 1 << 29 }
    }
}

impl ImageLimits {
    /// Refuses a size that is not allowed.
    pub(super) fn check(self, width: u32, height: u32) -> Attempt<()> {
        let pixels = u64::from(width) * u64::from(height);
        if width.max(height) > self.side || pixels > self.pixels {
            let (side, pixels) = (self.side, self.pixels);
            return Err(MediaProblem::TooLarge { width, height, side, pixels });
        }
        Ok(())
    }
}

/// Reads images. One can serve many threads; each call works on one core.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageReader {
    limits: ImageLimits,
}

/// Pixels as they are stored, and how to turn them upright.
pub(super) struct Decoded {
    pub(super) picture: Picture,
    pub(super) orientation: Orientation,
}

impl ImageReader {
    /// Refuses images beyond `limits`.
    #[must_use]
    pub fn new(limits: ImageLimits) -> Self {
        Self { limits }
    }

    /// Everything beside the file and the size that decides the bytes, for the key of prepared pictures.
    #[must_use]
    pub fn recipe() -> String {
        format!("image {VERSION}: upright, on white, stretched, triangle filter, scaled JPEG")
    }

    /// The image in the file at `path`, stretched to `size`.
    ///
    /// # Errors
    /// [`Error::Media`] for a file that is no image, damaged or too large; [`Error::Read`] where the system refuses it.
    pub fn read(&self, path: &Path, size: Size) -> Result<Picture> {
        self.decode(path, &self.bytes_of(path)?, size)
    }

    /// The image in the file at `path` in its own aspect ratio, its longer side of `side` pixels.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_within(&self, path: &Path, side: NonZeroUsize) -> Result<Picture> {
        let decoded = self.decode_guarded(path, &self.bytes_of(path)?, Size::new(side.get(), side.get())?)?;
        let size = decoded.picture.size().within(side);
        upright(decoded.picture.resized(size), decoded.orientation)
    }

    pub(super) fn bytes_of(&self, path: &Path) -> Result<Vec<u8>> {
        let refused = |cause| Error::read(path, cause);
        let file = open_regular(path).map_err(refused)?;
        let mut bytes =
            Vec::with_capacity(file.metadata().map_or(0, |data| data.len().min(self.limits.bytes) as usize + 1));
        file.take(self.limits.bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() as u64 > self.limits.bytes {
            return Err(Error::media(path, MediaProblem::TooManyBytes { limit: self.limits.bytes }));
        }
        Ok(bytes)
    }

    /// The image in `bytes`, stretched to `size`; `path` is what errors call it.
    ///
    /// # Errors
    /// [`Error::Media`] as for [`Self::read`].
    pub fn decode(&self, path: &Path, bytes: &[u8], size: Size) -> Result<Picture> {
        let decoded = self.decode_guarded(path, bytes, size)?;
        // Resizing first leaves little to turn; the filter is the same in both directions.
        let resized = decoded.picture.resized(before(decoded.orientation, size));
        upright(resized, decoded.orientation)
    }

    /// The size of the image in `bytes` once it is upright, without decoding its pixels; `path` is what errors call it.
    pub(super) fn measure(&self, path: &Path, bytes: &[u8]) -> Result<Size> {
        let measured = panic::catch_unwind(AssertUnwindSafe(|| match format_of(bytes)? {
            ImageFormat::Jpeg => jpeg::measure(bytes),
            format => {
                let reader = image::ImageReader::with_format(Cursor::new(bytes), format);
                let mut decoder = reader.into_decoder().map_err(|error| problem(&error))?;
                let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
                Ok((decoder.dimensions(), orientation))
            }
        }));
        let measured = measured
            .unwrap_or_else(|_| Err(MediaProblem::DamagedImage { said: "the decoder gave up".to_owned() }))
            .and_then(|((width, height), orientation)| {
                self.limits.check(width, height)?;
                let size = Size::new(width as usize, height as usize);
                let size = size.map_err(|error| MediaProblem::UnsupportedImage { said: error.to_string() })?;
                Ok(before(orientation, size))
            });
        measured.map_err(|problem| Error::media(path, problem))
    }

    /// Decoders of other people meet files of other people: one that trips over a file must not end a run of a million.
    fn decode_guarded(&self, path: &Path, bytes: &[u8], size: Size) -> Result<Decoded> {
        panic::catch_unwind(AssertUnwindSafe(|| self.decode_any(bytes, size)))
            .unwrap_or_else(|_| Err(MediaProblem::DamagedImage { said: "the decoder gave up".to_owned() }))
            .map_err(|problem| Error::media(path, problem))
    }

    fn decode_any(&self, bytes: &[u8], size: Size) -> Attempt<Decoded> {
        match format_of(bytes)? {
            ImageFormat::Jpeg => jpeg::decode(bytes, self.limits, size),
            format => self.decode_pixels(bytes, format),
        }
    }

    fn decode_pixels(&self, bytes: &[u8], format: ImageFormat) -> Attempt<Decoded> {
        let mut reader = image::ImageReader::with_format(Cursor::new(bytes), format);
        let mut limits = image::Limits::no_limits();
        limits.max_alloc = Some(self.limits.pixels.saturating_mul(BYTES_PER_PIXEL));
        reader.limits(limits);
        let mut decoder = reader.into_decoder().map_err(|error| problem(&error))?;
        let (width, height) = decoder.dimensions();
        self.limits.check(width, height)?;
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let pixels = on_white(DynamicImage::from_decoder(decoder).map_err(|error| problem(&error))?);
        let picture = Size::new(width as usize, height as usize).and_then(|size| Picture::new(size, pixels.into_raw()));
        let picture = picture.map_err(|error| MediaProblem::UnsupportedImage { said: error.to_string() })?;
        Ok(Decoded { picture, orientation })
    }
}

/// The format that the first bytes tell, where it is one that is read.
fn format_of(bytes: &[u8]) -> Attempt<ImageFormat> {
    if bytes.is_empty() {
        return Err(MediaProblem::Empty);
    }
    match image::guess_format(bytes) {
        Ok(format) if format == ImageFormat::Jpeg || format.reading_enabled() => Ok(format),
        Ok(format) => Err(MediaProblem::UnsupportedImage { said: format!("format {format:?}") }),
        Err(_) => Err(MediaProblem::NotAnImage),
    }
}

/// RGB of eight bits, with white behind what is transparent: what people see when they look at such a file.
fn on_white(image: DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.into_rgb8();
    }
    let image = image.into_rgba8();
    let blend = |value: u8, alpha: u8| {
        let (value, alpha) = (u32::from(value), u32::from(alpha));
        ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8
    };
    let mut opaque = RgbImage::new(image.width(), image.height());
    for (to, from) in opaque.pixels_mut().zip(image.pixels()) {
        let [red, green, blue, alpha] = from.0;
        to.0 = [blend(red, alpha), blend(green, alpha), blend(blue, alpha)];
    }
    opaque
}

/// The size before `orientation` is applied of what has `size` after it.
pub(super) fn before(orientation: Orientation, size: Size) -> Size {
    match orientation {
        Orientation::Rotate90 | Orientation::Rotate270 | Orientation::Rotate90FlipH | Orientation::Rotate270FlipH => {
            size.turned()
        }
        _ => size,
    }
}

fn upright(picture: Picture, orientation: Orientation) -> Result<Picture> {
    if orientation == Orientation::NoTransforms {
        return Ok(picture);
    }
    let size = picture.size();
    let Some(image) = RgbImage::from_raw(size.width() as u32, size.height() as u32, picture.into_pixels()) else {
        return Err(Error::input("a picture has other bytes than its size asks for".to_owned(), None));
    };
    let mut image = DynamicImage::ImageRgb8(image);
    image.apply_orientation(orientation);
    Picture::new(before(orientation, size), image.into_rgb8().into_raw())
}

fn problem(error: &ImageError) -> MediaProblem {
    let said = lower_first(&error.to_string());
    match error {
        ImageError::Unsupported(_) => MediaProblem::UnsupportedImage { said },
        ImageError::Limits(_) => {
            MediaProblem::UnsupportedImage { said: "it needs more memory than allowed".to_owned() }
        }
        _ => MediaProblem::DamagedImage { said },
    }
}
