//! The truth of one node on every sample, to be asked by sample and by value.

use std::sync::OnceLock;

use chimera_logic::bits::{TruthCounts, TruthTable};

/// The truth of a node: a bit a sample, and on demand the samples of either value.
#[derive(Clone, Debug, Default)]
pub struct Truths {
    value: Vec<u64>,
    /// `None` where everything is known.
    known: Option<Vec<u64>>,
    rows: usize,
    counts: TruthCounts,
    lists: OnceLock<[Vec<u32>; 2]>,
}

impl Truths {
    /// A column of a table.
    #[must_use]
    pub fn of_column(table: &TruthTable, column: usize) -> Self {
        Self {
            value: table.value().column(column).to_vec(),
            known: table.known().map(|known| known.column(column).to_vec()),
            rows: table.rows(),
            counts: table.counts(column),
            lists: OnceLock::new(),
        }
    }

    /// The truth on a sample.
    #[must_use]
    pub fn get(&self, row: u32) -> Option<bool> {
        let bit = |words: &[u64]| words[row as usize / 64] >> (row % 64) & 1 == 1;
        self.known.as_ref().is_none_or(|known| bit(known)).then(|| bit(&self.value))
    }

    /// A bit a sample: its truth, and whether that is known; no second list where everything is.
    #[must_use]
    pub fn words(&self) -> (&[u64], Option<&[u64]>) {
        (&self.value, self.known.as_deref())
    }

    /// Whether some sample has a value.
    #[must_use]
    pub fn occurs(&self, value: bool) -> bool {
        (if value { self.counts.holds } else { self.counts.fails }) > 0
    }

    /// The samples of a value.
    #[must_use]
    pub fn rows(&self, value: bool) -> &[u32] {
        let lists = self.lists.get_or_init(|| {
            let of = |value| (0..self.rows as u32).filter(|&row| self.get(row) == Some(value)).collect();
            [of(false), of(true)]
        });
        &lists[usize::from(value)]
    }
}
