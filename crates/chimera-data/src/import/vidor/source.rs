//! Where annotations lie: in a folder or in a zip archive, which is read as it is. `annotations/<split>/**/*.json` is VidOR's
//! layout, `<split>/**/*.json` VidVRD's.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use zip::{CompressionMethod, ZipArchive};

use crate::error::{Error, Result, lower_first, system_words};
use crate::file::open_regular;
use crate::source::deflated;
use crate::source::listing::{entries, wanted_below};
use crate::source::recognise::{self, ANNOTATIONS, is_json};
use crate::split::Split;

/// Bytes of one annotation at most, 64 MiB, so that a few threads hold a bounded part of memory. Those of VidOR have megabytes.
const LARGEST: u64 = 1 << 26;

/// One annotation.
pub(super) struct AnnotationFile {
    /// The source's word for its split.
    pub(super) split: String,
    /// Its path from the folder or in the archive, for messages.
    pub(super) place: String,
    /// Its number in the archive, where it is in one.
    entry: Option<usize>,
}

impl AnnotationFile {
    /// Its name without folders and ending, which is that of the video.
    pub(super) fn stem(&self) -> &str {
        let name = self.place.rsplit('/').next().unwrap_or(&self.place);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }
}

/// All annotations of a source.
pub(super) struct Annotations {
    path: PathBuf,
    archive: Option<Archive>,
    /// In the order of their paths, those to train from first, so that what comes twice stays there.
    pub(super) files: Vec<AnnotationFile>,
}

impl Annotations {
    /// Lists the annotations of a folder or a zip archive.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let (archive, places) = if path.is_dir() {
            (None, in_folder(path)?.into_iter().map(|place| (place, None)).collect())
        } else {
            let archive = Archive::open(path)?;
            let places = archive.annotations()?;
            (Some(archive), places)
        };
        let files = annotation_files(places);
        if files.is_empty() {
            let message = format!(
                "expected `annotations/train/0000/2401075277.json` or `train/NAME.json` in `{}`, got none of that kind",
                path.display()
            );
            let hint = recognise::elsewhere(path, "vidor").unwrap_or_else(|| {
                "give the folder, or a zip archive of it, that holds `annotations/{train,val}/` (VidOR) or \
                 `{train,test}/` (VidVRD) with a JSON file a video"
                    .to_owned()
            });
            return Err(Error::input(message, Some(hint)));
        }
        Ok(Self { path: path.to_owned(), archive, files })
    }

    /// The content of an annotation, or in words why it cannot be had.
    pub(super) fn read(&self, file: &AnnotationFile) -> std::result::Result<Vec<u8>, String> {
        match (&self.archive, file.entry) {
            (Some(archive), Some(entry)) => archive.read(entry),
            _ => {
                let opened = open_regular(&self.path.join(&file.place));
                let opened = opened.and_then(|file| file.metadata().map(|data| (file, data.len())));
                let (file, size) = opened.map_err(|cause| system_words(&cause))?;
                read_all(file, size)
            }
        }
    }
}

/// JSON files of a folder, by their paths from there. Beside annotations there may be millions of frames, so only folders that can
/// hold annotations are searched.
fn in_folder(folder: &Path) -> Result<Vec<String>> {
    let folders: Vec<(String, PathBuf)> = entries(folder)?.into_iter().filter(|(_, path)| path.is_dir()).collect();
    let is_named = folders.iter().any(|(name, _)| ANNOTATIONS.contains(&name.as_str()));
    let mut places = Vec::new();
    for (name, path) in folders {
        let is_wanted =
            if is_named { ANNOTATIONS.contains(&name.as_str()) } else { Split::from_source(&name).is_some() };
        if is_wanted {
            let files = wanted_below(&path, &|path| !path.is_dir() && is_json(&path.to_string_lossy()))?;
            places.extend(files.into_iter().map(|inside| format!("{name}/{inside}")));
        }
    }
    Ok(places)
}

/// The files that lie in the folder of a split, which is the first one, or the first in `annotations`.
fn annotation_files(places: Vec<(String, Option<usize>)>) -> Vec<AnnotationFile> {
    let first = |place: &str| place.split('/').next().unwrap_or_default().to_owned();
    let is_named = places.iter().any(|(place, _)| ANNOTATIONS.contains(&first(place).as_str()));
    let mut files: Vec<AnnotationFile> = places
        .into_iter()
        .filter_map(|(place, entry)| {
            let inside = match place.split_once('/') {
                Some((folder, inside)) if is_named => ANNOTATIONS.contains(&folder).then_some(inside)?,
                _ => place.as_str(),
            };
            let (split, _) = inside.split_once('/')?;
            let is_split = is_named || Split::from_source(split).is_some();
            is_split.then(|| AnnotationFile { split: split.to_owned(), place: place.clone(), entry })
        })
        .collect();
    files.sort_by_cached_key(|file| (Split::from_source(&file.split) != Some(Split::Train), file.place.clone()));
    files
}

/// A zip archive that several threads read at a time.
struct Archive {
    path: PathBuf,
    /// Its bytes.
    size: u64,
    /// Open ones that no thread uses now: each reads at a place of its own.
    idle: Mutex<Vec<ZipArchive<BufReader<File>>>>,
}

impl Archive {
    fn open(path: &Path) -> Result<Self> {
        let file = open_regular(path).map_err(|cause| Error::read(path, cause))?;
        let size = file.metadata().map_err(|cause| Error::read(path, cause))?.len();
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| not_a_zip(path, &error))?;
        Ok(Self { path: path.to_owned(), size, idle: Mutex::new(vec![archive]) })
    }

    /// JSON files by their paths without folders around all of them, with their numbers.
    fn annotations(&self) -> Result<Vec<(String, Option<usize>)>> {
        let archive = self.taken()?;
        let mut places = Vec::new();
        for (number, name) in archive.file_names().enumerate() {
            let name = name.map_err(|error| not_a_zip(&self.path, &error))?.into_owned();
            // What macOS adds for itself is no content.
            let is_hidden = name.split('/').any(|part| part.starts_with('.') || part == "__MACOSX");
            if is_json(&name) && !is_hidden {
                places.push((name, Some(number)));
            }
        }
        self.give_back(archive);
        while let Some(length) = wrapper(&places) {
            places.iter_mut().for_each(|(place, _)| drop(place.drain(..length)));
        }
        Ok(places)
    }

    fn read(&self, entry: usize) -> std::result::Result<Vec<u8>, String> {
        let mut archive = self.taken().map_err(|error| error.to_string())?;
        let read = self.entry(&mut archive, entry);
        self.give_back(archive);
        read
    }

    fn entry(&self, archive: &mut ZipArchive<BufReader<File>>, entry: usize) -> std::result::Result<Vec<u8>, String> {
        let entry = archive.by_index(entry).map_err(|error| lower_first(&error.to_string()))?;
        if entry.compression() != CompressionMethod::Stored {
            deflated::check(entry.compressed_size().min(self.size), entry.size())?;
        }
        let size = entry.size();
        read_all(entry, size)
    }

    fn taken(&self) -> Result<ZipArchive<BufReader<File>>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let open = || {
            let file = open_regular(&self.path).map_err(|cause| Error::read(&self.path, cause))?;
            ZipArchive::new(BufReader::new(file)).map_err(|error| not_a_zip(&self.path, &error))
        };
        idle.map_or_else(open, Ok)
    }

    fn give_back(&self, archive: ZipArchive<BufReader<File>>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(archive);
    }
}

/// Bytes of the name of a folder around everything, which says nothing, with its `/`.
fn wrapper(places: &[(String, Option<usize>)]) -> Option<usize> {
    let (folder, _) = places.first()?.0.split_once('/')?;
    let says_nothing = !ANNOTATIONS.contains(&folder) && Split::from_source(folder).is_none();
    let is_around = |place: &str| place.split_once('/').is_some_and(|(first, _)| first == folder);
    (says_nothing && places.iter().all(|(place, _)| is_around(place))).then_some(folder.len() + 1)
}

/// All bytes of an annotation, if they are not too many.
fn read_all(reader: impl Read, size: u64) -> std::result::Result<Vec<u8>, String> {
    let too_large = |size: u64| Err(format!("expected an annotation of at most {LARGEST} bytes, got {size}"));
    if size > LARGEST {
        return too_large(size);
    }
    let mut bytes = Vec::with_capacity(size as usize);
    // A size is what a header claims, or what a file had a moment ago.
    reader.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|cause| system_words(&cause))?;
    if bytes.len() as u64 > LARGEST { too_large(bytes.len() as u64) } else { Ok(bytes) }
}

fn not_a_zip(path: &Path, error: &zip::result::ZipError) -> Error {
    let message = format!("cannot read `{}` as a zip archive: {}", path.display(), lower_first(&error.to_string()));
    Error::input(message, Some("give a folder, or a zip archive that was fetched to its end".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splits(places: &[&str]) -> Vec<(String, String)> {
        let files = annotation_files(places.iter().map(|place| ((*place).to_owned(), None)).collect());
        files.into_iter().map(|file| (file.split, file.place)).collect()
    }

    #[test]
    fn the_folder_of_a_split_is_the_first_or_the_first_in_annotations() {
        let pair = |split: &str, place: &str| (split.to_owned(), place.to_owned());
        assert_eq!(
            splits(&["val/b.json", "train/0001/a.json", "train/b.json", "info.json", "videos/x/y.json"]),
            [pair("train", "train/0001/a.json"), pair("train", "train/b.json"), pair("val", "val/b.json")]
        );
        assert_eq!(
            splits(&[
                "annotations/validation/1/b.json",
                "train/c.json",
                "annotations/training/a.json",
                "annotations/x.json"
            ]),
            [pair("training", "annotations/training/a.json"), pair("validation", "annotations/validation/1/b.json")]
        );
        // A split of another word is told to the user, not passed over.
        assert_eq!(splits(&["annotations/part1/a.json"]), [pair("part1", "annotations/part1/a.json")]);
        assert!(splits(&["a.json", "videos/a.json"]).is_empty());
    }

    #[test]
    fn folders_around_everything_are_taken_off() {
        let length =
            |places: &[&str]| wrapper(&places.iter().map(|place| ((*place).to_owned(), None)).collect::<Vec<_>>());
        assert_eq!(length(&["VidVRD/train/a.json", "VidVRD/test/b.json"]), Some(7));
        assert_eq!(length(&["train/x/a.json", "train/x/b.json"]), None);
        assert_eq!(length(&["annotation/x/a.json"]), None);
        assert_eq!(length(&["one/train/a.json", "two/train/a.json"]), None);
        assert_eq!(length(&["a.json"]), None);
        assert_eq!(length(&[]), None);
    }
}
