//! Where the operands of a gate lie in its input. Training, inference, folding and export all ask here: a gate that is
//! used with another order than it learned with is silently wrong.

use std::ops::Range;

/// The layout `[h_1 || b_1 || h_2 || b_2 || ...]`: each operand's feature, then one number that says whether its edge
/// negates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Numbers of a feature (F).
    pub features: usize,
    /// Operands.
    pub arity: usize,
}

impl Packing {
    /// Numbers of an input.
    #[must_use]
    pub fn width(self) -> usize {
        self.arity * (self.features + 1)
    }

    /// Where an operand's feature lies.
    #[must_use]
    pub fn feature(self, operand: usize) -> Range<usize> {
        let start = operand * (self.features + 1);
        start..start + self.features
    }

    /// Where the number lies that says whether an operand's edge negates.
    #[must_use]
    pub fn negation(self, operand: usize) -> usize {
        self.feature(operand).end
    }

    /// What that number is.
    #[must_use]
    pub fn mark(negated: bool) -> f32 {
        f32::from(u8::from(negated))
    }

    /// Puts one operand into an input.
    ///
    /// # Panics
    /// Where the feature has another length.
    pub fn place(self, input: &mut [f32], operand: usize, feature: &[f32], negated: bool) {
        input[self.feature(operand)].copy_from_slice(feature);
        input[self.negation(operand)] = Self::mark(negated);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_feature_is_followed_by_its_mark() {
        let packing = Packing { features: 2, arity: 2 };
        let mut input = vec![f32::NAN; packing.width()];
        packing.place(&mut input, 1, &[3.0, 4.0], true);
        packing.place(&mut input, 0, &[1.0, 2.0], false);
        assert_eq!(input, [1.0, 2.0, 0.0, 3.0, 4.0, 1.0]);
    }
}
