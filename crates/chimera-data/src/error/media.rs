//! What can be wrong with one picture or video, apart from the system refusing to read it.

use std::fmt;

/// Why a medium cannot be used. The path stands in [`crate::error::Error::Media`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MediaProblem {
    /// The file has no bytes.
    Empty,
    /// No known format: text, a download page, a file cut off before its index.
    Unrecognised {
        /// What the decoder said.
        said: String,
    },
    /// A readable file without moving pictures: sound, subtitles, text art.
    NoVideo,
    /// A video stream in which there is no frame.
    NoFrames,
    /// It begins well but is cut off, or does not decode without errors.
    Damaged {
        /// What the decoder said.
        said: String,
    },
    /// The decoder was stopped because it took too long.
    TimedOut {
        /// The limit.
        seconds: u64,
    },
    /// The file changed while it was being read.
    Changed,
    /// No known image format, whatever its name says.
    NotAnImage,
    /// An image of a known format that this program does not decode.
    UnsupportedImage {
        /// What it uses.
        said: String,
    },
    /// An image that begins well but does not decode to its end.
    DamagedImage {
        /// What the decoder said.
        said: String,
    },
    /// An image that says it is larger than allowed; nothing of it was decoded.
    TooLarge {
        /// Pixels a row.
        width: u32,
        /// Rows.
        height: u32,
        /// Pixels that the longest side may have.
        side: u32,
        /// Pixels that it may have in all.
        pixels: u64,
    },
    /// A folder in which there is no picture that could be a frame.
    NoPictures,
    /// Frames in a folder that differ in size.
    FrameSizes {
        /// The picture's name in the folder.
        frame: String,
        /// Width and height of the frames before it.
        expected: [usize; 2],
        /// Its own.
        got: [usize; 2],
    },
    /// A frame in a folder that cannot be used.
    Frame {
        /// The picture's name in the folder.
        name: String,
        /// What is wrong with it.
        problem: Box<MediaProblem>,
    },
    /// An image file with more bytes than allowed.
    TooManyBytes {
        /// Bytes that it may have.
        limit: u64,
    },
}

impl MediaProblem {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Empty | Self::Unrecognised { .. } => Some("fetch the file again, or remove its sample"),
            Self::Damaged { .. } => {
                Some("fetch the file again; if a player shows it well, `ffmpeg -i IN OUT.mp4` writes a clean copy")
            }
            Self::NotAnImage => {
                Some("images are JPEG, PNG, WebP, BMP or GIF; look at what the file holds, or fetch it again")
            }
            Self::UnsupportedImage { .. } => Some("convert the image to PNG or to a plain JPEG"),
            Self::DamagedImage { .. } => Some("fetch the file again, or remove its sample"),
            Self::TooLarge { .. } | Self::TooManyBytes { .. } => Some("shrink the image first, or remove its sample"),
            Self::NoPictures => Some("a folder is a video whose frames are pictures, such as `frame_000.png`"),
            Self::FrameSizes { .. } => {
                Some("all frames of a video have one size; look for a picture that is none of them")
            }
            Self::Frame { problem, .. } => problem.hint(),
            Self::NoVideo | Self::NoFrames | Self::TimedOut { .. } | Self::Changed => None,
        }
    }
}

impl fmt::Display for MediaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the file is empty"),
            Self::Unrecognised { said } => write!(f, "no video format is recognised ({said})"),
            Self::NoVideo => write!(f, "it has no video stream"),
            Self::NoFrames => write!(f, "its video stream has no frames"),
            Self::Damaged { said } => write!(f, "the video is damaged or cut off ({said})"),
            Self::TimedOut { seconds } => write!(f, "decoding took longer than {seconds} s and was stopped"),
            Self::Changed => write!(f, "it changed while it was being read"),
            Self::NotAnImage => write!(f, "no image format is recognised"),
            Self::UnsupportedImage { said } => write!(f, "the image is of a kind that cannot be decoded ({said})"),
            Self::DamagedImage { said } => write!(f, "the image is damaged or cut off ({said})"),
            Self::TooLarge { width, height, side, pixels } => {
                write!(f, "it has {width} x {height} pixels, more than {side} a side or {pixels} in all")
            }
            Self::NoPictures => write!(f, "there are no pictures in the folder"),
            Self::FrameSizes { frame, expected, got } => write!(
                f,
                "frame `{frame}` has {} x {} pixels, and frames before it {} x {}",
                got[0], got[1], expected[0], expected[1]
            ),
            Self::Frame { name, problem } => write!(f, "frame `{name}`: {problem}"),
            Self::TooManyBytes { limit } => write!(f, "the file has more than {limit} bytes"),
        }
    }
}
