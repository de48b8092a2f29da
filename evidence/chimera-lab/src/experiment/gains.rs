//! Means over some rules of an evaluation, and paired differences between methods.

use chimera::eval::{Evaluation, ScoreKind};
use chimera::score::method::Method;
use chimera_data::metric::bootstrap::{Interval, difference_of, mean_of};

use crate::markdown::number;

/// The mean AUROC of a method over some rules; `None` where it tells none.
#[must_use]
pub fn mean(evaluation: &Evaluation, method: Method, rules: &[usize]) -> Option<f64> {
    let values: Vec<f64> = rules.iter().filter_map(|&rule| evaluation.auroc_of(method, ScoreKind::Raw, rule)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The mean AUROC of a method over all rules that it tells, with the interval of draws of rows; a dash where it tells none.
pub(super) fn told_with_interval(evaluation: &Evaluation, method: Method) -> String {
    let all: Vec<usize> = (0..evaluation.rules.len()).collect();
    let columns: Vec<&[f32]> = all.iter().filter_map(|&rule| evaluation.resampled.of(method, rule)).collect();
    let interval = if columns.is_empty() { None } else { Interval::of(&mean_of(&columns)) };
    let ends = interval.map_or_else(String::new, |ends| format!(" [{:.3}, {:.3}]", ends.low, ends.high));
    number(mean(evaluation, method, &all)) + &ends
}

/// Rules on which one method is above another, of those that both tell.
pub(super) fn wins(evaluation: &Evaluation, one: Method, other: Method, rules: &[usize]) -> [usize; 2] {
    let both = rules.iter().filter_map(|&rule| {
        let auroc = |method| evaluation.auroc_of(method, ScoreKind::Raw, rule);
        Some((auroc(one)?, auroc(other)?))
    });
    let (mut won, mut told) = (0, 0);
    for (one, other) in both {
        told += 1;
        won += usize::from(one > other);
    }
    [won, told]
}

/// A mean difference between two methods.
#[derive(Clone, Debug)]
pub(super) struct Gain {
    pub(super) mean: f64,
    pub(super) interval: Option<Interval>,
    /// The mean difference on each draw of rows.
    pub(super) again: Vec<f32>,
}

/// The mean difference of AUROC over rules that both methods tell, with the interval of paired draws of rows.
pub(super) fn gain(evaluation: &Evaluation, one: Method, other: Method) -> Option<Gain> {
    gain_between((evaluation, one), (evaluation, other))
}

/// The same between two evaluations of the same rules on the same rows.
pub(super) fn gain_between(
    (evaluation, one): (&Evaluation, Method),
    (base, other): (&Evaluation, Method),
) -> Option<Gain> {
    let (mut differences, mut columns) = (Vec::new(), Vec::new());
    for rule in 0..evaluation.rules.len() {
        let aurocs = evaluation.auroc_of(one, ScoreKind::Raw, rule).zip(base.auroc_of(other, ScoreKind::Raw, rule));
        let again = evaluation.resampled.of(one, rule).zip(base.resampled.of(other, rule));
        if let (Some((one, other)), Some((again, other_again))) = (aurocs, again) {
            differences.push(one - other);
            columns.push(difference_of(again, other_again));
        }
    }
    if differences.is_empty() {
        return None;
    }
    let again = mean_of(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    Some(Gain { mean, interval: Interval::of(&again), again })
}
