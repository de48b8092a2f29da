//! The needed part of a DAG as a straight list of events: compute a gate into a buffer, copy a result out. Whatever values
//! flow through it (bits, probabilities), the order, the buffers and their reuse are the same.

use std::ops::Range;

use crate::dag::{Dag, Edge, Node};
use crate::slots;
use crate::syntax::Op;
use crate::vocabulary::ConceptId;

/// Where an operand's values are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// The column of a concept.
    Concept(ConceptId),
    /// A buffer.
    Slot(usize),
}

/// A value to be read, with the polarity of the edge.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub(crate) place: Place,
    pub(crate) negated: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// Computes a gate from its operands (a range of [`Schedule::operands`]); no gate is written where it is read.
    Gate { op: Op, operands: Range<usize>, slot: usize },
    /// Copies a value to a column of the result. It comes right after the value is made, before its buffer is used again.
    Output { operand: Operand, column: usize },
}

/// The events of some references into a DAG, children before parents, shared nodes once.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    pub(crate) events: Vec<Event>,
    operands: Vec<Operand>,
    /// Number of buffers.
    pub(crate) slots: usize,
    /// Number of result columns.
    pub(crate) columns: usize,
    /// Columns that the input must have.
    pub(crate) concepts: usize,
}

impl Schedule {
    pub(crate) fn compile(dag: &Dag, wanted: &[Edge]) -> Self {
        let cone = dag.cone(wanted);
        let mut step_of = vec![None; dag.len()];
        let mut gates = Vec::new();
        for &id in &cone {
            if let Node::Gate(op, operands) = dag.node(id) {
                step_of[id.index()] = Some(gates.len());
                gates.push((id, op, operands));
            }
        }
        let step = |edge: &Edge| step_of[edge.node().index()];
        let (slot_of, slots) = slots::assign(gates.len(), |at| gates[at].2.iter().filter_map(step));
        let operand = |edge: &Edge| {
            let place = match (dag.node(edge.node()), step(edge)) {
                (Node::Leaf(concept), _) => Place::Concept(concept),
                // Every gate of a cone has its step.
                (Node::Gate(..), step) => Place::Slot(slot_of[step.unwrap_or(0)]),
            };
            Operand { place, negated: edge.is_negated() }
        };

        let mut outputs: Vec<_> = wanted.iter().enumerate().map(|(column, edge)| (step(edge), column)).collect();
        outputs.sort_unstable();
        let mut outputs = outputs.into_iter().peekable();
        let mut schedule = Self {
            events: Vec::with_capacity(gates.len() + wanted.len()),
            operands: Vec::new(),
            slots,
            columns: wanted.len(),
            concepts: dag.vocabulary().len(),
        };
        let mut copy_out = |schedule: &mut Self, made_by: Option<usize>| {
            while let Some((_, column)) = outputs.next_if(|&(step, _)| step == made_by) {
                schedule.events.push(Event::Output { operand: operand(&wanted[column]), column });
            }
        };
        copy_out(&mut schedule, None);
        for (at, (_, op, edges)) in gates.iter().enumerate() {
            let start = schedule.operands.len();
            schedule.operands.extend(edges.iter().map(operand));
            let operands = start..schedule.operands.len();
            schedule.events.push(Event::Gate { op: *op, operands, slot: slot_of[at] });
            copy_out(&mut schedule, Some(at));
        }
        schedule
    }

    pub(crate) fn operands(&self, range: &Range<usize>) -> &[Operand] {
        &self.operands[range.clone()]
    }
}
