//! Local search for an assignment that breaks one rule and keeps all others: proof that the rule does not follow from them.
//! It finds one for almost every rule in a few dozen flips, which leaves the solver the rules that do follow.

use crate::dag::{Dag, Edge, Node};
use crate::vocabulary::ConceptId;

/// Ways to break the rule that are tried.
const STARTS: usize = 8;

/// Assignments of a rule's own concepts that are looked through for ways to break it.
const OWN_ASSIGNMENTS: usize = 64;

pub(super) struct Search<'a> {
    dag: &'a Dag,
    roots: &'a [Edge],
    /// The concepts of each rule.
    concepts: Vec<Vec<usize>>,
    /// The rules of each concept.
    rules: Vec<Vec<usize>>,
    /// An assignment that keeps every rule.
    model: Vec<bool>,
    values: Vec<bool>,
    /// Concepts that are not flipped any more: those of the rule, and each one after its flip, so that the search ends.
    frozen: Vec<bool>,
    /// The rules that the current assignment breaks.
    broken: Vec<usize>,
}

impl<'a> Search<'a> {
    /// `holds` is an assignment that keeps every rule.
    pub(super) fn new(dag: &'a Dag, roots: &'a [Edge], holds: impl Fn(ConceptId) -> bool) -> Self {
        let count = dag.vocabulary().len();
        let model: Vec<bool> = (0..count as u32).map(|concept| holds(ConceptId(concept))).collect();
        let concepts: Vec<_> = roots.iter().map(|&root| concepts_of(dag, root)).collect();
        let mut rules = vec![Vec::new(); count];
        for (rule, concepts) in concepts.iter().enumerate() {
            concepts.iter().for_each(|&concept| rules[concept].push(rule));
        }
        Self {
            dag,
            roots,
            concepts,
            rules,
            values: model.clone(),
            model,
            frozen: vec![false; count],
            broken: Vec::new(),
        }
    }

    /// Whether an assignment was found that breaks this rule alone. `false` proves nothing.
    pub(super) fn breaks_alone(&mut self, rule: usize) -> bool {
        let own = self.concepts[rule].clone();
        let mut starts = 0;
        for code in 1..OWN_ASSIGNMENTS.min(1 << own.len().min(30)) {
            self.values.clone_from(&self.model);
            // Few flips first: the codes of binary counting touch the first concepts most, which is as good as any.
            own.iter().enumerate().for_each(|(at, &concept)| self.values[concept] ^= at < 6 && code >> at & 1 == 1);
            if self.holds(rule) {
                continue;
            }
            if self.mend(rule, &own) {
                return true;
            }
            starts += 1;
            if starts == STARTS {
                break;
            }
        }
        false
    }

    /// Flips concepts outside the rule until all others hold, or gives up.
    fn mend(&mut self, rule: usize, own: &[usize]) -> bool {
        self.frozen.fill(false);
        own.iter().for_each(|&concept| self.frozen[concept] = true);
        let mut touched: Vec<usize> = own.iter().flat_map(|&concept| self.rules[concept].iter().copied()).collect();
        touched.sort_unstable();
        touched.dedup();
        self.broken = touched.into_iter().filter(|&other| other != rule && !self.holds(other)).collect();
        while let Some(&target) = self.broken.last() {
            let Some(concept) = self.best_flip(target) else { return false };
            self.frozen[concept] = true;
            self.flip(concept, rule);
        }
        true
    }

    /// The concept of a broken rule whose flip mends it and breaks the fewest others.
    fn best_flip(&mut self, target: usize) -> Option<usize> {
        let mut best = None;
        for at in 0..self.concepts[target].len() {
            let concept = self.concepts[target][at];
            if self.frozen[concept] {
                continue;
            }
            self.values[concept] = !self.values[concept];
            if self.holds(target) {
                let broken = self.rules[concept].iter().filter(|&&other| !self.holds(other)).count();
                if best.is_none_or(|(fewest, _)| broken < fewest) {
                    best = Some((broken, concept));
                }
            }
            self.values[concept] = !self.values[concept];
        }
        best.map(|(_, concept)| concept)
    }

    fn flip(&mut self, concept: usize, rule: usize) {
        self.values[concept] = !self.values[concept];
        let rules = &self.rules[concept];
        let broken: Vec<_> = rules.iter().copied().filter(|&other| other != rule && !self.holds(other)).collect();
        self.broken.retain(|broken| !rules.contains(broken));
        self.broken.extend(broken);
    }

    fn holds(&self, rule: usize) -> bool {
        truth(self.dag, self.roots[rule], &self.values)
    }
}

fn truth(dag: &Dag, edge: Edge, values: &[bool]) -> bool {
    use crate::syntax::Op;
    let value = match dag.node(edge.node()) {
        Node::Leaf(concept) => values[concept.index()],
        Node::Gate(op, operands) => {
            let mut truths = operands.iter().map(|&operand| truth(dag, operand, values));
            match op {
                Op::And => truths.all(|value| value),
                Op::Or => truths.any(|value| value),
                Op::Implies => truths.next() == Some(false) || truths.next() == Some(true),
                Op::Iff => truths.next().is_none_or(|first| truths.all(|value| value == first)),
            }
        }
    };
    value != edge.is_negated()
}

/// The concepts under a reference, by number.
pub(super) fn concepts_of(dag: &Dag, edge: Edge) -> Vec<usize> {
    let leaf = |id| match dag.node(id) {
        Node::Leaf(concept) => Some(concept.index()),
        Node::Gate(..) => None,
    };
    let mut concepts: Vec<_> = dag.cone(&[edge]).into_iter().filter_map(leaf).collect();
    concepts.sort_unstable();
    concepts
}
