//! JPEG, decoded no larger than needed: where the target is at most half the picture, the inverse cosine transform gives 4 x 4,
//! 2 x 2 or 1 x 1 pixels of each 8 x 8 block, never fewer pixels than the target has on either side. Pillow's `draft` does the
//! same. It saves most of the work after entropy decoding; `benches/images.rs` has the numbers.

use image::metadata::Orientation;
use jpeg_decoder::{Decoder, Error, PixelFormat};

use super::image::{self as still, Attempt, Decoded, ImageLimits};
use super::picture::{Picture, Size};
use crate::error::media::MediaProblem;

/// Decodes to at least `wanted` pixels on both sides, or to all there are.
pub(super) fn decode(bytes: &[u8], limits: ImageLimits, wanted: Size) -> Attempt<Decoded> {
    let mut decoder = Decoder::new(bytes);
    decoder.read_info().map_err(problem)?;
    let full = decoder.info().ok_or_else(no_frame)?;
    limits.check(full.width.into(), full.height.into())?;
    let orientation = orientation(&decoder);
    let wanted = still::before(orientation, wanted);
    if let Some((width, height)) = request((full.width, full.height), wanted) {
        decoder.scale(width, height).map_err(problem)?;
    }
    let pixels = decoder.decode().map_err(problem)?;
    let info = decoder.info().ok_or_else(no_frame)?;
    let pixels = match info.pixel_format {
        PixelFormat::RGB24 => pixels,
        PixelFormat::L8 => pixels.iter().flat_map(|&grey| [grey; 3]).collect(),
        PixelFormat::CMYK32 => rgb_of_inks(&pixels, has_adobe_marker(bytes)),
        PixelFormat::L16 => {
            return Err(MediaProblem::UnsupportedImage { said: "lossless JPEG of more than 8 bits".to_owned() });
        }
    };
    let picture = Size::new(info.width.into(), info.height.into()).and_then(|size| Picture::new(size, pixels));
    Ok(Decoded { picture: picture.map_err(|_| no_frame())?, orientation })
}

/// A picture as JPEG, with a quality from 1 to 100.
///
/// # Errors
/// A picture that cannot be written: never one of ours.
pub fn encode(picture: &Picture, quality: u8) -> crate::error::Result<Vec<u8>> {
    let (size, mut bytes) = (picture.size(), Vec::new());
    // A picture's sides are at most 65,535.
    let (width, height) = (size.width() as u16, size.height() as u16);
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality);
    let encoded = encoder.encode(picture.pixels(), width, height, jpeg_encoder::ColorType::Rgb);
    encoded.map_err(|error| crate::error::Error::input(format!("cannot write a picture: {error}"), None))?;
    Ok(bytes)
}

/// Width and height as they are stored, and how to turn the picture upright.
pub(super) fn measure(bytes: &[u8]) -> Attempt<((u32, u32), Orientation)> {
    let mut decoder = Decoder::new(bytes);
    decoder.read_info().map_err(problem)?;
    let info = decoder.info().ok_or_else(no_frame)?;
    Ok(((info.width.into(), info.height.into()), orientation(&decoder)))
}

fn orientation(decoder: &Decoder<&[u8]>) -> Orientation {
    decoder.exif_data().and_then(Orientation::from_exif_chunk).unwrap_or(Orientation::NoTransforms)
}

/// What to ask the decoder for, or nothing to decode in full. The decoder takes the smallest scale that reaches the request on
/// *either* side; asking for one side exactly, and for more than there can be of the other, makes the choice ours.
fn request(full: (u16, u16), wanted: Size) -> Option<(u16, u16)> {
    let scaled = |side: u16, eighths: usize| (usize::from(side) * eighths).div_ceil(8);
    let enough =
        |&eighths: &usize| scaled(full.0, eighths) >= wanted.width() && scaled(full.1, eighths) >= wanted.height();
    let eighths = [1, 2, 4].into_iter().find(enough)?;
    let side = |side: u16| u16::try_from(scaled(side, eighths)).unwrap_or(u16::MAX);
    // Of a side below 16 the scales may give equally many pixels and cannot be told apart.
    match full {
        (width, height) if width >= height && width >= 16 => Some((side(width), u16::MAX)),
        (_, height) if height >= 16 => Some((u16::MAX, side(height))),
        _ => None,
    }
}

/// Inks on white paper: each channel is what its own ink and the black one let through. The decoder takes every file for one
/// of Adobe's, which stores inks inverted, and turns them round; without the marker of Adobe they were upright before.
fn rgb_of_inks(inks: &[u8], adobe: bool) -> Vec<u8> {
    let through = |ink: u8| u32::from(if adobe { 255 - ink } else { ink });
    let mix = |ink: u8, black: u8| ((through(ink) * through(black) + 127) / 255) as u8;
    inks.chunks_exact(4).flat_map(|ink| [mix(ink[0], ink[3]), mix(ink[1], ink[3]), mix(ink[2], ink[3])]).collect()
}

/// Whether an APP14 segment of Adobe stands before the first scan.
fn has_adobe_marker(bytes: &[u8]) -> bool {
    let mut rest = bytes.get(2..).unwrap_or_default();
    while let [0xFF, marker, high, low, ..] = *rest {
        let length = usize::from(u16::from_be_bytes([high, low]));
        match marker {
            0xFF => rest = &rest[1..],
            0xDA => return false,
            0xEE if rest[4..].starts_with(b"Adobe") => return true,
            _ => rest = rest.get(2 + length..).unwrap_or_default(),
        }
    }
    false
}

fn no_frame() -> MediaProblem {
    MediaProblem::DamagedImage { said: "it has no picture".to_owned() }
}

fn problem(error: Error) -> MediaProblem {
    match error {
        Error::Unsupported(feature) => MediaProblem::UnsupportedImage { said: format!("JPEG with {feature:?}") },
        Error::Io(_) => MediaProblem::DamagedImage { said: "it ends too early".to_owned() },
        Error::Format(said) => MediaProblem::DamagedImage { said },
        Error::Internal(said) => MediaProblem::DamagedImage { said: said.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_reach_the_target_on_both_sides() {
        let size = |width, height| Size::new(width, height).unwrap();
        // 1024 x 768 to 224 x 224: a quarter would have 192 rows, so a half it is.
        assert_eq!(request((1024, 768), size(224, 224)), Some((512, u16::MAX)));
        assert_eq!(request((768, 1024), size(224, 224)), Some((u16::MAX, 512)));
        assert_eq!(request((4032, 3024), size(224, 224)), Some((504, u16::MAX)));
        assert_eq!(request((448, 448), size(224, 224)), Some((224, u16::MAX)));
        assert_eq!(request((447, 447), size(224, 224)), Some((224, u16::MAX)));
        assert_eq!(request((446, 446), size(224, 224)), None);
        assert_eq!(request((8, 8), size(1, 1)), None);
        assert_eq!(request((3, 1000), size(1, 224)), Some((u16::MAX, 250)));
    }

    #[test]
    fn inks_let_light_through() {
        // No ink is white, full black is black, full cyan takes red away; half black halves the rest.
        let inks = [0, 0, 0, 0, 9, 9, 9, 255, 255, 0, 0, 0, 0, 255, 0, 128];
        let expected = [255, 255, 255, 0, 0, 0, 0, 255, 255, 127, 0, 127];
        assert_eq!(rgb_of_inks(&inks, true), expected);
        let upright: Vec<u8> = inks.iter().map(|ink| 255 - ink).collect();
        assert_eq!(rgb_of_inks(&upright, false), expected);
    }
}
