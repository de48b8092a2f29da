//! What the data say about the rules: concepts that never change, implications that never apply, rules that training rows
//! break, and gates whose truth table the data cannot fill.

use std::collections::BTreeSet;

use super::supply::{of_edge, supply};
use crate::bits::{TruthCounts, TruthTable};
use crate::coverage::{GateCoverage, coverage};
use crate::dag::{Dag, Edge, Node};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::rules::{Rule, RuleSet};
use crate::syntax::{Formula, Op};
use crate::truth::Program;

/// Adds the findings that come from the rows a model would be trained on; `rows` names them ("the 512 training rows").
pub fn lint_data(rule_set: &RuleSet, labels: &TruthTable, rows: &str, diagnostics: &mut Diagnostics) {
    if labels.rows() == 0 || rule_set.rules.is_empty() {
        return;
    }
    let lint = DataLint { rule_set, dag: &rule_set.dag, labels, rows };
    lint.concepts(diagnostics);
    lint.antecedents(diagnostics);
    lint.violations(diagnostics);
    lint.configurations(diagnostics);
}

struct DataLint<'a> {
    rule_set: &'a RuleSet,
    dag: &'a Dag,
    labels: &'a TruthTable,
    rows: &'a str,
}

impl DataLint<'_> {
    /// Concepts without any variety, each at its first use.
    fn concepts(&self, diagnostics: &mut Diagnostics) {
        let mut seen = BTreeSet::new();
        for rule in &self.rule_set.rules {
            for (edge, formula) in self.rule_set.parts(rule) {
                let Node::Leaf(concept) = self.dag.node(edge.node()) else { continue };
                if !seen.insert(*concept) {
                    continue;
                }
                let what = match self.labels.counts(concept.index()) {
                    TruthCounts { holds: 0, fails: 0, .. } => "is never known",
                    TruthCounts { holds: 0, .. } => "is never true",
                    TruthCounts { fails: 0, .. } => "is always true",
                    _ => continue,
                };
                let name = self.dag.vocabulary().name(*concept);
                let message = format!("concept `{name}` {what} in {}", self.rows);
                diagnostics.push(
                    Diagnostic::new(Code::ConstantConcept, formula.span, message)
                        .hint("nothing can be learnt about it; label more samples or leave it out"),
                );
            }
        }
    }

    fn antecedents(&self, diagnostics: &mut Diagnostics) {
        let antecedents: Vec<(&Rule, Edge)> = self
            .rule_set
            .rules
            .iter()
            .filter_map(|rule| match self.dag.node(rule.root.node()) {
                Node::Gate(Op::Implies, operands) if !rule.root.is_negated() => Some((rule, *operands.first()?)),
                _ => None,
            })
            .collect();
        let wanted: Vec<_> = antecedents.iter().map(|&(_, edge)| edge).collect();
        let truth = Program::compile(self.dag, &wanted).evaluate(self.labels);
        for (column, (rule, _)) in antecedents.iter().enumerate() {
            if truth.counts(column).holds == 0 {
                let message = format!("the antecedent of `{}` is never true in {}", rule.name, self.rows);
                diagnostics.push(Diagnostic::new(Code::Vacuous, rule.formula.span, message).hint(
                    "the rule holds there without saying anything, and nothing shows what keeping it looks like",
                ));
            }
        }
    }

    fn violations(&self, diagnostics: &mut Diagnostics) {
        let truth = Program::compile(self.dag, &self.rule_set.roots()).evaluate(self.labels);
        for (column, rule) in self.rule_set.rules.iter().enumerate() {
            let TruthCounts { holds, fails, .. } = truth.counts(column);
            if fails > 0 {
                let message = format!(
                    "rule `{}` is broken on {fails} of the {} rows that settle it, in {}",
                    rule.name,
                    holds + fails,
                    self.rows
                );
                diagnostics.push(
                    Diagnostic::new(Code::BrokenInTraining, rule.formula.span, message)
                        .hint("wrong labels, or a rule with exceptions? `rules truth` lists the rows"),
                );
            }
        }
    }

    /// Rows of truth tables that no sample fills, told once a rule, and those that no chimera can fill either, once a gate.
    fn configurations(&self, diagnostics: &mut Diagnostics) {
        let gates = coverage(self.dag, &self.rule_set.roots(), self.labels);
        let supplies = supply(self.dag, self.labels);
        let mut reported = BTreeSet::new();
        for rule in &self.rule_set.rules {
            let parts = self.rule_set.parts(rule);
            let mine: BTreeSet<_> = parts.iter().map(|(edge, _)| edge.node()).collect();
            let mine: Vec<_> = gates.iter().filter(|gate| mine.contains(&gate.node)).collect();
            let empty: u64 = mine.iter().map(|gate| gate.missing().unwrap_or(u64::MAX)).fold(0, u64::saturating_add);
            if empty > 0 {
                let all = mine.iter().map(|gate| 1_u64.checked_shl(gate.operands.len() as u32).unwrap_or(u64::MAX));
                let all = all.fold(0, u64::saturating_add);
                let message =
                    format!("no row fills {empty} of the {all} truth table rows of `{}`, in {}", rule.name, self.rows);
                diagnostics.push(Diagnostic::new(Code::EmptyConfigurations, rule.formula.span, message).hint(
                    "chimeras fill them in training, unless another finding says not; `rules coverage` lists them",
                ));
            }
            for gate in mine {
                let lacking: Vec<Edge> = gate
                    .operands
                    .iter()
                    .copied()
                    .filter(|&edge| !of_edge(&supplies, edge).can_fail || !of_edge(&supplies, edge).can_hold)
                    .collect();
                if let (false, true) = (lacking.is_empty(), reported.insert(gate.node)) {
                    self.report_no_chimera(gate, &lacking, &supplies, &parts, rule, diagnostics);
                }
            }
        }
    }

    fn report_no_chimera(
        &self,
        gate: &GateCoverage,
        lacking: &[Edge],
        supplies: &[super::Supply],
        parts: &[(Edge, &Formula)],
        rule: &Rule,
        diagnostics: &mut Diagnostics,
    ) {
        let span =
            parts.iter().find(|(edge, _)| edge.node() == gate.node).map_or(rule.formula.span, |(_, part)| part.span);
        let operand = lacking[0];
        let supply = of_edge(supplies, operand);
        let value = match (supply.can_hold, supply.can_fail) {
            (true, false) => "false",
            (false, true) => "true",
            _ => "known",
        };
        let text = self.dag.text(operand);
        let more =
            if lacking.len() > 1 { format!(" (and {} more operands)", lacking.len() - 1) } else { String::new() };
        let message = format!("no chimera can make `{text}`{more} {value} here: no row of {} does", self.rows);
        diagnostics.push(
            Diagnostic::new(Code::NoChimera, span, message)
                .hint("the gate will never see that case; label samples that have it, or change the rule"),
        );
    }
}
