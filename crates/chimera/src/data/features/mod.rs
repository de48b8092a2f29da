//! Ready-made features: a vector of finite numbers a sample, from the formats in which other programs leave them.

mod npy;
mod npz;
mod parquet;
mod safetensors;
mod source;
pub(super) mod stored;

pub use source::{FeatureSource, read_source};

use crate::data::cell::shown;
use crate::error::{Error, Result};

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

/// Numbers as files store them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Float {
    Half,
    Single,
    Double,
}

impl Float {
    fn size(self) -> usize {
        match self {
            Self::Half => 2,
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    /// Numbers from bytes of either order.
    fn decode(self, bytes: &[u8], little: bool) -> Vec<f32> {
        /// The bytes of one number, lowest first.
        fn ordered<const N: usize>(chunk: &[u8], little: bool) -> [u8; N] {
            let mut bytes = [0; N];
            bytes.copy_from_slice(chunk);
            if !little {
                bytes.reverse();
            }
            bytes
        }
        let chunks = bytes.chunks_exact(self.size());
        match self {
            Self::Half => chunks.map(|chunk| half::f16::from_le_bytes(ordered(chunk, little)).to_f32()).collect(),
            Self::Single => chunks.map(|chunk| f32::from_le_bytes(ordered(chunk, little))).collect(),
            Self::Double => chunks.map(|chunk| f64::from_le_bytes(ordered(chunk, little)) as f32).collect(),
        }
    }
}

/// An array as a file holds it, before it is known what for.
#[derive(Clone, Debug, PartialEq)]
enum Array {
    /// Numbers of this shape, row-major.
    Numbers(Vec<usize>, Vec<f32>),
    /// One id a row.
    Ids(Vec<String>),
}

/// The arrays of a file by name; `None` for those of types that are of no use.
type Arrays = Vec<(String, Option<Array>)>;
