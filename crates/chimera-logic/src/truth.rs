//! Exact truth of any number of nodes over all samples (the paper's Algorithms 1 and 2), 64 samples an operation.
//!
//! The needed part of the DAG becomes a straight list of steps. Rows are done in blocks small enough that the values of all
//! nodes in use stay in the cache; a node's space is used again after its last reader. Memory is the label table, the asked
//! columns, and one block for each node that is live at the same time.

use std::ops::Range;

use crate::bits::{BitTable, TruthTable, words_for};
use crate::dag::{Dag, Edge, Node};
use crate::syntax::Op;

/// Words of a block: 64 rows each.
const BLOCK: usize = 256;

/// The paper's HardOp on plain values, edge negations applied: the slow way, used as the meaning of [`Op`] wherever single
/// values are at hand.
#[must_use]
pub fn hard_op(op: Op, operands: &[bool]) -> bool {
    match op {
        Op::Iff => operands.iter().all(|value| value == &operands[0]),
        Op::Implies => !matches!(operands, [true, false]),
        Op::And => operands.iter().all(|&value| value),
        Op::Or => operands.iter().any(|&value| value),
    }
}

/// Where an operand's words are.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A column of the label table.
    Label(usize),
    /// A slot of the block buffer.
    Slot(usize),
}

#[derive(Clone, Copy, Debug)]
struct Operand {
    place: Place,
    negated: bool,
}

#[derive(Clone, Debug)]
struct Step {
    op: Op,
    operands: Range<usize>,
    target: usize,
}

/// A compiled evaluation of some references into a DAG.
#[derive(Clone, Debug)]
pub struct Program {
    steps: Vec<Step>,
    operands: Vec<Operand>,
    /// Number of slots.
    slots: usize,
    /// The asked references: which step ends when they are ready is implied by the order of steps.
    outputs: Vec<Output>,
    concepts: usize,
}

/// An asked column: it is copied out right after step `after` (its slot may be used again later).
#[derive(Clone, Copy, Debug)]
struct Output {
    column: usize,
    operand: Operand,
    after: Option<usize>,
}

impl Program {
    /// Compiles the evaluation of the given references; the result has one column for each, in order.
    #[must_use]
    pub fn compile(dag: &Dag, wanted: &[Edge]) -> Self {
        let cone = dag.cone(wanted);
        let mut last_use = vec![usize::MAX; dag.len()];
        let gates: Vec<_> = cone.iter().copied().filter(|&id| matches!(dag.node(id), Node::Gate(..))).collect();
        for (step, &id) in gates.iter().enumerate() {
            last_use[id.index()] = step;
            dag.operands(id).iter().for_each(|edge| last_use[edge.node().index()] = step);
        }

        let mut program = Self {
            steps: Vec::new(),
            operands: Vec::new(),
            slots: 0,
            outputs: Vec::new(),
            concepts: dag.vocabulary().len(),
        };
        let mut places: Vec<Option<Place>> = vec![None; dag.len()];
        let mut step_of = vec![None; dag.len()];
        for &id in &cone {
            if let Node::Leaf(concept) = dag.node(id) {
                places[id.index()] = Some(Place::Label(concept.index()));
            }
        }
        let mut free = Vec::new();
        for (step, &id) in gates.iter().enumerate() {
            let Node::Gate(op, edges) = dag.node(id) else { continue };
            // The target is taken before the operands are freed: no step writes where it reads.
            let target = free.pop().unwrap_or_else(|| {
                program.slots += 1;
                program.slots - 1
            });
            let start = program.operands.len();
            for edge in edges {
                // Children come first, so they have a place.
                let Some(place) = places[edge.node().index()] else { continue };
                program.operands.push(Operand { place, negated: edge.is_negated() });
            }
            program.steps.push(Step { op: *op, operands: start..program.operands.len(), target });
            places[id.index()] = Some(Place::Slot(target));
            step_of[id.index()] = Some(step);
            let mut children: Vec<_> = edges.iter().map(|edge| edge.node()).collect();
            children.push(id);
            children.sort_unstable();
            children.dedup();
            for child in children {
                if let (true, Some(Place::Slot(slot))) = (last_use[child.index()] == step, places[child.index()]) {
                    free.push(slot);
                }
            }
        }
        for (column, edge) in wanted.iter().enumerate() {
            let Some(place) = places[edge.node().index()] else { continue };
            let operand = Operand { place, negated: edge.is_negated() };
            program.outputs.push(Output { column, operand, after: step_of[edge.node().index()] });
        }
        program.outputs.sort_by_key(|output| output.after);
        program
    }

    /// Evaluates over all rows.
    #[must_use]
    pub fn evaluate(&self, labels: &TruthTable) -> TruthTable {
        self.evaluate_rows(labels, 0..labels.rows())
    }

    /// Evaluates over a range of rows that starts at a multiple of 64.
    #[must_use]
    pub fn evaluate_rows(&self, labels: &TruthTable, rows: Range<usize>) -> TruthTable {
        assert_eq!(rows.start % 64, 0, "a range of rows starts at a whole word");
        assert!(rows.end <= labels.rows(), "rows past the end of the table");
        assert!(self.concepts <= labels.columns(), "the label table has a column for each concept of the vocabulary");
        let first_word = rows.start / 64;
        let count = rows.len();
        let mut value = BitTable::zeros(count, self.outputs.len());
        let mut known = labels.known().map(|_| BitTable::zeros(count, self.outputs.len()));
        let mut slots = vec![Block::default(); self.slots];
        for start in (0..words_for(count)).step_by(BLOCK) {
            let words = start..(start + BLOCK).min(words_for(count));
            let window = first_word + words.start..first_word + words.end;
            match &mut known {
                None => self.two_valued(labels.value(), window, &mut slots, words, &mut value),
                Some(known) => self.three_valued(labels, window, &mut slots, words, &mut value, known),
            }
        }
        value.clear_tails();
        match known {
            None => TruthTable::complete(value),
            Some(mut known) => {
                known.clear_tails();
                TruthTable::partial(value, known)
            }
        }
    }

    /// Bytes of the block buffer that one evaluation of fully known labels needs.
    #[must_use]
    pub fn live_bytes(&self) -> usize {
        self.slots * BLOCK * size_of::<u64>()
    }

    fn two_valued(
        &self,
        labels: &BitTable,
        window: Range<usize>,
        slots: &mut [Block],
        words: Range<usize>,
        out: &mut BitTable,
    ) {
        let mut pending = self.outputs.iter().peekable();
        for at in std::iter::once(None).chain((0..self.steps.len()).map(Some)) {
            if let Some(step) = at.map(|at| &self.steps[at]) {
                let mut target = std::mem::take(&mut slots[step.target].value);
                target.resize(window.len(), 0);
                let read = |operand: &Operand| match operand.place {
                    Place::Label(column) => &labels.column(column)[window.clone()],
                    Place::Slot(slot) => &slots[slot].value[..],
                };
                apply(step.op, &self.operands[step.operands.clone()], read, &mut target);
                slots[step.target].value = target;
            }
            while let Some(output) = pending.next_if(|output| output.after == at) {
                let source = match output.operand.place {
                    Place::Label(column) => &labels.column(column)[window.clone()],
                    Place::Slot(slot) => &slots[slot].value[..],
                };
                let flip = mask(output.operand.negated);
                let target = &mut out.column_mut(output.column)[words.clone()];
                target.iter_mut().zip(source).for_each(|(to, from)| *to = from ^ flip);
            }
        }
    }

    fn three_valued(
        &self,
        labels: &TruthTable,
        window: Range<usize>,
        slots: &mut [Block],
        words: Range<usize>,
        out_value: &mut BitTable,
        out_known: &mut BitTable,
    ) {
        let Some(label_known) = labels.known() else { return };
        let mut scratch = Kleene::default();
        let mut pending = self.outputs.iter().peekable();
        for at in std::iter::once(None).chain((0..self.steps.len()).map(Some)) {
            if let Some(step) = at.map(|at| &self.steps[at]) {
                scratch.reset(window.len());
                for operand in &self.operands[step.operands.clone()] {
                    match operand.place {
                        Place::Label(column) => scratch.take(
                            &labels.value().column(column)[window.clone()],
                            &label_known.column(column)[window.clone()],
                            operand.negated ^ (step.op == Op::Implies && scratch.taken == 0),
                        ),
                        Place::Slot(slot) => scratch.take(
                            &slots[slot].value,
                            &slots[slot].known,
                            operand.negated ^ (step.op == Op::Implies && scratch.taken == 0),
                        ),
                    }
                }
                scratch.finish(step.op, &mut slots[step.target]);
            }
            while let Some(output) = pending.next_if(|output| output.after == at) {
                let (value, known) = match output.operand.place {
                    Place::Label(column) => {
                        (&labels.value().column(column)[window.clone()], &label_known.column(column)[window.clone()])
                    }
                    Place::Slot(slot) => (&slots[slot].value[..], &slots[slot].known[..]),
                };
                let flip = mask(output.operand.negated);
                let to_value = &mut out_value.column_mut(output.column)[words.clone()];
                to_value
                    .iter_mut()
                    .zip(value.iter().zip(known))
                    .for_each(|(to, (value, known))| *to = (value ^ flip) & known);
                out_known.column_mut(output.column)[words.clone()].copy_from_slice(known);
            }
        }
    }
}

/// The words of one node in the current block; `known` is used only where labels are incomplete.
#[derive(Clone, Debug, Default)]
struct Block {
    value: Vec<u64>,
    known: Vec<u64>,
}

fn mask(negated: bool) -> u64 {
    if negated { u64::MAX } else { 0 }
}

/// One operator over words. AND, OR and IMPLIES are an AND with some sides flipped; IFF compares each operand with the first.
fn apply<'a>(op: Op, operands: &[Operand], read: impl Fn(&Operand) -> &'a [u64], target: &mut [u64]) {
    let [first, second, rest @ ..] = operands else { return };
    let (a, b) = (read(first), read(second));
    let (flip_a, flip_b) = (mask(first.negated), mask(second.negated));
    if op == Op::Iff {
        let flip = !(flip_a ^ flip_b);
        for ((to, a), b) in target.iter_mut().zip(a).zip(b) {
            *to = a ^ b ^ flip;
        }
        for operand in rest {
            let flip = !(flip_a ^ mask(operand.negated));
            for ((to, a), b) in target.iter_mut().zip(a).zip(read(operand)) {
                *to &= a ^ b ^ flip;
            }
        }
        return;
    }
    // a | b = !(!a & !b), a => b = !(a & !b).
    let (first_side, other_side, out) = match op {
        Op::And => (0, 0, 0),
        Op::Or => (u64::MAX, u64::MAX, u64::MAX),
        _ => (0, u64::MAX, u64::MAX),
    };
    let (flip_a, flip_b) = (flip_a ^ first_side, flip_b ^ other_side);
    if rest.is_empty() {
        for ((to, a), b) in target.iter_mut().zip(a).zip(b) {
            *to = ((a ^ flip_a) & (b ^ flip_b)) ^ out;
        }
        return;
    }
    for ((to, a), b) in target.iter_mut().zip(a).zip(b) {
        *to = (a ^ flip_a) & (b ^ flip_b);
    }
    for operand in rest {
        let flip = mask(operand.negated) ^ other_side;
        for (to, b) in target.iter_mut().zip(read(operand)) {
            *to &= b ^ flip;
        }
    }
    if out != 0 {
        target.iter_mut().for_each(|to| *to = !*to);
    }
}

/// Kleene's three-valued operators, from which operands are surely true and which surely false.
#[derive(Default)]
struct Kleene {
    taken: usize,
    all_true: Vec<u64>,
    all_false: Vec<u64>,
    any_true: Vec<u64>,
    any_false: Vec<u64>,
}

impl Kleene {
    fn reset(&mut self, words: usize) {
        self.taken = 0;
        for (buffer, start) in [
            (&mut self.all_true, u64::MAX),
            (&mut self.all_false, u64::MAX),
            (&mut self.any_true, 0),
            (&mut self.any_false, 0),
        ] {
            buffer.clear();
            buffer.resize(words, start);
        }
    }

    fn take(&mut self, value: &[u64], known: &[u64], negated: bool) {
        self.taken += 1;
        let flip = mask(negated);
        for (word, (value, known)) in value.iter().zip(known).enumerate() {
            let (yes, no) = ((value ^ flip) & known, (value ^ !flip) & known);
            self.all_true[word] &= yes;
            self.all_false[word] &= no;
            self.any_true[word] |= yes;
            self.any_false[word] |= no;
        }
    }

    /// IMPLIES arrives as an OR whose first operand was taken negated.
    fn finish(&self, op: Op, target: &mut Block) {
        target.value.clear();
        target.known.clear();
        for word in 0..self.all_true.len() {
            let (yes, no) = match op {
                Op::And => (self.all_true[word], self.any_false[word]),
                Op::Or | Op::Implies => (self.any_true[word], self.all_false[word]),
                Op::Iff => (self.all_true[word] | self.all_false[word], self.any_true[word] & self.any_false[word]),
            };
            target.value.push(yes);
            target.known.push(yes | no);
        }
    }
}
