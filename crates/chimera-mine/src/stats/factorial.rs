//! Logarithms of factorials: exact sums where they are short, Stirling's series beyond.

use std::sync::LazyLock;

/// Below this they are summed, and looked up.
const TABLE: usize = 256;

static SUMS: LazyLock<[f64; TABLE]> = LazyLock::new(|| {
    let mut sums = [0.0; TABLE];
    for n in 1..TABLE {
        sums[n] = sums[n - 1] + (n as f64).ln();
    }
    sums
});

/// ln(n!), to about 16 digits.
pub(super) fn ln_factorial(n: u64) -> f64 {
    if let Some(sum) = usize::try_from(n).ok().and_then(|n| SUMS.get(n)) {
        return *sum;
    }
    let x = n as f64;
    // The next term is below 1e-3 / x^7, which is nothing beside ln(256!).
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    x * x.ln() - x + 0.5 * (std::f64::consts::TAU * x).ln() + series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_series_meet() {
        assert_eq!((ln_factorial(0), ln_factorial(1)), (0.0, 0.0));
        let mut sum = 0.0;
        for n in 1..2000 {
            sum += (n as f64).ln();
            assert!((ln_factorial(n) - sum).abs() < 1e-10 * sum.max(1.0), "{n}");
        }
        // Python: math.lgamma(1e6 + 1)
        assert!((ln_factorial(1_000_000) - 12_815_518.384658169).abs() < 1e-6);
    }
}
