//! Label tables in delimited text: CSV, or TSV with tabs.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::error::table::{Numbering, TableProblems};
use crate::error::{Error, Result};
use crate::table::LabelTable;
use crate::table::cell::NotALabel;
use crate::table::columns::{Role, TableOptions, Text};
use crate::table::extras::Extras;
use crate::table::header::Header;
use crate::table::label_columns::LabelColumns;
use crate::table::records::{Next, Record, Records};
use crate::table::sample_ids::SampleIds;

/// Reads a table whose cells are separated by `delimiter`.
pub(super) fn read(path: &Path, file: File, delimiter: u8, options: &TableOptions) -> Result<LabelTable> {
    let mut records = Records::new(BufReader::with_capacity(1 << 18, file), delimiter);
    let mut problems = TableProblems::new(path, Numbering::Lines);
    let header = match records.next().map_err(|cause| Error::read(path, cause))? {
        Next::Record(record) => Some(Header::from_names(record.cells(), record.line, options, &mut problems)),
        Next::Bad { line, message, hint, .. } => {
            problems.add(line, message, Some(hint));
            None
        }
        Next::End => None,
    };
    let mut problems = problems.stop_here()?;
    let Some(header) = header else {
        let message =
            format!("expected a header line with `id` and concepts in `{}`, got an empty file", path.display());
        return Err(Error::input(message, None));
    };

    let mut read = Read {
        ids: SampleIds::default(),
        columns: LabelColumns::new(header.concepts.len()),
        extras: Extras::new(&header),
        rows: 0,
    };
    loop {
        match records.next().map_err(|cause| Error::read(path, cause))? {
            Next::Record(record) if record.len() != header.width() => {
                let message = format!("expected {} cells as in the header, got {}", header.width(), record.len());
                problems.add(record.line, message, None);
            }
            Next::Record(record) => {
                read.add_row(record, &header, options, &mut problems);
            }
            Next::Bad { line, message, hint, fatal } => {
                problems.add(line, message, Some(hint));
                if fatal {
                    break;
                }
            }
            Next::End => break,
        }
    }
    problems.into_result()?;
    let labels = read.columns.into_table(read.rows);
    Ok(LabelTable::from_parts(path, read.ids.into_parts(), labels, header.concepts, read.extras))
}

/// What has been read so far.
struct Read {
    ids: SampleIds,
    columns: LabelColumns,
    extras: Extras,
    rows: usize,
}

impl Read {
    fn add_row(&mut self, record: Record<'_>, header: &Header, options: &TableOptions, problems: &mut TableProblems) {
        let mut concept = 0;
        for ((position, text), &role) in record.cells().enumerate().zip(&header.roles) {
            match role {
                Role::Concept => {
                    match options.cells.parse(text) {
                        Ok(Some(label)) => self.columns.set(concept, label),
                        Ok(None) => {}
                        Err(NotALabel) => {
                            let column = (position, header.concepts[concept].as_str());
                            problems.add_in_column(record.line, column, || options.cells.complaint(text));
                        }
                    }
                    // Columns come in the order of the file, and so do concepts.
                    concept += 1;
                }
                Role::Id => self.ids.add(text, record.line, problems),
                Role::IdAndMedia => {
                    self.ids.add(text, record.line, problems);
                    self.extras.add(Text::Media, text);
                }
                Role::Text(kind) => self.extras.add(kind, text),
                Role::Ancestors => self.extras.add_ancestor_cell(text),
                Role::Nothing => {}
            }
        }
        self.columns.end_row();
        self.rows += 1;
    }
}
