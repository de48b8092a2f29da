//! Writing a dataset folder: all of it under a temporary name beside the place where it belongs, then renamed.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use chimera_logic::vocabulary::Vocabulary;

use crate::dataset::manifest::{Kind, MANIFEST, Manifest};
use crate::dataset::{Dataset, FEATURES, SAMPLES};
use crate::error::{Error, Result};
use crate::features::{Features, stored};
use crate::new_folder::NewFolder;
use crate::table::LabelTable;
use crate::table::columns::RESERVED;
use crate::table::writer as table_writer;

/// A dataset that is not on disk yet. Rows of the table are in the order in which they are written.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What goes to `dataset.toml`.
    pub manifest: Manifest,
    /// What goes to `samples.parquet`; its splits by our names, or `None` for train alone.
    pub table: LabelTable,
    /// What goes to `features.safetensors`, a row a sample.
    pub features: Option<Features>,
}

impl Dataset {
    /// Writes a folder without media of its own, as a whole or not at all. An empty folder may be there already.
    ///
    /// # Errors
    /// A draft that makes no dataset, a folder that is not empty, or what the system said.
    pub fn write(folder: &Path, draft: Draft) -> Result<Self> {
        DatasetWriter::create(folder)?.finish(draft)
    }
}

/// A dataset folder under construction. Dropping it removes what was written.
pub struct DatasetWriter(NewFolder);

impl DatasetWriter {
    /// Starts a folder beside `folder`, which must be empty or not there, in a folder that is.
    ///
    /// # Errors
    /// A folder that is not empty, or one that cannot be written to.
    pub fn create(folder: &Path) -> Result<Self> {
        NewFolder::create(folder).map(Self)
    }

    /// Where the folder is, for now.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes a file that belongs to the dataset, and the folders between.
    ///
    /// # Errors
    /// What the system said, about the dataset's folder.
    pub fn create_file(&self, inside: &Path) -> Result<File> {
        self.0.create_file(inside)
    }

    /// Writes everything but the media and gives the folder its name.
    ///
    /// # Errors
    /// A draft that makes no dataset, or what the system said. Nothing is left behind.
    pub fn finish(self, draft: Draft) -> Result<Dataset> {
        let Draft { manifest, table, features } = draft;
        check_names(&table)?;
        check_features(&manifest, &table, features.as_ref())?;
        let folder = self.0.place().to_owned();
        let dataset = Dataset::assemble(&folder, manifest, table)?;
        let here = |cause: io::Error| Error::write(&folder, cause);
        let file = |name: &str| File::create(self.path().join(name)).map_err(here);

        let mut samples = file(SAMPLES)?;
        let written = table_writer::write(dataset.table(), dataset.splits(), &mut samples);
        written.map_err(|error| here(io::Error::other(error)))?;
        samples.sync_all().map_err(here)?;
        if let Some(features) = &features {
            let mut file = io::BufWriter::new(file(FEATURES)?);
            stored::write(features, &dataset.table().ids, &mut file).map_err(here)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error).map_err(here)?;
            file.sync_all().map_err(here)?;
        }
        // Last, since a folder without it is no dataset: a kill at any moment before leaves nothing that reads as one.
        let mut manifest = file(MANIFEST)?;
        manifest.write_all(dataset.manifest().to_text()?.as_bytes()).map_err(here)?;
        manifest.sync_all().map_err(here)?;

        self.0.finish()?;
        Ok(dataset.moved_to(&folder))
    }
}

/// Names must come back as the columns that they are.
fn check_names(table: &LabelTable) -> Result<()> {
    if table.concepts.is_empty() {
        let message = format!("expected a concept at least in `{}`, got none", table.path.display());
        return Err(Error::input(message, None));
    }
    let mut seen = Vocabulary::open();
    for name in &table.concepts {
        let wrong = if RESERVED.contains(&name.as_str()) {
            "a name that is not reserved"
        } else if !is_plain_name(name) {
            "a name without white space around it or control characters"
        } else if seen.get(name).is_some() {
            "different names"
        } else {
            seen.resolve(name);
            continue;
        };
        let message = format!("expected {wrong} for a concept of `{}`, got `{name}`", table.path.display());
        return Err(Error::input(message, Some("rename it in the source".to_owned())));
    }
    Ok(())
}

/// Whether a name is fit for a concept or an id: not empty, without white space around it, without control characters.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.trim() == name && !name.contains(char::is_control)
}

fn check_features(manifest: &Manifest, table: &LabelTable, features: Option<&Features>) -> Result<()> {
    let rows = features.map(Features::rows);
    if (manifest.kind == Kind::Features && rows.is_none()) || rows.is_some_and(|rows| rows != table.ids.len()) {
        let message = format!("expected {} rows of features, got {}", table.ids.len(), rows.unwrap_or(0));
        return Err(Error::input(message, None));
    }
    Ok(())
}
