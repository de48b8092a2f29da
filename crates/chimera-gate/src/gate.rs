//! The weights of a gate: two linear layers with ReLU and a truth head (`a(F+1) -> H -> F`, then one logit).

use crate::pack::Packing;
use crate::product::{Panels, padded};

/// The name of this architecture in keys. Another way from operands to truth needs another name.
pub const ARCHITECTURE: &str = "linear-relu-linear-relu-head/1";

/// The sizes of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shape {
    /// Operands.
    pub arity: usize,
    /// Numbers of a feature, going in and coming out (F).
    pub features: usize,
    /// Numbers between the layers (H).
    pub hidden: usize,
}

impl Shape {
    /// Whether it is the shape of a gate that can be: no size zero, none beyond what fits into memory.
    #[must_use]
    pub fn is_sound(self) -> bool {
        let Self { arity, features, hidden } = self;
        [arity, features, hidden].iter().all(|size| (1..=1 << 20).contains(size))
            && [arity * (features + 1) * hidden, features * hidden].iter().all(|size| *size <= 1 << 32)
    }

    /// How operands lie in an input.
    #[must_use]
    pub fn packing(self) -> Packing {
        Packing { features: self.features, arity: self.arity }
    }

    /// The tensors of a gate as torch would name and shape them, in the order in which they are stored.
    #[must_use]
    pub fn tensors(self) -> [(&'static str, Vec<usize>); 6] {
        let Self { features, hidden, .. } = self;
        [
            ("first.weight", vec![hidden, self.packing().width()]),
            ("first.bias", vec![hidden]),
            ("second.weight", vec![features, hidden]),
            ("second.bias", vec![features]),
            ("head.weight", vec![1, features]),
            ("head.bias", vec![1]),
        ]
    }
}

/// A linear layer. Results below zero become zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub(crate) weights: Panels,
    /// A number an output, padded like the panels.
    pub(crate) bias: Vec<f32>,
}

impl Layer {
    fn new(weights: Panels, bias: &[f32]) -> Self {
        let mut bias = bias.to_vec();
        bias.resize(padded(weights.outputs()), 0.0);
        Self { weights, bias }
    }
}

/// A gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub(crate) shape: Shape,
    pub(crate) first: Layer,
    pub(crate) second: Layer,
    /// Padded like the outputs of the second layer.
    pub(crate) head: Vec<f32>,
    pub(crate) offset: f32,
}

impl Gate {
    /// A gate before training, with torch's distributions: even numbers within one over the root of the inputs.
    pub fn initial(shape: Shape, random: &mut fastrand::Rng) -> Self {
        let tensors = Self::initial_tensors(shape, random);
        // The sizes are those of the shape.
        Self::from_tensors(shape, &tensors.each_ref().map(Vec::as_slice)).unwrap_or_else(|| Self::zeros(shape))
    }

    /// The tensors of such a gate.
    pub(crate) fn initial_tensors(shape: Shape, random: &mut fastrand::Rng) -> [Vec<f32>; 6] {
        shape.tensors().map(|(name, sizes)| {
            let inputs = match name {
                "first.weight" | "first.bias" => shape.packing().width(),
                "second.weight" | "second.bias" => shape.hidden,
                _ => shape.features,
            };
            let bound = 1.0 / (inputs.max(1) as f32).sqrt();
            (0..sizes.iter().product()).map(|_| (2.0 * random.f32() - 1.0) * bound).collect()
        })
    }

    fn zeros(shape: Shape) -> Self {
        let Shape { features, hidden, .. } = shape;
        Self {
            shape,
            first: Layer::new(Panels::zeros(shape.packing().width(), hidden), &[]),
            second: Layer::new(Panels::zeros(hidden, features), &[]),
            head: vec![0.0; padded(features)],
            offset: 0.0,
        }
    }

    /// From tensors in the order of [`Shape::tensors`]; `None` where one has another size.
    #[must_use]
    pub fn from_tensors(shape: Shape, tensors: &[&[f32]; 6]) -> Option<Self> {
        let [first, first_bias, second, second_bias, head, &[offset]] = *tensors else { return None };
        let Shape { features, hidden, .. } = shape;
        let sizes = [(first_bias, hidden), (second_bias, features), (head, features)];
        if sizes.iter().any(|(values, size)| values.len() != *size) {
            return None;
        }
        let mut padded_head = head.to_vec();
        padded_head.resize(padded(features), 0.0);
        Some(Self {
            shape,
            first: Layer::new(Panels::from_rows(shape.packing().width(), hidden, first)?, first_bias),
            second: Layer::new(Panels::from_rows(hidden, features, second)?, second_bias),
            head: padded_head,
            offset,
        })
    }

    /// The tensors in the order of [`Shape::tensors`].
    #[must_use]
    pub fn tensors(&self) -> [Vec<f32>; 6] {
        let Shape { features, hidden, .. } = self.shape;
        [
            self.first.weights.to_rows(),
            self.first.bias[..hidden].to_vec(),
            self.second.weights.to_rows(),
            self.second.bias[..features].to_vec(),
            self.head[..features].to_vec(),
            vec![self.offset],
        ]
    }

    /// The sizes.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether every weight is a number.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        let Self { first, second, head, offset, .. } = self;
        let all = [first.weights.values(), &first.bias, second.weights.values(), &second.bias, head, &[*offset]];
        all.into_iter().flatten().all(|weight| weight.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tensors_go_out_and_come_back() {
        let shape = Shape { arity: 3, features: 5, hidden: 7 };
        let gate = Gate::initial(shape, &mut fastrand::Rng::with_seed(1));
        let tensors = gate.tensors();
        for (tensor, (name, sizes)) in tensors.iter().zip(shape.tensors()) {
            assert_eq!(tensor.len(), sizes.iter().product::<usize>(), "{name}");
            assert!(tensor.iter().any(|weight| *weight != 0.0), "{name}");
        }
        let slices = tensors.each_ref().map(Vec::as_slice);
        assert_eq!(Gate::from_tensors(shape, &slices), Some(gate));
        assert_eq!(Gate::from_tensors(Shape { arity: 2, ..shape }, &slices), None);
    }
}
