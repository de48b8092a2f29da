//! What the importers of CLEVR and CLEVRER share: what is on a picture or happens in a video, and labels of it.

pub(super) mod concepts;

use std::path::Path;

use chimera_logic::bits::BitTable;

use self::concepts::ConceptOptions;
use super::samples::{self, Labelled, SampleImport};
use super::{ImportOptions, Imported, Note};
use crate::clevr::clip::Clip;
use crate::clevr::concept::Concept;
use crate::clevr::look::Look;
use crate::dataset::draft::DatasetWriter;
use crate::dataset::manifest::{Kind, Source};
use crate::error::Result;

/// What to do where media are not there.
pub(super) const MISSING_HINT: &str =
    "media that were not unpacked are the usual reason; labels alone are of no use to an encoder";

/// What is on a picture, or happens in a video.
pub(super) enum Content {
    Scene(Vec<Look>),
    Clip(Clip),
}

impl Content {
    fn holds(&self, concept: &Concept) -> bool {
        match self {
            Self::Scene(looks) => concept.in_scene(looks).unwrap_or(false),
            Self::Clip(clip) => concept.in_clip(clip),
        }
    }

    fn looks(&self) -> Vec<Look> {
        match self {
            Self::Scene(looks) => looks.clone(),
            Self::Clip(clip) => clip.looks(),
        }
    }
}

/// One picture or video of solids.
pub(super) type Sample = samples::Sample<Content>;

/// A sample, or where one was and why it cannot be used.
pub(super) type Found = samples::Found<Content>;

/// What an importer knows beside its samples.
pub(super) struct Import<'a> {
    pub(super) importer: &'static str,
    pub(super) kind: Kind,
    /// What was imported, for messages.
    pub(super) folder: &'a Path,
    pub(super) media_root: &'a Path,
    pub(super) concepts: &'a ConceptOptions,
    pub(super) strict: bool,
    pub(super) options: &'a ImportOptions,
    pub(super) sources: Vec<Source>,
}

impl Import<'_> {
    /// Makes the dataset.
    pub(super) fn finish(
        self,
        writer: DatasetWriter,
        found: Vec<Found>,
        out: &Path,
        notes: Vec<Note>,
    ) -> Result<Imported> {
        let (kind, options) = (self.kind, self.concepts);
        let import = SampleImport {
            importer: self.importer,
            kind,
            source: self.folder,
            media_root: Some(self.media_root),
            missing_hint: MISSING_HINT,
            frames: None,
            strict: self.strict,
            options: self.options,
            chosen: options.chosen(),
            sources: self.sources,
        };
        import.finish(writer, found, out, notes, |contents, learned, _| {
            let concepts = options.settle(kind, learned)?;

            let holds = |row: usize, column: usize| contents[row].holds(&concepts[column]);
            let labels = BitTable::from_fn(contents.len(), concepts.len(), holds);
            Ok(Labelled { labels, concepts: concepts.iter().map(|concept| concept.name().to_owned()).collect() })
        })
    }
}
