//! Chimeras: operands taken from different samples, with the truth that exact logic gives them.
//!
//! A [`Drawing`] says which spots of a cone take the same sample ([`Depth`]) and how samples are found for them ([`Choice`]).
//! Whatever the way, the target is the exact truth of the drawn labels, unknown where they leave it open.

mod choose;
mod truths;

use std::collections::BTreeMap;
use std::sync::Arc;

use chimera_logic::coverage::LISTED_ARITY;
use chimera_logic::dag::NodeId;
use chimera_logic::syntax::Op;

use crate::cone::{Cone, Kind, Operand};
pub use truths::Truths;

/// Where one sample ends and another begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// Each operand of the node is a sample of its own (the paper's chimeras).
    Node,
    /// Each leaf below the node is a sample of its own: it can make a sub-formula false that holds on every sample.
    #[default]
    Deep,
}

/// How samples are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The batch itself, shifted around for each operand (the paper's).
    Shift,
    /// So that true and false are drawn alike, and within them every configuration that can be supplied.
    #[default]
    Stratified,
}

/// The samples of a dataset that may be drawn: their number, and who belongs together.
#[derive(Clone, Debug, Default)]
pub struct Population {
    /// Number of samples.
    pub rows: usize,
    /// A number for each sample; samples of one number are never in one chimera.
    pub groups: Option<Arc<[u32]>>,
}

impl Population {
    fn differ(&self, one: u32, other: u32) -> bool {
        one != other && self.groups.as_ref().is_none_or(|groups| groups[one as usize] != groups[other as usize])
    }
}

/// A piece of a drawing.
#[derive(Clone, Debug)]
enum Piece {
    /// One sample for a range of spots.
    Sample { number: usize, truths: Arc<Truths> },
    /// Exact logic over pieces, with their negations.
    Gate { op: Op, operands: Vec<(Piece, bool)>, can: [bool; 2] },
}

/// How chimeras of one node are drawn.
#[derive(Clone, Debug)]
pub struct Drawing {
    root: Piece,
    /// For each sample of a chimera, the spots that take it.
    samples: Vec<std::ops::Range<usize>>,
    spots: usize,
}

/// A batch of chimeras.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// For each spot of the cone, the sample that it takes in each chimera.
    pub rows: Vec<Vec<u32>>,
    /// The truth of the node; `None` where it is unknown or the chimera could not be made.
    pub targets: Vec<Option<bool>>,
    /// The truth of each operand, edge negations applied, as far as it is known: one list a chimera.
    pub operands: Vec<Vec<Option<bool>>>,
}

impl Batch {
    /// Forgets all chimeras.
    pub fn clear(&mut self, spots: usize) {
        self.rows.resize_with(spots, Vec::new);
        self.rows.iter_mut().for_each(Vec::clear);
        self.targets.clear();
        self.operands.clear();
    }

    /// Number of chimeras.
    #[must_use]
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

impl Drawing {
    /// A drawing for a cone. `truths` gives the labels or exact truths of any node of it.
    pub fn new(cone: &Cone, depth: Depth, truths: &impl Fn(NodeId) -> Arc<Truths>) -> Self {
        let mut samples = Vec::new();
        let operands = cone.operands.iter().map(|operand| piece(operand, depth, truths, &mut samples)).collect();
        Self { root: gate(cone.op, operands), samples, spots: cone.spots }
    }

    /// A drawing that takes one sample for everything: no chimera at all.
    pub fn same(cone: &Cone, truths: &impl Fn(NodeId) -> Arc<Truths>) -> Self {
        let operands =
            cone.operands.iter().map(|operand| (sample(0, truths(operand.node())), operand.negated)).collect();
        Self { root: gate(cone.op, operands), samples: std::iter::once(0..cone.spots).collect(), spots: cone.spots }
    }

    /// The same without nesting, for drawing elsewhere.
    #[must_use]
    pub fn flat(&self) -> FlatDrawing {
        let mut pieces = Vec::new();
        flatten(&self.root, &mut pieces);
        FlatDrawing { pieces, parts: self.samples.clone() }
    }

    /// Samples that a chimera is made of.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.samples.len()
    }

    /// Which truths of the node can be drawn: false, true.
    #[must_use]
    pub fn can(&self) -> [bool; 2] {
        can(&self.root)
    }

    /// For each operand, which truths can be drawn, its edge's negation applied: false, true.
    #[must_use]
    pub fn operands_can(&self) -> Vec<[bool; 2]> {
        let Piece::Gate { operands, .. } = &self.root else { return Vec::new() };
        operands.iter().map(|(piece, negated)| seen(can(piece), *negated)).collect()
    }

    /// Adds chimeras of a batch of samples, each sample shifted to another place for each part: part 0 keeps its own.
    /// A batch with fewer samples than parts gives none.
    pub fn shift(&self, population: &Population, rows: &[u32], random: &mut fastrand::Rng, out: &mut Batch) {
        if rows.len() < self.parts() {
            return;
        }
        // Different shifts put different samples of the batch into the parts of one chimera.
        let mut shifts = choose::distinct(rows.len() - 1, self.parts() - 1, random);
        shifts.iter_mut().for_each(|shift| *shift += 1);
        shifts.insert(0, 0);
        let mut chosen = vec![0; self.parts()];
        for row in 0..rows.len() {
            for (chosen, shift) in chosen.iter_mut().zip(&shifts) {
                *chosen = rows[(row + shift) % rows.len()];
            }
            let apart = (1..chosen.len()).all(|at| chosen[..at].iter().all(|&one| population.differ(one, chosen[at])));
            self.push(&chosen, apart, out);
        }
    }

    /// Adds one chimera whose operands have the given truths, or, without any, in which true and false come alike. `false`
    /// where samples for it could not be found.
    pub fn stratified(
        &self,
        population: &Population,
        operands: Option<&[bool]>,
        random: &mut fastrand::Rng,
        out: &mut Batch,
    ) -> bool {
        const TRIES: usize = 8;
        for _ in 0..TRIES {
            let mut chosen = vec![u32::MAX; self.parts()];
            let mut draw = choose::Draw { population, random: &mut *random, chosen: &mut chosen };
            let drawn = match (operands, &self.root) {
                (Some(wanted), Piece::Gate { operands, .. }) => draw.all(operands, wanted),
                _ => {
                    let wanted = match self.can() {
                        [true, true] => draw.random.bool(),
                        [_, holds] => holds,
                    };
                    draw.piece(&self.root, wanted)
                }
            };
            if drawn.is_some() {
                self.push(&chosen, true, out);
                return true;
            }
        }
        false
    }

    /// Adds the samples themselves, for drawings of one part.
    pub fn plain(&self, rows: &[u32], out: &mut Batch) {
        rows.iter().for_each(|&row| self.push(&[row], true, out));
    }

    fn push(&self, chosen: &[u32], counts: bool, out: &mut Batch) {
        out.rows.resize_with(self.spots, Vec::new);
        for (spots, &row) in self.samples.iter().zip(chosen) {
            out.rows[spots.clone()].iter_mut().for_each(|rows| rows.push(row));
        }
        let Piece::Gate { op, operands, .. } = &self.root else { return };
        let values: Vec<Option<bool>> =
            operands.iter().map(|(piece, negated)| truth(piece, chosen).map(|value| value != *negated)).collect();
        out.targets.push(if counts { kleene(*op, &values) } else { None });
        out.operands.push(values);
    }
}

/// A [`Drawing`] as a list, parents before their operands.
#[derive(Clone, Debug)]
pub struct FlatDrawing {
    /// The pieces; the first is the node.
    pub pieces: Vec<FlatPiece>,
    /// For each sample of a chimera, the spots that take it.
    pub parts: Vec<std::ops::Range<usize>>,
}

/// A piece of a [`FlatDrawing`].
#[derive(Clone, Debug)]
pub struct FlatPiece {
    /// What it is.
    pub kind: FlatKind,
    /// Which truths of it can be drawn: false, true.
    pub can: [bool; 2],
}

/// What a piece of a [`FlatDrawing`] is.
#[derive(Clone, Debug)]
pub enum FlatKind {
    /// A sample.
    Sample {
        /// Its number among those of a chimera.
        part: usize,
        /// The truth of the node that takes it.
        truths: Arc<Truths>,
    },
    /// Exact logic.
    Gate {
        /// Its operator.
        op: Op,
        /// Places of its operands in the list, and whether their edges negate.
        operands: Vec<(usize, bool)>,
    },
}

fn flatten(piece: &Piece, pieces: &mut Vec<FlatPiece>) -> usize {
    let (place, can) = (pieces.len(), can(piece));
    match piece {
        Piece::Sample { number, truths } => {
            pieces.push(FlatPiece { kind: FlatKind::Sample { part: *number, truths: truths.clone() }, can });
        }
        Piece::Gate { op, operands, .. } => {
            pieces.push(FlatPiece { kind: FlatKind::Gate { op: *op, operands: Vec::new() }, can });
            let below = operands.iter().map(|(piece, negated)| (flatten(piece, pieces), *negated)).collect();
            pieces[place].kind = FlatKind::Gate { op: *op, operands: below };
        }
    }
    place
}

/// How many chimeras there were of each configuration of a node's operands. Gates with more operands than
/// [`LISTED_ARITY`] have too many to be listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configurations(pub BTreeMap<Vec<bool>, u64>);

impl Configurations {
    /// Counts the chimeras that have a target and whose operands are all known.
    pub fn count(&mut self, batch: &Batch) {
        if batch.operands.first().is_some_and(|operands| operands.len() > LISTED_ARITY) {
            return;
        }
        for (operands, _) in batch.operands.iter().zip(&batch.targets).filter(|(_, target)| target.is_some()) {
            if let Some(values) = operands.iter().copied().collect::<Option<Vec<bool>>>() {
                *self.0.entry(values).or_insert(0) += 1;
            }
        }
    }
}

fn piece(
    operand: &Operand,
    depth: Depth,
    truths: &impl Fn(NodeId) -> Arc<Truths>,
    samples: &mut Vec<std::ops::Range<usize>>,
) -> (Piece, bool) {
    let piece = match (&operand.kind, depth) {
        (Kind::Gate { op, operands, .. }, Depth::Deep) => {
            gate(*op, operands.iter().map(|operand| piece(operand, depth, truths, samples)).collect())
        }
        _ => {
            samples.push(operand.spots());
            sample(samples.len() - 1, truths(operand.node()))
        }
    };
    (piece, operand.negated)
}

fn sample(number: usize, truths: Arc<Truths>) -> Piece {
    Piece::Sample { number, truths }
}

fn gate(op: Op, operands: Vec<(Piece, bool)>) -> Piece {
    let each: Vec<[bool; 2]> = operands.iter().map(|(piece, negated)| seen(can(piece), *negated)).collect();
    let can = [false, true].map(|wanted| choose::possible(op, wanted, &each));
    Piece::Gate { op, operands, can }
}

fn can(piece: &Piece) -> [bool; 2] {
    match piece {
        Piece::Sample { truths, .. } => [false, true].map(|value| truths.occurs(value)),
        Piece::Gate { can, .. } => *can,
    }
}

/// What can be drawn, as a gate sees it through an edge.
fn seen([fails, holds]: [bool; 2], negated: bool) -> [bool; 2] {
    if negated { [holds, fails] } else { [fails, holds] }
}

fn truth(piece: &Piece, chosen: &[u32]) -> Option<bool> {
    match piece {
        Piece::Sample { number, truths } => truths.get(chosen[*number]),
        Piece::Gate { op, operands, .. } => {
            let values: Vec<_> =
                operands.iter().map(|(piece, negated)| truth(piece, chosen).map(|value| value != *negated)).collect();
            kleene(*op, &values)
        }
    }
}

/// Three-valued logic: a truth that holds whatever the unknown values are.
fn kleene(op: Op, values: &[Option<bool>]) -> Option<bool> {
    let any = |wanted| values.contains(&Some(wanted));
    let all = |wanted| values.iter().all(|value| *value == Some(wanted));
    let (yes, no) = match op {
        Op::And => (all(true), any(false)),
        Op::Or => (any(true), all(false)),
        Op::Implies => (
            values.first() == Some(&Some(false)) || values.last() == Some(&Some(true)),
            values == [Some(true), Some(false)],
        ),
        Op::Iff => (all(true) || all(false), any(true) && any(false)),
    };
    if yes { Some(true) } else { no.then_some(false) }
}

#[cfg(test)]
mod tests;
