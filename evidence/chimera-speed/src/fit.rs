//! How a time grows with a size: the exponent of a power law, by least squares on logarithms.

/// A power law `seconds = factor * size ^ exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PowerLaw {
    pub(super) exponent: f64,
    pub(super) factor: f64,
}

/// The power law nearest to points of size and seconds; `None` for fewer than two different sizes, or where a number is not
/// positive.
pub(super) fn power_law(points: &[(f64, f64)]) -> Option<PowerLaw> {
    if points.iter().any(|(size, seconds)| !(*size > 0.0 && *seconds > 0.0)) {
        return None;
    }
    let logarithms: Vec<(f64, f64)> = points.iter().map(|(size, seconds)| (size.ln(), seconds.ln())).collect();
    let count = logarithms.len() as f64;
    let mean_x = logarithms.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logarithms.iter().map(|(_, y)| y).sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let products: f64 = logarithms.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let exponent = products / squares;
    (squares > 0.0).then(|| PowerLaw { exponent, factor: (mean_y - exponent * mean_x).exp() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_law_is_found_again() {
        let points: Vec<(f64, f64)> = [8.0, 16.0, 32.0, 64.0].map(|size: f64| (size, 3.0 * size.powf(1.25))).to_vec();
        let law = power_law(&points).unwrap();
        assert!((law.exponent - 1.25).abs() < 1e-12 && (law.factor - 3.0).abs() < 1e-10, "{law:?}");
    }

    #[test]
    fn least_squares_have_a_closed_form() {
        // Logarithms (0, 0), (1, 2), (2, 1): the slope is sum (x - 1)(y - 1) / sum (x - 1)^2 = (1 + 0 + 0) / 2.
        let points = [(0.0, 0.0), (1.0, 2.0), (2.0, 1.0)].map(|(x, y): (f64, f64)| (x.exp(), y.exp()));
        let law = power_law(&points).unwrap();
        assert!((law.exponent - 0.5).abs() < 1e-12, "{law:?}");
        // The line goes through the means (1, 1): its height at 0 is a half.
        assert!((law.factor - 0.5_f64.exp()).abs() < 1e-12, "{law:?}");
    }

    #[test]
    fn what_says_nothing_is_not_fitted() {
        assert_eq!(power_law(&[]), None);
        assert_eq!(power_law(&[(2.0, 1.0), (2.0, 3.0)]), None);
        assert_eq!(power_law(&[(1.0, 1.0), (2.0, 0.0)]), None);
    }
}
