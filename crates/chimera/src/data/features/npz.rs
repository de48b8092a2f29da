//! NumPy's `.npz`: a zip archive of `.npy` files, compressed or not.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use super::{Arrays, npy};
use crate::error::{Error, Result, lower_first};

/// All arrays by name, in the order of the archive; those of types that are of no use are `None`.
pub(super) fn read(path: &Path) -> Result<Arrays> {
    let wrong = |what: &dyn std::fmt::Display| {
        let message =
            format!("cannot read `{}` as NumPy's archive: {}", path.display(), lower_first(&what.to_string()));
        Error::input(message, None)
    };
    let file = File::open(path).map_err(|cause| Error::read(path, cause))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| wrong(&error))?;
    let mut arrays = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| wrong(&error))?;
        let name = entry.name().map_err(|error| wrong(&error))?.into_owned();
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else { continue };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| wrong(&error))?;
        arrays.push((name, npy::decode(path, &bytes)?));
    }
    Ok(arrays)
}
