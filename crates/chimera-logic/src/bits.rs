//! Truth in bits: columns over samples, 64 samples a word, and a second column that says which values are known.

/// Columns of bits over the same rows. Column-major; bits past the last row are zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitTable {
    rows: usize,
    columns: usize,
    words: Vec<u64>,
}

/// Words that hold `rows` bits.
#[must_use]
pub fn words_for(rows: usize) -> usize {
    rows.div_ceil(64)
}

impl BitTable {
    /// All bits zero.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, words: vec![0; words_for(rows) * columns] }
    }

    /// Each bit from a function of row and column.
    pub fn from_fn(rows: usize, columns: usize, mut bit: impl FnMut(usize, usize) -> bool) -> Self {
        let mut table = Self::zeros(rows, columns);
        for column in 0..columns {
            for row in 0..rows {
                table.set(row, column, bit(row, column));
            }
        }
        table
    }

    /// A table of ready-made columns of `words_for(rows)` words each; bits past the last row are dropped.
    pub fn from_columns<C: AsRef<[u64]>>(rows: usize, columns: impl IntoIterator<Item = C>) -> Self {
        let columns = columns.into_iter();
        let mut table = Self { rows, columns: 0, words: Vec::with_capacity(words_for(rows) * columns.size_hint().0) };
        for column in columns {
            assert_eq!(column.as_ref().len(), words_for(rows), "words of column {}", table.columns);
            table.words.extend_from_slice(column.as_ref());
            table.columns += 1;
        }
        table.clear_tails();
        table
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The words of a column.
    #[must_use]
    pub fn column(&self, column: usize) -> &[u64] {
        let stride = words_for(self.rows);
        &self.words[column * stride..][..stride]
    }

    /// The words of a column, to be written. Whoever writes keeps the bits past the last row zero.
    pub fn column_mut(&mut self, column: usize) -> &mut [u64] {
        let stride = words_for(self.rows);
        &mut self.words[column * stride..][..stride]
    }

    /// One bit.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> bool {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        self.column(column)[row / 64] >> (row % 64) & 1 == 1
    }

    /// Sets one bit.
    pub fn set(&mut self, row: usize, column: usize, bit: bool) {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        let word = &mut self.column_mut(column)[row / 64];
        *word = *word & !(1 << (row % 64)) | u64::from(bit) << (row % 64);
    }

    /// The rows of the given numbers, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        assert!(rows.iter().all(|&row| row < self.rows), "rows past the end of the table");
        let pick = |column: &[u64], rows: &[usize]| {
            rows.iter().enumerate().fold(0, |word, (bit, &row)| word | (column[row / 64] >> (row % 64) & 1) << bit)
        };
        let mut selected = Self::zeros(rows.len(), self.columns);
        for column in 0..self.columns {
            let from = self.column(column);
            for (word, rows) in selected.column_mut(column).iter_mut().zip(rows.chunks(64)) {
                *word = pick(from, rows);
            }
        }
        selected
    }

    /// Number of ones in a column.
    #[must_use]
    pub fn count_ones(&self, column: usize) -> u64 {
        self.column(column).iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// The bits of the last word that belong to rows; all ones where the rows fill it.
    #[must_use]
    pub fn tail_mask(&self) -> u64 {
        match self.rows % 64 {
            0 => u64::MAX,
            used => (1 << used) - 1,
        }
    }

    /// Zeroes the bits past the last row, after word operations that set them.
    pub(crate) fn clear_tails(&mut self) {
        let (mask, stride) = (self.tail_mask(), words_for(self.rows));
        self.words.chunks_exact_mut(stride.max(1)).filter_map(<[u64]>::last_mut).for_each(|word| *word &= mask);
    }
}

/// Columns of three-valued truth: labels of concepts going in, truth of nodes coming out. A value bit is one only where the
/// known bit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TruthTable {
    value: BitTable,
    known: Option<BitTable>,
}

impl TruthTable {
    /// A table in which everything is known.
    #[must_use]
    pub fn complete(mut value: BitTable) -> Self {
        value.clear_tails();
        Self { value, known: None }
    }

    /// A table with unknown cells; a value where nothing is known is ignored. Where all is known, nothing more is stored.
    #[must_use]
    pub fn partial(mut value: BitTable, mut known: BitTable) -> Self {
        assert_eq!((value.rows, value.columns), (known.rows, known.columns), "value and known differ in shape");
        known.clear_tails();
        value.words.iter_mut().zip(&known.words).for_each(|(value, known)| *value &= known);
        let complete = (0..known.columns).all(|column| known.count_ones(column) == known.rows as u64);
        Self { value, known: (!complete).then_some(known) }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.value.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.value.columns
    }

    /// The value bits; zero where unknown.
    #[must_use]
    pub fn value(&self) -> &BitTable {
        &self.value
    }

    /// The known bits; `None` where everything is known.
    #[must_use]
    pub fn known(&self) -> Option<&BitTable> {
        self.known.as_ref()
    }

    /// One cell.
    #[must_use]
    pub fn get(&self, row: usize, column: usize) -> Option<bool> {
        let known = self.known.as_ref().is_none_or(|known| known.get(row, column));
        known.then(|| self.value.get(row, column))
    }

    /// The rows of the given numbers, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self { value: self.value.select(rows), known: self.known.as_ref().map(|known| known.select(rows)) }
    }

    /// How many cells of a column are true, false and unknown.
    #[must_use]
    pub fn counts(&self, column: usize) -> TruthCounts {
        let rows = self.rows() as u64;
        let known = self.known.as_ref().map_or(rows, |known| known.count_ones(column));
        let holds = self.value.count_ones(column);
        TruthCounts { holds, fails: known - holds, unknown: rows - known }
    }
}

/// Cells of a column by their truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TruthCounts {
    /// True cells.
    pub holds: u64,
    /// False cells.
    pub fails: u64,
    /// Cells of which nothing is known.
    pub unknown: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_where_they_were_put_and_tails_stay_zero() {
        for rows in [0, 1, 63, 64, 65, 1000] {
            let bit = |row: usize, column: usize| (row * 7 + column * 3) % 5 < 2;
            let mut table = BitTable::from_fn(rows, 3, bit);
            for column in 0..3 {
                assert!((0..rows).all(|row| table.get(row, column) == bit(row, column)));
                let ones = (0..rows).filter(|&row| bit(row, column)).count() as u64;
                assert_eq!(table.count_ones(column), ones);
            }
            let before = table.clone();
            table.words.iter_mut().for_each(|word| *word = !*word);
            table.clear_tails();
            table.words.iter_mut().for_each(|word| *word = !*word);
            table.clear_tails();
            assert_eq!(table, before);
        }
    }

    #[test]
    fn ready_made_columns_lose_what_is_past_the_last_row() {
        for rows in [0, 1, 63, 64, 65] {
            let column = |word: u64| vec![word; words_for(rows)];
            let table = BitTable::from_columns(rows, [column(u64::MAX), column(0), column(0b101)]);
            assert_eq!((table.rows(), table.columns()), (rows, 3));
            let bit = |row: usize, column: usize| [true, false, [0, 2].contains(&(row % 64))][column];
            assert_eq!(table, BitTable::from_fn(rows, 3, bit));
        }
    }

    #[test]
    fn unknown_cells_hide_their_value() {
        let all = BitTable::from_fn(3, 1, |_, _| true);
        let known = BitTable::from_fn(3, 1, |row, _| row != 1);
        let table = TruthTable::partial(all.clone(), known);
        assert_eq!([0, 1, 2].map(|row| table.get(row, 0)), [Some(true), None, Some(true)]);
        assert_eq!(table.counts(0), TruthCounts { holds: 2, fails: 0, unknown: 1 });
        assert!(TruthTable::partial(all.clone(), all).known().is_none());
        let selected = table.select(&[1, 0]);
        assert_eq!([0, 1].map(|row| selected.get(row, 0)), [None, Some(true)]);
    }

    #[test]
    fn rows_are_selected_in_any_order_and_number() {
        let bit = |row: usize, column: usize| (row * 5 + column).is_multiple_of(3);
        let table = BitTable::from_fn(200, 2, bit);
        for count in [0, 1, 63, 64, 65, 300] {
            let rows: Vec<usize> = (0..count).map(|at| at * 77 % 200).collect();
            assert_eq!(table.select(&rows), BitTable::from_fn(count, 2, |row, column| bit(rows[row], column)));
        }
    }
}
