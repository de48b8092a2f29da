//! What many tests at once may claim: Benjamini and Yekutieli's control of the false discovery rate.
//!
//! All candidates share columns and rows, and some exclude each other, so that nothing can be said about how their tests
//! depend on each other. Benjamini and Hochberg's step needs tests that go together; Yekutieli's correction, the harmonic
//! sum, holds whatever they do, and costs no more than a factor of ln m.

/// What was found among many tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Discoveries {
    /// The adjusted p-value of each: the smallest rate at which it would be a discovery.
    pub adjusted: Vec<f64>,
    /// The largest p-value that is still a discovery; 0 where none is.
    pub largest: f64,
}

/// Adjusts the p-values of some of `tests` tests; those that are not given count as 1. A discovery is what has an adjusted
/// value of at most `rate`: of all discoveries, a share of at most `rate` is false on average.
#[must_use]
pub fn false_discoveries(p: &[f64], tests: u64, rate: f64) -> Discoveries {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&one, &other| p[one].total_cmp(&p[other]));
    let factor = tests as f64 * harmonic(tests);
    let (mut adjusted, mut smallest, mut largest) = (vec![1.0; p.len()], 1.0_f64, 0.0_f64);
    for (rank, &at) in order.iter().enumerate().rev() {
        smallest = smallest.min(factor * p[at] / (rank + 1) as f64);
        adjusted[at] = smallest;
        if smallest <= rate {
            largest = largest.max(p[at]);
        }
    }
    Discoveries { adjusted, largest }
}

/// 1 + 1/2 + ... + 1/n.
fn harmonic(n: u64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    if n < 1000 {
        return (1..=n).map(|i| 1.0 / i as f64).sum();
    }
    let n = n as f64;
    n.ln() + EULER + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_equal_their_definition() {
        // By hand: H(4) = 25/12, so m H = 25/3. Sorted 0.001, 0.01, 0.04, 0.9 by rank: 0.00833, 0.04167, 0.1111, 1.
        let found = false_discoveries(&[0.9, 0.001, 0.04, 0.01], 4, 0.05);
        for (got, expected) in found.adjusted.iter().zip([1.0, 1.0 / 120.0, 1.0 / 9.0, 1.0 / 24.0]) {
            assert!((got - expected).abs() < 1e-12, "{found:?}");
        }
        assert_eq!(found.largest, 0.01);
        // Tests that are not given only make the others harder to believe.
        let more = false_discoveries(&[0.001, 0.01], 400, 0.05);
        assert!(more.adjusted[0] > found.adjusted[1]);
        assert_eq!(more.largest, 0.0);
        assert_eq!(false_discoveries(&[], 10, 0.05), Discoveries { adjusted: Vec::new(), largest: 0.0 });
    }

    #[test]
    fn harmonic_sums_meet_their_series() {
        let plain = |n: u64| (1..=n).map(|i| 1.0 / i as f64).sum::<f64>();
        for n in [1, 2, 999, 1000, 1001, 5000] {
            assert!((harmonic(n) - plain(n)).abs() < 1e-12, "{n}");
        }
    }
}
