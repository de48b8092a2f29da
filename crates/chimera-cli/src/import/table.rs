//! `import table`: labels, with media under a root or without.

use chimera_data::dataset::manifest::Kind;
use chimera_data::import::{Imported, TableImport, import_table};
use chimera_data::table::{CellRule, ColumnNames, TableOptions};

use crate::args::{ImportInto, ImportTableArguments, MediaKind, TableSource};

pub(crate) fn run(arguments: &ImportTableArguments) -> anyhow::Result<Imported> {
    Ok(import_table(&source(&arguments.source, &arguments.into), &arguments.into.out)?)
}

/// The table, how to read it, and its media.
pub(super) fn source(source: &TableSource, into: &ImportInto) -> TableImport {
    let names = ColumnNames {
        id: source.id_column.clone(),
        media: source.media_column.clone(),
        split: source.split_column.clone(),
        group: source.group_column.clone(),
    };
    let cells = if source.unknown.is_some() { CellRule::Signed } else { CellRule::ZeroOne };
    let kind = source.kind.map(|kind| match kind {
        MediaKind::Image => Kind::Image,
        MediaKind::Video => Kind::Video,
    });
    TableImport {
        table: source.table.clone(),
        reading: TableOptions { cells, names, ignored: source.ignore.clone() },
        media_root: source.media_root.clone(),
        kind,
        frames: source.frames,
        size: source.size,
        strict: source.strict,
        options: super::options(into),
    }
}
