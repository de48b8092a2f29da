//! Random assignments as a cheap first look: what they show false needs no proof, and that is almost everything.

use crate::bits::{BitTable, TruthTable};
use crate::dag::{Dag, Edge};
use crate::truth::Program;

/// Assignments tried at a time.
pub(super) const ASSIGNMENTS: usize = 1024;

/// Truth of some references under the same random assignments, half of them even and half sparse or dense.
pub(super) fn simulate(dag: &Dag, wanted: &[Edge]) -> BitTable {
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
    truth(dag, wanted, labels)
}

/// Truth of some references under given assignments: one column a concept.
pub(super) fn truth(dag: &Dag, wanted: &[Edge], labels: BitTable) -> BitTable {
    Program::compile(dag, wanted).evaluate(&TruthTable::complete(labels)).value().clone()
}

/// The SplitMix64 generator: short, and the same everywhere.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
