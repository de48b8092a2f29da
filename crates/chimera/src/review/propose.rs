//! Thresholds from verdicts: the lowest above which violations are surely real often enough.
//!
//! A threshold flags scores above it, so between two scores that were reviewed all thresholds are the same; the one with the
//! fewest digits is taken. What counts is the lower end of the interval of the precision above it: ten real ones of ten say less
//! than one would think.

use serde::Serialize;

use crate::mine::stats::clopper_pearson;

/// Nobody reviews more than this.
const MOST: u64 = 1_000_000;

/// Verdicts above a threshold, and what they say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Precision {
    /// Verdicts.
    pub verdicts: u64,
    /// Those that say that the violation is real.
    pub real: u64,
    /// Their share; `None` without verdicts.
    pub precision: Option<f64>,
    /// The lower end of its 95 % interval (Clopper and Pearson).
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Precision {
    pub(super) fn of(real: u64, verdicts: u64) -> Self {
        let interval = clopper_pearson(real, verdicts);
        let precision = (verdicts > 0).then(|| real as f64 / verdicts as f64);
        Self { verdicts, real, precision, low: interval.low, high: interval.high }
    }
}

/// A threshold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposal {
    /// What a score must be above.
    pub threshold: f64,
    /// Verdicts above it.
    pub above: Precision,
    /// Reviewed violations that are real and would no longer be flagged.
    pub lost: u64,
}

/// What verdicts allow to propose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proposals {
    /// The lowest threshold above which the lower end of the precision's interval is high enough; `None` where there is none.
    pub sure: Option<Proposal>,
    /// The lowest above which the share of real ones itself is; `None` where there is none.
    pub estimate: Option<Proposal>,
    /// Verdicts that a sure threshold needs above it, if all of them are real.
    pub needed: u64,
}

/// How many real ones without a false alarm it takes to be sure of a precision.
#[must_use]
pub fn needed(precision: f64) -> u64 {
    let (mut low, mut high) = (0, MOST);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if clopper_pearson(middle, middle).low >= precision {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Proposes thresholds for scores that were reviewed, each with whether the violation is real.
pub(super) fn propose(reviewed: &[(f64, bool)], precision: f64) -> Proposals {
    let mut sorted = reviewed.to_vec();
    sorted.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let all_real = sorted.iter().filter(|(_, real)| *real).count() as u64;
    let (mut sure, mut estimate) = (None, None);
    let mut lost = 0;
    for at in 0..sorted.len() {
        let (score, real) = sorted[at];
        let before = at.checked_sub(1).map(|before| sorted[before].0);
        // No threshold is between two equal scores, and none is below 0.
        if before.is_none_or(|before| before < score) && score > 0.0 {
            let above = Precision::of(all_real - lost, (sorted.len() - at) as u64);
            let proposal = |above: &Precision| {
                let threshold = shortest(before.unwrap_or(0.9 * score), score);
                Some(Proposal { threshold, above: above.clone(), lost })
            };
            if sure.is_none() && above.low >= precision {
                sure = proposal(&above);
            }
            if estimate.is_none() && above.precision.is_some_and(|share| share >= precision) {
                estimate = proposal(&above);
            }
        }
        lost += u64::from(real);
    }
    Proposals { sure, estimate, needed: needed(precision) }
}

/// The number with the fewest decimals from `low` to below `high`.
fn shortest(low: f64, high: f64) -> f64 {
    let rounded = (0..=15).map(|digits| {
        let scale = 10_f64.powi(digits);
        (low * scale).ceil() / scale
    });
    rounded.into_iter().find(|number| *number >= low && *number < high).unwrap_or(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_verdicts_are_those_of_the_closed_form() {
        // All n real: the lower end is 0.025^(1/n). 0.025^(1/36) = 0.9026 and 0.025^(1/35) = 0.89999; for 0.5: 6 (0.5407) and not
        // 5 (0.4782); for 0.99: ln 0.025 / ln 0.99 = 367.04.
        assert_eq!([0.5, 0.9, 0.99].map(needed), [6, 36, 368]);
    }

    #[test]
    fn thresholds_are_counted_by_hand() {
        // From low to high: 0.1 false, 0.2 real, 0.3 false, 0.4 to 0.4 + 39/1000 real.
        let mut reviewed = vec![(0.3, false), (0.1, false), (0.2, true)];
        reviewed.extend((0..40).map(|at| (0.4 + f64::from(at) / 1000.0, true)));
        let found = propose(&reviewed, 0.9);
        // Above 0.1 there are 41 of 42 real: scipy.stats.beta.ppf(0.025, 41, 2) = 0.8743, too low. Above 0.2 are 40 of 41:
        // beta.ppf(0.025, 40, 2) = 0.8714. Above 0.3 are 40 of 40: 0.025^(1/40) = 0.9119.
        let sure = found.sure.unwrap();
        assert_eq!((sure.threshold, sure.above.verdicts, sure.above.real, sure.lost), (0.3, 40, 40, 1));
        assert!((sure.above.low - 0.9119).abs() < 1e-4, "{}", sure.above.low);
        // All 43: 41 of 43 are 0.953, which is enough of an estimate; a threshold below all scores has one digit.
        let estimate = found.estimate.unwrap();
        assert_eq!((estimate.above.verdicts, estimate.lost), (43, 0));
        assert!((0.09..0.1).contains(&estimate.threshold), "{}", estimate.threshold);
        // Nothing is sure of 0.99 with 40.
        let found = propose(&reviewed, 0.99);
        assert_eq!((found.sure, found.needed), (None, 368));
        assert_eq!(found.estimate.unwrap().threshold, 0.3);
    }

    #[test]
    fn equal_scores_are_flagged_together_and_zero_never() {
        // Of two with the same score one is false: no threshold takes the real one alone.
        let found = propose(&[(0.5, true), (0.5, false)], 0.9);
        assert_eq!((found.sure, found.estimate), (None, None));
        let found = propose(&[(0.0, true), (0.0, true)], 0.5);
        assert_eq!(found.estimate, None);
        let found = propose(&[(0.0, false), (1.0, true)], 0.9).estimate.unwrap();
        assert_eq!((found.threshold, found.lost), (0.0, 0));
        assert_eq!(propose(&[], 0.9).estimate, None);
    }

    #[test]
    fn thresholds_have_few_digits() {
        for (low, high, expected) in
            [(0.123, 0.987, 0.2), (0.121, 0.129, 0.121), (0.1239, 0.1291, 0.124), (0.5, 0.6, 0.5)]
        {
            assert_eq!(shortest(low, high), expected);
        }
        let close = shortest(0.3, f64::from_bits(0.3_f64.to_bits() + 1));
        assert_eq!(close, 0.3);
    }
}
