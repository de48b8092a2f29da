//! Pictures or videos that lie about: no table, no labels, ids are paths as the user named them.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::dataset::manifest::Kind;
use crate::error::{Error, Result};
use crate::media::frame_folder::FrameFolder;
use crate::source::media_look::{Claim, claim_of};
use crate::table::names::Names;

/// A list of loose media, each once, in the order in which they were named. What lies in a folder has the order of its paths.
#[derive(Clone, Debug)]
pub struct Loose {
    files: Names,
    kind: Kind,
    passed_over: PassedOver,
}

/// What lies in folders beside the media. Hidden files are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Files whose names say that they are neither pictures nor videos.
    pub unknown: Few,
    /// Pictures where videos are wanted, and videos where pictures are.
    pub others: Few,
    /// Links to folders: they may lead back to where they lie.
    pub links: Few,
}

/// Some files: how many, and an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Few {
    /// How many there are.
    pub count: usize,
    /// The first of them; `None` where there are none.
    pub first: Option<PathBuf>,
}

impl Few {
    fn of(paths: Vec<PathBuf>) -> Self {
        let mut seen = BTreeSet::new();
        let count = paths.iter().filter(|path| seen.insert(path.as_path())).count();
        Self { count, first: paths.into_iter().next() }
    }
}

impl Loose {
    /// All pictures, or all videos, among files and in folders and their sub-folders. Where videos are wanted, a folder with several
    /// pictures is one, frame by frame. What comes twice stands at its first place. A link that leads nowhere is a medium that cannot
    /// be read.
    ///
    /// # Errors
    /// Paths that cannot be read or are not UTF-8, nothing that looks like a medium, a named file of the other kind.
    pub fn of(inputs: &[PathBuf], wanted: Kind) -> Result<Self> {
        let wanted_claim = if wanted == Kind::Video { Claim::Video } else { Claim::Picture };
        let mut found = Found {
            wanted: wanted_claim,
            files: Vec::new(),
            unknown: Vec::new(),
            others: Vec::new(),
            links: Vec::new(),
        };
        inputs.iter().try_for_each(|input| found.add_named(input))?;
        let (mut names, mut seen) = (Names::default(), BTreeSet::new());
        for path in found.files.iter().filter(|path| seen.insert(path.as_path())) {
            let unnamed = || {
                let message = format!("expected a path in UTF-8, which ids are written in, got `{}`", path.display());
                Error::input(message, Some("give the file another name".to_owned()))
            };
            names.push(path.to_str().ok_or_else(unnamed)?);
        }
        if names.is_empty() {
            let (name, place) = (found.name(), inputs.first());
            let place = place.map_or_else(String::new, |folder| format!(" in `{}`", folder.display()));
            let hint = format!("the model looks at {name}");
            return Err(Error::input(format!("expected {name}{place}, got none"), Some(hint)));
        }
        let Found { unknown, others, links, .. } = found;
        let passed_over = PassedOver { unknown: Few::of(unknown), others: Few::of(others), links: Few::of(links) };
        Ok(Self { files: names, kind: wanted, passed_over })
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

    /// What lies in the folders beside them.
    #[must_use]
    pub fn passed_over(&self) -> &PassedOver {
        &self.passed_over
    }
}

/// What was found so far.
struct Found {
    wanted: Claim,
    files: Vec<PathBuf>,
    unknown: Vec<PathBuf>,
    others: Vec<PathBuf>,
    links: Vec<PathBuf>,
}

impl Found {
    fn name(&self) -> &'static str {
        if self.wanted == Claim::Video { "videos" } else { "pictures" }
    }

    /// Takes what was named itself: a file whatever its name says, unless that is the other kind.
    fn add_named(&mut self, path: &Path) -> Result<()> {
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => return self.add_folder(path, false),
            Err(cause) if path.symlink_metadata().is_err() => return Err(Error::read(path, cause)),
            // A link that leads nowhere is there all the same.
            Ok(_) | Err(_) => {}
        }
        if ![self.wanted, Claim::Nothing].contains(&claim_of(path)) {
            let message = format!("expected {}, which the model looks at, got `{}`", self.name(), path.display());
            return Err(Error::input(message, None));
        }
        self.files.push(path.to_owned());
        Ok(())
    }

    /// Takes all media of a folder, in the order of their paths. `hidden` is a folder that is not meant to be seen, or in such a one.
    fn add_folder(&mut self, folder: &Path, hidden: bool) -> Result<()> {
        let refused = |cause| Error::read(folder, cause);
        let entries = fs::read_dir(folder).map_err(refused)?;
        let mut entries: Vec<DirEntry> = entries.collect::<io::Result<_>>().map_err(refused)?;
        entries.sort_by_key(DirEntry::file_name);
        // Pictures beside videos are no frames of one: thumbnails, say.
        let holds_videos = entries.iter().any(|entry| claim_of(&entry.path()) == Claim::Video);
        if self.wanted == Claim::Video
            && !holds_videos
            && FrameFolder::open(folder).is_ok_and(|frames| frames.count() > 1)
        {
            self.files.push(folder.to_owned());
            return Ok(());
        }
        for entry in entries {
            let path = entry.path();
            let hidden = hidden || entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            match (fs::metadata(&path).is_ok_and(|data| data.is_dir()), claim_of(&path)) {
                (true, _) if !is_link => self.add_folder(&path, hidden)?,
                (false, claim) if claim == self.wanted => self.files.push(path),
                _ if hidden => {}
                (true, _) => self.links.push(path),
                (false, Claim::Nothing) => self.unknown.push(path),
                (false, Claim::Picture | Claim::Video) => self.others.push(path),
            }
        }
        Ok(())
    }
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
        assert_eq!(names(&found), ["more/deep/c.jpg", "b.PNG", " a b.png ", "frame"]);
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

    #[test]
    fn what_is_passed_over_in_folders_is_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir_all(path("in/deep")).unwrap();
        fs::create_dir_all(path("in/.git")).unwrap();
        for name in ["z.txt", "b.png", "deep/a.png", "deep/list.csv", "deep/c.MP4", ".DS_Store", ".git/config"] {
            fs::write(path("in").join(name), "").unwrap();
        }
        let few = |count, first: &str| Few { count, first: Some(path(first)) };
        let loose = Loose::of(&[path("in/deep"), path("in")], Kind::Image).unwrap();
        let expected = ["in/deep/a.png", "in/b.png"].map(|name| path(name).to_str().unwrap().to_owned());
        assert_eq!(loose.files().iter().collect::<Vec<_>>(), expected);
        let PassedOver { unknown, others, links } = loose.passed_over();
        assert_eq!((unknown, others, links), (&few(2, "in/deep/list.csv"), &few(1, "in/deep/c.MP4"), &Few::default()));
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_nowhere_are_media_and_links_to_folders_are_not_followed() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("in")).unwrap();
        fs::write(path("real.png"), "").unwrap();
        for (to, name) in [("gone", "gone.png"), ("gone", "gone.txt"), ("../real.png", "real.png"), ("..", "up")] {
            symlink(to, path("in").join(name)).unwrap();
        }
        let of = |name: &str| Loose::of(&[path(name)], Kind::Image).unwrap();
        let names = |loose: &Loose| loose.files().iter().map(PathBuf::from).collect::<Vec<_>>();
        let loose = of("in");
        assert_eq!(names(&loose), [path("in/gone.png"), path("in/real.png")]);
        let few = |first: &str| Few { count: 1, first: Some(path(first)) };
        let PassedOver { unknown, others, links } = loose.passed_over();
        assert_eq!((unknown, others, links), (&few("in/gone.txt"), &Few::default(), &few("in/up")));
        // Whoever names one means it.
        assert_eq!(names(&of("in/gone.png")), [path("in/gone.png")]);
        assert_eq!(names(&of("in/up")).len(), 3);
    }
}
