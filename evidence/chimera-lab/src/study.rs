//! A study: one leaf bank on a dataset, gates for rules, and every method measured on the test rows.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera::eval::{self, Asked, Evaluation};
use chimera::gate::config::GateConfig;
use chimera::gate::stage::Place;
use chimera::model::{self, Model};
use chimera::score::method::Method;
use chimera::train::{self, Gating, Lesson};
use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::new_folder::NewFolder;
use chimera_leaf::config::LeafConfig;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stage::{self as leaves, StageEvent, Workplace};
use chimera_leaf::train::Start;
use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::rules::format_rules;
use chimera_mine::record::MiningRecord;

use crate::site::{Event, Site};

/// A model and the dataset that it was taught on.
#[derive(Debug)]
pub struct Study {
    /// What it was taught on and is measured on.
    pub dataset: Dataset,
    /// Its rules.
    pub rule_set: RuleSet,
    /// Which rows chose them, where they were mined.
    pub mined: Vec<MiningRecord>,
    /// The model's folder.
    pub model: PathBuf,
}

/// What a study is taught with.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The name of the model's folder.
    pub name: &'a str,
    /// Its rules, as they are written.
    pub rules: &'a str,
    /// Which rows chose them.
    pub mined: Vec<MiningRecord>,
    /// Choices about the leaf bank.
    pub leaf: LeafConfig,
    /// Choices about gates.
    pub gates: GateConfig,
}

impl Study {
    /// Teaches a model into the site's folder; one that is there already, of the same data and with the same rules, is taken as it is.
    ///
    /// # Errors
    /// Rules that do not go with the dataset, and as [`train::run`].
    pub fn teach(site: &Site<'_>, dataset: Dataset, plan: Plan<'_>) -> Result<Self> {
        let rule_set = rules_over(&dataset, plan.rules)?;
        let folder = site.folder.join("models").join(plan.name);
        let study = Self { dataset, rule_set, mined: plan.mined, model: folder };
        if study.is_there(site, &plan.leaf, &plan.gates)? {
            return Ok(study);
        }
        make(&study.model)?;
        let _claimed = model::claim(&study.model)?;
        let lesson = Lesson {
            dataset: &study.dataset,
            rules: Some((&study.rule_set, &study.mined)),
            leaf: &plan.leaf,
            gates: &plan.gates,
            retrain: false,
        };
        let workplace = Workplace {
            cache: site.cache,
            start: Start::GoOn,
            checkpoint: &study.model.join(model::CHECKPOINT),
            log: &study.model.join(model::LOG),
            device: site.open()?,
            threads: site.threads,
            strict: false,
        };
        train::run(&study.model, lesson, &workplace, &|event| (site.tell)(Event::Taught(event)))?;
        Ok(study)
    }

    /// Whether the model is there, taught in the same way.
    fn is_there(&self, site: &Site<'_>, leaf: &LeafConfig, gates: &GateConfig) -> Result<bool> {
        if !self.model.join(model::MANIFEST).exists() {
            return Ok(false);
        }
        let manifest = Model::open(&self.model, &site.open()?)?.manifest;
        let section = manifest.gates.as_ref();
        let same_rules = section.map(|section| section.rule_set(&manifest.bank.concepts)).transpose()?;
        let is_same = model::difference(&manifest, &self.dataset)?.is_none()
            && same_rules.is_some_and(|rules| format_rules(&rules) == format_rules(&self.rule_set))
            // Which device taught the gates is no choice of the experiment.
            && section.is_some_and(|section| GateConfig { arithmetic: gates.arithmetic, ..section.config.clone() } == *gates)
            && leaf.encoder_for(&self.dataset)? == manifest.bank.encoder
            && settled(leaf, &manifest.config) == manifest.config;
        if is_same {
            return Ok(true);
        }
        let message = format!("`{}` holds a model of other data, rules or choices", self.model.display());
        Err(Error::input(message, Some("give another folder to `--out`, or remove this one".to_owned())))
    }

    /// The same leaf bank under other rules or choices about gates, as another model.
    ///
    /// # Errors
    /// As [`train::regate`].
    pub(crate) fn regated(
        &self,
        site: &Site<'_>,
        name: &str,
        rules: &str,
        gates: &GateConfig,
        retrain: bool,
    ) -> Result<Self> {
        let study = Self {
            dataset: self.dataset.clone(),
            rule_set: rules_over(&self.dataset, rules)?,
            mined: Vec::new(),
            model: site.folder.join("models").join(name),
        };
        let device = site.open()?;
        let config = Model::open(&self.model, &device)?.manifest.config;
        if study.is_there(site, &config, gates)? {
            return Ok(study);
        }
        // Under another name until it is whole: a copy of the other model must never be taken for this one.
        let new = NewFolder::create(&study.model)?;
        copy_folder(&self.model, new.path())?;
        let model = Model::open(new.path(), &device)?;
        let encoded = study.encoded(site, &model)?;
        let gates_folder = new.path().join(model::GATES);
        let place =
            Place { cache: site.cache, gates: Some(&gates_folder), threads: site.threads, retrain, device: &device };
        let gating = Gating {
            dataset: &study.dataset,
            encoded: &encoded,
            rule_set: &study.rule_set,
            mined: &[],
            config: gates,
            place,
        };
        train::regate(new.path(), model, gating, &device, &|event| (site.tell)(Event::Taught(event)))?;
        new.finish()?;
        Ok(study)
    }

    /// z of every sample.
    ///
    /// # Errors
    /// As [`leaves::encode`].
    pub fn encoded(&self, site: &Site<'_>, model: &Model) -> Result<EncodedRows> {
        let tell = |event: StageEvent<'_>| (site.tell)(Event::Taught(train::Event::Leaf(event)));
        leaves::encode(&self.dataset, &model.bank, (site.cache, site.threads, false), &tell)
    }

    /// Measures methods on the test rows, with so many seeds for gates on the one leaf bank.
    ///
    /// # Errors
    /// As [`eval::run`].
    pub fn measure(&self, site: &Site<'_>, methods: &[Method], seeds: NonZeroUsize) -> Result<Evaluation> {
        let asked = Asked {
            model: &self.model,
            dataset: &self.dataset,
            training: None,
            rule_set: None,
            methods: methods.to_vec(),
            seeds,
            refit_leaf: false,
            weights: None,
            mined: &[],
            cache: site.cache,
            device: site.open()?,
            threads: site.threads,
        };
        let evaluation = eval::run(&asked, &|event| (site.tell)(Event::Measured(event)))?;
        evaluation.words.iter().for_each(|words| site.say(words));
        for method in &evaluation.methods {
            if let Some(why) = &method.absent {
                site.say(&format!("`{}` is not told: {why}", method.method.name()));
            }
        }
        Ok(evaluation)
    }
}

/// Choices with what they leave to the dataset as a model settled it: that is part of its encoder.
fn settled(asked: &LeafConfig, model: &LeafConfig) -> LeafConfig {
    LeafConfig { encoder: model.encoder, size: model.size, frames: model.frames, ..asked.clone() }
}

fn rules_over(dataset: &Dataset, text: &str) -> Result<RuleSet> {
    let loaded = load_text("rules", text, dataset.table().vocabulary());
    if loaded.diagnostics.errors() > 0 {
        let message = format!("the rules do not go with the dataset `{}`", dataset.folder().display());
        return Err(Error::input(message, Some("its concepts are listed by `chimera data show`".to_owned())));
    }
    Ok(loaded.rule_set)
}

fn make(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(|cause| Error::write(folder, cause))
}

/// Copies a folder of files and folders of files.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    make(to)?;
    for entry in fs::read_dir(from).map_err(|cause| Error::read(from, cause))? {
        let path = entry.map_err(|cause| Error::read(from, cause))?.path();
        let Some(name) = path.file_name() else { continue };
        let target = to.join(name);
        if path.is_dir() {
            copy_folder(&path, &target)?;
        } else {
            fs::copy(&path, &target).map_err(|cause| Error::write(&target, cause))?;
        }
    }
    Ok(())
}
