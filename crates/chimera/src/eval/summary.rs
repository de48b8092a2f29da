//! The numbers of a report in the large: means over rules and families, their spread over seeds, who wins against independent
//! events, and how well samples as a whole are told. `summary.json` is this.

use std::collections::BTreeMap;

use chimera_data::metric::MacroMean;
use chimera_data::metric::bootstrap::{Interval, mean_of};
use chimera_data::metric::leaf_table::LeafMeans;
use chimera_data::metric::ranking::RankMetrics;
use serde::Serialize;

use super::against::{Against, against};
use super::resampled::MeanResamples;
use super::{About, AnomalyCell, Evaluation, MethodOf, RuleOf, ScoreKind};
use crate::baseline::FittedOn;
use crate::score::method::Method;

/// Raised when a reader of older files would be misled.
pub(crate) const SCHEMA: u32 = 2;

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
    /// The mean over these rules, which the interval is around.
    pub interval_mean: Option<f64>,
    /// Of average precision.
    pub ap: Spread,
    /// Of the false-positive rate at 95 % true positives.
    pub fpr95: Spread,
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
    /// Rules that have an AUROC by every method, by `1 - p`: the same ones for all methods.
    pub common: GroupSummary,
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

/// The standing of a method that has learned from violations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ceiling {
    /// No method without violations has a greater mean AUROC: it is an upper bound.
    Holds,
    /// One has.
    Exceeded {
        /// The best of them.
        by: &'static str,
        /// Its mean AUROC.
        mean: f64,
    },
}

/// `summary.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary<'a> {
    /// The version of the layout.
    pub schema: u32,
    /// What was asked, of which data.
    #[serde(flatten)]
    pub about: &'a About,
    /// Rules that have an AUROC by every method.
    pub common_rules: usize,
    /// These by number.
    #[serde(skip)]
    pub common: Vec<usize>,
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
        let common = common_rules(evaluation);
        let methods = evaluation.present().map(|of| (of.method.name(), method_summary(evaluation, of, &common)));
        let absent = evaluation.methods.iter().filter_map(|of| Some((of.method.name(), of.absent.as_deref()?)));
        Self {
            schema: SCHEMA,
            about: &evaluation.about,
            methods: methods.collect(),
            common_rules: common.len(),
            common,
            learned_supervised_on: evaluation.supervised_on,
            absent: absent.collect(),
            leaves: evaluation.leaves.means(),
            rules: &evaluation.rules,
            words: &evaluation.words,
        }
    }

    /// Means of a method that can be compared with those of others: over the rules that all methods tell; over its own where
    /// there are none.
    #[must_use]
    pub fn means<'m>(&self, of: &'m MethodSummary) -> &'m GroupSummary {
        if self.common_rules == 0 { &of.all } else { &of.common }
    }

    /// The rules that [`means`](Self::means) are over, in words, where these are not all that some method tells.
    #[must_use]
    pub fn means_over(&self) -> Option<String> {
        let common = self.common_rules;
        self.methods.values().any(|of| of.all.rules > common).then(|| match common {
            0 => "no rule is told by all methods: each mean is over other rules, and cannot be compared".to_owned(),
            _ => format!("means are over the {common} of {} rules that all methods tell", self.rules.len()),
        })
    }

    /// Compares a method that has learned from violations with those that have not; `None` where they tell no rule in common.
    #[must_use]
    pub fn ceiling(&self, method: Method) -> Option<Ceiling> {
        let own = self.method(method)?.common.auroc.mean?;
        let others = self.methods.iter().filter(|(_, of)| of.seen_violations.is_none());
        let means = others.filter_map(|(&name, of)| Some((name, of.common.auroc.mean?)));
        let (by, mean) = means.max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(one.0)))?;
        Some(if mean > own { Ceiling::Exceeded { by, mean } } else { Ceiling::Holds })
    }

    /// A method that is there.
    #[must_use]
    pub fn method(&self, method: Method) -> Option<&MethodSummary> {
        self.methods.get(method.name())
    }
}

/// Rules that have an AUROC by every method. A method that has none for any rule does not count.
fn common_rules(evaluation: &Evaluation) -> Vec<usize> {
    let tells = |method: Method, rule: usize| evaluation.auroc_of(method, ScoreKind::Raw, rule).is_some();
    let rules = common_to(evaluation, 0..evaluation.rules.len(), &tells);
    let is_whole = |rule: &usize| evaluation.present().all(|of| evaluation.is_whole(of.method, *rule));
    rules.into_iter().filter(is_whole).collect()
}

/// Those of some rules that every method tells; a method that tells none of them does not count.
pub(crate) fn common_to(
    evaluation: &Evaluation,
    rules: impl Iterator<Item = usize> + Clone,
    tells: &dyn Fn(Method, usize) -> bool,
) -> Vec<usize> {
    let methods: Vec<Method> = evaluation.present().map(|of| of.method).collect();
    let telling: Vec<Method> =
        methods.into_iter().filter(|&method| rules.clone().any(|rule| tells(method, rule))).collect();
    rules.filter(|&rule| !telling.is_empty() && telling.iter().all(|&method| tells(method, rule))).collect()
}

fn method_summary(evaluation: &Evaluation, of: &MethodOf, common: &[usize]) -> MethodSummary {
    let group = |score, wanted: &dyn Fn(&RuleOf) -> bool| {
        let rules: Vec<usize> = (0..evaluation.rules.len()).filter(|&rule| wanted(&evaluation.rules[rule])).collect();
        group_summary(evaluation, of.method, score, &rules)
    };
    let family = |name: &&str| ((*name).to_owned(), group(ScoreKind::Raw, &|rule| rule.family == **name));
    MethodSummary {
        seen_violations: of.fitted_on,
        all: group(ScoreKind::Raw, &|_| true),
        common: group_summary(evaluation, of.method, ScoreKind::Raw, common),
        gated: group(ScoreKind::Gated, &|_| true),
        families: evaluation.families().iter().map(family).collect(),
        against_indep_cal: against(evaluation, of.method),
        consistency_anomaly: anomalies(&evaluation.anomalies, of.method),
        skipped: of.skipped.iter().cloned().collect(),
    }
}

/// Means over some rules. Gated scores have resamples of all rules together alone.
pub(crate) fn group_summary(
    evaluation: &Evaluation,
    method: Method,
    score: ScoreKind,
    rules: &[usize],
) -> GroupSummary {
    let of_seed = |seed: u64, metric: &dyn Fn(&RankMetrics) -> Option<f64>| {
        let cells = rules.iter().flat_map(|&rule| evaluation.cells_of(method, score, rule));
        MacroMean::of(cells.filter(|cell| cell.seed == seed).map(|cell| metric(&cell.metrics))).mean
    };
    let seeds = &evaluation.about.seeds;
    let spread = |metric: &dyn Fn(&RankMetrics) -> Option<f64>| {
        Spread::of(&seeds.iter().map(|&seed| of_seed(seed, metric)).collect::<Vec<_>>())
    };
    let (mut defined, mut means) = (0, MeanResamples::default());
    for &rule in rules {
        let Some(auroc) = evaluation.auroc_of(method, score, rule) else { continue };
        defined += 1;
        if let Some(again) = evaluation.resampled.of(method, rule)
            && score == ScoreKind::Raw
            && evaluation.tells(method, score, rule)
        {
            means.add(again, auroc);
        }
    }
    let (means, interval_rules) = match score {
        ScoreKind::Raw => (&means, means.rules()),
        ScoreKind::Gated => evaluation.resampled.gated(method),
    };
    GroupSummary {
        rules: defined,
        undefined: rules.len() - defined,
        auroc: spread(&|metrics| metrics.auroc),
        interval: means.interval(),
        interval_rules,
        interval_mean: means.mean(),
        ap: spread(&|metrics| metrics.average_precision),
        fpr95: spread(&|metrics| metrics.fpr_at_95_tpr),
    }
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
