//! Frames to an MP4 file, through the program `ffmpeg`.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use chimera_data::error::{Error, Result};
use chimera_data::media::picture::{Picture, Size};

/// Frames a second, as in CLEVRER.
const RATE: &str = "25";

/// Makes sure before any work that videos can be written: the program runs, and sides are even, since the codec halves them.
pub(crate) fn check(program: &Path, size: Size) -> Result<()> {
    let (width, height) = (size.width(), size.height());
    if width % 2 != 0 || height % 2 != 0 {
        let message = format!("expected an even width and height for MP4, got {width} x {height}");
        return Err(Error::input(message, None));
    }
    let mut command = Command::new(program);
    command.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => {
            let message = format!("expected the program `{}` to write MP4, got none that runs", program.display());
            let hint = "install ffmpeg, or leave out `--mp4` to write frames as PNG files";
            Err(Error::input(message, Some(hint.to_owned())))
        }
    }
}

/// Writes a video.
pub(crate) fn write_mp4(
    program: &Path,
    path: &Path,
    size: Size,
    frames: impl Iterator<Item = Result<Picture>>,
) -> Result<()> {
    let (width, height) = (size.width(), size.height());
    let mut command = Command::new(program);
    command.args(["-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24", "-r", RATE, "-s"]);
    command.arg(format!("{width}x{height}")).args(["-i", "-", "-an", "-c:v", "libx264", "-threads", "1"]);
    // The same frames give the same file: no date, no version.
    command.args(["-pix_fmt", "yuv420p", "-crf", "18", "-bitexact", "-map_metadata", "-1", "-f", "mp4"]).arg(path);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let refused = |cause| Error::Program { program: program.to_owned(), cause };
    let mut child = command.spawn().map_err(refused)?;
    // Read while frames are written: a full pipe would stop both sides.
    let listener = child.stderr.take().map(|mut errors| {
        thread::spawn(move || {
            let mut said = String::new();
            let _ = errors.read_to_string(&mut said);
            said
        })
    });
    let mut fed = Ok(());
    if let Some(mut input) = child.stdin.take() {
        for frame in frames {
            let frame = frame.map_err(Some);
            fed = frame.and_then(|frame| input.write_all(frame.pixels()).map_err(|_| None));
            if fed.is_err() {
                break;
            }
        }
    }
    let said = listener.and_then(|listener| listener.join().ok()).unwrap_or_default();
    let ended = child.wait().map_err(refused)?;
    // A frame that could not be painted is our own error; a pipe that closed is explained by what ffmpeg said.
    if let Err(Some(error)) = fed {
        return Err(error);
    }
    if !ended.success() || fed.is_err() {
        let words = said.lines().last().unwrap_or("it said nothing").to_owned();
        let message = format!("cannot write a video with `{}`: {words}", program.display());
        return Err(Error::input(message, Some("leave out `--mp4` to write frames as PNG files".to_owned())));
    }
    Ok(())
}
