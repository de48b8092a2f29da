//! Label tables in Parquet, read batch by batch straight into bit columns.

use std::fs::File;
use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::file::metadata::RowGroupMetaData;

use crate::data::cell;
use crate::data::header::Header;
use crate::data::label_columns::LabelColumns;
use crate::data::parquet_file::{self, damaged, guarded};
use crate::data::parquet_labels::{LABEL_TYPES, is_label_type, labels_of};
use crate::data::problem::{Numbering, TableProblems};
use crate::data::sample_ids::SampleIds;
use crate::data::table::LabelTable;
use crate::error::Result;

/// Rows decoded at a time; a multiple of 64, so that words line up.
const BATCH: usize = 8192;

/// Reads a table; columns that are neither the id, the split nor a concept are not decoded.
pub(super) fn read(path: &Path, file: File) -> Result<LabelTable> {
    let builder = parquet_file::open(path, file)?;
    let promised: i64 = builder.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).sum();
    let mut problems = TableProblems::new(path, Numbering::Rows);
    let header =
        Header::from_names(builder.schema().fields().iter().map(|field| field.name().as_str()), 0, &mut problems);
    let mut problems = problems.stop_here()?;
    check_types(&header, builder.schema(), &mut problems);
    let mut problems = problems.stop_here()?;

    let mut wanted: Vec<usize> = header.positions.iter().copied().chain([header.id]).chain(header.split).collect();
    wanted.sort_unstable();
    // The projection keeps the order of the file: columns that are left out close up.
    let place = |position: usize| wanted.partition_point(|&other| other < position);
    let projection = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let builder = builder.with_projection(projection).with_batch_size(BATCH);
    let mut reader = guarded(path, || builder.build())?;
    let (mut ids, mut columns, mut rows) = (SampleIds::default(), LabelColumns::new(header.concepts.len()), 0);
    let mut splits = header.split.map(|_| Vec::new());
    while let Some(batch) = guarded(path, || reader.next().transpose())? {
        read_ids(batch.column(place(header.id)), rows, &mut ids, &mut problems);
        if let (Some(splits), Some(position)) = (&mut splits, header.split) {
            let texts = batch.column(place(position)).as_string_opt::<i32>().into_iter().flatten();
            splits.extend(texts.enumerate().map(|(row, text)| {
                header.read_split(text.unwrap_or_default(), (rows + row) as u64 + 1, &mut problems)
            }));
            // A column of nulls alone has no text at all.
            splits.resize(rows + batch.num_rows(), None);
        }
        for (concept, &position) in header.positions.iter().enumerate() {
            let array = batch.column(place(position));
            let labels = labels_of(array, |row, text| {
                let message = || format!("expected {}, got `{}`", cell::ALLOWED, cell::shown(&text.to_string()));
                let column = (position, header.concepts[concept].as_str());
                problems.add_in_column((rows + row) as u64 + 1, column, message, Some(cell::HINT));
            });
            let Some(labels) = labels else {
                return Err(damaged(path, &"a column changes its type"));
            };
            columns.append(concept, array.len(), &labels.value, labels.known.as_deref());
        }
        rows += batch.num_rows();
    }
    problems.into_result()?;
    if i64::try_from(rows) != Ok(promised) {
        return Err(damaged(path, &format!("expected {promised} rows, got {rows}")));
    }
    let (ids, labels) = (ids.into_vec(), columns.into_table(rows));
    Ok(LabelTable { ids, labels, splits, concepts: header.concepts, path: path.to_owned() })
}

/// Finds the columns whose type is wrong, before any row is read.
fn check_types(header: &Header, schema: &Schema, problems: &mut TableProblems) {
    let mut expect = |position: usize, fits: fn(&DataType) -> bool, expected: &str, hint: Option<&str>| {
        let field = schema.field(position);
        if !fits(field.data_type()) {
            let got = cell::shown(&field.data_type().to_string());
            let message = || format!("expected {expected}, got the type `{got}`");
            problems.add_in_column(0, (position, field.name()), message, hint);
        }
    };
    expect(header.id, |data_type| *data_type == DataType::Utf8 || data_type.is_integer(), "strings or integers", None);
    if let Some(position) = header.split {
        expect(position, |data_type| matches!(data_type, DataType::Utf8 | DataType::Null), "strings", None);
    }
    for &position in &header.positions {
        expect(position, is_label_type, LABEL_TYPES, Some(cell::HINT));
    }
}

fn read_ids(array: &dyn Array, rows_before: usize, ids: &mut SampleIds, problems: &mut TableProblems) {
    let mut add = |row: usize, id: &str| ids.add(id, (rows_before + row) as u64 + 1, problems);
    match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array, add),
        DataType::Int16 => integers::<Int16Type>(array, add),
        DataType::Int32 => integers::<Int32Type>(array, add),
        DataType::Int64 => integers::<Int64Type>(array, add),
        DataType::UInt8 => integers::<UInt8Type>(array, add),
        DataType::UInt16 => integers::<UInt16Type>(array, add),
        DataType::UInt32 => integers::<UInt32Type>(array, add),
        DataType::UInt64 => integers::<UInt64Type>(array, add),
        _ => {
            let strings = array.as_string_opt::<i32>().into_iter().flatten();
            strings.enumerate().for_each(|(row, id)| add(row, id.unwrap_or_default()));
        }
    }
}

fn integers<T: ArrowPrimitiveType>(array: &dyn Array, mut add: impl FnMut(usize, &str)) {
    let integers = array.as_primitive_opt::<T>().into_iter().flatten();
    // A null is an empty id.
    integers.enumerate().for_each(|(row, id)| add(row, &id.map_or_else(String::new, |id| format!("{id:?}"))));
}
