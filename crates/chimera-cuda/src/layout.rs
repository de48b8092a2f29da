//! Where the numbers of gates lie on a device: sizes are multiples of a tile, and the marks of negated edges lie apart.
//!
//! A mark is the same for all samples, so what it adds is added to the bias: inputs are features alone, side by side.

use chimera_gate::gate::{Gate, Shape};
use chimera_gate::pack::Packing;

/// What sizes are multiples of.
const UNIT: usize = 64;

/// A size with room for whole tiles.
pub(crate) fn padded(size: usize) -> usize {
    size.next_multiple_of(UNIT)
}

/// The sizes of a gate on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) shape: Shape,
    /// Numbers of a feature, padded.
    pub(crate) features: usize,
    /// Numbers between the layers, padded.
    pub(crate) hidden: usize,
}

/// Places of a gate's parameters, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// `[hidden][arity * features]`
    pub(crate) first: usize,
    pub(crate) first_bias: usize,
    /// `[arity][hidden]`
    pub(crate) marks: usize,
    /// `[features][hidden]`
    pub(crate) second: usize,
    pub(crate) second_bias: usize,
    pub(crate) head: usize,
    pub(crate) offset: usize,
    /// First bias and what marks add.
    pub(crate) added: usize,
    pub(crate) end: usize,
}

impl Sizes {
    pub(crate) fn of(shape: Shape) -> Self {
        Self { shape, features: padded(shape.features), hidden: padded(shape.hidden) }
    }

    /// Numbers of an input.
    pub(crate) fn width(self) -> usize {
        self.shape.arity * self.features
    }

    /// Places from `start` on.
    pub(crate) fn places(self, start: usize) -> Places {
        let first = start;
        let first_bias = first + self.hidden * self.width();
        let marks = first_bias + self.hidden;
        let second = marks + self.shape.arity * self.hidden;
        let second_bias = second + self.features * self.hidden;
        let head = second_bias + self.features;
        let offset = head + self.features;
        let added = offset + UNIT;
        Places { first, first_bias, marks, second, second_bias, head, offset, added, end: added + self.hidden }
    }

    /// Writes a gate's tensors to their places; `negated` says which edges of its operands negate.
    pub(crate) fn write(self, tensors: &[Vec<f32>; 6], negated: &[bool], places: Places, out: &mut [f32]) {
        let [first, first_bias, second, second_bias, head, offset] = tensors;
        let Shape { arity, features, hidden } = self.shape;
        let packing = Packing { features, arity };
        for row in 0..hidden {
            let weights = &first[row * packing.width()..][..packing.width()];
            let mut added = first_bias[row];
            for operand in 0..arity {
                let place = places.first + row * self.width() + operand * self.features;
                out[place..][..features].copy_from_slice(&weights[packing.feature(operand)]);
                let mark = weights[packing.negation(operand)];
                out[places.marks + operand * self.hidden + row] = mark;
                added += Packing::mark(negated[operand]) * mark;
            }
            out[places.first_bias + row] = first_bias[row];
            out[places.added + row] = added;
        }
        for row in 0..features {
            out[places.second + row * self.hidden..][..hidden].copy_from_slice(&second[row * hidden..][..hidden]);
        }
        out[places.second_bias..][..features].copy_from_slice(second_bias);
        out[places.head..][..features].copy_from_slice(head);
        out[places.offset] = offset[0];
    }

    /// The gate whose parameters lie in their places.
    pub(crate) fn read(self, places: Places, from: &[f32]) -> Option<Gate> {
        let Shape { arity, features, hidden } = self.shape;
        let packing = Packing { features, arity };
        let mut first = vec![0.0; hidden * packing.width()];
        for (row, weights) in first.chunks_exact_mut(packing.width()).enumerate() {
            for operand in 0..arity {
                let place = places.first + row * self.width() + operand * self.features;
                weights[packing.feature(operand)].copy_from_slice(&from[place..][..features]);
                weights[packing.negation(operand)] = from[places.marks + operand * self.hidden + row];
            }
        }
        let second: Vec<f32> =
            (0..features).flat_map(|row| from[places.second + row * self.hidden..][..hidden].iter().copied()).collect();
        let vector = |place: usize, length: usize| &from[place..][..length];
        Gate::from_tensors(
            self.shape,
            &[
                &first,
                vector(places.first_bias, hidden),
                &second,
                vector(places.second_bias, features),
                vector(places.head, features),
                vector(places.offset, 1),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn a_gate_comes_back_as_it_went() {
        let mut random = fastrand::Rng::with_seed(3);
        for (arity, features, hidden) in [(1, 3, 5), (2, 64, 64), (3, 70, 130)] {
            let shape = Shape { arity, features, hidden };
            let gate = Gate::initial(shape, &mut random);
            let sizes = Sizes::of(shape);
            let places = sizes.places(64);
            assert_eq!(places.end % UNIT, 0);
            let mut numbers = vec![0.0; places.end];
            let negated: Vec<bool> = (0..arity).map(|operand| operand % 2 == 0).collect();
            sizes.write(&gate.tensors(), &negated, places, &mut numbers);
            assert_eq!(sizes.read(places, &numbers), Some(gate.clone()));
            // What marks add is in the bias: 1 for a negated edge.
            let tensors = gate.tensors();
            let width = shape.packing().width();
            let marks = (0..arity).filter(|operand| negated[*operand]);
            let expected =
                tensors[1][0] + marks.map(|operand| tensors[0][shape.packing().negation(operand)]).sum::<f32>();
            assert!((numbers[places.added] - expected).abs() < 1e-6, "{width}");
        }
    }
}
