//! A cheap look at a file that should be a picture or a video: what it is to the system, its size and its first bytes. Whether it
//! decodes to its end is found out when it is decoded.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use image::ImageFormat;

use crate::media::frame_folder::FrameFolder;
use crate::media::image::ENDINGS;

/// Endings of videos.
const VIDEO: [&str; 10] = ["mp4", "avi", "mov", "mkv", "webm", "m4v", "mpg", "mpeg", "wmv", "flv"];

/// What a file's first bytes are compared with.
const HEAD: u64 = 16;

/// The boxes that a file of the QuickTime family can begin with.
const QUICKTIME: [&[u8]; 8] = [b"ftyp", b"styp", b"moov", b"mdat", b"free", b"skip", b"wide", b"pnot"];

/// What a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// A file that may well be what its name says.
    Usable,
    /// A folder of pictures, which is a video but no picture.
    Frames,
    /// Nothing is there.
    Missing,
    /// Something is there that cannot be used, and why.
    Unusable(&'static str),
}

/// What the ending of a name claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    Picture,
    Video,
    Nothing,
}

/// What a file's name says it is.
pub(crate) fn claim_of(path: &Path) -> Claim {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        ending if VIDEO.contains(&ending) => Claim::Video,
        ending if ENDINGS.contains(&ending) => Claim::Picture,
        _ => Claim::Nothing,
    }
}

/// Looks at a file. What is no regular file is never opened: a pipe would wait for a writer.
pub(crate) fn look(path: &Path) -> Seen {
    match fs::metadata(path) {
        Ok(data) if data.is_dir() && FrameFolder::holds_frames(path) => return Seen::Frames,
        Ok(data) if data.is_dir() => return Seen::Unusable(without_frames(path)),
        Ok(data) if !data.is_file() => return Seen::Unusable("it is no regular file"),
        Ok(data) if data.len() == 0 => return Seen::Unusable("it is empty"),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Seen::Unusable("permission denied"),
        Err(_) => return Seen::Missing,
    }
    let mut head = Vec::with_capacity(HEAD as usize);
    if File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).is_err() {
        return Seen::Unusable("it cannot be read");
    }
    match claim_of(path) {
        Claim::Picture => match image::guess_format(&head) {
            Ok(format) if format == ImageFormat::Jpeg || format.reading_enabled() => Seen::Usable,
            Ok(_) => Seen::Unusable("it is a picture of a format that is not read"),
            Err(_) => Seen::Unusable("it does not begin like a picture"),
        },
        Claim::Video if !begins_like_a_video(&head) => Seen::Unusable("it does not begin like a video"),
        Claim::Video | Claim::Nothing => Seen::Usable,
    }
}

/// What is the matter with a folder that holds no pictures.
fn without_frames(folder: &Path) -> &'static str {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => "it is an empty folder",
        Ok(false) => "it is a folder without pictures",
        Err(_) => "it is a folder that cannot be read",
    }
}

fn begins_like_a_video(head: &[u8]) -> bool {
    let is_quicktime = head.get(4..8).is_some_and(|name| QUICKTIME.contains(&name));
    let is_avi = head.starts_with(b"RIFF") && head.get(8..11) == Some(b"AVI");
    // Matroska and WebM; MPEG program, elementary and transport streams; Windows Media; Flash.
    let others: [&[u8]; 6] =
        [b"\x1a\x45\xdf\xa3", b"\x00\x00\x01\xba", b"\x00\x00\x01\xb3", b"\x47", b"\x30\x26\xb2\x75", b"FLV"];
    is_quicktime || is_avi || others.iter().any(|magic| head.starts_with(magic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_first_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let seen = |name: &str, bytes: &[u8]| {
            fs::write(folder.path().join(name), bytes).unwrap();
            look(&folder.path().join(name))
        };
        let (png, jpeg) = (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xd8\xff\xe0\0\x10JFIF");
        let (webp, mp4) = (b"RIFF\x10\0\0\0WEBPVP8 ", b"\0\0\0\x20ftypisom");
        assert_eq!(seen("a.png", png), Seen::Usable);
        // Formats are known by their first bytes, so a wrong ending does no harm among pictures.
        assert_eq!(
            (seen("a.JPG", jpeg), seen("b.jpg", png), seen("c.jpg", webp)),
            (Seen::Usable, Seen::Usable, Seen::Usable)
        );
        assert_eq!(seen("a.mp4", mp4), Seen::Usable);
        assert_eq!(seen("a.avi", b"RIFF\x10\0\0\0AVI LIST"), Seen::Usable);
        assert_eq!(seen("a.webm", b"\x1a\x45\xdf\xa3\x01"), Seen::Usable);
        assert_eq!(seen("frames", b"anything"), Seen::Usable);
        let unlike = |what: &str| {
            Seen::Unusable(if what == "video" {
                "it does not begin like a video"
            } else {
                "it does not begin like a picture"
            })
        };
        assert_eq!(seen("page.jpg", b"<!DOCTYPE html>"), unlike("picture"));
        assert_eq!((seen("b.mp4", png), seen("b.png", mp4)), (unlike("video"), unlike("picture")));
        assert_eq!(seen("short.mp4", b"\0\0"), unlike("video"));
        assert_eq!(seen("a.tif", b"II*\0\x08\0\0\0"), Seen::Unusable("it is a picture of a format that is not read"));
        assert_eq!(seen("empty.png", b""), Seen::Unusable("it is empty"));
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert_eq!(look(&folder.path().join("empty")), Seen::Unusable("it is an empty folder"));
        fs::write(folder.path().join("empty/notes.txt"), "x").unwrap();
        assert_eq!(look(&folder.path().join("empty")), Seen::Unusable("it is a folder without pictures"));
        assert_eq!(look(folder.path()), Seen::Frames);
        assert_eq!(look(&folder.path().join("gone.png")), Seen::Missing);
        assert_eq!(look(&folder.path().join("a.png/x.png")), Seen::Missing);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.png");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(look(&pipe), Seen::Unusable("it is no regular file"));
    }
}
