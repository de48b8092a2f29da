//! From a file of features to a matrix in the order of a table's samples.

use std::collections::HashMap;
use std::path::Path;

use super::content::{Content, FeatureSource};
use super::{Features, npy, npz, parquet, safetensors};
use crate::error::{Error, Result, shown};
use crate::table::names::Names;

/// So many ids are listed in a message.
const LISTED: usize = 20;

/// Features in the order of a table, and how they came to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    /// The vectors.
    pub features: Features,
    /// Whether rows were matched by ids in the file, or else by order.
    pub by_id: bool,
    /// Rows of the file that belong to other samples.
    pub others: usize,
    /// Arrays or columns of the file that were not taken.
    pub unused: Vec<String>,
    /// Arrays or columns of integers or booleans that became floats.
    pub converted: Vec<String>,
}

/// Features in the order of `ids`. Rows are matched by the ids in the file where it has an array or column of the name
/// `id_column`, `ids` or `id`, else by order.
///
/// # Errors
/// A file that cannot be read, ids that are none, numbers that are not finite, samples without features.
pub fn read_source(source: &FeatureSource, ids: &Names, id_column: &str) -> Result<Matched> {
    let path = source.path.as_path();
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let content = match extension.as_deref() {
        Some("npy") => npy::read(source, id_column)?,
        Some("npz") => npz::read(source, id_column)?,
        Some("safetensors") => safetensors::read(source, id_column)?,
        Some("parquet") => parquet::read(source, id_column)?,
        _ => {
            let endings = "`.npy`, `.npz`, `.safetensors` or `.parquet`";
            return Err(Error::input(format!("expected features ending in {endings}, got `{}`", path.display()), None));
        }
    };
    let Content { rows, width, values, ids: own_ids, unused, converted } = content;
    let features = Features::new(width, values, &path.display().to_string())?;
    let by_id = own_ids.is_some();
    let (features, others) = match own_ids {
        Some(own_ids) => match_ids(path, &features, &own_ids, ids)?,
        None if rows == ids.len() => (features, 0),
        None => {
            let message =
                format!("expected {} rows of features in `{}`, one a sample, got {rows}", ids.len(), path.display());
            let hint = "rows are matched by order; add an array or column `id` to match them by name";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
    };
    Ok(Matched { features, by_id, others, unused, converted })
}

fn match_ids(path: &Path, features: &Features, own_ids: &[String], ids: &Names) -> Result<(Features, usize)> {
    if own_ids.len() != features.rows() {
        let (rows, found) = (features.rows(), own_ids.len());
        let message = format!("expected {rows} ids for {rows} rows of features in `{}`, got {found}", path.display());
        return Err(Error::input(message, None));
    }
    let mut row_of = HashMap::with_capacity(own_ids.len());
    for (row, id) in own_ids.iter().enumerate() {
        if let Some(first) = row_of.insert(id.trim(), row) {
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
