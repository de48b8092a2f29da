//! Import of a table of labels with ready-made features.

use std::path::Path;

use super::table::{Settled, chosen_options, settle};
use super::{Imported, Note, TableImport};
use crate::dataset::draft::{DatasetWriter, Draft};
use crate::dataset::manifest::Kind;
use crate::error::Result;
use crate::features::{FeatureSource, Matched, read_source};

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
    let Settled { table, mut manifest, source_ids, chosen, split } = settle(&import.table, out, &mut notes)?;
    let matched = read_source(&import.features, &source_ids, &import.table.reading.names.id)?;
    tell(&matched, &mut notes);
    let features = matched.features;
    let features = if chosen.len() == source_ids.len() { features } else { features.select(&chosen) };
    manifest.media_kind = manifest.media_root.is_some().then_some(manifest.kind);
    manifest.kind = Kind::Features;
    let mut options = chosen_options(&import.table);
    options.extend(import.features.array.iter().map(|array| ("array", array.clone())));
    let files = [import.table.table.as_path(), &import.features.path];
    manifest.provenance = import.table.options.provenance("features", &split, options, &files)?;
    let dataset = writer.finish(Draft { manifest, table, features: Some(features) })?;
    Ok(Imported { dataset, notes })
}

/// How rows of features found their samples, and what was left or changed on the way.
fn tell(matched: &Matched, notes: &mut Vec<Note>) {
    notes.push(Note::new(if matched.by_id { "feature rows matched by id" } else { "feature rows matched by order" }));
    let mut others = vec![Note::of(
        matched.others,
        "row of features belongs to a sample that the table does not have",
        "rows of features belong to samples that the table does not have",
    )];
    for (names, one, several) in [
        (
            &matched.unused,
            "array or column of the features' file that is not used",
            "arrays or columns of the features' file that are not used",
        ),
        (
            &matched.converted,
            "array or column of integers or booleans became 32-bit floats",
            "arrays or columns of integers or booleans became 32-bit floats",
        ),
    ] {
        let mut note = Note::about(one, several);
        names.iter().for_each(|name| note.add(|| name.clone()));
        others.push(note);
    }
    notes.extend(others.into_iter().filter(|note| note.count > 0));
}
