//! Formulas that have no choice: rules that never or always hold, and parts that are always true or false.

use std::collections::{BTreeMap, BTreeSet};

use super::Lint;
use crate::dag::{Edge, Node, NodeId};
use crate::diagnostic::{Code, Diagnostic};
use crate::rules::Part;

impl Lint<'_> {
    /// Reports rules and parts that are constant; returns the rules that are.
    pub(super) fn constants(&mut self) -> BTreeSet<usize> {
        let values = self.constant_gates();
        let mut constant = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for index in 0..self.roots.len() {
            let root = self.roots[index];
            if let Some(&value) = values.get(&root.node()) {
                constant.insert(index);
                self.report_rule(index, value != root.is_negated());
            }
            self.report_parts(index, &values, &mut seen);
        }
        constant
    }

    /// Gates with a constant value.
    fn constant_gates(&mut self) -> BTreeMap<NodeId, bool> {
        let dag = &self.rule_set.dag;
        let mut constant = BTreeMap::new();
        for id in dag.cone(self.roots).into_iter().filter(|&id| !dag.operands(id).is_empty()) {
            let gate = Edge::new(id, false);
            for value in [true, false] {
                let opposite = gate.negate_if(value);
                if self.signatures.never(opposite) {
                    let user = self.roots.iter().position(|root| root.node() >= id).unwrap_or(0);
                    if self.impossible(&[opposite], (user, "whether a part of RULE is constant")) {
                        constant.insert(id, value);
                    }
                }
            }
        }
        constant
    }

    fn report_rule(&mut self, index: usize, holds: bool) {
        let name = &self.rule(index).name;
        let diagnostic = if holds {
            self.about(index, Code::Tautology, format!("rule `{name}` always holds"))
                .label("true whatever the concepts are")
                .hint("no sample can break it, so it detects nothing; remove it or say what was meant")
        } else {
            self.about(index, Code::Contradiction, format!("rule `{name}` can never hold"))
                .label("false whatever the concepts are")
                .hint("every sample breaks it; look for a concept that is asked to be both true and false")
        };
        self.diagnostics.push(diagnostic);
    }

    /// Reports the smallest constant parts of a rule, each node once in the whole set; the rule itself is reported elsewhere.
    fn report_parts(&mut self, index: usize, values: &BTreeMap<NodeId, bool>, seen: &mut BTreeSet<NodeId>) {
        if values.is_empty() {
            return;
        }
        let rule_set = self.rule_set;
        let rule = &rule_set.rules[index];
        for &Part { edge, span } in rule_set.parts(rule) {
            let node = edge.node();
            let Some(&value) = values.get(&node) else { continue };
            let smaller = rule_set.dag.operands(node).iter().any(|operand| values.contains_key(&operand.node()));
            if node == rule.root.node() || smaller || !seen.insert(node) {
                continue;
            }
            let value = if value != edge.is_negated() { "true" } else { "false" };
            let message = format!("`{}` is always {value}", rule_set.dag.text(edge));
            let diagnostic = Diagnostic::new(Code::ConstantPart, span, message)
                .hint("this part changes nothing; remove it or say what was meant");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports operators that are given the same operand twice, each once; `a => a` is a tautology and reported as such.
    pub(super) fn repeated_operands(&mut self) {
        let rule_set = self.rule_set;
        let mut seen = BTreeSet::new();
        for &Part { edge, span } in rule_set.rules.iter().flat_map(|rule| rule_set.parts(rule)) {
            let Node::Gate(op, operands) = rule_set.dag.node(edge.node()) else { continue };
            // Operands of commutative operators are sorted, so equal ones are neighbours.
            let repeated = operands.windows(2).find(|pair| pair[0] == pair[1] && op.is_commutative());
            if let (Some(pair), true) = (repeated, seen.insert(edge.node())) {
                let message = format!("`{}` is given twice to the same {}", rule_set.dag.text(pair[0]), op.name());
                self.diagnostics.push(
                    Diagnostic::new(Code::RepeatedOperand, span, message)
                        .hint("once says the same, and a gate with fewer operands is easier to train"),
                );
            }
        }
    }
}
