//! Samples for wanted truths, from the node down: the values of operands that give a gate its value, then samples that give
//! the operands theirs.

use chimera_logic::syntax::Op;
use chimera_logic::truth::hard_op;

use super::{Piece, Population, can, seen};

/// So many samples are tried for one part before the chimera is given up.
const TRIES: usize = 32;

/// `count` different numbers below `limit`, in random order.
pub(super) fn distinct(limit: usize, count: usize, random: &mut fastrand::Rng) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::with_capacity(count);
    while chosen.len() < count.min(limit) {
        let number = random.usize(..limit);
        if !chosen.contains(&number) {
            chosen.push(number);
        }
    }
    chosen
}

/// Whether operands with these possible values (false, true) can give a gate its value.
pub(super) fn possible(op: Op, wanted: bool, operands: &[[bool; 2]]) -> bool {
    match op {
        Op::Implies => !implications(wanted, operands).is_empty(),
        // An operand without any value leaves the gate without any.
        _ => operands.iter().all(|can| *can != [false; 2]) && !counts(op, wanted, operands).is_empty(),
    }
}

/// The numbers of true operands that give a gate its value. IMPLIES is asked elsewhere: it needs to know which are true.
fn counts(op: Op, wanted: bool, operands: &[[bool; 2]]) -> Vec<usize> {
    let least = operands.iter().filter(|[fails, _]| !fails).count();
    let most = operands.iter().filter(|[_, holds]| *holds).count();
    let all = operands.len();
    let fits = |count: &usize| match op {
        Op::And => wanted == (*count == all),
        Op::Or => wanted == (*count > 0),
        Op::Iff => wanted == (*count == 0 || *count == all),
        Op::Implies => false,
    };
    (least..=most).filter(fits).collect()
}

/// The values of antecedent and consequent that give an implication its value.
fn implications(wanted: bool, operands: &[[bool; 2]]) -> Vec<[bool; 2]> {
    let [antecedent, consequent] = operands else { return Vec::new() };
    let pairs = [[false, false], [false, true], [true, false], [true, true]];
    let can = |[first, second]: &[bool; 2]| antecedent[usize::from(*first)] && consequent[usize::from(*second)];
    pairs.into_iter().filter(|pair| can(pair) && hard_op(Op::Implies, pair) == wanted).collect()
}

/// A chimera in the making.
pub(super) struct Draw<'a> {
    pub(super) population: &'a Population,
    pub(super) random: &'a mut fastrand::Rng,
    /// The sample of each part; `u32::MAX` where there is none yet.
    pub(super) chosen: &'a mut [u32],
}

impl Draw<'_> {
    /// Draws a piece so that it has a value.
    pub(super) fn piece(&mut self, piece: &Piece, wanted: bool) -> Option<()> {
        match piece {
            Piece::Sample { number, truths } => {
                let rows = truths.rows(wanted);
                for _ in 0..TRIES.min(4 * rows.len()) {
                    let row = rows[self.random.usize(..rows.len())];
                    let mut others = self.chosen.iter().filter(|&&other| other != u32::MAX);
                    if others.all(|&other| self.population.differ(row, other)) {
                        self.chosen[*number] = row;
                        return Some(());
                    }
                }
                None
            }
            Piece::Gate { op, operands, .. } => {
                let wanted = self.values(*op, operands, wanted)?;
                self.all(operands, &wanted)
            }
        }
    }

    /// Draws operands so that the gate sees these values.
    pub(super) fn all(&mut self, operands: &[(Piece, bool)], wanted: &[bool]) -> Option<()> {
        operands.iter().zip(wanted).try_for_each(|((piece, negated), wanted)| self.piece(piece, *wanted != *negated))
    }

    /// Values of operands that give a gate its value: first how many are true, then which. Half of the time the number is one
    /// that a single operand would turn over (one false operand of an AND), else each number alike: what is easily told apart
    /// teaches little, and wide gates have few of the other kind by chance.
    fn values(&mut self, op: Op, operands: &[(Piece, bool)], wanted: bool) -> Option<Vec<bool>> {
        let each: Vec<[bool; 2]> = operands.iter().map(|(piece, negated)| seen(can(piece), *negated)).collect();
        if op == Op::Implies {
            return self.random.choice(implications(wanted, &each)).map(Vec::from);
        }
        let counts = counts(op, wanted, &each);
        let close = match (op, wanted) {
            (Op::And, false) => counts.last(),
            (Op::Or, true) => counts.first(),
            (Op::Iff, false) if self.random.bool() => counts.first(),
            (Op::Iff, false) => counts.last(),
            _ => None,
        };
        let count = match close {
            Some(close) if self.random.bool() => *close,
            _ => self.random.choice(counts)?,
        };
        let mut values: Vec<bool> = each.iter().map(|[fails, _]| !fails).collect();
        let free: Vec<usize> = (0..each.len()).filter(|&at| each[at] == [true, true]).collect();
        let forced = values.iter().filter(|value| **value).count();
        for at in distinct(free.len(), count - forced, self.random) {
            values[free[at]] = true;
        }
        Some(values)
    }
}
