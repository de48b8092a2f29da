//! Counts against single rows, with unknown labels: for every pattern, every cell of every table.

use std::num::NonZeroUsize;

use chimera_logic::bits::BitTable;
use chimera_logic::dag::Dag;
use chimera_logic::truth::Program;
use chimera_logic::vocabulary::Vocabulary;

use super::*;

fn random_labels(random: &mut fastrand::Rng, rows: usize, unknown: bool) -> TruthTable {
    let value = BitTable::from_fn(rows, 4, |_, _| random.bool());
    let known = BitTable::from_fn(rows, 4, |_, _| !unknown || random.u8(..) > 60);
    TruthTable::partial(value, known)
}

fn shapes() -> Vec<Shape> {
    let (holds, fails) = (Literal::holds, Literal::fails);
    vec![
        Shape::Pair(0, holds(1)),
        Shape::Pair(3, fails(1)),
        Shape::Iff([1, 2]),
        Shape::Chain(2, 0, fails(3)),
        Shape::Chain(2, 1, holds(3)),
        Shape::Both(0, [holds(1), fails(2)]),
        Shape::And([0, 3], holds(1)),
        Shape::And([1, 2], fails(0)),
        Shape::Or(3, [0, 1]),
    ]
}

/// Kleene's logic, one row at a time.
fn and(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    match (one, other) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn not(value: Option<bool>) -> Option<bool> {
    value.map(|value| !value)
}

fn or(one: Option<bool>, other: Option<bool>) -> Option<bool> {
    not(and(not(one), not(other)))
}

type Sides = (Option<bool>, Option<bool>, Option<bool>);

/// Condition, left and right of each test, and where the rule applies and is kept, of one row.
fn scalar(shape: Shape, get: &dyn Fn(Literal) -> Option<bool>) -> (Option<bool>, Option<bool>, Vec<Sides>) {
    let plain = |concept| get(Literal::holds(concept));
    let implies = |one, other| or(not(one), other);
    let always = Some(true);
    match shape {
        Shape::Pair(a, b) => (plain(a), get(b), vec![(always, plain(a), get(b))]),
        Shape::Iff([a, b]) => {
            let (a, b) = (plain(a), plain(b));
            (or(a, b), and(implies(a, b), implies(b, a)), vec![(always, a, b)])
        }
        Shape::Chain(a, b, c) => {
            let (a, b, c) = (plain(a), plain(b), get(c));
            (or(a, b), and(implies(a, b), implies(b, c)), vec![(always, a, b), (always, b, c)])
        }
        Shape::Both(a, [b, c]) => {
            let (a, b, c) = (plain(a), get(b), get(c));
            (a, and(b, c), vec![(always, a, b), (always, a, c)])
        }
        Shape::And([a, b], c) => {
            let (a, b, c) = (plain(a), plain(b), get(c));
            (and(a, b), c, vec![(always, and(a, b), c), (a, b, c), (b, a, c)])
        }
        Shape::Or(a, [b, c]) => {
            let (a, b, c) = (plain(a), plain(b), plain(c));
            (a, or(b, c), vec![(always, a, or(b, c)), (not(b), a, c), (not(c), a, b)])
        }
    }
}

#[test]
fn counts_equal_single_rows() {
    let mut random = fastrand::Rng::with_seed(5);
    for rows in [0, 1, 2, 63, 64, 65, 300] {
        for unknown in [false, true] {
            let labels = random_labels(&mut random, rows, unknown);
            for shape in shapes() {
                let evidence = Evidence::of(shape, &labels);
                let (mut support, mut kept, mut tables) = (0, 0, vec![[0; 4]; evidence.tests.len()]);
                for row in 0..rows {
                    let get = |literal: Literal| labels.get(row, literal.concept).map(|value| value != literal.negated);
                    let (applies, keeps, tests) = scalar(shape, &get);
                    support += u64::from(applies == Some(true) && keeps.is_some());
                    kept += u64::from(applies == Some(true) && keeps == Some(true));
                    for (table, (condition, left, right)) in tables.iter_mut().zip(tests) {
                        if let (Some(true), Some(left), Some(right)) = (condition, left, right) {
                            table[2 * usize::from(!left) + usize::from(!right)] += 1;
                        }
                    }
                }
                assert_eq!((evidence.support, evidence.kept), (support, kept), "{shape:?} on {rows} rows");
                let tables: Vec<Contingency> = tables
                    .into_iter()
                    .map(|[both, left_only, right_only, neither]| Contingency { both, left_only, right_only, neither })
                    .collect();
                assert_eq!(evidence.tests, tables, "{shape:?} on {rows} rows");
            }
        }
    }
}

#[test]
fn rows_that_break_a_rule_are_those_of_its_exact_truth() {
    let mut random = fastrand::Rng::with_seed(6);
    let labels = random_labels(&mut random, 500, true);
    for shape in shapes() {
        let mut dag = Dag::new(Vocabulary::closed(["a", "b", "c", "d"].map(str::to_owned), "the test"));
        let edge = shape.edge(&mut dag).unwrap();
        let fails = Program::compile(&dag, &[edge]).evaluate(&labels).counts(0).fails;
        let evidence = Evidence::of(shape, &labels);
        assert_eq!(evidence.support - evidence.kept, fails, "{shape:?}");
    }
}

#[test]
fn counts_of_pairs_and_triples_say_the_same() {
    let mut random = fastrand::Rng::with_seed(7);
    let labels = random_labels(&mut random, 400, false);
    let pairs = PairCounts::count(&labels, &[0, 1, 2, 3], NonZeroUsize::MIN).unwrap();
    for shape in shapes() {
        match shape {
            Shape::Pair(a, b) => {
                let table = pairs.table(a, b.concept).negate_right_if(b.negated);
                assert_eq!(Evidence::of_pair(table), Evidence::of(shape, &labels));
            }
            Shape::And(..) | Shape::Or(..) => {
                let concepts = shape.concepts();
                let all = |row: &usize| concepts.iter().all(|&concept| labels.get(*row, concept) == Some(true));
                let all_three = (0..400).filter(all).count() as u64;
                assert_eq!(of_triple(shape, &pairs, all_three), Some(Evidence::of(shape, &labels)), "{shape:?}");
            }
            _ => assert_eq!(of_triple(shape, &pairs, 0), None),
        }
    }
}
