//! Rules from structure: what a hierarchy says about the concepts of a dataset. Each tie gives two rules, the natural one
//! (a kind implies what it is a kind of, a part its whole) and the inverted one (coarse implies fine, a whole its part), and
//! siblings give compounds. What labels that are closed upwards can never break is left out, with the reason, and so is
//! what the hierarchy does not say but one could infer.

mod ties;
mod written;

use std::collections::BTreeMap;
use std::fmt::Write;

use chimera_logic::attributes::Family;
use chimera_logic::dag::Edge;
use chimera_logic::lint::{Settled, settled};
use chimera_logic::load::{File, load_text, parse_file};
use chimera_logic::printer::{format_file, quote_name};
use chimera_logic::rules::RuleSet;

use self::ties::Ties;
use self::written::{listed, written};
use crate::dataset::Dataset;
use crate::dataset::hierarchy::Hierarchy;
use crate::dataset::hierarchy::TOP_FOUND;
use crate::dataset::promises::{Promises, UNCLOSED};
use crate::error::{Error, Result};
use crate::table::LabelTable;

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
    /// The classes, none of them a concept, through which the tie leads.
    pub through: Vec<String>,
    /// Whether it was not found out in time if closed labels can break it.
    pub undecided: bool,
}

impl StructuralRule {
    /// The rule's line in a file, with what a reader should know of it.
    fn line(&self) -> String {
        let through = (!self.through.is_empty()).then(|| format!("through {}", listed(&self.through)));
        let undecided = self.undecided.then(|| "not found out if closed labels can break it".to_owned());
        let remarks: Vec<String> = through.into_iter().chain(undecided).collect();
        let comment = if remarks.is_empty() { String::new() } else { format!("  # {}", remarks.join("; ")) };
        format!("{} [family={}]: {}{comment}\n", quote_name(&self.name), self.family(), self.formula)
    }

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
    pub left_out: Vec<LeftOut>,
}

/// A rule that is left out, with the reason.
pub type LeftOut = (StructuralRule, String);

/// Makes rules of the hierarchy in a dataset folder.
///
/// # Errors
/// A folder without a hierarchy, one that ties no two concepts, and labels that are not as closed as it says.
pub fn rules_from_structure(dataset: &Dataset, options: StructureOptions) -> Result<Structure> {
    let hierarchy = Hierarchy::read(dataset.folder())?;
    let table = dataset.table();
    let ties = Ties::between(&hierarchy, &table.concepts);
    if ties.is_empty() {
        return Err(no_ties(dataset, &hierarchy));
    }
    refuse_unclosed(&hierarchy, table)?;
    let (rules, inferred) = written(&ties, (&hierarchy, table), options);
    let mut rule_set = loaded(&rules, table)?;
    let axioms = match hierarchy.closed {
        true => Promises::of_hierarchy(&hierarchy, &table.concepts).axioms(&mut rule_set.dag, &table.concepts)?,
        false => Vec::new(),
    };
    let verdicts = settled(&rule_set.dag, &axioms, &rule_set.roots());
    let mut structure = sifted(rules, verdicts, &rule_set);
    structure.left_out.extend(inferred);
    Ok(structure)
}

/// Why there are no rules, and what can be done about it.
fn no_ties(dataset: &Dataset, hierarchy: &Hierarchy) -> Error {
    let (folder, concepts) = (dataset.folder().display(), &dataset.table().concepts);
    let classes = concepts.iter().filter(|concept| hierarchy.number(concept).is_some()).count();
    let message = format!(
        "expected concepts of `{folder}` that are kinds or parts of each other in its hierarchy, got {classes} of {} \
         concepts that are classes of it, and no tie between them",
        concepts.len()
    );
    let provenance = &dataset.manifest().provenance;
    // Where fewer classes were found than were asked for, more would not be found either.
    let number = |option: &str| provenance.options.get(option).and_then(|number| number.parse::<usize>().ok());
    let may_grow = number("top").zip(number(TOP_FOUND)).is_some_and(|(top, found)| top <= found);
    let hint = match provenance.importer.as_str() {
        "openimages" if may_grow => "import again with a larger `--top`: more concepts may have ties",
        _ => "write ties between concepts into `hierarchy.json`, or rules by hand",
    };
    Error::input(message, Some(hint.to_owned()))
}

/// Leaves out what always holds and what was said before, with the reason; what could not be found out stays, and says
/// so.
fn sifted(rules: Vec<StructuralRule>, verdicts: Vec<Settled>, rule_set: &RuleSet) -> Structure {
    let (mut structure, mut first) = (Structure { rules: Vec::new(), left_out: Vec::new() }, BTreeMap::new());
    for ((mut rule, verdict), root) in rules.into_iter().zip(verdicts).zip(rule_set.roots()) {
        let earlier: &String = first.entry(root).or_insert_with(|| rule.name.clone());
        let reason = match verdict {
            Settled::Always(axioms) => Some(always(&axioms, root, rule_set)),
            _ if *earlier != rule.name => Some(format!("it says the same as `{earlier}`")),
            Settled::Undecided => {
                rule.undecided = true;
                None
            }
            Settled::Never(_) | Settled::Open => None,
        };
        match reason {
            Some(reason) => structure.left_out.push((rule, reason)),
            None => structure.rules.push(rule),
        }
    }
    structure
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
            rules.iter().for_each(|rule| text.push_str(&rule.line()));
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

fn loaded(rules: &[StructuralRule], table: &LabelTable) -> Result<RuleSet> {
    let text: String = rules.iter().map(StructuralRule::line).collect();
    let loaded = load_text("the hierarchy's rules", &text, table.vocabulary());
    match loaded.diagnostics.kept().iter().find(|_| loaded.diagnostics.errors() > 0) {
        Some(first) => Err(Error::input(format!("cannot write rules over these concepts: {}", first.message), None)),
        None => Ok(loaded.rule_set),
    }
}

/// Makes sure that labels keep what the hierarchy promises of them.
fn refuse_unclosed(hierarchy: &Hierarchy, table: &LabelTable) -> Result<()> {
    let broken = hierarchy.broken_ties(table);
    let Some(first) = broken.first() else { return Ok(()) };
    let (path, rule, rows) = (table.path.display(), &first.rule, first.in_words());
    let more =
        if broken.len() > 1 { format!("; {} other ties are broken, too", broken.len() - 1) } else { String::new() };
    let message = format!("expected labels in `{path}` that are closed upwards, got `{rule}` broken by {rows}{more}");
    Err(Error::input(message, Some(UNCLOSED.to_owned())))
}

#[cfg(test)]
mod tests {
    use chimera_logic::vocabulary::Vocabulary;

    use super::*;

    /// No solver is asked: whatever it says, nothing stays without a word.
    #[test]
    fn what_is_undecided_stays_and_says_so() {
        let rule = |name: &str, formula: &str| StructuralRule {
            name: name.to_owned(),
            origin: Origin::Part,
            formula: formula.to_owned(),
            through: vec!["Body".to_owned()],
            undecided: false,
        };
        let rules = vec![rule("one", "a => b"), rule("two", "b => c"), rule("three", "b => c"), rule("four", "c => a")];
        let text: String = rules.iter().map(StructuralRule::line).collect();
        let rule_set = load_text("rules", &text, Vocabulary::open()).rule_set;
        let verdicts = vec![Settled::Open, Settled::Undecided, Settled::Undecided, Settled::Always(Vec::new())];
        let Structure { rules, left_out } = sifted(rules, verdicts, &rule_set);
        let kept: Vec<(&str, bool)> = rules.iter().map(|rule| (rule.name.as_str(), rule.undecided)).collect();
        assert_eq!(kept, [("one", false), ("two", true)]);
        let reasons: Vec<&str> = left_out.iter().map(|(_, reason)| reason.as_str()).collect();
        assert_eq!(reasons, ["it says the same as `two`", "it always holds, whatever the concepts are"]);
        assert_eq!(rules[0].line(), "one [family=simple]: a => b  # through Body\n");
        let line = "two [family=simple]: b => c  # through Body; not found out if closed labels can break it\n";
        assert_eq!(rules[1].line(), line);
    }
}
