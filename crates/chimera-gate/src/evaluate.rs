//! All gates of a rule set over samples, each gate once a sample.
//!
//! Operands that are the same vector need not be multiplied apart: the first layer of a gate over leaves of one z is folded
//! into one product with z, which halves its cost. A node's feature is kept until its last reader is done. The results of a
//! sample do not depend on the samples beside it.

use std::ops::Range;
use std::sync::Arc;

use crate::cone::{Features, LeafFeature};
use crate::gate::{Gate, Layer};
use crate::pack::Packing;
use crate::product::{LANES, Lines, Panels, apply, dot, padded, widest};

/// Samples that go through all gates at a time: few enough for the cache, enough to make use of weights that were read.
const BLOCK: usize = 132;

/// Where a gate's operand comes from.
#[derive(Clone, Debug)]
pub enum Source {
    /// A concept.
    Leaf(LeafFeature),
    /// An earlier node of the list.
    Node(usize),
}

/// A gate in its place.
#[derive(Clone, Debug)]
pub struct PlacedGate {
    /// The gate.
    pub gate: Arc<Gate>,
    /// Its operands, and whether their edges negate.
    pub operands: Vec<(Source, bool)>,
}

/// Gates made ready to run.
#[derive(Clone, Debug)]
pub struct Evaluator {
    features: usize,
    /// What is taken from z before anything else; it is the same for all leaves.
    center: Option<Arc<[f32]>>,
    folded: Vec<Folded>,
    /// The numbers of all gates in the order in which they are read: one sample is as fast as they come from memory, and they
    /// come fastest in one stream. Of each gate: bias and panels of the first layer, then of the second, then the head.
    weights: Lines,
    /// Places for features of nodes that others read.
    slots: usize,
}

#[derive(Clone, Debug)]
struct Folded {
    /// Where its numbers begin.
    start: usize,
    hidden: usize,
    /// What is added to the logit.
    offset: f32,
    /// What goes into the first layer: z or slots, one after the other.
    inputs: Vec<Input>,
    /// Where its feature goes; `None` where nobody reads it.
    slot: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Z,
    Node(usize),
}

impl Evaluator {
    /// Makes gates ready, each after the gates that it reads. `None` where sizes do not fit, a gate reads a later one, or
    /// leaves do not agree on what is taken from z.
    #[must_use]
    pub fn new(features: usize, gates: &[PlacedGate]) -> Option<Self> {
        let center = center_of(features, gates)?;
        let mut last_reader = vec![None; gates.len()];
        for (reader, placed) in gates.iter().enumerate() {
            for (source, _) in &placed.operands {
                if let Source::Node(node) = source {
                    *last_reader.get_mut(*node).filter(|_| *node < reader)? = Some(reader);
                }
            }
        }
        let mut free: Vec<usize> = Vec::new();
        let (mut slots, mut slot_of) = (0, vec![None; gates.len()]);
        let mut folded = Vec::with_capacity(gates.len());
        let mut weights = Lines::default();
        for (number, placed) in gates.iter().enumerate() {
            let slot = last_reader[number].map(|_| {
                free.pop().unwrap_or_else(|| {
                    slots += 1;
                    slots - 1
                })
            });
            slot_of[number] = slot;
            let (mut inputs, first) = fold(features, placed)?;
            let mut done: Vec<usize> = Vec::new();
            for input in &mut inputs {
                if let Input::Node(node) = *input {
                    let place = slot_of[node]?;
                    if last_reader[node] == Some(number) {
                        done.push(place);
                    }
                    *input = Input::Node(place);
                }
            }
            let Gate { second, head, offset, .. } = placed.gate.as_ref();
            let hidden = first.weights.outputs();
            folded.push(Folded { start: weights.len(), hidden, offset: *offset, inputs, slot });
            for numbers in [&first.bias, first.weights.values(), &second.bias, second.weights.values(), head] {
                weights.extend(numbers);
            }
            free.extend(done);
        }
        Some(Self { features, center, folded, weights, slots })
    }

    /// Number of gates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.folded.len()
    }

    /// Whether there is no gate.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folded.is_empty()
    }

    /// Multiplications and additions for one sample.
    #[must_use]
    pub fn operations(&self) -> usize {
        let weights = |gate: &Folded| (gate.inputs.len() + 1) * self.features * gate.hidden + self.features;
        self.folded.iter().map(|gate| 2 * weights(gate)).sum()
    }

    /// The logits of all gates for some samples.
    ///
    /// # Shapes
    /// `out`: a row for each sample, a number for each gate.
    ///
    /// # Panics
    /// Where `out` or a feature has another length.
    pub fn run(&self, features: &impl Features, rows: Range<usize>, out: &mut [f32]) {
        let Range { start, end } = rows;
        assert_eq!(out.len(), (end - start) * self.len(), "a number for each sample and gate");
        // No more room than there are samples: for one of them, making it ready would else be most of the work.
        let room = (end - start).min(BLOCK);
        let outputs = padded(self.features);
        let stride = outputs + LANES;
        let widest_hidden = self.folded.iter().map(|gate| padded(gate.hidden)).max().unwrap_or(0);
        let mut z = vec![0.0; room * stride];
        let mut slots = vec![vec![0.0; room * stride]; self.slots];
        let mut hidden = vec![0.0; room * (widest_hidden + LANES)];
        let (mut joined, mut feature) = (Vec::new(), vec![0.0; room * stride]);
        for (block, out) in out.chunks_mut((BLOCK * self.len()).max(1)).enumerate() {
            let first = start + block * BLOCK;
            let count = (end - first).min(BLOCK);
            for (row, z) in z.chunks_exact_mut(stride).take(count).enumerate() {
                z[..self.features].copy_from_slice(features.of(first + row));
                // Taken away here, not folded into a bias: where numbers are far from zero and close together, the products
                // with them would lose what matters.
                if let Some(center) = &self.center {
                    z.iter_mut().zip(center.iter()).for_each(|(z, center)| *z -= center);
                }
            }
            for (number, gate) in self.folded.iter().enumerate() {
                let width = gate.inputs.len() * self.features;
                let input = match gate.inputs[..] {
                    [Input::Z] => (z.as_slice(), stride),
                    [Input::Node(slot)] => (slots[slot].as_slice(), stride),
                    _ => (self.join(gate, &z, &slots, count, stride, &mut joined), width),
                };
                let wide = padded(gate.hidden);
                let (bias, weights) = self.weights[gate.start..].split_at(wide);
                apply((width, wide), weights, input, count, bias, (&mut hidden, wide + LANES));
                let (bias, weights) = weights[width * wide..].split_at(outputs);
                let result = gate.slot.map_or(&mut feature, |slot| &mut slots[slot]);
                apply((gate.hidden, outputs), weights, (&hidden, wide + LANES), count, bias, (result, stride));
                let head = &weights[gate.hidden * outputs..][..outputs];
                widest(
                    #[inline(always)]
                    || {
                        for (row, feature) in result.chunks_exact(stride).take(count).enumerate() {
                            out[row * self.len() + number] = gate.offset + dot(&feature[..outputs], head);
                        }
                    },
                );
            }
        }
    }

    /// The inputs of a gate one after the other.
    fn join<'a>(
        &self,
        folded: &Folded,
        z: &[f32],
        slots: &[Vec<f32>],
        count: usize,
        stride: usize,
        joined: &'a mut Vec<f32>,
    ) -> &'a [f32] {
        let width = folded.inputs.len() * self.features;
        joined.resize(joined.len().max(count * width), 0.0);
        for (row, to) in joined.chunks_exact_mut(width).take(count).enumerate() {
            for (input, to) in folded.inputs.iter().zip(to.chunks_exact_mut(self.features)) {
                let from = match *input {
                    Input::Z => z,
                    Input::Node(slot) => &slots[slot],
                };
                to.copy_from_slice(&from[row * stride..][..self.features]);
            }
        }
        joined
    }
}

/// What all leaves take from z; `None` where they do not agree.
fn center_of(features: usize, gates: &[PlacedGate]) -> Option<Option<Arc<[f32]>>> {
    let mut centers = gates.iter().flat_map(|placed| &placed.operands).filter_map(|(source, _)| match source {
        Source::Leaf(LeafFeature::Affine { shift, .. }) => Some(Some(shift)),
        Source::Leaf(LeafFeature::Shared) => Some(None),
        Source::Node(_) => None,
    });
    let first = centers.next().flatten();
    let fits = first.is_none_or(|center| center.len() == features) && centers.all(|other| other == first);
    fits.then(|| first.cloned())
}

/// Adds up the columns of a first layer that see the same vector, and puts the marks of negation into its bias.
fn fold(features: usize, placed: &PlacedGate) -> Option<(Vec<Input>, Layer)> {
    let shape = placed.gate.shape();
    if shape.features != features || shape.arity != placed.operands.len() {
        return None;
    }
    let packing: Packing = shape.packing();
    let mut inputs: Vec<Input> = Vec::new();
    let mut blocks: Vec<usize> = Vec::new();
    for (source, _) in &placed.operands {
        let input = match source {
            Source::Leaf(_) => Input::Z,
            Source::Node(node) => Input::Node(*node),
        };
        let block = inputs.iter().position(|known| *known == input).unwrap_or_else(|| {
            inputs.push(input);
            inputs.len() - 1
        });
        blocks.push(block);
    }
    let old = &placed.gate.first;
    let mut weights = vec![0.0_f32; inputs.len() * features * shape.hidden];
    let mut bias = old.bias.clone();
    let width = inputs.len() * features;
    let rows = old.weights.to_rows();
    let ones = vec![1.0; features];
    for (operand, ((source, negated), block)) in placed.operands.iter().zip(&blocks).enumerate() {
        let scale: &[f32] = match source {
            Source::Leaf(LeafFeature::Affine { scale, .. }) => scale,
            _ => &ones,
        };
        if scale.len() != features {
            return None;
        }
        for output in 0..shape.hidden {
            bias[output] += old.weights.get(output, packing.negation(operand)) * Packing::mark(*negated);
            let to = &mut weights[output * width + block * features..][..features];
            let from = &rows[output * packing.width()..][packing.feature(operand)];
            to.iter_mut().zip(from).zip(scale).for_each(|((to, from), scale)| *to += from * scale);
        }
    }
    let weights = Panels::from_rows(width, shape.hidden, &weights)?;
    Some((inputs, Layer { weights, bias }))
}
