//! What is wrong with a dataset folder, found without training anything.

mod media;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_logic::bits::TruthTable;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;
use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::split::Split;
use crate::error::{Error, Result};

/// So many names are kept in a finding.
const LISTED: usize = 20;

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
    /// One picture or video in two splits, whatever it is called there.
    MediaInTwoSplits,
    /// One picture or video for two samples of one split.
    MediaTwice,
    /// A split that is needed and has no rows.
    EmptySplit,
    /// A concept that is the same on all rows where it is known.
    ConstantConcept,
    /// A concept that is known nowhere.
    UnknownConcept,
    /// A rule that rows to learn from break.
    BrokenRule,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub kind: FindingKind,
    /// How bad.
    pub severity: Severity,
    /// In words.
    pub message: String,
    /// How many things it is about.
    pub count: usize,
    /// The first of them.
    pub listed: Vec<String>,
}

impl Finding {
    fn new(kind: FindingKind, severity: Severity, message: impl Into<String>) -> Self {
        Self { kind, severity, message: message.into(), count: 0, listed: Vec::new() }
    }

    fn add(&mut self, what: impl FnOnce() -> String) {
        self.count += 1;
        if self.listed.len() < LISTED {
            self.listed.push(what());
        }
    }
}

/// How many rows of each split break a rule, and the first of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleBreaks {
    /// The rule's name.
    pub rule: String,
    /// Rows that break it, a split.
    pub broken: BTreeMap<Split, usize>,
    /// Rows on which it cannot be told.
    pub unknown: usize,
    /// Ids of the first rows that break it.
    pub listed: Vec<String>,
}

/// Everything that `data check` tells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// What is wrong, errors first.
    pub findings: Vec<Finding>,
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
        let finding =
            |message: String| Finding { count: 1, ..Finding::new(FindingKind::Unreadable, Severity::Error, message) };
        match &error {
            Error::Table(problems) => {
                let finding = Finding { count: problems.total() as usize, ..finding(error.to_string()) };
                Ok(Self { findings: vec![finding], rules: Vec::new() })
            }
            Error::Input { .. } if folder.is_dir() => {
                Ok(Self { findings: vec![finding(error.to_string())], rules: Vec::new() })
            }
            _ => Err(error),
        }
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
    if let Err(error) = dataset.features() {
        findings.push(Finding { count: 1, ..Finding::new(FindingKind::Features, Severity::Error, error.to_string()) });
    }
    let rules = rules.map(|rules| check_rules(dataset, rules)).unwrap_or_default();
    for rule in &rules {
        let learned = [Split::Train, Split::Calibration].iter().filter_map(|split| rule.broken.get(split)).sum();
        if learned > 0 {
            let message = format!("rule `{}` is broken by rows to learn from", rule.rule);
            let finding = Finding::new(FindingKind::BrokenRule, Severity::Warning, message);
            findings.push(Finding { count: learned, listed: rule.listed.clone(), ..finding });
        }
    }
    findings.retain(|finding| finding.count > 0);
    findings.sort_by_key(|finding| finding.severity != Severity::Error);
    Ok(CheckReport { findings, rules })
}

fn check_splits(dataset: &Dataset) -> Option<Finding> {
    let mut empty = Finding::new(FindingKind::EmptySplit, Severity::Warning, "splits without rows");
    for split in [Split::Train, Split::Calibration, Split::Test] {
        if !dataset.splits().contains(&split) {
            empty.add(|| split.to_string());
        }
    }
    Some(empty)
}

fn check_concepts(dataset: &Dataset) -> Vec<Finding> {
    let mut constant = Finding::new(
        FindingKind::ConstantConcept,
        Severity::Warning,
        "concepts that are the same wherever they are known: nothing can be learned of them",
    );
    let mut unknown = Finding::new(FindingKind::UnknownConcept, Severity::Warning, "concepts that are known nowhere");
    let table = dataset.table();
    for (column, name) in table.concepts.iter().enumerate() {
        let counts = table.labels.counts(column);
        match (counts.holds, counts.fails) {
            (0, 0) => unknown.add(|| name.clone()),
            (0, _) => constant.add(|| format!("{name} (never)")),
            (_, 0) => constant.add(|| format!("{name} (always)")),
            _ => {}
        }
    }
    vec![constant, unknown]
}

/// Counts, for rules over the dataset's own vocabulary, which rows break them.
fn check_rules(dataset: &Dataset, rules: &RuleSet) -> Vec<RuleBreaks> {
    let truth: TruthTable = Program::compile(&rules.dag, &rules.roots()).evaluate(&dataset.table().labels);
    let breaks = |(column, rule): (usize, &chimera_logic::rules::Rule)| {
        let mut breaks =
            RuleBreaks { rule: rule.name.clone(), broken: BTreeMap::new(), unknown: 0, listed: Vec::new() };
        for (row, id) in dataset.table().ids.iter().enumerate() {
            match truth.get(row, column) {
                Some(true) => {}
                None => breaks.unknown += 1,
                Some(false) => {
                    *breaks.broken.entry(dataset.splits()[row]).or_default() += 1;
                    if breaks.listed.len() < LISTED {
                        breaks.listed.push(id.to_owned());
                    }
                }
            }
        }
        breaks
    };
    rules.rules.iter().enumerate().map(breaks).collect()
}
