//! What lies in folders, in the order of names: hidden files are never listed.

use std::fs;
use std::path::{Path, PathBuf};

use super::media_look::{Claim, claim_of};
use crate::error::{Error, Result};
use crate::media::frame_folder::FrameFolder;

/// So deep in folders is looked: links that lead back would never end.
const DEPTH: usize = 8;

/// What is in a folder, by name.
pub(crate) fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let refused = |cause| Error::read(folder, cause);
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            entries.push((name, path));
        }
    }
    entries.sort();
    Ok(entries)
}

/// What is wanted below a folder, by its path from there with `/` between. Nothing is looked for inside of what is wanted.
pub(crate) fn wanted_below(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<String>> {
    wanted_within(folder, DEPTH, is_wanted)
}

fn wanted_within(folder: &Path, depth: usize, is_wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<String>> {
    let mut wanted = Vec::new();
    for (name, path) in entries(folder)? {
        if is_wanted(&path) {
            wanted.push(name);
        } else if depth > 0 && path.is_dir() {
            let inside = wanted_within(&path, depth - 1, is_wanted)?;
            wanted.extend(inside.into_iter().map(|inside| format!("{name}/{inside}")));
        }
    }
    Ok(wanted)
}

/// Videos below a folder: files by their endings, and folders of frames.
pub(crate) fn videos_below(folder: &Path) -> Result<Vec<String>> {
    let is_video = |path: &Path| claim_of(path) == Claim::Video || FrameFolder::holds_frames(path);
    wanted_below(folder, &is_video)
}

/// The last part of a path with `/` between, without its ending where that is one of a video: folders of frames have none.
pub(crate) fn video_name(place: &str) -> &str {
    let name = place.rsplit('/').next().unwrap_or(place);
    match name.rsplit_once('.') {
        Some((stem, _)) if claim_of(Path::new(name)) == Claim::Video => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn videos_are_files_by_ending_and_folders_with_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "a.mp4",
            "notes.txt",
            ".hidden.mp4",
            "0001/b.AVI",
            "0001/c/frame_0.png",
            "0001/c/inside.mp4",
            "0001/deep/er/d.1.webm",
            "empty/readme.md",
        ];
        for name in names {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let videos = videos_below(folder.path()).unwrap();
        assert_eq!(videos, ["0001/b.AVI", "0001/c", "0001/deep/er/d.1.webm", "a.mp4"]);
        let names: Vec<&str> = videos.iter().map(|place| video_name(place)).collect();
        assert_eq!(names, ["b", "c", "d.1", "a"]);
        assert_eq!(video_name("frames/clip.1"), "clip.1");
    }
}
