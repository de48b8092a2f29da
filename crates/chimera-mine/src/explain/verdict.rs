//! What became of a rule that could be mined: whether it was chosen, or which test it fails, in the order in which they are made.

use chimera_logic::bits::TruthTable;

use crate::confirm::{Confirmation, LEVEL};
use crate::evidence::Evidence;
use crate::outcome::{Kind, Mining};
use crate::parts::Parts;
use crate::rounding::down;
use crate::shape::{Literal, Pattern, Shape};

/// What a rule is held against.
pub(super) struct Verdict<'a> {
    pub(super) mining: &'a Mining,
    pub(super) parts: &'a Parts,
    pub(super) concepts: &'a [String],
}

impl Verdict<'_> {
    /// What became of a rule, and its p-value with all tests taken into account, where it passed them.
    pub(super) fn of(&self, shape: Shape) -> (String, Option<f64>) {
        if let Some(rule) = self.mining.rules.iter().find(|rule| rule.shape.says_same(shape)) {
            let (name, formula) = (&rule.name, &rule.formula);
            let words = match rule.shape == shape {
                true => format!("it is mined, as `{name}`"),
                false => format!("it says the same as `{formula}`, which is mined as `{name}`"),
            };
            return (words, Some(rule.p_adjusted));
        }
        if let Some(left_out) = self.mining.skipped.iter().find(|left_out| left_out.shape.says_same(shape)) {
            return (format!("it is not mined: {}", left_out.reason), Some(left_out.p_adjusted));
        }
        let pattern = shape.pattern();
        let reason = match self.meant(shape) {
            Some(reason) => reason,
            None if !self.mining.record.options.wants(pattern) => format!("`--families` does not ask for `{pattern}`"),
            None => self.why_not(shape).unwrap_or_else(|| beyond_tests(shape).to_owned()),
        };
        (format!("it is not mined: {reason}"), None)
    }

    /// Why labels can never break a rule.
    fn meant(&self, shape: Shape) -> Option<String> {
        let meant = self.mining.meant.iter().find(|meant| meant.shape == shape)?;
        Some(format!("it always holds, since {}", meant.promise.reason()))
    }

    /// The first test that a rule fails.
    fn why_not(&self, shape: Shape) -> Option<String> {
        let constant = shape.concepts().into_iter().find_map(|concept| {
            self.mining.constant.iter().find(|constant| constant.concept == self.concepts[concept])
        });
        if let Some(constant) = constant {
            return Some(format!("`{}` {} on the searched rows", constant.concept, constant.what));
        }
        match shape.parts() {
            None => self.searched(shape).or_else(|| self.held_out(shape)).or_else(|| self.train(shape)),
            // What is made of pairs needs both of them, and no test of its own but on all rows.
            Some(parts) => parts.into_iter().find_map(|part| self.of_part(part)).or_else(|| self.train(shape)),
        }
    }

    /// Why a pair makes nothing larger.
    fn of_part(&self, part: Shape) -> Option<String> {
        let reason = self.meant(part).or_else(|| self.why_not(part))?;
        Some(format!("it needs `{}`, of which this is to be said: {reason}", part.formula(self.concepts)))
    }

    fn searched(&self, shape: Shape) -> Option<String> {
        let (options, labels) = (&self.mining.record.options, &self.parts.searched);
        let evidence = Evidence::of(shape, labels);
        let least = options.support.least(labels.rows(), self.parts.train.rows());
        let too_likely = |&p: &f64| evidence.p() > p;
        match () {
            () if evidence.support < least => Some(format!(
                "it applies to {} searched rows, and {least} are asked for (`--support`)",
                evidence.support
            )),
            () if !options.is_confident(shape, &evidence) => {
                let confidence = down(evidence.confidence().unwrap_or(0.0));
                let (pos, neg) = (options.confidence_pos, options.confidence_neg);
                Some(format!(
                    "{confidence:.4} of the searched rows that it applies to keep it (`--confidence-pos` {pos}, `--confidence-neg` {neg})"
                ))
            }
            () if let Some(simpler) = self.simpler(shape, labels) => {
                Some(format!("`{}` says more", simpler.formula(self.concepts)))
            }
            () if self.mining.largest_p.get(&Kind::of(shape.pattern())).is_some_and(too_likely) => Some(format!(
                "chance would do as well with probability {:.2e}, too much for so many tests (`--fdr` {})",
                evidence.p(),
                options.fdr
            )),
            () => None,
        }
    }

    /// A part of a compound that is confident alone.
    fn simpler(&self, shape: Shape, labels: &TruthTable) -> Option<Shape> {
        let parts = match shape {
            Shape::And(given, demand) => given.map(|given| Shape::Pair(given, demand)),
            Shape::Or(given, demands) => demands.map(|demand| Shape::Pair(given, Literal::holds(demand))),
            _ => return None,
        };
        let options = &self.mining.record.options;
        parts.into_iter().find(|&part| options.is_confident(part, &Evidence::of(part, labels)))
    }

    fn held_out(&self, shape: Shape) -> Option<String> {
        let labels = self.parts.held_out.as_ref()?;
        let confirmation = Confirmation::of(shape, labels, &self.mining.record.options);
        let Evidence { support, kept, .. } = confirmation.evidence;
        match () {
            () if confirmation.holds() => None,
            () if support == 0 => Some("it applies to no held-out row".to_owned()),
            () if confirmation.violations < LEVEL => {
                Some(format!("{} of {support} held-out rows break it, too many", support - kept))
            }
            () => Some(format!("on held-out rows chance would do as well with probability {:.2}", confirmation.p)),
        }
    }

    fn train(&self, shape: Shape) -> Option<String> {
        let (options, rows) = (&self.mining.record.options, self.parts.train.rows());
        let evidence = Evidence::of(shape, &self.parts.train);
        let least = options.support.least(rows, rows);
        match () {
            () if evidence.support < least => {
                Some(format!("it applies to {} train rows, and {least} are asked for (`--support`)", evidence.support))
            }
            () if !options.is_confident(shape, &evidence) => {
                let confidence = down(evidence.confidence().unwrap_or(0.0));
                Some(format!("{confidence:.4} of all train rows that it applies to keep it, too few"))
            }
            () => None,
        }
    }
}

/// Why a rule that fails no test is not among those that passed.
fn beyond_tests(shape: Shape) -> &'static str {
    match shape.pattern() {
        Pattern::Chain | Pattern::Both => {
            "the rules that it is made of are told one by one: each concept goes into such a rule with its strongest ones alone, and only \
             where neither says the other"
        }
        Pattern::And | Pattern::Or => {
            "there was no room for it (`--max-candidates`), or no time to look at so many (`--families`, `--support`)"
        }
        Pattern::Iff => "there was no room for one of the two rules that it is made of (`--max-candidates`)",
        Pattern::Implies | Pattern::Excludes => "there was no room for it (`--max-candidates`)",
    }
}
