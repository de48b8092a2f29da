//! Other ways to a rule's truth, that gates taught on chimeras are compared with. Each has the same z, the same sizes and as
//! many steps as a gate; what is taught goes into the cache, never into a model.

mod folds;
mod mono;
mod oracle;

use chimera_data::error::Result;
use chimera_gate::train::{Negatives, Recipe};
use chimera_logic::rules::RuleSet;

pub(crate) use self::folds::{FOLDS, parts_of};
pub use self::folds::{FittedOn, FoldOf, Violations};
pub use self::oracle::CrossFitted;
use crate::gate::config::GateConfig;
use crate::gate::heads::ConceptHeads;
use crate::gate::lesson::Lesson;
use crate::gate::report::Counts;
use crate::gate::rules::RuleGates;
use crate::gate::stage::{self, GateEvent, Material, Place};
use crate::gate::teacher::Teacher;
use crate::gate::train_heads;

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
    let config = &place.of_device(config);
    if kind == Kind::Sem {
        let config = GateConfig { negatives: Negatives::Same, strict: true, grafts: false, ..config.clone() };
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
    let config = GateConfig { strict: false, negatives: Negatives::Chimera, grafts: false, ..config.clone() };
    let lesson = Lesson::new(material, rule_set, &config, place.threads)?;
    let teacher = Teacher::new(place, events);
    let course = Course { lesson: &lesson, rule_set, config: &config, teacher: &teacher };
    match kind {
        // It is gates like those of a model, and was taught above.
        Kind::Sem | Kind::MonoN => mono::teach(&course, Negatives::Same),
        Kind::MonoC => mono::teach(&course, Negatives::Chimera),
        Kind::IndepDeep => {
            let taught = train_heads::teach(&lesson, rule_set, &course.recipe(Negatives::Same), config.seed, &teacher)?;
            let heads = ConceptHeads::new(rule_set, &taught.gates, &|concept| lesson.leaf_of(concept), lesson.width)?;
            let teaching = Teaching { counts: taught.counts, skipped: taught.skipped, fitted_on: None };
            Ok((Baseline::Concepts(heads), teaching))
        }
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
}
