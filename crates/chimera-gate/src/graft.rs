//! Grafts: a sample of which some concepts are changed. It keeps what concepts do not explain of its z, and what they do is
//! exchanged, so that a gate can be shown what no sample is: a rule broken by a sample that is otherwise like others.

use chimera_logic::bits::TruthTable;
use chimera_logic::dag::NodeId;
use chimera_logic::syntax::Op;
use chimera_logic::truth::hard_op;

use crate::cone::{Cone, Kind, Operand};
use crate::draw::Batch;
use crate::normal::BelowZero;

/// Nodes over more concepts than this draw their configurations one by one.
const LISTED: usize = 12;

/// Of so many configurations, one that changes little is taken.
const CANDIDATES: usize = 8;

/// The share of other concepts that are drawn anew for a concept's head, and how many these are at most, on average.
const REDRAWN: (f64, f64) = (0.5, 4.0);

/// How z depends on concepts: each adds something of its own. Where z comes out of a ReLU, all of it is about what went in.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// z without any concept.
    pub base: Vec<f32>,
    /// What each concept adds, one after the other.
    pub added: Vec<f32>,
    /// How far samples are from that, number by number.
    pub spread: Vec<f32>,
    /// The share of samples that show each concept: what is added where nobody knows.
    pub shares: Vec<f32>,
    /// Whether z comes out of a ReLU.
    pub rectified: bool,
}

impl Effects {
    /// What a concept adds.
    #[must_use]
    pub fn of(&self, concept: usize) -> &[f32] {
        &self.added[concept * self.base.len()..][..self.base.len()]
    }
}

/// Labels of samples, to be asked by sample.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    /// Where the concepts of each sample begin in `shown` and `open`.
    starts: Vec<[u32; 2]>,
    shown: Vec<u32>,
    open: Vec<u32>,
}

impl Labels {
    /// Of a table with a row for each sample.
    #[must_use]
    pub fn of(table: &TruthTable) -> Self {
        let mut labels = Self { starts: vec![[0, 0]], ..Self::default() };
        for row in 0..table.rows() {
            for concept in 0..table.columns() {
                match table.get(row, concept) {
                    Some(true) => labels.shown.push(concept as u32),
                    Some(false) => {}
                    None => labels.open.push(concept as u32),
                }
            }
            labels.starts.push([labels.shown.len() as u32, labels.open.len() as u32]);
        }
        labels
    }

    /// Samples.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The concepts that a sample shows.
    #[must_use]
    pub fn shown(&self, row: u32) -> &[u32] {
        let [start, end] = [0, 1].map(|next| self.starts[row as usize + next][0] as usize);
        &self.shown[start..end]
    }

    /// The concepts of which nobody knows whether a sample shows them.
    #[must_use]
    pub fn open(&self, row: u32) -> &[u32] {
        let [start, end] = [0, 1].map(|next| self.starts[row as usize + next][1] as usize);
        &self.open[start..end]
    }
}

/// How grafts of one node are drawn.
#[derive(Debug)]
pub struct Grafting<'a> {
    effects: &'a Effects,
    labels: &'a Labels,
    cone: &'a Cone,
    /// The concepts below the node, each once, and their leaves.
    concepts: Vec<(NodeId, usize)>,
    /// Configurations of them under which the node is false, and true, a bit a concept; empty where there are too many.
    listed: [Vec<u32>; 2],
    /// The share of the other concepts that are drawn anew.
    redrawn: f64,
    table: &'static BelowZero,
}

/// A [`Grafting`] without nesting.
#[derive(Clone, Debug)]
pub struct FlatGrafting<'a> {
    /// What concepts add to z.
    pub effects: &'a Effects,
    /// What samples show.
    pub labels: &'a Labels,
    /// The concepts below the node, each once.
    pub concepts: Vec<usize>,
    /// Configurations of them under which the node is false, and true, a bit a concept; empty where there are too many.
    pub listed: [&'a [u32]; 2],
    /// The share of the other concepts that are drawn anew.
    pub redrawn: f64,
    /// The formula of the node, parents before their operands.
    pub tree: Vec<FlatNode>,
}

/// A node of a [`FlatGrafting`].
#[derive(Clone, Debug)]
pub enum FlatNode {
    /// A concept, by its place among those of the grafting.
    Concept(usize),
    /// An operator, with the places of its operands in the list and whether their edges negate.
    Gate(Op, Vec<(usize, bool)>),
}

impl<'a> Grafting<'a> {
    /// Grafts for a cone; `concept` gives the number of a leaf's concept.
    pub fn new(cone: &'a Cone, effects: &'a Effects, labels: &'a Labels, concept: impl Fn(NodeId) -> usize) -> Self {
        let mut concepts: Vec<(NodeId, usize)> = Vec::new();
        collect(&cone.operands, &mut |node| {
            if concepts.iter().all(|(known, _)| *known != node) {
                concepts.push((node, concept(node)));
            }
        });
        let mut grafting = Self {
            effects,
            labels,
            cone,
            concepts,
            listed: Default::default(),
            redrawn: 0.0,
            table: BelowZero::table(),
        };
        if grafting.concepts.len() <= LISTED {
            for bits in 0..1_u32 << grafting.concepts.len() {
                let holds = grafting.truth(&grafting.values(bits));
                grafting.listed[usize::from(holds)].push(bits);
            }
        }
        grafting
    }

    /// The same, with some of the other concepts drawn anew, each value alike: what tends to be seen together no longer is, and a
    /// concept must be told by itself.
    #[must_use]
    pub(crate) fn with_others_redrawn(self) -> Self {
        let (share, most) = REDRAWN;
        Self { redrawn: share.min(most / self.effects.shares.len().max(1) as f64), ..self }
    }

    /// What grafts are drawn from, for drawing elsewhere.
    #[must_use]
    pub fn flat(&self) -> FlatGrafting<'_> {
        let mut tree = vec![FlatNode::Gate(self.cone.op, Vec::new())];
        self.flatten(0, &self.cone.operands, &mut tree);
        FlatGrafting {
            effects: self.effects,
            labels: self.labels,
            concepts: self.concepts.iter().map(|(_, concept)| *concept).collect(),
            listed: [&self.listed[0], &self.listed[1]],
            redrawn: self.redrawn,
            tree,
        }
    }

    fn flatten(&self, parent: usize, operands: &[Operand], tree: &mut Vec<FlatNode>) {
        for operand in operands {
            let place = tree.len();
            if let FlatNode::Gate(_, below) = &mut tree[parent] {
                below.push((place, operand.negated));
            }
            match &operand.kind {
                Kind::Leaf { node, .. } => {
                    let place = self.concepts.iter().position(|(known, _)| known == node);
                    tree.push(FlatNode::Concept(place.unwrap_or_default()));
                }
                Kind::Gate { op, operands, .. } => {
                    tree.push(FlatNode::Gate(*op, Vec::new()));
                    self.flatten(place, operands, tree);
                }
            }
        }
    }

    /// Whether a concept below the node is shown by all samples or by none, as far as anybody knows.
    #[must_use]
    pub(crate) fn never_differs(&self) -> bool {
        self.concepts
            .iter()
            .any(|&(_, concept)| !(self.effects.shares[concept] > 0.0 && self.effects.shares[concept] < 1.0))
    }

    /// Whether the node can be false, and true; what is not listed may be both.
    #[must_use]
    pub fn can(&self) -> [bool; 2] {
        let unlisted = self.concepts.len() > LISTED;
        [0, 1].map(|truth| unlisted || !self.listed[truth].is_empty())
    }

    fn values(&self, bits: u32) -> Vec<bool> {
        (0..self.concepts.len()).map(|at| bits >> at & 1 == 1).collect()
    }

    fn truth(&self, values: &[bool]) -> bool {
        let operands: Vec<bool> = self.cone.operands.iter().map(|operand| self.operand(operand, values)).collect();
        hard_op(self.cone.op, &operands)
    }

    fn operand(&self, operand: &Operand, values: &[bool]) -> bool {
        let value = match &operand.kind {
            Kind::Leaf { node, .. } => {
                let place = self.concepts.iter().position(|(known, _)| known == node);
                place.is_some_and(|place| values[place])
            }
            Kind::Gate { op, operands, .. } => {
                let below: Vec<bool> = operands.iter().map(|operand| self.operand(operand, values)).collect();
                hard_op(*op, &below)
            }
        };
        value != operand.negated
    }

    /// Adds a graft of a sample to a batch, its z to `grafted`; `first` is the number of the first of these. `false` where
    /// nobody knows what the sample shows.
    pub fn add(
        &self,
        (row, z): (u32, &[f32]),
        first: usize,
        grafted: &mut Vec<f32>,
        random: &mut fastrand::Rng,
        out: &mut Batch,
    ) -> bool {
        let (shown, open) = (self.labels.shown(row), self.labels.open(row));
        let is = |list: &[u32], concept: usize| list.contains(&(concept as u32));
        if self.concepts.iter().any(|&(_, concept)| is(open, concept)) {
            return false;
        }
        let own: Vec<bool> = self.concepts.iter().map(|&(_, concept)| is(shown, concept)).collect();
        let values = self.draw(&own, random);
        let number = first + grafted.len() / z.len();
        self.change(z, row, &own, &values, random, grafted);
        out.rows.resize_with(self.cone.spots, Vec::new);
        out.rows.iter_mut().for_each(|rows| rows.push(number as u32));
        let operands: Vec<bool> = self.cone.operands.iter().map(|operand| self.operand(operand, &values)).collect();
        out.targets.push(Some(hard_op(self.cone.op, &operands)));
        out.operands.push(operands.into_iter().map(Some).collect());
        true
    }

    /// Values of the concepts, for either truth of the node alike; those that change little come more often.
    fn draw(&self, own: &[bool], random: &mut fastrand::Rng) -> Vec<bool> {
        let wanted = match self.can() {
            [true, true] => random.bool(),
            [_, holds] => holds,
        };
        let listed = &self.listed[usize::from(wanted)];
        if listed.is_empty() {
            return self.forced(own, wanted, random);
        }
        let bits = own.iter().enumerate().fold(0, |bits, (at, value)| bits | u32::from(*value) << at);
        let candidates: [u32; CANDIDATES] = std::array::from_fn(|_| listed[random.usize(..listed.len())]);
        let weights = candidates.map(|candidate| (-f64::from((candidate ^ bits).count_ones())).exp());
        let mut left = random.f64() * weights.iter().sum::<f64>();
        let chosen = weights.iter().position(|weight| {
            left -= weight;
            left <= 0.0
        });
        self.values(candidates[chosen.unwrap_or(0)])
    }

    /// Values of many concepts: the sample's own, changed from the node down until the truth is as wanted. A concept that
    /// occurs twice may spoil it; the target is what comes out.
    fn forced(&self, own: &[bool], wanted: bool, random: &mut fastrand::Rng) -> Vec<bool> {
        let mut values = own.to_vec();
        self.force(self.cone.op, &self.cone.operands, wanted, &mut values, random);
        values
    }

    fn force(&self, op: Op, operands: &[Operand], wanted: bool, values: &mut Vec<bool>, random: &mut fastrand::Rng) {
        let one = random.usize(..operands.len());
        let all_alike = random.bool();
        for (at, operand) in operands.iter().enumerate() {
            let value = match (op, wanted) {
                (Op::And, true) | (Op::Or, false) => wanted,
                (Op::And, false) | (Op::Or, true) if at == one => wanted,
                (Op::Implies, false) => at == 0,
                (Op::Implies, true) if at == one => one == 1,
                (Op::Iff, true) => all_alike,
                (Op::Iff, false) if at == one => !all_alike,
                (Op::Iff, false) => all_alike,
                _ => continue,
            } != operand.negated;
            match &operand.kind {
                Kind::Leaf { node, .. } => {
                    let place = self.concepts.iter().position(|(known, _)| known == node);
                    place.into_iter().for_each(|place| values[place] = value);
                }
                Kind::Gate { op, operands, .. } => self.force(*op, operands, value, values, random),
            }
        }
    }

    /// Draws some of the concepts anew that are not below the node, where it is known whether the sample shows them.
    fn redraw_others(&self, row: u32, random: &mut fastrand::Rng, added: &mut [f32]) {
        let (shown, open) = (self.labels.shown(row), self.labels.open(row));
        for concept in 0..self.effects.shares.len() {
            if random.f64() >= self.redrawn || self.concepts.iter().any(|(_, own)| *own == concept) {
                continue;
            }
            let (was, value) = (shown.contains(&(concept as u32)), random.bool());
            if value != was && !open.contains(&(concept as u32)) {
                let sign = if value { 1.0 } else { -1.0 };
                added.iter_mut().zip(self.effects.of(concept)).for_each(|(added, effect)| *added += sign * effect);
            }
        }
    }

    /// Appends z of a sample with other values of the node's concepts.
    fn change(
        &self,
        z: &[f32],
        row: u32,
        own: &[bool],
        values: &[bool],
        random: &mut fastrand::Rng,
        out: &mut Vec<f32>,
    ) {
        let effects = self.effects;
        let mut added = vec![0.0_f32; z.len()];
        for ((_, concept), (own, value)) in self.concepts.iter().zip(own.iter().zip(values)) {
            let sign = f32::from(i8::from(*value) - i8::from(*own));
            if sign != 0.0 {
                added.iter_mut().zip(effects.of(*concept)).for_each(|(added, effect)| *added += sign * effect);
            }
        }
        if self.redrawn > 0.0 {
            self.redraw_others(row, random, &mut added);
        }
        if !effects.rectified {
            out.extend(z.iter().zip(&added).map(|(z, added)| z + added));
            return;
        }
        // What went into the ReLU is not known where nothing came out; it is drawn from what it is where concepts are these. It is below
        // zero, so nothing comes out where nothing is added.
        let mut mean = vec![0.0; z.len()];
        effects.mean(self.labels, row, &mut mean);
        // One is drawn for every number, needed or not: a choice that nobody can foresee takes longer.
        let mut bytes = vec![0_u8; z.len()];
        random.fill(&mut bytes);
        let numbers = z.iter().zip(&added).zip(mean.iter().zip(&effects.spread)).zip(bytes);
        out.extend(numbers.map(|(((z, added), (mean, spread)), byte)| {
            let drawn = spread * self.table.draw(mean / spread, byte);
            (if *z > 0.0 { *z } else { drawn } + added).max(0.0)
        }));
    }
}

fn collect(operands: &[Operand], take: &mut impl FnMut(NodeId)) {
    for operand in operands {
        match &operand.kind {
            Kind::Leaf { node, .. } => take(*node),
            Kind::Gate { operands, .. } => collect(operands, take),
        }
    }
}
