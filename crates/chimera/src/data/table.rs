//! A table of labels: which sample shows which concept, as bits.
//!
//! The file has a column `id`, may have the reserved columns `media`, `split`, `group` and `oov_ancestors`, and every
//! other column is a concept. A cell is 0, 1, true or false in any case, or empty where nothing is known. White space
//! around names, ids and cells is ignored.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use chimera_logic::bits::TruthTable;
use chimera_logic::vocabulary::Vocabulary;

use crate::data::{csv_table, parquet_table};
use crate::error::{Error, Result};

/// What a sample is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// To be learnt from.
    Train,
    /// For thresholds and other choices.
    Calibration,
    /// For the final numbers, never for fitting.
    Test,
    /// Rows with violations, for the supervised ceiling alone.
    Oracle,
}

impl Split {
    /// The words of the column `split`.
    pub const WORDS: [(&'static str, Self); 4] =
        [("train", Self::Train), ("calibration", Self::Calibration), ("test", Self::Test), ("oracle", Self::Oracle)];

    /// The split of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.into_iter().find(|(text, _)| *text == word).map(|(_, split)| split)
    }
}

/// The labels of samples.
#[derive(Clone, Debug)]
pub struct LabelTable {
    /// The samples, a row each; none empty, none twice.
    pub ids: Vec<String>,
    /// Three-valued labels: a row a sample, a column a concept.
    pub labels: TruthTable,
    /// What each sample is for, from the column `split` (nothing where the cell is empty); `None` without that column.
    pub splits: Option<Vec<Option<Split>>>,
    /// The concepts in the order of their columns.
    pub concepts: Vec<String>,
    /// The file as the caller named it.
    pub path: PathBuf,
}

impl LabelTable {
    /// Reads `.csv`, `.tsv` (tabs) or `.parquet`, by the ending of the file's name.
    ///
    /// # Errors
    /// [`Error::Table`] lists everything that is wrong with the content; the others are about the file as a whole.
    pub fn read(path: &Path) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|cause| Error::read(path, cause))?;
        if metadata.is_dir() {
            let message = format!("expected a label table, got the folder `{}`", path.display());
            return Err(Error::input(message, table_inside(path)));
        }
        let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
        let read: fn(&Path, File) -> Result<Self> = match extension.as_deref() {
            Some("csv") => |path, file| csv_table::read(path, file, b','),
            Some("tsv") => |path, file| csv_table::read(path, file, b'\t'),
            Some("parquet") => parquet_table::read,
            _ => {
                let message =
                    format!("expected a label table ending in `.csv`, `.tsv` or `.parquet`, got `{}`", path.display());
                return Err(Error::input(message, None));
            }
        };
        read(path, File::open(path).map_err(|cause| Error::read(path, cause))?)
    }

    /// The rows that a model would be trained on, by number: those of split `train`, or all where there are no splits.
    #[must_use]
    pub fn training_rows(&self) -> Vec<usize> {
        let trains = |row: &usize| self.splits.as_ref().is_none_or(|splits| splits[*row] == Some(Split::Train));
        (0..self.ids.len()).filter(trains).collect()
    }

    /// The concepts as a closed vocabulary: a concept's number is its column in `labels`.
    #[must_use]
    pub fn vocabulary(&self) -> Vocabulary {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        Vocabulary::closed(self.concepts.iter().cloned(), format!("the columns of `{name}`"))
    }
}

/// The table that was probably meant, when a folder was given.
fn table_inside(folder: &Path) -> Option<String> {
    let tables = ["samples.parquet", "samples.csv"].map(|name| folder.join(name));
    tables.iter().find(|table| table.is_file()).map(|table| format!("give the table inside: `{}`", table.display()))
}
