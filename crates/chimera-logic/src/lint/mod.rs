//! What is wrong with rules that parse: contradictions, tautologies, clashes, repetitions, and rules that the data cannot
//! support. Findings are diagnostics like any other; training never refuses because of them.

mod conflict;
mod constant;
mod data;
mod redundancy;
mod simulate;
mod supply;

use crate::dag::Edge;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::rules::{Rule, RuleSet};
use crate::sat::Solving;

pub use data::lint_data;
pub use supply::{Supply, supply};

/// Adds the findings that need no data.
pub fn lint(rule_set: &RuleSet, diagnostics: &mut Diagnostics) {
    if rule_set.rules.is_empty() {
        return;
    }
    let roots = rule_set.roots();
    let mut solving = Solving::new(&rule_set.dag, &roots);
    let mut lint = Lint { rule_set, roots: &roots, solving: &mut solving, undecided: Vec::new(), diagnostics };
    let constant = lint.constants();
    let distinct = lint.repetitions(&constant);
    lint.joint(&distinct);
    lint.report_undecided();
}

/// What the checks share.
struct Lint<'a> {
    rule_set: &'a RuleSet,
    roots: &'a [Edge],
    solving: &'a mut Solving,
    /// Rules of which something could not be found out, with what.
    undecided: Vec<(usize, &'static str)>,
    diagnostics: &'a mut Diagnostics,
}

impl Lint<'_> {
    fn rule(&self, index: usize) -> &Rule {
        &self.rule_set.rules[index]
    }

    /// A finding about a rule as a whole.
    fn about(&self, index: usize, code: Code, message: String) -> Diagnostic {
        Diagnostic::new(code, self.rule(index).formula.span, message)
    }

    /// `a`, `b` and `c`, at most ten of them.
    fn names(&self, indices: &[usize]) -> String {
        const SHOWN: usize = 10;
        let mut names: Vec<_> =
            indices.iter().take(SHOWN).map(|&index| format!("`{}`", self.rule(index).name)).collect();
        if indices.len() > SHOWN {
            names.push(format!("{} more", indices.len() - SHOWN));
        }
        match names.pop() {
            Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
            last => last.unwrap_or_default(),
        }
    }

    /// Notes at the rules of the given indices.
    fn noted(&self, mut diagnostic: Diagnostic, indices: &[usize], text: &str) -> Diagnostic {
        const SHOWN: usize = 5;
        for &index in indices.iter().take(SHOWN) {
            diagnostic = diagnostic.note(self.rule(index).formula.span, format!("{text} `{}`", self.rule(index).name));
        }
        diagnostic
    }

    fn report_undecided(&mut self) {
        for (index, what) in std::mem::take(&mut self.undecided) {
            let message = format!("not found out within the allowed effort: {what} `{}`", self.rule(index).name);
            let diagnostic = self
                .about(index, Code::Undecided, message)
                .hint("everything else was checked; simplify this formula if the answer matters");
            self.diagnostics.push(diagnostic);
        }
    }
}
