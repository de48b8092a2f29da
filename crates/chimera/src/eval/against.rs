//! A method against independent events: differences rule by rule, from the same resamples of both, and over all rules that both tell.

use std::collections::BTreeMap;

use chimera_data::metric::MacroMean;
use chimera_data::metric::bootstrap::{Interval, difference_of};
use serde::Serialize;

use super::paired::{Tally, signed_rank_test};
use super::resampled::MeanResamples;
use super::{Evaluation, REFERENCE, ScoreKind};
use crate::score::method::Method;

/// A method against independent events, on rules that both can tell, on the same rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// How many rules these are.
    pub rules: usize,
    /// The mean AUROC of independent events on them.
    pub reference: f64,
    /// The mean difference of AUROC on them.
    pub difference: f64,
    /// Its interval, from the same resamples of both, over rules whose difference has one.
    pub interval: Option<Interval>,
    /// How many rules these are.
    pub interval_rules: usize,
    /// The mean difference on these rules, which the interval is around.
    pub interval_mean: Option<f64>,
    /// Rules on which the interval of the difference is above, around and below zero.
    #[serde(flatten)]
    pub tally: Tally,
    /// The signed-rank test over rules; `None` where no rule differs.
    pub p: Option<f64>,
    /// The difference for each rule, by number, with its interval.
    #[serde(skip)]
    pub by_rule: BTreeMap<usize, (f64, Option<Interval>)>,
}

impl Against {
    /// The difference that the interval is around, and over how many rules it is; over all rules that both tell where there is none.
    #[must_use]
    pub fn shown(&self) -> (f64, usize) {
        self.interval_mean.map_or((self.difference, self.rules), |mean| (mean, self.interval_rules))
    }
}

/// Compares; `None` for independent events themselves, and where these were not asked.
pub(super) fn against(evaluation: &Evaluation, method: Method) -> Option<Against> {
    if method == REFERENCE {
        return None;
    }
    let (mut by_rule, mut means, mut references) = (BTreeMap::new(), MeanResamples::default(), Vec::new());
    for rule in 0..evaluation.rules.len() {
        let [one, other] = [method, REFERENCE].map(|method| {
            let auroc =
                evaluation.auroc_of(method, ScoreKind::Raw, rule).filter(|_| evaluation.is_whole(method, rule))?;
            Some((auroc, evaluation.resampled.of(method, rule)?))
        });
        if let (Some((one, again)), Some((other, other_again))) = (one, other) {
            let again = difference_of(again, other_again);
            let tell = [method, REFERENCE].iter().all(|&method| evaluation.tells(method, ScoreKind::Raw, rule));
            let interval = if tell { Interval::of(&again) } else { None };
            by_rule.insert(rule, (one - other, interval));
            references.push(Some(other));
            if interval.is_some() {
                means.add(&again, one - other);
            }
        }
    }
    let differences: Vec<f64> = by_rule.values().map(|(difference, _)| *difference).collect();
    Some(Against {
        rules: by_rule.len(),
        reference: MacroMean::of(references).mean?,
        difference: MacroMean::of(differences.iter().copied().map(Some)).mean?,
        interval: means.interval(),
        interval_rules: means.rules(),
        interval_mean: means.mean(),
        tally: Tally::of(by_rule.values().map(|(_, interval)| *interval)),
        p: signed_rank_test(&differences),
        by_rule,
    })
}
