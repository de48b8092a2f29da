//! A table of labels: which sample shows which concept, as bits.
//!
//! The file has a column `id`, may have the reserved columns `media`, `split`, `group` and `oov_ancestors` (a list, or
//! text separated by `|`), and every other column is a concept. A cell is 0, 1, true or false in any case, or empty where
//! nothing is known. White space around names, ids and cells is ignored.

use std::path::{Path, PathBuf};

use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::vocabulary::Vocabulary;

use crate::error::table::{Numbering, TableProblems};
use crate::split::Split;
use crate::table::columns::Text;
use crate::table::extras::Extras;
use crate::table::names::Names;

/// The labels of samples.
#[derive(Clone, Debug)]
pub struct LabelTable {
    /// The samples, a row each; none empty, none twice.
    pub ids: Names,
    /// Three-valued labels: a row a sample, a column a concept.
    pub labels: TruthTable,
    /// What each sample is for, as written in the column `split`; `None` without that column.
    pub splits: Option<Vec<String>>,
    /// The picture or video of each sample as written in the column `media`, empty where there is none.
    pub media: Option<Vec<String>>,
    /// What each sample was taken from, as written in the column `group`; an empty one stands alone.
    pub groups: Option<Vec<String>>,
    /// What each sample shows beyond the vocabulary, given by ancestors in a hierarchy.
    pub oov_ancestors: Option<Vec<Vec<String>>>,
    /// The concepts in the order of their columns.
    pub concepts: Vec<String>,
    /// Where each row stands in a file of lines; `None` where rows have no lines, as in Parquet.
    pub lines: Option<Vec<u64>>,
    /// The file as the caller named it.
    pub path: PathBuf,
}

impl LabelTable {
    /// What a reader has read.
    pub(super) fn from_parts(
        path: &Path,
        (ids, lines): (Names, Option<Vec<u64>>),
        labels: TruthTable,
        concepts: Vec<String>,
        mut extras: Extras,
    ) -> Self {
        let [media, splits, groups] = Text::ALL.map(|text| extras.take(text));
        let oov_ancestors = extras.take_ancestors();
        Self { ids, labels, splits, media, groups, oov_ancestors, concepts, lines, path: path.to_owned() }
    }

    /// A list for what is wrong with the table as it was read, numbered as its file is.
    pub(crate) fn no_problems(&self) -> TableProblems {
        TableProblems::new(&self.path, if self.lines.is_some() { Numbering::Lines } else { Numbering::Rows })
    }

    /// The line or row that a user finds a row at.
    pub(crate) fn place(&self, row: usize) -> u64 {
        self.lines.as_ref().map_or(row as u64 + 1, |lines| lines[row])
    }

    /// The same in words.
    pub(crate) fn place_in_words(&self, row: usize) -> String {
        format!("{} {}", if self.lines.is_some() { "line" } else { "row" }, self.place(row))
    }

    /// The rows of the given numbers, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let texts = |column: &Option<Vec<String>>| {
            column.as_ref().map(|column| rows.iter().map(|&row| column[row].clone()).collect())
        };
        let ancestors = self.oov_ancestors.as_ref();
        Self {
            ids: rows.iter().map(|&row| &self.ids[row]).collect(),
            labels: self.labels.select(rows),
            splits: texts(&self.splits),
            media: texts(&self.media),
            groups: texts(&self.groups),
            oov_ancestors: ancestors.map(|column| rows.iter().map(|&row| column[row].clone()).collect()),
            concepts: self.concepts.clone(),
            lines: self.lines.as_ref().map(|lines| rows.iter().map(|&row| lines[row]).collect()),
            path: self.path.clone(),
        }
    }

    /// The same table with its concepts in another order; as it is where these are not its concepts.
    #[must_use]
    pub(crate) fn in_order_of(mut self, concepts: &[String]) -> Self {
        let column_of = |concept: &String| self.concepts.iter().position(|other| other == concept);
        let columns: Option<Vec<usize>> = concepts.iter().map(column_of).collect();
        let Some(columns) = columns.filter(|columns| columns.len() == self.concepts.len()) else { return self };
        let ordered =
            |bits: &BitTable| BitTable::from_columns(bits.rows(), columns.iter().map(|&column| bits.column(column)));
        self.labels = match self.labels.known() {
            Some(known) => TruthTable::partial(ordered(self.labels.value()), ordered(known)),
            None => TruthTable::complete(ordered(self.labels.value())),
        };
        self.concepts = concepts.to_vec();
        self
    }

    /// The rows that a model would be trained on, by number: those of split `train`, or all where there are no splits.
    #[must_use]
    pub fn training_rows(&self) -> Vec<usize> {
        let trains = |word: &String| Split::from_source(word) == Some(Split::Train);
        let trains = |row: &usize| self.splits.as_ref().is_none_or(|splits| trains(&splits[*row]));
        (0..self.ids.len()).filter(trains).collect()
    }

    /// The concepts as a closed vocabulary: a concept's number is its column in `labels`.
    #[must_use]
    pub fn vocabulary(&self) -> Vocabulary {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy();
        Vocabulary::closed(self.concepts.iter().cloned(), format!("the columns of `{name}`"))
    }
}
