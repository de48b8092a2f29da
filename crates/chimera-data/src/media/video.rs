//! Frames of a video through the programs `ffmpeg` and `ffprobe`, so that any container and codec works and nothing is
//! linked. Frames are exact: frame k is the k-th that the decoder shows, with constant or variable frame rate. A short
//! video is decoded once from end to end; in a long one we seek, and believe only frames that carry the very time stamp
//! we want. What does not decode cleanly is an error: a smeared picture is worse than none.
//!
//! A folder of pictures is a video, too ([`FrameFolder`]); no program is run for it.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::child::{self, End};
use super::frame_folder::FrameFolder;
use super::frame_sink::FrameSink;
use super::frames::{FrameShape, frame_indices};
use super::image::ImageReader;
use super::messages::{cut_off, said};
use super::packets::{ENTRIES, Packets, Stretch};
use super::picture::Size;
use crate::error::media::MediaProblem;
use crate::error::{Error, Result};
use crate::file::open_regular;

/// Raised when the same video and shape give other bytes than before.
const VERSION: u32 = 1;
/// A table of packets longer than this (some ten million frames) is not a video we can use.
const LARGEST_TABLE: usize = 1 << 28;
/// A longer file is never decoded from end to end before its packets have been counted.
const LARGEST_GUESS: u64 = 32 << 20;
/// Beyond so many frames the filter would be slower than passing every frame on.
const MOST_SELECTED: usize = 256;
/// Triangle filter over the area of a target pixel (as Pillow's `BILINEAR`), without swscale's shortcuts.
const SCALING: &str = "bilinear+accurate_rnd+full_chroma_int";

/// Reads frames of videos. One can serve many threads; each call runs its own children on one core.
#[derive(Debug)]
pub struct VideoReader {
    ffmpeg: PathBuf,
    ffprobe: PathBuf,
    limit: Duration,
    /// Frames of the last video that was decoded as a whole, and whether the one before had as many. In many datasets
    /// all do, and guessing so spares the count; a wrong guess is noticed.
    last: AtomicU64,
    repeated: AtomicBool,
}

impl Default for VideoReader {
    fn default() -> Self {
        Self::new("ffmpeg".into(), "ffprobe".into(), Duration::from_secs(600))
    }
}

impl VideoReader {
    /// Uses these programs (a bare name is looked for on the path), none of them for longer than `limit` at a time.
    #[must_use]
    pub fn new(ffmpeg: PathBuf, ffprobe: PathBuf, limit: Duration) -> Self {
        Self { ffmpeg, ffprobe, limit, last: AtomicU64::new(0), repeated: AtomicBool::new(false) }
    }

    /// Everything beside the file and the shape that decides the bytes of what a program decodes.
    #[must_use]
    pub fn recipe() -> String {
        format!("video {VERSION}: middle frames, stretched, {SCALING}")
    }

    /// The number of frames, counted without decoding. Only VP8 can show fewer: it has packets without a picture.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn count(&self, path: &Path) -> Result<u64> {
        if path.is_dir() {
            return Ok(FrameFolder::open(path)?.count());
        }
        check_file(path)?;
        Ok(self.packets(path)?.count)
    }

    /// The size of a frame after the rotation that the file asks for.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn dimensions(&self, path: &Path) -> Result<Size> {
        if path.is_dir() {
            return FrameFolder::open(path)?.dimensions(ImageReader::default());
        }
        check_file(path)?;
        let mut command = Command::new(&self.ffprobe);
        command.args(["-v", "error", "-protocol_whitelist", "file", "-select_streams", "V:0"]);
        command.args([
            "-show_entries",
            "stream=width,height:stream_side_data=rotation",
            "-of",
            "default=nokey=0",
            "-i",
        ]);
        command.arg(argument(path));
        let mut text = Vec::new();
        self.run(path, &mut command, |piece| {
            text.extend_from_slice(piece);
            if text.len() > LARGEST_TABLE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let text = String::from_utf8_lossy(&text);
        let number = |key: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            value.and_then(|value| value.trim().parse::<f64>().ok())
        };
        let (Some(width), Some(height)) = (number("width"), number("height")) else {
            return Err(Error::media(path, MediaProblem::NoVideo));
        };
        let size = Size::new(width as usize, height as usize)?;
        // Quarter turns come as 90, -90, 270.
        let quarters = number("rotation").map_or(0, |degrees| (degrees / 90.0).round() as i64);
        Ok(if quarters % 2 == 0 { size } else { size.turned() })
    }

    /// Writes the frames at [`frame_indices`] as RGB bytes, frame after frame, row after row, into `out`, each
    /// stretched to the shape after the rotation that the file asks for.
    ///
    /// # Errors
    /// [`Error::Media`] for a file that holds no video or a damaged one, [`Error::Read`] where the system refuses it,
    /// [`Error::Program`] where a program is missing.
    pub fn read(&self, path: &Path, shape: FrameShape, out: &mut [u8]) -> Result<()> {
        if out.len() != shape.bytes() {
            return Err(Error::input(
                format!("{} bytes are needed for the frames, got {}", shape.bytes(), out.len()),
                None,
            ));
        }
        if path.is_dir() {
            return FrameFolder::open(path)?.read(ImageReader::default(), shape, out);
        }
        let length = check_file(path)?;
        let guess = self.last.load(Ordering::Relaxed);
        let guessing = self.repeated.load(Ordering::Relaxed) && length <= LARGEST_GUESS;
        if guessing && self.read_all(path, guess, shape, out).is_ok_and(|count| count == guess) {
            return Ok(());
        }
        let packets = self.packets(path)?;
        let mut indices = frame_indices(packets.count, shape.frames.get())?;
        indices.dedup();
        if let Some(stretches) = packets.stretches(&indices)
            && self.read_stretches(path, &packets, &stretches, shape, out)?
        {
            return Ok(());
        }
        let mut count = packets.count;
        // Where packets and frames differ in number, the decoder is right; a second pass knows.
        for _ in 0..2 {
            let decoded = self.read_all(path, count, shape, out)?;
            if decoded == count {
                let before = self.last.swap(count, Ordering::Relaxed);
                self.repeated.store(before == count, Ordering::Relaxed);
                return Ok(());
            }
            count = decoded;
        }
        Err(Error::media(path, MediaProblem::Damaged { said: "its number of frames changes".to_owned() }))
    }

    fn packets(&self, path: &Path) -> Result<Packets> {
        let mut command = Command::new(&self.ffprobe);
        command.args(["-v", "error", "-protocol_whitelist", "file", "-select_streams", "V:0"]);
        command.args(["-show_entries", ENTRIES, "-of", "compact", "-i"]).arg(argument(path));
        let mut table = Vec::new();
        let messages = self.run(path, &mut command, |piece| {
            table.extend_from_slice(piece);
            if table.len() > LARGEST_TABLE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let messages = messages.map_err(|error| match error {
            Error::Media { path, problem: MediaProblem::Damaged { said } } => {
                Error::Media { path, problem: MediaProblem::Unrecognised { said } }
            }
            other => other,
        })?;
        let packets = Packets::parse(&String::from_utf8_lossy(&table));
        let problem = if packets.codec.is_none() || packets.is_text_art() {
            MediaProblem::NoVideo
        } else if packets.count == 0 {
            MediaProblem::NoFrames
        } else if let Some(said) = cut_off(&messages) {
            MediaProblem::Damaged { said }
        } else {
            return Ok(packets);
        };
        Err(Error::media(path, problem))
    }

    /// One pass from end to end for the frames that stand for a video of `count`; returns how many it really has.
    fn read_all(&self, path: &Path, count: u64, shape: FrameShape, out: &mut [u8]) -> Result<u64> {
        let indices = frame_indices(count, shape.frames.get())?;
        let mut distinct = indices.clone();
        distinct.dedup();
        let selected = distinct.len() <= MOST_SELECTED;
        let select = if selected { selection("n", &distinct) } else { String::new() };
        let mut command = self.ffmpeg(path, None);
        // The first output throws every frame away; its progress is the count of them all.
        command.args(["-map", "0:V:0", "-f", "null", "-"]);
        rgb_output(&mut command, &select, shape);
        let mut frames = FrameSink::new(shape, out);
        let messages = self.run(path, &mut command, |piece| {
            frames.take(piece, |frame| {
                let index = if selected { distinct.get(frame).copied() } else { u64::try_from(frame).ok() };
                index.map_or(0..0, |index| {
                    indices.partition_point(|other| *other < index)..indices.partition_point(|other| *other <= index)
                })
            });
            ControlFlow::Continue(())
        })?;
        if let Some(said) = cut_off(&messages) {
            return Err(Error::media(path, MediaProblem::Damaged { said }));
        }
        let decoded = messages.lines().rev().find_map(|line| line.strip_prefix("frame=")?.trim().parse().ok());
        match decoded.unwrap_or(0) {
            0 => Err(Error::media(path, MediaProblem::NoFrames)),
            decoded if decoded == count && frames.filled < indices.len() => {
                let said = format!("{} of {} frames came", frames.filled, indices.len());
                Err(Error::media(path, MediaProblem::Damaged { said }))
            }
            decoded => Ok(decoded),
        }
    }

    /// Whether all frames could be had by seeking. Where not, the file is decoded as a whole, which also tells what is
    /// wrong.
    fn read_stretches(
        &self,
        path: &Path,
        packets: &Packets,
        stretches: &[Stretch],
        shape: FrameShape,
        out: &mut [u8],
    ) -> Result<bool> {
        let times: Vec<i64> = frame_indices(packets.count, shape.frames.get())?
            .into_iter()
            .map(|index| packets.times[index as usize])
            .collect();
        for stretch in stretches {
            let mut command = self.ffmpeg(path, stretch.key.and_then(|key| packets.seconds(key)));
            command.args(["-frames:v", &stretch.wanted.len().to_string()]);
            rgb_output(&mut command, &selection("pts", &stretch.wanted), shape);
            let mut frames = FrameSink::new(shape, out);
            let run = self.run(path, &mut command, |piece| {
                frames.take(piece, |frame| {
                    stretch.wanted.get(frame).map_or(0..0, |time| {
                        times.partition_point(|other| other < time)..times.partition_point(|other| other <= time)
                    })
                });
                ControlFlow::Continue(())
            });
            match run {
                Err(Error::Media { problem: MediaProblem::Damaged { .. }, .. }) => return Ok(false),
                other => other?,
            };
            if frames.whole < stretch.wanted.len() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The options up to the input. Times stay those of the file, and a frame that is not whole ends the run.
    fn ffmpeg(&self, path: &Path, seek: Option<String>) -> Command {
        let mut command = Command::new(&self.ffmpeg);
        command.args(["-v", "error", "-nostdin", "-xerror", "-copyts", "-protocol_whitelist", "file", "-threads", "1"]);
        // Should we be killed without a chance to end the child, it stops by itself after so much work.
        command.args(["-timelimit", &self.limit.as_secs().max(1).to_string()]);
        if let Some(seconds) = seek {
            command.args(["-seek_timestamp", "1", "-noaccurate_seek", "-ss", &seconds]);
        }
        command.arg("-i").arg(argument(path));
        command
    }

    /// Runs a program to its end and returns its messages.
    fn run(&self, path: &Path, command: &mut Command, sink: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<String> {
        // Variables of ffmpeg that would write reports and colour messages.
        command.env_remove("FFREPORT").env_remove("AV_LOG_FORCE_COLOR");
        let (end, messages) = child::run(command, self.limit, sink)
            .map_err(|cause| Error::Program { program: command.get_program().into(), cause })?;
        let problem = match end {
            End::Exited(status) if status.success() => return Ok(messages),
            End::Exited(status) => {
                MediaProblem::Damaged { said: said(&messages).unwrap_or_else(|| status.to_string()) }
            }
            End::Stopped => MediaProblem::Damaged { said: "it has too many packets".to_owned() },
            End::TimedOut => MediaProblem::TimedOut { seconds: self.limit.as_secs() },
        };
        Err(Error::media(path, problem))
    }
}

/// The length of a regular file that has any.
fn check_file(path: &Path) -> Result<u64> {
    // Opening tells more than metadata do.
    let length = open_regular(path).and_then(|file| Ok(file.metadata()?.len()));
    match length.map_err(|cause| Error::read(path, cause))? {
        0 => Err(Error::media(path, MediaProblem::Empty)),
        length => Ok(length),
    }
}

/// A file name that is never taken for an option or for an address such as `http:` or `concat:`.
fn argument(path: &Path) -> OsString {
    let mut argument = OsString::from("file:");
    argument.push(path);
    argument
}

/// A filter that lets only these frames pass.
fn selection<T: std::fmt::Display>(variable: &str, wanted: &[T]) -> String {
    let terms: Vec<String> = wanted.iter().map(|value| format!("eq({variable},{value})")).collect();
    format!("select='{}',", terms.join("+"))
}

/// The selected frames as raw RGB on standard output. Their times are replaced by 0, 1, 2..., so that ffmpeg has no
/// reason to repeat or drop any to keep a constant rate, in whatever way its version would be told not to.
fn rgb_output(command: &mut Command, select: &str, shape: FrameShape) {
    let FrameShape { width, height, .. } = shape;
    let filter = format!("{select}scale={width}:{height}:flags={SCALING},format=rgb24,settb=1/25,setpts=N");
    command.args(["-map", "0:V:0", "-vf", &filter, "-r", "25", "-f", "rawvideo", "-progress", "pipe:2", "pipe:1"]);
}
