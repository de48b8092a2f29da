//! Bit columns that grow while a table is read, and become its [`TruthTable`] in the end.

use chimera_logic::bits::{BitTable, TruthTable, words_for};

/// The labels of one concept so far. Bits past the last row are zero.
#[derive(Clone, Debug, Default)]
struct LabelColumn {
    value: Vec<u64>,
    /// Only there once something is unknown.
    known: Option<Vec<u64>>,
    rows: usize,
}

impl LabelColumn {
    /// Appends `rows` labels, 64 a word, the first in the lowest bit; `known` is `None` where all are known.
    fn append(&mut self, rows: usize, value: &[u64], known: Option<&[u64]>) {
        if let (None, Some(_)) = (&self.known, known) {
            self.known = Some(ones(self.rows));
        }
        append_bits(&mut self.value, self.rows, value, rows);
        match (&mut self.known, known) {
            (Some(all), Some(known)) => append_bits(all, self.rows, known, rows),
            (Some(all), None) => append_bits(all, self.rows, &ones(rows), rows),
            (None, _) => {}
        }
        self.rows += rows;
    }
}

/// Appends the first `added` bits of `source` to `words`, which hold `length` bits.
fn append_bits(words: &mut Vec<u64>, length: usize, source: &[u64], added: usize) {
    let shift = length % 64;
    for (index, &word) in source[..words_for(added)].iter().enumerate() {
        let word = word & low_bits(added - index * 64);
        match words.last_mut() {
            Some(last) if shift > 0 => {
                *last |= word << shift;
                words.push(word >> (64 - shift));
            }
            _ => words.push(word),
        }
    }
    words.truncate(words_for(length + added));
}

/// A word whose lowest `count` bits are ones.
fn low_bits(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

fn ones(rows: usize) -> Vec<u64> {
    (0..words_for(rows)).map(|word| low_bits(rows - word * 64)).collect()
}

/// The labels of all concepts, filled row by row or column by column, but not both.
pub(super) struct LabelColumns {
    columns: Vec<LabelColumn>,
    /// The word of each column that rows are being put into.
    value: Vec<u64>,
    known: Vec<u64>,
    /// Rows in these words.
    pending: usize,
}

impl LabelColumns {
    /// No rows yet.
    pub(super) fn new(columns: usize) -> Self {
        Self {
            columns: vec![LabelColumn::default(); columns],
            value: vec![0; columns],
            known: vec![0; columns],
            pending: 0,
        }
    }

    /// Sets a cell of the row that [`Self::end_row`] will end; what is not set is unknown.
    #[inline]
    pub(super) fn set(&mut self, column: usize, label: bool) {
        self.value[column] |= u64::from(label) << self.pending;
        self.known[column] |= 1 << self.pending;
    }

    /// Ends a row.
    pub(super) fn end_row(&mut self) {
        self.pending += 1;
        if self.pending == 64 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let full = low_bits(self.pending);
        for ((column, value), known) in self.columns.iter_mut().zip(&mut self.value).zip(&mut self.known) {
            let unknown_cells = (*known != full).then_some(std::slice::from_ref(&*known));
            column.append(self.pending, std::slice::from_ref(&*value), unknown_cells);
            (*value, *known) = (0, 0);
        }
        self.pending = 0;
    }

    /// Appends rows to one column; `known` is `None` where all are known.
    pub(super) fn append(&mut self, column: usize, rows: usize, value: &[u64], known: Option<&[u64]>) {
        self.columns[column].append(rows, value, known);
    }

    /// The columns, each with what is known of it; `None` where all is.
    pub(super) fn into_columns(mut self) -> impl Iterator<Item = (Vec<u64>, Option<Vec<u64>>)> {
        self.flush();
        self.columns.into_iter().map(|column| (column.value, column.known))
    }

    /// The table.
    pub(super) fn into_table(self, rows: usize) -> TruthTable {
        let mut matrix = LabelMatrix::new(rows, self.columns.len());
        for (column, (value, known)) in self.into_columns().enumerate() {
            matrix.put(column, &value, known.as_deref());
        }
        matrix.into_table()
    }
}

/// A table of which the number of rows is known, filled column by column.
pub(super) struct LabelMatrix {
    value: BitTable,
    /// Only there once something is unknown.
    known: Option<BitTable>,
}

impl LabelMatrix {
    pub(super) fn new(rows: usize, columns: usize) -> Self {
        Self { value: BitTable::zeros(rows, columns), known: None }
    }

    /// Sets a column; `known` is `None` where all of it is.
    pub(super) fn put(&mut self, column: usize, value: &[u64], known: Option<&[u64]>) {
        self.value.column_mut(column).copy_from_slice(value);
        if let Some(known) = known {
            let (rows, columns) = (self.value.rows(), self.value.columns());
            let all = self.known.get_or_insert_with(|| BitTable::from_columns(rows, (0..columns).map(|_| ones(rows))));
            all.column_mut(column).copy_from_slice(known);
        }
    }

    pub(super) fn into_table(self) -> TruthTable {
        match self.known {
            None => TruthTable::complete(self.value),
            Some(known) => TruthTable::partial(self.value, known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits, then zeros up to a word, then rubbish that must not get in.
    fn words(bits: &[bool], rubbish: bool) -> Vec<u64> {
        let mut words = vec![0; words_for(bits.len())];
        bits.iter().enumerate().for_each(|(row, &bit)| words[row / 64] |= u64::from(bit) << (row % 64));
        if let (true, Some(last)) = (rubbish && !bits.len().is_multiple_of(64), words.last_mut()) {
            *last |= !low_bits(bits.len() % 64);
        }
        words
    }

    #[test]
    fn pieces_of_any_length_join_without_a_seam() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..300 {
            let (mut columns, mut expected) = (LabelColumns::new(1), Vec::new());
            for _ in 0..random.usize(0..6) {
                let rows = if random.bool() { random.usize(0..4) * 64 } else { random.usize(0..200) };
                let value: Vec<bool> = (0..rows).map(|_| random.bool()).collect();
                let known: Option<Vec<bool>> = random.bool().then(|| (0..rows).map(|_| random.bool()).collect());
                let known_words = known.as_ref().map(|known| words(known, random.bool()));
                columns.append(0, rows, &words(&value, random.bool()), known_words.as_deref());
                let known = known.unwrap_or_else(|| vec![true; rows]);
                expected.extend(value.iter().zip(known).map(|(&value, known)| known.then_some(value)));
            }
            let table = columns.into_table(expected.len());
            assert!((0..expected.len()).all(|row| table.get(row, 0) == expected[row]));
            let tail = !table.value().tail_mask();
            assert!(table.value().column(0).last().is_none_or(|word| word & tail == 0));
            assert!(table.known().and_then(|known| known.column(0).last()).is_none_or(|word| word & tail == 0));
            assert_eq!(table.known().is_some(), expected.contains(&None));
        }
    }

    #[test]
    fn rows_join_too() {
        for rows in [0, 1, 63, 64, 65, 200] {
            let cell = |row: usize, column: usize| (row % 7 != column + 3).then_some((row + column).is_multiple_of(3));
            let mut columns = LabelColumns::new(2);
            for row in 0..rows {
                (0..2).for_each(|column| cell(row, column).iter().for_each(|&label| columns.set(column, label)));
                columns.end_row();
            }
            let table = columns.into_table(rows);
            assert_eq!((table.rows(), table.columns()), (rows, 2));
            assert!((0..rows).all(|row| (0..2).all(|column| table.get(row, column) == cell(row, column))));
        }
    }
}
