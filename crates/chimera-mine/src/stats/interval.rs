//! Exact bounds of a share: Clopper and Pearson's interval covers the true share with at least the stated probability, at any
//! number of rows and near 1, where confidences of rules are and approximations fail.

use chimera_logic::attributes::Interval;

use super::factorial::ln_factorial;

/// What is left outside on either side of a 95 % interval.
const TAIL: f64 = 0.025;

/// The 95 % interval of a share of which `kept` of `rows` were seen; everything where there are no rows.
#[must_use]
pub fn clopper_pearson(kept: u64, rows: u64) -> Interval {
    // The share at which so many or more, or so few or fewer, would be seen with probability `TAIL`.
    let low = if kept == 0 { 0.0 } else { bisect(|share| 1.0 - binomial_at_most(kept - 1, rows, share) < TAIL) };
    let high = if kept == rows { 1.0 } else { bisect(|share| binomial_at_most(kept, rows, share) > TAIL) };
    Interval { low, high }
}

/// Where an answer turns from yes to no, going up from 0 to 1.
fn bisect(is_below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    // Halving once a bit of the mantissa and a few for the exponent is as exact as numbers get.
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// The probability that at most `count` of `rows` succeed, each with probability `share`.
#[must_use]
pub fn binomial_at_most(count: u64, rows: u64, share: f64) -> f64 {
    if count >= rows || share <= 0.0 {
        return 1.0;
    }
    if share >= 1.0 {
        return 0.0;
    }
    incomplete_beta(1.0 - share, rows - count, count + 1)
}

/// The regularised incomplete beta function at whole numbers above 0.
fn incomplete_beta(x: f64, a: u64, b: u64) -> f64 {
    // The fraction converges fast on one side of the mean; the other is its complement.
    if x * (a + b + 2) as f64 > (a + 1) as f64 {
        return 1.0 - incomplete_beta_below(1.0 - x, b, a);
    }
    incomplete_beta_below(x, a, b)
}

/// Lentz's evaluation of the continued fraction (Numerical Recipes, 6.4).
fn incomplete_beta_below(x: f64, a: u64, b: u64) -> f64 {
    const TINY: f64 = 1e-300;
    let ln_beta = ln_factorial(a - 1) + ln_factorial(b - 1) - ln_factorial(a + b - 1);
    let (a, b) = (a as f64, b as f64);
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta).exp() / a;
    let kept = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / kept(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        for factor in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / kept(1.0 + factor * d);
            c = kept(1.0 + factor / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_equal_scipys() {
        // scipy.stats.binomtest(kept, rows).proportion_ci(method="exact")
        for (kept, rows, low, high) in [
            (0, 10, 0.0, 0.30849710781876294),
            (10, 10, 0.6915028921812371, 1.0),
            (1, 2, 0.01257911709367899, 0.987420882906321),
            (810, 812, 0.9911311798980881, 0.9997015734003941),
            (50, 1000, 0.03733539760466063, 0.06539048791549365),
            (999_000, 1_000_000, 0.9989360818926863, 0.9990609987920546),
        ] {
            let Interval { low: got_low, high: got_high } = clopper_pearson(kept, rows);
            assert!(
                (got_low - low).abs() < 1e-9 && (got_high - high).abs() < 1e-9,
                "{kept}/{rows} {got_low} {got_high}"
            );
        }
        let nothing = clopper_pearson(0, 0);
        assert_eq!((nothing.low, nothing.high), (0.0, 1.0));
    }

    #[test]
    fn a_perfect_share_has_the_closed_form() {
        // All of n kept: the lower bound is TAIL^(1/n).
        for rows in [1, 2, 36, 1000] {
            let expected = TAIL.powf(1.0 / rows as f64);
            assert!((clopper_pearson(rows, rows).low - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn tails_equal_the_sum() {
        let choose = |n: u64, k: u64| (1..=k).fold(1.0, |product, i| product * (n + 1 - i) as f64 / i as f64);
        for rows in 1..12 {
            for share in [0.01, 0.3, 0.5, 0.995] {
                let term =
                    |k: u64| choose(rows, k) * f64::powi(share, k as i32) * f64::powi(1.0 - share, (rows - k) as i32);
                for count in 0..=rows {
                    let sum: f64 = (0..=count).map(term).sum();
                    assert!((binomial_at_most(count, rows, share) - sum).abs() < 1e-12, "{count} of {rows} at {share}");
                }
            }
        }
    }
}
