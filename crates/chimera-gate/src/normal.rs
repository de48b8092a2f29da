//! The normal distribution, and draws from its part below zero.

use std::sync::LazyLock;

/// The density at x.
#[must_use]
pub(crate) fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() * 0.398_942_280_401_432_7
}

/// The probability of less than x: a fraction of a millionth off, in the tails as well (a rational Chebyshev fit of the
/// complementary error function).
#[must_use]
pub fn below(x: f64) -> f64 {
    const TERMS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let distance = x.abs() * std::f64::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * distance);
    let sum = TERMS.iter().rev().fold(0.0, |sum, term| sum * t + term);
    let tail = 0.5 * t * (sum - distance * distance).exp();
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// The mean of a normal number of which it is known that it is below zero, from the mean of all of them, in deviations.
#[must_use]
pub(crate) fn mean_below_zero(mean: f64) -> f64 {
    (mean - density(mean) / below(-mean).max(1e-300)).min(0.0)
}

/// Means of the table, in deviations, from `-REACH` to `REACH`.
const REACH: f32 = 4.0;
const MEANS: usize = 65;
/// Quantiles of the table, so many that a byte picks one.
const QUANTILES: usize = 256;

/// Draws of a normal number of which it is known that it is below zero, from a table.
#[derive(Debug)]
pub struct BelowZero(Vec<f32>);

/// There is one for all: making it takes as long as teaching a gate a thousand samples.
static TABLE: LazyLock<BelowZero> = LazyLock::new(BelowZero::new);

impl BelowZero {
    /// The table.
    #[must_use]
    pub fn table() -> &'static Self {
        &TABLE
    }

    fn new() -> Self {
        let mut table = Vec::with_capacity(MEANS * QUANTILES);
        for place in 0..MEANS {
            let mean = f64::from(REACH) * (2.0 * place as f64 / (MEANS - 1) as f64 - 1.0);
            for quantile in 0..QUANTILES {
                let wanted = (quantile as f64 + 0.5) / QUANTILES as f64 * below(-mean);
                // The number with so much below it, by halving: it lies below zero.
                let (mut low, mut high) = (-mean - 12.0, -mean);
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if below(middle) < wanted { low = middle } else { high = middle }
                }
                table.push((mean + 0.5 * (low + high)) as f32);
            }
        }
        Self(table)
    }

    /// All of it, for drawing elsewhere: 256 quantiles for each of 65 means from -4 to 4 deviations.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.0
    }

    /// A draw, in deviations, for a mean in deviations.
    #[must_use]
    pub fn draw(&self, mean: f32, byte: u8) -> f32 {
        let place = (mean.clamp(-REACH, REACH) + REACH) * ((MEANS - 1) as f32 / (2.0 * REACH));
        self.0[place.round() as usize * QUANTILES + usize::from(byte)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of scipy.stats.norm.cdf (1.17).
    #[test]
    fn probabilities_are_those_of_a_table() {
        let known = [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (-1.0, 0.158_655_253_931_457_05),
            (-3.0, 0.001_349_898_031_630_094_6),
            (-6.0, 9.865_876_450_376_946e-10),
        ];
        for (x, p) in known {
            assert!((below(x) / p - 1.0).abs() < 1e-6, "{x}: {} {p}", below(x));
        }
        assert!((density(1.0) - 0.241_970_724_519_143_37).abs() < 1e-15);
    }

    /// The mean of what is below zero is mean - density / probability, in deviations.
    #[test]
    fn draws_are_below_zero_and_have_the_right_mean() {
        let table = BelowZero::table();
        for mean in [-3.0_f32, -0.5, 0.0, 1.0, 3.0] {
            let draws: Vec<f64> = (0..=255).map(|byte| f64::from(table.draw(mean, byte))).collect();
            assert!(draws.iter().all(|draw| *draw < 0.0));
            let found = draws.iter().sum::<f64>() / 256.0;
            let mean = f64::from(mean);
            let expected = mean - density(mean) / below(-mean);
            assert!((found - expected).abs() < 0.02, "{mean}: {found} {expected}");
        }
    }
}
