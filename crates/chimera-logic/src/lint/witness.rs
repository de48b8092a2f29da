//! Local search for an assignment that breaks one rule and keeps all others: proof that the rule does not follow from them.
//! It finds one for almost every rule in a few dozen flips, which leaves the solver the rules that do follow.

use crate::dag::{Dag, Edge, Node};
use crate::truth;
use crate::vocabulary::ConceptId;

/// Ways to break a rule that are tried from each assignment.
const STARTS: usize = 8;

/// Assignments of a rule's own concepts that are looked through for ways to break it.
const OWN_ASSIGNMENTS: u64 = 64;

/// Rules that may be looked at for one rule, and for all of them together.
const LOOKS: usize = 20_000;
const ALL_LOOKS: usize = 10_000_000;

pub(super) struct Search<'a> {
    dag: &'a Dag,
    roots: &'a [Edge],
    /// The concepts of each rule.
    concepts: Vec<Vec<usize>>,
    /// The rules of each concept.
    rules: Vec<Vec<usize>>,
    /// Assignments that keep every rule: the one given, and the last one found on the way.
    models: Vec<Vec<bool>>,
    values: Vec<bool>,
    /// Concepts that are not flipped any more: those of the rule, and each one after its flip, so that the search ends.
    frozen: Vec<bool>,
    /// Rules that the current assignment breaks, or broke before a later flip.
    broken: Vec<usize>,
    looks: usize,
    all_looks: usize,
}

impl<'a> Search<'a> {
    /// `keeps` is an assignment that keeps every rule.
    pub(super) fn new(dag: &'a Dag, roots: &'a [Edge], keeps: impl Fn(ConceptId) -> bool) -> Self {
        let count = dag.vocabulary().len();
        let model: Vec<bool> = (0..count as u32).map(|concept| keeps(ConceptId(concept))).collect();
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
            models: vec![model],
            frozen: vec![false; count],
            broken: Vec::new(),
            looks: 0,
            all_looks: 0,
        }
    }

    /// Whether an assignment was found that breaks this rule alone. `false` proves nothing.
    pub(super) fn breaks_alone(&mut self, rule: usize) -> bool {
        self.looks = 0;
        let found = (0..self.models.len()).rev().any(|model| self.breaks_alone_near(rule, model));
        self.all_looks += self.looks;
        if found {
            self.keep_neighbour(rule);
        }
        found
    }

    fn breaks_alone_near(&mut self, rule: usize, model: usize) -> bool {
        let own = self.concepts[rule].clone();
        let mut starts = 0;
        for code in 1..OWN_ASSIGNMENTS {
            if self.is_exhausted() || starts == STARTS || (own.len() < 6 && code >> own.len() > 0) {
                return false;
            }
            self.values.clone_from(&self.models[model]);
            let flipped: Vec<usize> =
                (0..own.len()).filter(|&at| flips(code, at, own.len())).map(|at| own[at]).collect();
            flipped.iter().for_each(|&concept| self.values[concept] = !self.values[concept]);
            if !self.holds(rule) {
                starts += 1;
                if self.mend(rule, &own, &flipped) {
                    return true;
                }
            }
        }
        false
    }

    fn is_exhausted(&self) -> bool {
        self.looks > LOOKS || self.all_looks + self.looks > ALL_LOOKS
    }

    /// Flips concepts outside the rule until all others hold, or gives up.
    fn mend(&mut self, rule: usize, own: &[usize], flipped: &[usize]) -> bool {
        self.frozen.fill(false);
        self.broken.clear();
        own.iter().for_each(|&concept| self.frozen[concept] = true);
        flipped.iter().for_each(|&concept| self.note_broken(concept, rule));
        while let Some(target) = self.broken.pop() {
            if self.holds(target) {
                continue;
            }
            let Some(concept) = self.best_flip(target, rule).filter(|_| !self.is_exhausted()) else { return false };
            self.frozen[concept] = true;
            self.values[concept] = !self.values[concept];
            self.note_broken(concept, rule);
        }
        true
    }

    /// Notes the rules of a concept that the current assignment breaks, but for the one that is to be broken.
    fn note_broken(&mut self, concept: usize, rule: usize) {
        for at in 0..self.rules[concept].len() {
            let other = self.rules[concept][at];
            if other != rule && !self.holds(other) {
                self.broken.push(other);
            }
        }
    }

    /// The concept of a broken rule whose flip mends it and breaks the fewest others.
    fn best_flip(&mut self, target: usize, rule: usize) -> Option<usize> {
        let mut best = None;
        for at in 0..self.concepts[target].len() {
            let concept = self.concepts[target][at];
            if self.frozen[concept] {
                continue;
            }
            self.values[concept] = !self.values[concept];
            if self.holds(target) {
                let broken = self.count_broken(concept, rule);
                if best.is_none_or(|(fewest, _)| broken < fewest) {
                    best = Some((broken, concept));
                }
            }
            self.values[concept] = !self.values[concept];
        }
        best.map(|(_, concept)| concept)
    }

    fn count_broken(&mut self, concept: usize, rule: usize) -> usize {
        self.looks += self.rules[concept].len();
        let broken = |&&other: &&usize| other != rule && !self.holds_now(other);
        self.rules[concept].iter().filter(broken).count()
    }

    /// After a find, one flip of the rule's own concepts may give another assignment that keeps every rule: a good place to
    /// start from for the next rule, which is often like this one.
    fn keep_neighbour(&mut self, rule: usize) {
        let mut own = self.concepts[rule].clone();
        own.sort_by_key(|&concept| self.rules[concept].len());
        for concept in own {
            self.values[concept] = !self.values[concept];
            if self.rules[concept].iter().all(|&other| self.holds_now(other)) {
                self.models.truncate(1);
                self.models.push(self.values.clone());
                return;
            }
            self.values[concept] = !self.values[concept];
        }
    }

    fn holds(&mut self, rule: usize) -> bool {
        self.looks += 1;
        self.holds_now(rule)
    }

    fn holds_now(&self, rule: usize) -> bool {
        truth::holds(self.dag, self.roots[rule], &|concept: ConceptId| self.values[concept.index()])
    }
}

/// Which of a rule's concepts the tried assignment of a number flips: all combinations of up to six, else scattered ones.
fn flips(code: u64, at: usize, concepts: usize) -> bool {
    if concepts <= 6 {
        return code >> at & 1 == 1;
    }
    // One concept alone first, then about every third, differently for each number.
    if code <= concepts as u64 {
        code == at as u64 + 1
    } else {
        (code * 0x9e37_79b9 + at as u64 * 0x85eb_ca6b) >> 7 & 3 == 0
    }
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
