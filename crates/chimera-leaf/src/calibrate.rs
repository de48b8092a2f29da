//! Probabilities that can be believed: a concept's logit becomes a probability through one temperature for all
//! concepts, or through a line of its own where there are labels enough (Platt).
//!
//! Both are fitted by cross-entropy on rows that the leaf bank has not learned from. The line is drawn towards the
//! temperature by a small ridge, so on the rows it was fitted on it is never worse than the temperature, which is never
//! worse than the plain logits.

mod cells;
mod platt;
mod quality;
mod stored;
mod temperature;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use chimera_data::dataset::rows::FitRows;
use chimera_data::error::{Error, Result};
use chimera_data::metric::columns::ScoreTable;
use chimera_logic::bits::TruthTable;
use serde::{Deserialize, Serialize};

use self::cells::Cells;
pub use self::cells::sigmoid;
pub use self::platt::{FEWEST_LABELS, Platt, PlattSource};
pub use self::quality::Quality;
use self::stored::Stored;
pub use self::temperature::{HIGHEST, LOWEST, Temperature, TemperatureOutcome};

/// How a logit becomes a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// As the leaf bank gives it.
    Raw,
    /// Divided by one temperature.
    Temperature,
    /// Through each concept's own line.
    Platt,
}

impl Method {
    /// All of them, simplest first.
    pub const ALL: [Self; 3] = [Self::Raw, Self::Temperature, Self::Platt];
}

/// What was fitted: a part of `calibration.json`, checked when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Calibration {
    temperature: Temperature,
    /// One a concept, in the order of the leaf bank.
    platt: Vec<Platt>,
}

impl Calibration {
    /// Fits temperature and lines. `logits` are those of `rows`, in that order; `labels` are those of the whole
    /// dataset, so that no row gets in that must not be fitted on.
    ///
    /// # Shapes
    /// `logits`: rows x concepts.
    ///
    /// # Errors
    /// Other than one row of logits for each of `rows`, labels of other concepts, and logits that are not finite.
    pub fn fit(logits: ScoreTable<'_>, labels: &TruthTable, rows: &FitRows, threads: NonZeroUsize) -> Result<Self> {
        if rows.numbers().iter().any(|&row| row >= labels.rows()) {
            let message = format!("expected rows of a dataset of {}, got others", labels.rows());
            return Err(Error::input(message, None));
        }
        Self::fit_all(logits, &labels.select(rows.numbers()), threads)
    }

    /// Fits on every row there is.
    fn fit_all(logits: ScoreTable<'_>, labels: &TruthTable, threads: NonZeroUsize) -> Result<Self> {
        let cells = Cells::of_table(logits, labels, threads)?;
        let temperature = temperature::fit(&cells, threads)?;
        let platt = platt::fit(logits.names(), &cells, temperature, threads)?;
        Ok(Self { temperature, platt })
    }

    /// The one temperature and how it came about.
    #[must_use]
    pub fn temperature(&self) -> Temperature {
        self.temperature
    }

    /// The line of each concept.
    #[must_use]
    pub fn platt(&self) -> &[Platt] {
        &self.platt
    }

    /// Slope and intercept that take a logit of a concept to the calibrated logit.
    ///
    /// # Panics
    /// Where there is no such concept.
    #[must_use]
    pub fn line(&self, method: Method, concept: usize) -> (f64, f64) {
        let platt = &self.platt[concept];
        match (method, platt.source) {
            (Method::Raw, _) => (1.0, 0.0),
            (Method::Platt, PlattSource::Fitted) => (f64::from(platt.slope), f64::from(platt.intercept)),
            (Method::Temperature, _) | (Method::Platt, PlattSource::Temperature) => {
                (1.0 / f64::from(self.temperature.value), 0.0)
            }
        }
    }

    /// The probability that a concept holds.
    ///
    /// # Panics
    /// Where there is no such concept.
    #[must_use]
    pub fn probability(&self, method: Method, concept: usize, logit: f32) -> f64 {
        let (slope, intercept) = self.line(method, concept);
        sigmoid(slope * f64::from(logit) + intercept)
    }

    /// The probabilities of whole rows.
    ///
    /// # Shapes
    /// `logits` and the result: rows x concepts, row-major.
    ///
    /// # Errors
    /// Logits that are not whole rows.
    pub fn probabilities(&self, method: Method, logits: &[f32]) -> Result<Vec<f64>> {
        let concepts = self.platt.len();
        if !logits.len().is_multiple_of(concepts) {
            let message = format!("expected rows of {concepts} logits, got {} logits", logits.len());
            return Err(Error::input(message, None));
        }
        let lines: Vec<(f64, f64)> = (0..concepts).map(|concept| self.line(method, concept)).collect();
        let probability =
            |(&(slope, intercept), &logit): (&(f64, f64), &f32)| sigmoid(slope * f64::from(logit) + intercept);
        Ok(logits.chunks_exact(concepts.max(1)).flat_map(|row| lines.iter().zip(row).map(probability)).collect())
    }

    /// How good the probabilities of each method are on any rows: those fitted on, or others.
    ///
    /// # Errors
    /// Logits of other concepts, labels of another shape, and logits that are not finite.
    pub fn quality(&self, logits: ScoreTable<'_>, labels: &TruthTable, threads: NonZeroUsize) -> Result<Vec<Quality>> {
        self.check_concepts(logits.names())?;
        let cells = Cells::of_table(logits, labels, threads)?;
        Method::ALL.into_iter().map(|method| quality::measure(self, method, &cells, threads)).collect()
    }

    /// Makes sure that this calibration is for these concepts in this order.
    ///
    /// # Errors
    /// The first concept that differs.
    pub fn check_concepts(&self, concepts: &[String]) -> Result<()> {
        if concepts.len() != self.platt.len() {
            let (ours, theirs) = (self.platt.len(), concepts.len());
            return Err(Error::input(format!("expected the {theirs} concepts of the leaf bank, got {ours}"), None));
        }
        match self.platt.iter().zip(concepts).find(|(platt, concept)| platt.concept != **concept) {
            None => Ok(()),
            Some((platt, concept)) => {
                let message = format!("expected the calibration of `{concept}`, got that of `{}`", platt.concept);
                Err(Error::input(message, Some("it belongs to another leaf bank; calibrate again".to_owned())))
            }
        }
    }
}
