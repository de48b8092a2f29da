//! Exact reasoning about formulas: reduced ordered binary decision diagrams of all rules in one store.
//!
//! In such a diagram equal functions are the same reference, so a tautology, a contradiction and an equivalence are
//! read off; an entailment is one walk. [`Diagrams::circuit`] takes diagrams out for counting and repair.
//!
//! The store is ours and small, not a crate's. A rule set of strangers needs all rules in one store with shared nodes,
//! and a limit on the nodes *and* the work of each single formula after which the store is as before: [`TooLarge`] is
//! an answer. oxidd 0.13 shares nodes, but its limit is the capacity of the whole manager, fixed when it is made;
//! biodivine-lib-bdd 0.6 limits the nodes of an operation, not its work, and every function owns its nodes. Counting,
//! most probable worlds and repair would be ours in any case.

mod apply;
pub mod count;
mod order;
pub mod repair;

use std::collections::BTreeMap;

use indexmap::IndexSet;

use crate::bdd::apply::Store;
pub use crate::bdd::apply::{Diagram, TooLarge};
use crate::bdd::count::Circuit;
use crate::dag::{Dag, Edge, Node, NodeId};
use crate::syntax::Op;
use crate::vocabulary::ConceptId;

/// How large diagrams may get. Time is bounded with the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes that one call may add; 262,144 by default, which takes well below a second.
    pub call: usize,
    /// Nodes that the store may hold in all; 4,194,304 by default, about 200 MB.
    pub total: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { call: 1 << 18, total: 1 << 22 }
    }
}

/// The decision diagrams of formulas of one DAG. Shared sub-formulas are compiled once.
///
/// A call that ends in [`TooLarge`] leaves the store as it was.
#[derive(Clone, Debug)]
pub struct Diagrams<'a> {
    dag: &'a Dag,
    limits: Limits,
    store: Store,
    /// The concept of each level, topmost first.
    order: Vec<ConceptId>,
    /// The level of each concept that has one.
    levels: Vec<Option<u32>>,
    /// The diagram of each node that has one.
    compiled: Vec<Option<Diagram>>,
    /// The nodes compiled by the running call.
    fresh: Vec<NodeId>,
    /// Nodes whose diagram was too large: asking again costs nothing.
    refused: BTreeMap<NodeId, TooLarge>,
}

impl<'a> Diagrams<'a> {
    /// An empty store, with the concepts in an order made for these roots: depth-first over the formulas, then improved
    /// by FORCE so that concepts of one sub-formula come together. Nothing is compiled yet.
    #[must_use]
    pub fn new(dag: &'a Dag, roots: &[Edge], limits: Limits) -> Self {
        Self::with_order(dag, order::choose(dag, roots), limits)
    }

    /// An empty store with the concepts in the given order; those left out come last, in the order of their first use.
    pub fn with_order(dag: &'a Dag, order: impl IntoIterator<Item = ConceptId>, limits: Limits) -> Self {
        let mut diagrams = Self {
            dag,
            limits,
            store: Store::new(),
            order: Vec::new(),
            levels: vec![None; dag.vocabulary().len()],
            compiled: vec![None; dag.len()],
            fresh: Vec::new(),
            refused: BTreeMap::new(),
        };
        order.into_iter().for_each(|concept| _ = diagrams.level(concept));
        diagrams
    }

    /// The concepts from the topmost level down.
    #[must_use]
    pub fn order(&self) -> &[ConceptId] {
        &self.order
    }

    /// Number of nodes in the store, the constant included.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.store.len()
    }

    /// The diagram of a formula. A formula that was too large once is refused from then on, and so is everything above it.
    pub fn compile(&mut self, root: Edge) -> Result<Diagram, TooLarge> {
        if let Some(compiled) = self.compiled[root.node().index()] {
            return Ok(compiled.negate_if(root.is_negated()));
        }
        let refused = self.dag.cone(&[root]).into_iter().find_map(|node| self.refused.get(&node).copied());
        if let Some(refusal) = refused {
            return Err(refusal);
        }
        self.call(|diagrams| diagrams.build(root.node())).map(|f| f.negate_if(root.is_negated()))
    }

    /// The function that holds where both do.
    pub fn and(&mut self, a: Diagram, b: Diagram) -> Result<Diagram, TooLarge> {
        self.call(|diagrams| diagrams.store.and(a, b))
    }

    /// The function that holds where all do: for the roots of a rule set, the samples without a violation.
    pub fn all(&mut self, functions: &[Diagram]) -> Result<Diagram, TooLarge> {
        self.call(|diagrams| diagrams.store.all(&mut functions.to_vec()))
    }

    /// Whether the two can hold together.
    pub fn intersects(&mut self, a: Diagram, b: Diagram) -> Result<bool, TooLarge> {
        self.call(|diagrams| diagrams.store.intersects(a, b))
    }

    /// Whether the second holds wherever the first does.
    pub fn implies(&mut self, a: Diagram, b: Diagram) -> Result<bool, TooLarge> {
        self.intersects(a, !b).map(|counterexample| !counterexample)
    }

    /// Whether the two are the same function.
    #[must_use]
    pub fn equivalent(&self, a: Diagram, b: Diagram) -> bool {
        a == b
    }

    /// The concepts on which a function depends, in the order of the vocabulary. A concept whose value never matters is
    /// not among them, even if the formula names it.
    #[must_use]
    pub fn support(&self, function: Diagram) -> Vec<ConceptId> {
        let mut seen = IndexSet::from([function.negate_if(false)]);
        let mut concepts = IndexSet::new();
        let mut at = 0;
        while let Some(&f) = seen.get_index(at) {
            at += 1;
            let Some(&concept) = self.concept(f) else { continue };
            concepts.insert(concept);
            let (low, high) = self.store.branches(f);
            seen.extend([low, high]);
        }
        concepts.sort_unstable();
        concepts.into_iter().collect()
    }

    /// The given functions on their own, for counting and repair; shared nodes stay shared.
    #[must_use]
    pub fn circuit(&self, roots: &[Diagram]) -> Circuit {
        Circuit::extract(self, roots)
    }

    /// The concept that a function decides first; `None` for a constant.
    pub(crate) fn concept(&self, f: Diagram) -> Option<&ConceptId> {
        self.order.get(self.store.level(f) as usize)
    }

    /// What is left of a function when the concept that it decides first is false, and when it is true.
    pub(crate) fn branches(&self, f: Diagram) -> (Diagram, Diagram) {
        self.store.branches(f)
    }

    fn level(&mut self, concept: ConceptId) -> u32 {
        let next = self.order.len() as u32;
        *self.levels[concept.index()].get_or_insert_with(|| {
            self.order.push(concept);
            next
        })
    }

    fn call<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, TooLarge>) -> Result<T, TooLarge> {
        let mark = self.store.start(self.limits.call, self.limits.total);
        let result = work(self);
        if result.is_err() {
            self.store.undo(mark);
            self.fresh.iter().for_each(|id| self.compiled[id.index()] = None);
        }
        self.fresh.clear();
        result
    }

    /// Without recursion: formulas may be as deep as they like.
    fn build(&mut self, root: NodeId) -> Result<Diagram, TooLarge> {
        let dag = self.dag;
        let mut pending = vec![root];
        while let Some(&id) = pending.last() {
            if self.compiled[id.index()].is_some() {
                pending.pop();
                continue;
            }
            let ready = pending.len();
            let operands = dag.operands(id).iter();
            pending.extend(operands.map(|edge| edge.node()).filter(|child| self.compiled[child.index()].is_none()));
            if pending.len() == ready {
                let half_left = self.store.allowance_left() > self.limits.call / 2;
                let made = match dag.node(id) {
                    Node::Leaf(concept) => {
                        let level = self.level(concept);
                        self.store.variable(level)
                    }
                    Node::Gate(op, edges) => self.operator(op, edges),
                };
                // A part that takes half of what a call may is too large by itself, in whatever formula it stands.
                let culprit = if half_left { id } else { root };
                let function = made.inspect_err(|&refusal| _ = self.refused.insert(culprit, refusal))?;
                self.compiled[id.index()] = Some(function);
                self.fresh.push(id);
            }
        }
        Ok(self.compiled[root.index()].unwrap_or(Diagram::FALSE))
    }

    fn operator(&mut self, op: Op, edges: &[Edge]) -> Result<Diagram, TooLarge> {
        // Children were compiled first. IMPLIES is the negation of `a & !b`, OR of the conjunction of negations.
        let conjuncts = |compiled: &[Option<Diagram>], flip: &dyn Fn(usize) -> bool| -> Vec<Diagram> {
            let values = edges.iter().enumerate();
            let value = |(position, edge): (usize, &Edge)| {
                compiled[edge.node().index()].map(|f| f.negate_if(edge.is_negated() != flip(position)))
            };
            values.filter_map(value).collect()
        };
        match op {
            Op::And => self.store.all(&mut conjuncts(&self.compiled, &|_| false)),
            Op::Or => Ok(!self.store.all(&mut conjuncts(&self.compiled, &|_| true))?),
            Op::Implies => Ok(!self.store.all(&mut conjuncts(&self.compiled, &|position| position == 1))?),
            Op::Iff => {
                let all = self.store.all(&mut conjuncts(&self.compiled, &|_| false))?;
                let none = self.store.all(&mut conjuncts(&self.compiled, &|_| true))?;
                Ok(!self.store.and(!all, !none)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_text;
    use crate::rules::RuleSet;
    use crate::vocabulary::Vocabulary;

    fn rules(text: &str) -> RuleSet {
        let loaded = load_text("t", text, Vocabulary::open());
        assert_eq!(loaded.diagnostics.errors(), 0, "{text}");
        loaded.rule_set
    }

    #[test]
    fn laws_of_logic_are_equivalences() {
        for (left, right) in [
            ("!(a & b)", "!a | !b"),
            ("!(a | b | c)", "!a & !b & !c"),
            ("a => b", "!b => !a"),
            ("a => b", "!a | b"),
            ("a => b => c", "(a & b) => c"),
            ("a & (b | c)", "(a & b) | (a & c)"),
            ("a | (b & c)", "(a | b) & (a | c)"),
            ("a & (a | b)", "a"),
            ("a & (b | !b)", "a"),
            ("a <=> b", "(a => b) & (b => a)"),
            ("a <=> b", "!a <=> !b"),
            ("!(a <=> b)", "a <=> !b"),
            ("a <=> b <=> c", "(a & b & c) | (!a & !b & !c)"),
            ("a <=> b <=> c", "(a <=> b) & (b <=> c)"),
            ("(a <=> b) <=> c", "a <=> (b <=> c)"),
        ] {
            let rule_set = rules(&format!("l: {left}\nr: {right}"));
            let mut diagrams = Diagrams::new(&rule_set.dag, &rule_set.roots(), Limits::default());
            let [l, r] = [0, 1].map(|at| diagrams.compile(rule_set.rules[at].root).unwrap());
            assert!(diagrams.equivalent(l, r), "{left} is {right}");
            assert!(diagrams.implies(l, r).unwrap() && diagrams.implies(r, l).unwrap());
            assert!(!diagrams.intersects(l, !r).unwrap());
            assert_eq!(diagrams.and(l, !r), Ok(Diagram::FALSE));
        }
    }

    #[test]
    fn n_ary_iff_is_not_nested_iff() {
        let rule_set = rules("n: a <=> b <=> c\nm: (a <=> b) <=> c\nt: a | !a\nf: a <=> !a");
        let mut diagrams = Diagrams::new(&rule_set.dag, &rule_set.roots(), Limits::default());
        let [n, m, t, f] = [0, 1, 2, 3].map(|at| diagrams.compile(rule_set.rules[at].root).unwrap());
        // Both hold where all three hold; where none does, the nested one (odd parity) fails.
        assert!(
            !diagrams.equivalent(n, m) && diagrams.intersects(n, m).unwrap() && diagrams.intersects(n, !m).unwrap()
        );
        assert!(t.is_true() && f.is_false());
        assert!(diagrams.implies(f, n).unwrap() && diagrams.implies(n, t).unwrap() && !diagrams.implies(t, n).unwrap());
    }

    #[test]
    fn support_is_what_matters() {
        let rule_set = rules("r: c & (b | !b) & a\nt: a | !a");
        let mut diagrams = Diagrams::new(&rule_set.dag, &rule_set.roots(), Limits::default());
        let [r, t] = [0, 1].map(|at| diagrams.compile(rule_set.rules[at].root).unwrap());
        let names: Vec<_> = diagrams.support(!r).into_iter().map(|id| rule_set.dag.vocabulary().name(id)).collect();
        assert_eq!(names, ["c", "a"], "in the order of the vocabulary");
        assert!(diagrams.support(t).is_empty());
    }

    /// `(x0 & y0) | (x1 & y1) | ...` has 2^n nodes when all x come before all y, and 3n - 1 in pairs.
    #[test]
    fn a_bad_order_is_an_answer_and_leaves_no_trace() {
        let pairs: Vec<_> = (0..30).map(|i| format!("(x{i} & y{i})")).collect();
        let rule_set = rules(&format!("small: x1 => y2\nlarge: {}\nafter: x1 & (y2 | x3)", pairs.join(" | ")));
        let dag = &rule_set.dag;
        let concept = |name: String| dag.vocabulary().get(&name).unwrap();
        let bad = ["x", "y"].into_iter().flat_map(|side| (0..30).map(move |i| format!("{side}{i}"))).map(concept);
        let mut diagrams = Diagrams::with_order(dag, bad, Limits::default());
        let small = diagrams.compile(rule_set.rules[0].root).unwrap();
        let nodes = diagrams.nodes();
        assert_eq!(diagrams.compile(rule_set.rules[1].root), Err(TooLarge { limit: 1 << 18 }));
        assert_eq!(diagrams.nodes(), nodes);
        let after = diagrams.compile(rule_set.rules[2].root).unwrap();
        // `after` with `small` leaves x1 and y2; `small` fails where x1 holds and y2 does not, whatever x3 is.
        assert!(diagrams.intersects(small, after).unwrap() && diagrams.intersects(!small, after).unwrap());
        assert!(!diagrams.implies(after, small).unwrap());
        assert_eq!(diagrams.compile(rule_set.rules[0].root), Ok(small));

        let mut good = Diagrams::new(dag, &rule_set.roots(), Limits::default());
        assert!(good.compile(rule_set.rules[1].root).is_ok());
        assert!(good.nodes() < 1000, "{}", good.nodes());
    }

    #[test]
    fn the_store_as_a_whole_is_limited_too() {
        let text: String = (0..100).map(|i| format!("r{i}: a{i} & b{i} & c{i}\n")).collect();
        let rule_set = rules(&text);
        let mut diagrams = Diagrams::new(&rule_set.dag, &rule_set.roots(), Limits { call: 50, total: 100 });
        let compiled: Vec<_> = rule_set.rules.iter().map(|rule| diagrams.compile(rule.root)).collect();
        // Three variables and two conjunctions a rule, and the constant.
        assert!(compiled[..19].iter().all(Result::is_ok));
        assert!(compiled[20..].iter().all(|result| *result == Err(TooLarge { limit: 100 })));
        assert!(diagrams.nodes() <= 100);
    }
}
