//! A video as a folder of pictures, one a frame, in the natural order of their names: `frame_2.png` comes before
//! `frame_10.png`. No program is needed for it, and only the frames that are wanted are opened.

use std::fs;
use std::path::{Path, PathBuf};

use super::frames::{FrameShape, frame_indices};
use super::image::{ENDINGS, ImageReader};
use super::picture::Size;
use crate::error::media::MediaProblem;
use crate::error::{Error, Result};
use crate::file::open_regular;

/// Raised when the same folder and shape give other bytes than before; the encoder's description must name it then.
const VERSION: u32 = 1;

/// The pictures of a folder in order.
#[derive(Clone, Debug)]
pub struct FrameFolder {
    folder: PathBuf,
    frames: Vec<PathBuf>,
}

impl FrameFolder {
    /// Everything beside pictures and shape that decides the bytes, for the key of prepared frames.
    #[must_use]
    pub fn recipe() -> String {
        format!("frame folder {VERSION}: {}", ImageReader::recipe())
    }

    /// Whether there is a picture in a folder, by its name. What is no folder has none.
    #[must_use]
    pub(crate) fn holds_frames(folder: &Path) -> bool {
        fs::read_dir(folder).is_ok_and(|entries| entries.flatten().any(|entry| is_frame(&entry)))
    }

    /// Lists the pictures of a folder. Other files, hidden ones and sub-folders are passed over.
    ///
    /// # Errors
    /// [`Error::Media`] for a folder without pictures, [`Error::Read`] where the system refuses it.
    pub fn open(folder: &Path) -> Result<Self> {
        let refused = |cause| Error::read(folder, cause);
        let mut frames = Vec::new();
        for entry in fs::read_dir(folder).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            if is_frame(&entry) {
                frames.push((NaturalName::of(&entry.file_name().to_string_lossy()), entry.path()));
            }
        }
        if frames.is_empty() {
            return Err(Error::media(folder, MediaProblem::NoPictures));
        }
        frames.sort();
        Ok(Self { folder: folder.to_owned(), frames: frames.into_iter().map(|(_, path)| path).collect() })
    }

    /// The pictures, in order.
    #[must_use]
    pub fn frames(&self) -> &[PathBuf] {
        &self.frames
    }

    /// The number of frames.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.frames.len() as u64
    }

    /// Whether the frames that are taken of this folder are known to be those that would be taken of its whole video, which has
    /// `all` frames: every frame is there, or as many as are taken and no others, or names number them as the video does, from 0
    /// or 1. Where more were kept than are taken, frames that were cut off look like ones that were numbered anew.
    #[must_use]
    pub fn shows_taken(&self, all: u64, taken: usize) -> bool {
        let number = |index: usize| number_in(&name_of(&self.frames[index]));
        let (first, last) = (number(0), number(self.frames.len() - 1));
        let is_anew =
            first.zip(last).is_none_or(|(first, last)| first <= 1 && last.checked_sub(first) == Some(self.count() - 1));
        let is_what_is_taken = self.count() == taken as u64 && self.count() <= all && is_anew;
        if self.count() == all || is_what_is_taken {
            return true;
        }
        let (Ok(here), Ok(there)) = (frame_indices(self.count(), taken), frame_indices(all, taken)) else {
            return false;
        };
        // A name with 0 counts from 0, one with `all` from 1; frames between may do either.
        let from = [(0, last < Some(all)), (1, first > Some(0) && last <= Some(all))];
        from.into_iter().any(|(from, may_be)| {
            let is_same = |(here, there): (&u64, &u64)| number(*here as usize) == Some(there + from);
            may_be && here.iter().zip(&there).all(is_same)
        })
    }

    /// Whether these are all frames of a video of `all`, or are seen by their numbers, from 0 or 1, to be spread evenly over it: the
    /// middles of equal parts, as [`frame_indices`] has them, or one every so often from its begin to its end.
    #[must_use]
    pub fn is_spread_over(&self, all: u64) -> bool {
        if self.count() == all {
            return true;
        }
        let numbers: Option<Vec<u64>> = self.frames.iter().map(|path| number_in(&name_of(path))).collect();
        let (Some(numbers), Ok(middles)) = (numbers, frame_indices(all, self.frames.len())) else { return false };
        let is_in_middles = |from: u64| numbers.iter().zip(&middles).all(|(number, middle)| *number == middle + from);
        let step = numbers.get(1).and_then(|second| second.checked_sub(numbers[0])).filter(|step| *step > 0);
        let is_regular = |step: u64| {
            let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
            let is_within =
                |from: u64| (from..from + step).contains(&first) && last < all + from && last + step >= all + from;
            numbers.windows(2).all(|pair| pair[1].checked_sub(pair[0]) == Some(step)) && (is_within(0) || is_within(1))
        };
        self.count() < all && (is_in_middles(0) || is_in_middles(1) || step.is_some_and(is_regular))
    }

    /// The size of the first frame, which all share.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn dimensions(&self, reader: ImageReader) -> Result<Size> {
        let first = &self.frames[0];
        let size = reader.bytes_of(first).and_then(|bytes| reader.measure(first, &bytes));
        size.map_err(|error| self.in_frame(first, error))
    }

    /// Writes the frames at [`frame_indices`] as RGB bytes into `out`, which has the shape's bytes, each scaled as a picture
    /// is.
    ///
    /// # Errors
    /// [`Error::Media`] with the folder's path for a frame that is damaged or of another size than the first one read;
    /// [`Error::Read`] where the system refuses one.
    pub fn read(&self, reader: ImageReader, shape: FrameShape, out: &mut [u8]) -> Result<()> {
        let target = Size::new(shape.width.get(), shape.height.get())?;
        let indices = frame_indices(self.count(), shape.frames.get())?;
        let length = shape.frame_bytes();
        let mut common = None;
        for (position, index) in indices.iter().enumerate() {
            let start = position * length;
            if position > 0 && indices[position - 1] == *index {
                out.copy_within(start - length..start, start);
                continue;
            }
            let path = &self.frames[*index as usize];
            let decode = || {
                let bytes = reader.bytes_of(path)?;
                Ok((reader.measure(path, &bytes)?, reader.decode(path, &bytes, target)?))
            };
            let (size, picture) = decode().map_err(|error| self.in_frame(path, error))?;
            let expected = *common.get_or_insert(size);
            if size != expected {
                let sides = |size: Size| [size.width(), size.height()];
                let problem =
                    MediaProblem::FrameSizes { frame: name_of(path), expected: sides(expected), got: sides(size) };
                return Err(Error::media(&self.folder, problem));
            }
            out[start..start + length].copy_from_slice(picture.pixels());
        }
        Ok(())
    }

    /// A hash of the content of all frames in their order, whatever they are called; never that of a file.
    ///
    /// # Errors
    /// [`Error::Read`] where the system refuses a frame.
    pub(crate) fn digest(&self) -> Result<[u8; 32]> {
        let mut folder = blake3::Hasher::new_derive_key("chimera frame folder");
        for path in &self.frames {
            let mut frame = blake3::Hasher::new();
            let read = open_regular(path).and_then(|file| frame.update_reader(file).map(|_| ()));
            read.map_err(|cause| Error::read(path, cause))?;
            folder.update(frame.finalize().as_bytes());
        }
        Ok(*folder.finalize().as_bytes())
    }

    /// The folder is the medium; the frame is where it is damaged.
    fn in_frame(&self, path: &Path, error: Error) -> Error {
        match error {
            Error::Media { problem, .. } => {
                Error::media(&self.folder, MediaProblem::Frame { name: name_of(path), problem: Box::new(problem) })
            }
            other => other,
        }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The last number in a name without its ending, which is the frame's: 4 in `clip2_frame_00004.png`.
fn number_in(name: &str) -> Option<u64> {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let mut runs = stem.rsplit(|c: char| !c.is_ascii_digit());
    runs.find(|digits| !digits.is_empty())?.parse().ok()
}

/// Whether something in a folder is called like a picture, and is no folder itself.
fn is_frame(entry: &fs::DirEntry) -> bool {
    let (path, name) = (entry.path(), entry.file_name());
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let is_hidden = name.as_encoded_bytes().starts_with(b".");
    let is_folder = || entry.file_type().is_ok_and(|kind| kind.is_dir() || (kind.is_symlink() && path.is_dir()));
    !is_hidden && ENDINGS.contains(&ending.as_str()) && !is_folder()
}

/// A name that is compared number by number. The order of its fields is that of comparing.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct NaturalName {
    /// Of the name without ending: texts, each with the number that follows it. Of numbers without leading zeros the longer is
    /// the larger, and of equally long ones the text decides.
    pieces: Vec<(String, usize, String)>,
    /// Decides between `frame_1` and `frame_01`.
    whole: String,
}

impl NaturalName {
    fn of(name: &str) -> Self {
        let mut rest = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let (text, after) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
            let (digits, after) = after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len()));
            let number = digits.trim_start_matches('0');
            pieces.push((text.to_owned(), number.len(), number.to_owned()));
            rest = after;
        }
        Self { pieces, whole: name.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_that_people_mean() {
        let sorted = ["2.png", "10.png", "a.png", "a1.png", "f_0.png", "f_01.png", "f_1.png", "f_2.png", "f_10.png"];
        for shift in 0..sorted.len() {
            let mut names = sorted.to_vec();
            names.rotate_left(shift);
            names.sort_by_key(|name| NaturalName::of(name));
            assert_eq!(names, sorted);
        }
        let numbers =
            ["clip2_frame_00004.png", "7.jpg", "f_12_x.png", "frame.2.png", "frame.png", "18446744073709551616.png"];
        assert_eq!(numbers.map(number_in), [Some(4), Some(7), Some(12), Some(2), None, None]);
        let long = |number: &str| NaturalName::of(&format!("f{number}.jpg"));
        assert!(long("99999999999999999999999998") < long("99999999999999999999999999"));
        assert!(
            NaturalName::of("s1_f9") < NaturalName::of("s1_f10")
                && NaturalName::of("s1_f10") < NaturalName::of("s2_f1")
        );
    }
}
