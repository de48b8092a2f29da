//! What became of each gate and each rule: `gates.json` of a model.

use std::collections::BTreeMap;

use chimera_gate::audit::Audit;
use serde::{Deserialize, Serialize};

use super::config::GateConfig;
use super::effects::ExplainedReport;
use super::trust::Trust;

/// How a gate came into the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "state")]
pub enum Origin {
    /// This run taught it.
    Trained,
    /// An earlier run did.
    Cached,
    /// It was found damaged, and taught again.
    Replaced,
    /// It could not be taught.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// One row of a gate's truth table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The truth of each operand, its edge's negation applied, as `0` and `1`.
    pub operands: String,
    /// What the operator gives for them.
    pub truth: bool,
    /// Train rows that have it.
    pub rows: u64,
    /// Times it was shown in training: chimeras, and samples as they are.
    pub shown: u64,
    /// Whether chimeras can have it.
    pub can_be_supplied: bool,
}

/// What became of a gate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateReport {
    /// The node as formula.
    pub formula: String,
    /// Its number in the rules' DAG.
    pub node: usize,
    /// The hash of its key, which is the name of its file.
    pub key: String,
    /// The longest way from a leaf.
    pub level: u32,
    /// The rules that need it.
    pub rules: Vec<String>,
    /// The rule whose samples alone it saw as they are, where that left some out.
    pub filter: Option<String>,
    /// How it came into the model.
    #[serde(flatten)]
    pub origin: Origin,
    /// Mean loss of each epoch.
    pub losses: Vec<f32>,
    /// Truth configurations: what the data hold, what training showed and what it could not show.
    pub configurations: Vec<Configuration>,
    /// Chimeras for which no samples were found.
    pub failed: u64,
    /// Chimeras and samples whose truth is unknown.
    pub unknown: u64,
    /// What it has learned, on held-out chimeras.
    pub audit: Audit,
}

impl GateReport {
    /// Whether there is a gate.
    #[must_use]
    pub fn is_there(&self) -> bool {
        !matches!(self.origin, Origin::Skipped { .. })
    }
}

/// What became of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleReport {
    /// Its name.
    pub name: String,
    /// The key of the gate at its root; `None` where it is one literal.
    pub root: Option<String>,
    /// Train rows that break it.
    pub broken: u64,
    /// Train rows on which it is unknown.
    pub unknown: u64,
    /// Why it cannot be scored; `None` where it can.
    pub skipped: Option<String>,
}

/// Which rows gates were audited on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditedOn {
    /// The half of calibration that may be fitted on: no gate has seen it.
    FitHalf,
    /// There are too few of those: the rows that gates were taught on. Too good to be true.
    Train,
}

/// `gates.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GatesReport {
    /// Every choice.
    pub config: GateConfig,
    /// Train rows that could be learned from.
    pub train_rows: usize,
    /// Those that gates were taught on; fewer where rows that break a rule are left out.
    pub rows: usize,
    /// Train rows that break a rule.
    pub broken_rows: usize,
    /// Which rows gates were audited on, and what concepts explain was measured on.
    pub audited_on: AuditedOn,
    /// How much of z concepts explain, where grafts were taught on.
    pub explained: Option<ExplainedReport>,
    /// What was taught on grafts beside these gates.
    pub grafts: Option<Box<GraftsReport>>,
    /// The rules, in file order.
    pub rules: Vec<RuleReport>,
    /// The gates, children first.
    pub gates: Vec<GateReport>,
}

/// What became of grafts: a part of `gates.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraftsReport {
    /// Gates taught on grafts.
    pub gates: GatesReport,
    /// How many heads came from where.
    pub heads: Counts,
    /// Concepts without a head, and why.
    pub skipped: BTreeMap<String, String>,
    /// Whether grafts can be trusted.
    pub trust: Trust,
    /// Rules for which they cannot, so that `neural` asks independent events, and why.
    pub fallbacks: BTreeMap<String, String>,
}

/// How many gates came from where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Taught now, those that replace damaged ones included.
    pub trained: usize,
    /// Found in the cache or in the model.
    pub cached: usize,
    /// Damaged ones that were taught again.
    pub replaced: usize,
    /// Not taught.
    pub skipped: usize,
}

impl GatesReport {
    /// How many gates came from where.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for gate in &self.gates {
            match gate.origin {
                Origin::Trained => counts.trained += 1,
                Origin::Cached => counts.cached += 1,
                Origin::Replaced => {
                    counts.trained += 1;
                    counts.replaced += 1;
                }
                Origin::Skipped { .. } => counts.skipped += 1,
            }
        }
        counts
    }

    /// The gates of a rule.
    pub fn gates_of<'a>(&'a self, rule: &'a str) -> impl Iterator<Item = &'a GateReport> {
        self.gates.iter().filter(move |gate| gate.rules.iter().any(|name| name == rule))
    }
}
