//! How often pairs of concepts go together with a third: bit columns joined, then counted against columns, a batch at a time.

use chimera_logic::bits::words_for;

use super::Search;
use crate::popcount::add_common;

/// Counts of a batch of pairs with third concepts, pair by pair.
pub(super) struct Triples {
    thirds: usize,
    counts: Vec<u64>,
}

impl Triples {
    pub(super) fn at(&self, pair: usize, third: usize) -> u64 {
        self.counts[pair * self.thirds + third]
    }
}

impl Search<'_> {
    /// Words of a column.
    pub(super) fn words(&self) -> usize {
        words_for(self.labels.rows())
    }

    /// Rows with all three.
    pub(super) fn with_all(&self, pairs: &[[usize; 2]], thirds: &[usize]) -> Triples {
        let value = self.labels.value();
        let both = self.joined(pairs, |[a, b], word| value.column(a)[word] & value.column(b)[word]);
        product(&both, &thirds.iter().map(|&third| value.column(third)).collect::<Vec<_>>())
    }

    /// Rows with the pair on which the third is known; `None` where everything is.
    pub(super) fn with_known(&self, pairs: &[[usize; 2]], thirds: &[usize]) -> Option<Triples> {
        let (value, known) = (self.labels.value(), self.labels.known()?);
        let both = self.joined(pairs, |[a, b], word| value.column(a)[word] & value.column(b)[word]);
        Some(product(&both, &thirds.iter().map(|&third| known.column(third)).collect::<Vec<_>>()))
    }

    /// Rows with the first of a pair that are known to have neither its second nor the third; `None` where everything is known.
    pub(super) fn with_first_alone(&self, pairs: &[[usize; 2]], thirds: &[usize]) -> Option<Triples> {
        let (value, known) = (self.labels.value(), self.labels.known()?);
        let first =
            self.joined(pairs, |[a, b], word| value.column(a)[word] & known.column(b)[word] & !value.column(b)[word]);
        let mut told = product(&first, &thirds.iter().map(|&third| known.column(third)).collect::<Vec<_>>());
        let held = product(&first, &thirds.iter().map(|&third| value.column(third)).collect::<Vec<_>>());
        told.counts.iter_mut().zip(held.counts).for_each(|(told, held)| *told -= held);
        Some(told)
    }

    fn joined(&self, pairs: &[[usize; 2]], join: impl Fn([usize; 2], usize) -> u64) -> Vec<Vec<u64>> {
        pairs.iter().map(|&pair| (0..self.words()).map(|word| join(pair, word)).collect()).collect()
    }
}

fn product(lefts: &[Vec<u64>], rights: &[&[u64]]) -> Triples {
    let lefts: Vec<&[u64]> = lefts.iter().map(Vec::as_slice).collect();
    let mut counts = vec![0; lefts.len() * rights.len()];
    add_common(&lefts, rights, &mut counts);
    Triples { thirds: rights.len(), counts }
}
