//! The layers that networks here are made of. Names, shapes and arithmetic of parameters are torch's, so that its
//! weight files fit and running statistics move as they do there.

use burn::module::{Flag, Module, Param};
use burn::tensor::module::{self, batch_norm_train, max_pool2d};
use burn::tensor::ops::{ConvOptions, MaxPoolOptions};
use burn::tensor::{Device, Tensor};

use super::activation::Activation;
use super::conv::{self, Order};
#[cfg(feature = "cuda")]
use super::cuda::{self, Largest, OverTime, Window};
use super::init::Initial;
use super::linear::linear;
use super::maps::{self, Normalising};
use super::running::Running;

/// How fast running statistics follow the batches.
const MOMENTUM: f64 = 0.1;

/// What keeps the division by a small variance in bounds.
const EPSILON: f64 = 1e-5;

/// Pictures in the order of axes that layers are fastest with on their device: channels last on a GPU, and on the CPU
/// where that is asked for.
///
/// # Shapes
/// - `pictures`: `[N, C, H, W]`
/// - output: the same, or `[N, H, W, C]`
pub(super) fn entered(pictures: Tensor<4>, on_cpu: Order) -> (Tensor<4>, Order) {
    #[cfg(feature = "cuda")]
    if cuda::runs_here(&pictures) {
        return (pictures.permute([0, 2, 3, 1]), Order::ChannelsLast);
    }
    match on_cpu {
        Order::ChannelsLast if conv::runs_here(&pictures) => (pictures.permute([0, 2, 3, 1]), on_cpu),
        _ => (pictures, Order::ChannelsFirst),
    }
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
    /// - `input`: `[N, inputs, H, W]`, or with channels last as `order` says
    /// - `weight`: `[outputs, inputs / groups, kernel, kernel]`
    /// - output: `[N, outputs, H / stride, W / stride]`, rounded up, in the same order
    fn apply(&self, input: Tensor<4>, weight: Tensor<4>, bias: Option<Tensor<1>>, order: Order) -> Tensor<4> {
        if self.groups == 1 {
            return conv::conv2d(input, weight, bias, self.how(order, Activation::None));
        }
        let options = ConvOptions::new([self.stride; 2], [self.padding; 2], [1, 1], self.groups);
        match order {
            Order::ChannelsFirst => module::conv2d(input, weight, bias, options),
            Order::ChannelsLast => {
                module::conv2d(input.permute([0, 3, 1, 2]), weight, bias, options).permute([0, 2, 3, 1])
            }
        }
    }

    fn how(&self, order: Order, activation: Activation) -> conv::Convolution {
        conv::Convolution {
            stride: self.stride,
            padding: self.padding,
            relu: activation == Activation::Relu,
            pool: false,
            input_order: order,
            output_order: order,
        }
    }

    /// The same over maps with channels last on the CPU where no gradient is recorded, with the normalisation as a factor
    /// and a summand an output and with what follows; nothing where that must be done one after another.
    fn apply_scaled(&self, input: &Tensor<4>, [factor, summand]: [&Tensor<1>; 2], after: &After) -> Option<Tensor<4>> {
        let how = self.how(Order::ChannelsLast, after.activation);
        let joined = self.groups == 1 && after.activation != Activation::Relu6;
        joined
            .then(|| conv::convolve_scaled(input, &self.weight.val(), [factor, summand], after.around.as_ref(), how))?
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
    running_mean: Running,
    running_var: Running,
    /// Off while frozen: running statistics are used and stay as they are.
    training: Param<Flag>,
}

impl BatchNorm {
    pub(super) fn new(initial: &mut Initial, channels: usize) -> Self {
        Self {
            weight: initial.constant([channels], 1.0),
            bias: initial.constant([channels], 0.0),
            running_mean: Running::new(initial.constant([channels], 0.0).into_value().detach()),
            running_var: Running::new(initial.constant([channels], 1.0).into_value().detach()),
            training: Param::from_bool(true),
        }
    }

    /// Normalises by the statistics of the batch and lets the running ones follow.
    fn learn(&self, input: Tensor<4>) -> Tensor<4> {
        let [pictures, _, height, width] = input.dims();
        let result = batch_norm_train(input, self.weight.val(), self.bias.val(), EPSILON);
        self.track(result.mean, result.variance, pictures * height * width);
        result.output
    }

    /// The same over maps with channels last on the CPU, with what follows.
    fn learn_and_follow(&self, input: Tensor<4>, after: After) -> Tensor<4> {
        let [pictures, height, width, _] = input.dims();
        let how = Normalising { activation: after.activation, epsilon: EPSILON as f32 };
        let (result, [mean, variance]) = maps::normalise(input, self.weight.val(), self.bias.val(), after.around, how);
        self.track(mean, variance, pictures * height * width);
        result
    }

    /// Lets the running statistics follow those of a batch of so many pixels.
    fn track(&self, mean: Tensor<1>, variance: Tensor<1>, pixels: usize) {
        let count = pixels as f64;
        // The batch is normalised by the biased variance, the running one follows the unbiased.
        let variance = variance.mul_scalar(count / (count - 1.0).max(1.0));
        follow(&self.running_mean, mean);
        follow(&self.running_var, variance);
    }

    /// The same over maps with channels last on a GPU, with what follows.
    #[cfg(feature = "cuda")]
    fn learn_on_gpu(&self, input: Tensor<4>, around: Option<Tensor<4>>, activation: Activation) -> Tensor<4> {
        let running = self.running(&input.device());
        let how =
            cuda::Normalising { activation, has_around: false, epsilon: EPSILON as f32, momentum: MOMENTUM as f32 };
        let (result, [mean, variance]) =
            cuda::normalise(input, self.weight.val(), self.bias.val(), around, running, how);
        self.running_mean.update(mean.detach());
        self.running_var.update(variance.detach());
        result
    }

    /// Weights and bias of the convolution before it, with the running statistics in them, on a GPU.
    #[cfg(feature = "cuda")]
    fn fold_on_gpu(&self, weight: Tensor<4>, device: &Device) -> (Tensor<4>, Tensor<1>) {
        let [mean, variance] = self.running(device);
        cuda::folded(weight, [self.weight.val(), self.bias.val(), mean, variance], EPSILON as f32)
    }

    /// Running mean and variance.
    fn running(&self, device: &Device) -> [Tensor<1>; 2] {
        [&self.running_mean, &self.running_var].map(|running| running.value().to_device(device))
    }

    /// The factor and the summand a channel that running statistics come down to.
    fn affine(&self, device: &Device) -> [Tensor<1>; 2] {
        let [mean, variance] = self.running(device);
        let factor = self.weight.val() / (variance + EPSILON).sqrt();
        let summand = self.bias.val() - mean * factor.clone();
        [factor, summand]
    }
}

fn follow(running: &Running, batch: Tensor<1>) {
    let old = running.value().to_device(&batch.device());
    running.update((old * (1.0 - MOMENTUM) + batch * MOMENTUM).detach());
}

/// What is done with the results of a layer.
#[derive(Debug)]
pub(super) struct After {
    /// Added to the results.
    pub around: Option<Tensor<4>>,
    /// Applied to the sum.
    pub(crate) activation: Activation,
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
    if device.is_autodiff() && norm.training.is_enabled() {
        #[cfg(feature = "cuda")]
        if order == Order::ChannelsLast && cuda::runs_here(&input) {
            let maps = convolution.apply_on_gpu(input, weight, None, None, Activation::None);
            return norm.learn_on_gpu(maps, after.around, after.activation);
        }
        let maps = convolution.apply(input, weight, None, order);
        return match order {
            Order::ChannelsFirst => after.apply(norm.learn(maps)),
            Order::ChannelsLast => norm.learn_and_follow(maps, after),
        };
    }
    #[cfg(feature = "cuda")]
    if order == Order::ChannelsLast && !device.is_autodiff() && cuda::runs_here(&input) {
        let (weight, bias) = norm.fold_on_gpu(weight, &device);
        return convolution.apply_on_gpu(input, weight, Some(bias), after.around, after.activation);
    }
    let [factor, summand] = norm.affine(&device);
    if order == Order::ChannelsLast
        && let Some(maps) = convolution.apply_scaled(&input, [&factor, &summand], &after)
    {
        return maps;
    }
    let channels = factor.dims()[0];
    let (weight, bias) = (weight * factor.reshape([channels, 1, 1, 1]), Some(summand));
    #[cfg(feature = "cuda")]
    if order == Order::ChannelsLast && cuda::runs_here(&input) {
        return convolution.apply_on_gpu(input, weight, bias, after.around, after.activation);
    }
    after.apply(convolution.apply(input, weight, bias, order))
}

/// The largest of three by three, every second one down and across.
///
/// # Shapes
/// - `input`: `[N, C, H, W]`, or with channels last as `order` says
/// - output: half as high and wide, rounded up
pub(super) fn largest(input: Tensor<4>, order: Order) -> Tensor<4> {
    #[cfg(feature = "cuda")]
    if order == Order::ChannelsLast && cuda::runs_here(&input) {
        return cuda::largest(input, Largest { kernel: 3, stride: 2, padding: 1 });
    }
    match order {
        Order::ChannelsLast => maps::largest(input),
        Order::ChannelsFirst => max_pool2d(input, MaxPoolOptions::new([3, 3]).with_stride([2, 2]).with_padding([1, 1])),
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
            #[cfg(feature = "cuda")]
            if cuda::runs_here(&input) {
                let how = OverTime { count: height * width, averaged: channels, ..OverTime::default() };
                return cuda::over_time(input.reshape([pictures * height * width, channels]), None, how);
            }
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
        self.activated(input, Activation::None)
    }

    /// The same with what follows.
    pub(super) fn activated(&self, input: Tensor<2>, activation: Activation) -> Tensor<2> {
        #[cfg(feature = "cuda")]
        if cuda::runs_here(&input) {
            return cuda::linear(input, self.weight.val(), self.bias.val(), activation);
        }
        activation.apply(linear(input, self.weight.val(), self.bias.val()))
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
        let device = Device::flex().autodiff();
        let norm = BatchNorm::new(&mut Initial::new(Some(0), "test", &device), 2);
        let values: Vec<f32> = (0..16).map(|value| (value as f32).powf(1.5)).collect();
        let input = Tensor::<4>::from_data(TensorData::new(values, [2, 2, 2, 2]), &device);
        norm.learn(input.clone());
        let output = norm.learn(input.clone() * 2.0);
        // torch 2.15: norm = BatchNorm2d(2); x = torch.arange(16.).reshape(2, 2, 2, 2) ** 1.5; norm(x); norm(2 * x)
        close(norm.running_mean.value(), &[4.594_965, 9.110_237]);
        close(norm.running_var.value(), &[112.779_366, 203.598_48]);
        close(output.reshape([16]).narrow(0, 0, 3), &[-1.120_543_1, -1.049_822_8, -0.920_515_8]);
        // norm.eval()(x)
        let [factor, summand] = norm.affine(&device);
        let output = input * factor.reshape([1, 2, 1, 1]) + summand.reshape([1, 2, 1, 1]);
        close(output.reshape([16]).narrow(0, 0, 3), &[-0.432_680_55, -0.338_516_47, -0.166_344_37]);
    }

    #[test]
    fn copies_keep_their_statistics() {
        let device = Device::flex().autodiff();
        let norm = BatchNorm::new(&mut Initial::new(Some(0), "test", &device), 1);
        let input = Tensor::<4>::ones([1, 1, 2, 2], &device) * 10.0;
        norm.learn(input.clone());
        let (copy, clone) = (norm.valid(), norm.clone());
        norm.learn(input);
        // 0.1 * 10, then 0.9 * 1 + 0.1 * 10.
        close(copy.running_mean.value(), &[1.0]);
        close(clone.running_mean.value(), &[1.0]);
        close(norm.running_mean.value(), &[1.9]);
    }

    /// Both orders of axes, with what goes around and gradients, learning and folded.
    #[test]
    fn channels_last_is_the_same_as_first() {
        for records in [true, false] {
            let device = if records { Device::flex().autodiff() } else { Device::flex() };
            let initial = &mut Initial::new(Some(0), "test", &device);
            let layer = (Convolution::new(initial, 3, 20, 3, 2), BatchNorm::new(initial, 20));
            let pictures = initial.normal([2, 3, 9, 8], 1.0).val();
            let around = initial.normal([2, 20, 5, 4], 1.0).val();
            let run = |order: Order| {
                let (input, found) = entered(pictures.clone(), order);
                assert_eq!(found, order);
                let there = match order {
                    Order::ChannelsFirst => around.clone(),
                    Order::ChannelsLast => around.clone().permute([0, 2, 3, 1]),
                };
                let after = After { around: Some(there), activation: Activation::Relu };
                let maps = largest(normalised(&layer.0, &layer.1, input, order, after), order);
                let means = channel_means(maps, order);
                let gradient = records.then(|| {
                    let gradients = means.clone().powi_scalar(2).sum().backward();
                    layer.0.weight.val().grad(&gradients).map_or_else(Vec::new, |of| of.into_data().iter().collect())
                });
                (means.reshape([40]), gradient.unwrap_or_default())
            };
            let (first, last) = (run(Order::ChannelsFirst), run(Order::ChannelsLast));
            let first_means: Vec<f32> = first.0.into_data().iter().collect();
            close(last.0, &first_means);
            assert_eq!((first.1.len(), last.1.len()), if records { (540, 540) } else { (0, 0) });
            let far = first.1.iter().zip(&last.1).find(|(one, other): &(&f32, &f32)| (*one - *other).abs() > 1e-4);
            assert!(far.is_none(), "{far:?}");
        }
    }
}
