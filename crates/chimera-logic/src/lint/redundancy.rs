//! Rules that add nothing: the same formula twice, the same meaning in other words, or a consequence of other rules.

use std::collections::{BTreeMap, BTreeSet};

use super::Lint;
use super::witness::Search;
use crate::bdd::TooLarge;
use crate::dag::Edge;
use crate::diagnostic::Code;
use crate::sat::{Answer, Solving};

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
        let mut classes: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
        for &index in &distinct {
            classes.entry(self.signatures.key(self.roots[index])).or_default().push(index);
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

    /// Pairs of a rule and the first rule of the class that it is equivalent to. Equal functions are one diagram; rules whose
    /// diagram is too large are compared one by one.
    fn equivalent_in(&mut self, class: &[usize]) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        let mut first_with = BTreeMap::new();
        for &index in class.iter().filter(|_| class.len() > 1) {
            match self.diagrams.compile(self.roots[index]) {
                Ok(diagram) => {
                    let first = *first_with.entry(diagram).or_insert(index);
                    pairs.extend((first != index).then_some((index, first)));
                }
                Err(TooLarge { .. }) => {
                    let same = class.iter().copied().find(|&first| first < index && self.equivalent(index, first));
                    pairs.extend(same.map(|first| (index, first)));
                }
            }
        }
        pairs
    }

    fn equivalent(&mut self, one: usize, other: usize) -> bool {
        let (a, b) = (self.roots[one], self.roots[other]);
        let about = (one, "whether another rule means the same as RULE");
        self.impossible(&[a, b.negate_if(true)], about) && self.impossible(&[b, a.negate_if(true)], about)
    }

    fn report_repetition(&mut self, index: usize, first: usize, code: Code, verb: &str) {
        let message = format!("rule `{}` {verb} `{}`", self.rule(index).name, self.rule(first).name);
        let diagnostic = self.about(index, code, message).hint("remove one of them; violations would count twice");
        let diagnostic = self.noted(diagnostic, &[first], "rule");
        self.diagnostics.push(diagnostic);
    }

    /// Whether these rules, all of one component, can hold together; if so, which of them follow from the rest.
    pub(super) fn joint(&mut self, rules: &[usize]) {
        let roots: Vec<_> = rules.iter().map(|&index| self.roots[index]).collect();
        let mut solving = Solving::new(&self.rule_set.dag, &roots, &self.budget);
        match solving.together(&roots) {
            // From rules that clash anything follows, so nothing is said of consequences.
            Answer::Clash(core) => self.report_conflict(rules, &mut solving, core),
            // The solver may give up where two diagrams tell at once.
            Answer::Unknown => {
                if let (false, Some(&first)) = (self.report_clashing_pair(rules), rules.first()) {
                    let what = "whether the rules connected with RULE can hold together, and which follow from others";
                    self.undecided.push((first, what));
                }
            }
            Answer::Together => {
                let dag = &self.rule_set.dag;
                let holds = |concept| dag.find_leaf(concept).is_some_and(|leaf| solving.holds(leaf));
                let mut search = Search::new(dag, &roots, holds);
                let suspects: Vec<_> = (0..rules.len()).filter(|&position| !search.breaks_alone(position)).collect();
                for position in suspects {
                    if self.budget.is_spent() {
                        self.undecided
                            .push((rules[position], "which of the rules connected with RULE follow from others"));
                        break;
                    }
                    self.consequence(position, rules, &roots, &mut solving);
                }
            }
        }
    }

    fn consequence(&mut self, position: usize, rules: &[usize], roots: &[Edge], solving: &mut Solving) {
        let index = rules[position];
        let denied = roots[position].negate_if(true);
        let mut formulas: Vec<_> = roots.to_vec();
        formulas[position] = denied;
        match solving.together(&formulas) {
            Answer::Together => {}
            Answer::Unknown => self.undecided.push((index, "whether other rules imply RULE")),
            Answer::Clash(core) => {
                let (core, _) = solving.shrink(core);
                let others: Vec<_> = core.into_iter().filter(|&edge| edge != denied).collect();
                let causes: Vec<usize> =
                    rules.iter().zip(roots).filter(|(_, root)| others.contains(root)).map(|(&rule, _)| rule).collect();
                if causes.is_empty() {
                    // It holds whatever the others say: a tautology that was too hard to see.
                    return self.undecided.push((index, "whether RULE can be broken at all"));
                }
                self.report_consequence(index, &causes);
            }
        }
    }

    fn report_consequence(&mut self, index: usize, causes: &[usize]) {
        let message = format!("rule `{}` follows from {}", self.rule(index).name, self.names(causes));
        let diagnostic = self
            .about(index, Code::Redundant, message)
            .hint("whenever it is broken, one of those is broken too; remove it unless you want it scored on its own");
        let diagnostic = self.noted(diagnostic, causes, "rule");
        self.diagnostics.push(diagnostic);
    }
}
