//! Where normal ends, from normal samples alone (split-conformal prediction).
//!
//! Of n scores of normal samples that nothing was fitted on, the threshold for a false-alarm rate a is the k-th smallest,
//! k = ceil((n + 1)(1 - a)): a new normal sample scores above it with probability at most a, whatever the distribution.

use chimera_data::error::{Error, Result};

/// Scores of normal samples, sorted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conformal {
    sorted: Vec<f64>,
}

impl Conformal {
    /// From scores in any order.
    ///
    /// # Errors
    /// A score that is no number.
    pub(crate) fn new(mut scores: Vec<f64>) -> Result<Self> {
        if scores.iter().any(|score| score.is_nan()) {
            return Err(Error::input(
                "expected numbers as scores of normal samples, got one that is none".to_owned(),
                None,
            ));
        }
        scores.sort_by(f64::total_cmp);
        Ok(Self { sorted: scores })
    }

    /// How many normal samples there are.
    #[must_use]
    pub(crate) fn len(&self) -> usize {
        self.sorted.len()
    }

    /// Whether there is none.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The score above which a sample is flagged; `None` where there are too few normal samples for the rate: fewer than
    /// `1 / rate - 1`.
    #[must_use]
    pub(crate) fn threshold(&self, rate: f64) -> Option<f64> {
        let count = self.sorted.len();
        // Rounding must not turn a whole number into the next one.
        let place = ((count as f64 + 1.0) * (1.0 - rate) - 1e-9).ceil().max(1.0) as usize;
        self.sorted.get(place - 1).copied()
    }

    /// The share of normal samples, the new one counted among them, that score at least as high: small where it is odd.
    #[must_use]
    pub(crate) fn p_value(&self, score: f64) -> f64 {
        let below = self.sorted.partition_point(|normal| *normal < score);
        (self.sorted.len() - below + 1) as f64 / (self.sorted.len() + 1) as f64
    }

    /// The smallest p-value that any score can have.
    #[must_use]
    pub(crate) fn least_p_value(&self) -> f64 {
        1.0 / (self.sorted.len() + 1) as f64
    }
}

/// Which of several p-values are small enough together that of those chosen no more than a share `rate` is chosen wrongly, in
/// the mean (Benjamini and Hochberg).
#[must_use]
pub(crate) fn benjamini_hochberg(p_values: &[f64], rate: f64) -> Vec<bool> {
    let mut sorted = p_values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len() as f64;
    // Shares of whole numbers: rounding must not decide between equal ones.
    let passes = |(place, p): &(usize, &f64)| **p <= rate * (*place as f64 + 1.0) / count + 1e-12;
    let last = sorted.iter().enumerate().filter(passes).map(|(_, p)| *p).next_back();
    p_values.iter().map(|p| last.is_some_and(|last| *p <= last)).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn thresholds_are_order_statistics() {
        let conformal = Conformal::new((1..=99).rev().map(f64::from).collect()).unwrap();
        assert_eq!([0.01, 0.05, 0.5].map(|rate| conformal.threshold(rate)), [Some(99.0), Some(95.0), Some(50.0)]);
        assert_eq!(conformal.threshold(0.009), None, "99 samples are too few for less than one in a hundred");
        assert_eq!([100.0, 99.0, 98.5, 0.0].map(|score| conformal.p_value(score)), [0.01, 0.02, 0.02, 1.0]);
        assert!(Conformal::new(vec![f64::NAN]).is_err());
        assert_eq!(Conformal::new(Vec::new()).unwrap().threshold(0.5), None);
    }

    /// The rate of false alarms on fresh normal samples is Beta-binomial: with n = 499 and a = 0.05, k = 475, the number of
    /// 1,000 fresh ones above the threshold has mean 1000 * 25 / 500 = 50 and a standard deviation of 11.9, of which the
    /// binomial part alone is 6.9 (Beta(25, 475), so the variance is m p q (m + n + 1) / (n + 2)).
    #[test]
    fn fresh_normal_samples_are_flagged_as_often_as_said() {
        let mut random = fastrand::Rng::with_seed(3);
        // Any distribution will do; ties would only lower the rate.
        let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| random.f64().powi(3)).collect() };
        let (runs, fresh) = (200, 1000);
        let mut flagged = Vec::new();
        for _ in 0..runs {
            let threshold = Conformal::new(draw(499)).unwrap().threshold(0.05).unwrap();
            flagged.push(draw(fresh).iter().filter(|score| **score > threshold).count() as f64);
        }
        let mean = flagged.iter().sum::<f64>() / f64::from(runs);
        let deviation = (flagged.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / f64::from(runs - 1)).sqrt();
        // Five standard errors of the mean of 200 runs, and 20 % of the deviation.
        assert!((mean - 50.0).abs() < 5.0 * 11.9 / f64::from(runs).sqrt(), "{mean}");
        assert!((deviation - 11.9).abs() < 2.4, "{deviation}");
        // No run is further off than six deviations.
        assert!(flagged.iter().all(|count| (count - 50.0).abs() < 6.0 * 11.9), "{flagged:?}");
    }

    #[test]
    fn benjamini_and_hochberg_choose_up_to_the_last_that_passes() {
        // Their steps at 0.05 of five: 0.01, 0.02, 0.03, 0.04, 0.05.
        let chosen = benjamini_hochberg(&[0.039, 0.005, 0.9, 0.021, 0.029], 0.05);
        assert_eq!(chosen, [true, true, false, true, true]);
        assert_eq!(benjamini_hochberg(&[0.011, 0.9], 0.02), [false, false]);
        assert!(benjamini_hochberg(&[], 0.05).is_empty());
        // 1/300 is 0.01 * 3 / 9, though not in floating point.
        let nine: Vec<f64> = (0..9).map(|rule| if rule < 3 { 1.0 / 300.0 } else { 0.9 }).collect();
        assert_eq!(benjamini_hochberg(&nine, 0.01).iter().filter(|chosen| **chosen).count(), 3);
    }
}
