//! Whether one method beats another over many rules: wins, ties and losses, and the signed-rank test of Wilcoxon, which asks
//! how likely differences like these are if their signs were drawn by lot.

use chimera_gate::normal;
use serde::{Deserialize, Serialize};

/// So many differences are counted exactly; of more the sum of ranks is as good as normal.
const EXACT: usize = 50;

/// On how many rules one method is better than another, by intervals of the difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The interval is above zero.
    pub wins: usize,
    /// It holds zero, or there is none.
    pub ties: usize,
    /// It is below zero.
    pub losses: usize,
}

impl Tally {
    /// Counts intervals.
    #[must_use]
    pub fn of(intervals: impl IntoIterator<Item = Option<chimera_data::metric::bootstrap::Interval>>) -> Self {
        let mut tally = Self::default();
        for interval in intervals {
            match interval {
                Some(interval) if interval.low > 0.0 => tally.wins += 1,
                Some(interval) if interval.high < 0.0 => tally.losses += 1,
                _ => tally.ties += 1,
            }
        }
        tally
    }
}

/// The two-sided probability of the signed ranks of some differences, if each sign were as likely as the other. Differences of
/// zero say nothing and are left out; `None` where nothing is left. Exact for up to 50 that are left, with ties and without,
/// else by the normal distribution, corrected for ties, as `scipy.stats.wilcoxon` has it.
#[must_use]
pub(crate) fn signed_rank_test(differences: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|value| *value != 0.0 && !value.is_nan()).collect();
    sorted.sort_unstable_by(|one, other| one.abs().total_cmp(&other.abs()));
    let count = sorted.len();
    if count == 0 {
        return None;
    }
    // Ranks are doubled: those of equal size share the mean of theirs, which may end in a half.
    let (mut doubled, mut above, mut ties) = (Vec::with_capacity(count), 0, 0.0);
    for tied in sorted.chunk_by(|one, other| one.abs() == other.abs()) {
        let rank = 2 * doubled.len() + tied.len() + 1;
        above += rank * tied.iter().filter(|value| **value > 0.0).count();
        doubled.extend(tied.iter().map(|_| rank));
        let size = tied.len() as f64;
        ties += size * size * size - size;
    }
    let least = above.min(count * (count + 1) - above);
    if count <= EXACT {
        return Some((2.0 * share_up_to(least, &doubled)).min(1.0));
    }
    let n = count as f64;
    let mean = n * (n + 1.0) / 4.0;
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    Some(2.0 * normal::below((least as f64 / 2.0 - mean) / variance.sqrt()))
}

/// The share of all signs of some ranks whose positive ones sum up to at most `sum`.
fn share_up_to(sum: usize, ranks: &[usize]) -> f64 {
    let most = ranks.iter().sum();
    // How many of all signs give each sum, as a share so that it stays a number.
    let mut shares = vec![0.0; most + 1];
    shares[0] = 1.0;
    for &rank in ranks {
        for total in (0..=most).rev() {
            let with = if total >= rank { shares[total - rank] } else { 0.0 };
            shares[total] = (shares[total] + with) / 2.0;
        }
    }
    shares[..=sum.min(most)].iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chimera_data::metric::bootstrap::Interval;

    #[test]
    fn values_of_scipy() {
        // scipy.stats.wilcoxon(d).pvalue
        let cases: [(&[f64], f64); 4] = [
            (&[0.3, -0.1, 0.2, 0.5, 0.4], 0.125),
            (&[0.3, 0.1, 0.2, 0.5, 0.4, 0.6], 0.03125),
            (&[1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0], 0.8125),
            (&[0.5], 1.0),
        ];
        for (differences, expected) in cases {
            let found = signed_rank_test(differences).unwrap();
            assert!((found - expected).abs() < 1e-6, "{differences:?}: {found}, expected {expected}");
        }
        let many: Vec<f64> =
            (1..=60).map(|rank| if rank % 3 == 0 { -f64::from(rank) } else { f64::from(rank) }).collect();
        let found = signed_rank_test(&many).unwrap();
        assert!((found - 0.035_900_123_215_878_11).abs() < 1e-6, "{found}");
        assert_eq!((signed_rank_test(&[]), signed_rank_test(&[0.0, 0.0])), (None, None));
    }

    /// All signs of the ranks of differences other than zero, one after the other.
    fn enumerated(differences: &[f64]) -> f64 {
        let sizes: Vec<f64> = differences.iter().filter(|value| **value != 0.0).map(|value| value.abs()).collect();
        let count = |wanted: &dyn Fn(f64) -> bool| sizes.iter().filter(|size| wanted(**size)).count() as f64;
        let rank = |size: f64| count(&|other| other < size) + (count(&|other| other == size) + 1.0) / 2.0;
        let ranks: Vec<f64> = sizes.iter().map(|size| rank(*size)).collect();
        let above: f64 = differences.iter().filter(|value| **value > 0.0).map(|value| rank(value.abs())).sum();
        let least = above.min(ranks.iter().sum::<f64>() - above);
        let sum =
            |signs: usize| -> f64 { (0..ranks.len()).filter(|at| signs >> at & 1 == 1).map(|at| ranks[at]).sum() };
        let all = 1_usize << ranks.len();
        (2.0 * (0..all).filter(|signs| sum(*signs) <= least).count() as f64 / all as f64).min(1.0)
    }

    #[test]
    fn zeros_are_left_out_and_ties_share_ranks_by_enumeration() {
        let cases: [(&[f64], f64); 4] = [
            (&[0.3, 0.1, 0.2, 0.5, 0.4, 0.0], 0.0625),
            (&[0.5, 0.0], 1.0),
            // Ranks 2, 2, 2, 4, 5.5, 5.5: of 64 signs, none below or one of the three smallest, on either side.
            (&[0.1, 0.1, -0.1, 0.2, 0.0, 0.3, 0.3], 0.125),
            (&[0.25, 0.25, -0.25, -0.25, 0.5, 0.75, 0.0, -0.125, 0.125, 1.0, 0.0], f64::NAN),
        ];
        for (differences, by_hand) in cases {
            let (found, expected) = (signed_rank_test(differences).unwrap(), enumerated(differences));
            assert!((found - expected).abs() < 1e-12, "{differences:?}: {found}, expected {expected}");
            assert!(by_hand.is_nan() || (found - by_hand).abs() < 1e-12, "{differences:?}: {found}, not {by_hand}");
        }
    }

    #[test]
    fn a_tie_is_what_cannot_be_told() {
        let interval = |low, high| Some(Interval { low, high });
        let found =
            Tally::of([interval(0.1, 0.2), interval(-0.1, 0.2), None, interval(-0.3, -0.1), interval(0.0, 0.1)]);
        assert_eq!(found, Tally { wins: 1, ties: 3, losses: 1 });
    }
}
