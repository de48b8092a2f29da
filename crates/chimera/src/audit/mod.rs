//! Label audit: rows to learn from whose labels break a rule, and what z says about it. Are the labels wrong, or is the violation
//! real?
//!
//! [`audit`] gives an [`Audit`]: plain data that the console, `audit.csv` and `audit.html` all read. Nothing is changed: people
//! decide.

mod files;
mod fit;
mod judge;
mod logistic;
mod opinion;
mod page;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::error::Result;
use chimera_data::split::Split;
use chimera_leaf::encode::EncodedRows;
use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::ConceptId;
use serde::Serialize;

pub use self::files::write;
pub use self::fit::check_fit;
pub use self::judge::{LIKELY, SURE, Verdict};
use self::judge::{Said, judge};
pub use self::opinion::FEWEST_LABELS;
use self::opinion::Opinions;
use crate::eval::truth::{RuleTruths, labels_of};
use crate::gate::heads::concepts_of;
use crate::report::html::counted;

/// A concept of a broken rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConceptOpinion {
    /// Its name.
    pub concept: String,
    /// Its label; `None` where it is unknown.
    pub label: Option<bool>,
    /// The probability that it is there; `None` where nothing can be told.
    pub opinion: Option<f64>,
    /// What its label would be after the cheapest repair; `None` where that leaves it as it is.
    pub repair: Option<bool>,
}

/// A row that breaks a rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Suspect {
    /// Its id.
    pub id: String,
    /// What the row is for.
    pub split: Split,
    /// The rule.
    pub rule: String,
    /// What it probably is.
    pub verdict: Verdict,
    /// How probable the verdict is; for what is unsure, how likely labels are wrong.
    pub confidence: f64,
    /// The rule's concepts, in the order of the dataset.
    pub concepts: Vec<ConceptOpinion>,
    /// Its row, for thumbnails.
    #[serde(skip)]
    pub(crate) row: usize,
}

impl Suspect {
    /// Why, in a sentence: labels that are probably wrong, or that none is.
    #[must_use]
    pub fn words(&self) -> String {
        let repaired = self.concepts.iter().filter_map(|concept| Some((concept, concept.repair?)));
        let flips: Vec<String> = repaired
            .map(|(concept, value)| {
                let there = if value { "there" } else { "not there" };
                match concept.opinion {
                    Some(p) => format!("`{}` is {there}: {:.2}", concept.concept, if value { p } else { 1.0 - p }),
                    None => format!("`{}` is {there}: nothing can be told", concept.concept),
                }
            })
            .collect();
        match self.verdict {
            Verdict::LabelError => flips.join(", ").replace("` is ", "` is probably "),
            Verdict::Unsure => format!("perhaps {}", flips.join(", ")),
            Verdict::RealViolation => "labels are as they look".to_owned(),
        }
    }
}

/// What was found of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditedRule {
    /// Its name.
    pub rule: String,
    /// Its formula.
    pub formula: String,
    /// Rows that break it and are probably wrong labels.
    pub label_errors: usize,
    /// Rows that break it of which that cannot be said.
    pub unsure: usize,
    /// Rows that probably really break it.
    pub real_violations: usize,
    /// Rows that break it and are not judged, since the rule is left out.
    pub unjudged: usize,
    /// Rows on which its truth cannot be told.
    pub unknown: usize,
    /// Why the rule is not audited; `None` where it is.
    pub left_out: Option<String>,
}

/// Everything that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audit {
    /// What the dataset is called.
    pub dataset: String,
    /// Rows to learn from that were looked at: train and calibration.
    pub rows: usize,
    /// Those without a medium that can be looked at, which are left out.
    pub without_medium: usize,
    /// Every rule, in the order of the rules.
    pub rules: Vec<AuditedRule>,
    /// Rows that break a rule, probable label errors first, the most probable in front.
    pub suspects: Vec<Suspect>,
    /// Concepts of broken rules of which nothing can be told, since too few train rows show them, or too few do not.
    pub untold: Vec<String>,
}

impl Audit {
    /// How many rows that break a rule got a verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.suspects.iter().filter(|suspect| suspect.verdict == verdict).count()
    }

    /// How often a rule is broken that is left out.
    #[must_use]
    pub fn unjudged(&self) -> usize {
        self.rules.iter().map(|rule| rule.unjudged).sum()
    }

    /// What is left out, and why.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.without_medium > 0 {
            notes.push(format!(
                "left out: {} without a medium that can be looked at",
                counted(self.without_medium, "row")
            ));
        }
        if !self.untold.is_empty() {
            let names = self.untold.join("`, `");
            notes.push(format!(
                "nothing can be told of `{names}`: fewer than {FEWEST_LABELS} train rows show it, or fewer do not"
            ));
        }
        let left_out = self.rules.iter().filter_map(|rule| Some((rule, rule.left_out.as_ref()?)));
        notes.extend(left_out.map(|(of, reason)| {
            let rows = counted(of.unjudged, "row");
            let broken = if of.unjudged > 0 { format!("; broken by {rows}") } else { String::new() };
            format!("rule `{}` is left out: {reason}{broken}", of.rule)
        }));
        notes
    }
}

/// Audits the labels of train and calibration rows under rules over the dataset's own concepts.
///
/// # Errors
/// A dataset without train rows that can be looked at.
pub fn audit(
    dataset: &Dataset,
    rule_set: &RuleSet,
    encoded: &EncodedRows,
    threads: NonZeroUsize,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Audit> {
    let learned = |split: Split| matches!(split, Split::Train | Split::Calibration);
    let all: Vec<usize> = (0..dataset.splits().len()).filter(|&row| learned(dataset.splits()[row])).collect();
    let rows: Vec<usize> = all.iter().copied().filter(|&row| encoded.z(row).is_some()).collect();
    let table = dataset.table();
    let truths = RuleTruths::of(rule_set, &labels_of(dataset, &rows, &table.concepts), dataset, &rows);
    let is_broken = |rule: usize| truths.broken[rule].contains(&Some(true));
    let mut columns: Vec<usize> = (0..rule_set.rules.len())
        .filter(|&rule| is_broken(rule))
        .flat_map(|rule| concepts_of(rule_set, rule))
        .map(ConceptId::index)
        .collect();
    columns.sort_unstable();
    columns.dedup();
    let others: Vec<usize> = rows.iter().copied().filter(|&row| dataset.splits()[row] == Split::Calibration).collect();
    let opinions = if columns.is_empty() {
        None
    } else {
        let train = encoded.present(&dataset.train()?);
        let z = |row: usize| encoded.z(row).unwrap_or_default();
        Some(Opinions::of(dataset, &columns, (&train, &others), &z, threads, progress)?)
    };
    let untold = opinions.iter().flat_map(Opinions::untold).map(|column| table.concepts[column].clone()).collect();
    let (rules, suspects) =
        judged(dataset, rule_set, &rows, &truths, &|row, column| opinions.as_ref()?.get(row, column));
    let dataset = dataset.manifest().name.clone();
    Ok(Audit { dataset, rows: rows.len(), without_medium: all.len() - rows.len(), rules, suspects, untold })
}

/// Judges every row that breaks a rule by opinions on rows and columns of the dataset.
fn judged(
    dataset: &Dataset,
    rule_set: &RuleSet,
    rows: &[usize],
    truths: &RuleTruths,
    opinion: &dyn Fn(usize, usize) -> Option<f64>,
) -> (Vec<AuditedRule>, Vec<Suspect>) {
    let (table, dag) = (dataset.table(), &rule_set.dag);
    let mut diagrams = Diagrams::new(dag, &rule_set.roots(), Limits::default());
    let (mut rules, mut suspects) = (Vec::new(), Vec::new());
    for (number, rule) in rule_set.rules.iter().enumerate() {
        let count = |truth: Option<bool>| truths.broken[number].iter().filter(|broken| **broken == truth).count();
        let (unknown, broken_rows) = (count(None), count(Some(true)));
        let (name, formula) = (rule.name.clone(), dag.text(rule.root));
        let [label_errors, unsure, real_violations, unjudged] = [0; 4];
        let mut audited = AuditedRule {
            rule: name,
            formula,
            label_errors,
            unsure,
            real_violations,
            unjudged,
            unknown,
            left_out: None,
        };
        let circuit = match diagrams.compile(rule.root) {
            Ok(diagram) => diagrams.circuit(&[diagram]),
            Err(error) => {
                rules.push(AuditedRule { unjudged: broken_rows, left_out: Some(error.to_string()), ..audited });
                continue;
            }
        };
        let mut concepts: Vec<ConceptId> = concepts_of(rule_set, number).collect();
        concepts.sort_unstable();
        let broken = rows.iter().zip(&truths.broken[number]).filter(|(_, broken)| **broken == Some(true));
        for (&row, _) in broken {
            let said = |&concept: &ConceptId| {
                let column = concept.index();
                Said { concept, label: table.labels.get(row, column), opinion: opinion(row, column) }
            };
            let said: Vec<Said> = concepts.iter().map(said).collect();
            let Some(found) = judge(&circuit, &said, table.concepts.len()) else {
                let judged = audited.label_errors + audited.unsure + audited.real_violations;
                audited.unjudged = broken_rows - judged;
                audited.left_out = Some("no labels can keep it".to_owned());
                break;
            };
            *match found.verdict {
                Verdict::LabelError => &mut audited.label_errors,
                Verdict::Unsure => &mut audited.unsure,
                Verdict::RealViolation => &mut audited.real_violations,
            } += 1;
            let repair = |concept: ConceptId| found.repair.iter().find(|(other, _)| *other == concept);
            let of_concept = |said: &Said| ConceptOpinion {
                concept: table.concepts[said.concept.index()].clone(),
                label: said.label,
                opinion: said.opinion,
                repair: repair(said.concept).map(|(_, value)| *value),
            };
            suspects.push(Suspect {
                id: table.ids[row].to_owned(),
                split: dataset.splits()[row],
                rule: rule.name.clone(),
                verdict: found.verdict,
                confidence: if found.verdict == Verdict::RealViolation { found.broken } else { found.wrong },
                concepts: said.iter().map(of_concept).collect(),
                row,
            });
        }
        rules.push(audited);
    }
    suspects.sort_by(|one, other| {
        let key = |suspect: &Suspect| (suspect.verdict, Reverse(suspect.confidence.to_bits()));
        key(one).cmp(&key(other)).then_with(|| (&one.id, &one.rule).cmp(&(&other.id, &other.rule)))
    });
    (rules, suspects)
}
