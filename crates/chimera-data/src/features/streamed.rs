//! Ready-made features of a dataset, some rows at a time: for whoever goes through more of them than fit into memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::element::Element;
use super::stored::{Place, damaged, locate};
use crate::error::{Error, Result};
use crate::table::names::Names;

/// An open file of features, a row a sample. Unlike [`super::Features`], it may hold numbers that are not finite: they are
/// met when their row is read.
#[derive(Debug)]
pub struct FeatureRows {
    path: PathBuf,
    file: File,
    start: u64,
    width: usize,
}

impl FeatureRows {
    /// Opens the features of these ids.
    pub(crate) fn open(path: &Path, ids: &Names) -> Result<Self> {
        let Place { file, start, width, is_single } = locate(path, ids)?;
        if !is_single {
            return Err(damaged(path, &"`z` does not hold 32-bit floats"));
        }
        Ok(Self { path: path.to_owned(), file, start, width })
    }

    /// Numbers a sample.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The numbers of these rows, one row after the other.
    ///
    /// # Errors
    /// A file that cannot be read there.
    pub fn read(&mut self, rows: &[usize]) -> Result<Vec<f32>> {
        let mut bytes = vec![0; 4 * self.width * rows.len()];
        self.fill(rows, &mut bytes).map_err(|cause| Error::read(&self.path, cause))?;
        Ok(Element::Single.numbers(&bytes, true).unwrap_or_default())
    }

    fn fill(&mut self, rows: &[usize], mut bytes: &mut [u8]) -> io::Result<()> {
        let row_bytes = 4 * self.width;
        // Neighbours are read at once.
        for run in rows.chunk_by(|one, next| one + 1 == *next) {
            let (these, rest) = bytes.split_at_mut(run.len() * row_bytes);
            let first = run.first().copied().unwrap_or_default() as u64;
            self.file.seek(SeekFrom::Start(self.start + first * row_bytes as u64))?;
            self.file.read_exact(these)?;
            bytes = rest;
        }
        Ok(())
    }
}
