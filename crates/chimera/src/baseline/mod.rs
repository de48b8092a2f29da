//! Other ways to a rule's truth, that gates taught on chimeras are compared with. Each has the same z, the same sizes and as
//! many steps as a gate; what is taught goes into the cache, never into a model.

mod deep;
mod folds;
mod mono;
mod oracle;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chimera_gate::gate::Gate;
use chimera_gate::train::{Negatives, Recipe};
use chimera_logic::rules::RuleSet;

pub use self::deep::ConceptHeads;
pub use self::folds::{FittedOn, FoldOf, Violations};
pub use self::oracle::CrossFitted;
use crate::error::Result;
use crate::gate::config::GateConfig;
use crate::gate::lesson::Lesson;
use crate::gate::report::{Counts, Origin};
use crate::gate::rules::RuleGates;
use crate::gate::shelf::{Got, Shelf};
use crate::gate::stage::{self, GateEvent, Material, Place};
use crate::parallel::in_parallel;

/// A way to a rule's truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Gates like those of chimeras, taught on samples as they are, on which the rule is known to hold.
    Sem,
    /// One gate a rule over all its leaves, taught on samples as they are, on which the rule is known to hold.
    MonoN,
    /// One gate a rule over all its leaves, taught on chimeras.
    MonoC,
    /// Independent events over a head of a gate's size for each concept.
    IndepDeep,
    /// One gate a rule over z, taught on samples that break rules: the ceiling.
    Oracle,
}

/// What was taught.
#[derive(Debug)]
pub enum Baseline {
    /// A gate at the root of each rule.
    Rules(RuleGates),
    /// A head for each concept.
    Concepts(ConceptHeads),
    /// A gate for each rule, and for each part of the samples that it was taught without.
    CrossFitted(CrossFitted),
}

/// What became of teaching.
#[derive(Clone, Debug)]
pub struct Teaching {
    /// How many gates came from where.
    pub counts: Counts,
    /// Rules or concepts that could not be taught, and why.
    pub skipped: Vec<(String, String)>,
    /// The samples with violations that were learned from; `None` where none were.
    pub fitted_on: Option<FittedOn>,
}

/// Teaches a baseline, or finds it in the cache. `config` is that of the model's gates.
///
/// # Errors
/// As [`stage::run`]; no rows that break a rule, for those that learn from them.
pub fn teach(
    kind: Kind,
    material: Material<'_>,
    rule_set: &RuleSet,
    config: &GateConfig,
    place: Place<'_>,
    events: &(dyn Fn(GateEvent<'_>) + Sync),
) -> Result<(Baseline, Teaching)> {
    let place = Place { gates: None, ..place };
    if kind == Kind::Sem {
        let config = GateConfig { negatives: Negatives::Same, strict: true, ..config.clone() };
        let stage = stage::run(material, rule_set, &config, place, events)?;
        let features = material.bank.config().encoder.features();
        let skipped = stage.report.rules.iter();
        let teaching = Teaching {
            counts: stage.report.counts(),
            skipped: skipped.filter_map(|rule| Some((rule.name.clone(), rule.skipped.clone()?))).collect(),
            fitted_on: None,
        };
        return Ok((Baseline::Rules(RuleGates::of_stage(&stage, rule_set, features)?), teaching));
    }
    // Of the model's choices only those hold that say something about a single gate.
    let config = GateConfig { strict: false, negatives: Negatives::Chimera, ..config.clone() };
    let lesson = Lesson::new(material, rule_set, &config, place.threads)?;
    let teacher = Teacher { shelf: Shelf::new(place, events), place, events };
    let course = Course { lesson: &lesson, rule_set, config: &config, teacher: &teacher };
    match kind {
        // It is gates like those of a model, and was taught above.
        Kind::Sem | Kind::MonoN => mono::teach(&course, Negatives::Same),
        Kind::MonoC => mono::teach(&course, Negatives::Chimera),
        Kind::IndepDeep => deep::teach(&course),
        Kind::Oracle => oracle::teach(&course, material.encoded),
    }
}

/// What all baselines are taught with.
struct Course<'a> {
    lesson: &'a Lesson<'a>,
    rule_set: &'a RuleSet,
    config: &'a GateConfig,
    teacher: &'a Teacher<'a>,
}

impl Course<'_> {
    /// The model's recipe with other things to learn from.
    fn recipe(&self, negatives: Negatives) -> Recipe {
        GateConfig { negatives, ..self.config.clone() }.recipe()
    }

    /// What names a gate beside what it is: sizes, recipe, seed, encoder and rows.
    fn names(&self, recipe: &Recipe, rows: &str) -> String {
        let recipe = serde_json::to_string(recipe).unwrap_or_default();
        format!(
            "architecture {} features {}\nencoder {}\nrecipe {recipe}\nseed {}\nrows {rows}\n",
            chimera_gate::gate::ARCHITECTURE,
            self.lesson.width,
            self.lesson.encoder,
            self.config.seed
        )
    }
}

/// Teaches gates side by side, each on one thread.
struct Teacher<'a> {
    shelf: Shelf<'a>,
    place: Place<'a>,
    events: &'a (dyn Fn(GateEvent<'_>) + Sync),
}

/// Told after each step, and when a gate needs none.
struct Ticks<'a> {
    step: &'a (dyn Fn() + Sync),
    untaught: &'a (dyn Fn() + Sync),
}

/// A gate, or why there is none.
type Answer = std::result::Result<Arc<Gate>, String>;

impl Teacher<'_> {
    /// Gets `count` gates of so many steps each.
    fn all(
        &self,
        count: usize,
        steps: usize,
        get: impl Fn(usize, &Shelf<'_>, &Ticks<'_>) -> Result<std::result::Result<Got, String>> + Sync,
    ) -> Result<(Vec<Answer>, Counts)> {
        let (done, total) = (AtomicUsize::new(0), AtomicUsize::new(count * steps));
        let step = || {
            let (done, total) = (done.fetch_add(1, Ordering::Relaxed) + 1, total.load(Ordering::Relaxed));
            (self.events)(GateEvent::Steps { done: done.min(total), total });
        };
        let untaught = || {
            total.fetch_sub(steps, Ordering::Relaxed);
        };
        let ticks = Ticks { step: &step, untaught: &untaught };
        let results = in_parallel(self.place.threads, count, |at| get(at, &self.shelf, &ticks))?;
        let mut counts = Counts::default();
        let answers = results.into_iter().map(|result| {
            match &result {
                Ok(Got { origin: Origin::Cached, .. }) => counts.cached += 1,
                Ok(_) => counts.trained += 1,
                Err(_) => counts.skipped += 1,
            }
            result.map(|got| got.gate)
        });
        Ok((answers.collect(), counts))
    }
}

/// Steps of a gate over so many rows.
fn steps(recipe: &Recipe, rows: usize) -> usize {
    recipe.epochs * rows.div_ceil(recipe.batch)
}
