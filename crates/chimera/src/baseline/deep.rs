//! Independent events over heads of a gate's size: what more layers alone are worth.

use std::ops::Range;

use chimera_gate::cone::{Cone, Features};
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::train::Negatives;
use chimera_logic::dag::Node;

use super::{Baseline, Course, Teaching, steps};
use crate::error::{Error, Result};
use crate::gate::key::Key;
use crate::leaf::calibrate::sigmoid;

/// Raised when heads are taught in another way.
const VERSION: u32 = 1;

/// A head for each concept that rules need.
#[derive(Debug)]
pub struct ConceptHeads {
    /// The place of each concept's head; `None` where it has none.
    places: Vec<Option<usize>>,
    /// For each rule whether all its concepts have heads.
    complete: Vec<bool>,
    evaluator: Evaluator,
}

impl ConceptHeads {
    /// The probability of each concept on some samples, a concept's side by side, one half where there is no head; and the
    /// samples of which nothing can be told: features far beyond all that was seen can overflow.
    #[must_use]
    pub fn probabilities(&self, features: &impl Features, rows: Range<usize>) -> (Vec<f64>, Vec<usize>) {
        let (count, samples) = (self.evaluator.len(), rows.len());
        let mut logits = vec![0.0; samples * count];
        self.evaluator.run(features, rows, &mut logits);
        let of = |place: &Option<usize>, row: usize| {
            place.map_or(0.5, |place| {
                let logit = logits[row * count + place];
                if logit.is_finite() { sigmoid(f64::from(logit)) } else { 0.5 }
            })
        };
        let lost = |row: &usize| logits[row * count..][..count].iter().any(|logit| !logit.is_finite());
        let probabilities = self.places.iter().flat_map(|place| (0..samples).map(move |row| of(place, row))).collect();
        (probabilities, (0..samples).filter(lost).collect())
    }

    /// Whether all concepts of a rule have heads.
    #[must_use]
    pub fn can_tell(&self, rule: usize) -> bool {
        self.complete[rule]
    }
}

pub(super) fn teach(course: &Course<'_>) -> Result<(Baseline, Teaching)> {
    let (lesson, rule_set) = (course.lesson, course.rule_set);
    let dag = &rule_set.dag;
    let recipe = course.recipe(Negatives::Same);
    let ground = lesson.ground(rule_set);
    let leaves: Vec<_> = dag
        .cone(&rule_set.roots())
        .into_iter()
        .filter_map(|node| match dag.node(node) {
            Node::Leaf(concept) => Some((node, concept)),
            Node::Gate(..) => None,
        })
        .collect();
    let (answers, counts) =
        course.teacher.all(leaves.len(), steps(&recipe, lesson.rows.len()), |at, shelf, ticks| {
            let (node, concept) = leaves[at];
            let leaf = lesson.lineage.leaf_key(dag, node).hash;
            let names = course.names(&recipe, &lesson.lineage.rows);
            let key = Key::of(format!("chimera head {VERSION}\nleaf {leaf}\nhidden {}\n{names}", recipe.hidden));
            let cone = Cone::single(node, lesson.leaf(dag, node));
            let task = ground.task(&cone, &recipe, None, key.seed("teach"));
            let name = dag.vocabulary().name(concept);
            let got = shelf.get(&key, name, &task, ticks.step, ticks.untaught)?;
            Ok(got.map_err(|problem| problem.to_string()))
        })?;
    let mut places = vec![None; dag.vocabulary().len()];
    let (mut placed, mut skipped) = (Vec::new(), Vec::new());
    for (&(node, concept), answer) in leaves.iter().zip(answers) {
        match answer {
            Ok(gate) => {
                places[concept.index()] = Some(placed.len());
                placed.push(PlacedGate { gate, operands: vec![(Source::Leaf(lesson.leaf(dag, node)), false)] });
            }
            Err(reason) => skipped.push((dag.vocabulary().name(concept).to_owned(), reason)),
        }
    }
    let complete = rule_set.rules.iter().map(|rule| {
        dag.cone(&[rule.root]).into_iter().all(|node| match dag.node(node) {
            Node::Leaf(concept) => places[concept.index()].is_some(),
            Node::Gate(..) => true,
        })
    });
    let complete = complete.collect();
    let evaluator = Evaluator::new(lesson.width, &placed)
        .ok_or_else(|| Error::input("cannot use the heads of concepts: sizes do not fit".to_owned(), None))?;
    let baseline = Baseline::Concepts(ConceptHeads { places, complete, evaluator });
    Ok((baseline, Teaching { counts, skipped, fitted_on: None }))
}
