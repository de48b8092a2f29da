//! What a model has of grafts, beside gates taught on chimeras: gates taught on grafts (the method `graft`), and a head for each
//! concept, taught on grafts in which other concepts are drawn anew (the method `neural` counts over them).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use chimera_gate::graft::Effects;
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::rules::{Rule, RuleSet};
use chimera_logic::vocabulary::Vocabulary;
use serde::{Deserialize, Serialize};

use super::config::GateConfig;
use super::effects;
use super::heads::{self, ConceptHeads, TaughtHeads};
use super::lesson::{Lesson, Slices};
use super::loaded::{MissingGates, ModelGates};
use super::report::{Counts, GatesReport};
use super::rules::RuleGates;
use super::section::GateKeys;
use super::stage::{self, GateEvent, GateStage, Material, Place};
use super::teacher::Teacher;
use super::trust::Trust;
use crate::data::rows::FitRows;
use crate::error::{Error, Result};
use crate::leaf::calibrate::{Calibration, Method};
use crate::metric::columns::ScoreTable;
use crate::parallel::in_parallel;

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

/// What was taught on grafts.
#[derive(Debug)]
pub struct GraftStage {
    /// Gates.
    pub gates: GateStage,
    heads: BTreeMap<String, String>,
    calibration: BTreeMap<String, Calibration>,
    counts: Counts,
    skipped: Vec<(String, String)>,
    trust: Trust,
    fallbacks: BTreeMap<String, String>,
}

/// Teaches gates and heads on grafts. `config` is that of the model's own gates.
///
/// # Errors
/// As [`stage::run`].
pub(super) fn run(
    material: Material<'_>,
    rule_set: &RuleSet,
    config: &GateConfig,
    place: Place<'_>,
    events: &(dyn Fn(GateEvent<'_>) + Sync),
) -> Result<GraftStage> {
    let config = config.for_grafts();
    let lesson = Lesson::new(material, rule_set, &config, place.threads)?;
    let gates = stage::teach(&lesson, material, rule_set, &config, place, events)?;
    let (teacher, began) = (Teacher::new(place, events), Instant::now());
    let taught = heads::teach(&lesson, rule_set, &config.recipe(), config.seed, &teacher)?;
    let (heads, seconds) = (taught.gates.len(), began.elapsed().as_secs_f64());
    events(GateEvent::Heads { heads, taught: taught.counts.trained, seconds });
    let ready = ConceptHeads::new(rule_set, &taught.gates, &|concept| lesson.leaf_of(concept), lesson.width)?;
    let ready = ready.with_shares(lesson.effects.as_ref().map_or(&[], |effects| &effects.shares))?;
    let calibration = calibrate(material, &ready, place)?;
    let trust = lesson.trust(&ready, material.encoded, place.threads)?;
    let fallback = |(number, rule): (usize, &Rule)| Some((rule.name.clone(), trust.distrust_of(rule_set, number)?));
    let fallbacks = rule_set.rules.iter().enumerate().filter_map(fallback).collect();
    let TaughtHeads { gates: trained, counts, skipped } = taught;
    let hash =
        |concept: &String| Ok((concept.clone(), lesson.naming.head(concept, &config.recipe(), config.seed)?.hash));
    let heads = trained.keys().map(hash).collect::<Result<_>>()?;
    Ok(GraftStage { gates, heads, calibration, counts, skipped, trust, fallbacks })
}

/// Fits probabilities to the heads' logits on calibration rows that may be fitted on.
fn calibrate(material: Material<'_>, heads: &ConceptHeads, place: Place<'_>) -> Result<BTreeMap<String, Calibration>> {
    let Material { dataset, encoded, .. } = material;
    let table = dataset.table();
    let logits_on = |rows: &FitRows| {
        let z = Slices::of_rows(encoded, rows.numbers());
        heads.logits_of_all(&z, rows.len(), place.threads)
    };
    let fit = encoded.present(&dataset.fit_half());
    let (by_concept, lost) = logits_on(&fit)?;
    // Where a head overflows there is no logit to fit to.
    let (fit, by_concept) = match lost.is_empty() {
        true => (fit, by_concept),
        false => {
            let lost: BTreeSet<usize> = lost.into_iter().map(|place| fit.numbers()[place]).collect();
            let fit = fit.filtered(|row| !lost.contains(&row));
            let (by_concept, _) = logits_on(&fit)?;
            (fit, by_concept)
        }
    };
    let told: Vec<usize> = (0..table.concepts.len()).filter(|&concept| heads.has(concept)).collect();
    let fitted = in_parallel(place.threads, told.len(), |at| {
        let concept = told[at];
        let logits: Vec<f32> =
            by_concept[concept * fit.len()..][..fit.len()].iter().map(|&logit| logit as f32).collect();
        let column = |bits: &BitTable| BitTable::from_columns(bits.rows(), [bits.column(concept)]);
        let labels = match table.labels.known() {
            Some(known) => TruthTable::partial(column(table.labels.value()), column(known)),
            None => TruthTable::complete(column(table.labels.value())),
        };
        let name = std::slice::from_ref(&table.concepts[concept]);
        let logits = ScoreTable::new(&logits, fit.len(), name)?;
        Ok((table.concepts[concept].clone(), Calibration::fit(logits, &labels, &fit, NonZeroUsize::MIN)?))
    })?;
    Ok(fitted.into_iter().collect())
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

/// What a model has of grafts, ready to run.
#[derive(Debug)]
pub struct Grafts {
    /// Gates taught on grafts.
    pub gates: RuleGates,
    /// Heads taught on grafts.
    pub heads: ConceptHeads,
    /// Slope and intercept that make each concept's logits probabilities; `None` where it has no head.
    pub lines: Vec<Option<(f64, f64)>>,
    /// Whether grafts can be trusted.
    pub trust: Trust,
}

impl Grafts {
    /// Opens what a model has; `None` where it was trained without grafts.
    ///
    /// # Errors
    /// As [`ModelGates::rules`].
    pub(crate) fn open(
        model: &ModelGates<'_>,
        effects: Option<&Effects>,
        threads: NonZeroUsize,
    ) -> Result<Option<Self>> {
        let section = model.section();
        let (Some(grafts), Some(set)) = (&section.grafts, section.grafted()) else { return Ok(None) };
        let gates = model.rules(&set, threads)?;
        let heads = model.heads((grafts, &set), &gates.rule_set, shares_of(effects), threads)?;
        let line = |concept: &str| Some(grafts.calibration.get(concept)?.line(Method::Platt, 0));
        let lines = gates.rule_set.dag.vocabulary().names().map(line).collect();
        Ok(Some(Self { gates, heads, lines, trust: grafts.trust.clone() }))
    }

    /// The same for other rules: their gates, from the model or the cache, or the heads of their concepts with what there is of
    /// gates, whatever is asked for.
    ///
    /// # Errors
    /// As [`ModelGates::of_rules`]; concepts without a head.
    pub(crate) fn of_rules(
        self,
        model: &ModelGates<'_>,
        rule_set: &RuleSet,
        effects: Option<&Effects>,
        (what, cache): (Wanted, Option<&Path>),
    ) -> Result<Self> {
        let section = model.section();
        let (Some(grafts), Some(set)) = (&section.grafts, section.grafted()) else { return Ok(self) };
        let heads = model.heads((grafts, &set), rule_set, shares_of(effects), NonZeroUsize::MIN)?;
        let trusted = |rule: &usize| self.trust.distrust_of(rule_set, *rule).is_none();
        let missing = (0..rule_set.rules.len()).filter(trusted).find_map(|rule| {
            let mut concepts =
                heads::concepts_of(rule_set, rule).map(|concept| rule_set.dag.vocabulary().name(concept));
            concepts.find(|concept| !grafts.heads.contains_key(*concept))
        });
        if let (Wanted::Heads, Some(concept)) = (what, missing) {
            let message = format!("the model has no head for `{concept}` that was taught on grafts");
            let hint = "`chimera add` teaches heads for the concepts of its rules; `--method indep-cal` needs none";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let missing = if what == Wanted::Gates { MissingGates::Refused } else { MissingGates::LeftOut };
        let gates = model.of_rules(&set, rule_set, (cache, missing))?;
        Ok(Self { gates, heads, ..self })
    }
}

/// The share of samples that show each concept.
fn shares_of(effects: Option<&Effects>) -> &[f32] {
    effects.map_or(&[], |effects| &effects.shares)
}

/// What other rules are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Gates for every part of them.
    Gates,
    /// Heads for their concepts, and gates for rules all of whose parts have one.
    Heads,
}
