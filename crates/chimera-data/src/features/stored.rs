//! `features.safetensors` of a dataset folder: one tensor `z` of 32-bit floats, tied to the table by a hash of its ids.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use ::safetensors::SafeTensors;
use ::safetensors::tensor::Metadata;

use super::Features;
use super::element::Element;
use crate::error::{Error, Result, lower_first};
use crate::table::fingerprint::of_ordered_ids;
use crate::table::names::Names;

/// The tensor's name.
const TENSOR: &str = "z";

/// No header of ours is longer.
const LONGEST_HEADER: u64 = 1 << 16;

/// The key of the hash among the file's own words.
const IDS: &str = "ids";

/// Writes features, streaming: a second copy in memory would be the size of the first.
pub(crate) fn write(features: &Features, ids: &Names, out: &mut dyn Write) -> io::Result<()> {
    let header = serde_json::json!({
        "__metadata__": { IDS: of_ordered_ids(ids).to_string() },
        TENSOR: {
            "dtype": "F32",
            "shape": [features.rows(), features.width()],
            "data_offsets": [0, features.values().len() * 4],
        },
    });
    let mut header = header.to_string();
    // Numbers start at a multiple of eight bytes, so that the file can be mapped.
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    out.write_all(&(header.len() as u64).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for value in features.values() {
        out.write_all(&value.to_le_bytes())?;
    }
    out.flush()
}

/// Checks without reading the numbers that a file belongs to these ids, and tells how many numbers a sample has.
pub(crate) fn check(path: &Path, ids: &Names) -> Result<usize> {
    locate(path, ids).map(|place| place.width)
}

/// Where the numbers of a file lie.
pub(super) struct Place {
    pub(super) file: File,
    /// The first byte of the first number.
    pub(super) start: u64,
    /// Numbers a sample.
    pub(super) width: usize,
    /// Whether they are 32-bit floats, as everything that we write.
    pub(super) is_single: bool,
}

/// Opens a file that belongs to these ids without reading its numbers.
pub(super) fn locate(path: &Path, ids: &Names) -> Result<Place> {
    let mut file = File::open(path).map_err(|cause| Error::read(path, cause))?;
    let size = file.metadata().map_err(|cause| Error::read(path, cause))?.len();
    let (mut length, mut header) = ([0; 8], Vec::new());
    file.read_exact(&mut length).map_err(|error| damaged(path, &error))?;
    let length = u64::from_le_bytes(length);
    let mut head = (&mut file).take(length.min(LONGEST_HEADER));
    head.read_to_end(&mut header).map_err(|cause| Error::read(path, cause))?;
    let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| damaged(path, &error))?;
    let tensor = metadata.info(TENSOR).ok_or_else(|| damaged(path, &"it has no tensor `z`"))?;
    let at = |offset: usize| (offset as u64).checked_add(length).and_then(|end| end.checked_add(8));
    let (start, end) = tensor.data_offsets;
    let Some(start) = at(start).filter(|_| at(end) == Some(size)) else {
        return Err(damaged(path, &"the file is cut off"));
    };
    let width = check_header(path, &tensor.shape, &metadata, ids)?;
    Ok(Place { file, start, width, is_single: tensor.dtype == ::safetensors::Dtype::F32 })
}

fn check_header(path: &Path, shape: &[usize], metadata: &Metadata, ids: &Names) -> Result<usize> {
    let [rows, width] = shape else { return Err(damaged(path, &"`z` is no matrix")) };
    let hash = metadata.metadata().as_ref().and_then(|words| words.get(IDS));
    // A file of another origin may lack the hash; the number of rows must do then.
    if *rows == ids.len() && hash.is_none_or(|hash| *hash == of_ordered_ids(ids).to_string()) {
        return Ok(*width);
    }
    let message = format!(
        "expected features of the {} samples beside `{}`, got those of other samples",
        ids.len(),
        path.display()
    );
    Err(Error::input(message, Some("the table was changed after the import; import the features again".to_owned())))
}

/// Reads features that belong to these ids.
pub(crate) fn read(path: &Path, ids: &Names) -> Result<Features> {
    let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
    let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|error| damaged(path, &error))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(path, &error))?;
    let tensor = tensors.tensor(TENSOR).map_err(|error| damaged(path, &error))?;
    let width = check_header(path, tensor.shape(), &metadata, ids)?;
    if tensor.dtype() != ::safetensors::Dtype::F32 {
        return Err(damaged(path, &"`z` does not hold 32-bit floats"));
    }
    let values = Element::Single.numbers(tensor.data(), true).unwrap_or_default();
    Features::new(width, values, &path.display().to_string())
}

pub(super) fn damaged(path: &Path, what: &dyn std::fmt::Display) -> Error {
    let message = format!("cannot read `{}` as safetensors: {}", path.display(), lower_first(&what.to_string()));
    Error::input(message, None)
}
