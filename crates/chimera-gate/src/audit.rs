//! What a trained gate has learned: whether it computes its operator on samples that it has not seen, and whether it looks at
//! what cannot matter.

use std::collections::BTreeMap;

use chimera_logic::truth::hard_op;
use serde::{Deserialize, Serialize};

use crate::cone::{Cone, Features, Rooms};
use crate::draw::{Batch, Drawing, Population};
use crate::gate::Gate;
use crate::pass::{Room, probability};

/// Chimeras a configuration, where there are few of these.
const EACH: usize = 64;

/// Chimeras where there are many configurations.
const MANY: usize = 1024;

/// Gates with at most this many operands are asked about each configuration.
const LISTED_ARITY: usize = 4;

/// How a gate answers chimeras of one configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The truth of each operand, its edge's negation applied, as `0` and `1`; for wide gates how many are true.
    pub operands: String,
    /// What the operator gives for them.
    pub truth: bool,
    /// Chimeras that were shown.
    pub shown: u64,
    /// Chimeras that were answered rightly.
    pub right: u64,
}

impl Answer {
    /// The share of right answers.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.right as f64 / self.shown.max(1) as f64
    }
}

/// What an audit finds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// By configuration, in the order of binary counting.
    pub answers: Vec<Answer>,
    /// Exchanges of an operand that cannot matter.
    pub exchanges: u64,
    /// How far the probability moved then, in the mean; `None` without any exchange.
    pub moved: Option<f64>,
    /// The share of exchanges after which the verdict was another.
    pub flipped: Option<f64>,
}

impl Audit {
    /// The share of right answers, each configuration counting alike; `None` where nothing was shown.
    #[must_use]
    pub fn fidelity(&self) -> Option<f64> {
        let shares: Vec<f64> = self.answers.iter().map(Answer::share).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }

    /// The configuration that is answered worst.
    #[must_use]
    pub fn worst(&self) -> Option<&Answer> {
        self.answers.iter().min_by(|one, other| one.share().total_cmp(&other.share()))
    }

    /// Asks a gate about chimeras of held-out samples.
    pub fn ask(
        cone: &Cone,
        gate: &Gate,
        features: &impl Features,
        drawing: &Drawing,
        population: &Population,
        seed: u64,
    ) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut batch = Batch::default();
        batch.clear(cone.spots);
        let can = drawing.operands_can();
        if can.len() <= LISTED_ARITY {
            for code in 0..1_usize << can.len() {
                let values: Vec<bool> = (0..can.len()).map(|at| code >> (can.len() - 1 - at) & 1 == 1).collect();
                if values.iter().zip(&can).all(|(value, can)| can[usize::from(*value)]) {
                    for _ in 0..EACH {
                        drawing.stratified(population, Some(&values), &mut random, &mut batch);
                    }
                }
            }
        } else if drawing.can() != [false; 2] {
            for _ in 0..MANY {
                drawing.stratified(population, None, &mut random, &mut batch);
            }
        }
        if batch.is_empty() {
            return Self::default();
        }
        let mut asked =
            Asked { cone, gate, features, room: Room::default(), rooms: Rooms::default(), inputs: Vec::new() };
        let before = asked.probabilities(&batch.rows, batch.len());
        let mut answers: BTreeMap<(usize, String), [u64; 3]> = BTreeMap::new();
        for ((operands, target), probability) in batch.operands.iter().zip(&batch.targets).zip(&before) {
            let Some(target) = *target else { continue };
            let counts = answers.entry(name(operands)).or_insert([u64::from(target), 0, 0]);
            counts[1] += 1;
            counts[2] += u64::from((*probability > 0.5) == target);
        }
        let answers = answers
            .into_iter()
            .map(|((_, operands), [truth, shown, right])| Answer { operands, truth: truth == 1, shown, right })
            .collect();
        let mut audit = Self { answers, ..Self::default() };
        audit.exchange(&mut asked, &batch, &before, &mut random);
        audit
    }

    /// Exchanges each operand that cannot matter for that of any other chimera, whatever its truth.
    fn exchange<F: Features>(
        &mut self,
        asked: &mut Asked<'_, F>,
        batch: &Batch,
        before: &[f32],
        random: &mut fastrand::Rng,
    ) {
        let (mut moved, mut flipped, mut exchanges) = (0.0, 0, 0);
        let cone = asked.cone;
        for (number, operand) in cone.operands.iter().enumerate() {
            let idle: Vec<bool> = batch.operands.iter().map(|values| cannot_matter(cone, values, number)).collect();
            if !idle.contains(&true) {
                continue;
            }
            let mut givers: Vec<usize> = (0..batch.len()).collect();
            random.shuffle(&mut givers);
            let mut rows = batch.rows.clone();
            for spot in operand.spots() {
                rows[spot] = givers.iter().map(|&giver| batch.rows[spot][giver]).collect();
            }
            let after = asked.probabilities(&rows, batch.len());
            for ((before, after), _) in before.iter().zip(&after).zip(&idle).filter(|(_, idle)| **idle) {
                exchanges += 1;
                moved += f64::from((before - after).abs());
                flipped += u64::from((*before > 0.5) != (*after > 0.5));
            }
        }
        self.exchanges = exchanges;
        if exchanges > 0 {
            self.moved = Some(moved / exchanges as f64);
            self.flipped = Some(flipped as f64 / exchanges as f64);
        }
    }
}

/// What a configuration is called, and its place in the order: its truths, or for a wide gate, whose operator is AND, OR or IFF,
/// how many are true: there are too many configurations to ask about each.
fn name(operands: &[Option<bool>]) -> (usize, String) {
    let holding = operands.iter().filter(|value| **value == Some(true)).count();
    if operands.len() > LISTED_ARITY {
        return (holding, format!("{holding} of {} true", operands.len()));
    }
    (0, operands.iter().map(|value| if *value == Some(true) { '1' } else { '0' }).collect())
}

/// Whether the operator gives the same for both values of an operand, the others being as they are.
fn cannot_matter(cone: &Cone, values: &[Option<bool>], operand: usize) -> bool {
    let Some(mut values) = values.iter().copied().collect::<Option<Vec<bool>>>() else { return false };
    let as_is = hard_op(cone.op, &values);
    values[operand] = !values[operand];
    hard_op(cone.op, &values) == as_is
}

struct Asked<'a, F> {
    cone: &'a Cone,
    gate: &'a Gate,
    features: &'a F,
    room: Room,
    rooms: Rooms,
    inputs: Vec<f32>,
}

impl<F: Features> Asked<'_, F> {
    fn probabilities(&mut self, rows: &[Vec<u32>], count: usize) -> Vec<f32> {
        let width = self.gate.shape().features;
        self.cone.fill(self.features, width, rows, count, &mut self.rooms, &mut self.inputs);
        self.room.forward(self.gate, &self.inputs, count);
        self.room.logits().iter().map(|logit| probability(*logit)).collect()
    }
}
