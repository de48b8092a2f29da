//! Exact probabilities of formulas under independent concepts: the weighted model count over a decision diagram.
//!
//! The diagram is written out as a list of decisions, children first, without negations on edges. Every decision then
//! is `p high + (1 - p) low`, a sum of positive terms: no cancellation, however small the probability. A negation costs
//! at most a second copy of a node.

use indexmap::IndexMap;

use crate::bdd::Diagrams;
use crate::bdd::apply::Diagram;
use crate::prob::{BLOCK, Probabilities};
use crate::slots;
use crate::vocabulary::ConceptId;

/// What a decision leads to: the number of the constant false, of the constant true, or 2 + the number of a decision.
pub(crate) type Target = usize;
/// The constant false.
pub(crate) const FALSE: Target = 0;
/// The constant true.
pub(crate) const TRUE: Target = 1;
const CONSTANTS: usize = 2;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub(crate) concept: ConceptId,
    pub(crate) low: Target,
    pub(crate) high: Target,
}

/// Some functions as decisions, ready for counting, most probable worlds and repair. Made by
/// [`Diagrams::circuit`](crate::bdd::Diagrams::circuit); stands on its own.
#[derive(Clone, Debug)]
pub struct Circuit {
    pub(crate) decisions: Vec<Decision>,
    pub(crate) roots: Vec<Target>,
    /// The buffer of each decision when rows are done in blocks.
    slot_of: Vec<usize>,
    slots: usize,
    /// Columns that a table of probabilities must have.
    concepts: usize,
}

impl Circuit {
    pub(crate) fn extract(diagrams: &Diagrams<'_>, roots: &[Diagram]) -> Self {
        let mut numbers = IndexMap::from([(Diagram::FALSE, FALSE), (Diagram::TRUE, TRUE)]);
        let mut decisions: Vec<Decision> = Vec::new();
        let mut pending: Vec<Diagram> = roots.iter().rev().copied().collect();
        while let Some(&f) = pending.last() {
            let known = |f: Diagram| numbers.get(&f).copied();
            if let (None, Some(&concept)) = (known(f), diagrams.concept(f)) {
                let (low, high) = diagrams.branches(f);
                let (Some(low), Some(high)) = (known(low), known(high)) else {
                    pending.extend([high, low].into_iter().filter(|&child| known(child).is_none()));
                    continue;
                };
                numbers.insert(f, CONSTANTS + decisions.len());
                decisions.push(Decision { concept, low, high });
            }
            pending.pop();
        }
        let (slot_of, slots) = slots::assign(decisions.len(), |at| {
            let Decision { low, high, .. } = decisions[at];
            [low, high].into_iter().filter_map(|target| target.checked_sub(CONSTANTS))
        });
        let concepts = decisions.iter().map(|decision| decision.concept.index() + 1).max().unwrap_or(0);
        let roots = roots.iter().filter_map(|root| numbers.get(root).copied()).collect();
        Self { decisions, roots, slot_of, slots, concepts }
    }

    /// Number of decisions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Whether all functions are constants.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// The decisions, children first: a concept, and what follows where it is not shown and where it is. What follows is 0 for false,
    /// 1 for true, and 2 and the number of a decision.
    pub fn decisions(&self) -> impl Iterator<Item = (ConceptId, [usize; 2])> {
        self.decisions.iter().map(|decision| (decision.concept, [decision.low, decision.high]))
    }

    /// Where each function begins, in the same numbers.
    #[must_use]
    pub fn roots(&self) -> &[usize] {
        &self.roots
    }

    /// The exact probability of each function on each row, concepts being independent.
    ///
    /// # Shapes
    ///
    /// `[concepts x rows]` -> `[functions x rows]`, a function's values of all rows side by side.
    ///
    /// # Panics
    ///
    /// If the table lacks the column of a concept.
    #[must_use]
    pub fn evaluate(&self, probabilities: &Probabilities<'_>) -> Vec<f64> {
        assert!(self.concepts <= probabilities.concepts(), "the table has a column for each concept");
        let rows = probabilities.rows();
        let mut result = vec![0.0; self.roots.len() * rows];
        let mut outputs: Vec<(Target, usize)> = self.roots.iter().copied().zip(0..).collect();
        outputs.sort_unstable();
        // The constants have buffers too: a decision then is the same few instructions, whatever it leads to.
        let mut slots = vec![vec![0.0; BLOCK.min(rows)]; CONSTANTS + self.slots];
        slots[TRUE].fill(1.0);
        for start in (0..rows).step_by(BLOCK) {
            let window = start..(start + BLOCK).min(rows);
            let mut pending = outputs.iter().peekable();
            for target in 0..CONSTANTS + self.decisions.len() {
                if let Some(decision) = target.checked_sub(CONSTANTS).map(|at| self.decisions[at]) {
                    let mut values = std::mem::take(&mut slots[self.slot(target)]);
                    let p = &probabilities.column(decision.concept)[window.clone()];
                    decide(&mut values, p, &slots[self.slot(decision.low)], &slots[self.slot(decision.high)]);
                    slots[self.slot(target)] = values;
                }
                while let Some((_, column)) = pending.next_if(|(root, _)| *root == target) {
                    let values = &slots[self.slot(target)][..window.len()];
                    result[column * rows..][window.clone()].copy_from_slice(values);
                }
            }
        }
        result
    }

    fn slot(&self, target: Target) -> usize {
        target.checked_sub(CONSTANTS).map_or(target, |at| CONSTANTS + self.slot_of[at])
    }
}

fn decide(values: &mut [f64], p: &[f64], low: &[f64], high: &[f64]) {
    for (((value, p), low), high) in values.iter_mut().zip(p).zip(low).zip(high) {
        *value = p * high + (1.0 - p) * low;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bdd::Limits;
    use crate::load::load_text;
    use crate::vocabulary::Vocabulary;

    fn exact(formulas: &[&str], values: &[f64], rows: usize) -> Vec<f64> {
        let text: String = formulas.iter().enumerate().map(|(at, formula)| format!("r{at}: {formula}\n")).collect();
        let names = ["a", "b", "c"].map(str::to_owned);
        let rule_set = load_text("t", &text, Vocabulary::closed(names, "a test")).rule_set;
        let mut diagrams = Diagrams::new(&rule_set.dag, &rule_set.roots(), Limits::default());
        let roots: Vec<_> = rule_set.rules.iter().map(|rule| diagrams.compile(rule.root).unwrap()).collect();
        diagrams.circuit(&roots).evaluate(&Probabilities::new(values, 3, rows).unwrap())
    }

    #[test]
    fn a_concept_that_occurs_twice_is_one_event() {
        let (a, b, c) = (0.3, 0.8, 0.45);
        for (formula, expected) in [
            ("a <=> !a", 0.0),
            ("a & !a", 0.0),
            ("a | !a", 1.0),
            ("a <=> a", 1.0),
            ("a & a", a),
            ("a | a", a),
            ("!a & !a", 1.0 - a),
        ] {
            assert_eq!(exact(&[formula], &[a, b, c], 1)[0].to_bits(), f64::to_bits(expected), "{formula}, exactly");
        }
        for (formula, expected) in [
            ("a <=> b <=> c", a * b * c + (1.0 - a) * (1.0 - b) * (1.0 - c)),
            // a and b and not c, or c and not both: (a b) xor c.
            ("(a & b) <=> !c", a * b * (1.0 - c) + (1.0 - a * b) * c),
            // Both sides need a; given a, b or c suffices.
            ("(a & b) | (a & c)", a * (b + c - b * c)),
            // Fails where a and not b, or b and not c: exclusive events.
            ("(a => b) & (b => c)", 1.0 - a * (1.0 - b) - b * (1.0 - c)),
        ] {
            assert!((exact(&[formula], &[a, b, c], 1)[0] - expected).abs() < 1e-15, "{formula}");
        }
    }

    #[test]
    fn tiny_probabilities_keep_their_digits() {
        let tiny = 1e-30;
        let got = exact(&["!(!a | !b | c)"], &[tiny, tiny, 0.5], 1)[0];
        // a b (1 - c)
        assert!((got / (tiny * tiny * 0.5) - 1.0).abs() < 1e-15, "{got}");
    }

    #[test]
    fn a_batch_is_its_samples() {
        let formulas = ["(a | b) => c", "!((a | b) <=> (b & c) <=> !a)", "a", "!b", "a | !a", "c & !c", "a"];
        for rows in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 17] {
            let mut random = fastrand::Rng::with_seed(7);
            let values: Vec<f64> = (0..3 * rows).map(|_| random.f64()).collect();
            let batch = exact(&formulas, &values, rows);
            for row in 0..rows {
                let sample: Vec<f64> = (0..3).map(|concept| values[concept * rows + row]).collect();
                let together: Vec<_> = (0..formulas.len()).map(|root| batch[root * rows + row]).collect();
                assert_eq!(exact(&formulas, &sample, 1), together);
            }
        }
    }
}
