//! Files below a folder, and single bits of them turned over, as a bad disk does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below a folder, by their paths in it; but for locks, which are empty.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        let name = PathBuf::from(path.file_name().unwrap());
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, content)| (name.join(below), content)));
        } else if !path.ends_with("lock") {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

/// Puts a new file with other content in place of one, which others may have mapped.
pub(crate) fn replace(path: &Path, content: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, content).unwrap();
}

/// Turns a bit over. Gives back what was there.
pub(crate) fn flip(path: &Path, at: usize, bit: u8) -> Vec<u8> {
    let whole = fs::read(path).unwrap();
    let mut content = whole.clone();
    content[at] ^= 1 << bit;
    replace(path, &content);
    whole
}

/// A place in each of the three parts of a cached file of frames or z: its rows, their list, and its end.
pub(crate) fn parts(file: &[u8]) -> [usize; 3] {
    let list = file.windows(8).position(|window| window == b"chimera ").unwrap();
    [list / 3, list + (file.len() - 48 - list) / 2, file.len() - 20]
}
