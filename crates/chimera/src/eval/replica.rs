//! The same model with other seeds: gates taught anew on one leaf bank, or everything. What is taught goes into the cache and
//! nowhere else.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::file::{self, mark_used};
use chimera_leaf::bank::LeafBank;
use chimera_leaf::config::{LeafConfig, Weights};
use chimera_leaf::device::Device;
use chimera_leaf::device::gpu_number;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stage::{self as leaves, Cached, StageEvent, Workplace};
use chimera_leaf::train::Start;
use chimera_logic::rules::RuleSet;

use super::run::Event;
use crate::gate::config::GateConfig;
use crate::gate::section::GateSection;
use crate::gate::stage::{self as gates, GateStage, Material, Place};
use crate::model::{self, CHECKPOINT, GATES, LOG, MANIFEST, Model};
use crate::score::engine::Engine;

/// Where models that were trained with another seed lie in the cache.
pub(crate) const REPLICAS: &str = "replicas";

/// Where things lie and what may be used.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub(super) cache: &'a Path,
    pub(super) device: &'a Device,
    pub(super) threads: NonZeroUsize,
    pub(super) events: &'a (dyn Fn(Event<'_>) + Sync),
}

impl Site<'_> {
    /// z and logits of a dataset.
    pub(super) fn encode(&self, dataset: &Dataset, bank: &LeafBank) -> Result<EncodedRows> {
        leaves::encode(dataset, bank, (self.cache, self.threads, false), &|event| (self.events)(Event::Leaf(event)))
    }

    /// Gates of a model with another seed, on its own leaf bank.
    pub(super) fn reteach(
        &self,
        folder: &Path,
        rule_set: &RuleSet,
        (dataset, encoded): (&Dataset, &EncodedRows),
        seed: u64,
    ) -> Result<Engine> {
        let mut model = Model::open(folder, self.device)?;
        let config = config_of(&model)?;
        let own = GateConfig { seed, ..config };
        let place = tempfile::tempdir().map_err(|cause| Error::write(Path::new("a temporary folder"), cause))?;
        let stage =
            self.teach(&model.bank, &model.manifest.config, rule_set, (dataset, encoded), &own, place.path())?;
        model.manifest.gates = Some(GateSection::of(&stage, rule_set, place.path())?);
        Engine::of(model, place.path(), self.threads)
    }

    /// Leaf bank and gates with another seed: a model of its own, which stays in the cache.
    pub(super) fn retrain(
        &self,
        folder: &Path,
        rule_set: &RuleSet,
        dataset: &Dataset,
        (seed, weights): (u64, Option<&Path>),
    ) -> Result<(Engine, EncodedRows)> {
        let original = Model::open(folder, self.device)?;
        let weights = match (&original.manifest.config.weights, weights) {
            (Some(Weights::File(name)), None) => {
                let message =
                    format!("the model started from the weights `{}`, which it does not keep", name.display());
                return Err(Error::input(message, Some("name them with `--weights FILE`".to_owned())));
            }
            (Some(Weights::File(_)), Some(path)) => Some(Weights::File(path.to_owned())),
            (untrained, _) => untrained.clone(),
        };
        let leaf = LeafConfig { seed, weights, ..original.manifest.config.clone() };
        let gate = GateConfig { seed, ..config_of(&original)? };
        let place = self.cache.join(REPLICAS).join(name_of(&original, self.device, (&leaf, &gate), rule_set)?);
        let kept = place.join(MANIFEST).is_file().then(|| open(&place, self.device, self.threads));
        let engine = if let Some(Ok(engine)) = kept {
            engine
        } else {
            if let Some(Err(_)) = kept {
                let aside = file::set_aside(&place)?;
                let event = StageEvent::SetAside { content: Cached::Replica, files: aside.as_slice() };
                (self.events)(Event::Leaf(event));
            }
            fs::create_dir_all(place.join(GATES)).map_err(|cause| Error::write(&place, cause))?;
            let _claimed = model::claim(&place)?;
            let workplace = Workplace {
                cache: self.cache,
                start: Start::GoOn,
                checkpoint: &place.join(CHECKPOINT),
                log: &place.join(LOG),
                device: self.device.clone(),
                threads: self.threads,
                strict: false,
            };
            let stage = leaves::run(dataset, &leaf, &workplace, &|event| (self.events)(Event::Leaf(event)))?;
            let data = (dataset, &stage.encoded);
            let taught = self.teach(&stage.trained.bank, &leaf, rule_set, data, &gate, &place)?;
            model::write(&place, dataset, &leaf, &stage, Some((rule_set, &taught)))?;
            Engine::open(&place, self.device, self.threads)?
        };
        mark_used(&place.join(MANIFEST));
        let encoded = self.encode(dataset, &engine.model.bank)?;
        Ok((engine, encoded))
    }

    fn teach(
        &self,
        bank: &LeafBank,
        leaf: &LeafConfig,
        rule_set: &RuleSet,
        (dataset, encoded): (&Dataset, &EncodedRows),
        config: &GateConfig,
        folder: &Path,
    ) -> Result<GateStage> {
        let gates = folder.join(GATES);
        fs::create_dir_all(&gates).map_err(|cause| Error::write(&gates, cause))?;
        let rows = leaf.share(encoded.present(&dataset.train()?));
        let material = Material { dataset, rows: &rows, bank, encoded };
        let place = Place {
            cache: self.cache,
            gates: Some(&gates),
            threads: self.threads,
            retrain: false,
            device: self.device,
        };
        gates::run(material, rule_set, config, place, &|event| (self.events)(Event::Gates(event)))
    }
}

/// Opens a replica. One that is damaged anywhere is refused, also where nothing reads it now.
pub(crate) fn open(place: &Path, device: &Device, threads: NonZeroUsize) -> Result<Engine> {
    let engine = Engine::open(place, device, threads)?;
    engine.model.check_files(place)?;
    Ok(engine)
}

fn config_of(model: &Model) -> Result<GateConfig> {
    let section = model.manifest.gates.as_ref();
    section
        .map(|section| section.config.clone())
        .ok_or_else(|| Error::input("expected a model with rules".to_owned(), None))
}

/// The folder of a replica: a hash of everything that it depends on.
fn name_of(
    original: &Model,
    device: &Device,
    (leaf, gate): (&LeafConfig, &GateConfig),
    rule_set: &RuleSet,
) -> Result<String> {
    let manifest = &original.manifest;
    let parts = (
        env!("CARGO_PKG_VERSION"),
        &manifest.dataset.fingerprints,
        &manifest.dataset.content,
        // Columns of the same data may come in another order, and a model's numbers stand in the order of its concepts.
        &manifest.bank.concepts,
        // Weights are named by their content, wherever they lie.
        (LeafConfig { weights: None, ..leaf.clone() }, &manifest.weights),
        // A GPU rounds in another way.
        gpu_number(device).is_some(),
        gate,
        chimera_logic::rules::format_rules(rule_set),
    );
    let text = serde_json::to_vec(&parts).map_err(|error| Error::input(error.to_string(), None))?;
    // Models of another layout could not be opened, and would be refused again in each run.
    Ok(format!("{}-layout-{}", &blake3::hash(&text).to_string()[..32], model::SCHEMA))
}
