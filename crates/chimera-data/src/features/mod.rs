//! Ready-made features: a vector of finite numbers a sample, from the formats in which other programs leave them.

mod choose;
mod content;
mod element;
mod npy;
mod npz;
mod parquet;
mod parquet_choose;
mod safetensors;
mod source;
pub(super) mod stored;
mod streamed;

pub use content::FeatureSource;
pub use source::{Matched, read_source};
pub use streamed::FeatureRows;

use crate::error::{Error, Result, shown};

/// A matrix, row-major, a row a sample. Every number is finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    width: usize,
    values: Vec<f32>,
}

impl Features {
    /// Takes numbers row by row; there must be whole rows of finite ones. `origin` is the file, for messages.
    pub(super) fn new(width: usize, values: Vec<f32>, origin: &str) -> Result<Self> {
        if width == 0 || !values.len().is_multiple_of(width) {
            let message =
                format!("expected rows of numbers in `{origin}`, got rows of {width} and {} numbers", values.len());
            return Err(Error::input(message, None));
        }
        let bad: Vec<usize> =
            values.iter().enumerate().filter(|(_, value)| !value.is_finite()).map(|(at, _)| at).collect();
        if bad.is_empty() {
            return Ok(Self { width, values });
        }
        const LISTED: usize = 20;
        let mut message =
            format!("cannot use the features in `{}`: {} numbers are not finite", shown(origin), bad.len());
        for &at in bad.iter().take(LISTED) {
            let (row, column) = (at / width + 1, at % width + 1);
            message += &format!("\n  row {row}, column {column}: expected a finite number, got `{}`", values[at]);
        }
        if bad.len() > LISTED {
            message += &format!("\n  and {} more", bad.len() - LISTED);
        }
        let hint =
            "a number beyond the range of 32 bits counts as infinite; leave out these samples or mend the encoder";
        Err(Error::input(message, Some(hint.to_owned())))
    }

    /// Number of samples.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.values.len() / self.width
    }

    /// Numbers a sample.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The vector of a sample.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }

    /// All numbers, row after row.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// The rows of the given numbers, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self { width: self.width, values: rows.iter().flat_map(|&row| self.row(row)).copied().collect() }
    }
}
