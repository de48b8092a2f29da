//! Thresholds from verdicts: the lowest above which violations are surely real often enough.
//!
//! A threshold flags scores above it, so between two scores that were reviewed all thresholds are the same; the one with the
//! fewest digits is taken. Below the lowest of them nothing is known, so the threshold that takes it lies just below it. What counts is the lower end of the interval of the precision above it: ten real ones of ten say less
//! than one would think.

use serde::Serialize;

use chimera_mine::stats::clopper_pearson;

/// Nobody reviews more than this.
pub const MOST_VERDICTS: u64 = 1_000_000;

/// How far below the lowest reviewed score a threshold may lie, as a share of what the score is away from 0 or 1.
const JUST_BELOW: f64 = 1e-6;

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
    /// Verdicts that a sure threshold needs above it, if all of them are real; `None` for more than [`MOST_VERDICTS`].
    pub needed: Option<u64>,
}

/// How many real ones without a false alarm it takes to be sure of a precision; `None` for more than [`MOST_VERDICTS`].
#[must_use]
pub fn needed(precision: f64) -> Option<u64> {
    let is_enough = |verdicts: u64| clopper_pearson(verdicts, verdicts).low >= precision;
    if !is_enough(MOST_VERDICTS) {
        return None;
    }
    let (mut low, mut high) = (0, MOST_VERDICTS);
    while low + 1 < high {
        let middle = u64::midpoint(low, high);
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
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
                let threshold = shortest(before.unwrap_or_else(|| just_below(score)), score);
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

/// A little less than a score.
fn just_below(score: f64) -> f64 {
    (score - JUST_BELOW * score.min((1.0 - score).max(0.0))).min(score.next_down())
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
        assert_eq!([0.5, 0.9, 0.99].map(needed), [6, 36, 368].map(Some));
        // ln 0.025 / ln 0.9999999 = 36.9 million: nobody reviews as many. For 0.99999 it is 368,887.
        assert_eq!(needed(0.999_999_9), None);
        assert!(needed(0.999_99).is_some_and(|count| count.abs_diff(368_887) < 100));
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
        // All 43: 41 of 43 are 0.953, which is enough of an estimate; the threshold lies just below the lowest score, and not where
        // nobody has looked.
        let estimate = found.estimate.unwrap();
        assert_eq!((estimate.above.verdicts, estimate.lost), (43, 0));
        assert!((0.099_999_8..0.1).contains(&estimate.threshold), "{}", estimate.threshold);
        // Nothing is sure of 0.99 with 40.
        let found = propose(&reviewed, 0.99);
        assert_eq!((found.sure, found.needed), (None, Some(368)));
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
    fn nothing_is_proposed_where_nobody_has_looked() {
        for score in [1e-12, 0.000_123_456_789, 0.1, 0.5, 0.123_456_789_012, 0.999_999, 1.0 - 1e-12, 1.0] {
            let found = propose(&[(score, true), (1.0, true)], 0.9).estimate.unwrap().threshold;
            let room = (1e-6 * score.min(1.0 - score)).max(score - score.next_down());
            assert!(found < score && found >= score - 1.001 * room, "{score}: {found}");
        }
        // Few digits, where there is room for them.
        let found = propose(&[(0.123_456_789, true)], 0.9).estimate.unwrap();
        assert_eq!(found.threshold, 0.123_456_7);
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
