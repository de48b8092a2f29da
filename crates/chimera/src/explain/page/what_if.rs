//! Switches that set concepts, and what rules would be then: exact counting over the same diagrams as everywhere, done by the page.

use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::rules::{Rule, RuleSet};
use serde::Serialize;

use super::rows::Rows;
use super::{MOST_ROWS, cut};
use crate::explain::told::{ConceptTold, Explanation};
use crate::report::html::{counted, name, number, table};

const SCRIPT: &str = include_str!("what_if.js");

/// More decisions of a rule than this are not put into a page, nor more of all rules.
const LARGEST: usize = 4000;
const LARGEST_OF_ALL: usize = 20_000;

/// What the script computes with.
#[derive(Serialize)]
struct Data {
    /// The probability of each concept: by the method, and by the leaf bank, which is what rules without grafts are scored by.
    concepts: Vec<f64>,
    bank: Vec<f64>,
    rules: Vec<Counted>,
}

/// A rule as decisions, children first: a concept, and where to go without and with it. 0 is false, 1 is true, 2 the first decision.
#[derive(Serialize)]
struct Counted {
    decisions: Vec<[usize; 3]>,
    root: usize,
    /// Whether it is scored by the leaf bank's probabilities.
    by_bank: bool,
}

pub(super) fn switches(told: &Explanation, rule_set: &RuleSet, shown: &Rows) -> String {
    // The worst rules first, as everywhere.
    let (mut names, mut rules, mut left) = (Vec::new(), Vec::new(), LARGEST_OF_ALL);
    for standing in told.standings.iter().take(MOST_ROWS) {
        let Some(rule) = rule_set.find(&standing.rule) else { continue };
        let by_bank = standing.without_grafts.is_some();
        let Some(counted) = counted_rule(rule_set, rule, (shown, by_bank), left.min(LARGEST)) else { continue };
        left -= counted.decisions.len();
        names.push(rule.name.as_str());
        rules.push(counted);
    }
    let left_out = told.standings.len() - names.len();
    let of = |p: &dyn Fn(&ConceptTold) -> f64| told.concepts.iter().map(p).collect();
    let data = Data { concepts: of(&|of| of.p), bank: of(&|of| of.p_bank), rules };
    // Names do not go into the script, so nothing in them can end it.
    let Ok(data) = serde_json::to_string(&data) else { return String::new() };

    let concept_rows: Vec<(&str, Vec<String>)> = shown
        .shown
        .iter()
        .map(|&at| {
            let of = &told.concepts[at];
            let button = |value: &str, words: &str| {
                let pressed = value.is_empty();
                format!("<button type=\"button\" data-concept=\"{at}\" data-value=\"{value}\" aria-pressed=\"{pressed}\">{words}</button>")
            };
            let buttons = [button("", "as seen"), button("1", "present"), button("0", "absent")].concat();
            ("", vec![name(&of.concept), number(Some(of.p)), format!("<td><span class=\"switch\">{buttons}</span></td>")])
        })
        .collect();
    let rule_rows: Vec<(&str, Vec<String>)> = names
        .iter()
        .enumerate()
        .map(|(at, rule)| {
            let cell = |what: &str| format!("<td data-rule=\"{at}\" data-{what}></td>");
            ("", vec![name(rule), cell("before"), cell("after")])
        })
        .collect();
    let words = if left_out > 0 {
        format!(
            " Left out, since they are too large or the page would be: {}, the worst being there first.",
            counted(left_out, "rule")
        )
    } else {
        String::new()
    };
    format!(
        "<p>Set concepts as they might be and see what rules would be then, by exact counting over the probabilities of the others.{words} \
         <button type=\"button\" class=\"reset\" id=\"reset\">all as seen</button></p>\n<div class=\"if\"><div>{}</div><div>{}</div></div>\n\
         <script>\nconst data={data};\n{SCRIPT}</script>\n",
        table(&["concept", "p", "<th>as if it were</th>"], &concept_rows)
            + &cut(told.concepts.len(), "concepts of the worst rules"),
        table(&["rule", "holds, as seen", "holds, what if"], &rule_rows),
    )
}

/// A rule as decisions; `None` where there are more than `most`.
fn counted_rule(rule_set: &RuleSet, rule: &Rule, (shown, by_bank): (&Rows, bool), most: usize) -> Option<Counted> {
    let mut diagrams = Diagrams::new(&rule_set.dag, &[rule.root], Limits::default());
    let diagram = diagrams.compile(rule.root).ok()?;
    let circuit = diagrams.circuit(&[diagram]);
    if circuit.len() > most {
        return None;
    }
    let decisions = circuit.decisions().map(|(concept, [low, high])| Some([shown.place(concept.index())?, low, high]));
    Some(Counted { decisions: decisions.collect::<Option<_>>()?, root: *circuit.roots().first()?, by_bank })
}
