//! Import of a table of labels with ready-made features.

use std::path::Path;

use super::table::{Settled, chosen_options, settle};
use super::{Imported, Note, TableImport};
use crate::data::draft::{DatasetWriter, Draft};
use crate::data::features::{FeatureSource, read_source};
use crate::data::manifest::Kind;
use crate::error::Result;

/// What to import.
#[derive(Clone, Debug)]
pub struct FeaturesImport {
    /// The labels, and media where there are any.
    pub table: TableImport,
    /// The features of the table's samples, by id or in its order.
    pub features: FeatureSource,
}

/// Imports a table with features into the folder `out`. With a limit, features are matched to the whole table first.
///
/// # Errors
/// What is wrong with the table, the features or the folder.
pub fn import_features(import: &FeaturesImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    let mut notes = Vec::new();
    let Settled { table, mut manifest, source_ids, chosen } = settle(&import.table, out, &mut notes)?;
    let (features, others) = read_source(&import.features, &source_ids)?;
    if others > 0 {
        notes.push(Note {
            count: others,
            ..Note::new("rows of features belong to samples that the table does not have")
        });
    }
    let features = if chosen.len() == source_ids.len() { features } else { features.select(&chosen) };
    manifest.kind = Kind::Features;
    let mut options = chosen_options(&import.table);
    options.extend(import.features.array.iter().map(|array| ("array", array.clone())));
    let files = [import.table.table.as_path(), &import.features.path];
    manifest.provenance = import.table.options.provenance("features", &options, &files)?;
    let dataset = writer.finish(Draft { manifest, table, features: Some(features) })?;
    Ok(Imported { dataset, notes })
}
