//! NumPy's `.npz`: a zip archive of `.npy` files, compressed or not. Headers are read of all of them, elements only of those
//! that are taken.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use zip::{CompressionMethod, ZipArchive};

use super::choose::{Described, choose};
use super::content::{Content, FeatureSource};
use super::npy::{self, Layout};
use crate::error::{Error, Result, lower_first, shown};
use crate::source::deflated;

/// Reads the features and the ids.
pub(super) fn read(source: &FeatureSource, id_column: &str) -> Result<Content> {
    let path = source.path.as_path();
    let file = File::open(path).map_err(|cause| Error::read(path, cause))?;
    let size = file.metadata().map_err(|cause| Error::read(path, cause))?.len();
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| wrong(path, &error))?;
    let mut entries = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|error| wrong(path, &error))?;
        let name = entry.name().map_err(|error| wrong(path, &error))?.into_owned();
        if let Some(name) = name.strip_suffix(".npy") {
            let layout = npy::read_layout(&mut entry, name);
            let layout = layout.map_err(|what| wrong(path, &format!("array `{}`: {what}", shown(name))))?;
            entries.push((index, layout));
        }
    }
    let arrays: Vec<Described> = entries.iter().map(|(_, layout)| layout.array.clone()).collect();
    let choice = choose(path, &arrays, source.array.as_deref(), id_column)?;
    let mut elements = |position: usize| elements_of(path, &mut archive, &entries[position], size);
    let features = elements(choice.features)?;
    let mut content =
        Content::of_matrix(&arrays[choice.features], entries[choice.features].1.numbers(&features).unwrap_or_default());
    drop(features);
    if let Some(position) = choice.ids {
        content.ids = entries[position].1.texts(&elements(position)?);
    }
    content.note_unused(&arrays, choice);
    Ok(content)
}

/// The bytes of an array's elements, if the archive can hold so many.
fn elements_of(
    path: &Path,
    archive: &mut ZipArchive<BufReader<File>>,
    (index, layout): &(usize, Layout),
    archive_size: u64,
) -> Result<Vec<u8>> {
    let wrong = |what: &str| wrong(path, &format!("array `{}`: {what}", shown(&layout.array.name)));
    let mut entry = archive.by_index(*index).map_err(|error| wrong(&error.to_string()))?;
    if layout.file_size() != Some(entry.size()) {
        let promised =
            layout.file_size().map_or_else(|| "more bytes than can be counted".to_owned(), |b| b.to_string());
        return Err(wrong(&format!("expected {promised} bytes by its header, got {}", entry.size())));
    }
    let packed = entry.compressed_size().min(archive_size);
    match entry.compression() {
        CompressionMethod::Stored if entry.size() > packed => {
            return Err(wrong(&format!("it claims {} bytes in a file of {archive_size}", entry.size())));
        }
        CompressionMethod::Stored => {}
        _ => deflated::check(packed, entry.size()).map_err(|what| wrong(&what))?,
    }
    // The header again: it precedes the elements.
    npy::read_layout(&mut entry, &layout.array.name).map_err(|what| wrong(&what))?;
    let mut bytes = Vec::new();
    entry.take(layout.data_size()).read_to_end(&mut bytes).map_err(|error| wrong(&error.to_string()))?;
    if bytes.len() as u64 != layout.data_size() {
        return Err(wrong(&format!("expected {} bytes of elements, got {}", layout.data_size(), bytes.len())));
    }
    Ok(bytes)
}

fn wrong(path: &Path, what: &dyn std::fmt::Display) -> Error {
    let what = lower_first(&what.to_string());
    Error::input(format!("cannot read `{}` as NumPy's archive: {what}", path.display()), None)
}
