//! Where the files of Open Images lie: by their official names in one folder, or named one by one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::OpenImagesImport;
use crate::error::{Error, Result};
use crate::import::ImportOptions;
use crate::import::samples::{check_split, in_name};
use crate::source::listing::entries;
use crate::source::recognise::{self, BOXES, CLASSES};
use crate::split::Split;

const HIERARCHY: [&str; 1] = ["bbox_labels_600_hierarchy.json"];

/// How names of files go on after the split.
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
    /// Reads `FILE`, or `SPLIT=FILE`. A file that is there may have a `=` in its name, and what has folders is no split.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let is_split = |word: &str| {
            Split::from_source(word).is_some() || (!word.contains(['/', '\\']) && !Path::new(text).exists())
        };
        match text.split_once('=').filter(|(word, _)| is_split(word)) {
            Some((word, path)) => Self { split: Some(word.trim().to_owned()), path: path.into() },
            None => Self { split: None, path: text.into() },
        }
    }

    /// With the split and the folder of its pictures, which is one of `images`.
    fn source(&self, images: &Path, options: &ImportOptions) -> Result<BoxSource> {
        let (name, path) = (self.path.file_name().unwrap_or_default().to_string_lossy(), self.path.display());
        let in_its_name = split_in(&name, BOXES);
        let word = self.split.as_deref().or(in_its_name).ok_or_else(|| {
            let message = format!("expected the split of its pictures in the name `{name}`, got none");
            Error::input(message, Some(format!("say which it is: `--boxes train={path}`")))
        })?;
        let place = match &self.split {
            Some(word) => format!("before `=` in `--boxes {word}={path}`"),
            None => in_name(&self.path),
        };
        check_split(word, &place, options)?;
        let alike = Split::source_words(word);
        let folders = [Some(word), in_its_name].into_iter().flatten().chain(alike.iter().copied());
        Ok(BoxSource {
            split: alike.first().copied().unwrap_or(word).to_owned(),
            folder: folders.into_iter().find(|folder| images.join(folder).is_dir()).map(str::to_owned),
            path: self.path.clone(),
        })
    }
}

/// A file of boxes that is known enough to be read.
pub(super) struct BoxSource {
    /// The source's word for the split of its pictures, the same for all files of that split: `validation`, not `val`.
    pub(super) split: String,
    /// The folder of the pictures in that of all; `None` where there is none of the split.
    pub(super) folder: Option<String>,
    pub(super) path: PathBuf,
}

/// All files.
pub(super) struct Files {
    /// Boxes, those of train first.
    pub(super) boxes: Vec<BoxSource>,
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
        let images = match &import.images {
            Some(images) => images.clone(),
            None => wanted(folder, "--images")?.to_owned(),
        };
        let source = |file: &BoxFile| file.source(&images, &import.options);
        let mut boxes = boxes.iter().map(source).collect::<Result<Vec<BoxSource>>>()?;
        boxes.sort_by_cached_key(|file| {
            (Split::from_source(&file.split) != Some(Split::Train), file.split.clone(), file.path.clone())
        });
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
            (true, []) => image_labels_in(wanted(folder, "--image-labels")?, &boxes)?,
            (true, given) => given.to_vec(),
        };
        Ok(Self {
            boxes,
            classes: named(&import.classes, &CLASSES, "--classes")?,
            hierarchy: named(&import.hierarchy, &HIERARCHY, "--hierarchy")?,
            images,
            image_labels,
        })
    }

    /// The file of boxes, or the folder that holds all of them, for messages.
    pub(super) fn boxes_at(&self) -> PathBuf {
        if let [file] = &self.boxes[..] {
            return file.path.clone();
        }
        let mut folder = self.boxes.first().map(|file| file.path.clone()).unwrap_or_default();
        while folder.pop() && !self.boxes.iter().all(|file| file.path.starts_with(&folder)) {}
        if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder }
    }

    /// All files that are read as a whole.
    pub(super) fn sources(&self) -> Vec<&Path> {
        let boxes = self.boxes.iter().map(|file| &file.path);
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
        return Err(missing(folder, &format!("<split>{BOXES}"), "--boxes"));
    }
    Ok(files.into_values().map(|name| BoxFile { split: None, path: folder.join(name) }).collect())
}

fn image_labels_in(folder: &Path, boxes: &[BoxSource]) -> Result<Vec<PathBuf>> {
    let is_one = |name: &String| IMAGE_LABELS.iter().any(|ending| name.ends_with(ending));
    let files: Vec<PathBuf> = names_in(folder)?.into_iter().filter(is_one).map(|name| folder.join(name)).collect();
    if files.is_empty() {
        let split = boxes.first().map_or("<split>", |file| &file.split);
        return Err(missing(folder, &format!("{split}{}", IMAGE_LABELS[0]), "--image-labels"));
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
    let such = if name.contains("<split>") {
        format!("such as `{}`: ", name.replace("<split>", "validation"))
    } else {
        String::new()
    };
    let own = || format!("{such}give the folder that holds it, or name the file with `{option}`");
    Error::input(message, Some(recognise::elsewhere(folder, "openimages").unwrap_or_else(own)))
}

fn ambiguous(folder: &Path, one: &str, other: &str, option: &str) -> Error {
    let message = format!("expected one of two files in `{}`, got both `{one}` and `{other}`", folder.display());
    Error::input(message, Some(format!("say which one with `{option}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::SplitRule;

    #[test]
    fn splits_are_said_or_in_the_name() {
        let file = |text: &str| {
            let source = BoxFile::parse(text).source(Path::new("/none"), &ImportOptions::default());
            source.map_or_else(|error| error.to_string(), |source| source.split)
        };
        assert_eq!(file("a/validation-annotations-bbox.csv"), "validation");
        assert_eq!(file("oidv6-train-annotations-bbox.csv"), "train");
        assert_eq!(file("test=a/b=c.csv"), "test");
        assert!(file("a/b=c.csv").ends_with("hint: say which it is: `--boxes train=a/b=c.csv`"));
        assert!(file("fold3-annotations-bbox.csv").contains("got `fold3`"));
        // All words for one set of pictures are one.
        assert_eq!(file("val=b.csv"), "validation");
        assert_eq!((file("Training=b.csv"), file("testing=b.csv")), ("train".to_owned(), "test".to_owned()));
        let wrong = file("foo=a/b.csv");
        assert!(wrong.contains("val is test) before `=` in `--boxes foo=a/b.csv`, got `foo`"), "{wrong}");
        let folder = tempfile::tempdir().unwrap();
        let odd = folder.path().join("a=b.csv");
        std::fs::write(&odd, "").unwrap();
        assert_eq!(BoxFile::parse(odd.to_str().unwrap()), BoxFile { split: None, path: odd });
    }

    #[test]
    fn pictures_are_in_the_folder_of_any_word_for_their_split() {
        let images = tempfile::tempdir().unwrap();
        ["validation", "train", "train_0"]
            .iter()
            .for_each(|name| std::fs::create_dir(images.path().join(name)).unwrap());
        let folder = |text: &str| {
            let options = ImportOptions { split: SplitRule::Shares(Vec::new()), ..ImportOptions::default() };
            BoxFile::parse(text).source(images.path(), &options).unwrap().folder
        };
        assert_eq!(folder("val=b.csv").as_deref(), Some("validation"));
        assert_eq!(folder("training=b.csv").as_deref(), Some("train"));
        // The word that was said comes first, then that in the file's name.
        assert_eq!(folder("train_0=b.csv").as_deref(), Some("train_0"));
        assert_eq!(folder("fold=x-validation-annotations-bbox.csv").as_deref(), Some("validation"));
        assert_eq!(folder("test=b.csv"), None, "validation is another set");
    }
}
