//! How often any two concepts go together: contingency tables of all pairs, from products of bit columns.

use std::num::NonZeroUsize;

use chimera_data::error::Result;
use chimera_data::parallel::in_parallel;
use chimera_logic::bits::{BitTable, TruthTable};

use super::contingency::Contingency;
use super::popcount::add_common;

/// Columns of a square of pairs that is counted at a time: a block of rows of two such sets stays in the cache.
const SQUARE: usize = 64;

/// The tables of all pairs of some columns, over the rows on which both are known.
#[derive(Clone, Debug)]
pub struct PairCounts {
    /// How many columns are counted, and where each column of the labels is among them; others are beyond.
    counted: usize,
    places: Vec<usize>,
    rows: u64,
    /// Rows on which both hold.
    both: Vec<u32>,
    /// Where something is unknown: rows on which the first holds and the second is known, and on which both are known.
    known: Option<[Vec<u32>; 2]>,
}

impl PairCounts {
    /// Counts all pairs of these columns; others, of which there may be very many, cost nothing.
    ///
    /// # Errors
    /// None of its own: threads are the caller's.
    ///
    /// # Panics
    /// For more than 2^32 rows.
    pub fn count(labels: &TruthTable, columns: &[usize], threads: NonZeroUsize) -> Result<Self> {
        assert!(u32::try_from(labels.rows()).is_ok(), "at most 2^32 rows");
        let value = labels.value();
        let known = match labels.known() {
            None => None,
            Some(known) => {
                let held = products(value, known, columns, false, threads)?;
                Some([held, products(known, known, columns, true, threads)?])
            }
        };
        let both = products(value, value, columns, true, threads)?;
        let mut places = vec![usize::MAX; labels.columns()];
        columns.iter().enumerate().for_each(|(place, &column)| places[column] = place);
        Ok(Self { counted: columns.len(), places, rows: labels.rows() as u64, both, known })
    }

    /// A count of two columns that are counted; who asks for others has made a mistake.
    fn at(&self, counts: &[u32], left: usize, right: usize) -> u64 {
        let (left, right) = (self.places[left], self.places[right]);
        assert!(left.max(right) < self.counted, "both columns are counted");
        u64::from(counts[left * self.counted + right])
    }

    /// Rows on which both hold.
    #[must_use]
    pub fn both(&self, left: usize, right: usize) -> u64 {
        self.at(&self.both, left, right)
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether every label is known.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.known.is_none()
    }

    /// Rows on which a concept holds.
    #[must_use]
    pub fn ones(&self, concept: usize) -> u64 {
        self.both(concept, concept)
    }

    /// Rows on which the left concept holds and the right one is known.
    #[must_use]
    pub fn left(&self, left: usize, right: usize) -> u64 {
        self.known.as_ref().map_or_else(|| self.ones(left), |[held, _]| self.at(held, left, right))
    }

    /// The table of two concepts.
    #[must_use]
    pub fn table(&self, left: usize, right: usize) -> Contingency {
        let both = self.both(left, right);
        let rows = self.known.as_ref().map_or(self.rows, |[_, known]| self.at(known, left, right));
        let (left, right) = (self.left(left, right), self.left(right, left));
        Contingency { both, left_only: left - both, right_only: right - both, neither: rows + both - left - right }
    }
}

/// Counts of rows on which a left and a right column hold, for all of the given ones; the lower half is mirrored where both
/// tables are one.
fn products(
    left: &BitTable,
    right: &BitTable,
    columns: &[usize],
    symmetric: bool,
    threads: NonZeroUsize,
) -> Result<Vec<u32>> {
    let places = columns.len();
    let squares = places.div_ceil(SQUARE);
    let all = (0..squares).flat_map(|top| (0..squares).map(move |side| (top, side)));
    let wanted: Vec<(usize, usize)> = all.filter(|(top, side)| !symmetric || side >= top).collect();
    let range = |square: usize| square * SQUARE..((square + 1) * SQUARE).min(places);
    let counted = in_parallel(threads, wanted.len(), |piece| {
        let (top, side) = wanted[piece];
        let lefts: Vec<&[u64]> = columns[range(top)].iter().map(|&column| left.column(column)).collect();
        let rights: Vec<&[u64]> = columns[range(side)].iter().map(|&column| right.column(column)).collect();
        let mut counts = vec![0; lefts.len() * rights.len()];
        add_common(&lefts, &rights, &mut counts);
        Ok(counts)
    })?;
    let mut matrix = vec![0; places * places];
    for (&(top, side), counts) in wanted.iter().zip(&counted) {
        for (row, counts) in range(top).zip(counts.chunks_exact(range(side).len())) {
            for (column, &count) in range(side).zip(counts) {
                matrix[row * places + column] = count as u32;
                if symmetric {
                    matrix[column * places + row] = count as u32;
                }
            }
        }
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_equal_a_scalar_count() {
        let mut random = fastrand::Rng::with_seed(11);
        for (rows, columns) in [(1, 2), (63, 5), (64, 1), (200, 70), (3000, 130)] {
            let value = BitTable::from_fn(rows, columns, |_, column| random.usize(..columns + 1) > column);
            let known = BitTable::from_fn(rows, columns, |_, column| random.u8(..) > 30 || column == 1);
            for labels in [TruthTable::complete(value.clone()), TruthTable::partial(value, known)] {
                // In an order of their own, and without some.
                let counted: Vec<usize> = (0..columns).rev().filter(|column| column % 5 != 3).collect();
                let counts = PairCounts::count(&labels, &counted, NonZeroUsize::new(3).unwrap()).unwrap();
                for &left in counted.iter().step_by(columns / 9 + 1) {
                    for &right in &counted {
                        let mut cells = [0; 4];
                        for row in 0..rows {
                            if let Some((left, right)) = labels.get(row, left).zip(labels.get(row, right)) {
                                cells[2 * usize::from(!left) + usize::from(!right)] += 1;
                            }
                        }
                        let [both, left_only, right_only, neither] = cells;
                        let expected = Contingency { both, left_only, right_only, neither };
                        assert_eq!(counts.table(left, right), expected, "{left} {right}");
                        assert_eq!(counts.left(left, right), expected.left());
                    }
                    assert_eq!(counts.ones(left), labels.counts(left).holds);
                }
            }
        }
    }

    #[test]
    fn columns_that_are_not_counted_cost_nothing() {
        // All pairs of 30,000 columns would take 3.6 GB.
        let value = BitTable::from_fn(10, 30_000, |row, column| column % 10_000 == 7 && row < 1 + column / 10_000);
        let known = BitTable::from_fn(10, 30_000, |row, column| row != column % 10);
        let counts =
            PairCounts::count(&TruthTable::partial(value, known), &[7, 10_007, 20_007], NonZeroUsize::MIN).unwrap();
        assert_eq!(
            (counts.both.len(), counts.known.as_ref().map(|[held, known]| (held.len(), known.len()))),
            (9, Some((9, 9)))
        );
        // The first holds on row 0, the last on rows 0, 1 and 2; row 7 is unknown.
        let expected = Contingency { both: 1, left_only: 0, right_only: 2, neither: 6 };
        assert_eq!(counts.table(7, 20_007), expected);
    }
}
