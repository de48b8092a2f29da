//! What is wrong with rules that parse: contradictions, tautologies, clashes, repetitions, and rules that the data cannot
//! support. Findings are diagnostics like any other; training never refuses because of them.

mod conflict;
mod constant;
mod data;
mod redundancy;
mod simulate;
mod supply;
mod witness;

use self::simulate::Signatures;
use crate::bdd::{Diagram, Diagrams, Limits, TooLarge};
use crate::dag::Edge;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::rules::{Rule, RuleSet};
use crate::sat::{Answer, Solving};
use crate::span::Span;

pub use data::lint_data;
pub use supply::{Supply, supply};

/// Adds the findings that need no data. Findings have places, so rules that were never text are not looked at: print them with
/// [`format_rules`](crate::printer::format_rules) and load that.
pub fn lint(rule_set: &RuleSet, diagnostics: &mut Diagnostics) {
    let Some(spans) = spans(rule_set) else { return };
    let roots = rule_set.roots();
    let mut lint = Lint {
        rule_set,
        roots: &roots,
        spans,
        signatures: Signatures::new(&rule_set.dag, &roots),
        diagrams: Diagrams::new(&rule_set.dag, &roots, LIMITS),
        undecided: Vec::new(),
        diagnostics,
    };
    let constant = lint.constants();
    let distinct = lint.repetitions(&constant);
    lint.joint(&distinct);
    lint.report_undecided();
}

/// Where the rules stand; `None` if there are none or one of them was never text.
fn spans(rule_set: &RuleSet) -> Option<Vec<Span>> {
    rule_set.rules.iter().map(|rule| rule_set.span(rule)).collect::<Option<Vec<_>>>().filter(|spans| !spans.is_empty())
}

/// Lint asks about many formulas, most of them small; what needs a larger diagram is left to the solver.
const LIMITS: Limits = Limits { call: 1 << 12, total: 1 << 20 };

/// What the checks share. Random assignments settle most questions. What they leave open goes to decision diagrams if it is
/// about one or two formulas, and to the solver if it is about all rules at once or if a diagram would get large.
struct Lint<'a> {
    rule_set: &'a RuleSet,
    roots: &'a [Edge],
    /// Where each rule stands.
    spans: Vec<Span>,
    signatures: Signatures,
    diagrams: Diagrams<'a>,
    /// Rules of which something could not be found out, with what.
    undecided: Vec<(usize, &'static str)>,
    diagnostics: &'a mut Diagnostics,
}

impl Lint<'_> {
    fn rule(&self, index: usize) -> &Rule {
        &self.rule_set.rules[index]
    }

    /// Whether one formula, or two, can never hold together; a question that stays open is kept with the rule it is about.
    fn impossible(&mut self, formulas: &[Edge], about: (usize, &'static str)) -> bool {
        let diagrams = &mut self.diagrams;
        let compiled: Result<Vec<_>, _> = formulas.iter().map(|&formula| diagrams.compile(formula)).collect();
        let answer = compiled.and_then(|compiled| match compiled[..] {
            [one] => Ok(one.is_false()),
            [one, other] => diagrams.intersects(one, other).map(|possible| !possible),
            _ => diagrams.all(&compiled).map(Diagram::is_false),
        });
        answer.unwrap_or_else(|TooLarge { .. }| match Solving::new(&self.rule_set.dag, formulas).together(formulas) {
            Answer::Clash(_) => true,
            Answer::Together => false,
            Answer::Unknown => {
                self.undecided.push(about);
                false
            }
        })
    }

    /// A finding about a rule as a whole.
    fn about(&self, index: usize, code: Code, message: String) -> Diagnostic {
        Diagnostic::new(code, self.spans[index], message)
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
            diagnostic = diagnostic.note(self.spans[index], format!("{text} `{}`", self.rule(index).name));
        }
        diagnostic
    }

    fn report_undecided(&mut self) {
        for (index, what) in std::mem::take(&mut self.undecided) {
            let message = format!("{what} `{}` was not found out within the allowed effort", self.rule(index).name);
            let diagnostic = self
                .about(index, Code::Undecided, message)
                .hint("everything else was checked; break the formula into smaller rules if the answer matters");
            self.diagnostics.push(diagnostic);
        }
    }
}
