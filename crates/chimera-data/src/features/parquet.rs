//! Features from Parquet: one column of lists, or else a column a number, and the column of ids where there is one.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as _, ArrayRef};
use arrow_schema::DataType;
use parquet::arrow::ProjectionMask;

use super::content::{Content, FeatureSource};
use super::parquet_choose::{Taken, choose};
use crate::error::{Error, Result};
use crate::table::each_text;
use crate::table::parquet_file::{self, guarded};

/// Reads the features and the ids; columns that are not taken are not decoded.
pub(super) fn read(source: &FeatureSource, id_column: &str) -> Result<Content> {
    let path = source.path.as_path();
    let file = File::open(path).map_err(|cause| Error::read(path, cause))?;
    let builder = parquet_file::open(path, file)?;
    let fields: Vec<(&str, &DataType)> =
        builder.schema().fields().iter().map(|field| (field.name().as_str(), field.data_type())).collect();
    let choice = choose(path, &fields, source.array.as_deref(), id_column)?;
    let name_of = |&position: &usize| fields[position].0.to_owned();
    let is_converted = |position: &&usize| !of_numbers(fields[**position].1).is_floating();
    let mut content = Content {
        unused: choice.unused.iter().map(name_of).collect(),
        converted: choice.taken.positions().iter().filter(is_converted).map(name_of).collect(),
        ids: choice.ids.map(|_| Vec::new()),
        ..Content::default()
    };
    let mut wanted: Vec<usize> = choice.taken.positions().iter().copied().chain(choice.ids).collect();
    wanted.sort_unstable();
    // The projection keeps the order of the file: columns that are left out close up.
    let place = |position: usize| wanted.partition_point(|&other| other < position);
    let projection = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
    let mut reader = guarded(path, || builder.with_projection(projection).build())?;
    while let Some(batch) = guarded(path, || reader.next().transpose())? {
        if let (Some(position), Some(ids)) = (choice.ids, &mut content.ids) {
            each_text(batch.column(place(position)), |id| ids.push(id.to_owned()));
        }
        let column = |position: usize| batch.column(place(position));
        let (width, numbers) = match &choice.taken {
            Taken::List(position) => list_numbers(column(*position)).map_err(|row| ragged(path, content.rows + row))?,
            Taken::Scalars(positions) => {
                let columns: Vec<Vec<f32>> =
                    positions.iter().map(|&position| numbers(column(position)).unwrap_or_default()).collect();
                let rows = 0..batch.num_rows();
                (columns.len(), rows.flat_map(|row| columns.iter().map(move |column| column[row])).collect())
            }
        };
        if content.rows > 0 && content.width != width {
            return Err(ragged(path, content.rows));
        }
        content.width = width;
        content.values.extend(numbers);
        content.rows += batch.num_rows();
    }
    Ok(content)
}

fn ragged(path: &Path, row: usize) -> Error {
    let message = format!("expected lists of one length in `{}`, got another one on row {}", path.display(), row + 1);
    Error::input(message, None)
}

/// What the numbers of a column are, in lists or not.
fn of_numbers(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(item) => item.data_type(),
        other => other,
    }
}

/// The numbers of a column; a null is not a number. `None` for other types.
fn numbers(array: &ArrayRef) -> Option<Vec<f32>> {
    match array.data_type() {
        DataType::Boolean => {
            let number = |value: Option<bool>| value.map_or(f32::NAN, |value| f32::from(u8::from(value)));
            Some(array.as_boolean_opt()?.iter().map(number).collect())
        }
        DataType::Float16 => converted::<Float16Type>(array, half::f16::to_f32),
        DataType::Float32 => converted::<Float32Type>(array, |value| value),
        DataType::Float64 => converted::<Float64Type>(array, |value| value as f32),
        DataType::Int8 => converted::<Int8Type>(array, f32::from),
        DataType::Int16 => converted::<Int16Type>(array, f32::from),
        DataType::Int32 => converted::<Int32Type>(array, |value| value as f32),
        DataType::Int64 => converted::<Int64Type>(array, |value| value as f32),
        DataType::UInt8 => converted::<UInt8Type>(array, f32::from),
        DataType::UInt16 => converted::<UInt16Type>(array, f32::from),
        DataType::UInt32 => converted::<UInt32Type>(array, |value| value as f32),
        DataType::UInt64 => converted::<UInt64Type>(array, |value| value as f32),
        _ => None,
    }
}

fn converted<T: ArrowPrimitiveType>(array: &ArrayRef, convert: impl Fn(T::Native) -> f32) -> Option<Vec<f32>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(array.iter().map(|value| value.map_or(f32::NAN, &convert)).collect())
}

/// The numbers of a column of lists with their common length, or the first row whose length differs.
fn list_numbers(array: &ArrayRef) -> std::result::Result<(usize, Vec<f32>), usize> {
    let (mut width, mut values) = (None, Vec::new());
    for (row, list) in array.as_list_opt::<i32>().into_iter().flatten().enumerate() {
        let numbers = list.as_ref().and_then(numbers).unwrap_or_default();
        if *width.get_or_insert(numbers.len()) != numbers.len() {
            return Err(row);
        }
        values.extend(numbers);
    }
    Ok((width.unwrap_or(0), values))
}
