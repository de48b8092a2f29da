//! Heads of a gate's size for single concepts, over z alone. Taught on samples as they are, they show what more layers are worth;
//! taught on grafts in which other concepts are drawn anew, they tell a concept by itself and not by what it is seen with.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use chimera_data::error::{Error, Result};
use chimera_data::parallel::{in_parallel, join_columns, parts};
use chimera_gate::cone::{Features, LeafFeature};
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::Gate;
use chimera_logic::dag::Node;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::ConceptId;

/// Samples that a thread asks about at a time.
const SAMPLES: usize = 1024;

/// The concepts of a rule.
pub(crate) fn concepts_of(rule_set: &RuleSet, rule: usize) -> impl Iterator<Item = ConceptId> + '_ {
    let dag = &rule_set.dag;
    dag.cone(&[rule_set.rules[rule].root]).into_iter().filter_map(|node| match dag.node(node) {
        Node::Leaf(concept) => Some(concept),
        Node::Gate(..) => None,
    })
}

/// Heads ready to run, for concepts that rules need.
#[derive(Debug)]
pub struct ConceptHeads {
    /// The place of each concept's head among the logits; `None` where it has none.
    places: Vec<Option<usize>>,
    /// For each rule whether all its concepts have heads.
    complete: Vec<bool>,
    /// What is added to each concept's logit.
    priors: Vec<f64>,
    evaluator: Evaluator,
}

impl ConceptHeads {
    /// Makes heads ready; `leaf` says what is made of z for a concept.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(crate) fn new(
        rule_set: &RuleSet,
        gates: &BTreeMap<String, Arc<Gate>>,
        leaf: &dyn Fn(&str) -> LeafFeature,
        width: usize,
    ) -> Result<Self> {
        let priors = vec![0.0; rule_set.dag.vocabulary().len()];
        let of_rules: BTreeSet<usize> =
            (0..rule_set.rules.len()).flat_map(|rule| concepts_of(rule_set, rule)).map(ConceptId::index).collect();
        let mut placed = Vec::new();
        let names = rule_set.dag.vocabulary().names().enumerate();
        let places: Vec<Option<usize>> = names
            .map(|(concept, name)| {
                let gate = gates.get(name).filter(|_| of_rules.contains(&concept))?.clone();
                placed.push(PlacedGate { gate, operands: vec![(Source::Leaf(leaf(name)), false)] });
                Some(placed.len() - 1)
            })
            .collect();
        let has_head = |concept: ConceptId| places[concept.index()].is_some();
        let complete = (0..rule_set.rules.len()).map(|rule| concepts_of(rule_set, rule).all(has_head)).collect();
        let evaluator = Evaluator::new(width, &placed)
            .ok_or_else(|| Error::input("cannot use the heads of concepts: sizes do not fit".to_owned(), None))?;
        Ok(Self { places, complete, priors, evaluator })
    }

    /// The same for heads that were shown true and false alike, of concepts that samples show in some shares: a rare one is less
    /// likely than such a head says.
    ///
    /// # Errors
    /// Shares of another number of concepts.
    pub(crate) fn with_shares(self, shares: &[f32]) -> Result<Self> {
        if shares.len() != self.places.len() {
            let message = format!("expected shares of {} concepts, got {}", self.places.len(), shares.len());
            return Err(Error::input(
                message,
                Some("what the model has of grafts is not whole; train again".to_owned()),
            ));
        }
        let prior = |share: &f32| {
            let share = f64::from(*share).clamp(1e-4, 1.0 - 1e-4);
            (share / (1.0 - share)).ln()
        };
        Ok(Self { priors: shares.iter().map(prior).collect(), ..self })
    }

    /// The logit of each concept on some samples, a concept's side by side, 0 where there is no head; and the samples of which
    /// nothing can be told: features far beyond all that was seen can overflow.
    #[must_use]
    pub fn logits(&self, features: &impl Features, rows: Range<usize>) -> (Vec<f64>, Vec<usize>) {
        let (count, samples) = (self.evaluator.len(), rows.len());
        let mut logits = vec![0.0; samples * count];
        self.evaluator.run(features, rows, &mut logits);
        let of = |(place, prior): (&Option<usize>, &f64), row: usize| {
            let logit = place.map_or(0.0, |place| logits[row * count + place]);
            if logit.is_finite() { f64::from(logit) + prior } else { 0.0 }
        };
        let lost = |row: &usize| logits[row * count..][..count].iter().any(|logit| !logit.is_finite());
        let concepts = self.places.iter().zip(&self.priors);
        let all = concepts.flat_map(|concept| (0..samples).map(move |row| of(concept, row))).collect();
        (all, (0..samples).filter(lost).collect())
    }

    /// The same on so many samples, on several threads.
    ///
    /// # Errors
    /// Never in practice.
    pub(crate) fn logits_of_all(
        &self,
        features: &impl Features,
        rows: usize,
        threads: NonZeroUsize,
    ) -> Result<(Vec<f64>, Vec<usize>)> {
        let parts = parts(rows, SAMPLES, threads);
        let told = in_parallel(threads, parts.len(), |part| Ok(self.logits(features, parts[part].clone())))?;
        let (logits, lost): (Vec<Vec<f64>>, Vec<Vec<usize>>) = told.into_iter().unzip();
        let lost = parts.iter().zip(lost).flat_map(|(part, lost)| lost.into_iter().map(|row| part.start + row));
        Ok((join_columns(self.places.len(), &logits), lost.collect()))
    }

    /// Whether a concept has a head.
    #[must_use]
    pub fn has(&self, concept: usize) -> bool {
        self.places.get(concept).is_some_and(Option::is_some)
    }

    /// Whether all concepts of a rule have heads.
    #[must_use]
    pub fn can_tell(&self, rule: usize) -> bool {
        self.complete[rule]
    }
}
