//! Import of CLEVR v1.0: `scenes/CLEVR_<split>_scenes.json` with the pictures in `images/<split>/`.

use std::fs;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};

use super::samples::{check_split, in_name};
use super::solids::concepts::ConceptOptions;
use super::solids::{Content, Found, Import, MISSING_HINT, Sample};
use super::{ImportOptions, Imported, source};
use crate::clevr::look::Look;
use crate::dataset::draft::DatasetWriter;
use crate::dataset::manifest::Kind;
use crate::error::{Error, Result, lower_first, shown};
use crate::file::open_regular;
use crate::source::recognise;

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct ClevrImport {
    /// The folder with `scenes/` and `images/`.
    pub folder: PathBuf,
    /// Which concepts to label.
    pub concepts: ConceptOptions,
    /// Refuse if any scene cannot be used, comes twice, or has no picture that can be used.
    pub strict: bool,
    /// The rest.
    pub options: ImportOptions,
}

/// The part of a file that is read.
#[derive(Deserialize)]
struct Scenes {
    scenes: Vec<Lenient<SceneOutline>>,
}

#[derive(Deserialize)]
struct SceneOutline {
    image_filename: String,
    objects: Vec<Look>,
}

/// A value, or why it is none: one bad scene does not spoil a file of seventy thousand.
struct Lenient<T>(std::result::Result<T, String>);

impl<'de, T: for<'any> Deserialize<'any>> Deserialize<'de> for Lenient<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        Ok(Self(T::deserialize(value).map_err(|error| lower_first(&error.to_string()))))
    }
}

/// Imports CLEVR into the folder `out`. Samples are named as their pictures are; the split of a file is in its name, and where all
/// are for training, they are dealt.
///
/// # Errors
/// What is wrong with the folder, the files, the concepts or the pictures.
pub fn import_clevr(import: &ClevrImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    import.concepts.check(Kind::Image)?;
    let files = scene_files(&import.folder)?;
    files.iter().try_for_each(|(split, path)| check_split(split, &in_name(path), &import.options))?;
    let mut found = Vec::new();
    for (split, path) in &files {
        read(split, path, &mut found)?;
    }
    let images = import.folder.join("images");
    if !images.is_dir() {
        let (folder, images) = (import.folder.display(), images.display());
        let message = format!("expected the pictures of `{folder}` in `{images}`, got no such folder");
        return Err(Error::input(message, Some(MISSING_HINT.to_owned())));
    }
    let import = Import {
        importer: "clevr",
        kind: Kind::Image,
        folder: &import.folder,
        media_root: &images,
        concepts: &import.concepts,
        strict: import.strict,
        options: &import.options,
        sources: files.iter().map(|(_, path)| source(path)).collect::<Result<_>>()?,
    };
    import.finish(writer, found, out, Vec::new())
}

/// The scene files by the splits in their names: train first, so that what comes twice stays there.
fn scene_files(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    if folder.is_file() {
        let message =
            format!("expected the folder that holds `scenes/` and `images/`, got the file `{}`", folder.display());
        return Err(Error::input(message, above(folder)));
    }
    let scenes = folder.join("scenes");
    let mut files = Vec::new();
    let entries = match fs::read_dir(&scenes) {
        Err(cause) if cause.kind() == ErrorKind::NotFound && folder.is_dir() => None,
        Err(cause) if cause.kind() == ErrorKind::NotFound => return Err(Error::read(folder, cause)),
        entries => Some(entries.map_err(|cause| Error::read(&scenes, cause))?),
    };
    for entry in entries.into_iter().flatten() {
        let path = entry.map_err(|cause| Error::read(&scenes, cause))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let split = name.strip_prefix("CLEVR_").and_then(|name| name.strip_suffix("_scenes.json")).map(str::to_owned);
        files.extend(split.map(|split| (split, path)));
    }
    files.sort_by_key(|(split, _)| (split != "train", split.clone()));
    if files.is_empty() {
        let message = format!("expected `scenes/CLEVR_train_scenes.json` in `{}`, got none", folder.display());
        let hint = above(folder).or_else(|| recognise::elsewhere(folder, "clevr")).unwrap_or_else(|| {
            "give the folder that holds `scenes/CLEVR_<split>_scenes.json` and `images/<split>/`, such as `CLEVR_v1.0`"
                .to_owned()
        });
        return Err(Error::input(message, Some(hint)));
    }
    Ok(files)
}

/// A hint where a folder or file inside of CLEVR was given.
fn above(inner: &Path) -> Option<String> {
    let holds = |folder: &&Path| !folder.as_os_str().is_empty() && folder.join("scenes").is_dir();
    let above = inner.ancestors().skip(1).take(2).find(holds)?;
    Some(format!("give the folder above, which holds `scenes/` and `images/`: `{}`", above.display()))
}

fn read(split: &str, path: &Path, found: &mut Vec<Found>) -> Result<()> {
    let file = open_regular(path).map_err(|cause| Error::read(path, cause))?;
    let scenes: Scenes = serde_json::from_reader(BufReader::with_capacity(1 << 20, file)).map_err(|error| {
        let words = lower_first(&error.to_string());
        let hint = "expected CLEVR's scenes: an object with a list `scenes`";
        Error::input(format!("cannot read `{}`: {words}", path.display()), Some(hint.to_owned()))
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    found.extend(scenes.scenes.into_iter().enumerate().map(|(number, Lenient(scene))| {
        let place = format!("{name}, scene {number}");
        match scene {
            Err(reason) => Err((place, reason)),
            Ok(scene) => {
                let media = format!("{split}/{}", scene.image_filename);
                let file = Path::new(&scene.image_filename);
                let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                if stem.is_empty() || file.file_name() != Some(file.as_os_str()) {
                    let got = shown(&scene.image_filename);
                    return Err((place, format!("expected the name of a picture in `image_filename`, got `{got}`")));
                }
                let (id, identity, split) = (stem.into_owned(), media.clone(), split.to_owned());
                Ok(Sample { id, identity, media, split, place, content: Content::Scene(scene.objects) })
            }
        }
    }));
    Ok(())
}
