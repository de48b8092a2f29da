//! How good probabilities are: cross-entropy, and distance from frequencies.

use std::num::NonZeroUsize;

use chimera_data::error::Result;
use chimera_data::metric::MacroMean;
use chimera_data::metric::reliability::{BINS, Reliability, WidthSums};
use chimera_data::parallel::in_parallel;
use serde::Serialize;

use super::cells::Cells;
use super::{Calibration, Method};

/// The probabilities of one method against labels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quality {
    /// The method.
    pub method: Method,
    /// Known labels of all concepts.
    pub labels: u64,
    /// Mean binary cross-entropy in nats; `None` without labels.
    pub bce: Option<f64>,
    /// All concepts together in bins of equal width; its `error` is the ECE.
    pub reliability: Reliability,
    /// Mean over concepts of the ECE in bins of equal mass, over concepts that have labels.
    pub concept_error: MacroMean,
}

/// Sums of one concept.
struct Part {
    loss: f64,
    bins: WidthSums,
    error: Option<f64>,
}

pub(super) fn measure(
    calibration: &Calibration,
    method: Method,
    cells: &[Cells],
    threads: NonZeroUsize,
) -> Result<Quality> {
    let parts = in_parallel(threads, cells.len(), |concept| {
        let (slope, intercept) = calibration.line(method, concept);
        let probable = |(logit, positive)| (calibration.probability(method, concept, logit) as f32, positive);
        let mut bins = WidthSums::new(BINS);
        cells[concept].iter().map(probable).for_each(|(probability, positive)| bins.add(probability, positive));
        let error = Reliability::equal_mass(cells[concept].iter().map(probable), BINS)?.error;
        Ok(Part { loss: cells[concept].loss(slope, intercept), bins, error })
    })?;
    let (mut loss, mut bins) = (0.0, WidthSums::new(BINS));
    for part in &parts {
        loss += part.loss;
        bins.merge(&part.bins);
    }
    let labels: u64 = cells.iter().map(|cells| cells.len() as u64).sum();
    Ok(Quality {
        method,
        labels,
        bce: (labels > 0).then(|| loss / labels as f64),
        reliability: bins.reliability(),
        concept_error: MacroMean::of(parts.iter().map(|part| part.error)),
    })
}
