//! One reader for the media of a dataset, pictures and videos alike.

use std::num::NonZeroUsize;
use std::path::Path;

use super::frame_folder::FrameFolder;
use super::frames::FrameShape;
use super::image::ImageReader;
use super::picture::{Picture, Size};
use super::video::VideoReader;
use crate::error::Result;

/// Frames of a video that stand for it in a thumbnail: two rows of two.
const SHOWN: usize = 2;

/// Reads pictures, or videos. One can serve many threads.
#[derive(Debug)]
pub enum MediaReader {
    /// A picture is one frame; where several are asked for, it is repeated.
    Pictures(ImageReader),
    /// Videos through ffmpeg, and folders of pictures without it.
    Videos(VideoReader),
}

impl MediaReader {
    /// Everything beside the file and the shape that decides the bytes, for the key of prepared frames.
    #[must_use]
    pub fn recipe(&self) -> String {
        match self {
            Self::Pictures(_) => ImageReader::recipe(),
            Self::Videos(_) => format!("{}; {}", VideoReader::recipe(), FrameFolder::recipe()),
        }
    }

    /// Writes the frames of a medium as RGB bytes, frame after frame, into `out`, which has the shape's bytes.
    ///
    /// # Errors
    /// As [`ImageReader::read`] and [`VideoReader::read`].
    pub fn read(&self, path: &Path, shape: FrameShape, out: &mut [u8]) -> Result<()> {
        match self {
            Self::Videos(reader) => reader.read(path, shape, out),
            Self::Pictures(reader) => {
                let picture = reader.read(path, Size::new(shape.width.get(), shape.height.get())?)?;
                out.chunks_exact_mut(shape.frame_bytes()).for_each(|frame| frame.copy_from_slice(picture.pixels()));
                Ok(())
            }
        }
    }

    /// A small picture of a medium in its own aspect ratio; of a video four frames, in reading order.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn thumbnail(&self, path: &Path, side: NonZeroUsize) -> Result<Picture> {
        match self {
            Self::Pictures(reader) => reader.read_within(path, side),
            Self::Videos(reader) => {
                let small = NonZeroUsize::new(side.get() / SHOWN).unwrap_or(NonZeroUsize::MIN);
                let size = reader.dimensions(path)?.within(small);
                let shape = FrameShape::new(SHOWN * SHOWN, size.height(), size.width())?;
                let mut frames = vec![0; shape.bytes()];
                reader.read(path, shape, &mut frames)?;
                mosaic(&frames, size)
            }
        }
    }
}

/// Frames of one size, `SHOWN` a row.
fn mosaic(frames: &[u8], size: Size) -> Result<Picture> {
    let (row_bytes, height) = (3 * size.width(), size.height());
    let mut pixels = Vec::with_capacity(frames.len());
    for row in 0..SHOWN * height {
        for column in 0..SHOWN {
            let frame = row / height * SHOWN + column;
            let start = frame * size.bytes() + row % height * row_bytes;
            pixels.extend_from_slice(&frames[start..start + row_bytes]);
        }
    }
    Picture::new(Size::new(SHOWN * size.width(), SHOWN * height)?, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_laid_out_in_reading_order() {
        let size = Size::new(1, 2).unwrap();
        let frames: Vec<u8> = (0..4).flat_map(|frame| [10 * frame; 3].into_iter().chain([10 * frame + 1; 3])).collect();
        let picture = mosaic(&frames, size).unwrap();
        let reds: Vec<u8> = picture.pixels().chunks_exact(3).map(|pixel| pixel[0]).collect();
        assert_eq!((picture.size().width(), picture.size().height()), (2, 4));
        assert_eq!(reds, [0, 10, 1, 11, 20, 30, 21, 31]);
    }
}
