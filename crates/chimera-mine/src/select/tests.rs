//! What is chosen, by hand and against all assignments.

use chimera_logic::dag::Edge;
use chimera_logic::truth::holds;
use chimera_logic::vocabulary::Vocabulary;

use super::*;

fn candidate(shape: Shape, score: f64) -> Candidate {
    Candidate { shape, support: 10, score, p: 0.0, adjusted: 0.0 }
}

fn chosen(shapes: &[Shape], promises: &Promises, most: usize) -> Selection {
    let concepts: Vec<String> = (0..8).map(|number| format!("c{number}")).collect();
    let mut passed: BTreeMap<Pattern, Vec<Candidate>> = BTreeMap::new();
    for (at, &shape) in shapes.iter().enumerate() {
        passed.entry(shape.pattern()).or_default().push(candidate(shape, 1.0 - at as f64 / 100.0));
    }
    let dag = Dag::new(Vocabulary::closed(concepts.clone(), "the test"));
    let order: Vec<Pattern> = Pattern::ALL.into_iter().filter(|pattern| passed.contains_key(pattern)).collect();
    select(passed, &order, promises, &concepts, dag, most).unwrap()
}

fn shapes(selection: &Selection) -> Vec<Shape> {
    selection.chosen.iter().map(|candidate| candidate.shape).collect()
}

#[test]
fn what_follows_is_skipped_with_its_reasons() {
    let (ab, bc) = (Shape::Pair(0, Literal::holds(1)), Shape::Pair(1, Literal::holds(2)));
    let ac = Shape::Pair(0, Literal::holds(2));
    let selection = chosen(&[ab, bc, ac], &Promises::default(), 10);
    assert_eq!(shapes(&selection), [ab, bc]);
    assert_eq!(selection.skipped[0].1, Skipped::Follows(vec![ab, bc]));
    // What concepts mean counts as known; a rule that says it again follows from nothing else.
    let selection = chosen(&[ab, ac], &Promises::promising(&[(1, 2)]), 10);
    assert_eq!(shapes(&selection), [ab]);
    assert_eq!(selection.skipped[0].1, Skipped::Follows(vec![ab]));
    let selection = chosen(&[bc], &Promises::promising(&[(1, 2)]), 10);
    assert_eq!(selection.skipped[0].1, Skipped::Follows(Vec::new()));
}

#[test]
fn a_rule_that_a_later_one_says_too_goes() {
    // Patterns take turns, so the choice of one of two comes before the pair that says more.
    let (or, pair) = (Shape::Or(0, [1, 2]), Shape::Pair(0, Literal::holds(1)));
    let selection = chosen(&[or, pair], &Promises::default(), 10);
    assert_eq!(shapes(&selection), [pair]);
    assert_eq!(selection.skipped[0].1, Skipped::Follows(vec![pair]));
}

#[test]
fn pairs_that_say_it_together_become_one_line() {
    let (holds, fails) = (Literal::holds, Literal::fails);
    // In the first turn each pattern gives its own, and the package of the two is in nobody's way any more.
    let (fresh, both) = (Shape::Both(5, [holds(6), fails(7)]), Shape::Both(0, [holds(1), fails(2)]));
    let (implies, excludes) = (Shape::Pair(0, holds(1)), Shape::Pair(2, fails(0)));
    let selection = chosen(&[fresh, both, implies, excludes], &Promises::default(), 10);
    assert_eq!(shapes(&selection), [fresh, both]);
    // A chain that repeats a link of another gives its new link alone.
    let chains = [0, 3].map(|first| Shape::Chain(first, 1, fails(2)));
    let pairs = [Shape::Pair(0, holds(1)), Shape::Pair(3, holds(1)), Shape::Pair(1, fails(2))];
    let selection = chosen(&[&chains[..], &pairs].concat(), &Promises::default(), 10);
    assert_eq!(shapes(&selection), [chains[0], pairs[1]]);
    // Where pairs are not asked for, chains may share links.
    assert_eq!(shapes(&chosen(&chains, &Promises::default(), 10)), chains);
}

#[test]
fn a_package_keeps_what_others_do_not_say() {
    let holds = Literal::holds;
    // With 2 => 0 by meaning and 0 => 1, the way back from 2 to 1 is no news; what is left is a chain.
    let (iff, pair) = (Shape::Iff([1, 2]), Shape::Pair(0, holds(1)));
    let (forth, back) = (Shape::Pair(1, holds(2)), Shape::Pair(2, holds(1)));
    let chain = Shape::Chain(0, 1, holds(2));
    let promises = Promises::promising(&[(2, 0)]);
    assert_eq!(shapes(&chosen(&[iff, pair, forth, back, chain], &promises, 10)), [chain]);
    // Without chains it is two pairs.
    assert_eq!(shapes(&chosen(&[iff, pair, forth, back], &promises, 10)), [pair, forth]);
    // 3 => 4 is said of all that 3 is a kind of.
    let (both, wide) = (Shape::Both(3, [holds(4), Literal::fails(5)]), Shape::Pair(6, holds(4)));
    let parts = [Shape::Pair(3, holds(4)), Shape::Pair(3, Literal::fails(5))];
    let selection = chosen(&[both, wide, parts[0], parts[1]], &Promises::promising(&[(3, 6)]), 10);
    assert_eq!(shapes(&selection), [wide, parts[1]]);
}

#[test]
fn choices_about_the_same_rows_are_told_once() {
    let choices = [Shape::Or(0, [1, 2]), Shape::Or(0, [1, 3]), Shape::Or(0, [4, 5]), Shape::Or(6, [1, 2])];
    let selection = chosen(&choices, &Promises::default(), 10);
    assert_eq!(shapes(&selection), [choices[0], choices[2], choices[3]]);
    assert_eq!(selection.skipped, [(candidate(choices[1], 0.99), Skipped::Variant(choices[0]))]);
    // 0 and not 3 is rarer than 0 and not 1, where 1 never goes without 3.
    let (wider, pair) = (Shape::Or(0, [3, 4]), Shape::Pair(1, Literal::holds(3)));
    let selection = chosen(&[choices[0], wider, pair], &Promises::default(), 10);
    assert_eq!(shapes(&selection), [choices[0], pair]);
}

#[test]
fn facts_come_before_variants_of_one() {
    let variants = [1, 2, 3, 4].map(|other| Shape::Pair(0, Literal::fails(other)));
    let other = Shape::Pair(5, Literal::fails(6));
    let all: Vec<Shape> = variants.into_iter().chain([other]).collect();
    let selection = chosen(&all, &Promises::default(), 2);
    assert_eq!(shapes(&selection), [variants[0], other]);
    assert_eq!(selection.skipped.len(), 3);
    assert!(selection.skipped.iter().all(|(_, skipped)| *skipped == Skipped::Surplus));
    assert_eq!(shapes(&chosen(&all, &Promises::default(), 10)).len(), 5);
}

#[test]
fn no_chosen_rule_follows_from_the_others_and_nothing_that_was_said_is_lost() {
    let mut random = fastrand::Rng::with_seed(17);
    for _ in 0..30 {
        let mut concept = || random.usize(..5);
        let mut all = Vec::new();
        while all.len() < 12 {
            let [a, b, c] = [concept(), concept(), concept()];
            let literal = |concept: usize| Literal { concept, negated: (a + b + c).is_multiple_of(2) };
            let made = match concept() {
                0 => Shape::Or(a, [b.min(c), b.max(c)]),
                1 => Shape::And([a.min(b), a.max(b)], literal(c)),
                2 => Shape::Chain(a, b, literal(c)),
                _ => Shape::Pair(a, literal(b)),
            };
            let wanted = if matches!(made, Shape::Pair(..)) { 2 } else { 3 };
            // A chain comes with its links, which passed as well.
            let parts = made.parts().filter(|_| made.concepts().len() == wanted).into_iter().flatten();
            for shape in parts.chain((made.concepts().len() == wanted).then_some(made)) {
                if !all.contains(&shape) {
                    all.push(shape);
                }
            }
        }
        let selection = chosen(&all, &Promises::promising(&[(3, 4)]), 100);
        let mut dag = Dag::new(Vocabulary::closed((0..8).map(|number| format!("c{number}")), "the test"));
        let edges: Vec<Edge> = all.iter().map(|shape| shape.edge(&mut dag).unwrap()).collect();
        let is_chosen: Vec<bool> = all.iter().map(|shape| shapes(&selection).contains(shape)).collect();
        // Worlds as bits, those that keep what is promised.
        let worlds = || (0..32_u32).filter(|world| world >> 3 & 1 == 0 || world >> 4 & 1 == 1);
        let keeps = |world: u32, edge: Edge| holds(&dag, edge, &|concept| world >> concept.index() & 1 == 1);
        for (at, &edge) in edges.iter().enumerate() {
            let others =
                |world: u32| (0..all.len()).all(|other| other == at || !is_chosen[other] || keeps(world, edges[other]));
            let follows = worlds().all(|world| !others(world) || keeps(world, edge));
            let is_variant =
                |(skipped, why): &(Candidate, Skipped)| skipped.shape == all[at] && matches!(why, Skipped::Variant(_));
            let variant = selection.skipped.iter().any(is_variant);
            assert!(if is_chosen[at] { !follows } else { follows || variant }, "{all:?} {at}");
        }
    }
}
