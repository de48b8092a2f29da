//! A static order of concepts for decision diagrams, chosen from the formulas before anything is built.
//!
//! It starts with the order in which a depth-first walk over the roots, shallow operands first, meets the concepts,
//! which is best for formulas that use each concept once. Then FORCE (Aloul, Markov, Sakallah: "FORCE: a fast and
//! easy-to-implement variable-ordering heuristic", 2003) moves each concept to the centre of the sub-formulas that use
//! it, again and again; of all orders seen, the one in which the sub-formulas span the fewest places wins, the earliest
//! where several do.

use crate::dag::{Dag, Edge, Node};
use crate::vocabulary::ConceptId;

/// Sub-formulas over more concepts than this pull at nothing: they span most of the order anyway.
const WIDEST: usize = 32;
const ROUNDS: usize = 40;
/// Rounds without a better order after which the search ends.
const PATIENCE: usize = 4;

/// The concepts under the given roots, in an order in which their diagrams tend to be small.
pub(crate) fn choose(dag: &Dag, roots: &[Edge]) -> Vec<ConceptId> {
    let first = depth_first(dag, roots);
    let groups = groups(dag, roots, &first);
    // Concepts are known by their place in the first order from here on.
    let mut order: Vec<usize> = (0..first.len()).collect();
    let mut position = order.clone();
    let (mut best, mut best_span, mut stalled) = (order.clone(), total_span(&groups, &position), 0);
    for _ in 0..ROUNDS {
        let mut pull = vec![(0.0, 0_u32); first.len()];
        for group in &groups {
            let centre = group.iter().map(|&concept| position[concept] as f64).sum::<f64>() / group.len() as f64;
            for &concept in group {
                pull[concept].0 += centre;
                pull[concept].1 += 1;
            }
        }
        let goal = |concept: usize| match pull[concept] {
            (_, 0) => position[concept] as f64,
            (sum, count) => sum / f64::from(count),
        };
        // The sort is stable: equal goals keep their order.
        order.sort_by(|&a, &b| goal(a).total_cmp(&goal(b)));
        order.iter().enumerate().for_each(|(place, &concept)| position[concept] = place);
        let span = total_span(&groups, &position);
        if span < best_span {
            (best_span, stalled) = (span, 0);
            best.clone_from(&order);
        } else {
            stalled += 1;
            if stalled == PATIENCE {
                break;
            }
        }
    }
    best.into_iter().map(|concept| first[concept]).collect()
}

fn depth_first(dag: &Dag, roots: &[Edge]) -> Vec<ConceptId> {
    let mut order = Vec::new();
    let mut seen = vec![false; dag.len()];
    let mut pending: Vec<_> = roots.iter().rev().map(|root| root.node()).collect();
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match dag.node(id) {
            Node::Leaf(concept) => order.push(concept),
            Node::Gate(_, operands) => {
                // Shallow operands first: an outer concept above an inner formula is one node more, below it a walk.
                let mut below: Vec<_> = operands.iter().map(|edge| edge.node()).collect();
                below.sort_by_key(|&id| dag.level(id));
                pending.extend(below.into_iter().rev());
            }
        }
    }
    order
}

/// The concepts of each sub-formula that is neither a single concept nor too wide, as places in `order`.
fn groups(dag: &Dag, roots: &[Edge], order: &[ConceptId]) -> Vec<Vec<usize>> {
    let mut place = vec![0; dag.vocabulary().len()];
    order.iter().enumerate().for_each(|(at, concept)| place[concept.index()] = at);
    let mut supports: Vec<Option<Vec<usize>>> = vec![None; dag.len()];
    for id in dag.cone(roots) {
        let support = match dag.node(id) {
            Node::Leaf(concept) => Some(vec![place[concept.index()]]),
            Node::Gate(_, operands) => {
                let below = operands.iter().map(|edge| supports[edge.node().index()].as_deref());
                below.collect::<Option<Vec<_>>>().and_then(|below| {
                    let mut support = below.concat();
                    support.sort_unstable();
                    support.dedup();
                    (support.len() <= WIDEST).then_some(support)
                })
            }
        };
        supports[id.index()] = support;
    }
    supports.into_iter().flatten().filter(|support| support.len() > 1).collect()
}

fn total_span(groups: &[Vec<usize>], position: &[usize]) -> usize {
    let span = |group: &Vec<usize>| {
        let places = || group.iter().map(|&concept| position[concept]);
        places().max().unwrap_or(0) - places().min().unwrap_or(0)
    };
    groups.iter().map(span).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_text;
    use crate::vocabulary::Vocabulary;

    fn ordered(text: &str) -> Vec<String> {
        let rule_set = load_text("t", text, Vocabulary::open()).rule_set;
        let order = choose(&rule_set.dag, &rule_set.roots());
        order.into_iter().map(|concept| rule_set.dag.vocabulary().name(concept).to_owned()).collect()
    }

    #[test]
    fn concepts_used_once_come_in_the_order_of_the_formula() {
        assert_eq!(ordered("r: (x1 & y1) | (x2 & y2) | (x3 & y3)"), ["x1", "y1", "x2", "y2", "x3", "y3"]);
    }

    #[test]
    fn concepts_of_one_sub_formula_come_together() {
        // The first rules name all x before any y; depth-first order alone would keep them apart.
        let apart: String = (0..8).map(|i| format!("x{i}: x{i}\n")).collect();
        let pairs: String = (0..8).map(|i| format!("p{i}: x{i} & y{i}\n")).collect();
        let order = ordered(&(apart + &pairs));
        let place = |name: String| order.iter().position(|other| *other == name).unwrap();
        assert_eq!(order.len(), 16);
        assert!((0..8).all(|i| place(format!("x{i}")).abs_diff(place(format!("y{i}"))) == 1), "{order:?}");
    }
}
