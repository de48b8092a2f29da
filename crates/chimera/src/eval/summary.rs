//! The numbers of a report in the large: means over rules and families, their spread over seeds, who wins against independent
//! events, and how well samples as a whole are told. `summary.json` is this.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{About, AnomalyCell, Cell, Evaluation, MethodOf, REFERENCE, RuleOf, ScoreKind};
use crate::baseline::FittedOn;
use crate::metric::MacroMean;
use crate::metric::bootstrap::{Interval, difference_of, mean_of};
use crate::metric::leaf_table::LeafMeans;
use crate::metric::paired::{Tally, signed_rank_test};
use crate::metric::ranking::RankMetrics;
use crate::score::method::Method;

/// Raised when a reader of older files would be misled.
pub const SCHEMA: u32 = 1;

/// A number over seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The mean over seeds; `None` where it is undefined.
    pub mean: Option<f64>,
    /// The standard deviation over seeds; `None` with fewer than two.
    pub std: Option<f64>,
}

impl Spread {
    /// Of one value a seed.
    #[must_use]
    pub fn of(values: &[Option<f64>]) -> Self {
        let mean = MacroMean::of(values.iter().copied());
        let Some(centre) = mean.mean.filter(|_| mean.defined > 1) else { return Self { mean: mean.mean, std: None } };
        let squares: f64 = values.iter().flatten().map(|value| (value - centre).powi(2)).sum();
        Self { mean: mean.mean, std: Some((squares / (mean.defined - 1) as f64).sqrt()) }
    }
}

/// Means over some rules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSummary {
    /// Rules with a value.
    pub rules: usize,
    /// Rules without, which are no part of any mean.
    pub undefined: usize,
    /// Of AUROC.
    pub auroc: Spread,
    /// Where 95 % of resamples have its mean, over rules that have an interval of their own.
    pub interval: Option<Interval>,
    /// How many rules these are.
    pub interval_rules: usize,
    /// Of average precision.
    pub ap: Spread,
    /// Of the false-positive rate at 95 % true positives.
    pub fpr95: Spread,
}

/// A method against independent events, on rules that both can tell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The mean difference of AUROC.
    pub difference: f64,
    /// Its interval, from the same resamples of both, over rules whose difference has one.
    pub interval: Option<Interval>,
    /// How many rules these are.
    pub interval_rules: usize,
    /// Rules on which the interval of the difference is above, around and below zero.
    #[serde(flatten)]
    pub tally: Tally,
    /// The signed-rank test over rules; `None` where no rule differs.
    pub p: Option<f64>,
    /// The difference for each rule, by number, with its interval.
    #[serde(skip)]
    pub by_rule: BTreeMap<usize, (f64, Option<Interval>)>,
}

/// How well samples that break any rule are told from others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnomalySummary {
    /// AUROC.
    pub auroc: Spread,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Average precision.
    pub ap: Spread,
    /// The false-positive rate at 95 % true positives.
    pub fpr95: Spread,
    /// Samples that break a rule.
    pub positives: u64,
    /// Samples that break none.
    pub negatives: u64,
}

/// A method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodSummary {
    /// The violations that it has seen; `None` where it has seen none.
    pub seen_violations: Option<FittedOn>,
    /// All rules, by `1 - p`.
    pub all: GroupSummary,
    /// All rules, by gated scores.
    pub gated: GroupSummary,
    /// Each family, by `1 - p`.
    pub families: BTreeMap<String, GroupSummary>,
    /// Against `indep-cal`; `None` for itself, and where that was not asked.
    pub against_indep_cal: Option<Against>,
    /// Samples as a whole, by aggregation.
    pub consistency_anomaly: BTreeMap<&'static str, AnomalySummary>,
    /// Rules that it cannot tell, and why.
    pub skipped: BTreeMap<String, String>,
}

/// `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary<'a> {
    /// The version of the layout.
    pub schema: u32,
    /// What was asked, of which data.
    #[serde(flatten)]
    pub about: &'a About,
    /// Methods by name.
    pub methods: BTreeMap<&'static str, MethodSummary>,
    /// The violations that the aggregation `learned-supervised` has seen; `None` where that is not there.
    pub learned_supervised_on: Option<FittedOn>,
    /// Methods that are not there, and why.
    pub absent: BTreeMap<&'static str, &'a str>,
    /// Means over concepts.
    pub leaves: LeafMeans,
    /// The rules.
    pub rules: &'a [RuleOf],
    /// What else is not there.
    pub words: &'a [String],
}

impl<'a> Summary<'a> {
    /// Sums up.
    #[must_use]
    pub fn of(evaluation: &'a Evaluation) -> Self {
        let methods = evaluation.present().map(|method| (method.method.name(), method_summary(evaluation, method)));
        let absent = evaluation.methods.iter().filter_map(|of| Some((of.method.name(), of.absent.as_deref()?)));
        Self {
            schema: SCHEMA,
            about: &evaluation.about,
            methods: methods.collect(),
            learned_supervised_on: evaluation.supervised_on,
            absent: absent.collect(),
            leaves: evaluation.leaves.means(),
            rules: &evaluation.rules,
            words: &evaluation.words,
        }
    }

    /// A method that is there.
    #[must_use]
    pub fn method(&self, method: Method) -> Option<&MethodSummary> {
        self.methods.get(method.name())
    }
}

fn method_summary(evaluation: &Evaluation, of: &MethodOf) -> MethodSummary {
    let group = |score, wanted: &dyn Fn(&RuleOf) -> bool| {
        let rules: Vec<usize> = (0..evaluation.rules.len()).filter(|&rule| wanted(&evaluation.rules[rule])).collect();
        group_summary(evaluation, of.method, score, &rules)
    };
    let family = |name: &&str| ((*name).to_owned(), group(ScoreKind::Raw, &|rule| rule.family == **name));
    MethodSummary {
        seen_violations: of.fitted_on,
        all: group(ScoreKind::Raw, &|_| true),
        gated: group(ScoreKind::Gated, &|_| true),
        families: evaluation.families().iter().map(family).collect(),
        against_indep_cal: against(evaluation, of.method),
        consistency_anomaly: anomalies(&evaluation.anomalies, of.method),
        skipped: of.skipped.iter().cloned().collect(),
    }
}

fn group_summary(evaluation: &Evaluation, method: Method, score: ScoreKind, rules: &[usize]) -> GroupSummary {
    let of_seed = |seed: u64, metric: &dyn Fn(&RankMetrics) -> Option<f64>| {
        let cells =
            evaluation.cells.iter().filter(|cell| (cell.method, cell.score, cell.seed) == (method, score, seed));
        MacroMean::of(cells.filter(|cell| rules.contains(&cell.rule)).map(|cell| metric(&cell.metrics)))
    };
    let seeds = &evaluation.about.seeds;
    let spread = |metric: &dyn Fn(&RankMetrics) -> Option<f64>| {
        Spread::of(&seeds.iter().map(|&seed| of_seed(seed, metric).mean).collect::<Vec<_>>())
    };
    let (mut defined, mut means) = (0, MeanResamples::default());
    for &rule in rules {
        if let Some((auroc, again)) = averaged(evaluation, method, score, rule) {
            defined += 1;
            if tells(evaluation, method, score, rule) {
                means.add(again, auroc);
            }
        }
    }
    GroupSummary {
        rules: defined,
        undefined: rules.len() - defined,
        auroc: spread(&|metrics| metrics.auroc),
        interval: means.interval(),
        interval_rules: means.rules(),
        ap: spread(&|metrics| metrics.average_precision),
        fpr95: spread(&|metrics| metrics.fpr_at_95_tpr),
    }
}

/// The AUROC of a rule in the mean over seeds, on the rows as they are and on each resample; `None` where it is undefined.
#[must_use]
pub fn averaged(evaluation: &Evaluation, method: Method, score: ScoreKind, rule: usize) -> Option<(f64, Vec<f32>)> {
    let cells: Vec<&Cell> = evaluation.cells_of(method, score, rule).collect();
    let auroc = MacroMean::of(cells.iter().map(|cell| cell.metrics.auroc)).mean?;
    Some((auroc, mean_of(&cells.iter().map(|cell| cell.again.as_slice()).collect::<Vec<_>>())))
}

/// Whether a rule has an interval, at every seed: of one sample of a kind there is none.
fn tells(evaluation: &Evaluation, method: Method, score: ScoreKind, rule: usize) -> bool {
    evaluation.cells_of(method, score, rule).all(|cell| cell.interval.is_some())
}

/// Resamples of a mean over rules. All of them are means over the same rules: where a resample has no row of one of the kinds, a
/// rule has its value on the rows as they are.
#[derive(Debug, Default)]
pub(super) struct MeanResamples(Vec<Vec<f32>>);

impl MeanResamples {
    /// Adds a rule that tells, with its value on the rows as they are.
    pub(super) fn add(&mut self, mut again: Vec<f32>, value: f64) {
        again.iter_mut().filter(|again| again.is_nan()).for_each(|again| *again = value as f32);
        self.0.push(again);
    }

    /// The interval of the mean; `None` where no rule tells.
    pub(super) fn interval(&self) -> Option<Interval> {
        Interval::of(&mean_of(&self.0.iter().map(Vec::as_slice).collect::<Vec<_>>()))
    }

    /// How many rules there are.
    pub(super) fn rules(&self) -> usize {
        self.0.len()
    }
}

fn against(evaluation: &Evaluation, method: Method) -> Option<Against> {
    if method == REFERENCE {
        return None;
    }
    let (mut by_rule, mut means) = (BTreeMap::new(), MeanResamples::default());
    for rule in 0..evaluation.rules.len() {
        let one = averaged(evaluation, method, ScoreKind::Raw, rule);
        let other = averaged(evaluation, REFERENCE, ScoreKind::Raw, rule);
        if let (Some((one, again)), Some((other, other_again))) = (one, other) {
            let again = difference_of(&again, &other_again);
            let tell = [method, REFERENCE].iter().all(|&method| tells(evaluation, method, ScoreKind::Raw, rule));
            let interval = if tell { Interval::of(&again) } else { None };
            by_rule.insert(rule, (one - other, interval));
            if interval.is_some() {
                means.add(again, one - other);
            }
        }
    }
    let differences: Vec<f64> = by_rule.values().map(|(difference, _)| *difference).collect();
    Some(Against {
        difference: MacroMean::of(differences.iter().copied().map(Some)).mean?,
        interval: means.interval(),
        interval_rules: means.rules(),
        tally: Tally::of(by_rule.values().map(|(_, interval)| *interval)),
        p: signed_rank_test(&differences),
        by_rule,
    })
}

fn anomalies(cells: &[AnomalyCell], method: Method) -> BTreeMap<&'static str, AnomalySummary> {
    let mut by_way: BTreeMap<&'static str, Vec<&AnomalyCell>> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| cell.method == method) {
        by_way.entry(cell.aggregation.name()).or_default().push(cell);
    }
    let sum_up = |cells: &[&AnomalyCell]| {
        let spread = |metric: &dyn Fn(&RankMetrics) -> Option<f64>| {
            Spread::of(&cells.iter().map(|cell| metric(&cell.metrics)).collect::<Vec<_>>())
        };
        let again = mean_of(&cells.iter().map(|cell| cell.again.as_slice()).collect::<Vec<_>>());
        AnomalySummary {
            auroc: spread(&|metrics| metrics.auroc),
            interval: Interval::of(&again).filter(|_| cells[0].interval.is_some()),
            ap: spread(&|metrics| metrics.average_precision),
            fpr95: spread(&|metrics| metrics.fpr_at_95_tpr),
            positives: cells[0].metrics.positives,
            negatives: cells[0].metrics.negatives,
        }
    };
    by_way.into_iter().map(|(way, cells)| (way, sum_up(&cells))).collect()
}

#[cfg(test)]
mod tests;
