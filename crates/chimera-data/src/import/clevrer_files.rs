//! Where CLEVRER's files lie: annotations and videos in folders a split, in each of them folders of a thousand. Files right in
//! the folder of a split are found, too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Note;
use super::solids::Found;
use crate::error::{Error, Result};
use crate::source::listing::{entries, video_name, videos_below};
use crate::source::media_look::{Claim, claim_of};
use crate::source::recognise;

/// One annotation.
pub(super) struct AnnotationFile {
    /// The source's word for its split.
    pub(super) split: String,
    /// The folder of the split.
    pub(super) folder: PathBuf,
    /// What comes after `annotation_` in the name of the folder of a thousand, where there is one.
    range: Option<String>,
    /// Its name.
    name: String,
    pub(super) path: PathBuf,
}

impl AnnotationFile {
    /// Where it is, for messages: split and file.
    pub(super) fn place(&self) -> String {
        let range = self.range.as_ref().map(|range| format!("/annotation_{range}")).unwrap_or_default();
        format!("annotation_{}{range}/{}", self.split, self.name)
    }
}

/// All annotations in the order of their paths, those to train from first, so that what comes twice stays there.
pub(super) fn annotation_files(folder: &Path) -> Result<Vec<AnnotationFile>> {
    if is_inner(folder) && folder.is_dir() {
        return Err(not_clevrer(folder));
    }
    let mut files = Vec::new();
    for (name, path) in entries(folder)? {
        let Some(split) = name.strip_prefix("annotation_").filter(|_| path.is_dir()) else { continue };
        let mut add = |range: Option<&str>, name: String, file: PathBuf| {
            if name.starts_with("annotation_") && name.ends_with(".json") {
                let (split, folder, range) = (split.to_owned(), path.clone(), range.map(str::to_owned));
                files.push(AnnotationFile { split, folder, range, name, path: file });
            }
        };
        for (inner, inside) in entries(&path)? {
            match inner.strip_prefix("annotation_").filter(|_| inside.is_dir()) {
                Some(range) => entries(&inside)?.into_iter().for_each(|(name, file)| add(Some(range), name, file)),
                None => add(None, inner, inside),
            }
        }
    }
    files.sort_by(|one, other| {
        let key = |file: &AnnotationFile| (file.split != "train", file.split.clone());
        key(one).cmp(&key(other)).then_with(|| one.path.cmp(&other.path))
    });
    if files.is_empty() { Err(not_clevrer(folder)) } else { Ok(files) }
}

/// The videos of all splits.
pub(super) struct Videos {
    /// By split and name without ending: paths under the root, those of files before folders.
    places: BTreeMap<(String, String), Vec<String>>,
}

impl Videos {
    pub(super) fn of(folder: &Path, files: &[AnnotationFile]) -> Result<Self> {
        let mut splits: BTreeSet<String> = files.iter().map(|file| file.split.clone()).collect();
        // Those of a split without annotations are counted, too.
        splits.extend(
            entries(folder)?.into_iter().filter_map(|(name, _)| name.strip_prefix("video_").map(str::to_owned)),
        );
        let mut places: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for split in &splits {
            let root = folder.join(format!("video_{split}"));
            if !root.is_dir() {
                continue;
            }
            for place in videos_below(&root)? {
                let key = (split.clone(), video_name(&place).to_owned());
                places.entry(key).or_default().push(format!("video_{split}/{place}"));
            }
        }
        places.values_mut().for_each(|places| places.sort_by_key(|place| claim_of(Path::new(place)) != Claim::Video));
        Ok(Self { places })
    }

    /// Where the video of an annotation is: in the folder of its own name, else anywhere in its split, else where it should be.
    /// Then others of its name.
    pub(super) fn place_of(&self, file: &AnnotationFile, video: &str, stem: &str) -> (String, Vec<String>) {
        let range = file.range.as_ref().map(|range| format!("video_{range}/")).unwrap_or_default();
        let folder = format!("video_{}/{range}", file.split);
        let mut found = self.places.get(&(file.split.clone(), stem.to_owned())).cloned().unwrap_or_default();
        if found.is_empty() {
            return (format!("{folder}{video}"), found);
        }
        let own = found.iter().position(|place| place.starts_with(&folder)).unwrap_or(0);
        (found.remove(own), found)
    }

    /// Videos that no annotation is about, usable or not.
    pub(super) fn without_annotation(&self, files: &[AnnotationFile], found: &[Found]) -> Note {
        let number = |file: &AnnotationFile| {
            let number = file.name.strip_prefix("annotation_").and_then(|name| name.strip_suffix(".json"));
            format!("video_{}", number.unwrap_or_default())
        };
        let annotated = files.iter().zip(found).map(|(file, found)| {
            let stem = found.as_ref().map_or_else(|_| number(file), |sample| sample.id.clone());
            (file.split.clone(), stem)
        });
        let annotated: BTreeSet<(String, String)> = annotated.collect();
        let mut strays =
            Note::about("video without an annotation was left out", "videos without an annotation were left out");
        for (key, places) in &self.places {
            if !annotated.contains(key) {
                places.iter().take(1).for_each(|place| strays.add(|| place.clone()));
            }
        }
        strays
    }
}

/// An error about the layout, with the layout.
fn not_clevrer(folder: &Path) -> Error {
    let message = format!(
        "expected `annotation_train/annotation_00000-01000/annotation_00000.json` in `{}`, got none of that kind",
        folder.display()
    );
    let above = folder.ancestors().find(|above| !is_inner(above)).filter(|above| *above != folder);
    let above = above.filter(|above| !above.as_os_str().is_empty());
    let above = above.map(|above| format!("give the folder above, which holds the videos, too: `{}`", above.display()));
    let hint = above.or_else(|| recognise::elsewhere(folder, "clevrer")).unwrap_or_else(|| {
        "give the folder that holds `annotation_<split>/annotation_AAAAA-BBBBB/annotation_NNNNN.json` and \
         `video_<split>/video_AAAAA-BBBBB/video_NNNNN.mp4`, or folders `video_NNNNN/` of frames"
            .to_owned()
    });
    Error::input(message, Some(hint))
}

/// Whether a folder is one of annotations, of a split or of a thousand.
fn is_inner(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("annotation_"))
}
