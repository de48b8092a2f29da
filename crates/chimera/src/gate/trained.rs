//! What the stage gives: gates and what became of each, and what was trained on grafts beside them.

use std::collections::BTreeMap;
use std::sync::Arc;

use chimera_gate::cone::LeafFeature;
use chimera_gate::gate::Gate;
use chimera_gate::graft::Effects;
use chimera_leaf::calibrate::Calibration;
use chimera_mine::record::MiningRecord;

use super::calibration_rows::CalibrationRows;
use super::naming::Lineage;
use super::plan::Plan;
use super::report::{Counts, GatesReport, GraftsReport};
use super::trust::Trust;

/// Gates by the hashes of their keys.
pub type GatesByHash = BTreeMap<String, Arc<Gate>>;

/// What the stage gives. The gates themselves lie in the model's folder, if they go into one.
#[derive(Debug)]
pub struct GateStage {
    /// What became of each gate and each rule.
    pub report: GatesReport,
    /// What each leaf gives its gates, by concept, where that is not z itself.
    pub leaf_features: BTreeMap<String, LeafFeature>,
    /// What concepts add to z, where grafts were taught on.
    pub effects: Option<Effects>,
    /// What names the rows and labels that they were taught on.
    pub lineage: Lineage,
    /// What a model keeps of its calibration split.
    pub calibration_rows: CalibrationRows,
    /// What was taught on grafts beside them.
    pub grafts: Option<Box<GraftStage>>,
    /// Where the rules come from, for the model to keep: the stage cannot know, so whoever read them says it.
    pub mined: Vec<MiningRecord>,
    /// The gates by the hashes of their keys, where they go into no folder.
    pub in_memory: GatesByHash,
    /// The gates that the rules need.
    pub(super) plan: Plan,
    /// Seconds of all of it.
    pub seconds: f64,
}

/// What was taught on grafts.
#[derive(Debug)]
pub struct GraftStage {
    /// Gates.
    pub gates: GateStage,
    pub(super) heads: BTreeMap<String, String>,
    pub(super) calibration: BTreeMap<String, Calibration>,
    pub(super) counts: Counts,
    pub(super) skipped: Vec<(String, String)>,
    pub(super) trust: Trust,
    pub(super) fallbacks: BTreeMap<String, String>,
}

impl GraftStage {
    /// What became of it.
    #[must_use]
    pub fn report(&self) -> GraftsReport {
        GraftsReport {
            gates: self.gates.report.clone(),
            heads: self.counts,
            skipped: self.skipped.iter().cloned().collect(),
            trust: self.trust.clone(),
            fallbacks: self.fallbacks.clone(),
        }
    }

    /// What concepts add to z.
    #[must_use]
    pub fn effects(&self) -> Option<&Effects> {
        self.gates.effects.as_ref()
    }
}
