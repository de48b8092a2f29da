//! The rows of one of Open Images' large CSV files, by the names of the columns that are wanted.

use std::fs::File;
use std::path::{Path, PathBuf};

use csv::{ByteRecord, Reader, ReaderBuilder};

use crate::error::{Error, Result, lower_first};
use crate::file::open_regular;

/// Bytes that are read at a time.
const BUFFER: usize = 1 << 20;

/// A file that is read row by row: one with all boxes of Open Images has two gigabytes.
pub(super) struct Rows<const N: usize> {
    path: PathBuf,
    reader: Reader<File>,
    record: ByteRecord,
    positions: [usize; N],
}

/// One row.
pub(super) struct Row<'a, const N: usize> {
    /// Where it stands.
    pub(super) line: u64,
    /// The wanted cells; empty where the row is too short.
    pub(super) cells: [&'a [u8]; N],
}

impl<const N: usize> Rows<N> {
    /// Opens a file whose first line names its columns.
    pub(super) fn open(path: &Path, columns: [&str; N]) -> Result<Self> {
        let file = open_regular(path).map_err(|cause| Error::read(path, cause))?;
        // Without quotes, as the official files are: a stray one would swallow all that follows.
        let mut builder = ReaderBuilder::new();
        let mut reader =
            builder.has_headers(false).flexible(true).quoting(false).buffer_capacity(BUFFER).from_reader(file);
        let mut record = ByteRecord::new();
        reader.read_byte_record(&mut record).map_err(|error| refused(path, error))?;
        let mut positions = [0; N];
        for (position, name) in positions.iter_mut().zip(columns) {
            *position = record.iter().position(|cell| cell.trim_ascii() == name.as_bytes()).ok_or_else(|| {
                let message = format!("expected a column `{name}` in the first line of `{}`, got none", path.display());
                let hint = format!("Open Images' own files have the columns {}", columns.join(", "));
                Error::input(message, Some(hint))
            })?;
        }
        Ok(Self { path: path.to_owned(), reader, record, positions })
    }

    /// The next row; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_, N>>> {
        let is_row = self.reader.read_byte_record(&mut self.record).map_err(|error| refused(&self.path, error))?;
        let line = self.record.position().map_or(0, csv::Position::line);
        let cell = |position: usize| self.record.get(position).unwrap_or_default();
        Ok(is_row.then(|| Row { line, cells: self.positions.map(cell) }))
    }
}

/// The only thing that can go wrong with bytes of any number of cells is that they cannot be read.
fn refused(path: &Path, error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(cause) => Error::read(path, cause),
        other => {
            Error::input(format!("cannot read `{}`: {}", path.display(), lower_first(&format!("{other:?}"))), None)
        }
    }
}
