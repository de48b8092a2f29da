//! The layers that networks here are made of. Names, shapes and arithmetic of parameters are torch's, so that its
//! weight files fit and running statistics move as they do there.

use burn::module::{Flag, Module, Param, RunningState};
use burn::tensor::module::{self, batch_norm_train, linear, max_pool2d};
use burn::tensor::ops::{ConvOptions, MaxPoolOptions};
use burn::tensor::{Device, Tensor, activation};

use super::conv::{self, Order};
#[cfg(feature = "cuda")]
use super::cuda::{self, Largest, Normalising, Window};
use super::init::Initial;

/// How fast running statistics follow the batches.
const MOMENTUM: f64 = 0.1;

/// What keeps the division by a small variance in bounds.
const EPSILON: f64 = 1e-5;

/// What follows a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    None,
    Relu,
    /// ReLU up to 6.
    Relu6,
}

impl Activation {
    fn apply(self, maps: Tensor<4>) -> Tensor<4> {
        match self {
            Self::None => maps,
            Self::Relu => activation::relu(maps),
            Self::Relu6 => activation::relu6(maps),
        }
    }
}

#[cfg(feature = "cuda")]
impl Activation {
    /// What kernels call it.
    pub(super) fn number(self) -> usize {
        match self {
            Self::None => 0,
            Self::Relu => 1,
            Self::Relu6 => 2,
        }
    }

    /// Whether numbers change that pass through it.
    pub(super) fn cuts(self) -> bool {
        self != Self::None
    }
}

/// Pictures in the order of axes that layers are fastest with on their device: channels last on a GPU.
///
/// # Shapes
/// - `pictures`: `[N, C, H, W]`
/// - output: the same, or `[N, H, W, C]`
pub(super) fn entered(pictures: Tensor<4>) -> (Tensor<4>, Order) {
    #[cfg(feature = "cuda")]
    if cuda::runs_here(&pictures) {
        return (pictures.permute([0, 2, 3, 1]), Order::ChannelsLast);
    }
    (pictures, Order::ChannelsFirst)
}

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

    /// The same over maps with channels last on a GPU, with what follows.
    #[cfg(feature = "cuda")]
    fn apply_on_gpu(
        &self,
        input: Tensor<4>,
        weight: Tensor<4>,
        bias: Option<Tensor<1>>,
        around: Option<Tensor<4>>,
        activation: Activation,
    ) -> Tensor<4> {
        let how = Window {
            stride: self.stride,
            padding: self.padding,
            activation,
            pool: false,
            input_order: Order::ChannelsLast,
            output_order: Order::ChannelsLast,
            has_bias: false,
            has_around: false,
        };
        match (self.groups, around) {
            (1, around) => cuda::convolve(input, weight, bias, around, how),
            (_, None) => cuda::convolve_channels(input, weight, bias, how),
            (_, Some(around)) => {
                let plain = Window { activation: Activation::None, ..how };
                activation.apply(cuda::convolve_channels(input, weight, bias, plain) + around)
            }
        }
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

    /// The same over maps with channels last on a GPU, with what follows.
    #[cfg(feature = "cuda")]
    fn learn_on_gpu(&self, input: Tensor<4>, around: Option<Tensor<4>>, activation: Activation) -> Tensor<4> {
        let device = input.device();
        let running = [&self.running_mean, &self.running_var].map(|running| running.value_sync().to_device(&device));
        let how = Normalising { activation, has_around: false, epsilon: EPSILON as f32, momentum: MOMENTUM as f32 };
        let (result, [mean, variance]) =
            cuda::normalise(input, self.weight.val(), self.bias.val(), around, running, how);
        self.running_mean.update(mean.detach());
        self.running_var.update(variance.detach());
        result
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

/// What is done with the results of a layer.
#[derive(Debug)]
pub(super) struct After {
    /// Added to the results.
    pub around: Option<Tensor<4>>,
    /// Applied to the sum.
    pub activation: Activation,
}

impl After {
    pub(super) fn activated(activation: Activation) -> Self {
        Self { around: None, activation }
    }

    fn apply(self, maps: Tensor<4>) -> Tensor<4> {
        let sum = match self.around {
            Some(around) => maps + around,
            None => maps,
        };
        self.activation.apply(sum)
    }
}

/// A convolution, the normalisation of what it gives, and what follows. On a device that records gradients the batch's own
/// statistics are used, unless the layer is frozen; else the normalisation is folded into the weights, which saves two
/// passes.
///
/// # Shapes
/// As [`Convolution`], or with channels last as `order` says.
pub(super) fn normalised(
    convolution: &Convolution,
    norm: &BatchNorm,
    input: Tensor<4>,
    order: Order,
    after: After,
) -> Tensor<4> {
    let device = input.device();
    let weight = convolution.weight.val();
    let learns = device.is_autodiff() && norm.training.is_enabled();
    let (weight, bias) = if learns {
        (weight, None)
    } else {
        let [factor, summand] = norm.affine(&device);
        let channels = factor.dims()[0];
        (weight * factor.reshape([channels, 1, 1, 1]), Some(summand))
    };
    match order {
        #[cfg(feature = "cuda")]
        Order::ChannelsLast if learns => {
            let maps = convolution.apply_on_gpu(input, weight, bias, None, Activation::None);
            norm.learn_on_gpu(maps, after.around, after.activation)
        }
        #[cfg(feature = "cuda")]
        Order::ChannelsLast => convolution.apply_on_gpu(input, weight, bias, after.around, after.activation),
        _ => {
            let maps = convolution.apply(input, weight, bias);
            after.apply(if learns { norm.learn(maps) } else { maps })
        }
    }
}

/// The largest of three by three, every second one down and across.
///
/// # Shapes
/// - `input`: `[N, C, H, W]`, or with channels last as `order` says
/// - output: half as high and wide, rounded up
pub(super) fn largest(input: Tensor<4>, order: Order) -> Tensor<4> {
    match order {
        #[cfg(feature = "cuda")]
        Order::ChannelsLast => cuda::largest(input, Largest { kernel: 3, stride: 2, padding: 1 }),
        _ => max_pool2d(input, MaxPoolOptions::new([3, 3]).with_stride([2, 2]).with_padding([1, 1])),
    }
}

/// The mean of every channel.
///
/// # Shapes
/// - `input`: `[N, C, H, W]`, or with channels last as `order` says
/// - output: `[N, C]`
pub(super) fn channel_means(input: Tensor<4>, order: Order) -> Tensor<2> {
    match order {
        Order::ChannelsFirst => {
            let [pictures, channels, height, width] = input.dims();
            input.reshape([pictures, channels, height * width]).mean_dim(2).reshape([pictures, channels])
        }
        Order::ChannelsLast => {
            let [pictures, height, width, channels] = input.dims();
            input.reshape([pictures, height * width, channels]).mean_dim(1).reshape([pictures, channels])
        }
    }
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
