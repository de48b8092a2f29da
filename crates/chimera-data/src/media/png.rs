//! Pictures written as PNG files.

use std::io;
use std::path::Path;

use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder, ImageError};

use super::picture::Picture;
use crate::error::Result;
use crate::file::write_atomic;

/// Writes a picture, whole or not at all. The same pixels give the same bytes.
///
/// # Errors
/// [`crate::error::Error::Write`] where the system refuses.
pub fn write_png(path: &Path, picture: &Picture) -> Result<()> {
    write_atomic(path, |writer| encode_png(picture, writer))
}

/// Writes a picture's PNG to wherever bytes can go. The same pixels give the same bytes.
///
/// # Errors
/// What the writer says.
pub fn encode_png(picture: &Picture, writer: impl io::Write) -> io::Result<()> {
    let (width, height) = (picture.size().width() as u32, picture.size().height() as u32);
    let written = PngEncoder::new(writer).write_image(picture.pixels(), width, height, ExtendedColorType::Rgb8);
    written.map_err(|error| match error {
        ImageError::IoError(cause) => cause,
        other => io::Error::other(other),
    })
}
