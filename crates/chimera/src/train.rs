//! From a dataset to a finished model folder: leaf bank, gates, the model itself, thresholds for whoever reads it, and its card.
//!
//! What `chimera train` does, for programs; [`regate`] is what `chimera add` does.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::FitRows;
use chimera_data::error::{Error, Result};
use chimera_leaf::bank::LeafBank;
use chimera_leaf::config::LeafConfig;
use chimera_leaf::device::Device;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stage::{self as leaves, LeafStage, StageEvent, Workplace};
use chimera_logic::rules::RuleSet;
use chimera_mine::record::MiningRecord;

use crate::card;
use crate::gate::config::GateConfig;
use crate::gate::stage::{self as gates, GateEvent, GateStage, Material, Place};
use crate::model::{self, Model, ModelManifest};
use crate::score::engine::Engine;
use crate::score::readable;

/// What is taught.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// What is learned from.
    pub dataset: &'a Dataset,
    /// Rules, and which rows chose them; without rules there is a leaf bank alone.
    pub rules: Option<(&'a RuleSet, &'a [MiningRecord])>,
    /// Choices about the leaf bank.
    pub leaf: &'a LeafConfig,
    /// Choices about gates.
    pub gates: &'a GateConfig,
    /// Whether gates are taught even if they are there.
    pub retrain: bool,
}

/// What is going on, for whoever shows it.
#[derive(Debug)]
pub enum Event<'a> {
    /// The leaf bank.
    Leaf(StageEvent<'a>),
    /// Gates.
    Gates(GateEvent<'a>),
}

/// A model that was taught.
#[derive(Debug)]
pub struct Taught {
    /// The leaf bank, and how it was trained.
    pub leaf: LeafStage,
    /// What became of the gates, where there are rules.
    pub gates: Option<GateStage>,
    /// What the model says of itself.
    pub manifest: ModelManifest,
}

/// Teaches a model into a folder that is there and is nobody else's (see [`model::claim`]).
///
/// # Errors
/// As [`leaves::run`], [`gates::run`] and [`model::write`].
pub fn run(
    out: &Path,
    lesson: Lesson<'_>,
    workplace: &Workplace<'_>,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Taught> {
    let Lesson { dataset, rules, leaf: leaf_config, gates: gate_config, retrain } = lesson;
    let leaf = leaves::run(dataset, leaf_config, workplace, &|event| events(Event::Leaf(event)))?;
    let place = Place {
        cache: workplace.cache,
        gates: Some(&out.join(model::GATES)),
        threads: workplace.threads,
        retrain,
        device: &workplace.device,
    };
    let gates = match rules {
        None => None,
        Some((rule_set, mined)) => {
            let gating = Gating { dataset, encoded: &leaf.encoded, rule_set, mined, config: gate_config, place };
            let rows = leaf_config.share(leaf.encoded.present(&dataset.train()?));
            Some(gating.stage(&leaf.trained.bank, &rows, events)?)
        }
    };
    let with_gates = rules.zip(gates.as_ref()).map(|((rule_set, _), stage)| (rule_set, stage));
    let manifest = model::write(out, dataset, leaf_config, &leaf, with_gates)?;
    finish(out, &manifest, dataset, gates.as_ref(), (&workplace.device, workplace.threads))?;
    Ok(Taught { leaf, gates, manifest })
}

/// What gates are taught to a model that has a leaf bank.
#[derive(Clone, Copy, Debug)]
pub struct Gating<'a> {
    /// What is learned from.
    pub dataset: &'a Dataset,
    /// Its z by the model's leaf bank.
    pub encoded: &'a EncodedRows,
    /// All rules that the model is to have.
    pub rule_set: &'a RuleSet,
    /// Which rows chose them.
    pub mined: &'a [MiningRecord],
    /// Choices about gates.
    pub config: &'a GateConfig,
    /// Where gates are looked for and go to.
    pub place: Place<'a>,
}

impl Gating<'_> {
    fn stage(&self, bank: &LeafBank, rows: &FitRows, events: &(dyn Fn(Event<'_>) + Sync)) -> Result<GateStage> {
        if let Some(folder) = self.place.gates {
            fs::create_dir_all(folder).map_err(|cause| Error::write(folder, cause))?;
        }
        let material = Material { dataset: self.dataset, rows, bank, encoded: self.encoded };
        let tell = |event: GateEvent<'_>| events(Event::Gates(event));
        let mut stage = gates::run(material, self.rule_set, self.config, self.place, &tell)?;
        stage.mined = self.mined.to_vec();
        Ok(stage)
    }
}

/// Teaches gates to a model that has a leaf bank, in the place of those that it has. The folder must be nobody else's (see [`model::claim`]).
///
/// # Errors
/// As [`gates::run`] and [`model::write_gates`].
pub fn regate(
    folder: &Path,
    model: Model,
    gating: Gating<'_>,
    device: &Device,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<(GateStage, ModelManifest)> {
    let rows = model.manifest.config.share(gating.encoded.present(&gating.dataset.train()?));
    let stage = gating.stage(&model.bank, &rows, events)?;
    let manifest = model::write_gates(folder, model.manifest, gating.rule_set, &stage)?;
    finish(folder, &manifest, gating.dataset, Some(&stage), (device, gating.place.threads))?;
    Ok((stage, manifest))
}

/// What people read of a model.
fn finish(
    folder: &Path,
    manifest: &ModelManifest,
    dataset: &Dataset,
    gates: Option<&GateStage>,
    (device, threads): (&Device, NonZeroUsize),
) -> Result<()> {
    if gates.is_some() {
        readable::write(&Engine::open(folder, device, threads)?, folder, threads)?;
    }
    card::write(folder, manifest, dataset, gates.map(|stage| &stage.report))
}
