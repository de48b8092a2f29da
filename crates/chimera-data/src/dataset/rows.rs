//! Rows of a dataset by what they may be used for. Whoever fits something takes [`FitRows`], and only a dataset can make
//! them, from train and one half of calibration: no number of a test row gets in, nor of a row for thresholds.

use std::marker::PhantomData;

use crate::split::Split;

/// Numbers of rows in the order of their ids, whatever the order of the table, with what they are for in the type.
///
/// ```no_run
/// fn fit(rows: &chimera_data::dataset::rows::FitRows) {}
/// fn learn(dataset: &chimera_data::dataset::Dataset) -> chimera_data::error::Result<()> {
///     fit(&dataset.train()?);
///     Ok(())
/// }
/// ```
///
/// ```compile_fail,E0308
/// fn fit(rows: &chimera_data::dataset::rows::FitRows) {}
/// fn cheat(dataset: &chimera_data::dataset::Dataset) {
///     fit(&dataset.test()); // a mismatch of types
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows<Purpose> {
    numbers: Vec<usize>,
    split: Split,
    purpose: PhantomData<Purpose>,
}

/// Marks rows that may be fitted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fitting {}

/// Marks rows that thresholds are taken from and nothing else is fitted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thresholding {}

/// Marks rows that results are computed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Testing {}

/// Marks rows with violations that only the supervised oracle may be fitted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OracleFitting {}

/// Rows of train, or of calibration's half for fitting.
pub type FitRows = Rows<Fitting>;

/// Rows of calibration's half for thresholds.
pub(crate) type ThresholdRows = Rows<Thresholding>;

/// Rows of test.
pub type TestRows = Rows<Testing>;

/// Rows of the split `oracle`.
pub(crate) type OracleRows = Rows<OracleFitting>;

impl<Purpose> Rows<Purpose> {
    /// Rows of one split in the order of their ids. Only the dataset makes them.
    pub(super) fn new(split: Split, numbers: Vec<usize>) -> Self {
        Self { numbers, split, purpose: PhantomData }
    }

    /// The numbers of the rows.
    #[must_use]
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The split that they come from.
    #[must_use]
    pub fn split(&self) -> Split {
        self.split
    }

    /// Those of them that `keep` wants: rows that break no rule, say.
    #[must_use]
    pub fn filtered(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        Self::new(self.split, self.numbers.iter().copied().filter(|&row| keep(row)).collect())
    }
}
