//! What is wrong with a dataset folder, found without training anything.

mod hierarchy;
mod media;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_logic::bits::TruthTable;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;
use serde::Serialize;

use crate::dataset::Dataset;
use crate::dataset::manifest::MANIFEST;
use crate::error::{Error, Result};
use crate::split::Split;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Results would be wrong or impossible.
    Error,
    /// Worth a look.
    Warning,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// The folder cannot be read at all: cells that are no labels, duplicate ids, groups in two splits.
    Unreadable,
    /// The features cannot be used.
    Features,
    /// A path that leads nowhere.
    MissingMedia,
    /// A sample without a path in a dataset of media.
    NoMedia,
    /// A picture or video that cannot be decoded.
    UndecodableMedia,
    /// A video of fewer frames than are taken of it.
    ShortVideo,
    /// One picture or video in two splits, whatever it is called there.
    MediaInTwoSplits,
    /// One picture or video for two samples of one split.
    MediaTwice,
    /// A split that is needed and has no rows.
    EmptySplit,
    /// A concept that is the same on all train rows where it is known.
    ConstantConcept,
    /// A concept that is known on no train row.
    UnknownConcept,
    /// A rule that rows to learn from break.
    BrokenRule,
    /// A `hierarchy.json` that cannot be read: no JSON, classes twice, ties to what is no class, a class above itself.
    Hierarchy,
    /// Labels that are not closed although `hierarchy.json` says so.
    UnclosedLabels,
    /// Concepts that are no classes of `hierarchy.json`.
    ConceptsWithoutClass,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// How bad.
    pub severity: Severity,
    /// In words; where things are listed, they follow the count.
    pub message: String,
    /// How many things it is about.
    pub count: usize,
    /// All of them, where they have names.
    pub listed: Vec<Listed>,
}

/// One of the things that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// A medium, a sample, a concept or a split, by its name.
    pub name: String,
    /// The sample that a medium belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<String>,
    /// What is the matter with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Finding {
    fn new(kind: FindingKind, severity: Severity, message: impl Into<String>, count: usize) -> Self {
        Self { kind, severity, message: message.into(), count, listed: Vec::new() }
    }

    /// A finding about the things that were met, `None` where there are none; `words` name one of them, and several.
    fn about(kind: FindingKind, severity: Severity, words: [&str; 2], listed: Vec<Listed>) -> Option<Self> {
        let count = listed.len();
        (count > 0).then(|| Self { listed, ..Self::new(kind, severity, words[usize::from(count != 1)], count) })
    }
}

impl Listed {
    fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), sample: None, reason: None }
    }
}

/// How many labels are unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UnknownLabels {
    /// All cells of the table.
    pub cells: u64,
    /// Those of which nothing is known.
    pub unknown: u64,
    /// The share of those; `None` where there are no cells.
    pub share: Option<f64>,
    /// The concepts that are unknown somewhere, by their share, the largest first.
    pub concepts: Vec<(String, f64)>,
}

/// Which rows break a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleBreaks {
    /// The rule's name.
    pub rule: String,
    /// Ids of the rows that break it, a split.
    pub broken: BTreeMap<Split, Vec<String>>,
    /// Rows on which it cannot be told.
    pub unknown: usize,
}

/// Everything that `data check` tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CheckReport {
    /// What is wrong, errors first.
    pub findings: Vec<Finding>,
    /// How much is unknown.
    pub unknown: UnknownLabels,
    /// Where each rule is broken, in the order of the rules.
    pub rules: Vec<RuleBreaks>,
}

impl CheckReport {
    /// Number of findings of one severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// The report about a folder whose content is wrong; a failing machine stays an error.
    ///
    /// # Errors
    /// What is not about the content.
    pub fn about_unreadable(folder: &Path, error: Error) -> Result<Self> {
        let count = match &error {
            Error::Table(problems) => problems.total() as usize,
            Error::Input { .. } if folder.is_dir() => 1,
            // The folder is a dataset that lacks a part.
            Error::Read { .. } if folder.join(MANIFEST).is_file() => 1,
            _ => return Err(error),
        };
        let finding = Finding::new(FindingKind::Unreadable, Severity::Error, error.to_string(), count);
        Ok(Self { findings: vec![finding], ..Self::default() })
    }
}

/// How far media are looked into.
#[derive(Clone, Copy)]
pub enum MediaCheck<'a> {
    /// Only whether they are there, and whether a path occurs twice.
    Names,
    /// Every medium is read and decoded: damage is found, and copies under other names too.
    Decode {
        /// Media that are decoded at the same time.
        threads: NonZeroUsize,
        /// Told how many of how many media are done; from several threads.
        progress: &'a (dyn Fn(usize, usize) + Sync),
    },
}

/// Checks an opened dataset. With rules, also counts the rows that break them.
///
/// # Errors
/// A program that decoding needs and that is missing. What is wrong with the dataset is no error but a finding.
pub fn check(dataset: &Dataset, rules: Option<&RuleSet>, media: MediaCheck<'_>) -> Result<CheckReport> {
    let mut findings = media::check(dataset, media)?;
    findings.extend(check_splits(dataset));
    findings.extend(check_concepts(dataset));
    findings.extend(hierarchy::check(dataset));
    if let Err(error) = dataset.features() {
        findings.push(Finding::new(FindingKind::Features, Severity::Error, error.to_string(), 1));
    }
    let rules = rules.map(|rules| check_rules(dataset, rules)).unwrap_or_default();
    for rule in &rules {
        let words =
            ["row to learn from breaks", "rows to learn from break"].map(|verb| format!("{verb} rule `{}`", rule.rule));
        let learned = [Split::Train, Split::Calibration].iter().filter_map(|split| rule.broken.get(split)).flatten();
        let listed = learned.map(Listed::named).collect();
        let words = [words[0].as_str(), &words[1]];
        findings.extend(Finding::about(FindingKind::BrokenRule, Severity::Warning, words, listed));
    }
    findings.sort_by_key(|finding| finding.severity != Severity::Error);
    Ok(CheckReport { findings, unknown: count_unknown(dataset), rules })
}

fn check_splits(dataset: &Dataset) -> Option<Finding> {
    let empty = [Split::Train, Split::Calibration, Split::Test].into_iter();
    let empty = empty.filter(|split| !dataset.splits().contains(split)).map(|split| Listed::named(split.as_str()));
    let words = ["split without rows", "splits without rows"];
    Finding::about(FindingKind::EmptySplit, Severity::Warning, words, empty.collect())
}

/// Concepts that nothing can be learned of. Without train rows that goes without saying.
fn check_concepts(dataset: &Dataset) -> Vec<Finding> {
    let Ok(train) = dataset.train() else { return Vec::new() };
    let labels = dataset.table().labels.select(train.numbers());
    let (mut constant, mut unknown) = (Vec::new(), Vec::new());
    for (column, name) in dataset.table().concepts.iter().enumerate() {
        let counts = labels.counts(column);
        let always = |word: &str| Listed { reason: Some(word.to_owned()), ..Listed::named(name) };
        match (counts.holds, counts.fails) {
            (0, 0) => unknown.push(Listed::named(name)),
            (0, _) => constant.push(always("never there")),
            (_, 0) => constant.push(always("always there")),
            _ => {}
        }
    }
    let same = [
        "concept is the same on all train rows where it is known: nothing can be learned of it",
        "concepts are the same on all train rows where they are known: nothing can be learned of them",
    ];
    let nowhere = ["concept is known on no train row", "concepts are known on no train row"];
    [
        Finding::about(FindingKind::ConstantConcept, Severity::Warning, same, constant),
        Finding::about(FindingKind::UnknownConcept, Severity::Warning, nowhere, unknown),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn count_unknown(dataset: &Dataset) -> UnknownLabels {
    let table = dataset.table();
    let (rows, counts) = (table.ids.len() as f64, |column: usize| table.labels.counts(column).unknown);
    let unknown: u64 = (0..table.concepts.len()).map(counts).sum();
    let share = |(column, name): (usize, &String)| (name.clone(), counts(column) as f64 / rows);
    let mut concepts: Vec<(String, f64)> =
        table.concepts.iter().enumerate().map(share).filter(|(_, share)| *share > 0.0).collect();
    concepts.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let cells = (table.ids.len() * table.concepts.len()) as u64;
    UnknownLabels { cells, unknown, share: (cells > 0).then(|| unknown as f64 / cells as f64), concepts }
}

/// Which rows break rules over the dataset's own vocabulary.
fn check_rules(dataset: &Dataset, rules: &RuleSet) -> Vec<RuleBreaks> {
    let truth: TruthTable = Program::compile(&rules.dag, &rules.roots()).evaluate(&dataset.table().labels);
    let breaks = |(column, rule): (usize, &chimera_logic::rules::Rule)| {
        let mut breaks = RuleBreaks { rule: rule.name.clone(), broken: BTreeMap::new(), unknown: 0 };
        for (row, id) in dataset.table().ids.iter().enumerate() {
            match truth.get(row, column) {
                Some(true) => {}
                None => breaks.unknown += 1,
                Some(false) => breaks.broken.entry(dataset.splits()[row]).or_default().push(id.to_owned()),
            }
        }
        breaks
    };
    rules.rules.iter().enumerate().map(breaks).collect()
}
