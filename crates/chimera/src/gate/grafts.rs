//! What a model has of grafts, beside gates trained on chimeras, ready to run: gates for the method `graft`, and heads of concepts for `neural`.

use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_gate::graft::Effects;
use chimera_leaf::calibrate::Method;
use chimera_logic::rules::RuleSet;

use super::heads::{self, ConceptHeads};
use super::loaded::{MissingGates, ModelGates};
use super::rules::RuleGates;
use super::trust::Trust;

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
