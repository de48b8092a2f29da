//! `dataset.toml`: what a dataset folder holds and where it comes from.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dataset::assign::DEFAULT_SEED;
use crate::error::{Error, Result};
pub use crate::source::recognise::MANIFEST;
use crate::source::recognise::import_command;
use crate::toml_file;

/// The layout that this version writes, and the newest it reads.
const LAYOUT: u32 = 1;

/// What the samples are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A picture each.
    Image,
    /// A video each.
    Video,
    /// A ready-made feature vector each; media may be there too.
    Features,
    /// Labels alone.
    Labels,
}

impl Kind {
    /// As written in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Features => "features",
            Self::Labels => "labels",
        }
    }
}

/// The content of `dataset.toml`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Manifest {
    /// Version of the folder's layout.
    #[serde(default = "layout")]
    pub layout: u32,
    /// What to call the dataset.
    pub name: String,
    /// What the samples are.
    pub kind: Kind,
    /// Pictures or videos, where features come with the media that they were made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_kind: Option<Kind>,
    /// Where the paths in the column `media` start; relative to the dataset folder unless absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_root: Option<String>,
    /// Frames that are taken of each video, where the labels or the user fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<u32>,
    /// Width and height in pixels, where all media share them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<[u32; 2]>,
    /// Seed of the splits that the source did not have.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Where it comes from.
    #[serde(default)]
    pub provenance: Provenance,
}

/// Where a dataset comes from: enough to make it again. No clock: the same import gives the same file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Provenance {
    /// The importer; empty for a folder made by hand.
    pub importer: String,
    /// Version of Chimera that wrote the folder.
    pub chimera: String,
    /// What the user chose, by the names of the options, and what came of it where that is needed later.
    pub options: BTreeMap<String, String>,
    /// The files that were read.
    pub sources: Vec<Source>,
}

/// A file that was imported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Its name, without folders: those belong to another machine.
    pub file: String,
    /// Hash of its content.
    pub blake3: String,
}

fn layout() -> u32 {
    LAYOUT
}

fn default_seed() -> u64 {
    DEFAULT_SEED
}

impl Manifest {
    /// A manifest of the current layout that says nothing more.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: Kind) -> Self {
        let (name, provenance) = (name.into(), Provenance::default());
        let provenance = Provenance { chimera: env!("CARGO_PKG_VERSION").to_owned(), ..provenance };
        let (media_kind, media_root, frames, size) = (None, None, None, None);
        Self { layout: LAYOUT, name, kind, media_kind, media_root, frames, size, seed: DEFAULT_SEED, provenance }
    }

    /// Reads `dataset.toml` of a folder.
    ///
    /// # Errors
    /// A missing or wrong file, with its line, and the nearest key where one is unknown.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|cause| match (cause.kind(), folder.is_dir()) {
            (std::io::ErrorKind::NotFound, true) => {
                let message = format!("expected a dataset folder with `{MANIFEST}`, got `{}`", folder.display());
                let import = import_command(folder).unwrap_or_else(|| "table samples.csv".to_owned());
                let hint = format!(
                    "make one with `chimera import {import} --out DIR`; an import that was killed leaves no dataset"
                );
                Error::input(message, Some(hint))
            }
            (std::io::ErrorKind::NotFound, false) => Error::read(folder, cause),
            _ => Error::read(&path, cause),
        })?;
        let manifest = Self::parse(&text, &path)?;
        if manifest.layout > LAYOUT {
            let message = format!("expected layout {LAYOUT} in `{}`, got {}", path.display(), manifest.layout);
            return Err(Error::input(message, Some("a newer Chimera wrote this folder; use that one".to_owned())));
        }
        Ok(manifest)
    }

    fn parse(text: &str, path: &Path) -> Result<Self> {
        toml_file::parse(text, path)
    }

    /// The file's text.
    pub(super) fn to_text(&self) -> Result<String> {
        toml::to_string(self).map_err(|error| Error::input(format!("cannot write `{MANIFEST}`: {error}"), None))
    }

    /// Whether the media are pictures or videos; `None` where there are no media.
    #[must_use]
    pub fn kind_of_media(&self) -> Option<Kind> {
        match self.kind {
            Kind::Image | Kind::Video => Some(self.kind),
            Kind::Features if self.media_root.is_some() => Some(self.media_kind.unwrap_or(Kind::Image)),
            Kind::Features | Kind::Labels => None,
        }
    }

    /// Where media are, seen from the working folder.
    #[must_use]
    pub(crate) fn media_folder(&self, folder: &Path) -> Option<PathBuf> {
        self.media_root.as_ref().map(|root| folder.join(root))
    }
}

/// The media root as it is written into the manifest of `folder`: relative where both lie in the folder that holds the
/// dataset, so that they can be moved together; else absolute.
pub(crate) fn root_from(folder: &Path, root: &Path) -> Result<String> {
    let real = fs::canonicalize(root).map_err(|cause| Error::read(root, cause))?;
    if !real.is_dir() {
        return Err(Error::input(format!("expected a folder of media, got the file `{}`", root.display()), None));
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = fs::canonicalize(parent).map_err(|cause| Error::read(parent, cause))?;
    let path = real.strip_prefix(&parent).map_or_else(|_| real.clone(), |inside| Path::new("..").join(inside));
    path.into_os_string()
        .into_string()
        .map_err(|name| Error::input(format!("expected a path in UTF-8, got `{}`", Path::new(&name).display()), None))
}

/// Whether a path stays below the folder it starts from.
pub(crate) fn is_inside(path: &Path) -> bool {
    path.components().all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_comes_back() {
        let mut manifest = Manifest::new("a \"b\"", Kind::Video);
        assert_eq!(Manifest::parse(&manifest.to_text().unwrap(), Path::new("x")).unwrap(), manifest);
        manifest.media_root = Some("../videos".to_owned());
        (manifest.frames, manifest.size, manifest.seed) = (Some(8), Some([224, 160]), 7);
        manifest.provenance.importer = "table".to_owned();
        manifest.provenance.options.insert("unknown".to_owned(), "0".to_owned());
        manifest.provenance.sources.push(Source { file: "a.csv".to_owned(), blake3: "00".to_owned() });
        let text = manifest.to_text().unwrap();
        assert_eq!(Manifest::parse(&text, Path::new("x")).unwrap(), manifest, "{text}");
        assert!(text.contains("media-root = \"../videos\""), "{text}");
        let short = Manifest::parse("name = 'a'\nkind = 'labels'\n", Path::new("x")).unwrap();
        assert_eq!((short.layout, short.seed, short.provenance), (1, 123, Provenance::default()));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let message = |text: &str| Manifest::parse(text, Path::new("dataset.toml")).unwrap_err().to_string();
        let unknown = message("name = 'a'\nkind = 'labels'\nmedia_rot = 'x'\n");
        assert!(unknown.starts_with("cannot use `dataset.toml`: line 3: unknown field `media_rot`"), "{unknown}");
        assert!(unknown.ends_with("\nhint: did you mean `media-root`?"), "{unknown}");
        let kind = message("name = 'a'\nkind = 'images'\n");
        assert!(kind.contains("line 2") && kind.ends_with("\nhint: did you mean `image`?"), "{kind}");
        assert!(message("name = 'a'\nkind = ").contains("line 2"));
        assert!(message("kind = 'labels'").contains("missing field `name`"));
    }
}
