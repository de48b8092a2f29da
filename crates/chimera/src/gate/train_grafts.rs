//! Gates trained on grafts (the method `graft`), and a head for each concept, trained on grafts in which other concepts are drawn
//! anew (the method `neural` counts over them).

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::time::Instant;

use chimera_data::dataset::rows::FitRows;
use chimera_data::error::Result;
use chimera_data::metric::columns::ScoreTable;
use chimera_data::parallel::in_parallel;
use chimera_leaf::calibrate::Calibration;
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::rules::{Rule, RuleSet};

use super::config::GateConfig;
use super::heads::ConceptHeads;
use super::lesson::Lesson;
use super::levels;
use super::material::{GateEvent, Material, Place};
use super::slices::Slices;
use super::teacher::Teacher;
use super::train_heads::{self, TaughtHeads};
use super::trained::GraftStage;

/// Teaches gates and heads on grafts. `config` is that of the model's own gates.
///
/// # Errors
/// As [`run`](super::stage::run).
pub(super) fn run(
    material: Material<'_>,
    rule_set: &RuleSet,
    config: &GateConfig,
    place: Place<'_>,
    events: &(dyn Fn(GateEvent<'_>) + Sync),
) -> Result<GraftStage> {
    let config = config.for_grafts();
    let lesson = Lesson::new(material, rule_set, &config, place.threads)?;
    let gates = levels::teach(&lesson, material, rule_set, &config, place, events)?;
    let (teacher, began) = (Teacher::new(place, events), Instant::now());
    let taught = train_heads::teach(&lesson, rule_set, &config.recipe(), config.seed, &teacher)?;
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
