//! Every choice of a miner, with the paper's thresholds as defaults.

use std::fmt;

use chimera_data::dataset::assign::DEFAULT_SEED;
use chimera_data::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::evidence::Evidence;
use super::shape::{Pattern, Shape, Side};

/// The least number of rows that a rule must apply to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Support {
    /// A number of rows.
    Rows(u64),
    /// A share of the rows that are mined.
    Share(f64),
}

impl Support {
    /// Reads a share (`0.05`) or a number of rows (`200`).
    ///
    /// # Errors
    /// What is expected.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let expected = || "expected a share such as 0.05, or a number of rows such as 200".to_owned();
        match text.parse::<u64>() {
            Ok(0) => Err(expected()),
            Ok(rows) => Ok(Self::Rows(rows)),
            Err(_) => {
                let share = text.parse().ok().filter(|share: &f64| *share > 0.0 && *share <= 1.0);
                share.map(Self::Share).ok_or_else(expected)
            }
        }
    }

    /// The least number of rows among `rows` of `all`, at least 1. A number of rows is asked of all of them, so it is asked of a
    /// part in proportion.
    #[must_use]
    pub fn least(self, rows: usize, all: usize) -> u64 {
        let least = match self {
            Self::Share(share) => share * rows as f64,
            Self::Rows(least) => least as f64 * rows as f64 / all.max(1) as f64,
        };
        // A share is a number that was written in decimals: what it misses a whole number by is not meant.
        ((least - 1e-9).ceil() as u64).max(1)
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows(rows) => write!(f, "{rows}"),
            // With its point, or 1.0 would be read as one row.
            Self::Share(share) => write!(f, "{share:?}"),
        }
    }
}

/// What rules are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rank {
    /// The lower bound of the confidence: many rows and hardly a violation.
    Bound,
    /// How much more often the rule is kept than by chance.
    Lift,
}

/// What becomes of rules that labels can never break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Definitions {
    /// They are left out, with the reason.
    Drop,
    /// They are mined like others.
    Keep,
}

/// Every choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MineOptions {
    /// Rows that a rule applies to, at least; default 5 %.
    pub support: Support,
    /// The confidence of `a => b`, at least; default 0.995.
    pub confidence_pos: f64,
    /// The share of rows with `b` among those with `a`, at most, for `a => !b`; default 0.005.
    pub confidence_neg: f64,
    /// Rules, at most; default 25.
    pub max_rules: usize,
    /// Which patterns; default all.
    pub families: Vec<Pattern>,
    /// What they are ranked by; default the bound.
    pub rank: Rank,
    /// The share of false rules among those that pass the tests, at most, on average; default 0.05.
    pub fdr: f64,
    /// The share of the train rows that is kept from the search to confirm rules on; default 0.3, 0 for none.
    pub holdout: f64,
    /// What becomes of rules that labels can never break; default left out.
    pub definitions: Definitions,
    /// Candidates of each kind that are kept while searching; default 100,000.
    pub max_candidates: usize,
    /// Decides which rows are held out; default 123.
    pub seed: u64,
}

impl Default for MineOptions {
    fn default() -> Self {
        Self {
            support: Support::Share(0.05),
            confidence_pos: 0.995,
            confidence_neg: 0.005,
            max_rules: 25,
            families: Pattern::ALL.to_vec(),
            rank: Rank::Bound,
            fdr: 0.05,
            holdout: 0.3,
            definitions: Definitions::Drop,
            max_candidates: 100_000,
            seed: DEFAULT_SEED,
        }
    }
}

impl MineOptions {
    /// The paper's thresholds for Open Images: 200 images and a confidence of 0.99.
    #[must_use]
    pub fn openimages() -> Self {
        Self { support: Support::Rows(200), confidence_pos: 0.99, confidence_neg: 0.01, ..Self::default() }
    }

    /// Refuses what cannot be meant.
    ///
    /// # Errors
    /// The first option out of range, with the range.
    pub fn check(&self) -> Result<()> {
        let refused = |option: &str, range: &str, got: String| {
            Err(Error::input(format!("expected {option} {range}, got {got}"), None))
        };
        match self {
            Self { support: Support::Share(share), .. } if !(*share > 0.0 && *share <= 1.0) => {
                refused("a support", "above 0, and at most 1 where it is a share", share.to_string())
            }
            Self { support: Support::Rows(0), .. } => refused("a support", "of at least one row", "0".to_owned()),
            Self { confidence_pos: share, .. } if !(*share > 0.5 && *share <= 1.0) => {
                refused("`--confidence-pos`", "above 0.5, and at most 1", share.to_string())
            }
            Self { confidence_neg: share, .. } if !(*share >= 0.0 && *share < 0.5) => {
                refused("`--confidence-neg`", "from 0 to below 0.5", share.to_string())
            }
            Self { fdr: rate, .. } if !(*rate > 0.0 && *rate < 1.0) => {
                refused("`--fdr`", "above 0 and below 1", rate.to_string())
            }
            Self { holdout: share, .. } if !(*share >= 0.0 && *share <= 0.9) => {
                refused("`--holdout`", "from 0 to 0.9", share.to_string())
            }
            Self { max_rules: 0, .. } => refused("`--max-rules`", "of at least 1", "0".to_owned()),
            Self { max_candidates: 0, .. } => refused("`--max-candidates`", "of at least 1", "0".to_owned()),
            Self { families, .. } if families.is_empty() => refused("a family", "at least", "none".to_owned()),
            _ => Ok(()),
        }
    }

    /// Whether a pattern is wanted.
    #[must_use]
    pub fn wants(&self, pattern: Pattern) -> bool {
        self.families.contains(&pattern)
    }

    /// The confidence that a rule needs: by `--confidence-pos` where it demands concepts, by `--confidence-neg` where it forbids
    /// them, by the smaller of both where it does both.
    #[must_use]
    pub(crate) fn least_confidence(&self, shape: Shape) -> f64 {
        let demands = |negated: bool| {
            let sides = shape.sides();
            sides.iter().any(|(literal, side)| *side == Side::Then && literal.negated == negated)
        };
        let (pos, neg) = (self.confidence_pos, 1.0 - self.confidence_neg);
        match (demands(false), demands(true)) {
            (true, true) => pos.min(neg),
            (false, true) => neg,
            (_, false) => pos,
        }
    }

    /// Whether rows speak for a rule clearly enough: few enough of those that it applies to break it.
    #[must_use]
    pub(crate) fn is_confident(&self, shape: Shape, evidence: &Evidence) -> bool {
        // 1 - 0.18 is a little more than 0.82; what it misses that by is not meant.
        evidence.confidence().is_some_and(|confidence| confidence >= self.least_confidence(shape) - 1e-12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Literal;

    #[test]
    fn support_is_a_share_or_a_number_of_rows() {
        assert_eq!(Support::parse("0.05"), Ok(Support::Share(0.05)));
        assert_eq!(Support::parse("1.0"), Ok(Support::Share(1.0)));
        assert_eq!(Support::parse("1"), Ok(Support::Rows(1)));
        for wrong in ["0", "-1", "1.5", "0.0", "nan", "five", ""] {
            assert!(Support::parse(wrong).is_err(), "{wrong}");
        }
        for support in [Support::Rows(1), Support::Share(1.0), Support::Share(0.05)] {
            assert_eq!(Support::parse(&support.to_string()), Ok(support));
        }
        // 5 % of 720 is 36, whatever floating point makes of it; 200 of 1000 rows are 140 of 700.
        assert_eq!(Support::Share(0.05).least(720, 1000), 36);
        assert_eq!(Support::Share(0.05).least(721, 1000), 37);
        assert_eq!(Support::Rows(200).least(700, 1000), 140);
        assert_eq!(Support::Share(0.001).least(10, 10), 1);
    }

    #[test]
    fn confidence_is_asked_for_by_what_a_rule_demands() {
        let options = MineOptions { confidence_pos: 0.9, confidence_neg: 0.05, ..MineOptions::default() };
        let evidence = |kept: u64| Evidence { support: 100, kept, lift: None, tests: Vec::new() };
        let (implies, excludes) = (Shape::Pair(0, Literal::holds(1)), Shape::Pair(0, Literal::fails(1)));
        let confident = |shape, kept| options.is_confident(shape, &evidence(kept));
        assert!(confident(implies, 90) && !confident(implies, 89));
        assert!(confident(excludes, 95) && !confident(excludes, 94));
        assert!(confident(Shape::Both(0, [Literal::holds(1), Literal::fails(2)]), 90));
        assert!(!options.is_confident(implies, &Evidence { support: 0, ..evidence(0) }));
        let mixed = Shape::Both(0, [Literal::holds(1), Literal::fails(2)]);
        for (pos, neg) in [(0.9, 0.05), (0.98, 0.1)] {
            let options = MineOptions { confidence_pos: pos, confidence_neg: neg, ..MineOptions::default() };
            let forbids = 1.0 - neg;
            for (shape, least) in [
                (implies, pos),
                (Shape::Or(0, [1, 2]), pos),
                (Shape::Iff([0, 1]), pos),
                (excludes, forbids),
                (Shape::And([0, 1], Literal::fails(2)), forbids),
                (Shape::Both(0, [Literal::fails(1), Literal::fails(2)]), forbids),
                (mixed, pos.min(forbids)),
                (Shape::Chain(0, 1, Literal::fails(2)), pos.min(forbids)),
            ] {
                assert_eq!(options.least_confidence(shape), least, "{shape:?}");
            }
        }
        // In floating point 1 - 0.18 is more than 0.82, and 1 - 0.07 less than 0.93.
        for (neg, kept) in [(0.1, 90), (0.18, 82), (0.07, 93)] {
            let options = MineOptions { confidence_neg: neg, ..MineOptions::default() };
            assert!(options.is_confident(excludes, &evidence(kept)), "{neg}");
            assert!(!options.is_confident(excludes, &evidence(kept - 1)), "{neg}");
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_range() {
        let with = MineOptions::default;
        assert!(with().check().is_ok() && MineOptions::openimages().check().is_ok());
        for (wrong, word) in [
            (MineOptions { support: Support::Share(0.0), ..with() }, "a support"),
            (MineOptions { support: Support::Rows(0), ..with() }, "a support"),
            (MineOptions { confidence_pos: 0.5, ..with() }, "`--confidence-pos`"),
            (MineOptions { confidence_neg: f64::NAN, ..with() }, "`--confidence-neg`"),
            (MineOptions { fdr: 0.0, ..with() }, "`--fdr`"),
            (MineOptions { holdout: 1.0, ..with() }, "`--holdout`"),
            (MineOptions { max_rules: 0, ..with() }, "`--max-rules`"),
            (MineOptions { max_candidates: 0, ..with() }, "`--max-candidates`"),
            (MineOptions { families: Vec::new(), ..with() }, "a family"),
        ] {
            let error = wrong.check().unwrap_err().to_string();
            assert!(error.starts_with(&format!("expected {word}")), "{error}");
        }
    }
}
