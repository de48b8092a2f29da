//! Rules under given concept probabilities: how likely each holds, the world in which it most likely holds, and what would
//! mend it most cheaply.

use std::collections::BTreeSet;

use anyhow::{Context, bail};
use chimera_logic::bdd::repair::CERTAIN_COST;
use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::dag::Edge;
use chimera_logic::printer::quote_name;
use chimera_logic::prob::{Independent, Probabilities};
use chimera_logic::rules::RuleSet;
use serde::Serialize;

use crate::console::Console;

/// The probability of a concept that nobody gave one.
const UNGIVEN: f64 = 0.5;

/// Probabilities of all concepts, by number.
pub(crate) struct Given {
    values: Vec<f64>,
}

impl Given {
    /// Reads `a=0.9,"Land vehicle"=0.3`. A comma inside parentheses or quotes belongs to the name.
    pub(crate) fn parse(text: &str, rule_set: &RuleSet) -> anyhow::Result<Self> {
        let vocabulary = rule_set.dag.vocabulary();
        let mut values = vec![UNGIVEN; vocabulary.len()];
        let mut given = BTreeSet::new();
        for pair in split_pairs(text) {
            let (name, value) = pair
                .rsplit_once('=')
                .with_context(|| format!("expected `concept=probability`, got `{pair}`\nhint: `--p a=0.9,b=0.3`"))?;
            let name = name.trim().trim_matches('"');
            let concept = vocabulary.get(name).with_context(|| match vocabulary.nearest(name) {
                Some(near) => format!("no rule speaks of `{name}`\nhint: did you mean `{near}`?"),
                None => format!("no rule speaks of `{name}`"),
            })?;
            let probability: f64 = value.trim().parse().unwrap_or(f64::NAN);
            if !(0.0..=1.0).contains(&probability) {
                bail!("the probability of `{name}` is a number from 0 to 1, got `{}`", value.trim());
            }
            if !given.insert(concept) {
                bail!("the probability of `{name}` is given twice");
            }
            values[concept.index()] = probability;
        }
        Ok(Self { values })
    }

    fn table(&self) -> anyhow::Result<Probabilities<'_>> {
        Ok(Probabilities::of_sample(&self.values)?)
    }
}

fn split_pairs(text: &str) -> Vec<&str> {
    let (mut quoted, mut depth) = (false, 0_usize);
    let separates = move |c: char| {
        match c {
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && !quoted && depth == 0
    };
    text.split(separates).map(str::trim).filter(|pair| !pair.is_empty()).collect()
}

/// What the given probabilities say of one rule. Exact answers are missing where the decision diagram would be too large.
#[derive(Serialize)]
pub(crate) struct Outlook {
    /// Probability that the rule holds, as if operands were independent (the paper's formulas).
    independent: f64,
    /// The same exactly, for independent concepts.
    exact: Option<f64>,
    /// The most probable world in which the rule holds; none for a contradiction.
    most_probable: Option<Vec<Setting>>,
    /// The cheapest changes to the likeliest world that make the rule hold; none for a contradiction.
    repair: Option<Vec<Setting>>,
    /// Sum of `|ln(p / (1 - p))|` over the changed concepts: how much evidence the repair overrules; none where it overrules a
    /// certainty.
    repair_cost: Option<f64>,
    /// Why exact answers are missing.
    too_large: Option<String>,
}

/// A concept and its truth.
#[derive(Serialize)]
pub(crate) struct Setting {
    concept: String,
    value: bool,
}

/// What gives outlooks: one store of diagrams for all rules.
pub(crate) struct Prospects<'a> {
    rule_set: &'a RuleSet,
    table: Probabilities<'a>,
    diagrams: Diagrams<'a>,
}

impl<'a> Prospects<'a> {
    pub(crate) fn new(rule_set: &'a RuleSet, given: &'a Given) -> anyhow::Result<Self> {
        let diagrams = Diagrams::new(&rule_set.dag, &rule_set.roots(), Limits::default());
        Ok(Self { rule_set, table: given.table()?, diagrams })
    }

    /// The outlook of some formulas taken together: one rule, or all of a set.
    pub(crate) fn outlook(&mut self, roots: &[Edge]) -> Outlook {
        let dag = &self.rule_set.dag;
        let independent = Independent::compile(dag, roots).evaluate(&self.table).into_iter().product();
        let mut outlook =
            Outlook { independent, exact: None, most_probable: None, repair: None, repair_cost: None, too_large: None };
        let compiled: Result<Vec<_>, _> = roots.iter().map(|&root| self.diagrams.compile(root)).collect();
        let all = match compiled.and_then(|compiled| self.diagrams.all(&compiled)) {
            Ok(all) => all,
            Err(error) => {
                outlook.too_large = Some(error.to_string());
                return outlook;
            }
        };
        let setting = |concept, value| Setting { concept: dag.vocabulary().name(concept).to_owned(), value };
        let circuit = self.diagrams.circuit(&[all]);
        outlook.exact = circuit.evaluate(&self.table).first().copied();
        // A world of probability 0 is none.
        let world = circuit.most_probable(0, &self.table, 0).filter(|world| world.log_probability > f64::NEG_INFINITY);
        outlook.most_probable =
            world.map(|world| world.values.into_iter().map(|(concept, value)| setting(concept, value)).collect());
        if let Some(repair) = circuit.repair(0, &self.table, 0) {
            // Adding 0 makes -0 a plain 0.
            outlook.repair_cost = Some(repair.cost + 0.0).filter(|&cost| cost < CERTAIN_COST);
            outlook.repair = Some(repair.flips.into_iter().map(|flip| setting(flip.concept, flip.value)).collect());
        }
        outlook
    }
}

/// The exact probability of every node, by number; none where a diagram would be too large.
pub(crate) fn of_nodes(rule_set: &RuleSet, given: &Given) -> anyhow::Result<Vec<Option<f64>>> {
    let dag = &rule_set.dag;
    let table = given.table()?;
    let mut diagrams = Diagrams::new(dag, &rule_set.roots(), Limits::default());
    let mut probability = |id| {
        let function = diagrams.compile(Edge::new(id, false)).ok()?;
        diagrams.circuit(&[function]).evaluate(&table).first().copied()
    };
    Ok(dag.ids().map(&mut probability).collect())
}

/// The outlook in words, indented under its rule.
pub(crate) fn write(outlook: &Outlook, console: &mut Console) -> anyhow::Result<()> {
    let Outlook { independent, exact, most_probable, repair, repair_cost, too_large } = outlook;
    let out = console.results();
    match (exact, too_large) {
        (Some(exact), _) => {
            writeln!(out, "    holds with probability {exact:.4} (as independent events {independent:.4})")?;
        }
        (None, Some(reason)) => writeln!(out, "    as independent events {independent:.4}; {reason}")?,
        (None, None) => {}
    }
    let literal =
        |setting: &Setting| format!("{}{}", if setting.value { "" } else { "!" }, quote_name(&setting.concept));
    if exact.is_some() && most_probable.is_none() && repair.is_some() {
        writeln!(out, "    cannot hold with these probabilities")?;
    }
    if let Some(world) = most_probable {
        let world: Vec<_> = world.iter().map(literal).collect();
        writeln!(
            out,
            "    most likely holds as {}",
            if world.is_empty() { "anything".to_owned() } else { world.join(" & ") }
        )?;
    }
    match (repair, repair_cost) {
        (Some(repair), _) if repair.is_empty() => writeln!(out, "    needs no repair")?,
        (Some(repair), cost) => {
            let flips: Vec<_> = repair
                .iter()
                .map(|flip| {
                    format!("{} were {}", quote_name(&flip.concept), if flip.value { "present" } else { "absent" })
                })
                .collect();
            let cost = cost.map_or_else(|| "against a certainty".to_owned(), |cost| format!("cost {cost:.2}"));
            writeln!(out, "    would hold if {} ({cost})", flips.join(" and "))?;
        }
        _ if too_large.is_none() => writeln!(out, "    nothing can repair it")?,
        _ => {}
    }
    Ok(())
}
