//! Rules that add nothing: the same formula twice, the same meaning in other words, or a consequence of other rules.

use std::collections::{BTreeMap, BTreeSet};

use super::Lint;
use super::simulate::{simulate, truth};
use crate::bits::BitTable;
use crate::dag::Edge;
use crate::diagnostic::Code;
use crate::sat::Answer;
use crate::vocabulary::ConceptId;

/// Assignments near a model that are tried before the solver is asked.
const NEIGHBOURS: usize = 4096;

impl Lint<'_> {
    /// Reports rules with the same formula, and rules that mean the same; returns the first of each kind, constant ones left
    /// out.
    pub(super) fn repetitions(&mut self, constant: &BTreeSet<usize>) -> Vec<usize> {
        let mut first_with: BTreeMap<Edge, usize> = BTreeMap::new();
        let mut distinct = Vec::new();
        for (index, &root) in self.roots.iter().enumerate() {
            match first_with.get(&root) {
                None => {
                    first_with.insert(root, index);
                    if !constant.contains(&index) {
                        distinct.push(index);
                    }
                }
                Some(&first) => self.report_repetition(index, first, Code::DuplicateFormula, "has the same formula as"),
            }
        }
        let roots: Vec<_> = distinct.iter().map(|&index| self.roots[index]).collect();
        let signatures = simulate(&self.rule_set.dag, &roots);
        // Rules that agree on every random assignment are the only candidates.
        let mut classes: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
        for (column, &index) in distinct.iter().enumerate() {
            classes.entry(signatures.column(column)).or_default().push(index);
        }
        let mut pairs = Vec::new();
        for class in classes.values() {
            pairs.extend(self.equivalent_in(class));
        }
        pairs.sort_unstable();
        for &(index, first) in &pairs {
            self.report_repetition(index, first, Code::Equivalent, "means the same as");
        }
        distinct.retain(|index| pairs.binary_search_by_key(index, |&(later, _)| later).is_err());
        distinct
    }

    /// Pairs of a rule and the first rule of the class that it is equivalent to.
    fn equivalent_in(&mut self, class: &[usize]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut representatives: Vec<usize> = Vec::new();
        for &index in class {
            let same = representatives.iter().copied().find(|&first| self.equivalent(index, first));
            match same {
                Some(first) => pairs.push((index, first)),
                None => representatives.push(index),
            }
        }
        pairs
    }

    fn equivalent(&mut self, one: usize, other: usize) -> bool {
        let (a, b) = (self.roots[one], self.roots[other]);
        let clash = |answer: Answer| matches!(answer, Answer::Clash(_));
        clash(self.solving.together(&[a, b.negate_if(true)])) && clash(self.solving.together(&[b, a.negate_if(true)]))
    }

    fn report_repetition(&mut self, index: usize, first: usize, code: Code, verb: &str) {
        let message = format!("rule `{}` {verb} `{}`", self.rule(index).name, self.rule(first).name);
        let diagnostic = self.about(index, code, message).hint("remove one of them; violations would count twice");
        let diagnostic = self.noted(diagnostic, &[first], "rule");
        self.diagnostics.push(diagnostic);
    }

    /// Whether these rules can all hold together; if so, which of them follow from the rest.
    pub(super) fn joint(&mut self, rules: &[usize]) {
        let roots: Vec<_> = rules.iter().map(|&index| self.roots[index]).collect();
        match self.solving.together(&roots) {
            Answer::Clash(core) => self.report_conflict(rules, core),
            Answer::Unknown => {
                self.undecided.extend(rules.first().map(|&index| (index, "whether all rules can hold together, from")))
            }
            Answer::Together => {
                let spared = self.spared_by_neighbours(&roots);
                for (position, &index) in rules.iter().enumerate() {
                    if !spared[position] {
                        self.consequence(index, position, rules, &roots);
                    }
                }
            }
        }
    }

    /// Rules that do not follow from the others, because an assignment near the last model breaks them and no other rule.
    fn spared_by_neighbours(&self, roots: &[Edge]) -> Vec<bool> {
        let dag = &self.rule_set.dag;
        let concepts: Vec<ConceptId> = (0..dag.vocabulary().len() as u32).map(ConceptId).collect();
        let model: Vec<bool> = concepts
            .iter()
            .map(|&concept| dag.find_leaf(concept).is_some_and(|leaf| self.solving.holds(leaf)))
            .collect();
        let used: Vec<usize> =
            concepts.iter().filter(|&&concept| dag.find_leaf(concept).is_some()).map(|c| c.index()).collect();
        let flips = neighbour_flips(&used);
        let mut labels = BitTable::zeros(flips.len(), concepts.len());
        for (column, &value) in model.iter().enumerate() {
            let rows = labels.rows();
            let mask = labels.tail_mask();
            let words = labels.column_mut(column);
            words.fill(if value { u64::MAX } else { 0 });
            if rows > 0
                && let Some(last) = words.last_mut()
            {
                *last &= mask;
            }
        }
        for (row, flipped) in flips.iter().enumerate() {
            for &concept in flipped {
                labels.set(row, concept, !model[concept]);
            }
        }
        broken_alone(&truth(dag, roots, labels))
    }

    fn consequence(&mut self, index: usize, position: usize, rules: &[usize], roots: &[Edge]) {
        let denied = roots[position].negate_if(true);
        let mut formulas: Vec<_> = roots.to_vec();
        formulas[position] = denied;
        match self.solving.together(&formulas) {
            Answer::Together => {}
            Answer::Unknown => self.undecided.push((index, "whether others imply")),
            Answer::Clash(core) => {
                let core = self.solving.shrink(core);
                let others: Vec<_> = core.into_iter().filter(|&edge| edge != denied).collect();
                let causes: Vec<usize> =
                    rules.iter().zip(roots).filter(|(_, root)| others.contains(root)).map(|(&rule, _)| rule).collect();
                let message = format!("rule `{}` follows from {}", self.rule(index).name, self.names(&causes));
                let diagnostic = self.about(index, Code::Redundant, message).hint(
                    "whenever it is broken, one of those is broken too; remove it unless you want it scored on its own",
                );
                let diagnostic = self.noted(diagnostic, &causes, "rule");
                self.diagnostics.push(diagnostic);
            }
        }
    }
}

/// Sets of one and two concepts to flip.
fn neighbour_flips(used: &[usize]) -> Vec<Vec<usize>> {
    let singles = used.iter().map(|&concept| vec![concept]);
    let pairs =
        used.iter().enumerate().flat_map(|(at, &one)| used[at + 1..].iter().map(move |&other| vec![one, other]));
    singles.chain(pairs).take(NEIGHBOURS).collect()
}

/// For each column, whether some row has its only zero there.
fn broken_alone(truth: &BitTable) -> Vec<bool> {
    let mut alone = vec![false; truth.columns()];
    let words = truth.rows().div_ceil(64);
    for word in 0..words {
        let rows = if word + 1 == words { truth.tail_mask() } else { u64::MAX };
        let (mut once, mut twice) = (0_u64, 0_u64);
        for column in 0..truth.columns() {
            let broken = !truth.column(column)[word] & rows;
            twice |= once & broken;
            once |= broken;
        }
        let only = once & !twice;
        for (column, alone) in alone.iter_mut().enumerate() {
            *alone |= !truth.column(column)[word] & only != 0;
        }
    }
    alone
}
