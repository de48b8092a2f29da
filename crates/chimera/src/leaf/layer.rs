//! The layers that networks here are made of. Names, shapes and arithmetic of parameters are torch's, so that its
//! weight files fit and running statistics move as they do there.

use burn::module::{Flag, Module, Param, RunningState};
use burn::tensor::module::{self, batch_norm_train, linear};
use burn::tensor::ops::ConvOptions;
use burn::tensor::{Device, Tensor};

use super::conv::{self, Order};
use super::init::Initial;

/// How fast running statistics follow the batches.
const MOMENTUM: f64 = 0.1;

/// What keeps the division by a small variance in bounds.
const EPSILON: f64 = 1e-5;

/// A convolution without bias over squares of pixels.
#[derive(Module, Debug)]
pub(super) struct Convolution {
    weight: Param<Tensor<4>>,
    stride: usize,
    padding: usize,
    groups: usize,
}

impl Convolution {
    /// A convolution that keeps the size of its input but for the stride, with He's initial weights (by fan-out).
    pub(super) fn new(initial: &mut Initial, inputs: usize, outputs: usize, kernel: usize, stride: usize) -> Self {
        Self::grouped(initial, [inputs, outputs], kernel, stride, 1)
    }

    /// One in which a channel sees only itself.
    pub(super) fn depthwise(initial: &mut Initial, channels: usize, kernel: usize, stride: usize) -> Self {
        Self::grouped(initial, [channels, channels], kernel, stride, channels)
    }

    fn grouped(
        initial: &mut Initial,
        [inputs, outputs]: [usize; 2],
        kernel: usize,
        stride: usize,
        groups: usize,
    ) -> Self {
        let fan_out = (outputs * kernel * kernel) as f32;
        let weight = initial.normal([outputs, inputs / groups, kernel, kernel], (2.0 / fan_out).sqrt());
        Self { weight, stride, padding: kernel / 2, groups }
    }

    /// # Shapes
    /// - `input`: `[N, inputs, H, W]`
    /// - `weight`: `[outputs, inputs / groups, kernel, kernel]`
    /// - output: `[N, outputs, H / stride, W / stride]`, rounded up
    fn apply(&self, input: Tensor<4>, weight: Tensor<4>, bias: Option<Tensor<1>>) -> Tensor<4> {
        if self.groups > 1 {
            let options = ConvOptions::new([self.stride; 2], [self.padding; 2], [1, 1], self.groups);
            return module::conv2d(input, weight, bias, options);
        }
        let how = conv::Convolution {
            stride: self.stride,
            padding: self.padding,
            relu: false,
            pool: false,
            input_order: Order::ChannelsFirst,
            output_order: Order::ChannelsFirst,
        };
        conv::conv2d(input, weight, bias, how)
    }
}

/// Batch normalisation over the channels of pictures.
#[derive(Module, Debug)]
pub(super) struct BatchNorm {
    weight: Param<Tensor<1>>,
    bias: Param<Tensor<1>>,
    running_mean: RunningState<Tensor<1>>,
    running_var: RunningState<Tensor<1>>,
    /// Off while frozen: running statistics are used and stay as they are.
    training: Param<Flag>,
}

impl BatchNorm {
    pub(super) fn new(initial: &mut Initial, channels: usize) -> Self {
        Self {
            weight: initial.constant([channels], 1.0),
            bias: initial.constant([channels], 0.0),
            running_mean: RunningState::new(initial.constant([channels], 0.0).into_value().detach()),
            running_var: RunningState::new(initial.constant([channels], 1.0).into_value().detach()),
            training: Param::from_bool(true),
        }
    }

    /// Normalises by the statistics of the batch and lets the running ones follow.
    fn learn(&self, input: Tensor<4>) -> Tensor<4> {
        let [pictures, _, height, width] = input.dims();
        let count = (pictures * height * width) as f64;
        let result = batch_norm_train(input, self.weight.val(), self.bias.val(), EPSILON);
        // The batch is normalised by the biased variance, the running one follows the unbiased.
        let variance = result.variance.mul_scalar(count / (count - 1.0).max(1.0));
        follow(&self.running_mean, result.mean);
        follow(&self.running_var, variance);
        result.output
    }

    /// The factor and the summand a channel that running statistics come down to.
    fn affine(&self, device: &Device) -> [Tensor<1>; 2] {
        let mean = self.running_mean.value_sync().to_device(device);
        let variance = self.running_var.value_sync().to_device(device);
        let factor = self.weight.val() / (variance + EPSILON).sqrt();
        let summand = self.bias.val() - mean * factor.clone();
        [factor, summand]
    }
}

fn follow(running: &RunningState<Tensor<1>>, batch: Tensor<1>) {
    let old = running.value_sync().to_device(&batch.device());
    running.update((old * (1.0 - MOMENTUM) + batch * MOMENTUM).detach());
}

/// A convolution and the normalisation of what it gives. On a device that records gradients the batch's own statistics
/// are used, unless the layer is frozen; else the normalisation is folded into the weights, which saves two passes.
///
/// # Shapes
/// As [`Convolution`].
pub(super) fn normalised(convolution: &Convolution, norm: &BatchNorm, input: Tensor<4>) -> Tensor<4> {
    let device = input.device();
    let weight = convolution.weight.val();
    if device.is_autodiff() && norm.training.is_enabled() {
        return norm.learn(convolution.apply(input, weight, None));
    }
    let [factor, summand] = norm.affine(&device);
    let channels = factor.dims()[0];
    convolution.apply(input, weight * factor.reshape([channels, 1, 1, 1]), Some(summand))
}

/// The mean of every channel.
///
/// # Shapes
/// - `input`: `[N, C, H, W]`
/// - output: `[N, C]`
pub(super) fn channel_means(input: Tensor<4>) -> Tensor<2> {
    let [pictures, channels, height, width] = input.dims();
    input.reshape([pictures, channels, height * width]).mean_dim(2).reshape([pictures, channels])
}

/// A linear map with weights as torch stores them.
#[derive(Module, Debug)]
pub(super) struct Linear {
    /// `[outputs, inputs]`
    weight: Param<Tensor<2>>,
    bias: Param<Tensor<1>>,
}

impl Linear {
    /// Torch's default: even numbers within one over the root of `inputs`.
    pub(super) fn new(initial: &mut Initial, inputs: usize, outputs: usize) -> Self {
        let bound = 1.0 / (inputs as f32).sqrt();
        Self { weight: initial.uniform([outputs, inputs], bound), bias: initial.uniform([outputs], bound) }
    }

    /// # Shapes
    /// - `input`: `[N, inputs]`
    /// - output: `[N, outputs]`
    pub(super) fn forward(&self, input: Tensor<2>) -> Tensor<2> {
        linear(input, self.weight.val().transpose(), Some(self.bias.val()))
    }

    /// Where the parameters lie, and whether it records gradients.
    pub(super) fn device(&self) -> Device {
        self.weight.val().device()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::TensorData;

    fn close(found: Tensor<1>, expected: &[f32]) {
        let found: Vec<f32> = found.into_data().iter::<f32>().collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{found} is not {expected}");
        }
    }

    #[test]
    fn running_statistics_follow_as_in_torch() {
        let device = Device::default().autodiff();
        let norm = BatchNorm::new(&mut Initial::new(Some(0), "test", &device), 2);
        let values: Vec<f32> = (0..16).map(|value| (value as f32).powf(1.5)).collect();
        let input = Tensor::<4>::from_data(TensorData::new(values, [2, 2, 2, 2]), &device);
        norm.learn(input.clone());
        let output = norm.learn(input.clone() * 2.0);
        // torch 2.15: norm = BatchNorm2d(2); x = torch.arange(16.).reshape(2, 2, 2, 2) ** 1.5; norm(x); norm(2 * x)
        close(norm.running_mean.value_sync(), &[4.594_965, 9.110_237]);
        close(norm.running_var.value_sync(), &[112.779_366, 203.598_48]);
        close(output.reshape([16]).narrow(0, 0, 3), &[-1.120_543_1, -1.049_822_8, -0.920_515_8]);
        // norm.eval()(x)
        let [factor, summand] = norm.affine(&device);
        let output = input * factor.reshape([1, 2, 1, 1]) + summand.reshape([1, 2, 1, 1]);
        close(output.reshape([16]).narrow(0, 0, 3), &[-0.432_680_55, -0.338_516_47, -0.166_344_37]);
    }

    #[test]
    fn a_validation_copy_keeps_its_statistics() {
        let device = Device::default().autodiff();
        let norm = BatchNorm::new(&mut Initial::new(Some(0), "test", &device), 1);
        let input = Tensor::<4>::ones([1, 1, 2, 2], &device) * 10.0;
        norm.learn(input.clone());
        let copy = norm.valid();
        norm.learn(input);
        // 0.1 * 10, then 0.9 * 1 + 0.1 * 10.
        close(copy.running_mean.value(), &[1.0]);
        close(norm.running_mean.value_sync(), &[1.9]);
    }
}
