//! What lies below a node, as training sees it: every path from the node down to a concept ends in a *spot* of its own, where
//! a chimera can put any sample. Gates on the way are trained already and stay as they are.

use std::ops::Range;
use std::sync::Arc;

use chimera_logic::dag::{Dag, Node, NodeId};
use chimera_logic::syntax::Op;

use crate::gate::Gate;
use crate::pass::Room;

/// More spots than this are not drawn: a formula that shares its parts again and again unfolds without bounds.
pub const MOST_SPOTS: usize = 256;

/// The features of samples.
pub trait Features: Sync {
    /// The numbers of a sample (z).
    fn of(&self, row: usize) -> &[f32];
}

/// Features in one block, row by row.
impl Features for (&[f32], usize) {
    fn of(&self, row: usize) -> &[f32] {
        &self.0[row * self.1..][..self.1]
    }
}

/// What a leaf gives its gate.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LeafFeature {
    /// z as it is, for every concept (the paper's).
    #[default]
    Shared,
    /// `(z - shift) * scale`, number by number.
    Affine {
        /// What is taken away.
        shift: Arc<[f32]>,
        /// What it is multiplied by then.
        scale: Arc<[f32]>,
    },
}

impl LeafFeature {
    /// The feature of a leaf from z.
    pub fn write(&self, z: &[f32], out: &mut [f32]) {
        match self {
            Self::Shared => out.copy_from_slice(z),
            Self::Affine { shift, scale } => {
                for ((out, z), (shift, scale)) in out.iter_mut().zip(z).zip(shift.iter().zip(scale.iter())) {
                    *out = (z - shift) * scale;
                }
            }
        }
    }
}

/// Mean and variance of each number of z, one sample after the other.
#[derive(Clone, Debug)]
pub struct Moments {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    /// Of no samples yet.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self { count: 0.0, mean: vec![0.0; width], squares: vec![0.0; width] }
    }

    /// Takes a sample in (Welford's way).
    pub fn add(&mut self, z: &[f32]) {
        self.count += 1.0;
        for ((mean, squares), z) in self.mean.iter_mut().zip(&mut self.squares).zip(z) {
            let away = f64::from(*z) - *mean;
            *mean += away / self.count;
            *squares += away * (f64::from(*z) - *mean);
        }
    }

    /// z centred and brought to one scale. A number that is always the same stays at zero.
    #[must_use]
    pub fn standard(&self) -> LeafFeature {
        let deviation = |squares: &f64| (squares / self.count.max(1.0)).sqrt();
        let scale = self.squares.iter().map(|squares| match deviation(squares) {
            deviation if deviation > 1e-6 => (1.0 / deviation) as f32,
            _ => 0.0,
        });
        LeafFeature::Affine { shift: self.mean.iter().map(|mean| *mean as f32).collect(), scale: scale.collect() }
    }
}

/// One operand of a gate, with everything below it.
#[derive(Clone, Debug)]
pub struct Operand {
    /// Whether its edge negates.
    pub negated: bool,
    /// What it is.
    pub kind: Kind,
}

/// What an operand is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A concept.
    Leaf {
        /// Its node in the DAG.
        node: NodeId,
        /// Its place among the spots of the cone.
        spot: usize,
        /// What it gives its gate.
        feature: LeafFeature,
    },
    /// A trained gate.
    Gate {
        /// Its node in the DAG.
        node: NodeId,
        /// Its weights; `None` as long as only truths are asked for.
        gate: Option<Arc<Gate>>,
        /// Its operator.
        op: Op,
        /// Its operands.
        operands: Vec<Operand>,
        /// The spots below it.
        spots: Range<usize>,
    },
}

impl Operand {
    /// The spots below it, itself included.
    #[must_use]
    pub fn spots(&self) -> Range<usize> {
        match &self.kind {
            Kind::Leaf { spot, .. } => *spot..spot + 1,
            Kind::Gate { spots, .. } => spots.clone(),
        }
    }

    /// Its node in the DAG.
    #[must_use]
    pub fn node(&self) -> NodeId {
        match self.kind {
            Kind::Leaf { node, .. } | Kind::Gate { node, .. } => node,
        }
    }
}

/// A node with everything below it, unfolded.
#[derive(Clone, Debug)]
pub struct Cone {
    /// The node.
    pub node: NodeId,
    /// Its operator.
    pub op: Op,
    /// Its operands, in the order in which its gate takes them.
    pub operands: Vec<Operand>,
    /// Leaf occurrences.
    pub spots: usize,
}

impl Cone {
    /// Unfolds a node; `None` for a leaf, and where it has more than [`MOST_SPOTS`] spots.
    pub fn unfold(
        dag: &Dag,
        node: NodeId,
        leaf: &impl Fn(NodeId) -> LeafFeature,
        gate: &impl Fn(NodeId) -> Option<Arc<Gate>>,
    ) -> Option<Self> {
        let Node::Gate(op, _) = dag.node(node) else { return None };
        let mut spots = 0;
        let operands = unfold(dag, node, leaf, gate, &mut spots)?;
        Some(Self { node, op, operands, spots })
    }

    /// A node told from z alone, as if it were a concept.
    #[must_use]
    pub fn single(node: NodeId, feature: LeafFeature) -> Self {
        let kind = Kind::Leaf { node, spot: 0, feature };
        // The conjunction of one operand is that operand.
        Self { node, op: Op::And, operands: vec![Operand { negated: false, kind }], spots: 1 }
    }

    /// Its leaves side by side under one gate, none negated: what a monolith sees of a rule.
    #[must_use]
    pub fn flattened(&self) -> Self {
        fn collect(operands: &[Operand], leaves: &mut Vec<Operand>) {
            for operand in operands {
                match &operand.kind {
                    Kind::Leaf { .. } => leaves.push(Operand { negated: false, kind: operand.kind.clone() }),
                    Kind::Gate { operands, .. } => collect(operands, leaves),
                }
            }
        }
        let mut operands = Vec::with_capacity(self.spots);
        collect(&self.operands, &mut operands);
        Self { node: self.node, op: self.op, operands, spots: self.spots }
    }

    /// What its leaves give, in the order of spots.
    #[must_use]
    pub fn leaf_features(&self) -> Vec<LeafFeature> {
        let features = self.flattened().operands.into_iter().filter_map(|operand| match operand.kind {
            Kind::Leaf { feature, .. } => Some(feature),
            Kind::Gate { .. } => None,
        });
        features.collect()
    }

    /// Fills the inputs of the node's gate for a batch.
    ///
    /// # Shapes
    /// `rows`: for each spot the samples of the batch; `inputs`: a row for each sample of the batch.
    ///
    /// # Panics
    /// Where a gate of the cone has no weights or another size of features: a mistake of the caller.
    pub fn fill(
        &self,
        features: &impl Features,
        width: usize,
        rows: &[Vec<u32>],
        batch: usize,
        rooms: &mut Rooms,
        inputs: &mut Vec<f32>,
    ) {
        fill(&self.operands, features, width, rows, batch, rooms, 0, inputs);
    }
}

fn unfold(
    dag: &Dag,
    node: NodeId,
    leaf: &impl Fn(NodeId) -> LeafFeature,
    gate: &impl Fn(NodeId) -> Option<Arc<Gate>>,
    spots: &mut usize,
) -> Option<Vec<Operand>> {
    let mut operands = Vec::new();
    for edge in dag.operands(node) {
        let child = edge.node();
        let first = *spots;
        let kind = match dag.node(child) {
            Node::Leaf(_) => {
                *spots += 1;
                Kind::Leaf { node: child, spot: first, feature: leaf(child) }
            }
            Node::Gate(op, _) => {
                let operands = unfold(dag, child, leaf, gate, spots)?;
                Kind::Gate { node: child, gate: gate(child), op, operands, spots: first..*spots }
            }
        };
        if *spots > MOST_SPOTS {
            return None;
        }
        operands.push(Operand { negated: edge.is_negated(), kind });
    }
    Some(operands)
}

/// Room for the gates of a cone, a level each.
#[derive(Debug, Default)]
pub struct Rooms(Vec<(Room, Vec<f32>)>);

#[expect(clippy::too_many_arguments, reason = "the recursion hands everything on")]
fn fill(
    operands: &[Operand],
    features: &impl Features,
    width: usize,
    rows: &[Vec<u32>],
    batch: usize,
    rooms: &mut Rooms,
    depth: usize,
    inputs: &mut Vec<f32>,
) {
    let packing = crate::pack::Packing { features: width, arity: operands.len() };
    let stride = packing.width();
    inputs.resize(batch * stride, 0.0);
    let mut changed = vec![0.0; width];
    for (number, operand) in operands.iter().enumerate() {
        match &operand.kind {
            Kind::Leaf { spot, feature, .. } => {
                for (input, &row) in inputs.chunks_exact_mut(stride).zip(&rows[*spot]) {
                    let z = features.of(row as usize);
                    match feature {
                        LeafFeature::Shared => packing.place(input, number, z, operand.negated),
                        LeafFeature::Affine { .. } => {
                            feature.write(z, &mut changed);
                            packing.place(input, number, &changed, operand.negated);
                        }
                    }
                }
            }
            Kind::Gate { gate, operands, .. } => {
                assert!(gate.is_some(), "a gate below is taught before those above it");
                let Some(gate) = gate else { continue };
                if rooms.0.len() <= depth {
                    rooms.0.push(Default::default());
                }
                let (mut room, mut below) = std::mem::take(&mut rooms.0[depth]);
                fill(operands, features, width, rows, batch, rooms, depth + 1, &mut below);
                room.forward(gate, &below, batch);
                for (row, input) in inputs.chunks_exact_mut(stride).enumerate() {
                    packing.place(input, number, room.feature(gate, row), operand.negated);
                }
                rooms.0[depth] = (room, below);
            }
        }
    }
}
