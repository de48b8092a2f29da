//! Evaluation: every method side by side on the test rows of a dataset, with intervals, over several seeds.
//!
//! [`run`] asks a model and gives an [`Evaluation`]: plain data that the writers of `rules.csv`, `leaves.csv`, `summary.json` and
//! `report.html` all read, so that they cannot say different things. [`compare`] reads two reports back.

pub mod against;
mod ask;
mod check;
mod clock;
mod collected;
pub mod compare;
mod coverage;
pub mod gallery;
mod measure;
mod paired;
mod plot;
pub(crate) mod replica;
pub mod resampled;
mod run;
mod score;
pub mod summary;
pub mod truth;

use std::collections::BTreeMap;

use chimera_data::metric::MacroMean;
use chimera_data::metric::bootstrap::Interval;
use chimera_data::metric::leaf_table::LeafTable;
use chimera_data::metric::ranking::RankMetrics;
use chimera_data::metric::reliability::Reliability;
use chimera_leaf::calibrate::Quality;
use serde::{Deserialize, Serialize};

pub use self::coverage::CoveredGate;
use self::gallery::Gallery;
pub use self::plot::RulePlot;
use self::resampled::Resampled;
pub use self::run::{Asked, Event, run};
use crate::baseline::FittedOn;
use crate::score::aggregate::Aggregation;
use crate::score::method::Method;

/// What all methods are compared with: independent events over calibrated leaves.
pub(crate) const REFERENCE: Method = Method::IndepCal;

/// Fewer rows of a kind than this say little: such numbers are marked.
pub const FEW: u64 = 10;

/// Which score of a rule is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreKind {
    /// `1 - p`, as in the paper.
    Raw,
    /// Weighed by how likely the antecedent of an implication is: what `score` writes.
    Gated,
}

impl ScoreKind {
    /// Its name in `rules.csv`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Gated => "gated",
        }
    }
}

/// What was asked, of which data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The version of chimera.
    pub chimera: String,
    /// The model by the seal of its manifest.
    pub model: String,
    /// The encoder of the model, in words.
    pub encoder: String,
    /// What the model was trained on.
    pub trained_on: String,
    /// Train rows that it has learned from.
    pub train_rows: usize,
    /// The dataset that it is tested on.
    pub dataset: String,
    /// Test rows that are measured.
    pub rows: usize,
    /// Whether they are of the dataset that the model was trained on.
    pub own_rows: bool,
    /// Test rows without a medium that can be decoded.
    pub left_out: usize,
    /// Test rows that break a rule, that break none, and of which that cannot be told.
    pub broken: [usize; 3],
    /// The fingerprint of the test rows, in their order.
    pub test_rows: String,
    /// Whether rules were given that are not the model's.
    pub other_rules: bool,
    /// Seeds, the model's own first.
    pub seeds: Vec<u64>,
    /// Whether other seeds have leaf banks of their own; `false` where there are no others.
    pub refit_leaf: bool,
    /// The method that the report speaks of first.
    pub main: Method,
    /// How often rows were drawn again for intervals.
    pub resamples: usize,
    /// Whether rows were drawn by group.
    pub by_group: bool,
}

impl About {
    /// Which violations something has seen, in words.
    #[must_use]
    pub fn seen_violations(&self, fitted_on: FittedOn) -> &'static str {
        match fitted_on {
            FittedOn::Oracle => "learned from split oracle",
            FittedOn::CrossFitted if self.own_rows => {
                "cross-fitted on these test rows, each scored by what was fitted without it"
            }
            FittedOn::CrossFitted => "learned from test rows of the training data",
        }
    }
}

/// A rule on the test rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleOf {
    /// Its name.
    pub name: String,
    /// Its family.
    pub family: String,
    /// Its formula.
    pub formula: String,
    /// Test rows that break it.
    pub positives: u64,
    /// Test rows on which it holds.
    pub negatives: u64,
    /// Test rows of which that is unknown.
    pub unknown: u64,
    /// Test rows that are not judged since an antecedent is absent in the labels alone.
    pub out_of_vocabulary: u64,
    /// A hash of who breaks it.
    pub truth: String,
    /// Why `neural` is independent events here, at the first seed at which it is; `None` where it never is.
    pub fallback: Option<String>,
    /// The seeds at which it is.
    pub fallback_seeds: Vec<u64>,
}

impl RuleOf {
    /// Whether it can be measured, and enough rows tell.
    #[must_use]
    pub(crate) fn says_enough(&self) -> bool {
        self.positives >= FEW && self.negatives >= FEW
    }
}

/// A method that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MethodOf {
    /// Which.
    pub method: Method,
    /// The violations that it has seen; `None` where it has seen none.
    pub fitted_on: Option<FittedOn>,
    /// Why it is not there; `None` where it is.
    pub absent: Option<String>,
    /// Rules that it cannot tell, and why.
    pub skipped: Vec<(String, String)>,
}

/// One rule, by one method and kind of score, at one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The seed.
    pub seed: u64,
    /// What ranks say.
    pub metrics: RankMetrics,
    /// Of the AUROC.
    pub interval: Option<Interval>,
    /// Rows whose truth is known and for which the method has no score; the numbers are over the others.
    pub unscored: usize,
}

/// Cells at all seeds, by method, kind of score and rule.
pub type Cells = BTreeMap<(Method, ScoreKind, usize), Vec<Cell>>;

/// Whether a sample breaks any rule, by one method and one way to one number, at one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct AnomalyCell {
    /// The method.
    pub method: Method,
    /// How rules become one number.
    pub aggregation: Aggregation,
    /// The seed.
    pub seed: u64,
    /// What ranks say.
    pub metrics: RankMetrics,
    /// Of the AUROC.
    pub interval: Option<Interval>,
    /// The AUROC of each resample.
    pub again: Vec<f32>,
    /// Rows of which it is known whether they break a rule and that have no number; the others are measured.
    pub unscored: usize,
    /// Rules that the number is over: those that have a score on some row.
    pub rules: usize,
}

/// What took how long.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seconds {
    /// What.
    pub what: String,
    /// How long.
    pub seconds: f64,
}

/// Everything that a report says.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// What was asked, of which data.
    pub about: About,
    /// The rules, in file order.
    pub rules: Vec<RuleOf>,
    /// Methods that were asked for, in the order of tables.
    pub methods: Vec<MethodOf>,
    /// Every rule, method, kind of score and seed.
    pub cells: Cells,
    /// Every rule and method on rows drawn again.
    pub resampled: Resampled,
    /// Every method, aggregation and seed.
    pub anomalies: Vec<AnomalyCell>,
    /// The violations that `learned-supervised` was fitted to; `None` where that is not there.
    pub supervised_on: Option<FittedOn>,
    /// How well concepts are recognised.
    pub leaves: LeafTable,
    /// How good concepts' probabilities are.
    pub quality: Vec<Quality>,
    /// How good rules' probabilities are, by method.
    pub reliability: Vec<(Method, Reliability)>,
    /// Histograms and curves at the model's own seed.
    pub plots: Vec<RulePlot>,
    /// Which truth configurations train and test rows hold.
    pub coverage: Vec<CoveredGate>,
    /// Samples to look at.
    pub gallery: Gallery,
    /// What is not there, and why.
    pub words: Vec<String>,
    /// The manifest of the model.
    pub manifest: serde_json::Value,
    /// What took how long; nothing else depends on the clock.
    pub seconds: Vec<Seconds>,
}

impl Evaluation {
    /// Methods that are there.
    pub fn present(&self) -> impl Iterator<Item = &MethodOf> {
        self.methods.iter().filter(|method| method.absent.is_none())
    }

    /// The cells of a rule by a method and a kind of score, at all seeds.
    #[must_use]
    pub fn cells_of(&self, method: Method, score: ScoreKind, rule: usize) -> &[Cell] {
        self.cells.get(&(method, score, rule)).map_or(&[], Vec::as_slice)
    }

    /// The AUROC of a rule in the mean over seeds; `None` where it is undefined.
    #[must_use]
    pub fn auroc_of(&self, method: Method, score: ScoreKind, rule: usize) -> Option<f64> {
        MacroMean::of(self.cells_of(method, score, rule).iter().map(|cell| cell.metrics.auroc)).mean
    }

    /// Whether a method tells a rule at every seed, with a score for every row of which it is known whether the rule is broken. Otherwise its
    /// numbers are over other rows than those of other methods, and cannot be compared.
    #[must_use]
    pub fn is_whole(&self, method: Method, rule: usize) -> bool {
        self.cells_of(method, ScoreKind::Raw, rule)
            .iter()
            .all(|cell| cell.unscored == 0 && cell.metrics.auroc.is_some())
    }

    /// Whether a rule has an interval, at every seed: where one of the kinds is of one sample or group, there is none.
    #[must_use]
    pub fn tells(&self, method: Method, score: ScoreKind, rule: usize) -> bool {
        let cells = self.cells_of(method, score, rule);
        !cells.is_empty() && cells.iter().all(|cell| cell.interval.is_some())
    }

    /// The interval of a rule's AUROC by `1 - p`, in the mean over seeds.
    #[must_use]
    pub(crate) fn interval_of(&self, method: Method, rule: usize) -> Option<Interval> {
        let again = self.resampled.of(method, rule).filter(|_| self.tells(method, ScoreKind::Raw, rule))?;
        Interval::of(again)
    }

    /// Families of the rules, in the order of their first rule.
    #[must_use]
    pub fn families(&self) -> Vec<&str> {
        let mut families: Vec<&str> = Vec::new();
        for rule in &self.rules {
            if !families.contains(&rule.family.as_str()) {
                families.push(&rule.family);
            }
        }
        families
    }
}
