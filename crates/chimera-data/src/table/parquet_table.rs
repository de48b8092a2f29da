//! Label tables in Parquet, read batch by batch straight into bit columns.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_schema::{DataType, Schema};
use parquet::arrow::ProjectionMask;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::error::table::{Numbering, TableProblems};
use crate::error::{Error, Result, shown};
use crate::table::LabelTable;
use crate::table::cell::CellRule;
use crate::table::columns::{TableOptions, Text};
use crate::table::extras::Extras;
use crate::table::header::Header;
use crate::table::label_columns::{LabelColumns, LabelMatrix};
use crate::table::parquet_bits::{Bits, read_chunk};
use crate::table::parquet_file::{self, damaged, guarded};
use crate::table::parquet_labels::{LABEL_TYPES, is_label_type, labels_of};
use crate::table::sample_ids::SampleIds;

/// Rows decoded at a time; a multiple of 64, so that words line up.
const BATCH: usize = 8192;

/// Reads a table; columns that nobody asks for are not decoded.
pub(super) fn read(path: &Path, file: File, options: &TableOptions) -> Result<LabelTable> {
    let pages = file.try_clone().map_err(|cause| Error::read(path, cause))?;
    let builder = parquet_file::open(path, file)?;
    let promised: i64 = builder.metadata().row_groups().iter().map(RowGroupMetaData::num_rows).sum();
    let mut problems = TableProblems::new(path, Numbering::Rows);
    let names = builder.schema().fields().iter().map(|field| field.name().as_str());
    let header = Header::from_names(names, 0, options, &mut problems);
    let mut problems = problems.stop_here()?;
    check_types(&header, builder.schema(), &mut problems);
    let mut problems = problems.stop_here()?;

    let is_packed = |position: usize| *builder.schema().field(position).data_type() == DataType::Boolean;
    let (packed, general): (Vec<usize>, Vec<usize>) =
        (0..header.concepts.len()).partition(|&concept| is_packed(header.positions[concept]));
    let extra_positions = header.texts.iter().copied().flatten().chain(header.oov_ancestors);
    let general_positions = general.iter().map(|&concept| header.positions[concept]);
    let mut wanted: Vec<usize> = general_positions.chain([header.id]).chain(extra_positions).collect();
    wanted.sort_unstable();
    // The id may be the medium too.
    wanted.dedup();
    // The projection keeps the order of the file: columns that are left out close up.
    let place = |position: usize| wanted.partition_point(|&other| other < position);
    let metadata = Arc::clone(builder.metadata());
    let projection = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let builder = builder.with_projection(projection).with_batch_size(BATCH);
    let mut reader = guarded(path, || builder.build())?;
    let (mut ids, mut columns, mut rows) = (SampleIds::default(), LabelColumns::new(general.len()), 0);
    let mut extras = Extras::new(&header);
    while let Some(batch) = guarded(path, || reader.next().transpose())? {
        let mut row = rows as u64;
        each_text(batch.column(place(header.id)), |id| {
            row += 1;
            ids.add(id, row, &mut problems);
        });
        for text in Text::ALL {
            if let Some(position) = header.texts[text as usize] {
                each_text(batch.column(place(position)), |cell| extras.add(text, cell));
            }
        }
        if let Some(position) = header.oov_ancestors {
            read_ancestors(batch.column(place(position)), &mut extras);
        }
        for (column, &concept) in general.iter().enumerate() {
            let position = header.positions[concept];
            let array = batch.column(place(position));
            let labels = labels_of(array, options.cells, |row, text| {
                let words = || options.cells.complaint(&text.to_string());
                let column = (position, header.concepts[concept].as_str());
                problems.add_in_column((rows + row) as u64 + 1, column, words);
            });
            let Some(labels) = labels else {
                return Err(damaged(path, &"a column changes its type"));
            };
            columns.append(column, array.len(), &labels.value, labels.known.as_deref());
        }
        rows += batch.num_rows();
    }
    problems.into_result()?;
    if i64::try_from(rows) != Ok(promised) {
        return Err(damaged(path, &format!("expected {promised} rows, got {rows}")));
    }
    drop(reader);
    let ids = ids.into_parts();
    let mut labels = LabelMatrix::new(rows, header.concepts.len());
    for (concept, (value, known)) in general.into_iter().zip(columns.into_columns()) {
        labels.put(concept, &value, known.as_deref());
    }
    let (mut value, mut known, pages) = (Bits::default(), Bits::default(), Arc::new(pages));
    for concept in packed {
        value.clear();
        known.clear();
        guarded(path, || read_packed(&pages, &metadata, header.positions[concept], &mut value, &mut known))?;
        if value.len() != rows {
            return Err(damaged(path, &"columns differ in length"));
        }
        labels.put(concept, value.words(), (!known.are_all_ones()).then(|| known.words()));
    }
    Ok(LabelTable::from_parts(path, ids, labels.into_table(), header.concepts, extras))
}

/// Decodes a column of booleans, all of its row groups.
fn read_packed(
    file: &Arc<File>,
    metadata: &ParquetMetaData,
    position: usize,
    value: &mut Bits,
    known: &mut Bits,
) -> parquet::errors::Result<()> {
    // Lists before it have leaves of their own, so the column's number is found by its root.
    let schema = metadata.file_metadata().schema_descr();
    let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == position);
    let leaf = leaf.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
    for group in metadata.row_groups() {
        let rows = usize::try_from(group.num_rows())?;
        let pages = SerializedPageReader::new(Arc::clone(file), group.column(leaf), rows, None)?;
        let nullable = schema.column(leaf).max_def_level() > 0;
        read_chunk(Box::new(pages), nullable, rows, value, known)?;
    }
    Ok(())
}

/// Finds the columns whose type is wrong, before any row is read.
fn check_types(header: &Header, schema: &Schema, problems: &mut TableProblems) {
    let mut expect = |position: usize, fits: fn(&DataType) -> bool, expected: &str, hint: Option<&'static str>| {
        let field = schema.field(position);
        if !fits(field.data_type()) {
            let got = shown(&field.data_type().to_string());
            let words = || (format!("expected {expected}, got the type `{got}`"), hint);
            problems.add_in_column(0, (position, field.name()), words);
        }
    };
    expect(header.id, |data_type| *data_type == DataType::Utf8 || data_type.is_integer(), "strings or integers", None);
    for position in header.texts.iter().copied().flatten() {
        let is_text =
            |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::Null) || data_type.is_integer();
        expect(position, is_text, "strings or integers", None);
    }
    if let Some(position) = header.oov_ancestors {
        let is_text = |data_type: &DataType| match data_type {
            DataType::List(item) => *item.data_type() == DataType::Utf8,
            other => matches!(other, DataType::Utf8 | DataType::Null),
        };
        expect(position, is_text, "lists of strings", None);
    }
    for &position in &header.positions {
        expect(position, is_label_type, LABEL_TYPES, Some(CellRule::default().hint("")));
    }
}

/// The text of every row; nulls are empty.
pub(crate) fn each_text(array: &dyn Array, mut add: impl FnMut(&str)) {
    match array.data_type() {
        DataType::Int8 => integers::<Int8Type>(array, add),
        DataType::Int16 => integers::<Int16Type>(array, add),
        DataType::Int32 => integers::<Int32Type>(array, add),
        DataType::Int64 => integers::<Int64Type>(array, add),
        DataType::UInt8 => integers::<UInt8Type>(array, add),
        DataType::UInt16 => integers::<UInt16Type>(array, add),
        DataType::UInt32 => integers::<UInt32Type>(array, add),
        DataType::UInt64 => integers::<UInt64Type>(array, add),
        _ => match array.as_string_opt::<i32>() {
            Some(strings) => strings.iter().for_each(|text| add(text.unwrap_or_default())),
            // A column of nulls alone has no text at all.
            None => (0..array.len()).for_each(|_| add("")),
        },
    }
}

fn integers<T: ArrowPrimitiveType>(array: &dyn Array, mut add: impl FnMut(&str)) {
    let integers = array.as_primitive_opt::<T>().into_iter().flatten();
    integers.for_each(|integer| add(&integer.map_or_else(String::new, |integer| format!("{integer:?}"))));
}

fn read_ancestors(array: &dyn Array, extras: &mut Extras) {
    let Some(lists) = array.as_list_opt::<i32>() else {
        return each_text(array, |cell| extras.add_ancestor_cell(cell));
    };
    for list in lists {
        let names = list.as_ref().and_then(|list| list.as_string_opt::<i32>());
        extras.add_ancestors(names.into_iter().flatten().flatten());
    }
}
