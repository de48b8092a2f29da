//! Which truth values chimeras can give each node. A deep chimera draws a row for every concept occurrence on its own, so a
//! node can be made true if its operands, chosen independently, can make it so; a concept that is true on every row has no
//! false row to draw. Rows of one chimera are pairwise different, which only matters where a value occurs on fewer rows than
//! the formula has concepts; that case is left to the sampler.

use crate::bits::TruthTable;
use crate::dag::{Dag, Edge, Node};
use crate::syntax::Op;

/// The truth values that some chimera gives a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// Some chimera makes it true.
    pub can_hold: bool,
    /// Some chimera makes it false.
    pub can_fail: bool,
}

impl Supply {
    /// Whether a chimera gives this value.
    #[must_use]
    pub fn gives(self, value: bool) -> bool {
        if value { self.can_hold } else { self.can_fail }
    }

    fn of(self, edge: Edge) -> Self {
        if edge.is_negated() { Self { can_hold: self.can_fail, can_fail: self.can_hold } } else { self }
    }
}

/// The supply of every node of the DAG, by node index, from the known labels.
#[must_use]
pub fn supply(dag: &Dag, labels: &TruthTable) -> Vec<Supply> {
    let mut supplies: Vec<Supply> = Vec::with_capacity(dag.len());
    for id in dag.ids() {
        let supply = match dag.node(id) {
            Node::Leaf(concept) => {
                let counts = labels.counts(concept.index());
                Supply { can_hold: counts.holds > 0, can_fail: counts.fails > 0 }
            }
            Node::Gate(op, operands) => {
                let operands: Vec<_> = operands.iter().map(|&edge| supplies[edge.node().index()].of(edge)).collect();
                of_gate(op, &operands)
            }
        };
        supplies.push(supply);
    }
    supplies
}

/// The supply of a reference, from those of the nodes.
pub(super) fn of_edge(supplies: &[Supply], edge: Edge) -> Supply {
    supplies[edge.node().index()].of(edge)
}

fn of_gate(op: Op, operands: &[Supply]) -> Supply {
    let all = |value: bool| operands.iter().all(|operand| operand.gives(value));
    let any = |value: bool| operands.iter().any(|operand| operand.gives(value));
    // An operand that no chimera gives any value (nothing is known of it) leaves the gate without any.
    if operands.iter().any(|operand| !operand.can_hold && !operand.can_fail) {
        return Supply { can_hold: false, can_fail: false };
    }
    match op {
        Op::And => Supply { can_hold: all(true), can_fail: any(false) },
        Op::Or => Supply { can_hold: any(true), can_fail: all(false) },
        Op::Implies => Supply {
            can_hold: operands[0].can_fail || operands[1].can_hold,
            can_fail: operands[0].can_hold && operands[1].can_fail,
        },
        // Every operand has a value by now, so one that can hold and one that can fail make two that differ.
        Op::Iff => Supply { can_hold: all(true) || all(false), can_fail: any(true) && any(false) },
    }
}
