//! One column of labels as bits, the way metrics read it: known rows only, and either truth value as the positive one.

use chimera_logic::bits::{TruthTable, words_for};

/// A column of labels. Concepts are looked for where they hold, rules where they are broken: [`Self::negated`].
#[derive(Clone, Copy, Debug)]
pub struct LabelBits<'a> {
    rows: usize,
    value: &'a [u64],
    /// `None` where all is known.
    known: Option<&'a [u64]>,
    negated: bool,
}

impl<'a> LabelBits<'a> {
    /// A column of a table; rows where it holds are positive.
    #[must_use]
    pub fn of(table: &'a TruthTable, column: usize) -> Self {
        let known = table.known().map(|known| known.column(column));
        Self { rows: table.rows(), value: table.value().column(column), known, negated: false }
    }

    /// The same with positives and negatives exchanged; the unknown stays unknown.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { negated: !self.negated, ..self }
    }

    /// Number of rows, unknown ones included.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many rows are known to be positive and to be negative.
    #[must_use]
    pub fn counts(&self) -> (u64, u64) {
        (0..words_for(self.rows)).map(|word| self.word(word)).fold((0, 0), |(positives, negatives), (value, known)| {
            (positives + u64::from(value.count_ones()), negatives + u64::from((known & !value).count_ones()))
        })
    }

    /// Calls `visit` with every known row, in ascending order, and whether it is positive.
    pub fn for_each(&self, mut visit: impl FnMut(usize, bool)) {
        for number in 0..words_for(self.rows) {
            let (value, mut known) = self.word(number);
            let first = number * 64;
            if known == u64::MAX {
                (0..64).for_each(|bit| visit(first + bit, value >> bit & 1 == 1));
                continue;
            }
            while known != 0 {
                let bit = known.trailing_zeros() as usize;
                visit(first + bit, value >> bit & 1 == 1);
                known &= known - 1;
            }
        }
    }

    /// 64 rows: which are positive, which are known.
    fn word(&self, number: usize) -> (u64, u64) {
        let rows = self.rows - number * 64;
        let all = if rows >= 64 { u64::MAX } else { (1 << rows) - 1 };
        let known = self.known.map_or(all, |known| known[number] & all);
        let value = if self.negated { !self.value[number] } else { self.value[number] };
        (value & known, known)
    }
}

#[cfg(test)]
mod tests {
    use chimera_logic::bits::BitTable;

    use super::*;

    #[test]
    fn known_rows_come_in_order_with_either_truth_as_positive() {
        for rows in [0, 1, 63, 64, 65, 200] {
            let label = |row: usize| (row % 5 != 2 && row != 64).then_some(row.is_multiple_of(3));
            let value = BitTable::from_fn(rows, 1, |row, _| label(row) == Some(true));
            let known = BitTable::from_fn(rows, 1, |row, _| label(row).is_some());
            let partial = TruthTable::partial(value.clone(), known);
            let complete = TruthTable::complete(value);
            for (table, label) in [
                (&partial, &label as &dyn Fn(usize) -> Option<bool>),
                (&complete, &|row| Some(label(row) == Some(true))),
            ] {
                for negated in [false, true] {
                    let bits = LabelBits::of(table, 0);
                    let bits = if negated { bits.negated() } else { bits };
                    let mut seen = Vec::new();
                    bits.for_each(|row, positive| seen.push((row, positive)));
                    let expected: Vec<_> = (0..rows).filter_map(|row| Some((row, label(row)? != negated))).collect();
                    assert_eq!(seen, expected);
                    let positives = expected.iter().filter(|(_, positive)| *positive).count() as u64;
                    assert_eq!(bits.counts(), (positives, expected.len() as u64 - positives));
                }
            }
        }
    }
}
