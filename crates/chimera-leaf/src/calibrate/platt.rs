//! A line of its own for each concept: slope and intercept by Newton's method, held near the temperature by a small
//! ridge.

use std::num::NonZeroUsize;

use chimera_data::error::Result;
use chimera_data::parallel::in_parallel;
use serde::{Deserialize, Serialize};

use super::cells::{Cells, sigmoid};
use super::temperature::Temperature;

/// A concept with fewer positives or fewer negatives has no line of its own.
pub const FEWEST_LABELS: usize = 50;

/// Half of this times the squared distance to the temperature's line is added to the sum of losses: next to nothing
/// against a hundred labels, but enough to keep the line finite where the labels are separated.
const RIDGE: f64 = 0.01;
const MOST_STEPS: usize = 100;
const MOST_HALVINGS: usize = 60;

/// The line of a concept: its calibrated logit is `slope * logit + intercept`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Platt {
    /// The concept.
    pub concept: String,
    /// Factor of the logit. Negative where the leaf is worse than chance.
    pub slope: f32,
    /// What is added.
    pub intercept: f32,
    /// Where the line comes from.
    pub source: PlattSource,
    /// Known positives it was fitted on.
    pub positives: u64,
    /// Known negatives it was fitted on.
    pub negatives: u64,
}

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlattSource {
    /// Fitted on the concept's own labels.
    Fitted,
    /// The temperature: there are fewer than [`FEWEST_LABELS`] positives or negatives.
    Temperature,
}

pub(super) fn fit(
    concepts: &[String],
    cells: &[Cells],
    temperature: Temperature,
    threads: NonZeroUsize,
) -> Result<Vec<Platt>> {
    let start = 1.0 / f64::from(temperature.value);
    in_parallel(threads, cells.len(), |concept| {
        let cells = &cells[concept];
        let (positives, negatives) = (cells.positives.len(), cells.negatives.len());
        let fitted = (positives.min(negatives) >= FEWEST_LABELS).then(|| fit_line(cells, start));
        // A line that `f32` cannot hold is none.
        let fitted =
            fitted.map(|line| line.map(|value| value as f32)).filter(|line| line.iter().all(|value| value.is_finite()));
        let source = if fitted.is_some() { PlattSource::Fitted } else { PlattSource::Temperature };
        let [slope, intercept] = fitted.unwrap_or([start as f32, 0.0]);
        let (positives, negatives) = (positives as u64, negatives as u64);
        Ok(Platt { concept: concepts[concept].clone(), slope, intercept, source, positives, negatives })
    })
}

/// Newton's method with halved steps from the temperature's line; every step lowers the objective.
fn fit_line(cells: &Cells, start: f64) -> [f64; 2] {
    let penalised = |[slope, intercept]: [f64; 2]| {
        cells.loss(slope, intercept) + RIDGE / 2.0 * ((slope - start).powi(2) + intercept * intercept)
    };
    let mut line = [start, 0.0];
    let mut objective = penalised(line);
    for _ in 0..MOST_STEPS {
        let ([by_slope, by_intercept], [slopes, mixed, intercepts]) = derivatives(cells, line, start);
        // The matrix is positive definite by its ridge.
        let determinant = slopes * intercepts - mixed * mixed;
        let step = [
            (mixed * by_intercept - intercepts * by_slope) / determinant,
            (mixed * by_slope - slopes * by_intercept) / determinant,
        ];
        let descent = by_slope * step[0] + by_intercept * step[1];
        let moved = |share: f64| [line[0] + share * step[0], line[1] + share * step[1]];
        let shares = std::iter::successors(Some(1.0), |share| Some(share / 2.0)).take(MOST_HALVINGS);
        let better = shares
            .map(|share| (share, moved(share), penalised(moved(share))))
            .find(|(share, _, found)| *found <= objective + 1e-4 * share * descent && *found < objective);
        // None is better once rounding is all that is left.
        let Some((_, next, found)) = better else { break };
        (line, objective) = (next, found);
    }
    line
}

/// Gradient and upper half of the second derivatives of the objective.
fn derivatives(cells: &Cells, [slope, intercept]: [f64; 2], start: f64) -> ([f64; 2], [f64; 3]) {
    let mut first = [RIDGE * (slope - start), RIDGE * intercept];
    let mut second = [RIDGE, 0.0, RIDGE];
    for (logit, positive) in cells.iter() {
        let logit = f64::from(logit);
        let probability = sigmoid(slope * logit + intercept);
        let residual = probability - f64::from(u8::from(positive));
        let weight = probability * (1.0 - probability);
        first = [first[0] + residual * logit, first[1] + residual];
        second = [second[0] + weight * logit * logit, second[1] + weight * logit, second[2] + weight];
    }
    (first, second)
}
