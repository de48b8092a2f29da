//! How badly a rule is broken (the paper's Algorithm 5): `1 - p`, weighted by how likely the antecedent of an implication is.

/// The share of an antecedent's probability that counts: nothing up to `tau`, all of it at 1.
#[must_use]
pub fn gate(antecedent: f64, tau: f64) -> f64 {
    ((antecedent - tau) / (1.0 - tau)).max(0.0)
}

/// The violation score of a rule that holds with probability `p`. Only implications have an antecedent.
#[must_use]
pub fn violation(p: f64, antecedent: Option<f64>, tau: f64) -> f64 {
    antecedent.map_or(1.0, |antecedent| gate(antecedent, tau)) * (1.0 - p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gating_is_the_papers() {
        assert_eq!([gate(0.3, 0.0), gate(0.3, 0.3), gate(0.1, 0.3), gate(1.0, 0.3)], [0.3, 0.0, 0.0, 1.0]);
        assert!((gate(0.65, 0.3) - 0.5).abs() < 1e-12);
        assert!((violation(0.2, Some(0.9), 0.0) - 0.72).abs() < 1e-12);
        assert!((violation(0.2, None, 0.5) - 0.8).abs() < 1e-12);
    }
}
