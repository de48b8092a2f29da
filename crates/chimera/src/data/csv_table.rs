//! Label tables in delimited text: CSV, or TSV with tabs.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::data::cell;
use crate::data::header::Header;
use crate::data::label_columns::LabelColumns;
use crate::data::problem::{Numbering, TableProblems};
use crate::data::records::{Next, Record, Records};
use crate::data::sample_ids::SampleIds;
use crate::data::table::LabelTable;
use crate::error::{Error, Result};

/// Reads a table whose cells are separated by `delimiter`.
pub(super) fn read(path: &Path, file: File, delimiter: u8) -> Result<LabelTable> {
    let mut records = Records::new(BufReader::with_capacity(1 << 18, file), delimiter);
    let mut problems = TableProblems::new(path, Numbering::Lines);
    let header = match records.next().map_err(|cause| Error::read(path, cause))? {
        Next::Record(record) => Some(Header::from_names(record.cells(), record.line, &mut problems)),
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

    // What to do with the cells of each column: nothing, or which concept they label.
    let mut concept_of = vec![None; header.width];
    header.positions.iter().enumerate().for_each(|(concept, &position)| concept_of[position] = Some(concept));
    let (mut ids, mut columns, mut rows) = (SampleIds::default(), LabelColumns::new(header.concepts.len()), 0);
    let mut splits = header.split.map(|_| Vec::new());
    loop {
        match records.next().map_err(|cause| Error::read(path, cause))? {
            Next::Record(record) if record.len() != header.width => {
                let message = format!("expected {} cells as in the header, got {}", header.width, record.len());
                problems.add(record.line, message, None);
            }
            Next::Record(record) => {
                if let (Some(splits), Some(position)) = (&mut splits, header.split) {
                    let text = record.cells().nth(position).unwrap_or_default();
                    splits.push(header.read_split(text, record.line, &mut problems));
                }
                read_row(record, &header, &concept_of, &mut ids, &mut columns, &mut problems);
                rows += 1;
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
    let (ids, labels) = (ids.into_vec(), columns.into_table(rows));
    Ok(LabelTable { ids, labels, splits, concepts: header.concepts, path: path.to_owned() })
}

fn read_row(
    record: Record<'_>,
    header: &Header,
    concept_of: &[Option<usize>],
    ids: &mut SampleIds,
    columns: &mut LabelColumns,
    problems: &mut TableProblems,
) {
    for ((position, text), &concept) in record.cells().enumerate().zip(concept_of) {
        let Some(concept) = concept else {
            if position == header.id {
                ids.add(text, record.line, problems);
            }
            continue;
        };
        match cell::parse(text) {
            Ok(Some(label)) => columns.set(concept, label),
            Ok(None) => {}
            Err(cell::NotALabel) => {
                let message = || format!("expected {}, got `{}`", cell::ALLOWED, cell::shown(text.trim()));
                let column = (position, header.concepts[concept].as_str());
                problems.add_in_column(record.line, column, message, Some(cell::HINT));
            }
        }
    }
    columns.end_row();
}
