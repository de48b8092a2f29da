//! The default evaluator: gates taught on grafts, and exact counting over heads taught on grafts, halfway between them by their
//! logits. Heads are helped by the leaf bank's, which know less about a concept alone, but are linear and wrong in other ways.
//! Weights are those that did best in the benchmark `quality`, the same for every world (`docs/quality.md`).

use chimera_leaf::calibrate::{Calibration, Method as Calibrated, sigmoid};
use chimera_logic::prob::{Independent, Probabilities};
use chimera_logic::rules::RuleSet;

use super::method::{ByRule, Exact, by_rule};
use crate::gate::grafts::Grafts;
use crate::gate::rules::Root;

/// The weight of a head taught on grafts against the leaf bank's.
const HEADS: f64 = 0.75;

/// The weight of gates against counting.
const GATES: f64 = 0.5;

/// What `neural` needs of a model.
#[derive(Debug)]
pub(super) struct Neural<'a> {
    pub(super) grafts: &'a Grafts,
    exact: Exact,
    /// Where a diagram gets too large, and where grafts cannot be trusted.
    independent: Independent,
    /// Whether grafts can be trusted for each rule.
    trusted: Vec<bool>,
}

impl<'a> Neural<'a> {
    pub(super) fn new(grafts: &'a Grafts, rule_set: &RuleSet) -> Self {
        let roots = rule_set.roots();
        let trusted = |rule: usize| grafts.trust.distrust_of(rule_set, rule).is_none();
        Self {
            grafts,
            exact: Exact::compile(rule_set, &roots.iter().copied().map(Some).collect::<Vec<_>>()),
            independent: Independent::compile(&rule_set.dag, &roots),
            trusted: (0..roots.len()).map(trusted).collect(),
        }
    }

    /// Probabilities of concepts from both kinds of heads, a concept's side by side; the leaf bank's alone where there is no other.
    ///
    /// # Shapes
    /// `heads`: concepts x rows; `bank`: rows x concepts.
    pub(super) fn concepts(&self, calibration: &Calibration, heads: &[f64], bank: &[f32], rows: usize) -> Vec<f64> {
        let concepts = heads.len() / rows.max(1);
        let of = |(concept, row): (usize, usize)| {
            let (slope, intercept) = calibration.line(Calibrated::Platt, concept);
            let bank = slope * f64::from(bank[row * concepts + concept]) + intercept;
            let line = self.grafts.lines[concept].filter(|_| self.grafts.heads.has(concept));
            let Some((slope, intercept)) = line else { return sigmoid(bank) };
            let head = slope * heads[concept * rows + row] + intercept;
            sigmoid(HEADS * head + (1.0 - HEADS) * bank)
        };
        (0..concepts).flat_map(|concept| (0..rows).map(move |row| (concept, row))).map(of).collect()
    }

    /// Takes what is told of rules for which grafts are trusted.
    pub(super) fn take_trusted(&self, of_all: &mut ByRule, told: ByRule) {
        let trusted = of_all.iter_mut().zip(told).zip(&self.trusted).filter(|(_, trusted)| **trusted);
        trusted.for_each(|((old, new), _)| *old = new);
    }

    /// The probability of each rule, from those of concepts by both kinds of heads, by the leaf bank alone, and from gates. On rows
    /// that are `lost` heads cannot tell.
    pub(super) fn rules(
        &self,
        concepts: &Probabilities<'_>,
        calibrated: &Probabilities<'_>,
        gates: &ByRule,
        lost: &[usize],
    ) -> ByRule {
        let rows = concepts.rows();
        let counted = self.exact.evaluate(concepts);
        let product = by_rule(&self.independent.evaluate(concepts), rows);
        let mut p = by_rule(&self.independent.evaluate(calibrated), rows);
        for (rule, p) in p.iter_mut().enumerate().filter(|(rule, _)| self.trusted[*rule]) {
            let has_gate = matches!(self.grafts.gates.roots[rule], Root::Gate(_));
            for (row, p) in p.iter_mut().enumerate() {
                let counted = counted[rule][row].or(product[rule][row]);
                // A rule of one literal has no gate, nor has one that could not be taught.
                *p = if has_gate { counted.zip(gates[rule][row]).map(between) } else { counted };
            }
            lost.iter().for_each(|&row| p[row] = None);
        }
        p
    }
}

/// A probability between that of counting and that of a gate, by their logits.
fn between((counted, gate): (f64, f64)) -> f64 {
    sigmoid((1.0 - GATES) * logit(counted) + GATES * logit(gate))
}

/// The logit of a probability, kept from infinity.
fn logit(p: f64) -> f64 {
    let p = p.clamp(1e-12, 1.0 - 1e-12);
    (p / (1.0 - p)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_is_between() {
        // Logits 2 and -1 by hand: halfway is 0.5, whose probability is 0.6225 (computed elsewhere: 1 / (1 + exp(-0.5))).
        let (high, low) = (sigmoid(2.0), sigmoid(-1.0));
        assert!((between((high, low)) - 0.622_459_331_201_854_6).abs() < 1e-12);
        assert!((between((1.0, 0.0)) - 0.5).abs() < 1e-3 && between((1.0, 1.0)) < 1.0 && between((0.0, 0.0)) > 0.0);
    }
}
