//! Switches that set concepts, and what rules would be then: exact counting over the same diagrams as everywhere, done by the page.

use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::rules::{Rule, RuleSet};
use serde::Serialize;

use crate::explain::explainer::Explained;
use crate::report::html::{name, number, table};

const SCRIPT: &str = include_str!("what_if.js");

/// More decisions than this are not put into a page.
const LARGEST: usize = 4000;

/// What the script computes with.
#[derive(Serialize)]
struct Data {
    /// The probability of each concept that is shown.
    concepts: Vec<f64>,
    rules: Vec<Counted>,
}

/// A rule as decisions, children first: a concept, and where to go without and with it. 0 is false, 1 is true, 2 the first decision.
#[derive(Serialize)]
struct Counted {
    decisions: Vec<[usize; 3]>,
    root: usize,
}

pub(super) fn switches(explained: &Explained<'_>, rule_set: &RuleSet) -> String {
    let told = &explained.told;
    let place = |concept: usize| {
        let name = rule_set.dag.vocabulary().names().nth(concept)?;
        told.concepts.iter().position(|of| of.concept == name)
    };
    let counted = |rule: &Rule| {
        let mut diagrams = Diagrams::new(&rule_set.dag, &[rule.root], Limits::default());
        let diagram = diagrams.compile(rule.root).ok()?;
        let circuit = diagrams.circuit(&[diagram]);
        let decisions = circuit.decisions().map(|(concept, [low, high])| Some([place(concept.index())?, low, high]));
        let decisions = decisions.collect::<Option<Vec<_>>>().filter(|decisions| decisions.len() <= LARGEST)?;
        Some(Counted { decisions, root: *circuit.roots().first()? })
    };
    // The worst rules first, as everywhere.
    let ordered = told.standings.iter().filter_map(|standing| rule_set.find(&standing.rule));
    let (names, rules): (Vec<&str>, Vec<Counted>) =
        ordered.filter_map(|rule| Some((rule.name.as_str(), counted(rule)?))).unzip();
    let left_out = told.standings.len() - names.len();
    let data = Data { concepts: told.concepts.iter().map(|of| of.p).collect(), rules };
    // Names do not go into the script, so nothing in them can end it.
    let Ok(data) = serde_json::to_string(&data) else { return String::new() };

    let concept_rows: Vec<(&str, Vec<String>)> = told
        .concepts
        .iter()
        .enumerate()
        .map(|(at, of)| {
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
    let words =
        if left_out > 0 { format!(" {left_out} rules are too large for this and left out.") } else { String::new() };
    format!(
        "<p>Set concepts as they might be and see what rules would be then, by exact counting over the probabilities of the others.{words} \
         <button type=\"button\" class=\"reset\" id=\"reset\">all as seen</button></p>\n<div class=\"if\"><div>{}</div><div>{}</div></div>\n\
         <script>\nconst data={data};\n{SCRIPT}</script>\n",
        table(&["concept", "p", "<th>as if it were</th>"], &concept_rows),
        table(&["rule", "holds, as seen", "holds, what if"], &rule_rows),
    )
}
