//! The logits of one concept apart by label, and the losses that are summed over them.

use std::num::NonZeroUsize;

use chimera_logic::bits::TruthTable;

use chimera_data::error::{Error, Result};
use chimera_data::metric::columns::{ScoreTable, check_shape};
use chimera_data::metric::label_bits::LabelBits;

/// Logits of a concept where its label is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cells {
    pub(super) positives: Vec<f32>,
    pub(super) negatives: Vec<f32>,
}

impl Cells {
    /// The cells of every concept.
    pub(super) fn of_table(logits: ScoreTable<'_>, labels: &TruthTable, threads: NonZeroUsize) -> Result<Vec<Self>> {
        check_shape(&logits, labels)?;
        logits.for_columns(threads, |concept, values| {
            let (mut cells, mut wrong) = (Self::default(), None);
            LabelBits::of(labels, concept).for_each(|row, positive| {
                let logit = values[row];
                if !logit.is_finite() && wrong.is_none() {
                    wrong = Some((row, logit));
                }
                if positive { &mut cells.positives } else { &mut cells.negatives }.push(logit);
            });
            match wrong {
                None => Ok(cells),
                Some((row, logit)) => {
                    let name = &logits.names()[concept];
                    Err(Error::input(format!("expected finite logits of `{name}`, got {logit} in row {row}"), None))
                }
            }
        })
    }

    /// Known labels.
    pub(super) fn len(&self) -> usize {
        self.positives.len() + self.negatives.len()
    }

    /// All cells: logit and label.
    pub(super) fn iter(&self) -> impl Iterator<Item = (f32, bool)> {
        let positives = self.positives.iter().map(|&logit| (logit, true));
        positives.chain(self.negatives.iter().map(|&logit| (logit, false)))
    }

    /// The sum of cross-entropies after a line.
    pub(super) fn loss(&self, slope: f64, intercept: f64) -> f64 {
        let line = |&logit: &f32| slope * f64::from(logit) + intercept;
        let positives: f64 = self.positives.iter().map(|logit| softplus(-line(logit))).sum();
        positives + self.negatives.iter().map(|logit| softplus(line(logit))).sum::<f64>()
    }
}

/// Without overflow for any finite number.
pub fn sigmoid(logit: f64) -> f64 {
    let small = (-logit.abs()).exp();
    if logit >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

/// `ln(1 + exp(x))` without overflow: the cross-entropy of a negative with logit `x`.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}
