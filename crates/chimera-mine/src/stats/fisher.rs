//! Fisher's exact test, one-sided: how likely rows with both sides would be as many as seen or more if the sides had nothing
//! to do with each other, given how many rows each has.

use super::factorial::ln_factorial;
use crate::contingency::Contingency;

/// The probability of at least so many rows with both sides, given the margins, if the sides are independent. 1 where the
/// table leaves no choice.
#[must_use]
pub fn fisher_greater(table: Contingency) -> f64 {
    let Contingency { both, left_only, right_only, neither } = table;
    let margins = [both + left_only, right_only + neither, both + right_only, left_only + neither];
    let all = both + left_only + right_only + neither;
    let mut log = margins.into_iter().map(ln_factorial).sum::<f64>() - ln_factorial(all);
    log -= [both, left_only, right_only, neither].into_iter().map(ln_factorial).sum::<f64>();
    let mut term = log.exp();
    // The terms as shares of the first one: far out in the tail all of them are too small to be written.
    let (mut share, mut sum) = (1.0, 1.0);
    let [mut both, mut left_only, mut right_only, mut neither] =
        [both, left_only, right_only, neither].map(|count| count as f64);
    while left_only > 0.0 && right_only > 0.0 && share > 1e-18 * sum {
        both += 1.0;
        neither += 1.0;
        share *= left_only * right_only / (both * neither);
        left_only -= 1.0;
        right_only -= 1.0;
        sum += share;
    }
    if term == 0.0 {
        // Below every number, but not impossible.
        term = f64::MIN_POSITIVE;
    }
    (term * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_equal_scipys() {
        // scipy.stats.fisher_exact([[a, b], [c, d]], "greater").pvalue
        for (cells, expected) in [
            ([8, 2, 1, 5], 0.024475524475524483),
            ([3, 1, 1, 3], 0.24285714285714283),
            ([0, 5, 5, 0], 1.0),
            ([62, 0, 9, 649], 2.4538625456790814e-80),
            ([305, 0, 921, 574], 1.0618543820722353e-57),
            ([20, 180, 15, 785], 8.545557883145884e-7),
        ] {
            let [both, left_only, right_only, neither] = cells;
            let p = fisher_greater(Contingency { both, left_only, right_only, neither });
            assert!((p / expected - 1.0).abs() < 1e-6, "{cells:?} {p}");
        }
    }

    #[test]
    fn small_tables_equal_the_sum_over_all_tables() {
        let choose = |n: u64, k: u64| (1..=k).fold(1.0, |product, i| product * (n + 1 - i) as f64 / i as f64);
        for rows in 1..=9_u64 {
            for left in 0..=rows {
                for right in 0..=rows {
                    let possible = left.saturating_sub(rows - right)..=left.min(right);
                    let weight = |both: u64| choose(right, both) * choose(rows - right, left - both);
                    let all: f64 = possible.clone().map(weight).sum();
                    for both in possible.clone() {
                        let tail: f64 = (both..=*possible.end()).map(weight).sum();
                        let table = Contingency {
                            both,
                            left_only: left - both,
                            right_only: right - both,
                            neither: rows + both - left - right,
                        };
                        assert!((fisher_greater(table) - tail / all).abs() < 1e-12, "{table:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tiny_probabilities_are_not_zero() {
        let p = fisher_greater(Contingency { both: 100_000, left_only: 0, right_only: 0, neither: 100_000 });
        assert!(p > 0.0 && p < 1e-300);
    }
}
