//! What the data say about the rules: concepts that never change, implications that never apply, rules that training rows
//! break, and gates whose truth table the data cannot fill.

use std::collections::{BTreeMap, BTreeSet};

use super::supply::{Supply, of_edge, supply};
use crate::bits::{TruthCounts, TruthTable};
use crate::coverage::{GateCoverage, coverage};
use crate::dag::{Dag, Node, NodeId};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::rules::{Part, Rule, RuleSet};
use crate::span::Span;
use crate::syntax::Op;
use crate::truth::Program;

/// Adds the findings that come from the rows a model would be trained on; `rows` names them ("the 512 rows of `x.csv`").
pub fn lint_data(rule_set: &RuleSet, labels: &TruthTable, rows: &str, diagnostics: &mut Diagnostics) {
    if labels.rows() == 0 {
        let first = rule_set.rules.first().and_then(|rule| rule_set.span(rule));
        diagnostics.extend(first.map(|span| {
            Diagnostic::new(Code::NoTrainingRows, span, format!("nothing can be learnt from {rows}"))
                .hint("rows to train on have `train` in the column `split`, or the table has no such column")
        }));
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
            for &Part { edge, span } in self.rule_set.parts(rule) {
                let Node::Leaf(concept) = self.dag.node(edge.node()) else { continue };
                if !seen.insert(concept) {
                    continue;
                }
                let what = match self.labels.counts(concept.index()) {
                    TruthCounts { holds: 0, fails: 0, .. } => "is never known",
                    TruthCounts { holds: 0, .. } => "is never true",
                    TruthCounts { fails: 0, .. } => "is always true",
                    _ => continue,
                };
                let name = self.dag.vocabulary().name(concept);
                let message = format!("concept `{name}` {what} in {}", self.rows);
                diagnostics.push(
                    Diagnostic::new(Code::ConstantConcept, span, message)
                        .hint("nothing can be learnt about it; label more samples or leave it out"),
                );
            }
        }
    }

    /// Implications that never apply, wherever they stand in a rule, each once.
    fn antecedents(&self, diagnostics: &mut Diagnostics) {
        let mut seen = BTreeSet::new();
        let mut implications = Vec::new();
        for rule in &self.rule_set.rules {
            for &Part { edge, span } in self.rule_set.parts(rule) {
                if let Node::Gate(Op::Implies, &[antecedent, _]) = self.dag.node(edge.node())
                    && seen.insert(edge.node())
                {
                    implications.push((rule, antecedent, span));
                }
            }
        }
        let wanted: Vec<_> = implications.iter().map(|&(_, antecedent, _)| antecedent).collect();
        let truth = Program::compile(self.dag, &wanted).evaluate(self.labels);
        for (column, (rule, antecedent, span)) in implications.into_iter().enumerate() {
            let TruthCounts { holds, unknown, .. } = truth.counts(column);
            if holds == 0 {
                let never = if unknown > 0 { "never known to be true" } else { "never true" };
                let text = self.dag.text(antecedent);
                let message = format!("the antecedent `{text}` of `{}` is {never} in {}", rule.name, self.rows);
                let hint =
                    "the implication holds there without saying anything, so nothing shows what keeping it looks like";
                diagnostics.push(Diagnostic::new(Code::Vacuous, span, message).hint(hint));
            }
        }
    }

    fn violations(&self, diagnostics: &mut Diagnostics) {
        let truth = Program::compile(self.dag, &self.rule_set.roots()).evaluate(self.labels);
        for (column, rule) in self.rule_set.rules.iter().enumerate() {
            let TruthCounts { fails, unknown, .. } = truth.counts(column);
            if let (true, Some(span)) = (fails > 0, self.rule_set.span(rule)) {
                let open = if unknown > 0 { format!("; {unknown} leave it open") } else { String::new() };
                let message = format!("rule `{}` is broken by {fails} of {}{open}", rule.name, self.rows);
                let hint = "wrong labels, or a rule with exceptions? `data check DIR --rules FILE` lists these rows of a \
                            dataset, `rules truth` tells of every row of a table";
                diagnostics.push(Diagnostic::new(Code::BrokenInTraining, span, message).hint(hint));
            }
        }
    }

    /// Rows of truth tables that no sample fills, told once a rule, and operands to which no chimera
    /// can give a value, once each.
    fn configurations(&self, diagnostics: &mut Diagnostics) {
        let gates = coverage(self.dag, &self.rule_set.roots(), self.labels);
        let gate_of: BTreeMap<NodeId, &GateCoverage> = gates.iter().map(|gate| (gate.node, gate)).collect();
        let supplies = supply(self.dag, self.labels);
        let mut reported = BTreeSet::new();
        for rule in &self.rule_set.rules {
            let mut parts: Vec<Part> = self.rule_set.parts(rule).to_vec();
            parts.sort_by_key(|part| part.edge.node());
            parts.dedup_by_key(|part| part.edge.node());
            let own: Vec<_> =
                parts.iter().filter_map(|part| Some((*gate_of.get(&part.edge.node())?, part.span))).collect();
            self.report_empty(rule, &own, diagnostics);
            for (gate, span) in own {
                self.report_no_chimera(gate, span, &supplies, &mut reported, diagnostics);
            }
        }
    }

    fn report_empty(&self, rule: &Rule, gates: &[(&GateCoverage, Span)], diagnostics: &mut Diagnostics) {
        // Counts beyond 64 bits are as good as endless.
        let sum = |counts: &mut dyn Iterator<Item = Option<u64>>| {
            counts.map(|count| count.unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
        };
        let empty = sum(&mut gates.iter().map(|(gate, _)| gate.missing()));
        let all = sum(&mut gates.iter().map(|(gate, _)| 1_u64.checked_shl(gate.operands.len() as u32)));
        if let (true, Some(span)) = (empty > 0, self.rule_set.span(rule)) {
            let verb = if empty == 1 { "does" } else { "do" };
            let message =
                format!("{empty} of the {all} truth table rows of `{}` {verb} not occur in {}", rule.name, self.rows);
            let hint =
                "chimeras fill them in training, unless a finding says that none can; `rules coverage` lists them";
            diagnostics.push(Diagnostic::new(Code::EmptyConfigurations, span, message).hint(hint));
        }
    }

    fn report_no_chimera(
        &self,
        gate: &GateCoverage,
        span: Span,
        supplies: &[Supply],
        reported: &mut BTreeSet<NodeId>,
        diagnostics: &mut Diagnostics,
    ) {
        for &operand in &gate.operands {
            let supply = of_edge(supplies, operand);
            let value = match (supply.can_hold, supply.can_fail) {
                (true, true) => continue,
                (true, false) => "false",
                (false, true) => "true",
                (false, false) => "known",
            };
            if !reported.insert(operand.node()) {
                continue;
            }
            let text = self.dag.text(operand);
            let message = format!("no chimera can make `{text}` {value} here: it never is in {}", self.rows);
            let hint =
                "gates over it will not see that case in training; label samples that have it, or change the rule";
            diagnostics.push(Diagnostic::new(Code::NoChimera, span, message).hint(hint));
        }
    }
}
