//! Pictures or videos that lie about, as a dataset for as long as they are looked at: no labels, ids are paths.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::TempDir;

use super::dataset::Dataset;
use super::import::media_look::{Claim, claim_of};
use super::manifest::Kind;
use crate::error::{Error, Result};
use crate::file::Unfinished;

/// A dataset of loose media. Its folder goes when it is dropped.
#[derive(Debug)]
pub struct Loose {
    /// The dataset; its ids are paths as the caller named them.
    pub dataset: Dataset,
    _folder: TempDir,
    /// An interrupt removes the folder, too.
    _unfinished: Unfinished,
}

#[derive(Serialize)]
struct Sample<'a> {
    id: &'a str,
    media: &'a str,
    split: &'static str,
    /// A table has at least one concept; of this one nothing is known.
    unlabelled: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Described<'a> {
    name: &'static str,
    kind: Kind,
    media_root: &'a Path,
}

impl Loose {
    /// All pictures, or all videos, among files and in folders and their sub-folders, in the order of their paths.
    ///
    /// # Errors
    /// Paths that cannot be read or are not UTF-8, nothing that looks like a medium, pictures and videos together.
    pub fn of(inputs: &[PathBuf], wanted: Kind) -> Result<Self> {
        let mut files = Vec::new();
        inputs.iter().try_for_each(|input| collect(input, true, &mut files))?;
        files.sort();
        files.dedup();
        let claim = if wanted == Kind::Video { Claim::Video } else { Claim::Picture };
        let name = if claim == Claim::Video { "videos" } else { "pictures" };
        let other = |path: &PathBuf| inputs.contains(path) && !matches!(claim_of(path), Claim::Nothing);
        if let Some((path, _)) = files.iter().find(|(path, found)| *found != Some(claim) && other(path)) {
            return Err(Error::input(
                format!("expected {name}, which the model looks at, got `{}`", path.display()),
                None,
            ));
        }
        files.retain(|(_, found)| *found == Some(claim) || found.is_none());
        if files.is_empty() {
            let place = inputs.first().map_or_else(String::new, |folder| format!(" in `{}`", folder.display()));
            let hint = format!("the model looks at {name}");
            return Err(Error::input(format!("expected {name}{place}, got none"), Some(hint)));
        }
        let place = tempfile::tempdir().map_err(|cause| Error::write(Path::new("temporary folder"), cause))?;
        let table = place.path().join("samples.csv");
        let refused = |error: csv::Error| Error::input(format!("cannot list the media: {error}"), None);
        let mut writer = csv::Writer::from_path(&table).map_err(refused)?;
        for (path, _) in &files {
            let full = fs::canonicalize(path).map_err(|cause| Error::read(path, cause))?;
            let unnamed = || Error::input(format!("expected a path in UTF-8, got `{}`", path.display()), None);
            let (id, media) = (path.to_str().ok_or_else(unnamed)?, full.to_str().ok_or_else(unnamed)?);
            let media = media.trim_start_matches('/');
            writer.serialize(Sample { id, media, split: "test", unlabelled: "" }).map_err(refused)?;
        }
        writer.flush().map_err(|cause| Error::write(&table, cause))?;
        drop(writer);
        let described = Described { name: "loose media", kind: wanted, media_root: Path::new("/") };
        let text = toml::to_string(&described).map_err(|error| Error::input(error.to_string(), None))?;
        let manifest = place.path().join("dataset.toml");
        fs::write(&manifest, text).map_err(|cause| Error::write(&manifest, cause))?;
        Ok(Self {
            dataset: Dataset::open(place.path())?,
            _unfinished: Unfinished::register(place.path()),
            _folder: place,
        })
    }
}

/// Files with what their names claim; a file that was named itself needs no claim.
fn collect(path: &Path, named: bool, files: &mut Vec<(PathBuf, Option<Claim>)>) -> Result<()> {
    let metadata = fs::metadata(path).map_err(|cause| Error::read(path, cause))?;
    if !metadata.is_dir() {
        match claim_of(path) {
            Claim::Nothing if named => files.push((path.to_owned(), None)),
            Claim::Nothing => {}
            claim => files.push((path.to_owned(), Some(claim))),
        }
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|cause| Error::read(path, cause))? {
        let entry = entry.map_err(|cause| Error::read(path, cause))?;
        // A link to a folder is not followed: it may lead back here.
        let leads_away = entry.file_type().is_ok_and(|kind| kind.is_symlink()) && !entry.path().is_file();
        if !leads_away {
            collect(&entry.path(), false, files)?;
        }
    }
    Ok(())
}
