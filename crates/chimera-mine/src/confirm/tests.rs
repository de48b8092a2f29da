//! What held-out rows are asked, against closed forms: each of the two questions drops a rule by itself.

use chimera_logic::bits::BitTable;

use super::*;
use crate::shape::Literal;

const IMPLIES: Shape = Shape::Pair(0, Literal { concept: 1, negated: false });
const EXCLUDES: Shape = Shape::Pair(0, Literal { concept: 1, negated: true });

/// So many rows with `a` and `b`, with `a` alone, with `b` alone and with neither; a third concept always holds.
fn rows(cells: [usize; 4]) -> TruthTable {
    let kinds = [[true, true], [true, false], [false, true], [false, false]];
    let rows: Vec<[bool; 2]> = kinds.into_iter().zip(cells).flat_map(|(kind, count)| vec![kind; count]).collect();
    TruthTable::complete(BitTable::from_fn(rows.len(), 3, |row, column| column == 2 || rows[row][column]))
}

fn asked(shape: Shape, cells: [usize; 4], confidence_pos: f64, confidence_neg: f64) -> Confirmation {
    let options = MineOptions { confidence_pos, confidence_neg, ..MineOptions::default() };
    Confirmation::of(shape, &rows(cells), &options)
}

/// The probability of at least 5 violations on 100 rows, each with probability `share`, by its sum.
fn five_or_more(share: f64) -> f64 {
    let choose = |k: u64| (1..=k).fold(1.0, |product, i| product * (101 - i) as f64 / i as f64);
    1.0 - (0..5).map(|k| choose(k) * share.powi(k as i32) * (1.0 - share).powi(100 - k as i32)).sum::<f64>()
}

#[test]
fn violations_are_held_against_what_the_rule_demands() {
    // 5 of 100 rows break each rule: too many for a threshold of 0.01, few for 0.1.
    let (implies, excludes) = ([95, 5, 0, 100], [5, 95, 100, 0]);
    let and = Shape::And([0, 2], Literal::fails(1));
    for (pos, neg, of_pos, of_neg) in [(0.9, 0.01, 0.1, 0.01), (0.99, 0.1, 0.01, 0.1)] {
        for (shape, cells, share) in [(IMPLIES, implies, of_pos), (EXCLUDES, excludes, of_neg), (and, excludes, of_neg)]
        {
            let confirmation = asked(shape, cells, pos, neg);
            assert_eq!((confirmation.evidence.support, confirmation.evidence.kept), (100, 95));
            assert!((confirmation.violations - five_or_more(share)).abs() < 1e-9, "{shape:?} {confirmation:?}");
        }
        for (shape, cells, share) in [(IMPLIES, implies, of_pos), (EXCLUDES, excludes, of_neg)] {
            let confirmation = asked(shape, cells, pos, neg);
            assert!(confirmation.p < 1e-9, "{confirmation:?}");
            assert_eq!(confirmation.holds(), share == 0.1, "{shape:?} {confirmation:?}");
        }
    }
}

#[test]
fn chance_and_absence_confirm_nothing() {
    // No row breaks these. Fisher's test by hand: of all ways to deal b, those that give every a its b.
    for (cells, p) in [
        ([4, 0, 0, 4], 1.0 / 70.0), // 1 / C(8, 4)
        ([2, 0, 1, 2], 0.3),        // C(3, 2) / C(5, 2)
        ([10, 0, 90, 0], 1.0),
        ([0, 0, 40, 60], 1.0), // applies to no row
    ] {
        let confirmation = asked(IMPLIES, cells, 0.99, 0.01);
        assert!((confirmation.p - p).abs() < 1e-9 && confirmation.violations == 1.0, "{cells:?} {confirmation:?}");
        assert_eq!(confirmation.holds(), cells == [4, 0, 0, 4], "{cells:?}");
    }
}
