//! What came of asking, method by method.

use super::gallery::{Gallery, Sorted};
use super::measure::Measured;
use super::run::Asked;
use super::score::Scored;
use super::truth::RuleTruths;
use super::{AnomalyCell, Cell, MethodOf, RulePlot};
use crate::baseline::FittedOn;
use crate::metric::reliability::Reliability;
use crate::score::aggregate::Aggregation;
use crate::score::method::Method;

/// What came of it so far.
pub(super) struct Collected {
    pub(super) methods: Vec<MethodOf>,
    pub(super) cells: Vec<Cell>,
    pub(super) anomalies: Vec<AnomalyCell>,
    pub(super) plots: Vec<RulePlot>,
    pub(super) reliability: Vec<(Method, Reliability)>,
    /// The violations that `learned-supervised` was fitted to: the same ones for every method.
    pub(super) supervised_on: Option<FittedOn>,
    pub(super) words: Vec<String>,
    /// The method whose scores galleries are sorted by, if it can be asked.
    shown: Option<(Method, Scored)>,
    default: Method,
}

impl Collected {
    /// Nothing yet.
    pub(super) fn new(asked: &Asked<'_>, default: Method) -> Self {
        let method = |&method: &Method| MethodOf { method, fitted_on: None, absent: None, skipped: Vec::new() };
        Self {
            methods: asked.methods.iter().map(method).collect(),
            cells: Vec::new(),
            anomalies: Vec::new(),
            plots: Vec::new(),
            reliability: Vec::new(),
            supervised_on: None,
            words: Vec::new(),
            shown: None,
            default,
        }
    }

    /// Takes what a method came to; `is_own` at the model's own seed.
    pub(super) fn take(&mut self, measured: Measured, scored: Scored, is_own: bool) {
        let method = measured.cells.first().map(|cell| cell.method);
        self.cells.extend(measured.cells);
        self.anomalies.extend(measured.anomalies);
        self.supervised_on = self.supervised_on.or(scored.supervised_on);
        scored.words.iter().for_each(|words| self.say(words.clone()));
        if let Some(method) = method.filter(|_| is_own) {
            self.plots.extend(measured.plots);
            self.reliability.push((method, measured.reliability));
            // Another one stands in for the default until that comes; what has seen violations does not.
            let stands_in = self.shown.is_none() && method != Method::Oracle;
            if method == self.default || stands_in {
                self.shown = Some((method, scored));
            }
        }
    }

    /// The same numbers at another seed, on which they do not depend.
    pub(super) fn copy(&mut self, method: Method, seed: u64) {
        let Some(first) = self.cells.iter().find(|cell| cell.method == method).map(|cell| cell.seed) else { return };
        let cells = self.cells.iter().filter(|cell| cell.method == method && cell.seed == first);
        let cells: Vec<Cell> = cells.map(|cell| Cell { seed, ..cell.clone() }).collect();
        let anomalies = self.anomalies.iter().filter(|cell| cell.method == method && cell.seed == first);
        let anomalies: Vec<AnomalyCell> = anomalies.map(|cell| AnomalyCell { seed, ..cell.clone() }).collect();
        self.cells.extend(cells);
        self.anomalies.extend(anomalies);
    }

    /// Says something once.
    pub(super) fn say(&mut self, words: String) {
        if !self.words.contains(&words) {
            self.words.push(words);
        }
    }

    /// The method that the report speaks of first: the default, or the last that is there.
    pub(super) fn main(&self, default: Method) -> Option<Method> {
        let mut present = self.methods.iter().filter(|method| method.absent.is_none()).map(|method| method.method);
        if present.clone().any(|method| method == default) {
            return Some(default);
        }
        self.shown.as_ref().map(|(method, _)| *method).or(present.next())
    }

    /// Samples to look at, by the scores of the method that is shown.
    pub(super) fn gallery(&self, asked: &Asked<'_>, rows: &[usize], truths: &RuleTruths, seed: u64) -> Gallery {
        let Some((_, scored)) = &self.shown else { return Gallery::default() };
        let any_broken = (0..truths.rows()).map(|row| truths.any_broken(row)).collect();
        let of_samples = scored.anomalies.iter().find(|(aggregation, _)| *aggregation == Aggregation::default());
        let samples: Option<Sorted<'_>> = of_samples.map(|(_, scores)| (None, scores.as_slice(), any_broken));
        let rules = scored
            .raw
            .iter()
            .enumerate()
            .map(|(rule, scores)| -> Sorted<'_> { (Some(rule), scores.as_slice(), truths.broken[rule].clone()) });
        let sorted: Vec<Sorted<'_>> = samples.into_iter().chain(rules).collect();
        Gallery::of(asked.dataset, rows, &sorted, seed, asked.threads)
    }
}
