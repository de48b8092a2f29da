//! Rules from structure: what a hierarchy says about the concepts of a dataset. Each tie gives two rules, the natural one
//! (a kind implies what it is a kind of, a part its whole) and the inverted one (coarse implies fine, a whole its part), and
//! siblings give compounds. What labels that are closed upwards can never break is left out, with the reason.

mod ties;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use chimera_logic::attributes::Family;
use chimera_logic::dag::Edge;
use chimera_logic::lint::{Settled, settled};
use chimera_logic::load::{File, load_text, parse_file};
use chimera_logic::printer::{format_file, quote_name};
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::Op;
use chimera_logic::truth::Program;

use self::ties::Ties;
use crate::data::dataset::Dataset;
use crate::data::hierarchy::Hierarchy;
use crate::data::table::LabelTable;
use crate::error::{Error, Result};

/// Pairs of siblings that a parent gets compounds for unless another number is asked for.
pub const PER_PARENT_PAIR_LIMIT: usize = 4;

/// Which rules to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructureOptions {
    /// A kind implies what it is a kind of, a part its whole.
    pub natural: bool,
    /// Coarse implies fine, a whole its part; and compounds of siblings.
    pub inverted: bool,
    /// For so many pairs of siblings a parent gets compounds.
    pub per_parent_pair_limit: usize,
}

impl Default for StructureOptions {
    fn default() -> Self {
        Self { natural: true, inverted: true, per_parent_pair_limit: PER_PARENT_PAIR_LIMIT }
    }
}

/// Where a rule comes from; the order is that of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// `Car => "Land vehicle"`
    Kind,
    /// `"Bicycle wheel" => Bicycle`
    Part,
    /// `"Land vehicle" => Car`
    CoarseToFine,
    /// `Bicycle => "Bicycle wheel"`
    WholeToPart,
    /// `"Land vehicle" => Bicycle & Car` and `"Land vehicle" => Bicycle | Car`
    Siblings,
}

impl Origin {
    const ALL: [Self; 5] = [Self::Kind, Self::Part, Self::CoarseToFine, Self::WholeToPart, Self::Siblings];

    /// What the rules say, as a heading.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::Kind => "what is shown is what it is a kind of",
            Self::Part => "a part comes with its whole",
            Self::CoarseToFine => "coarse to fine: what is shown is shown as one of its kinds",
            Self::WholeToPart => "a whole shows its part",
            Self::Siblings => "coarse to two of its kinds, both or one of them at least",
        }
    }
}

/// A rule of the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructuralRule {
    /// Its name, unique.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// What must hold, as rules are written.
    pub formula: String,
}

impl StructuralRule {
    fn family(&self) -> Family {
        if self.origin == Origin::Siblings { Family::Compound } else { Family::Simple }
    }
}

/// What a hierarchy gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Structure {
    /// The rules that samples can break, by origin.
    pub rules: Vec<StructuralRule>,
    /// The others, each with the reason.
    pub left_out: Vec<(StructuralRule, String)>,
}

/// Makes rules of the hierarchy in a dataset folder.
///
/// # Errors
/// A folder without a hierarchy, one that ties no two concepts, and labels that are not as closed as it says.
pub fn rules_from_structure(dataset: &Dataset, options: StructureOptions) -> Result<Structure> {
    let hierarchy = Hierarchy::read(dataset.folder())?;
    let table = dataset.table();
    let ties = Ties::between(&hierarchy, &table.concepts);
    if ties.is_empty() {
        let (folder, concepts) = (dataset.folder().display(), table.concepts.len());
        let message = format!("expected ties between the {concepts} concepts of `{folder}` in its hierarchy, got none");
        let hint = "concepts that are kinds or parts of each other give rules; a larger vocabulary may have some";
        return Err(Error::input(message, Some(hint.to_owned())));
    }
    let mut rules = written(&ties, table, options);
    let mut rule_set = loaded(&rules, table)?;
    let axioms = if hierarchy.closed { closure(&mut rule_set, &ties, table)? } else { Vec::new() };
    let roots = rule_set.roots();
    let (mut left_out, mut first): (Vec<(usize, String)>, BTreeMap<Edge, usize>) = (Vec::new(), BTreeMap::new());
    for (position, verdict) in settled(&rule_set.dag, &axioms, &roots).into_iter().enumerate() {
        let earlier = *first.entry(roots[position]).or_insert(position);
        let reason = match verdict {
            Settled::Always(axioms) => always(&axioms, roots[position], &rule_set),
            _ if earlier != position => format!("it says the same as `{}`", rules[earlier].name),
            Settled::Never(_) | Settled::Open | Settled::Undecided => continue,
        };
        left_out.push((position, reason));
    }
    let left_out = left_out.into_iter().rev().map(|(position, reason)| (rules.remove(position), reason));
    let mut left_out: Vec<(StructuralRule, String)> = left_out.collect();
    left_out.reverse();
    Ok(Structure { rules, left_out })
}

/// Why a formula holds wherever these promises of closed labels are kept.
fn always(axioms: &[Edge], formula: Edge, rule_set: &RuleSet) -> String {
    let texts: Vec<String> = axioms.iter().map(|&axiom| format!("`{}`", rule_set.dag.text(axiom))).collect();
    match axioms {
        [] => "it always holds, whatever the concepts are".to_owned(),
        [axiom] if *axiom == formula => "it always holds, since labels are closed upwards".to_owned(),
        _ => format!("it always holds, since labels are closed upwards: {}", texts.join(", ")),
    }
}

impl Structure {
    /// The rule file, in the canonical spelling; what was left out stands in comments at its end.
    #[must_use]
    pub fn to_text(&self, dataset: &Dataset) -> String {
        let concepts = dataset.table().concepts.len();
        let name = &dataset.manifest().name;
        let mut text = format!("# Rules from the hierarchy of `{name}`, over its {concepts} concepts\n");
        for origin in Origin::ALL {
            let rules: Vec<&StructuralRule> = self.rules.iter().filter(|rule| rule.origin == origin).collect();
            if !rules.is_empty() {
                let _ = writeln!(text, "\n# {}", origin.heading());
            }
            rules.iter().for_each(|rule| text.push_str(&line(rule)));
        }
        if !self.left_out.is_empty() {
            text.push_str("\n# left out\n");
        }
        for (rule, reason) in &self.left_out {
            let _ = writeln!(text, "# {}: {} ({reason})", quote_name(&rule.name), rule.formula);
        }
        let file = File { name: String::new(), bytes: text.clone().into_bytes() };
        // Only a file with errors has no canonical spelling, and these rules were loaded before.
        format_file(&parse_file(file).lines).unwrap_or(text)
    }
}

fn line(rule: &StructuralRule) -> String {
    format!("{} [family={}]: {}\n", quote_name(&rule.name), rule.family(), rule.formula)
}

/// All rules that are asked for, by origin.
fn written(ties: &Ties, table: &LabelTable, options: StructureOptions) -> Vec<StructuralRule> {
    let quoted = |concept: usize| quote_name(&table.concepts[concept]);
    let mut names = BTreeSet::new();
    let mut rules = Vec::new();
    let mut add = |origin: Origin, words: &[&str], formula: String| {
        let name = unused(&words.iter().map(|word| slug(word)).collect::<Vec<_>>().join("_"), &mut names);
        rules.push(StructuralRule { name, origin, formula });
    };
    let name = |concept: usize| table.concepts[concept].as_str();
    if options.natural {
        for &(kind, above) in &ties.kinds {
            add(Origin::Kind, &[name(kind), "is", name(above)], format!("{} => {}", quoted(kind), quoted(above)));
        }
        for &(part, whole) in &ties.parts {
            add(Origin::Part, &[name(part), "of", name(whole)], format!("{} => {}", quoted(part), quoted(whole)));
        }
    }
    if options.inverted {
        for &(kind, above) in &ties.kinds {
            let words = [name(above), "shows", name(kind)];
            add(Origin::CoarseToFine, &words, format!("{} => {}", quoted(above), quoted(kind)));
        }
        for &(part, whole) in &ties.parts {
            add(
                Origin::WholeToPart,
                &[name(whole), "has", name(part)],
                format!("{} => {}", quoted(whole), quoted(part)),
            );
        }
        let common = positives(table);
        for (parent, one, other) in ties.sibling_pairs(&common, &table.concepts, options.per_parent_pair_limit) {
            for (word, symbol) in [("and", Op::And.symbol()), ("or", Op::Or.symbol())] {
                let formula = format!("{} => {} {symbol} {}", quoted(parent), quoted(one), quoted(other));
                add(Origin::Siblings, &[name(parent), "shows", name(one), word, name(other)], formula);
            }
        }
    }
    rules
}

/// On how many rows to learn from each concept holds.
fn positives(table: &LabelTable) -> Vec<u64> {
    let labels = table.labels.select(&table.training_rows());
    (0..labels.columns()).map(|concept| labels.counts(concept).holds).collect()
}

fn loaded(rules: &[StructuralRule], table: &LabelTable) -> Result<RuleSet> {
    let text: String = rules.iter().map(line).collect();
    let loaded = load_text("the hierarchy's rules", &text, table.vocabulary());
    match loaded.diagnostics.kept().iter().find(|_| loaded.diagnostics.errors() > 0) {
        Some(first) => Err(Error::input(format!("cannot write rules over these concepts: {}", first.message), None)),
        None => Ok(loaded.rule_set),
    }
}

/// What closed labels promise: everything implies what it is a kind of. That they keep it is made sure of.
fn closure(rule_set: &mut RuleSet, ties: &Ties, table: &LabelTable) -> Result<Vec<Edge>> {
    let dag = &mut rule_set.dag;
    let mut leaf = |concept: usize| dag.resolve(&table.concepts[concept]).map(|concept| dag.leaf(concept));
    let pairs: Vec<(Edge, Edge)> =
        ties.ancestors.iter().filter_map(|&(kind, above)| Some((leaf(kind)?, leaf(above)?))).collect();
    let axioms: Vec<Edge> =
        pairs.into_iter().filter_map(|(kind, above)| dag.gate(Op::Implies, vec![kind, above]).ok()).collect();
    let truth = Program::compile(dag, &axioms).evaluate(&table.labels);
    for (column, &axiom) in axioms.iter().enumerate() {
        let broken = truth.counts(column).fails;
        if broken > 0 {
            let (path, rule) = (table.path.display(), dag.text(axiom));
            let message =
                format!("expected labels in `{path}` that are closed upwards, got {broken} rows that break `{rule}`");
            let hint = "mend the labels, or write `\"closed\": false` in `hierarchy.json`";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
    }
    Ok(axioms)
}

/// A name of small letters, digits and `_`.
fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// The name, with a number behind it where it is taken.
fn unused(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = |number: usize| if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
    let free = (1..).map(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}
