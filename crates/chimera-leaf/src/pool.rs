//! The vectors of a sample's frames to one vector. The mean cannot tell what came first; the other pooling can.

use burn::module::Module;
use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use serde::{Deserialize, Serialize};

use super::activation::Activation;
#[cfg(feature = "cuda")]
use super::cuda::{self, OverTime};
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
    /// The mean, of detectors the most that they saw in any frame, and beside it what happened after what.
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
    /// So many numbers at the end of a frame's are of detectors: what one saw in a single frame is not averaged away.
    detectors: usize,
    event: Linear,
    sequel: Linear,
    output: Linear,
}

impl Pool {
    /// A pooling of vectors of `width` numbers, the last of which are those of `detectors`.
    pub(super) fn new(pooling: Pooling, initial: &mut Initial, width: usize, detectors: usize) -> Self {
        let order = match pooling {
            Pooling::Mean => None,
            Pooling::Order => Some(Order {
                detectors,
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
        #[cfg(feature = "cuda")]
        if cuda::runs_here(&frames) {
            return match &self.order {
                Some(order) => order.forward_on_gpu(frames, count),
                None if count == 1 => frames,
                None => cuda::over_time(frames, None, OverTime { count, averaged: width, ..OverTime::default() }),
            };
        }
        let samples = frames.clone().reshape([rows / count, count, width]);
        match &self.order {
            // The encoders' vectors are not negative, and so is what comes out.
            Some(order) => relu(order.overall(samples) + order.forward(frames, count)),
            None if count == 1 => frames,
            None => samples.mean_dim(1).reshape([rows / count, width]),
        }
    }
}

impl Order {
    /// The mean over time, and of detectors the largest.
    ///
    /// # Shapes
    /// - `samples`: `[N, T, D]`
    /// - output: `[N, D]`
    fn overall(&self, samples: Tensor<3>) -> Tensor<2> {
        let [count, _, width] = samples.dims();
        let averaged = width - self.detectors;
        let mean = samples.clone().narrow(2, 0, averaged).mean_dim(1);
        if self.detectors == 0 {
            return mean.reshape([count, width]);
        }
        let most = samples.narrow(2, averaged, self.detectors).max_dim(1);
        Tensor::cat(vec![mean, most], 2).reshape([count, width])
    }

    /// # Shapes
    /// - `frames`: `[N * T, D]`
    /// - output: `[N, D]`
    fn forward(&self, frames: Tensor<2>, count: usize) -> Tensor<2> {
        let samples = frames.dims()[0] / count;
        let now = self.event.activated(frames, Activation::Relu).reshape([samples, count, MEMORY]);
        // Events are not negative, so nothing has happened where they are 0.
        let mut earlier = vec![Tensor::<3>::zeros([samples, 1, MEMORY], &now.device())];
        for frame in 0..count - 1 {
            let seen = now.clone().narrow(1, frame, 1).max_pair(earlier[frame].clone());
            earlier.push(seen);
        }
        let both = Tensor::cat(vec![now, Tensor::cat(earlier, 1)], 2).reshape([samples * count, 2 * MEMORY]);
        let sequel = self.sequel.activated(both, Activation::Relu).reshape([samples, count, MEMORY]);
        self.output.forward(sequel.max_dim(1).reshape([samples, MEMORY]))
    }

    /// All of it on a GPU.
    #[cfg(feature = "cuda")]
    fn forward_on_gpu(&self, frames: Tensor<2>, count: usize) -> Tensor<2> {
        let averaged = frames.dims()[1] - self.detectors;
        let now = self.event.activated(frames.clone(), Activation::Relu);
        let sequel = self.sequel.activated(cuda::with_earlier(now, count), Activation::Relu);
        let most = cuda::over_time(sequel, None, OverTime { count, ..OverTime::default() });
        let along = self.output.forward(most);
        cuda::over_time(frames, Some(along), OverTime { count, averaged, cuts: true, ..OverTime::default() })
    }
}

#[cfg(test)]
mod tests;
