//! Importers: each turns one kind of source into a dataset folder, whole or not at all.

mod clevr;
mod clevrer;
mod clevrer_files;
mod coco;
mod features;
pub mod loose;
mod media_list;
mod mnist;
mod note;
mod openimages;
mod rule_concepts;
mod samples;
mod solids;
mod splitting;
mod table;
mod vidor;

pub use clevr::{ClevrImport, import_clevr};
pub use clevrer::{ClevrerImport, import_clevrer};
pub use coco::{CocoImport, import_coco};
pub use features::{FeaturesImport, import_features};
pub use mnist::{MnistImport, import_mnist};
pub use note::Note;
pub use openimages::{
    BoxFile, OOV_CLASSES, OpenImagesImport, TOP as OPENIMAGES_TOP, VAL_TRAIN_FRAC, import_openimages, label_openimages,
};
pub use rule_concepts::RuleConcepts;
pub use solids::concepts::{ConceptChoice, ConceptOptions};
pub use splitting::SplitRule;
pub use table::{TableImport, import_table};
pub use vidor::vocabulary::VidorConcepts;
pub use vidor::{VidorImport, VidorVideos, import_vidor};

use std::fs::File;
use std::io;
use std::path::Path;

use crate::dataset::Dataset;
use crate::dataset::assign::DEFAULT_SEED;
use crate::dataset::manifest::{Provenance, Source};
use crate::error::{Error, Result};

/// What every importer can be told.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// What to call the dataset; by default the name of its folder.
    pub name: Option<String>,
    /// Who goes to which split.
    pub split: SplitRule,
    /// Seed of what is drawn: splits by shares, the calibration rows, the samples of `limit`.
    pub seed: u64,
    /// Import about so many samples: a seeded draw that keeps the shares of the splits.
    pub limit: Option<usize>,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { name: None, split: SplitRule::Source, seed: DEFAULT_SEED, limit: None }
    }
}

impl ImportOptions {
    fn name_for(&self, out: &Path) -> String {
        let folder = || out.file_name().map(|name| name.to_string_lossy().into_owned());
        self.name.clone().or_else(folder).unwrap_or_else(|| "dataset".to_owned())
    }

    /// Where the dataset comes from: `split` is the rule that was applied in the end, `options` what else was chosen.
    fn provenance(
        &self,
        importer: &str,
        split: &SplitRule,
        options: Vec<(&str, String)>,
        files: &[&Path],
    ) -> Result<Provenance> {
        let mut chosen: Vec<(&str, String)> = vec![("split", split.to_string())];
        chosen.extend(self.limit.map(|limit| ("limit", limit.to_string())));
        chosen.extend(self.name.clone().map(|name| ("name", name)));
        chosen.extend((self.seed != DEFAULT_SEED).then(|| ("seed", self.seed.to_string())));
        chosen.extend(options);
        Ok(Provenance {
            importer: importer.to_owned(),
            chimera: env!("CARGO_PKG_VERSION").to_owned(),
            options: chosen.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            sources: files.iter().map(|path| source(path)).collect::<Result<_>>()?,
        })
    }
}

/// A file by its name and content.
fn source(path: &Path) -> Result<Source> {
    let mut hasher = blake3::Hasher::new();
    let read = File::open(path).and_then(|mut file| io::copy(&mut file, &mut hasher));
    read.map_err(|cause| Error::read(path, cause))?;
    let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Ok(Source { file, blake3: hasher.finalize().to_hex().to_string() })
}

/// What came of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The folder, opened.
    pub dataset: Dataset,
    /// What the user should know: what was skipped, what was assumed.
    pub notes: Vec<Note>,
}
