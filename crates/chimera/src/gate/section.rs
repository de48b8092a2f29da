//! The part of a model's manifest about rules and gates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_gate::graft::Effects;
use chimera_leaf::calibrate::Calibration;
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::Vocabulary;
use chimera_mine::record::MiningRecord;
use serde::{Deserialize, Serialize};

use super::calibration_rows::Half;
use super::config::GateConfig;
use super::naming::Lineage;
use super::report::{Counts, GatesReport};
use super::trained::{GateStage, GraftStage};
use super::trust::Trust;
use super::{effects, leaf_file};

/// The folder of gates in a model.
pub const GATES: &str = "gates";

/// Rules and gates of a model. It alone decides what belongs together; `rules.rules` and `gates.json` are there to be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateSection {
    /// Every choice.
    pub config: GateConfig,
    /// The rules as text.
    pub rules: String,
    /// Where rules come from, and which rows chose them; empty where nobody mined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mined: Vec<MiningRecord>,
    /// The gates of these rules.
    pub gates: GateKeys,
    /// The file in [`GATES`] with what leaves give their gates; `None` where that is z.
    pub features: Option<String>,
    /// The file in [`GATES`] with what concepts add to z, where gates were trained on grafts.
    pub effects: Option<String>,
    /// What was trained on grafts beside these gates.
    pub grafts: Option<GraftSection>,
    /// The rows and labels that gates were trained on.
    pub lineage: Lineage,
    /// The file in [`GATES`] with what is kept of the calibration split.
    pub calibration: String,
    /// How many of its rows for thresholds break no rule.
    pub normal_rows: usize,
    /// Train rows that gates were trained on.
    pub rows: usize,
    /// Train rows that break a rule.
    pub broken_rows: usize,
    /// How many gates came from where.
    pub counts: Counts,
    /// Seconds of the last run that trained gates.
    pub seconds: f64,
}

/// The gates of a rule set, without saying which node each belongs to: whoever loads them computes the key of every node from
/// the rules and looks it up here. A position in a list would be another one as soon as the rules are parsed from other text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateKeys {
    /// Hashes of keys, each with a file in [`GATES`].
    pub trained: BTreeSet<String>,
    /// Hashes of keys of gates that could not be trained.
    pub skipped: BTreeSet<String>,
    /// Names of rules whose gates saw only rows on which the rule holds, where that left rows out (`strict`).
    pub filtered: BTreeSet<String>,
}

impl GateKeys {
    pub(super) fn of(report: &GatesReport) -> Self {
        let mut keys = Self::default();
        for gate in &report.gates {
            if gate.is_there() { &mut keys.trained } else { &mut keys.skipped }.insert(gate.key.clone());
            if gate.filter.is_some() {
                keys.filtered.extend(gate.rules.iter().cloned());
            }
        }
        keys
    }
}

/// What a model's manifest says about grafts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraftSection {
    /// Gates trained on grafts.
    pub gates: GateKeys,
    /// The file in [`GATES`] with what concepts add to z.
    pub effects: String,
    /// The hash of the key of each concept's head.
    pub heads: BTreeMap<String, String>,
    /// What makes each head's logits probabilities, apart: what a concept's head says does not depend on other rules.
    pub calibration: BTreeMap<String, Calibration>,
    /// Whether grafts can be trusted.
    pub trust: Trust,
}

impl GraftSection {
    /// What a stage has made, with effects written beside the gates.
    pub(super) fn of(stage: &GraftStage, vocabulary: &Vocabulary, folder: &Path) -> Result<Self> {
        let effects = stage.effects().ok_or_else(|| {
            Error::input("cannot write the model: nothing tells what concepts add to z".to_owned(), None)
        })?;
        Ok(Self {
            gates: GateKeys::of(&stage.gates.report),
            effects: effects::write(effects, vocabulary, folder)?,
            heads: stage.heads.clone(),
            calibration: stage.calibration.clone(),
            trust: stage.trust.clone(),
        })
    }

    /// The hashes of all gates and heads.
    pub(super) fn hashes(&self) -> impl Iterator<Item = &String> {
        self.gates.trained.iter().chain(self.heads.values())
    }
}

/// Gates of a model that were trained in one way.
#[derive(Clone, Debug)]
pub struct GateSet<'a> {
    pub(super) config: GateConfig,
    pub(super) keys: &'a GateKeys,
}

impl GateSection {
    /// Describes the gates of a stage, and writes features of leaves and normal samples beside them.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn of(stage: &GateStage, rule_set: &RuleSet, folder: &Path) -> Result<Self> {
        let (report, grafts, folder) = (&stage.report, stage.grafts.as_deref(), folder.join(GATES));
        let vocabulary = rule_set.dag.vocabulary();
        Ok(Self {
            config: report.config.clone(),
            rules: chimera_logic::rules::format_rules(rule_set),
            mined: stage.mined.clone(),
            gates: GateKeys::of(report),
            features: leaf_file::write(&stage.leaf_features, &folder)?,
            effects: stage.effects.as_ref().map(|effects| effects::write(effects, vocabulary, &folder)).transpose()?,
            grafts: grafts.map(|grafts| GraftSection::of(grafts, vocabulary, &folder)).transpose()?,
            // They are trained on the same rows, and theirs names what concepts add to z, too.
            lineage: grafts.map_or(&stage.lineage, |grafts| &grafts.gates.lineage).clone(),
            calibration: stage.calibration_rows.write(&folder)?,
            normal_rows: stage
                .calibration_rows
                .normal(rule_set, &vec![true; rule_set.rules.len()], Half::Thresholds)
                .rows,
            rows: report.rows,
            broken_rows: report.broken_rows,
            counts: report.counts(),
            seconds: stage.seconds,
        })
    }

    /// The rules.
    ///
    /// # Errors
    /// Text that is no rule file over these concepts: the manifest was changed.
    pub fn rule_set(&self, concepts: &[String]) -> Result<RuleSet> {
        let loaded = load_text("the model's rules", &self.rules, Vocabulary::closed(concepts.to_vec(), "the model"));
        if loaded.diagnostics.errors() > 0 {
            let message = "expected the rules that the model was trained with, got text that does not fit".to_owned();
            return Err(Error::input(message, Some("the manifest was changed or damaged; train again".to_owned())));
        }
        Ok(loaded.rule_set)
    }

    /// What concepts add to z; `None` where nothing was trained on grafts.
    ///
    /// # Errors
    /// A file that is missing, was changed, or is about other concepts.
    pub(crate) fn read_effects(
        &self,
        folder: &Path,
        rectified: bool,
        (concepts, width): (&[String], usize),
    ) -> Result<Option<Effects>> {
        let name = self.grafts.as_ref().map(|grafts| &grafts.effects).or(self.effects.as_ref());
        name.map(|name| effects::read(&folder.join(GATES).join(name), rectified, (concepts, width))).transpose()
    }

    /// The model's own gates.
    #[must_use]
    pub fn own(&self) -> GateSet<'_> {
        GateSet { config: self.config.clone(), keys: &self.gates }
    }

    /// Gates trained on grafts.
    #[must_use]
    pub fn grafted(&self) -> Option<GateSet<'_>> {
        self.grafts.as_ref().map(|grafts| GateSet { config: self.config.for_grafts(), keys: &grafts.gates })
    }

    /// The hashes of all gates and heads.
    pub fn hashes(&self) -> impl Iterator<Item = &String> {
        self.gates.trained.iter().chain(self.grafts.iter().flat_map(GraftSection::hashes))
    }

    /// The names of its files in [`GATES`].
    #[must_use]
    pub fn files(&self) -> BTreeSet<String> {
        let grafts = self.grafts.iter();
        self.hashes()
            .map(|hash| format!("{hash}.safetensors"))
            .chain(self.features.clone())
            .chain(self.effects.clone())
            .chain(grafts.map(|grafts| grafts.effects.clone()))
            .chain([self.calibration.clone()])
            .collect()
    }
}
