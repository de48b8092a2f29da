//! Mining from end to end: train rows in, chosen rules out, with what became of everything else.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use chimera_logic::attributes::{Attributes, Interval};
use chimera_logic::bits::{TruthCounts, TruthTable};
use chimera_logic::dag::Dag;
use chimera_logic::truth::Program;
use serde::Serialize;

use super::candidate::Candidate;
use super::funnel::{Fate, Funnel};
use super::judge::Judge;
use super::options::{Definitions, MineOptions};
use super::parts::Parts;
use super::record::MiningRecord;
use super::rounding::{down, up};
use super::search::{Found, Search};
use super::select::{Selection, Skipped, select};
use super::shape::{Pattern, Shape};
use crate::data::dataset::Dataset;
use crate::data::promises::{Promise, Promises};
use crate::data::rows::Rows;
use crate::data::split::Split;
use crate::error::{Error, Result};

/// Concepts that vary, at most: counts of all their pairs are kept in memory.
const MOST_CONCEPTS: usize = 4096;

/// A rule that was chosen.
#[derive(Clone, Debug, Serialize)]
pub struct MinedRule {
    /// Its name, unique.
    pub name: String,
    /// What must hold, as rules are written.
    pub formula: String,
    /// What it looks like.
    pub pattern: Pattern,
    /// Train rows that it applies to.
    pub support: u64,
    /// Of these, rows that keep it.
    pub kept: u64,
    /// Their share.
    pub confidence: f64,
    /// The 95 % interval of the share: lower and upper bound.
    pub interval: [f64; 2],
    /// How much more often it is kept than by chance.
    pub lift: Option<f64>,
    /// Probability that chance does as well, adjusted for all tests.
    pub p_adjusted: f64,
    /// Held-out rows that keep it, of those that it applies to.
    pub held_out: Option<[u64; 2]>,
    /// The rule over concepts by number.
    #[serde(skip)]
    pub shape: Shape,
}

impl MinedRule {
    pub(super) fn attributes(&self) -> Attributes {
        Attributes {
            family: Some(self.pattern.family()),
            support: Some(self.support),
            confidence: Some(down(self.confidence)),
            interval: Some(Interval { low: down(self.interval[0]), high: up(self.interval[1]) }),
            ..Attributes::default()
        }
    }
}

/// A rule that was not chosen, and why.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// What it says.
    pub formula: String,
    /// Why it is not among the chosen.
    pub reason: String,
    /// The rule over concepts by number.
    #[serde(skip)]
    pub shape: Shape,
}

/// A rule that labels can never break.
#[derive(Clone, Debug, Serialize)]
pub struct Meant {
    /// What it says.
    pub formula: String,
    /// Why.
    pub promise: Promise,
    /// The rule over concepts by number.
    #[serde(skip)]
    pub shape: Shape,
}

/// How a rule does on rows that had no say in choosing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Rows that keep it, that break it, and of which that is unknown.
    #[serde(flatten)]
    pub truth: TruthCounts,
}

/// What mining gave.
#[derive(Clone, Debug)]
pub struct Mining {
    /// The chosen rules: by pattern, then in the order of choice.
    pub rules: Vec<MinedRule>,
    /// Rules that labels can never break.
    pub meant: Vec<Meant>,
    /// Rules that passed all tests and were not chosen, with the reason.
    pub skipped: Vec<LeftOut>,
    /// Concepts that no rule can be about, with the reason.
    pub constant: Vec<(String, &'static str)>,
    /// What became of all candidates.
    pub funnel: Funnel,
    /// Rows that were searched, and that were held out.
    pub rows: [usize; 2],
    /// The largest p-values that were discoveries: of pairs, and with two conditions, and with two choices.
    pub(super) largest_p: BTreeMap<Kind, f64>,
    /// Whether there may be more rules: the choice ended, since too many candidates follow from others.
    pub gave_up: bool,
    /// Where the rules come from.
    pub record: MiningRecord,
}

/// What is tested together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Pairs,
    And,
    Or,
}

impl Kind {
    /// What a pattern is tested with: those that are made of pairs need no tests of their own.
    pub(super) fn of(pattern: Pattern) -> Self {
        match pattern {
            Pattern::Implies | Pattern::Excludes | Pattern::Iff | Pattern::Chain | Pattern::Both => Self::Pairs,
            Pattern::And => Self::And,
            Pattern::Or => Self::Or,
        }
    }
}

/// Mines the train rows of a dataset, and no others. `command` is what the user typed, for the record.
///
/// # Errors
/// Options out of range, a dataset without train rows or with fewer than two concepts that vary, labels that break what they
/// promise.
pub fn mine(
    dataset: &Dataset,
    options: &MineOptions,
    command: &str,
    threads: NonZeroUsize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Mining> {
    options.check()?;
    let parts = Parts::of(dataset, options)?;
    let (concepts, table) = (&dataset.table().concepts, dataset.table());
    let (active, constant) = varying(&parts, concepts);
    check_concepts(dataset, &active, &constant)?;
    let promises = match options.definitions {
        Definitions::Drop => Promises::of(dataset)?,
        Definitions::Keep => Promises::default(),
    };
    promises.check(table, &parts.train)?;
    let least = options.support.least(parts.searched.rows(), parts.train.rows());
    let search = Search::new(&parts.searched, options, &promises, &active, least, threads)?;
    let pairs = search.pairs();
    let [and, or] = search.compounds(threads, progress)?;
    let meant: Vec<Shape> = pairs.meant.iter().chain(&or.meant).copied().collect();

    let (mut funnel, mut largest_p) = (Funnel::default(), BTreeMap::new());
    let judge = Judge { parts: &parts, options, threads };
    let mut judged = |kind: Kind, found: Found, fate: &mut Fate| -> Result<Vec<Candidate>> {
        let (passed, largest) = judge.pass(found, fate)?;
        largest_p.insert(kind, largest);
        Ok(passed)
    };
    let pairs = judged(Kind::Pairs, pairs, &mut funnel.pairs)?;
    let and = judged(Kind::And, and, &mut funnel.and)?;
    let or = judged(Kind::Or, or, &mut funnel.or)?;
    funnel.unasked = pairs.iter().filter(|pair| !options.wants(pair.shape.pattern())).count() as u64;
    let passed = judge.by_pattern(&pairs, [and, or], &promises);
    funnel.passed = passed.values().map(|candidates| candidates.len() as u64).sum();

    let order: Vec<Pattern> = Pattern::ALL.into_iter().filter(|&pattern| options.wants(pattern)).collect();
    let dag = Dag::new(table.vocabulary());
    let selection = select(passed, &order, &promises, concepts, dag, options.max_rules);
    for (_, skipped) in &selection.skipped {
        match skipped {
            Skipped::Follows(_) => funnel.implied += 1,
            Skipped::Variant(_) => funnel.variants += 1,
            Skipped::Surplus => funnel.surplus += 1,
        }
    }
    let rules = judge.rules(&selection.chosen, concepts);
    Ok(Mining {
        meant: meant.into_iter().filter_map(|shape| told_meant(shape, &promises, concepts)).collect(),
        skipped: told_skipped(&selection, concepts),
        rules,
        constant,
        funnel,
        rows: [parts.searched.rows(), parts.held_out.as_ref().map_or(0, TruthTable::rows)],
        largest_p,
        gave_up: selection.gave_up,
        record: MiningRecord::new(dataset, &parts.rows, options, command),
    })
}

/// A rule that labels can never break, with the reason.
fn told_meant(shape: Shape, promises: &Promises, concepts: &[String]) -> Option<Meant> {
    let promise = match shape {
        Shape::Pair(a, b) => promises.get(a, b.concept),
        Shape::Or(a, demands) => promises.either(a, demands),
        _ => None,
    };
    Some(Meant { formula: shape.formula(concepts), promise: promise?, shape })
}

/// Rules that passed and were not chosen, with the reason.
fn told_skipped(selection: &Selection, concepts: &[String]) -> Vec<LeftOut> {
    let reason = |skipped: &Skipped| match skipped {
        Skipped::Surplus => format!("there are {} better or fresher ones", selection.chosen.len()),
        Skipped::Variant(shape) => format!("it is about the same rows as `{}`", shape.formula(concepts)),
        Skipped::Follows(shapes) if shapes.is_empty() => "it follows from what concepts mean".to_owned(),
        Skipped::Follows(shapes) => {
            let formulas: Vec<String> = shapes.iter().map(|shape| format!("`{}`", shape.formula(concepts))).collect();
            format!("it follows from {}", formulas.join(" and "))
        }
    };
    let told = |(candidate, why): &(Candidate, Skipped)| LeftOut {
        formula: candidate.shape.formula(concepts),
        reason: reason(why),
        shape: candidate.shape,
    };
    selection.skipped.iter().map(told).collect()
}

/// Concepts that vary on the rows that are searched, and those that do not, with what they are.
fn varying(parts: &Parts, concepts: &[String]) -> (Vec<usize>, Vec<(String, &'static str)>) {
    let (mut active, mut constant) = (Vec::new(), Vec::new());
    for (column, name) in concepts.iter().enumerate() {
        let what = match parts.searched.counts(column) {
            TruthCounts { holds: 0, fails: 0, .. } => "is never known",
            TruthCounts { holds: 0, .. } => "is never true",
            TruthCounts { fails: 0, .. } => "is always true",
            _ => {
                active.push(column);
                continue;
            }
        };
        constant.push((name.clone(), what));
    }
    (active, constant)
}

fn check_concepts(dataset: &Dataset, active: &[usize], constant: &[(String, &str)]) -> Result<()> {
    let folder = dataset.folder().display();
    if active.len() > MOST_CONCEPTS {
        let message =
            format!("expected at most {MOST_CONCEPTS} concepts that vary in `{folder}`, got {}", active.len());
        return Err(Error::input(message, Some("import the most common ones alone".to_owned())));
    }
    if active.len() < 2 {
        let listed: Vec<String> = constant.iter().take(5).map(|(name, what)| format!("`{name}` {what}")).collect();
        let rest = if listed.is_empty() { String::new() } else { format!(": {}", listed.join(", ")) };
        let more = if constant.len() > 5 { format!(", and {} more", constant.len() - 5) } else { String::new() };
        let message = format!(
            "expected two concepts at least that vary on the rows to search in `{folder}`, got {}{rest}{more}",
            active.len()
        );
        return Err(Error::input(
            message,
            Some("a rule ties one concept to another; label more samples or concepts".to_owned()),
        ));
    }
    Ok(())
}

impl Mining {
    /// How the chosen rules do on another split: where rows break a rule, it can be evaluated there. This has no say in what is
    /// chosen; it looks only now.
    #[must_use]
    pub fn elsewhere(&self, dataset: &Dataset) -> Vec<(Split, Vec<Elsewhere>)> {
        let of = |split: Split| match split {
            Split::Test => Some(self.truth_on(dataset, &dataset.test())),
            Split::Oracle => Some(self.truth_on(dataset, &dataset.oracle())),
            Split::Train | Split::Calibration => None,
        };
        let splits = Split::ALL.into_iter().filter_map(|split| Some((split, of(split)?)));
        splits.filter(|(split, _)| dataset.splits().contains(split)).collect()
    }

    fn truth_on<Purpose>(&self, dataset: &Dataset, rows: &Rows<Purpose>) -> Vec<Elsewhere> {
        let labels = dataset.table().labels.select(rows.numbers());
        let mut dag = Dag::new(dataset.table().vocabulary());
        let roots: Vec<_> = self.rules.iter().filter_map(|rule| rule.shape.edge(&mut dag)).collect();
        let truth = Program::compile(&dag, &roots).evaluate(&labels);
        (0..roots.len()).map(|column| Elsewhere { truth: truth.counts(column) }).collect()
    }
}
