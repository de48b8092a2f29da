//! One number a sample from the scores of its rules.

use serde::{Deserialize, Serialize};

/// How rules become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// `1 - min p`: the rule that holds least, ungated (the paper's).
    Min,
    /// `max s`: the rule that is broken most, gated.
    #[default]
    Max,
    /// The mean of `s`, by the rules' weights.
    Mean,
    /// `1 - exp(mean ln p)`, by the rules' weights.
    Geo,
    /// `1 - prod (1 - s)^w`: some rule is broken, if they were independent.
    NoisyOr,
    /// The rule that is furthest from what it is on normal samples; fitted to those.
    Learned,
    /// A line through all rules, fitted to samples that break rules (the paper's). It has seen what it is to find.
    LearnedSupervised,
}

impl Aggregation {
    /// Every way, by the names of options.
    pub const ALL: [(&'static str, Self); 7] = [
        ("min", Self::Min),
        ("max", Self::Max),
        ("mean", Self::Mean),
        ("geo", Self::Geo),
        ("noisy-or", Self::NoisyOr),
        ("learned", Self::Learned),
        ("learned-supervised", Self::LearnedSupervised),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, aggregation)| *aggregation == self).map_or("", |(name, _)| name)
    }

    /// The score of a sample by a formula; `None` where no rule can be scored, and for what has to be fitted.
    #[must_use]
    pub fn of(self, rules: &[RuleScore]) -> Option<f64> {
        if rules.is_empty() {
            return None;
        }
        let total: f64 = rules.iter().map(|rule| rule.weight).sum();
        let mean =
            |value: &dyn Fn(&RuleScore) -> f64| rules.iter().map(|rule| rule.weight * value(rule)).sum::<f64>() / total;
        Some(match self {
            Self::Learned | Self::LearnedSupervised => return None,
            Self::Min => 1.0 - rules.iter().map(|rule| rule.p).fold(1.0, f64::min),
            Self::Max => rules.iter().map(|rule| rule.s).fold(0.0, f64::max),
            Self::Mean => mean(&|rule| rule.s),
            // A probability of zero is a logarithm of minus infinity, and a score of 1.
            Self::Geo => 1.0 - mean(&|rule| rule.p.ln()).exp(),
            // Through logarithms: a product of many small numbers would round the result to 1.
            Self::NoisyOr => -rules.iter().map(|rule| rule.weight * (-rule.s).ln_1p()).sum::<f64>().exp_m1(),
        })
    }
}

/// What aggregation sees of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuleScore {
    /// Its number.
    pub rule: usize,
    /// The probability that it holds.
    pub p: f64,
    /// How badly it is broken, gated.
    pub s: f64,
    /// Its weight.
    pub weight: f64,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn sums_done_by_hand() {
        let rules =
            [RuleScore { rule: 0, p: 0.9, s: 0.05, weight: 1.0 }, RuleScore { rule: 1, p: 0.4, s: 0.6, weight: 3.0 }];
        let expected = [
            (Aggregation::Min, 0.6),
            (Aggregation::Max, 0.6),
            (Aggregation::Mean, (0.05 + 1.8) / 4.0),
            // 1 - 0.9^(1/4) 0.4^(3/4)
            (Aggregation::Geo, 1.0 - 0.974_003_746_425_296_8 * 0.502_973_371_873_114_9),
            // 1 - 0.95 * 0.4^3
            (Aggregation::NoisyOr, 1.0 - 0.95 * 0.064),
        ];
        for (aggregation, expected) in expected {
            let found = aggregation.of(&rules).unwrap();
            assert!((found - expected).abs() < 1e-12, "{aggregation:?}: {found} {expected}");
            assert_eq!(aggregation.of(&[]), None);
        }
        let broken = [RuleScore { rule: 0, p: 0.0, s: 1.0, weight: 1.0 }];
        assert!(expected.iter().all(|(aggregation, _)| aggregation.of(&broken) == Some(1.0)));
    }
}
