//! Reading of label tables: which reader a file is for, and what was probably meant where it is none.

use std::fs::{self, File};
use std::path::Path;

use super::labels::LabelTable;
use super::{TableOptions, csv_table, json_table, parquet_table};
use crate::error::{Error, Result};
use crate::source::recognise::import_command;

impl LabelTable {
    /// Reads `.csv`, `.tsv` (tabs), `.parquet` or `.jsonl` (an object a line), by the ending of the file's name.
    ///
    /// # Errors
    /// [`Error::Table`] lists everything that is wrong with the content; the others are about the file as a whole.
    pub fn read(path: &Path) -> Result<Self> {
        Self::read_with(path, &TableOptions::default())
    }

    /// Like [`Self::read`], for a table whose names and signs are not ours.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_with(path: &Path, options: &TableOptions) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|cause| Error::read(path, cause))?;
        if metadata.is_dir() {
            let message = format!("expected a label table, got the folder `{}`", path.display());
            return Err(Error::input(message, table_inside(path)));
        }
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let read: fn(&Path, File, &TableOptions) -> Result<Self> = match extension.as_deref() {
            Some("csv") => |path, file, options| csv_table::read(path, file, b',', options),
            Some("tsv") => |path, file, options| csv_table::read(path, file, b'\t', options),
            Some("parquet") => parquet_table::read,
            Some("jsonl" | "ndjson") => json_table::read,
            _ => {
                let endings = "`.csv`, `.tsv`, `.parquet` or `.jsonl`";
                let message = format!("expected a label table ending in {endings}, got `{}`", path.display());
                return Err(Error::input(message, None));
            }
        };
        read(path, File::open(path).map_err(|cause| Error::read(path, cause))?, options)
    }
}

/// What was probably meant, when a folder was given: the table inside, or a source that is no dataset yet.
fn table_inside(folder: &Path) -> Option<String> {
    let tables = ["samples.parquet", "samples.csv"].map(|name| folder.join(name));
    let table = tables.iter().find(|table| table.is_file());
    let table = table.map(|table| format!("give the table inside: `{}`", table.display()));
    let import = |command| format!("make a dataset of it first: `chimera import {command} --out DIR`");
    table.or_else(|| import_command(folder).map(import))
}
