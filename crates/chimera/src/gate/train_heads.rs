//! Training of heads for single concepts, all side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use chimera_data::error::Result;
use chimera_gate::cone::Cone;
use chimera_gate::gate::Gate;
use chimera_gate::train::Recipe;
use chimera_logic::dag::Node;
use chimera_logic::rules::RuleSet;

use super::key::Key;
use super::lesson::Lesson;
use super::report::Counts;
use super::shelf::Wanted;
use super::teacher::{Teacher, steps};

/// Heads that were taught.
pub(crate) struct TaughtHeads {
    /// By concept.
    pub(crate) gates: BTreeMap<String, Arc<Gate>>,
    /// How many came from where.
    pub(crate) counts: Counts,
    /// Concepts that have none, and why.
    pub(crate) skipped: Vec<(String, String)>,
}

/// Teaches a head for each concept that rules need.
pub(crate) fn teach(
    lesson: &Lesson<'_>,
    rule_set: &RuleSet,
    recipe: &Recipe,
    seed: u64,
    teacher: &Teacher<'_>,
) -> Result<TaughtHeads> {
    let dag = &rule_set.dag;
    let ground = lesson.ground(rule_set);
    let leaves: Vec<_> = dag
        .cone(&rule_set.roots())
        .into_iter()
        .filter_map(|node| match dag.node(node) {
            Node::Leaf(concept) => Some((node, dag.vocabulary().name(concept))),
            Node::Gate(..) => None,
        })
        .collect();
    let grafts = recipe.negatives.has_grafts();
    let keys: Vec<Key> =
        leaves.iter().map(|(_, name)| lesson.naming.head(name, recipe, seed)).collect::<Result<_>>()?;
    let cones: Vec<Cone> = leaves.iter().map(|(node, _)| Cone::single(*node, lesson.leaf(dag, *node))).collect();
    let wanted: Vec<Wanted<'_, _>> = cones
        .iter()
        .zip(keys.iter().zip(&leaves))
        .map(|(cone, (key, (_, name)))| {
            let seed = key.seed("teach");
            let task = if grafts { ground.head(cone, recipe, seed) } else { ground.task(cone, recipe, None, seed) };
            Wanted { key: key.clone(), formula: (*name).to_owned(), task }
        })
        .collect();
    let (answers, counts) = teacher.all(&wanted, steps(recipe, lesson.rows.len()))?;
    let mut taught = TaughtHeads { gates: BTreeMap::new(), counts, skipped: Vec::new() };
    for ((_, name), answer) in leaves.iter().zip(answers) {
        match answer {
            Ok(gate) => {
                taught.gates.insert((*name).to_owned(), gate);
            }
            Err(problem) => taught.skipped.push(((*name).to_owned(), problem.to_string())),
        }
    }
    Ok(taught)
}
