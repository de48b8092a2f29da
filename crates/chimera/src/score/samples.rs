//! Samples going in, by z and logits, and coming out, by scores.

use chimera_gate::cone::Features;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::look::Encoded;
use serde::Serialize;

use crate::gate::calibration_rows::Normal;

/// The scores of a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleScores {
    /// One number for the sample; `None` where no rule can be scored.
    pub anomaly: Option<f64>,
    /// The rule that decides it, by number, or weighs most in it.
    #[serde(skip)]
    pub reason: Option<usize>,
    /// For each rule the probability that it holds; `None` where the method cannot tell.
    pub p: Vec<Option<f64>>,
    /// For each rule how badly it is broken, gated.
    pub s: Vec<Option<f64>>,
}

/// Samples by z and logits.
pub trait Encodings: Sync {
    /// How many there are.
    fn rows(&self) -> usize;
    /// z of a sample.
    fn z(&self, row: usize) -> &[f32];
    /// Logits of a sample.
    fn logits(&self, row: usize) -> &[f32];
}

/// z of a window of samples.
pub(super) struct Window<'a, E>(pub(super) &'a E, pub(super) usize);

impl<E: Encodings> Features for Window<'_, E> {
    fn of(&self, row: usize) -> &[f32] {
        self.0.z(self.1 + row)
    }
}

impl Encodings for Encoded {
    fn rows(&self) -> usize {
        self.rows()
    }

    fn z(&self, row: usize) -> &[f32] {
        self.z(row)
    }

    fn logits(&self, row: usize) -> &[f32] {
        self.logits(row)
    }
}

impl Encodings for Normal {
    fn rows(&self) -> usize {
        self.rows
    }

    fn z(&self, row: usize) -> &[f32] {
        let width = self.z.len() / self.rows;
        &self.z[row * width..][..width]
    }

    fn logits(&self, row: usize) -> &[f32] {
        let width = self.logits.len() / self.rows;
        &self.logits[row * width..][..width]
    }
}

/// Some rows of a dataset that are encoded.
#[derive(Debug)]
pub struct RowsOf<'a> {
    /// The dataset's encodings.
    pub encoded: &'a EncodedRows,
    /// Numbers of rows that have a place there.
    pub numbers: &'a [usize],
}

impl Encodings for RowsOf<'_> {
    fn rows(&self) -> usize {
        self.numbers.len()
    }

    fn z(&self, row: usize) -> &[f32] {
        self.encoded.z(self.numbers[row]).unwrap_or_default()
    }

    fn logits(&self, row: usize) -> &[f32] {
        self.encoded.logits_of(self.numbers[row]).unwrap_or_default()
    }
}
