//! Where the files of Open Images lie: by their official names in one folder, or named one by one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::OpenImagesImport;
use crate::data::import::ImportOptions;
use crate::data::import::listing::entries;
use crate::data::import::samples::check_split;
use crate::data::split::Split;
use crate::error::{Error, Result};

/// Names of the file with the names of classes, older and newer.
const CLASSES: [&str; 2] = ["class-descriptions-boxable.csv", "oidv7-class-descriptions-boxable.csv"];
const HIERARCHY: [&str; 1] = ["bbox_labels_600_hierarchy.json"];

/// How names of files go on after the split.
const BOXES: &str = "-annotations-bbox.csv";
const IMAGE_LABELS: [&str; 2] = ["-annotations-human-imagelabels-boxable.csv", "-annotations-human-imagelabels.csv"];

/// A file of boxes with the split of its pictures, where that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoxFile {
    /// The split; by default what the name says, such as `train` of `oidv6-train-annotations-bbox.csv`.
    pub split: Option<String>,
    /// The file.
    pub path: PathBuf,
}

impl BoxFile {
    /// Reads `FILE`, or `SPLIT=FILE` where what stands before `=` is a split.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match text.split_once('=').filter(|(word, _)| Split::from_source(word).is_some()) {
            Some((word, path)) => Self { split: Some(word.trim().to_owned()), path: path.into() },
            None => Self { split: None, path: text.into() },
        }
    }

    fn word(&self, options: &ImportOptions) -> Result<String> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let word = self.split.as_deref().or_else(|| split_in(&name, BOXES)).ok_or_else(|| {
            let message = format!("expected the split of its pictures in the name `{name}`, got none");
            let hint = format!("say which it is: `--boxes train={}`", self.path.display());
            Error::input(message, Some(hint))
        })?;
        check_split(word, &self.path, options)?;
        Ok(word.to_owned())
    }
}

/// All files.
pub(super) struct Files {
    /// Boxes with the words for their splits, train first.
    pub(super) boxes: Vec<(String, PathBuf)>,
    pub(super) classes: PathBuf,
    pub(super) hierarchy: PathBuf,
    /// Where pictures are: `<split>/<ImageID>.jpg`, or `<ImageID>.jpg` where there is no folder of the split.
    pub(super) images: PathBuf,
    /// Verified labels of whole pictures, for an open world.
    pub(super) image_labels: Vec<PathBuf>,
}

impl Files {
    pub(super) fn find(import: &OpenImagesImport) -> Result<Self> {
        let folder = import.folder.as_deref();
        let boxes = if import.boxes.is_empty() { boxes_in(wanted(folder, "--boxes")?)? } else { import.boxes.clone() };
        let with_word = |file: &BoxFile| Ok((file.word(&import.options)?, file.path.clone()));
        let mut boxes = boxes.iter().map(with_word).collect::<Result<Vec<_>>>()?;
        boxes.sort_by_key(|(word, path)| (Split::from_source(word) != Some(Split::Train), word.clone(), path.clone()));
        let named = |given: &Option<PathBuf>, names: &[&str], option: &str| match given {
            Some(path) => Ok(path.clone()),
            None => one_of(wanted(folder, option)?, names, option),
        };
        let image_labels = match (import.open_world, import.image_labels.as_slice()) {
            (false, []) => Vec::new(),
            (false, [first, ..]) => {
                let message = format!("expected verified labels for an open world alone, got `{}`", first.display());
                return Err(Error::input(message, Some("add `--open-world`".to_owned())));
            }
            (true, []) => image_labels_in(wanted(folder, "--image-labels")?)?,
            (true, given) => given.to_vec(),
        };
        Ok(Self {
            boxes,
            classes: named(&import.classes, &CLASSES, "--classes")?,
            hierarchy: named(&import.hierarchy, &HIERARCHY, "--hierarchy")?,
            images: match &import.images {
                Some(images) => images.clone(),
                None => wanted(folder, "--images")?.to_owned(),
            },
            image_labels,
        })
    }

    /// All files that are read as a whole.
    pub(super) fn sources(&self) -> Vec<&Path> {
        let boxes = self.boxes.iter().map(|(_, path)| path);
        let others = [&self.classes, &self.hierarchy];
        boxes.chain(others).chain(&self.image_labels).map(PathBuf::as_path).collect()
    }
}

fn wanted<'a>(folder: Option<&'a Path>, option: &str) -> Result<&'a Path> {
    folder.ok_or_else(|| Error::input(format!("expected a folder of Open Images, or `{option}`, got neither"), None))
}

/// The word for the split in the name of a file: the last before the ending (`oidv6-train-annotations-bbox.csv`).
fn split_in<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    name.strip_suffix(ending)?.rsplit('-').next().filter(|word| !word.is_empty())
}

/// The names in a folder, in order.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    Ok(entries(folder)?.into_iter().map(|(name, _)| name).collect())
}

fn boxes_in(folder: &Path) -> Result<Vec<BoxFile>> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for name in names_in(folder)? {
        let Some(word) = split_in(&name, BOXES) else { continue };
        if let Some(before) = files.insert(word.to_owned(), name.clone()) {
            return Err(ambiguous(folder, &before, &name, "--boxes"));
        }
    }
    if files.is_empty() {
        return Err(missing(folder, &format!("train{BOXES}"), "--boxes"));
    }
    Ok(files.into_iter().map(|(word, name)| BoxFile { split: Some(word), path: folder.join(name) }).collect())
}

fn image_labels_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_one = |name: &String| IMAGE_LABELS.iter().any(|ending| name.ends_with(ending));
    let files: Vec<PathBuf> = names_in(folder)?.into_iter().filter(is_one).map(|name| folder.join(name)).collect();
    if files.is_empty() {
        return Err(missing(folder, &format!("train{}", IMAGE_LABELS[0]), "--image-labels"));
    }
    Ok(files)
}

fn one_of(folder: &Path, names: &[&str], option: &str) -> Result<PathBuf> {
    let there: Vec<&str> = names.iter().copied().filter(|name| folder.join(name).exists()).collect();
    match there[..] {
        [name] => Ok(folder.join(name)),
        [one, other, ..] => Err(ambiguous(folder, one, other, option)),
        [] => Err(missing(folder, names.first().copied().unwrap_or_default(), option)),
    }
}

fn missing(folder: &Path, name: &str, option: &str) -> Error {
    let message = format!("expected `{name}` in `{}`, got none", folder.display());
    Error::input(message, Some(format!("give the folder that holds it, or name the file with `{option}`")))
}

fn ambiguous(folder: &Path, one: &str, other: &str, option: &str) -> Error {
    let message = format!("expected one of two files in `{}`, got both `{one}` and `{other}`", folder.display());
    Error::input(message, Some(format!("say which one with `{option}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_are_said_or_in_the_name() {
        let file =
            |text: &str| BoxFile::parse(text).word(&ImportOptions::default()).unwrap_or_else(|error| error.to_string());
        assert_eq!(file("a/validation-annotations-bbox.csv"), "validation");
        assert_eq!(file("oidv6-train-annotations-bbox.csv"), "train");
        assert_eq!(file("test=a/b=c.csv"), "test");
        assert!(file("a/b=c.csv").ends_with("hint: say which it is: `--boxes train=a/b=c.csv`"));
        assert!(file("fold3-annotations-bbox.csv").contains("got `fold3`"));
        assert_eq!(BoxFile::parse("a=b.csv"), BoxFile { split: None, path: "a=b.csv".into() });
    }
}
