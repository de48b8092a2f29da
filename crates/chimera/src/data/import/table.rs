//! Import of a table of labels, with media under a root or without.

use std::path::{Path, PathBuf};

use super::{ImportOptions, Imported, Note, media_list, splitting};
use crate::data::draft::{DatasetWriter, Draft};
use crate::data::manifest::{Kind, Manifest, root_from};
use crate::data::names::Names;
use crate::data::table::{CellRule, LabelTable, TableOptions};
use crate::error::Result;

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct TableImport {
    /// `.csv`, `.tsv`, `.parquet` or `.jsonl` with `id`, `media`, `split`, `group` and a column a concept.
    pub table: PathBuf,
    /// How to read it.
    pub reading: TableOptions,
    /// Where the paths in the column `media` start. Without it, labels alone are imported.
    pub media_root: Option<PathBuf>,
    /// Pictures or videos; by default what the endings of the paths say.
    pub kind: Option<Kind>,
    /// Frames of each video, where labels depend on them.
    pub frames: Option<u32>,
    /// Width and height, where all media share them.
    pub size: Option<[u32; 2]>,
    /// Refuse a table of which any media are missing.
    pub strict: bool,
    /// The rest.
    pub options: ImportOptions,
}

/// Imports a table into the folder `out`.
///
/// # Errors
/// What is wrong with the table, its media or the folder.
pub fn import_table(import: &TableImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    let mut notes = Vec::new();
    let Settled { table, mut manifest, .. } = settle(import, out, &mut notes)?;
    manifest.provenance = import.options.provenance("table", &chosen_options(import), &[&import.table])?;
    let dataset = writer.finish(Draft { manifest, table, features: None })?;
    Ok(Imported { dataset, notes })
}

/// A table that is ready to be written.
pub(super) struct Settled {
    pub(super) table: LabelTable,
    pub(super) manifest: Manifest,
    /// All ids of the source, and the rows of them that were chosen.
    pub(super) source_ids: Names,
    pub(super) chosen: Vec<usize>,
}

/// Reads the table, deals the splits, draws the limit and looks for the media.
pub(super) fn settle(import: &TableImport, out: &Path, notes: &mut Vec<Note>) -> Result<Settled> {
    let mut source = LabelTable::read_with(&import.table, &import.reading)?;
    splitting::settle(&mut source, &import.options, notes)?;
    let chosen = splitting::chosen_rows(&source, &import.options)?;
    let mut table = if chosen.len() == source.ids.len() { source.clone() } else { source.select(&chosen) };
    let mut manifest = Manifest::new(import.options.name_for(out), Kind::Labels);
    (manifest.frames, manifest.size, manifest.seed) = (import.frames, import.size, import.options.seed);
    if let Some(root) = &import.media_root {
        manifest.media_root = Some(root_from(out, root)?);
        media_list::settle(&mut table, root, import.strict, notes)?;
        manifest.kind = import.kind.map_or_else(|| media_list::kind_of(&table), Ok)?;
    } else if table.media.is_some() {
        notes.push(Note::new("no media root was given: the column `media` is kept, but no media are used"));
    }
    Ok(Settled { table, manifest, source_ids: source.ids, chosen })
}

/// What the user chose, for the manifest.
pub(super) fn chosen_options(import: &TableImport) -> Vec<(&'static str, String)> {
    let mut chosen = Vec::new();
    if import.reading.cells == CellRule::Signed {
        chosen.push(("unknown", "0".to_owned()));
    }
    if !import.reading.ignored.is_empty() {
        chosen.push(("ignore", import.reading.ignored.join(",")));
    }
    chosen
}
