//! `rules show`: rules with their gates, children before parents.

use std::collections::BTreeMap;

use chimera_logic::dag::{Edge, Node, NodeId};
use chimera_logic::graph::GraphFile;
use chimera_logic::rules::{Rule, RuleId, RuleSet, Sharing};
use chimera_logic::vocabulary::Vocabulary;
use serde::Serialize;

use super::input;
use super::probability::{self, Given, Outlook, Prospects};
use crate::Outcome;
use crate::args::ShowArguments;
use crate::console::Console;
use crate::table::{Align, Table, counted, grouped};

pub(crate) fn run(arguments: &ShowArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    // Where rules come from goes with them into another file; it is no part of what is shown otherwise.
    let (mut rule_set, notes) = if arguments.graph {
        let traced = input::load_traced(&arguments.rules.file, Vocabulary::open(), console)?;
        let notes = traced.comments()?;
        (traced.rule_set, notes)
    } else {
        (input::load_sound(&arguments.rules.file, None, console)?, String::new())
    };
    let users = rule_set.users();
    input::keep_named(&mut rule_set, &arguments.selection.names)?;
    let given = arguments.probabilities.as_deref().map(|text| Given::parse(text, &rule_set)).transpose()?;
    let mut prospects = given.as_ref().map(|given| Prospects::new(&rule_set, given)).transpose()?;
    if arguments.graph {
        let notes = notes.lines().map(|line| line.trim_start_matches(['#', ' ']).to_owned()).collect();
        console.write_json(&GraphFile { notes, ..rule_set.to_graphs() })?;
    } else if arguments.json {
        console.write_json(&Shown::new(&rule_set, prospects.as_mut()))?;
    } else {
        for rule in &rule_set.rules {
            write_rule(&rule_set, rule, &users, console)?;
            if let Some(prospects) = &mut prospects {
                probability::write(&prospects.outlook(&[rule.root]), console)?;
            }
            writeln!(console.results())?;
        }
        if let (Some(prospects), true) = (&mut prospects, rule_set.rules.len() > 1) {
            writeln!(console.results(), "all {} rules together", rule_set.rules.len())?;
            probability::write(&prospects.outlook(&rule_set.roots()), console)?;
            writeln!(console.results())?;
        }
        write_sharing(&rule_set, console)?;
    }
    Ok(Outcome::Done)
}

fn write_rule(rule_set: &RuleSet, rule: &Rule, users: &[Vec<RuleId>], console: &mut Console) -> anyhow::Result<()> {
    let dag = &rule_set.dag;
    let attributes: String = rule.attributes.given().iter().map(|(name, text)| format!(", {name} {text}")).collect();
    let out = console.results();
    writeln!(out, "{} ({}{attributes})", rule.name, rule_set.family(rule))?;
    writeln!(out, "  {}", dag.text(rule.root))?;
    let mut gates = Table::new(&[
        ("gate", Align::Left),
        ("level", Align::Right),
        ("operator", Align::Left),
        ("operands", Align::Left),
        ("", Align::Left),
    ]);
    let mut any = false;
    for id in dag.cone(&[rule.root]) {
        let Node::Gate(op, operands) = dag.node(id) else { continue };
        any = true;
        let operands: Vec<_> = operands.iter().map(|&operand| reference(rule_set, operand)).collect();
        let mut remarks = Vec::new();
        if id == rule.root.node() {
            remarks.push(if rule.root.is_negated() { "must fail".to_owned() } else { "must hold".to_owned() });
        }
        let users = users[id.index()].len();
        if users > 1 {
            remarks.push(format!("shared by {users} rules"));
        }
        let cells =
            [gate_name(id), dag.level(id).to_string(), op.name().to_owned(), operands.join(", "), remarks.join(", ")];
        gates.row(cells.to_vec());
    }
    if any {
        gates.write(out, 4)?;
    }
    Ok(())
}

fn gate_name(id: NodeId) -> String {
    format!("g{}", id.index())
}

/// An operand: a concept by name, a gate by its number.
fn reference(rule_set: &RuleSet, edge: Edge) -> String {
    match rule_set.dag.node(edge.node()) {
        Node::Leaf(_) => rule_set.dag.text(edge),
        Node::Gate(..) => format!("{}{}", if edge.is_negated() { "!" } else { "" }, gate_name(edge.node())),
    }
}

fn write_sharing(rule_set: &RuleSet, console: &mut Console) -> anyhow::Result<()> {
    if console.is_quiet() {
        return Ok(());
    }
    let sharing = rule_set.sharing();
    writeln!(
        console.results(),
        "{} over {}: {} in {} ({} without sharing), at most {} a gate",
        counted(sharing.rules, "rule"),
        counted(sharing.concepts, "concept"),
        counted(sharing.gates, "gate"),
        counted(sharing.levels, "level"),
        grouped(sharing.gates_unshared),
        counted(sharing.widest, "operand"),
    )?;
    Ok(())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    rules: Vec<ShownRule<'a>>,
    gates: Vec<ShownGate>,
    sharing: Sharing,
    /// All rules taken together.
    #[serde(skip_serializing_if = "Option::is_none")]
    outlook: Option<Outlook>,
}

#[derive(Serialize)]
struct ShownRule<'a> {
    name: &'a str,
    family: String,
    attributes: BTreeMap<&'static str, String>,
    formula: String,
    root: ShownEdge,
    #[serde(skip_serializing_if = "Option::is_none")]
    outlook: Option<Outlook>,
}

#[derive(Serialize)]
struct ShownGate {
    gate: usize,
    level: u32,
    operator: &'static str,
    operands: Vec<ShownEdge>,
}

/// A concept by name or a gate by number.
#[derive(Serialize)]
struct ShownEdge {
    #[serde(skip_serializing_if = "Option::is_none")]
    concept: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<usize>,
    negated: bool,
}

impl<'a> Shown<'a> {
    fn new(rule_set: &'a RuleSet, prospects: Option<&mut Prospects<'_>>) -> Self {
        let dag = &rule_set.dag;
        let edge = |edge: Edge| match dag.node(edge.node()) {
            Node::Leaf(concept) => {
                let name = dag.vocabulary().name(concept).to_owned();
                ShownEdge { concept: Some(name), gate: None, negated: edge.is_negated() }
            }
            Node::Gate(..) => ShownEdge { concept: None, gate: Some(edge.node().index()), negated: edge.is_negated() },
        };
        let mut prospects = prospects;
        let mut outlook = |roots: &[Edge]| prospects.as_mut().map(|prospects| prospects.outlook(roots));
        let mut rule = |rule: &'a Rule| ShownRule {
            name: &rule.name,
            family: rule_set.family(rule).to_string(),
            attributes: rule.attributes.given().into_iter().collect(),
            formula: dag.text(rule.root),
            root: edge(rule.root),
            outlook: outlook(&[rule.root]),
        };
        let gate = |id: NodeId| match dag.node(id) {
            Node::Leaf(_) => None,
            Node::Gate(op, operands) => Some(ShownGate {
                gate: id.index(),
                level: dag.level(id),
                operator: op.name(),
                operands: operands.iter().map(|&operand| edge(operand)).collect(),
            }),
        };
        Self {
            rules: rule_set.rules.iter().map(&mut rule).collect(),
            gates: dag.cone(&rule_set.roots()).into_iter().filter_map(gate).collect(),
            sharing: rule_set.sharing(),
            outlook: outlook(&rule_set.roots()),
        }
    }
}
