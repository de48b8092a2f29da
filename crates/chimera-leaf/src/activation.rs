//! What follows a layer.

use burn::tensor::{Tensor, activation};

/// What follows a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activation {
    None,
    Relu,
    /// ReLU up to 6.
    Relu6,
}

impl Activation {
    pub(crate) fn apply<const D: usize>(self, numbers: Tensor<D>) -> Tensor<D> {
        match self {
            Self::None => numbers,
            Self::Relu => activation::relu(numbers),
            Self::Relu6 => activation::relu6(numbers),
        }
    }
}

#[cfg(feature = "cuda")]
impl Activation {
    /// What kernels call it.
    pub(crate) fn number(self) -> usize {
        match self {
            Self::None => 0,
            Self::Relu => 1,
            Self::Relu6 => 2,
        }
    }

    /// Whether numbers change that pass through it.
    pub(crate) fn cuts(self) -> bool {
        self != Self::None
    }
}
