//! What is wrong with rules that parse: contradictions, tautologies, clashes, repetitions, and rules that the data cannot
//! support. Findings are diagnostics like any other; training never refuses because of them.

mod axioms;
mod conflict;
mod constant;
mod data;
mod redundancy;
mod simulate;
mod supply;
mod witness;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use self::simulate::Signatures;
use self::witness::concepts_of;
use crate::bdd::{Diagram, Diagrams, Limits, TooLarge};
use crate::dag::Edge;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::rules::{Rule, RuleSet};
use crate::sat::{Answer, Budget, Solving};
use crate::span::Span;

pub use axioms::{Settled, settled};
pub use data::lint_data;
pub use supply::{Supply, supply};

/// A rule that was never text: findings have places, so lint has nothing to point at. Print the rules with
/// [`format_rules`](crate::rules::format_rules) and load that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rule `{0}` was never text, so findings about it have no place")]
pub struct Unplaced(pub String);

/// Adds the findings that need no data.
///
/// # Errors
///
/// [`Unplaced`] if a rule was never text; nothing is checked then.
pub fn lint(rule_set: &RuleSet, diagnostics: &mut Diagnostics) -> Result<(), Unplaced> {
    let span = |rule: &Rule| rule_set.span(rule).ok_or_else(|| Unplaced(rule.name.clone()));
    let spans = rule_set.rules.iter().map(span).collect::<Result<Vec<_>, _>>()?;
    let roots = rule_set.roots();
    let mut lint = Lint {
        rule_set,
        roots: &roots,
        spans,
        signatures: Signatures::new(&rule_set.dag, &roots),
        diagrams: Diagrams::new(&rule_set.dag, &roots, LIMITS),
        budget: Budget::new(),
        undecided: Vec::new(),
        diagnostics,
    };
    let constant = lint.constants();
    lint.repeated_operands();
    let distinct = lint.repetitions(&constant);
    for component in components(rule_set, &distinct) {
        lint.joint(&component);
    }
    lint.report_undecided();
    Ok(())
}

/// Rules that are connected by concepts, directly or through others. Rules of different components can neither clash nor
/// follow from each other.
fn components(rule_set: &RuleSet, rules: &[usize]) -> Vec<Vec<usize>> {
    let mut component_of: BTreeMap<usize, usize> = BTreeMap::new();
    let mut components: Vec<Vec<usize>> = Vec::new();
    let mut concepts_in: Vec<Vec<usize>> = Vec::new();
    for &rule in rules {
        let concepts = concepts_of(&rule_set.dag, rule_set.rules[rule].root);
        let mut touched: Vec<usize> =
            concepts.iter().filter_map(|concept| component_of.get(concept).copied()).collect();
        // The largest takes the others in, so that a concept moves only a few times.
        touched.sort_by_key(|&component| (Reverse(concepts_in[component].len()), component));
        touched.dedup();
        let target = touched.first().copied().unwrap_or_else(|| {
            components.push(Vec::new());
            concepts_in.push(Vec::new());
            components.len() - 1
        });
        for &merged in touched.iter().skip(1).filter(|&&merged| merged != target) {
            let (moved_rules, moved) =
                (std::mem::take(&mut components[merged]), std::mem::take(&mut concepts_in[merged]));
            components[target].extend(moved_rules);
            moved.iter().for_each(|&concept| _ = component_of.insert(concept, target));
            concepts_in[target].extend(moved);
        }
        components[target].push(rule);
        for concept in concepts {
            if component_of.insert(concept, target).is_none() {
                concepts_in[target].push(concept);
            }
        }
    }
    components.iter_mut().for_each(|rules| rules.sort_unstable());
    components.retain(|rules| !rules.is_empty());
    components.sort();
    components
}

/// Lint asks about many formulas, most of them small; what needs a larger diagram is left to the solver.
const LIMITS: Limits = Limits { call: 1 << 15, total: 1 << 20 };

/// What the checks share. Random assignments settle most questions. What they leave open goes to decision diagrams if it is
/// about one or two formulas, and to the solver if it is about all rules at once or if a diagram would get large.
struct Lint<'a> {
    rule_set: &'a RuleSet,
    roots: &'a [Edge],
    /// Where each rule stands.
    spans: Vec<Span>,
    signatures: Signatures,
    diagrams: Diagrams<'a>,
    budget: Budget,
    /// Rules of which something could not be found out, with the question (`RULE` stands for the name).
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
        answer.unwrap_or_else(|TooLarge { .. }| {
            match Solving::new(&self.rule_set.dag, formulas, &self.budget).together(formulas) {
                Answer::Clash(_) => true,
                Answer::Together => false,
                Answer::Unknown => {
                    self.undecided.push(about);
                    false
                }
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

    /// One finding for all questions that stayed open.
    fn report_undecided(&mut self) {
        let open = std::mem::take(&mut self.undecided);
        let Some(&(index, what)) = open.first() else { return };
        let more = if open.len() > 1 { format!(", and {} more questions", open.len() - 1) } else { String::new() };
        let question = what.replace("RULE", &format!("`{}`", self.rule(index).name));
        let message = format!("not found out within the allowed effort: {question}{more}");
        let diagnostic = self.about(index, Code::Undecided, message).hint(
            "what is said elsewhere holds, but something may be missing; smaller formulas or fewer rules are easier",
        );
        self.diagnostics.push(diagnostic);
    }
}
