//! Monoliths: one gate for a whole rule, over `[z || 0]` for each occurrence of a concept, without gates for its parts.

use std::collections::BTreeMap;
use std::sync::Arc;

use chimera_data::error::Result;
use chimera_gate::cone::{Cone, MOST_SPOTS};
use chimera_gate::draw::Depth;
use chimera_gate::evaluate::{PlacedGate, Source};
use chimera_gate::gate::Gate;
use chimera_gate::train::{Negatives, Recipe};
use chimera_logic::dag::Node;

use super::{Baseline, Course, Teaching};
use crate::gate::key::Key;
use crate::gate::rules::{Root, RuleGates};
use crate::gate::shelf::Wanted;
use crate::gate::teacher::steps;

/// Raised when monoliths are taught in another way.
const VERSION: u32 = 1;

pub(super) fn teach(course: &Course<'_>, negatives: Negatives) -> Result<(Baseline, Teaching)> {
    let (lesson, rule_set) = (course.lesson, course.rule_set);
    let dag = &rule_set.dag;
    // Each occurrence of a concept is another sample's, whatever the model's own chimeras are.
    let recipe = Recipe { chimeras: Depth::Deep, ..course.recipe(negatives) };
    let plan = lesson.naming.plan(rule_set, &vec![None; rule_set.rules.len()], &recipe, course.config.seed)?;
    let ground = lesson.ground(rule_set);
    let names = lesson.naming.own_names(&recipe, course.config.seed)?;
    // Rules of one formula are one gate.
    let mut jobs: BTreeMap<String, (Key, usize)> = BTreeMap::new();
    let keys: Vec<Option<String>> = rule_set
        .rules
        .iter()
        .enumerate()
        .map(|(number, rule)| {
            let root = &plan.gates[plan.roots[number]?].key.hash;
            let text = match negatives {
                // Which rows are kept depends on whether the root is negated.
                Negatives::Same => format!("{}{root}", if rule.root.is_negated() { "not " } else { "" }),
                _ => root.clone(),
            };
            let key = Key::of(format!("chimera monolith {VERSION}\nroot {text}\nhidden {}\n{names}", recipe.hidden));
            let hash = key.hash.clone();
            jobs.entry(hash.clone()).or_insert((key, number));
            Some(hash)
        })
        .collect();
    let jobs: Vec<(Key, usize)> = jobs.into_values().collect();
    let cones: Vec<Option<Flat>> = jobs
        .iter()
        .map(|(_, rule)| {
            let cone = ground.cone(rule_set.rules[*rule].root.node(), &|_| None)?;
            let kept = if negatives == Negatives::Same { lesson.kept(*rule) } else { None };
            Some(Flat { flat: cone.flattened(), cone, kept })
        })
        .collect();
    let wanted: Vec<Wanted<'_, _>> = jobs
        .iter()
        .zip(&cones)
        .filter_map(|((key, rule), cones)| {
            let Flat { cone, flat, kept } = cones.as_ref()?;
            let task = ground.monolith((cone, flat), &recipe, kept.as_deref(), key.seed("teach"));
            Some(Wanted { key: key.clone(), formula: dag.text(rule_set.rules[*rule].root), task })
        })
        .collect();
    let (answers, mut counts) = course.teacher.all(&wanted, steps(&recipe, lesson.rows.len()))?;
    let mut answers = answers.into_iter();
    let answers: Vec<Answer> = cones
        .iter()
        .map(|cones| match cones.as_ref().and_then(|_| answers.next()) {
            Some(answer) => answer.map_err(|problem| problem.to_string()),
            None => {
                counts.skipped += 1;
                Err(format!("it unfolds to more than {MOST_SPOTS} concepts"))
            }
        })
        .collect();
    let mut placed = Vec::new();
    let mut places: BTreeMap<&str, std::result::Result<usize, &str>> = BTreeMap::new();
    for ((key, rule), answer) in jobs.iter().zip(&answers) {
        places.insert(&key.hash, place(course, *rule, answer, &mut placed));
    }
    let mut skipped = Vec::new();
    let roots = rule_set.rules.iter().zip(&keys).map(|(rule, key)| {
        match (dag.node(rule.root.node()), key.as_ref().and_then(|key| places.get(key.as_str()))) {
            (Node::Leaf(concept), _) => Root::Literal(concept),
            (_, Some(Ok(place))) => Root::Gate(*place),
            (_, reason) => {
                let reason = reason.and_then(|reason| reason.err()).unwrap_or("it has no gate");
                skipped.push((rule.name.clone(), reason.to_owned()));
                Root::Missing
            }
        }
    });
    let roots = roots.collect();
    let gates = RuleGates::of_roots(rule_set.clone(), &placed, roots, lesson.width)?;
    Ok((Baseline::Rules(gates), Teaching { counts, skipped, fitted_on: None }))
}

/// A rule unfolded, and all its leaves under one gate.
struct Flat {
    cone: Cone,
    flat: Cone,
    kept: Option<Vec<u32>>,
}

/// A gate, or why there is none.
type Answer = std::result::Result<Arc<Gate>, String>;

/// Puts a gate among the others, with z at each of its operands.
fn place<'a>(
    course: &Course<'_>,
    rule: usize,
    answer: &'a Answer,
    placed: &mut Vec<PlacedGate>,
) -> std::result::Result<usize, &'a str> {
    let gate = answer.as_ref().map_err(String::as_str)?;
    let dag = &course.rule_set.dag;
    let leaf = |node| course.lesson.leaf(dag, node);
    let cone = Cone::unfold(dag, course.rule_set.rules[rule].root.node(), &leaf, &|_| None);
    let leaves = cone.map(|cone| cone.leaf_features()).unwrap_or_default();
    let operands = leaves.into_iter().map(|feature| (Source::Leaf(feature), false)).collect();
    placed.push(PlacedGate { gate: gate.clone(), operands });
    Ok(placed.len() - 1)
}
