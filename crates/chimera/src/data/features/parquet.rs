//! Features from Parquet: a column of lists, or a column of floats a number, and the column `id` where there is one.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;

use super::{Array, Arrays};
use crate::data::parquet_file::{self, guarded};
use crate::data::parquet_table::each_text;
use crate::error::{Error, Result};

/// The features as one matrix, and the ids.
pub(super) fn read(path: &Path) -> Result<(Arrays, Option<Vec<String>>)> {
    let file = File::open(path).map_err(|cause| Error::read(path, cause))?;
    let builder = parquet_file::open(path, file)?;
    let mut reader = guarded(path, || builder.build())?;
    let (mut ids, mut values, mut width, mut rows): (Option<Vec<String>>, Vec<f32>, Option<usize>, usize) =
        (None, Vec::new(), None, 0);
    while let Some(batch) = guarded(path, || reader.next().transpose())? {
        let mut columns: Vec<Vec<f32>> = Vec::new();
        let mut lists: Option<(usize, Vec<f32>)> = None;
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            if field.name() == "id" {
                each_text(column, |id| ids.get_or_insert_default().push(id.trim().to_owned()));
            } else if let Some(numbers) = floats(column) {
                columns.push(numbers);
            } else if let (Some(list), None) = (list_floats(column), &lists) {
                lists = Some(list.map_err(|row| ragged(path, rows + row))?);
            }
        }
        let (batch_width, numbers) = match lists {
            Some(list) if columns.is_empty() => list,
            Some(_) => {
                let message = format!("expected lists or columns of numbers in `{}`, got both", path.display());
                return Err(Error::input(message, None));
            }
            None => {
                (columns.len(), (0..batch.num_rows()).flat_map(|row| columns.iter().map(move |c| c[row])).collect())
            }
        };
        if *width.get_or_insert(batch_width) != batch_width {
            return Err(ragged(path, rows));
        }
        values.extend(numbers);
        rows += batch.num_rows();
    }
    let width = width.unwrap_or(0);
    Ok((vec![("z".to_owned(), (width > 0).then(|| Array::Numbers(vec![rows, width], values)))], ids))
}

fn ragged(path: &Path, row: usize) -> Error {
    let message = format!("expected lists of one length in `{}`, got another one on row {}", path.display(), row + 1);
    Error::input(message, None)
}

/// The numbers of a column of floats; a null is not a number.
fn floats(array: &ArrayRef) -> Option<Vec<f32>> {
    let missing = f32::NAN;
    match array.data_type() {
        DataType::Float16 => {
            let array = array.as_primitive_opt::<Float16Type>()?;
            Some(array.iter().map(|value| value.map_or(missing, half::f16::to_f32)).collect())
        }
        DataType::Float32 => {
            Some(array.as_primitive_opt::<Float32Type>()?.iter().map(|value| value.unwrap_or(missing)).collect())
        }
        DataType::Float64 => {
            let array = array.as_primitive_opt::<Float64Type>()?;
            Some(array.iter().map(|value| value.map_or(missing, |value| value as f32)).collect())
        }
        _ => None,
    }
}

/// The numbers of a column of lists with their common length, or the first row whose length differs.
fn list_floats(array: &ArrayRef) -> Option<std::result::Result<(usize, Vec<f32>), usize>> {
    let lists = array.as_list_opt::<i32>()?;
    if !matches!(lists.value_type(), DataType::Float16 | DataType::Float32 | DataType::Float64) {
        return None;
    }
    let (mut width, mut values) = (None, Vec::new());
    for (row, list) in lists.iter().enumerate() {
        let numbers = list.as_ref().and_then(floats).unwrap_or_default();
        if *width.get_or_insert(numbers.len()) != numbers.len() {
            return Some(Err(row));
        }
        values.extend(numbers);
    }
    Some(Ok((width.unwrap_or(0), values)))
}
