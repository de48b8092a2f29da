//! Random assignments as a cheap first look: what they show false needs no proof, and that is almost everything.

use crate::bits::{BitTable, TruthTable};
use crate::dag::{Dag, Edge, NodeId};
use crate::truth::Program;

/// Assignments tried.
const ASSIGNMENTS: usize = 2048;

/// The truth of every needed node under the same random assignments: half of them even, half sparse or dense.
pub(super) struct Signatures {
    nodes: Vec<NodeId>,
    truth: BitTable,
}

impl Signatures {
    pub(super) fn new(dag: &Dag, roots: &[Edge]) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        let mut labels = BitTable::zeros(ASSIGNMENTS, dag.vocabulary().len());
        for column in 0..labels.columns() {
            for (at, word) in labels.column_mut(column).iter_mut().enumerate() {
                let (a, b) = (split_mix(&mut state), split_mix(&mut state));
                *word = match at % 4 {
                    0 | 1 => a,
                    2 => a & b,
                    _ => a | b,
                };
            }
        }
        let nodes = dag.cone(roots);
        let wanted: Vec<_> = nodes.iter().map(|&id| Edge::new(id, false)).collect();
        let truth = Program::compile(dag, &wanted).evaluate(&TruthTable::complete(labels)).value().clone();
        Self { nodes, truth }
    }

    /// The words of a formula; nothing for one that is not needed by the rules.
    fn words(&self, edge: Edge) -> impl Iterator<Item = u64> {
        let flip = if edge.is_negated() { u64::MAX } else { 0 };
        let words = self.nodes.binary_search(&edge.node()).map_or(&[][..], |column| self.truth.column(column));
        words.iter().map(move |word| word ^ flip)
    }

    /// Whether no assignment made the formula true.
    pub(super) fn never(&self, edge: Edge) -> bool {
        self.words(edge).all(|word| word == 0)
    }

    /// Whether no assignment made both true.
    pub(super) fn never_both(&self, one: Edge, other: Edge) -> bool {
        self.words(one).zip(self.words(other)).all(|(one, other)| one & other == 0)
    }

    /// What the formula shares with every formula of the same meaning.
    pub(super) fn key(&self, edge: Edge) -> Vec<u64> {
        self.words(edge).collect()
    }
}

/// The SplitMix64 generator: short, and the same everywhere.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
