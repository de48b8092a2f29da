//! Import of a table of labels, with media under a root or without.

use std::path::{Path, PathBuf};

use super::media_list::Taking;
use super::{ImportOptions, Imported, Note, SplitRule, media_list, splitting};
use crate::dataset::draft::{DatasetWriter, Draft};
use crate::dataset::manifest::{Kind, Manifest, root_from};
use crate::error::{Error, Result};
use crate::table::names::Names;
use crate::table::{CellRule, ColumnNames, LabelTable, TableOptions};

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
    /// Refuse a table of which any media are missing or cannot be used.
    pub strict: bool,
    /// The rest.
    pub options: ImportOptions,
}

/// Imports a table into the folder `out`.
///
/// # Examples
///
/// ```
/// use chimera_data::dataset::Dataset;
/// use chimera_data::import::{TableImport, import_table};
///
/// let folder = tempfile::tempdir()?;
/// let table = folder.path().join("labels.csv");
/// std::fs::write(&table, "id,split,bicycle,helmet\na,train,1,1\nb,train,0,\nc,test,1,0\n")?;
/// let out = folder.path().join("ds");
/// import_table(&TableImport { table, ..TableImport::default() }, &out)?;
///
/// let dataset = Dataset::open(&out)?;
/// assert_eq!(dataset.table().concepts, ["bicycle", "helmet"]);
/// assert_eq!(dataset.test().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// What is wrong with the table, its media or the folder.
pub fn import_table(import: &TableImport, out: &Path) -> Result<Imported> {
    let writer = DatasetWriter::create(out)?;
    let mut notes = Vec::new();
    let Settled { table, mut manifest, split, .. } = settle(import, out, &mut notes)?;
    manifest.provenance = import.options.provenance("table", &split, chosen_options(import), &[&import.table])?;
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
    /// Who went to which split in the end.
    pub(super) split: SplitRule,
}

/// Reads the table, deals the splits, draws the limit and looks for the media.
pub(super) fn settle(import: &TableImport, out: &Path, notes: &mut Vec<Note>) -> Result<Settled> {
    check_media_options(import)?;
    let mut source = LabelTable::read_with(&import.table, &import.reading)?;
    let split = splitting::settle(&mut source, &import.options, notes)?;
    let chosen = splitting::chosen_rows(&source, &import.options)?;
    let mut table = if chosen.len() == source.ids.len() { source.clone() } else { source.select(&chosen) };
    let mut manifest = Manifest::new(import.options.name_for(out), Kind::Labels);
    (manifest.frames, manifest.size, manifest.seed) = (import.frames, import.size, import.options.seed);
    if let Some(root) = &import.media_root {
        manifest.media_root = Some(root_from(out, root)?);
        let taking = Taking::from_root(import.kind, import.strict);
        manifest.kind = media_list::settle(&mut table, root, taking, notes)?;
        if import.frames.is_some() && manifest.kind != Kind::Video {
            let message = format!("expected videos in `{}` for `--frames`, got pictures", table.path.display());
            return Err(Error::input(message, Some("say what they are with `--kind video`".to_owned())));
        }
    } else if table.media.is_some() {
        notes.push(Note::new("no media root was given: the column `media` is kept, but no media are used"));
    }
    Ok(Settled { table, manifest, source_ids: source.ids, chosen, split })
}

/// What is said about media must be about some.
fn check_media_options(import: &TableImport) -> Result<()> {
    let said = [
        ("--kind", import.kind.is_some()),
        ("--frames", import.frames.is_some()),
        ("--size", import.size.is_some()),
        ("--strict", import.strict),
    ];
    match said.into_iter().find(|(_, is_said)| *is_said) {
        Some((option, _)) if import.media_root.is_none() => {
            let message = format!("expected `--media-root` beside `{option}`, got none");
            let hint = "say where the media are, or leave the option out: without media it says nothing";
            Err(Error::input(message, Some(hint.to_owned())))
        }
        _ => Ok(()),
    }
}

/// What the user chose, for the manifest.
pub(super) fn chosen_options(import: &TableImport) -> Vec<(&'static str, String)> {
    let (own, names) = (ColumnNames::default(), &import.reading.names);
    let columns = [
        ("id-column", &own.id, &names.id),
        ("media-column", &own.media, &names.media),
        ("split-column", &own.split, &names.split),
        ("group-column", &own.group, &names.group),
    ];
    let columns =
        columns.into_iter().filter(|(_, own, name)| own != name).map(|(option, _, name)| (option, name.clone()));
    let mut chosen: Vec<(&'static str, String)> = columns.collect();
    chosen.extend(import.kind.map(|kind| ("kind", kind.as_str().to_owned())));
    chosen.extend(import.frames.map(|frames| ("frames", frames.to_string())));
    chosen.extend(import.size.map(|[width, height]| ("size", format!("{width}x{height}"))));
    chosen.extend(import.strict.then(|| ("strict", "true".to_owned())));
    if import.reading.cells == CellRule::Signed {
        chosen.push(("unknown", "0".to_owned()));
    }
    if !import.reading.ignored.is_empty() {
        chosen.push(("ignore", import.reading.ignored.join(",")));
    }
    chosen
}
