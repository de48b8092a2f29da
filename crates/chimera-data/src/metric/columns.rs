//! Many columns of scores at once: each is ranked once, on several threads, and measured by whoever asks.

use std::num::NonZeroUsize;

use chimera_logic::bits::TruthTable;

use super::label_bits::LabelBits;
use super::ranking::{Ranking, check_lengths};
use crate::error::{Error, Result};
use crate::parallel::in_parallel;

/// Columns taken out of rows at a time: so many numbers are one line of the processor's cache.
const TOGETHER: usize = 16;

/// Scores of several concepts or rules on the same rows, row by row: what heads give.
#[derive(Clone, Copy, Debug)]
pub struct ScoreTable<'a> {
    values: &'a [f32],
    rows: usize,
    names: &'a [String],
}

/// Which labels are the positive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positive {
    /// Rows where the column holds: concepts.
    Holds,
    /// Rows where it fails: rules, whose violations are looked for.
    Fails,
}

impl<'a> ScoreTable<'a> {
    /// Scores of `rows` rows, a column for each name.
    ///
    /// # Shapes
    /// `values`: rows x names, row-major.
    ///
    /// # Errors
    /// Another number of values.
    pub fn new(values: &'a [f32], rows: usize, names: &'a [String]) -> Result<Self> {
        if rows.checked_mul(names.len()) != Some(values.len()) {
            let message = format!("expected {rows} rows of {} scores, got {} scores", names.len(), values.len());
            return Err(Error::input(message, None));
        }
        Ok(Self { values, rows, names })
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A name for each column.
    #[must_use]
    pub fn names(&self) -> &'a [String] {
        self.names
    }

    /// Gives every column, copied out, to `work`, on several threads. Results are in the order of columns.
    pub fn for_columns<T: Send>(
        &self,
        threads: NonZeroUsize,
        work: impl Fn(usize, &[f32]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let columns = self.names.len();
        let blocks = in_parallel(threads, columns.div_ceil(TOGETHER), |block| {
            let first = block * TOGETHER;
            let together = TOGETHER.min(columns - first);
            let mut copied = vec![0.0; together * self.rows];
            for (row, scores) in self.values.chunks_exact(columns).enumerate() {
                for (column, &score) in scores[first..][..together].iter().enumerate() {
                    copied[column * self.rows + row] = score;
                }
            }
            let column = |column: usize| work(first + column, &copied[column * self.rows..][..self.rows]);
            (0..together).map(column).collect::<Result<Vec<T>>>()
        })?;
        Ok(blocks.into_iter().flatten().collect())
    }
}

/// Ranks every column against the column of labels with the same number and measures it; results are in that order.
///
/// # Errors
/// Labels of another shape, a NaN where a label is known, and the first error of `measure`.
pub fn rank_columns<T: Send>(
    scores: ScoreTable<'_>,
    labels: &TruthTable,
    positive: Positive,
    threads: NonZeroUsize,
    measure: impl Fn(usize, &Ranking) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    check_shape(&scores, labels)?;
    scores.for_columns(threads, |column, values| {
        let bits = LabelBits::of(labels, column);
        let bits = if positive == Positive::Fails { bits.negated() } else { bits };
        let ranking = Ranking::of_checked(values, bits).map_err(|row| {
            let name = &scores.names[column];
            Error::input(format!("expected numbers as scores of `{name}`, got NaN in row {row}"), None)
        })?;
        measure(column, &ranking)
    })
}

/// As many rows and columns of labels as of scores.
pub fn check_shape(scores: &ScoreTable<'_>, labels: &TruthTable) -> Result<()> {
    check_lengths(scores.rows, labels.rows())?;
    if scores.names.len() != labels.columns() {
        let (columns, names) = (labels.columns(), scores.names.len());
        return Err(Error::input(format!("expected scores for {columns} columns of labels, got {names}"), None));
    }
    Ok(())
}
