//! Which truth configurations of a gate's operands the data hold: a gate can learn only what it is shown, so a row of its
//! truth table that no sample fills must come from elsewhere.

use std::collections::BTreeMap;

use crate::bits::TruthTable;
use crate::dag::{Dag, Edge, NodeId};
use crate::syntax::Op;
use crate::truth::{Program, hard_op};

/// Gates with at most this many operands list all their configurations; wider ones only those that occur.
pub const LISTED_ARITY: usize = 10;

/// Bytes of node truths held at a time.
const CHUNK_BYTES: usize = 32 << 20;

/// How often each configuration of a gate's operands occurs, among the rows on which every operand is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateCoverage {
    /// The gate.
    pub node: NodeId,
    /// Its operator.
    pub op: Op,
    /// Its operands, in the order in which the gate takes them.
    pub operands: Vec<Edge>,
    /// Rows on which every operand is known.
    pub known_rows: u64,
    /// Rows on which one is not.
    pub unknown_rows: u64,
    counts: Counts,
}

/// Rows by configuration: a dense array over the codes of narrow gates, a map over the values of wide ones.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Counts {
    Dense(Vec<u64>),
    Sparse(BTreeMap<Vec<bool>, u64>),
}

/// One row of a gate's truth table. Operand values have the edge's negation applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// Truth of each operand.
    pub values: Vec<bool>,
    /// What the operator gives for them.
    pub result: bool,
    /// Rows that hold it.
    pub rows: u64,
}

impl GateCoverage {
    /// The configurations in the order of binary counting, first operand slowest: all 2^k of them up to [`LISTED_ARITY`]
    /// operands, else those that occur.
    #[must_use]
    pub fn configurations(&self) -> Vec<Configuration> {
        let configuration = |values: Vec<bool>, rows| Configuration { result: hard_op(self.op, &values), rows, values };
        match &self.counts {
            Counts::Dense(counts) => {
                let values = |code| values_of(code, self.operands.len());
                counts.iter().enumerate().map(|(code, &rows)| configuration(values(code), rows)).collect()
            }
            Counts::Sparse(counts) => {
                counts.iter().map(|(values, &rows)| configuration(values.clone(), rows)).collect()
            }
        }
    }

    /// Number of configurations that no row holds; `None` when it is beyond 64 bits.
    #[must_use]
    pub fn missing(&self) -> Option<u64> {
        let all = 1_u64.checked_shl(self.operands.len() as u32)?;
        let held = match &self.counts {
            Counts::Dense(counts) => counts.iter().filter(|&&rows| rows > 0).count(),
            Counts::Sparse(counts) => counts.len(),
        };
        Some(all - held as u64)
    }
}

/// The operand values of a code: the first operand is the highest bit.
fn values_of(code: usize, arity: usize) -> Vec<bool> {
    (0..arity).map(|position| code >> (arity - 1 - position) & 1 == 1).collect()
}

/// Counts the configurations of every gate that the given roots need.
///
/// # Panics
///
/// If the table has fewer columns than the vocabulary has concepts.
#[must_use]
pub fn coverage(dag: &Dag, roots: &[Edge], labels: &TruthTable) -> Vec<GateCoverage> {
    let cone = dag.cone(roots);
    let nodes: Vec<Edge> = cone.iter().map(|&id| Edge::new(id, false)).collect();
    let mut column_of = vec![usize::MAX; dag.len()];
    cone.iter().enumerate().for_each(|(column, id)| column_of[id.index()] = column);

    let mut gates: Vec<_> = dag
        .gates()
        .filter(|(id, ..)| column_of[id.index()] != usize::MAX)
        .map(|(node, op, operands)| GateCoverage {
            node,
            op,
            operands: operands.to_vec(),
            known_rows: 0,
            unknown_rows: 0,
            counts: Counts::new(operands.len()),
        })
        .collect();
    let program = Program::compile(dag, &nodes);
    let chunk = (CHUNK_BYTES / 8 / nodes.len().max(1)).clamp(1, 1024) * 64;
    for start in (0..labels.rows()).step_by(chunk) {
        let rows = start..(start + chunk).min(labels.rows());
        let truth = program.evaluate_rows(labels, rows);
        for gate in &mut gates {
            gate.add(&truth, &column_of);
        }
    }
    gates
}

impl GateCoverage {
    fn add(&mut self, truth: &TruthTable, column_of: &[usize]) {
        let columns: Vec<_> = self
            .operands
            .iter()
            .map(|edge| (column_of[edge.node().index()], if edge.is_negated() { u64::MAX } else { 0 }))
            .collect();
        let mut bits = Vec::with_capacity(columns.len());
        let words = truth.value().column(0).len();
        for word in 0..words {
            let mut rows = if word + 1 == words { truth.value().tail_mask() } else { u64::MAX };
            let all = rows.count_ones();
            if let Some(known) = truth.known() {
                rows = columns.iter().fold(rows, |rows, &(column, _)| rows & known.column(column)[word]);
            }
            self.known_rows += u64::from(rows.count_ones());
            self.unknown_rows += u64::from(all - rows.count_ones());
            bits.clear();
            bits.extend(columns.iter().map(|&(column, flip)| truth.value().column(column)[word] ^ flip));
            match &mut self.counts {
                Counts::Dense(counts) => count_dense(&bits, rows, 0, counts),
                Counts::Sparse(counts) => count_sparse(&bits, rows, counts),
            }
        }
    }
}

impl Counts {
    fn new(arity: usize) -> Self {
        if arity <= LISTED_ARITY { Self::Dense(vec![0; 1 << arity]) } else { Self::Sparse(BTreeMap::new()) }
    }
}

/// Splits the rows of a word by the first operand, each part by the next; empty parts end at once.
fn count_dense(bits: &[u64], rows: u64, code: usize, counts: &mut [u64]) {
    match bits {
        _ if rows == 0 => {}
        [] => counts[code] += u64::from(rows.count_ones()),
        [first, rest @ ..] => {
            count_dense(rest, rows & !first, code << 1, counts);
            count_dense(rest, rows & first, code << 1 | 1, counts);
        }
    }
}

/// A wide gate has far more configurations than a word has rows, so rows are taken one by one.
fn count_sparse(bits: &[u64], mut rows: u64, counts: &mut BTreeMap<Vec<bool>, u64>) {
    while rows != 0 {
        let row = rows.trailing_zeros();
        let values = bits.iter().map(|bits| bits >> row & 1 == 1).collect();
        *counts.entry(values).or_insert(0) += 1;
        rows &= rows - 1;
    }
}
