//! Exact truth of any number of nodes over all samples (the paper's Algorithms 1 and 2), 64 samples an operation.
//!
//! The needed part of the DAG becomes a straight list of events. Rows are done in blocks small enough that the values of all
//! nodes in use stay in the cache; a node's space is used again after its last reader. Memory is the label table, the asked
//! columns, and one block for each node that is live at the same time.

use std::ops::Range;

use crate::bits::{BitTable, TruthTable, words_for};
use crate::dag::{Dag, Edge, Node};
use crate::steps::{Event, Operand, Place, Schedule};
use crate::syntax::Op;
use crate::vocabulary::ConceptId;

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

/// The truth of a reference under one assignment, by plain recursion: for single assignments, where it beats setting up a
/// [`Program`].
///
/// # Examples
///
/// ```
/// use chimera_logic::load::load_text;
/// use chimera_logic::truth::holds;
/// use chimera_logic::vocabulary::Vocabulary;
///
/// let rules = load_text("my.rules", "worn: bicycle => helmet\n", Vocabulary::open()).rule_set;
/// let bicycle = rules.dag.vocabulary().get("bicycle");
///
/// // A bicycle, and nothing else.
/// assert!(!holds(&rules.dag, rules.rules[0].root, &|concept| Some(concept) == bicycle));
/// // Nothing at all.
/// assert!(holds(&rules.dag, rules.rules[0].root, &|_| false));
/// ```
#[must_use]
pub fn holds(dag: &Dag, edge: Edge, label: &impl Fn(ConceptId) -> bool) -> bool {
    let value = match dag.node(edge.node()) {
        Node::Leaf(concept) => label(concept),
        Node::Gate(op, operands) => {
            let mut truths = operands.iter().map(|&operand| holds(dag, operand, label));
            match op {
                Op::And => truths.all(|value| value),
                Op::Or => truths.any(|value| value),
                Op::Implies => truths.next() == Some(false) || truths.next() == Some(true),
                Op::Iff => truths.next().is_none_or(|first| truths.all(|value| value == first)),
            }
        }
    };
    value != edge.is_negated()
}

/// A compiled evaluation of some references into a DAG.
///
/// # Examples
///
/// Two rules on three samples, of the last of which nobody knows whether it shows a helmet:
///
/// ```
/// use chimera_logic::bits::{BitTable, TruthTable};
/// use chimera_logic::load::load_text;
/// use chimera_logic::truth::Program;
/// use chimera_logic::vocabulary::Vocabulary;
///
/// let columns = ["bicycle", "helmet"].map(str::to_owned);
/// let text = "worn: bicycle => helmet\nridden: bicycle\n";
/// let rules = load_text("my.rules", text, Vocabulary::closed(columns, "an example")).rule_set;
///
/// let values = [[true, true], [true, false], [true, false]];
/// let known = [[true, true], [true, true], [true, false]];
/// let table = |cells: [[bool; 2]; 3]| BitTable::from_fn(3, 2, |row, column| cells[row][column]);
/// let labels = TruthTable::partial(table(values), table(known));
/// let truth = Program::compile(&rules.dag, &rules.roots()).evaluate(&labels);
///
/// assert_eq!([0, 1, 2].map(|row| truth.get(row, 0)), [Some(true), Some(false), None]);
/// assert_eq!(truth.counts(1).holds, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    schedule: Schedule,
}

impl Program {
    /// Compiles the evaluation of the given references; the result has one column for each, in order.
    #[must_use]
    pub fn compile(dag: &Dag, wanted: &[Edge]) -> Self {
        Self { schedule: Schedule::compile(dag, wanted) }
    }

    /// Evaluates over all rows.
    ///
    /// # Panics
    ///
    /// If the table has fewer columns than the vocabulary has concepts.
    #[must_use]
    pub fn evaluate(&self, labels: &TruthTable) -> TruthTable {
        self.evaluate_rows(labels, 0..labels.rows())
    }

    /// Evaluates over a range of rows.
    ///
    /// # Panics
    ///
    /// If the range does not start at a multiple of 64 or ends past the table, or if the table has fewer columns than the
    /// vocabulary has concepts.
    #[must_use]
    pub fn evaluate_rows(&self, labels: &TruthTable, rows: Range<usize>) -> TruthTable {
        assert_eq!(rows.start % 64, 0, "a range of rows starts at a whole word");
        assert!(rows.end <= labels.rows(), "rows past the end of the table");
        assert!(
            self.schedule.concepts <= labels.columns(),
            "the label table has a column for each concept of the vocabulary"
        );
        let first_word = rows.start / 64;
        let count = rows.len();
        let mut value = BitTable::zeros(count, self.schedule.columns);
        let mut known = labels.known().map(|_| BitTable::zeros(count, self.schedule.columns));
        let mut slots = vec![Block::default(); self.schedule.slots];
        for start in (0..words_for(count)).step_by(BLOCK) {
            let words = start..(start + BLOCK).min(words_for(count));
            let window = first_word + words.start..first_word + words.end;
            match (labels.known(), &mut known) {
                (Some(label_known), Some(known)) => {
                    let (labels, out) = ((labels.value(), label_known), (&mut value, known));
                    self.three_valued(labels, window, &mut slots, words, out);
                }
                _ => self.two_valued(labels.value(), window, &mut slots, words, &mut value),
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
        self.schedule.slots * BLOCK * size_of::<u64>()
    }

    fn two_valued(
        &self,
        labels: &BitTable,
        window: Range<usize>,
        slots: &mut [Block],
        words: Range<usize>,
        out: &mut BitTable,
    ) {
        for event in &self.schedule.events {
            match event {
                Event::Gate { op, operands, slot } => {
                    let mut target = std::mem::take(&mut slots[*slot].value);
                    target.resize(window.len(), 0);
                    let read = |operand: &Operand| read_value(labels, slots, operand.place, &window);
                    apply(*op, self.schedule.operands(operands), read, &mut target);
                    slots[*slot].value = target;
                }
                Event::Output { operand, column } => {
                    let source = read_value(labels, slots, operand.place, &window);
                    let flip = mask(operand.negated);
                    let target = &mut out.column_mut(*column)[words.clone()];
                    target.iter_mut().zip(source).for_each(|(to, from)| *to = from ^ flip);
                }
            }
        }
    }

    fn three_valued(
        &self,
        (label_values, label_known): (&BitTable, &BitTable),
        window: Range<usize>,
        slots: &mut [Block],
        words: Range<usize>,
        (out_value, out_known): (&mut BitTable, &mut BitTable),
    ) {
        let mut scratch = Kleene::default();
        for event in &self.schedule.events {
            match event {
                Event::Gate { op, operands, slot } => {
                    scratch.reset(window.len());
                    for (position, operand) in self.schedule.operands(operands).iter().enumerate() {
                        let value = read_value(label_values, slots, operand.place, &window);
                        let known = read_known(label_known, slots, operand.place, &window);
                        scratch.take(value, known, operand.negated ^ (*op == Op::Implies && position == 0));
                    }
                    scratch.finish(*op, &mut slots[*slot]);
                }
                Event::Output { operand, column } => {
                    let value = read_value(label_values, slots, operand.place, &window);
                    let known = read_known(label_known, slots, operand.place, &window);
                    let flip = mask(operand.negated);
                    let target = &mut out_value.column_mut(*column)[words.clone()];
                    target
                        .iter_mut()
                        .zip(value.iter().zip(known))
                        .for_each(|(to, (value, known))| *to = (value ^ flip) & known);
                    out_known.column_mut(*column)[words.clone()].copy_from_slice(known);
                }
            }
        }
    }
}

fn read_value<'a>(labels: &'a BitTable, slots: &'a [Block], place: Place, window: &Range<usize>) -> &'a [u64] {
    match place {
        Place::Concept(concept) => &labels.column(concept.index())[window.clone()],
        Place::Slot(slot) => &slots[slot].value,
    }
}

fn read_known<'a>(labels: &'a BitTable, slots: &'a [Block], place: Place, window: &Range<usize>) -> &'a [u64] {
    match place {
        Place::Concept(concept) => &labels.column(concept.index())[window.clone()],
        Place::Slot(slot) => &slots[slot].known,
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
    all_true: Vec<u64>,
    all_false: Vec<u64>,
    any_true: Vec<u64>,
    any_false: Vec<u64>,
}

impl Kleene {
    fn reset(&mut self, words: usize) {
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
