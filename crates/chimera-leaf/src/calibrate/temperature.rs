//! One temperature for all concepts: cross-entropy over all known labels, convex in the inverse temperature.

use std::num::NonZeroUsize;

use chimera_data::error::Result;
use chimera_data::parallel::in_parallel;
use serde::{Deserialize, Serialize};

use super::cells::{Cells, sigmoid};

/// No lower temperature is given: logits become at most twenty times as sharp.
pub const LOWEST: f32 = 0.05;
/// No higher temperature is given: logits become at most twenty times as flat.
pub const HIGHEST: f32 = 20.0;

/// More steps than ever needed: each halves the interval at worst.
const MOST_STEPS: usize = 200;
/// The mean gradient at the optimum, in units of the mean absolute logit.
const TOLERANCE: f64 = 1e-13;

/// What logits are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Temperature {
    /// From [`LOWEST`] to [`HIGHEST`].
    pub value: f32,
    /// How it came about.
    pub outcome: TemperatureOutcome,
}

/// How a temperature came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TemperatureOutcome {
    /// It has the least cross-entropy.
    Optimum,
    /// The least would lie below [`LOWEST`]: the sign of the logits is (nearly) always right.
    Lowest,
    /// The least would lie above [`HIGHEST`]: the logits say nothing about the labels, or the opposite.
    Highest,
    /// No label is known; 1.
    NoLabels,
    /// Only positives or only negatives are known, which say nothing about sharpness; 1.
    OneClass,
}

pub(super) fn fit(cells: &[Cells], threads: NonZeroUsize) -> Result<Temperature> {
    let known = |value: f32, outcome| Ok(Temperature { value, outcome });
    let positives: usize = cells.iter().map(|cells| cells.positives.len()).sum();
    let labels: usize = cells.iter().map(Cells::len).sum();
    if labels == 0 {
        return known(1.0, TemperatureOutcome::NoLabels);
    }
    if positives == 0 || positives == labels {
        return known(1.0, TemperatureOutcome::OneClass);
    }
    let (mut low, mut high) = (1.0 / f64::from(HIGHEST), 1.0 / f64::from(LOWEST));
    let mut inverse = 1.0;
    let mut sums = derivatives(cells, inverse, threads)?;
    let enough = TOLERANCE * sums.magnitude;
    if sums.slope.abs() > enough {
        if derivatives(cells, low, threads)?.slope >= 0.0 {
            return known(HIGHEST, TemperatureOutcome::Highest);
        }
        if derivatives(cells, high, threads)?.slope <= 0.0 {
            return known(LOWEST, TemperatureOutcome::Lowest);
        }
    }
    for _ in 0..MOST_STEPS {
        if sums.slope.abs() <= enough {
            break;
        }
        *if sums.slope > 0.0 { &mut high } else { &mut low } = inverse;
        let newton = inverse - sums.slope / sums.curvature;
        let next = if newton > low && newton < high { newton } else { (low * high).sqrt() };
        if next == inverse {
            break;
        }
        inverse = next;
        sums = derivatives(cells, inverse, threads)?;
    }
    known(((1.0 / inverse) as f32).clamp(LOWEST, HIGHEST), TemperatureOutcome::Optimum)
}

/// Sums over all known labels.
#[derive(Clone, Copy, Debug, Default)]
struct Derivatives {
    slope: f64,
    curvature: f64,
    /// Of absolute logits.
    magnitude: f64,
}

/// Of the cross-entropy by the inverse temperature. Sums are taken concept by concept and then in order, so the number
/// of threads changes no bit.
fn derivatives(cells: &[Cells], inverse: f64, threads: NonZeroUsize) -> Result<Derivatives> {
    let parts = in_parallel(threads, cells.len(), |concept| {
        let mut sums = Derivatives::default();
        for (logit, positive) in cells[concept].iter() {
            let logit = f64::from(logit);
            let probability = sigmoid(inverse * logit);
            sums.slope += logit * (probability - f64::from(u8::from(positive)));
            sums.curvature += logit * logit * probability * (1.0 - probability);
            sums.magnitude += logit.abs();
        }
        Ok(sums)
    })?;
    Ok(parts.into_iter().fold(Derivatives::default(), |sums, part| Derivatives {
        slope: sums.slope + part.slope,
        curvature: sums.curvature + part.curvature,
        magnitude: sums.magnitude + part.magnitude,
    }))
}
