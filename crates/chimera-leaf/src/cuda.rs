//! The layers of networks on an NVIDIA GPU: kernels of our own, because burn's convolutions are several times slower
//! there. Maps have their channels last in memory, as the tensor cores' products read them.
//!
//! Products round their operands to TF32 (10 bits of mantissa) and add in 32 bits, as PyTorch does with TF32 allowed.
//! Sums over places are made of parts in a fixed order, so that a step gives the same bits every time.

mod convolution;
mod depthwise;
mod launch;
mod loss;
mod normalisation;
mod operations;
mod optimizer;
mod pooling;
mod recording;
mod time;

use burn::backend::{DType, Dispatch, DispatchTensorKind};
use burn::tensor::{Device, Int, Tensor, TensorData};

use self::operations::CudaOps;
use super::activation::Activation;
use super::geometry::Order;

pub(super) use launch::{as_other_gpus, version};
pub(super) use optimizer::{AdamNumbers, AdamStep, adam};
pub(super) use recording::{Fed, Recording};

/// How a window moves over maps, and what happens to the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub stride: usize,
    pub padding: usize,
    pub(crate) activation: Activation,
    /// Whether the largest of each two by two results is kept.
    pub pool: bool,
    pub(crate) input_order: Order,
    pub(crate) output_order: Order,
    pub(crate) has_bias: bool,
    /// Whether a map of the results' shape is added before the activation.
    pub(crate) has_around: bool,
}

/// How a batch is normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Normalising {
    pub(crate) activation: Activation,
    pub(crate) has_around: bool,
    pub epsilon: f32,
    pub(crate) momentum: f32,
}

/// Windows of which the largest number is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Largest {
    pub kernel: usize,
    pub stride: usize,
    pub padding: usize,
}

/// How vectors of frames become one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OverTime {
    /// Frames a sample.
    pub count: usize,
    /// Numbers at the front of which the mean is taken; of those behind them, the largest.
    pub(crate) averaged: usize,
    /// Whether a vector a sample is added.
    pub(crate) has_along: bool,
    /// Whether a ReLU follows.
    pub cuts: bool,
}

/// Windows along one axis.
fn output_size(size: usize, kernel: usize, stride: usize, padding: usize) -> usize {
    (size + 2 * padding).saturating_sub(kernel) / stride + 1
}

/// Whether a tensor of 32-bit floats lies where these kernels read.
pub(super) fn runs_here<const D: usize>(tensor: &Tensor<D>) -> bool {
    let on_cube = match tensor.clone().into_dispatch().kind {
        DispatchTensorKind::Cube(_) => true,
        DispatchTensorKind::Autodiff(inner) => matches!(*inner, DispatchTensorKind::Cube(_)),
        _ => false,
    };
    on_cube && tensor.dtype() == DType::F32
}

/// A convolution of all channels. The way around needs channels-last results in fours.
///
/// # Shapes
/// As [`super::conv::conv2d`].
pub(super) fn convolve(
    images: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    around: Option<Tensor<4>>,
    how: Window,
) -> Tensor<4> {
    let how = Window { has_bias: bias.is_some(), has_around: around.is_some(), ..how };
    let weight = weight.into_dispatch();
    let bias = bias.map_or_else(|| weight.clone(), Tensor::into_dispatch);
    let around = around.map_or_else(|| weight.clone(), Tensor::into_dispatch);
    Tensor::from_dispatch(<Dispatch as CudaOps>::convolve(images.into_dispatch(), weight, bias, around, how))
}

/// A convolution in which a channel sees only itself.
///
/// # Shapes
/// - `images`: `[N, H, W, C]`
/// - `weight`: `[C, 1, kernel, kernel]`
/// - output: `[N, H', W', C]`
pub(super) fn convolve_channels(
    images: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    how: Window,
) -> Tensor<4> {
    let how = Window { has_bias: bias.is_some(), has_around: false, ..how };
    let weight = weight.into_dispatch();
    let bias = bias.map_or_else(|| weight.clone(), Tensor::into_dispatch);
    Tensor::from_dispatch(<Dispatch as CudaOps>::convolve_channels(images.into_dispatch(), weight, bias, how))
}

/// Normalises by the statistics of the batch; gives the result and the running mean and variance after it. Channels are
/// a multiple of four.
///
/// # Shapes
/// - `input` and `around`: `[N, H, W, C]`
/// - the rest: `[C]`
pub(super) fn normalise(
    input: Tensor<4>,
    weight: Tensor<1>,
    bias: Tensor<1>,
    around: Option<Tensor<4>>,
    running: [Tensor<1>; 2],
    how: Normalising,
) -> (Tensor<4>, [Tensor<1>; 2]) {
    let how = Normalising { has_around: around.is_some(), ..how };
    let weight = weight.into_dispatch();
    let around = around.map_or_else(|| weight.clone(), Tensor::into_dispatch);
    let [mean, variance] = running.map(Tensor::into_dispatch);
    let (result, mean, variance) = <Dispatch as CudaOps>::normalise(
        input.into_dispatch(),
        weight,
        bias.into_dispatch(),
        around,
        mean,
        variance,
        how,
    );
    (Tensor::from_dispatch(result), [mean, variance].map(Tensor::from_dispatch))
}

/// The largest of each window.
///
/// # Shapes
/// - `maps`: `[N, H, W, C]`
pub(super) fn largest(maps: Tensor<4>, how: Largest) -> Tensor<4> {
    Tensor::from_dispatch(<Dispatch as CudaOps>::largest(maps.into_dispatch(), how))
}

/// Means over the cells of a grid, then the most of each detector.
///
/// # Shapes
/// - `maps`: `[N, H, W, C]`
/// - `detected`: `[N, H, W, D]`
/// - output: `[N, grid * grid * C + D]`
pub(super) fn summary(maps: Tensor<4>, detected: Tensor<4>, grid: usize) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as CudaOps>::summary(maps.into_dispatch(), detected.into_dispatch(), grid))
}

/// A linear map with what follows it, as a convolution of single pixels.
///
/// # Shapes
/// - `input`: `[N, inputs]`
/// - `weight`: `[outputs, inputs]`
/// - output: `[N, outputs]`
pub(super) fn linear(input: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>, activation: Activation) -> Tensor<2> {
    let ([rows, inputs], [outputs, _]) = (input.dims(), weight.dims());
    let how = Window {
        stride: 1,
        padding: 0,
        activation,
        pool: false,
        input_order: Order::ChannelsLast,
        output_order: Order::ChannelsLast,
        has_bias: true,
        has_around: false,
    };
    let (input, weight) = (input.reshape([rows, 1, 1, inputs]), weight.reshape([outputs, inputs, 1, 1]));
    convolve(input, weight, Some(bias), None, how).reshape([rows, outputs])
}

/// Weights and bias of a convolution with the normalisation of its results in them. Records no gradients.
///
/// # Shapes
/// - `weight`: `[outputs, inputs, kernel, kernel]`
/// - `norm`: weight, bias, mean and variance, each `[outputs]`
pub(super) fn folded(weight: Tensor<4>, norm: [Tensor<1>; 4], epsilon: f32) -> (Tensor<4>, Tensor<1>) {
    let [norm_weight, norm_bias, mean, variance] = norm.map(Tensor::into_dispatch);
    let (weight, bias) =
        <Dispatch as CudaOps>::fold(weight.into_dispatch(), norm_weight, norm_bias, mean, variance, epsilon);
    (Tensor::from_dispatch(weight), Tensor::from_dispatch(bias))
}

/// The vectors of each sample's frames as one: means and the largest, something added, a ReLU, as `how` says.
///
/// # Shapes
/// - `frames`: `[N * T, D]`
/// - `along`: `[N, D]`
/// - output: `[N, D]`
pub(super) fn over_time(frames: Tensor<2>, along: Option<Tensor<2>>, how: OverTime) -> Tensor<2> {
    let how = OverTime { has_along: along.is_some(), ..how };
    let frames = frames.into_dispatch();
    let along = along.map_or_else(|| frames.clone(), Tensor::into_dispatch);
    Tensor::from_dispatch(<Dispatch as CudaOps>::over_time(frames, along, how))
}

/// Each frame's numbers, none negative, and behind them the largest that each was in the frames before.
///
/// # Shapes
/// - `now`: `[N * T, D]`
/// - output: `[N * T, 2 D]`
pub(super) fn with_earlier(now: Tensor<2>, count: usize) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as CudaOps>::with_earlier(now.into_dispatch(), count))
}

/// As [`super::loss::cross_entropy`].
pub(super) fn cross_entropy(
    logits: Tensor<2>,
    labels: Tensor<2>,
    known: Tensor<2>,
    weights: Option<Tensor<1>>,
) -> Tensor<1> {
    let has_weights = weights.is_some();
    let known = known.into_dispatch();
    let weights = weights.map_or_else(|| known.clone(), Tensor::into_dispatch);
    let (logits, labels) = (logits.into_dispatch(), labels.into_dispatch());
    Tensor::from_dispatch(<Dispatch as CudaOps>::cross_entropy(logits, labels, known, weights, has_weights))
}

/// Whether tensors of a device lie where these kernels read.
pub(super) fn runs_on(device: &Device) -> bool {
    runs_here(&Tensor::<1>::empty([1], device))
}

/// Bytes on their way to the device.
pub(super) fn uploaded(bytes: Vec<u8>, device: &Device) -> Tensor<1, Int> {
    let length = bytes.len();
    // One axis: rows of several could be padded in memory.
    Tensor::from_data(TensorData::new(bytes, [length]), (device, DType::U8))
}

/// Frames of bytes, each times a factor and plus a summand of its channel. The memory has channels last, padded to four;
/// the tensor is a view of it.
///
/// # Shapes
/// - `bytes`: `[count * height * width * 3]`
/// - `size`: count, height and width
/// - output: `[count, 3, height, width]`
pub(super) fn frames(bytes: Tensor<1, Int>, size: [usize; 3], factor: [f32; 3], summand: [f32; 3]) -> Tensor<4> {
    Tensor::from_dispatch(<Dispatch as CudaOps>::frames(bytes.into_dispatch(), size, factor, summand))
}
