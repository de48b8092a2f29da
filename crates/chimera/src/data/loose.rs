//! Pictures or videos that lie about: no table, no labels, ids are paths as the user named them.

use std::fs;
use std::path::{Path, PathBuf};

use super::import::media_look::{Claim, claim_of};
use super::manifest::Kind;
use super::names::Names;
use crate::error::{Error, Result};
use crate::media::frame_folder::FrameFolder;

/// A list of loose media, each once, in the order of their paths.
#[derive(Clone, Debug)]
pub struct Loose {
    files: Names,
    kind: Kind,
}

impl Loose {
    /// All pictures, or all videos, among files and in folders and their sub-folders. Where videos are wanted, a folder with several
    /// pictures is one, frame by frame.
    ///
    /// # Errors
    /// Paths that cannot be read or are not UTF-8, nothing that looks like a medium, a named file of the other kind.
    pub fn of(inputs: &[PathBuf], wanted: Kind) -> Result<Self> {
        let mut files = Vec::new();
        inputs.iter().try_for_each(|input| collect(input, wanted, true, &mut files))?;
        files.sort();
        files.dedup();
        let claim = if wanted == Kind::Video { Claim::Video } else { Claim::Picture };
        let name = if claim == Claim::Video { "videos" } else { "pictures" };
        let is_other =
            |(path, found): &&(PathBuf, Claim)| ![claim, Claim::Nothing].contains(found) && inputs.contains(path);
        if let Some((path, _)) = files.iter().find(is_other) {
            let message = format!("expected {name}, which the model looks at, got `{}`", path.display());
            return Err(Error::input(message, None));
        }
        let mut names = Names::default();
        for (path, found) in &files {
            if [claim, Claim::Nothing].contains(found) {
                let unnamed = || {
                    let message =
                        format!("expected a path in UTF-8, which ids are written in, got `{}`", path.display());
                    Error::input(message, Some("give the file another name".to_owned()))
                };
                names.push(path.to_str().ok_or_else(unnamed)?);
            }
        }
        if names.is_empty() {
            let place = inputs.first().map_or_else(String::new, |folder| format!(" in `{}`", folder.display()));
            let hint = format!("the model looks at {name}");
            return Err(Error::input(format!("expected {name}{place}, got none"), Some(hint)));
        }
        Ok(Self { files: names, kind: wanted })
    }

    /// Whether they are pictures or videos.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The paths, as the caller named them or the folders that they lie in.
    #[must_use]
    pub fn files(&self) -> &Names {
        &self.files
    }
}

/// Files with what their names claim. One that was named itself is taken whatever its name says; what lies in a folder must
/// claim to be a medium.
fn collect(path: &Path, wanted: Kind, named: bool, files: &mut Vec<(PathBuf, Claim)>) -> Result<()> {
    let metadata = fs::metadata(path).map_err(|cause| Error::read(path, cause))?;
    if !metadata.is_dir() {
        let claim = claim_of(path);
        if named || claim != Claim::Nothing {
            files.push((path.to_owned(), claim));
        }
        return Ok(());
    }
    if wanted == Kind::Video && FrameFolder::open(path).is_ok_and(|frames| frames.count() > 1) {
        files.push((path.to_owned(), Claim::Video));
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|cause| Error::read(path, cause))? {
        let entry = entry.map_err(|cause| Error::read(path, cause))?;
        // A link to a folder is not followed: it may lead back here.
        let leads_away = entry.file_type().is_ok_and(|kind| kind.is_symlink()) && !entry.path().is_file();
        if !leads_away {
            collect(&entry.path(), wanted, false, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_as_they_were_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("more/deep")).unwrap();
        for name in [" a b.png ", "b.PNG", "more/deep/c.jpg", "more/notes.txt", "more/d.mp4", "frame"] {
            fs::write(path(name), "").unwrap();
        }
        let of = |inputs: &[&str], kind| Loose::of(&inputs.iter().map(|name| path(name)).collect::<Vec<_>>(), kind);
        let names = |loose: &Loose| {
            let folder = folder.path().to_str().unwrap();
            loose.files().iter().map(|name| name[folder.len() + 1..].to_owned()).collect::<Vec<_>>()
        };
        // White space at either end is a part of a name, and a file that was named needs no ending.
        let found = of(&["more", "b.PNG", " a b.png ", "frame", "more"], Kind::Image).unwrap();
        assert_eq!(names(&found), [" a b.png ", "b.PNG", "frame", "more/deep/c.jpg"]);
        assert_eq!(names(&of(&["more"], Kind::Video).unwrap()), ["more/d.mp4"]);
        // Frames of a video, for whoever looks at videos.
        fs::create_dir_all(path("clips/one")).unwrap();
        for name in ["clips/one/f1.png", "clips/one/f2.png", "clips/two.mp4"] {
            fs::write(path(name), "").unwrap();
        }
        assert_eq!(names(&of(&["clips"], Kind::Video).unwrap()), ["clips/one", "clips/two.mp4"]);
        assert_eq!(names(&of(&["clips/one"], Kind::Video).unwrap()), ["clips/one"]);
        assert_eq!(names(&of(&["clips"], Kind::Image).unwrap()), ["clips/one/f1.png", "clips/one/f2.png"]);
        let message = |inputs: &[&str], kind| of(inputs, kind).unwrap_err().to_string();
        assert!(message(&["more/d.mp4"], Kind::Image).starts_with("expected pictures, which the model looks at, got"));
        assert!(message(&["more/deep"], Kind::Video).contains("deep`, got none\nhint: the model looks at videos"));
        assert!(message(&["none"], Kind::Image).ends_with("no such file or folder"));
    }
}
