//! A model opened to score: its rules with their gates, what it keeps of its calibration split, and what is taught beside it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_gate::graft::Effects;
use chimera_leaf::device::Device;
use chimera_leaf::encode::EncodedRows;
use chimera_logic::attributes::RuleSeverity;
use chimera_logic::rules::RuleSet;

use super::aggregate::Aggregation;
use super::method::Method;
use super::ready::Ready;
use crate::baseline::{self, Baseline, Teaching};
use crate::gate::calibration_rows::CalibrationRows;
use crate::gate::grafts::{Grafts, Wanted};
use crate::gate::loaded::{MissingGates, ModelGates};
use crate::gate::rules::{Root, RuleGates};
use crate::gate::section::{GATES, GateSection};
use crate::gate::stage::{GateEvent, Material, Place};
use crate::model::Model;

/// A model ready to score.
#[derive(Debug)]
pub struct Engine {
    /// The model.
    pub model: Model,
    /// Its rules and their gates.
    pub gates: RuleGates,
    /// What it has of grafts; `None` where it was trained without.
    pub(super) grafts: Option<Grafts>,
    /// What concepts add to z; `None` where nothing was taught on grafts.
    pub(super) effects: Option<Effects>,
    pub(super) rows: CalibrationRows,
    /// What was taught beside the model.
    pub(super) baselines: BTreeMap<Method, Baseline>,
}

/// What decides a score beside the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scoring {
    /// Where rules' probabilities come from.
    pub method: Method,
    /// How rules become one number.
    pub aggregation: Aggregation,
    /// From which probability of an antecedent on a violation counts, for rules that say nothing about it.
    pub tau: f64,
    /// Rules that matter less than this do not count for the one number of a sample; those that say nothing are in the middle.
    pub least_severity: Option<RuleSeverity>,
}

impl Engine {
    /// Opens a model that has rules.
    ///
    /// # Errors
    /// As [`Model::open`] and [`ModelGates::rules`], and a model without rules.
    pub fn open(folder: &Path, device: &Device, threads: NonZeroUsize) -> Result<Self> {
        Self::of(Model::open(folder, device)?, folder, threads)
    }

    /// A model whose gates lie in a folder that need not be its own.
    ///
    /// # Errors
    /// As [`ModelGates::rules`], and a model without rules.
    pub fn of(model: Model, folder: &Path, threads: NonZeroUsize) -> Result<Self> {
        let section = section_of(&model, folder)?;
        let features = model.manifest.bank.encoder.features();
        let concepts = &model.manifest.bank.concepts;
        let of_model = ModelGates::open(folder, &model.manifest.bank, &model.manifest.encoder, section)?;
        let gates = of_model.rules(&section.own(), threads)?;
        let effects = section.read_effects(folder, model.manifest.bank.encoder.is_projected(), (concepts, features))?;
        let grafts = Grafts::open(&of_model, effects.as_ref(), threads)?;
        let rows = CalibrationRows::read(&folder.join(GATES).join(&section.calibration))?;
        if !rows.fits(features, concepts) {
            let message = format!("expected calibration rows of the model in `{}`, got others", section.calibration);
            return Err(Error::input(message, Some("train again".to_owned())));
        }
        Ok(Self { model, gates, grafts, effects, rows, baselines: BTreeMap::new() })
    }

    /// A model without rules of its own, with others over its concepts: methods that need gates cannot be asked.
    ///
    /// # Errors
    /// Rules over concepts that are not the model's, or in another order.
    pub(crate) fn without_gates(model: Model, rule_set: RuleSet) -> Result<Self> {
        let bank = &model.manifest.bank;
        check_vocabulary(&rule_set, &bank.concepts)?;
        let (gates, rows) =
            (RuleGates::none(rule_set, bank.encoder.features())?, CalibrationRows::none(&bank.concepts));
        Ok(Self { model, gates, grafts: None, effects: None, rows, baselines: BTreeMap::new() })
    }

    /// Whether concepts can be given for a method.
    ///
    /// # Errors
    /// Why they cannot.
    pub fn can_suppose(&self, method: Method, given: &[(usize, bool)]) -> Result<()> {
        let (problem, hint) = match method {
            _ if given.is_empty() => return Ok(()),
            Method::Indep | Method::IndepCal | Method::Wmc => return Ok(()),
            Method::Oracle => (
                "the oracle knows by z which samples it has learned from, and z would be another",
                "use another `--method`, or no `--set`",
            ),
            _ if self.effects.is_none() => (
                "what z would be with other concepts is known to models that were trained with grafts alone",
                "train it again with `--grafts`, or use `--method indep-cal` or `wmc`, which look at concepts alone",
            ),
            _ => return Ok(()),
        };
        Err(Error::input(problem.to_owned(), Some(hint.to_owned())))
    }

    /// The method for whoever asks for none: `neural`, or `chimera` where the model was trained without grafts, or `indep-cal` where
    /// it was trained without rules.
    #[must_use]
    pub fn default_method(&self) -> Method {
        match (&self.grafts, &self.model.manifest.gates) {
            (Some(_), _) => Method::Neural,
            (None, Some(_)) => Method::Chimera,
            (None, None) => Method::IndepCal,
        }
    }

    /// The same model with other rules, over its concepts. For the methods `chimera` and `graft` every part of them must have a
    /// gate in the model or in the cache, for `neural` every concept a head in the model; other methods need none. What was taught for the rules before is forgotten.
    ///
    /// # Errors
    /// As [`ModelGates::of_rules`]; rules over concepts that are not the model's, or in another order.
    pub fn with_rules(self, folder: &Path, rule_set: RuleSet, method: Method, cache: Option<&Path>) -> Result<Self> {
        let manifest = &self.model.manifest;
        check_vocabulary(&rule_set, &manifest.bank.concepts)?;
        let needs_gates = matches!(method, Method::Chimera | Method::Graft | Method::Neural);
        let Some(section) = manifest.gates.as_ref().filter(|_| needs_gates) else {
            if needs_gates {
                section_of(&self.model, folder)?;
            }
            let gates = RuleGates::none(rule_set, manifest.bank.encoder.features())?;
            return Ok(Self { gates, grafts: None, baselines: BTreeMap::new(), ..self });
        };
        let of_model = ModelGates::open(folder, &manifest.bank, &manifest.encoder, section)?;
        let grafts = match (self.grafts, method) {
            (Some(grafts), Method::Graft | Method::Neural) => {
                let what = if method == Method::Graft { Wanted::Gates } else { Wanted::Heads };
                Some(grafts.of_rules(&of_model, &rule_set, self.effects.as_ref(), (what, cache))?)
            }
            _ => None,
        };
        let gates = if method == Method::Chimera {
            of_model.of_rules(&section.own(), &rule_set, (cache, MissingGates::Refused))?
        } else {
            RuleGates::none(rule_set, manifest.bank.encoder.features())?
        };
        Ok(Self { gates, grafts, baselines: BTreeMap::new(), ..self })
    }

    /// Names of rules without gates that were taught on grafts, which `neural` scores by heads of concepts alone, and of rules for
    /// which grafts are not trusted, which it scores by independent events.
    #[must_use]
    pub fn without_grafts(&self) -> [Vec<&str>; 2] {
        let Some(grafts) = &self.grafts else { return Default::default() };
        let trusted = |rule: usize| grafts.trust.distrust_of(&self.gates.rule_set, rule).is_none();
        let rules = || self.rules().zip(&grafts.gates.roots).enumerate();
        let alone = rules().filter(|(rule, (_, root))| **root == Root::Missing && trusted(*rule));
        let fallbacks = rules().filter(|(rule, _)| !trusted(*rule));
        [alone.map(|(_, (name, _))| name).collect(), fallbacks.map(|(_, (name, _))| name).collect()]
    }

    /// Why `neural` is independent events for a rule, by number; `None` where it is not, or there are no grafts.
    #[must_use]
    pub(crate) fn distrust_of(&self, rule_set: &RuleSet, rule: usize) -> Option<String> {
        self.grafts.as_ref()?.trust.distrust_of(rule_set, rule)
    }

    /// Names of the rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.gates.rule_set.rules.iter().map(|rule| rule.name.as_str())
    }

    /// How much a violation of each rule matters; in the middle where a rule says nothing about it.
    pub fn severities(&self) -> impl Iterator<Item = RuleSeverity> {
        self.gates.rule_set.rules.iter().map(|rule| rule.attributes.severity.unwrap_or(RuleSeverity::Medium))
    }

    /// Teaches a method that models do not have, from the data that the model was trained on.
    ///
    /// # Errors
    /// As [`baseline::teach`], and a model without rules. There is nothing to teach for other methods.
    pub fn teach(
        &mut self,
        method: Method,
        (dataset, encoded): (&Dataset, &EncodedRows),
        place: Place<'_>,
        events: &(dyn Fn(GateEvent<'_>) + Sync),
    ) -> Result<Option<Teaching>> {
        let Some(kind) = method.baseline() else { return Ok(None) };
        let Some(section) = &self.model.manifest.gates else {
            let message = format!("`{}` is taught as the model's gates were, and the model has none", method.name());
            return Err(Error::input(message, Some("`chimera add` teaches it rules".to_owned())));
        };
        let rows = self.model.manifest.config.share(encoded.present(&dataset.train()?));
        let material = Material { dataset, rows: &rows, bank: &self.model.bank, encoded };
        let (baseline, teaching) =
            baseline::teach(kind, material, &self.gates.rule_set, &section.config, place, events)?;
        self.baselines.insert(method, baseline);
        Ok(Some(teaching))
    }

    /// Makes everything ready that does not depend on samples. `violations` has the samples that a supervised aggregation
    /// learns from.
    ///
    /// # Errors
    /// A method or an aggregation that needs what is not there.
    pub fn ready(
        &self,
        scoring: Scoring,
        violations: Option<(&Dataset, &EncodedRows)>,
        threads: NonZeroUsize,
    ) -> Result<Ready<'_>> {
        Ready::new(self, scoring, violations, threads)
    }

    /// Names of rules that hold on no calibration row: where there is one, no row is normal.
    #[must_use]
    pub fn never_hold(&self) -> Vec<&str> {
        let rule_set = &self.gates.rule_set;
        self.rows.never_hold(rule_set).into_iter().map(|rule| rule_set.rules[rule].name.as_str()).collect()
    }
}

/// Makes sure that a concept's number in rules is its number in the leaf bank.
pub(crate) fn check_vocabulary(rule_set: &RuleSet, concepts: &[String]) -> Result<()> {
    if rule_set.dag.vocabulary().names().eq(concepts) {
        return Ok(());
    }
    let message = "expected rules over the concepts of the model, in its order".to_owned();
    let hint = "rules are loaded over a vocabulary: close it over the model's concepts as `manifest.json` lists them";
    Err(Error::input(message, Some(hint.to_owned())))
}

fn section_of<'a>(model: &'a Model, folder: &Path) -> Result<&'a GateSection> {
    model.manifest.gates.as_ref().ok_or_else(|| {
        let message = format!("expected a model with rules, got `{}` without any", folder.display());
        Error::input(message, Some("`chimera add` teaches it some".to_owned()))
    })
}
