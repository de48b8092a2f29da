//! From a file of features to a matrix in the order of a table's samples.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Array, Arrays, Features, npy, npz, parquet, safetensors};
use crate::data::cell::shown;
use crate::data::names::Names;
use crate::error::{Error, Result};

/// Names under which ids are looked for.
const ID_NAMES: [&str; 2] = ["ids", "id"];

/// Names under which features are looked for where there are several matrices.
const FEATURE_NAMES: [&str; 4] = ["z", "features", "embeddings", "x"];

/// So many ids are listed in a message.
const LISTED: usize = 20;

/// A file of features.
#[derive(Clone, Debug)]
pub struct FeatureSource {
    /// `.npy`, `.npz`, `.safetensors` or `.parquet`.
    pub path: PathBuf,
    /// The array to take where a file has several; by default the only matrix, or `z`, `features`, `embeddings` or `x`.
    pub array: Option<String>,
}

/// Features in the order of `ids`, and how many rows of the file belong to other samples. Rows are matched by the ids in the
/// file (`ids` or `id`), or else by order.
///
/// # Errors
/// A file that cannot be read, numbers that are not finite, samples without features.
pub fn read_source(source: &FeatureSource, ids: &Names) -> Result<(Features, usize)> {
    let path = source.path.as_path();
    let (mut arrays, mut own_ids) = read_arrays(path)?;
    if own_ids.is_none() {
        let position = arrays
            .iter()
            .position(|(name, array)| ID_NAMES.contains(&name.as_str()) && matches!(array, Some(Array::Ids(_))));
        if let Some((_, Some(Array::Ids(found)))) = position.map(|position| arrays.remove(position)) {
            own_ids = Some(found);
        }
    }
    let (shape, values) = choose(path, arrays, source.array.as_deref())?;
    let [rows, width] = shape[..] else { return Err(no_matrix(path, &shape)) };
    let features = Features::new(width, values, &path.display().to_string())?;
    match own_ids {
        Some(own_ids) => by_id(path, &features, &own_ids, ids),
        None if rows == ids.len() => Ok((features, 0)),
        None => {
            let message =
                format!("expected {} rows of features in `{}`, one a sample, got {rows}", ids.len(), path.display());
            let hint = "rows are matched by order; add an array or column `id` to match them by name";
            Err(Error::input(message, Some(hint.to_owned())))
        }
    }
}

fn read_arrays(path: &Path) -> Result<(Arrays, Option<Vec<String>>)> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("npy") => {
            let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
            Ok((vec![("z".to_owned(), npy::decode(path, &bytes)?)], None))
        }
        Some("npz") => Ok((npz::read(path)?, None)),
        Some("safetensors") => Ok((safetensors::read(path)?, None)),
        Some("parquet") => parquet::read(path),
        _ => {
            let endings = "`.npy`, `.npz`, `.safetensors` or `.parquet`";
            Err(Error::input(format!("expected features ending in {endings}, got `{}`", path.display()), None))
        }
    }
}

/// The matrix that is meant.
fn choose(path: &Path, arrays: Arrays, wanted: Option<&str>) -> Result<(Vec<usize>, Vec<f32>)> {
    let names: Vec<String> = arrays.iter().map(|(name, _)| format!("`{}`", shown(name))).collect();
    let mut matrices: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
    for (name, array) in arrays {
        if let Some(Array::Numbers(shape, values)) = array {
            matrices.push((name, shape, values));
        }
    }
    let by_name = |name: &str| matrices.iter().position(|(other, ..)| other == name);
    let position = match wanted {
        Some(name) => by_name(name),
        None if matrices.len() == 1 => Some(0),
        None => FEATURE_NAMES.iter().find_map(|name| by_name(name)),
    };
    let Some(position) = position else {
        let expected =
            wanted.map_or_else(|| "one matrix of floats".to_owned(), |name| format!("floats named `{name}`"));
        let got = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        let message = format!("expected {expected} in `{}`, got {got}", path.display());
        return Err(Error::input(message, Some("name the array to take with `--array`".to_owned())));
    };
    let (_, shape, values) = matrices.swap_remove(position);
    Ok((shape, values))
}

fn no_matrix(path: &Path, shape: &[usize]) -> Error {
    let message = format!("expected a matrix of rows and columns in `{}`, got the shape {shape:?}", path.display());
    Error::input(message, Some("flatten or pool features to one vector a sample first".to_owned()))
}

fn by_id(path: &Path, features: &Features, own_ids: &[String], ids: &Names) -> Result<(Features, usize)> {
    if own_ids.len() != features.rows() {
        let (rows, found) = (features.rows(), own_ids.len());
        let message = format!("expected {rows} ids for {rows} rows of features in `{}`, got {found}", path.display());
        return Err(Error::input(message, None));
    }
    let mut row_of = HashMap::with_capacity(own_ids.len());
    for (row, id) in own_ids.iter().enumerate() {
        if let Some(first) = row_of.insert(id.as_str(), row) {
            let (id, first, row) = (shown(id), first + 1, row + 1);
            let message = format!("expected an id once in `{}`, got `{id}` on rows {first} and {row}", path.display());
            return Err(Error::input(message, None));
        }
    }
    let missing: Vec<&str> = ids.iter().filter(|id| !row_of.contains_key(*id)).collect();
    if missing.is_empty() {
        let rows: Vec<usize> = ids.iter().filter_map(|id| row_of.get(id).copied()).collect();
        return Ok((features.select(&rows), own_ids.len() - ids.len()));
    }
    let listed: Vec<String> = missing.iter().take(LISTED).map(|id| format!("`{}`", shown(id))).collect();
    let more = if missing.len() > LISTED { format!(" and {} more", missing.len() - LISTED) } else { String::new() };
    let message =
        format!("expected features of every sample in `{}`, got none of {}{more}", path.display(), listed.join(", "));
    Err(Error::input(message, Some("ids must be the same in both files".to_owned())))
}
