//! A rule set: named rules over one DAG.

use std::ops::Range;

use crate::attributes::{Attributes, Family};
use crate::dag::{Dag, Edge, Node};
use crate::printer::rule_text;
use crate::span::Span;
use crate::syntax::{Body, Formula, Op};
use crate::vocabulary::Vocabulary;

/// A rule, numbered in file order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u32);

impl RuleId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A named rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, unique in the set.
    pub name: String,
    /// What stands in brackets.
    pub attributes: Attributes,
    /// The node that must hold, with its polarity.
    pub root: Edge,
    /// Which of the set's parts are its own; none if the rule was never text.
    parts: Range<usize>,
}

/// A sub-formula at its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it became.
    pub edge: Edge,
    /// Where it stands.
    pub span: Span,
}

impl Rule {
    /// A rule that was never text.
    #[must_use]
    pub fn made(name: String, attributes: Attributes, root: Edge) -> Self {
        Self { name, attributes, root, parts: 0..0 }
    }
}

/// Rules with the one DAG they share.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    /// The rules in file order.
    pub rules: Vec<Rule>,
    /// Every sub-formula of every rule, once.
    pub dag: Dag,
    /// The sub-formulas of all rules as they were written.
    parts: Vec<Part>,
}

/// How much the rules share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Sharing {
    /// Number of rules.
    pub rules: usize,
    /// Concepts that a rule uses.
    pub concepts: usize,
    /// Inner nodes: the gates that will be trained.
    pub gates: usize,
    /// Inner nodes if no rule shared with another or with itself.
    pub gates_unshared: u64,
    /// Levels of gates.
    pub levels: usize,
    /// The largest number of operands of a gate.
    pub widest: usize,
}

impl RuleSet {
    /// No rules yet.
    #[must_use]
    pub fn new(dag: Dag) -> Self {
        Self { dag, ..Self::default() }
    }

    /// Adds a rule from a written formula; `false` if a closed vocabulary lacks one of its concepts (see
    /// [`unknown_concepts`]).
    pub fn add(&mut self, name: String, attributes: Attributes, formula: &Formula) -> bool {
        let start = self.parts.len();
        let Some(root) = intern(&mut self.dag, formula, &mut self.parts) else {
            self.parts.truncate(start);
            return false;
        };
        self.rules.push(Rule { name, attributes, root, parts: start..self.parts.len() });
        true
    }

    /// The sub-formulas of a rule as its author wrote them: children before parents, the whole formula last; none if the rule
    /// was never text.
    #[must_use]
    pub fn parts(&self, rule: &Rule) -> &[Part] {
        &self.parts[rule.parts.clone()]
    }

    /// Where a rule's formula stands; `None` if it was never text.
    #[must_use]
    pub fn span(&self, rule: &Rule) -> Option<Span> {
        self.parts(rule).last().map(|part| part.span)
    }

    /// The roots of all rules, in order.
    #[must_use]
    pub fn roots(&self) -> Vec<Edge> {
        self.rules.iter().map(|rule| rule.root).collect()
    }

    /// A rule by name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.name == name)
    }

    /// For each node of the DAG, the rules that need it, in file order.
    #[must_use]
    pub fn users(&self) -> Vec<Vec<RuleId>> {
        let mut users = vec![Vec::new(); self.dag.len()];
        for (index, rule) in self.rules.iter().enumerate() {
            for node in self.dag.cone(&[rule.root]) {
                users[node.index()].push(RuleId(index as u32));
            }
        }
        users
    }

    /// The rule's family: the one given, or the one its shape says.
    #[must_use]
    pub fn family(&self, rule: &Rule) -> Family {
        rule.attributes.family.unwrap_or_else(|| infer_family(&self.dag, rule.root))
    }

    /// How much the rules share.
    #[must_use]
    pub fn sharing(&self) -> Sharing {
        let mut occurrences = vec![0_u64; self.dag.len()];
        for (id, _, operands) in self.dag.gates() {
            let below = operands.iter().map(|edge| occurrences[edge.node().index()]).fold(1, u64::saturating_add);
            occurrences[id.index()] = below;
        }
        let roots = self.roots();
        let cone = self.dag.cone(&roots);
        let leaves = cone.iter().filter(|&&id| matches!(self.dag.node(id), Node::Leaf(_))).count();
        Sharing {
            rules: self.rules.len(),
            concepts: leaves,
            gates: cone.len() - leaves,
            gates_unshared: roots.iter().map(|root| occurrences[root.node().index()]).fold(0, u64::saturating_add),
            levels: cone.iter().map(|&id| self.dag.level(id)).max().unwrap_or(0) as usize,
            widest: cone.iter().map(|&id| self.dag.operands(id).len()).max().unwrap_or(0),
        }
    }
}

/// The concepts of a formula that a closed vocabulary does not have, with their places.
#[must_use]
pub(crate) fn unknown_concepts<'a>(vocabulary: &Vocabulary, formula: &'a Formula) -> Vec<(&'a str, Span)> {
    fn collect<'a>(vocabulary: &Vocabulary, formula: &'a Formula, unknown: &mut Vec<(&'a str, Span)>) {
        match &formula.body {
            Body::Concept(name, span) if vocabulary.get(name).is_none() => unknown.push((name, *span)),
            Body::Concept(..) => {}
            Body::Apply(_, operands) => operands.iter().for_each(|operand| collect(vocabulary, operand, unknown)),
        }
    }
    let mut unknown = Vec::new();
    if vocabulary.origin().is_some() {
        collect(vocabulary, formula, &mut unknown);
    }
    unknown
}

/// Puts a written formula into the DAG and notes its parts.
fn intern(dag: &mut Dag, formula: &Formula, parts: &mut Vec<Part>) -> Option<Edge> {
    let edge = match &formula.body {
        Body::Concept(name, _) => dag.resolve(name).map(|concept| dag.leaf(concept)),
        Body::Apply(op, operands) => {
            let operands = operands.iter().map(|operand| intern(dag, operand, parts)).collect::<Option<_>>()?;
            // The parser gives two operands to IMPLIES and at least two to the others.
            dag.gate(*op, operands).ok()
        }
    };
    let edge = edge?.negate_if(formula.negated);
    parts.push(Part { edge, span: formula.span });
    Some(edge)
}

/// What a rule's shape says about its family.
fn infer_family(dag: &Dag, root: Edge) -> Family {
    match dag.node(root.node()) {
        Node::Gate(Op::Implies, _) if !root.is_negated() && is_simple(dag, root) => Family::Simple,
        Node::Gate(Op::Implies, _) if !root.is_negated() => Family::Compound,
        Node::Gate(Op::And, operands) if !root.is_negated() && is_chain(dag, operands) => Family::Chain,
        _ => Family::Other,
    }
}

/// `literal => literal`, not negated.
fn is_simple(dag: &Dag, edge: Edge) -> bool {
    let literal = |operand: &Edge| matches!(dag.node(operand.node()), Node::Leaf(_));
    matches!(dag.node(edge.node()), Node::Gate(Op::Implies, operands) if operands.iter().all(literal))
        && !edge.is_negated()
}

/// Simple implications that can be put end to end, each used once.
fn is_chain(dag: &Dag, operands: &[Edge]) -> bool {
    if !operands.iter().all(|&operand| is_simple(dag, operand)) {
        return false;
    }
    let mut steps: Vec<(Edge, Edge)> = operands
        .iter()
        .map(|edge| dag.operands(edge.node()))
        .filter_map(|ends| Some((*ends.first()?, *ends.last()?)))
        .collect();
    let starts: Vec<_> =
        steps.iter().map(|&(from, _)| from).filter(|&from| !steps.iter().any(|&(_, to)| to == from)).collect();
    let [mut at] = starts[..] else { return false };
    while let Some(position) = steps.iter().position(|&(from, _)| from == at) {
        at = steps.swap_remove(position).1;
    }
    steps.is_empty()
}

/// A rule set as a rule file: one line a rule, operands in canonical order.
#[must_use]
pub fn format_rules(rule_set: &RuleSet) -> String {
    let line = |rule: &Rule| rule_text(&rule.name, &rule.attributes, &rule_set.dag.text(rule.root)) + "\n";
    rule_set.rules.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_text;

    #[test]
    fn families_follow_the_shape() {
        for (formula, expected) in [
            ("a => b", Family::Simple),
            ("!a => !b", Family::Simple),
            ("a => (b | c)", Family::Compound),
            ("(a & b) => c", Family::Compound),
            ("(a => b) & (b => c)", Family::Chain),
            ("(b => c) & (a => b) & (c => d)", Family::Chain),
            ("(a => !b) & (!b => c)", Family::Chain),
            ("(a => b) & (c => d)", Family::Other),
            ("(a => b) & (b => a)", Family::Other),
            ("(a => b) & (b => c) & (b => d)", Family::Other),
            ("!(a => b)", Family::Other),
            ("a", Family::Other),
            ("a <=> b", Family::Other),
        ] {
            let loaded = load_text("t", &format!("r: {formula}"), Vocabulary::open());
            let rule_set = loaded.rule_set;
            assert_eq!(rule_set.family(&rule_set.rules[0]), expected, "{formula}");
        }
    }

    #[test]
    fn sharing_counts_each_gate_once() {
        let text = "r1: a & b => c\nr2: b & a => d\nr3: !(a & b)\n";
        let sharing = load_text("t", text, Vocabulary::open()).rule_set.sharing();
        let expected = Sharing { rules: 3, concepts: 4, gates: 3, gates_unshared: 5, levels: 2, widest: 2 };
        assert_eq!(sharing, expected);
    }
}
