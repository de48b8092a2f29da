//! The search against plain enumeration of all rules on random tables, with and without unknown labels.

use chimera_logic::bits::BitTable;

use super::*;
use crate::shape::sorted;

fn random_labels(random: &mut fastrand::Rng, rows: usize, columns: usize, unknown: bool) -> TruthTable {
    // Columns lean on two before them, so that rules of all kinds occur.
    let mut value = BitTable::zeros(rows, columns);
    for column in 0..columns {
        let base = [0.1, 0.3, 0.5, 0.9][random.usize(..4)];
        let kind = if column < 2 { 0 } else { random.u8(..5) };
        let parents = [0, 1].map(|_| random.usize(..column.max(1)));
        for row in 0..rows {
            let [one, other] = parents.map(|parent| value.get(row, parent));
            let share = match kind {
                1 if one => 0.99,
                2 if one => 0.01,
                3 => {
                    if one && other {
                        0.99
                    } else {
                        0.2
                    }
                }
                4 => {
                    if one || other {
                        0.5
                    } else {
                        0.01
                    }
                }
                _ => base,
            };
            value.set(row, column, random.f64() < share);
        }
    }
    let known = BitTable::from_fn(rows, columns, |_, _| !unknown || random.u8(..) > 25);
    TruthTable::partial(value, known)
}

fn options() -> MineOptions {
    MineOptions { confidence_pos: 0.95, confidence_neg: 0.05, ..MineOptions::default() }
}

/// What becomes of one rule, by its definition.
enum Fared {
    Rare,
    Broken,
    Simpler,
    Chance,
    Found,
}

fn fared(shape: Shape, labels: &TruthTable, options: &MineOptions, least: u64) -> Fared {
    let evidence = Evidence::of(shape, labels);
    let simpler = |parts: [Shape; 2]| parts.iter().any(|&part| options.is_confident(part, &Evidence::of(part, labels)));
    let applies = match shape {
        Shape::And([a, b], _) => {
            (0..labels.rows()).filter(|&row| [a, b].iter().all(|&c| labels.get(row, c) == Some(true))).count() as u64
        }
        Shape::Or(a, _) => labels.counts(a).holds,
        _ => evidence.support,
    };
    let parts = match shape {
        Shape::And(given, demand) => Some(given.map(|given| Shape::Pair(given, demand))),
        Shape::Or(given, demands) => Some(demands.map(|demand| Shape::Pair(given, Literal::holds(demand)))),
        _ => None,
    };
    match () {
        () if applies < least || evidence.support < least => Fared::Rare,
        () if !options.is_confident(shape, &evidence) => Fared::Broken,
        () if parts.is_some_and(simpler) => Fared::Simpler,
        () if evidence.p() > options.fdr => Fared::Chance,
        () => Fared::Found,
    }
}

#[test]
fn every_rule_that_passes_is_found_and_no_other() {
    let mut random = fastrand::Rng::with_seed(21);
    let (mut pairs_found, mut and_found, mut or_found) = (0, 0, 0);
    for round in 0..40 {
        let (rows, columns) = (random.usize(150..500), random.usize(6..10));
        let labels = random_labels(&mut random, rows, columns, round % 2 == 1);
        let (options, promises) = (options(), Promises::default());
        let active: Vec<usize> = (0..columns).filter(|column| column % 7 != 5).collect();
        let least = options.support.least(rows, rows);
        let threads = NonZeroUsize::new(1 + round % 3).unwrap();
        let search = Search::new(&labels, &options, &promises, &active, least, threads).unwrap();

        let mut expected: [Vec<Shape>; 3] = Default::default();
        let mut note = |kind: usize, shape: Shape| {
            if let Fared::Found = fared(shape, &labels, &options, least) {
                expected[kind].push(shape);
            }
        };
        for &a in &active {
            for &b in active.iter().filter(|&&b| b != a) {
                [false, true].iter().for_each(|&negated| note(0, Shape::Pair(a, Literal { concept: b, negated })));
                for &c in active.iter().filter(|&&c| c != a && c != b) {
                    if a < b {
                        for negated in [false, true] {
                            note(1, Shape::And(sorted([a, b]), Literal { concept: c, negated }));
                        }
                    }
                    if b < c {
                        note(2, Shape::Or(a, sorted([b, c])));
                    }
                }
            }
        }
        let pairs = search.pairs();
        let [and, or] = search.compounds(threads, &|_, _| {}).unwrap();
        for (found, expected) in [pairs, and, or].iter().zip(&mut expected) {
            let mut shapes: Vec<Shape> = found.candidates.iter().map(|candidate| candidate.shape).collect();
            shapes.sort();
            expected.sort();
            assert_eq!(&shapes, expected, "round {round}");
            assert!(found.meant.is_empty());
            let Fate { considered, rare, broken, simpler, chance, .. } = found.fate;
            assert_eq!(considered, rare + broken + simpler + chance + shapes.len() as u64, "round {round}");
            for candidate in &found.candidates {
                let evidence = Evidence::of(candidate.shape, &labels);
                assert_eq!((candidate.support, candidate.p), (evidence.support, evidence.p()));
            }
        }
        pairs_found += expected[0].len();
        and_found += expected[1].len();
        or_found += expected[2].len();
    }
    // The comparison is about something.
    assert!(pairs_found > 50 && and_found > 10 && or_found > 10, "{pairs_found} {and_found} {or_found}");
}

#[test]
fn candidates_beyond_the_cap_are_counted_and_the_best_kept() {
    let labels = random_labels(&mut fastrand::Rng::with_seed(4), 300, 12, false);
    let promises = Promises::default();
    let active: Vec<usize> = (0..12).collect();
    let found = |most: usize, threads: usize| {
        let options = MineOptions { max_candidates: most, ..options() };
        let threads = NonZeroUsize::new(threads).unwrap();
        let search = Search::new(&labels, &options, &promises, &active, 15, threads).unwrap();
        let [and, or] = search.compounds(threads, &|_, _| {}).unwrap();
        [search.pairs(), and, or]
    };
    for (all, few) in found(usize::MAX, 1).into_iter().zip(found(3, 4)) {
        assert_eq!((all.fate.crowded_out, few.fate.crowded_out), (0, all.candidates.len().saturating_sub(3) as u64));
        assert_eq!(few.candidates, all.candidates[..all.candidates.len().min(3)]);
    }
}

#[test]
fn what_there_is_no_time_for_is_counted_and_the_rest_found() {
    let mut unsearched_in_all = 0;
    for (unknown, seed) in [false, true].into_iter().flat_map(|unknown| (5..9).map(move |seed| (unknown, seed))) {
        let labels = random_labels(&mut fastrand::Rng::with_seed(seed), 400, 24, unknown);
        let (options, promises) = (options(), Promises::default());
        let active: Vec<usize> = (0..24).collect();
        let found = |effort: u64, threads: usize| {
            let threads = NonZeroUsize::new(threads).unwrap();
            let mut search = Search::new(&labels, &options, &promises, &active, 20, threads).unwrap();
            search.effort = effort;
            search.compounds(threads, &|_, _| {}).unwrap()
        };
        // Each concept may look at one batch of each kind before it has spent its share.
        let (all, few, same) = (found(EFFORT, 1), found(48, 1), found(48, 3));
        for ((all, few), same) in all.into_iter().zip(few).zip(same) {
            assert_eq!(all.fate.unsearched, 0);
            assert_eq!((few.fate, &few.candidates), (same.fate, &same.candidates), "threads");
            assert_eq!(few.fate.considered, all.fate.considered);
            let Fate { considered, rare, broken, simpler, chance, unsearched, .. } = few.fate;
            assert_eq!(considered, rare + broken + simpler + chance + unsearched + few.candidates.len() as u64);
            unsearched_in_all += unsearched;
            assert!(few.candidates.iter().all(|candidate| all.candidates.contains(candidate)));
        }
    }
    // Some tables need no more than a batch.
    assert!(unsearched_in_all > 0);
}

#[test]
fn what_labels_promise_is_set_apart() {
    let mut random = fastrand::Rng::with_seed(8);
    let mut value = BitTable::from_fn(400, 2, |_, column| column == 0 && random.bool());
    // The second holds where the first does, and elsewhere.
    (0..400).for_each(|row| value.set(row, 1, value.get(row, 0) || random.u8(..) < 40));
    let labels = TruthTable::complete(value);
    let promises = Promises::promising(&[(0, 1)]);
    for (definitions, expected) in [(Definitions::Drop, 1), (Definitions::Keep, 0)] {
        let options = MineOptions { definitions, ..options() };
        let search = Search::new(&labels, &options, &promises, &[0, 1], 20, NonZeroUsize::MIN).unwrap();
        let found = search.pairs();
        assert_eq!((found.meant.len(), found.fate.meant), (expected, expected as u64));
        let shapes: Vec<Shape> = found.candidates.iter().map(|candidate| candidate.shape).collect();
        assert_eq!(shapes.contains(&Shape::Pair(0, Literal::holds(1))), expected == 0);
    }
}
