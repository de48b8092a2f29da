//! The vectors of a sample's frames to one vector. The mean cannot tell what came first; the other pooling can.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use serde::{Deserialize, Serialize};

use super::init::Initial;
use super::layer::Linear;

/// Numbers in which what was seen so far is kept.
const MEMORY: usize = 64;

/// How the frames of a video become one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The mean over time, as in the paper.
    Mean,
    /// The mean, and beside it what happened after what.
    Order,
}

impl Pooling {
    /// The name that configurations and fingerprints use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Order => "order",
        }
    }
}

/// Pools over time. Only order has parameters.
#[derive(Module, Debug)]
pub(super) struct Pool {
    order: Option<Order>,
}

/// Sees each frame together with the largest that each of its events has been in the frames before: "B now, A earlier"
/// is one number of one frame, whatever lies between. The largest over time is added to the mean.
#[derive(Module, Debug)]
struct Order {
    event: Linear,
    sequel: Linear,
    output: Linear,
}

impl Pool {
    /// A pooling of vectors of `width` numbers.
    pub(super) fn new(pooling: Pooling, initial: &mut Initial, width: usize) -> Self {
        let order = match pooling {
            Pooling::Mean => None,
            Pooling::Order => Some(Order {
                event: Linear::new(initial, width, MEMORY),
                sequel: Linear::new(initial, 2 * MEMORY, MEMORY),
                output: Linear::new(initial, MEMORY, width),
            }),
        };
        Self { order }
    }

    /// # Shapes
    /// - `frames`: `[N * T, D]`, frames of a sample after one another
    /// - output: `[N, D]`
    pub(super) fn forward(&self, frames: Tensor<2>, count: usize) -> Tensor<2> {
        let [rows, width] = frames.dims();
        let mean = match count {
            1 => frames.clone(),
            _ => frames.clone().reshape([rows / count, count, width]).mean_dim(1).reshape([rows / count, width]),
        };
        match &self.order {
            // The encoders' vectors are not negative, and so is what comes out.
            Some(order) => relu(mean + order.forward(frames, count)),
            None => mean,
        }
    }
}

impl Order {
    fn forward(&self, frames: Tensor<2>, count: usize) -> Tensor<2> {
        let samples = frames.dims()[0] / count;
        let now = relu(self.event.forward(frames)).reshape([samples, count, MEMORY]);
        // Events are not negative, so nothing has happened where they are 0.
        let mut earlier = vec![Tensor::<3>::zeros([samples, 1, MEMORY], &now.device())];
        for frame in 0..count - 1 {
            let seen = now.clone().narrow(1, frame, 1).max_pair(earlier[frame].clone());
            earlier.push(seen);
        }
        let both = Tensor::cat(vec![now, Tensor::cat(earlier, 1)], 2).reshape([samples * count, 2 * MEMORY]);
        let sequel = relu(self.sequel.forward(both)).reshape([samples, count, MEMORY]);
        self.output.forward(sequel.max_dim(1).reshape([samples, MEMORY]))
    }
}

#[cfg(test)]
mod tests;
