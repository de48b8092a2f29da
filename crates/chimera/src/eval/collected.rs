//! What came of asking, method by method.

use std::collections::BTreeSet;

use chimera_data::metric::reliability::Reliability;

use super::gallery::{Gallery, Sorted};
use super::measure::Measured;
use super::resampled::Resampled;
use super::run::Asked;
use super::score::Scored;
use super::truth::RuleTruths;
use super::{AnomalyCell, Cell, Cells, MethodOf, RulePlot, ScoreKind};
use crate::baseline::FittedOn;
use crate::score::aggregate::Aggregation;
use crate::score::method::Method;

/// What came of it so far.
pub(super) struct Collected {
    pub(super) methods: Vec<MethodOf>,
    pub(super) cells: Cells,
    pub(super) resampled: Resampled,
    /// Seeds at which something was asked.
    pub(super) seeds: BTreeSet<u64>,
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
            cells: Cells::new(),
            resampled: Resampled::default(),
            seeds: BTreeSet::new(),
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
        let (method, seed) = measured.of;
        self.seeds.insert(seed);
        for (rule, (cell, again)) in measured.raw.into_iter().enumerate() {
            // Of a rule that is undefined there is nothing to keep.
            if cell.metrics.auroc.is_some() {
                self.resampled.add(method, rule, again);
            }
            self.cells.entry((method, ScoreKind::Raw, rule)).or_default().push(cell);
        }
        for (rule, cell) in measured.gated.into_iter().enumerate() {
            self.cells.entry((method, ScoreKind::Gated, rule)).or_default().push(cell);
        }
        self.resampled.add_gated(method, &measured.gated_mean);
        self.anomalies.extend(measured.anomalies);
        self.supervised_on = self.supervised_on.or(scored.supervised_on);
        scored.words.iter().for_each(|words| self.say(words.clone()));
        if is_own {
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
        self.seeds.insert(seed);
        for (_, cells) in self.cells.iter_mut().filter(|((of, ..), _)| *of == method) {
            let copied = cells.first().map(|cell| Cell { seed, ..cell.clone() });
            cells.extend(copied);
        }
        let Some(first) = self.anomalies.iter().find(|cell| cell.method == method).map(|cell| cell.seed) else {
            return;
        };
        let anomalies = self.anomalies.iter().filter(|cell| cell.method == method && cell.seed == first);
        let anomalies: Vec<AnomalyCell> = anomalies.map(|cell| AnomalyCell { seed, ..cell.clone() }).collect();
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
