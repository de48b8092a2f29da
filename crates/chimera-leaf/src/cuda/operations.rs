//! The operations as burn knows them: it finds the device of their tensors, and records gradients where they are asked for.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Autodiff, Backend, Cube, backend_extension};

use super::{Largest, Normalising, OverTime, Window, convolution, depthwise, loss, normalisation, pooling, time};

/// The operations. An operand that an operation is told to do
/// without is still passed: any tensor stands for it.
#[backend_extension(Cube, Autodiff)]
pub(super) trait CudaOps: Backend {
    fn convolve(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        how: Window,
    ) -> FloatTensor<Self>;

    fn convolve_channels(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        how: Window,
    ) -> FloatTensor<Self>;

    fn normalise(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        running_mean: FloatTensor<Self>,
        running_variance: FloatTensor<Self>,
        how: Normalising,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);

    fn largest(maps: FloatTensor<Self>, how: Largest) -> FloatTensor<Self>;

    fn summary(maps: FloatTensor<Self>, detected: FloatTensor<Self>, grid: usize) -> FloatTensor<Self>;

    fn frames(bytes: IntTensor<Self>, size: [usize; 3], factor: [f32; 3], summand: [f32; 3]) -> FloatTensor<Self>;

    fn over_time(frames: FloatTensor<Self>, along: FloatTensor<Self>, how: OverTime) -> FloatTensor<Self>;

    fn with_earlier(now: FloatTensor<Self>, count: usize) -> FloatTensor<Self>;

    fn cross_entropy(
        logits: FloatTensor<Self>,
        labels: FloatTensor<Self>,
        known: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        has_weights: bool,
    ) -> FloatTensor<Self>;

    fn fold(
        weight: FloatTensor<Self>,
        norm_weight: FloatTensor<Self>,
        norm_bias: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

impl CudaOps for Cube {
    fn convolve(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        how: Window,
    ) -> FloatTensor<Self> {
        convolution::convolve(&images, weight, &bias, around, how)
    }

    fn convolve_channels(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        how: Window,
    ) -> FloatTensor<Self> {
        depthwise::convolve(images, weight, bias, how)
    }

    fn normalise(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        running_mean: FloatTensor<Self>,
        running_variance: FloatTensor<Self>,
        how: Normalising,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let normalised = normalisation::forward(input, weight, bias, around, [running_mean, running_variance], how);
        (normalised.result, normalised.running_mean, normalised.running_variance)
    }

    fn largest(maps: FloatTensor<Self>, how: Largest) -> FloatTensor<Self> {
        pooling::largest(maps, how)
    }

    fn summary(maps: FloatTensor<Self>, detected: FloatTensor<Self>, grid: usize) -> FloatTensor<Self> {
        pooling::summary(maps, detected, grid)
    }

    fn frames(bytes: IntTensor<Self>, size: [usize; 3], factor: [f32; 3], summand: [f32; 3]) -> FloatTensor<Self> {
        pooling::frames(&bytes, size, factor, summand)
    }

    fn over_time(frames: FloatTensor<Self>, along: FloatTensor<Self>, how: OverTime) -> FloatTensor<Self> {
        time::over_time(frames, along, how)
    }

    fn with_earlier(now: FloatTensor<Self>, count: usize) -> FloatTensor<Self> {
        time::with_earlier(now, count)
    }

    fn cross_entropy(
        logits: FloatTensor<Self>,
        labels: FloatTensor<Self>,
        known: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        has_weights: bool,
    ) -> FloatTensor<Self> {
        loss::cross_entropy([logits, labels, known, weights], has_weights)
    }

    fn fold(
        weight: FloatTensor<Self>,
        norm_weight: FloatTensor<Self>,
        norm_bias: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        convolution::fold(weight, [norm_weight, norm_bias, mean, variance], epsilon).into()
    }
}

impl<C: CheckpointStrategy> CudaOps for Autodiff<Cube, C> {
    fn convolve(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        how: Window,
    ) -> FloatTensor<Self> {
        convolution::convolve_tracked::<C>(images, weight, bias, around, how)
    }

    fn convolve_channels(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        how: Window,
    ) -> FloatTensor<Self> {
        depthwise::convolve_tracked::<C>(images, weight, bias, how)
    }

    fn normalise(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        running_mean: FloatTensor<Self>,
        running_variance: FloatTensor<Self>,
        how: Normalising,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        normalisation::tracked::<C>(input, weight, bias, around, [running_mean, running_variance], how)
    }

    fn largest(maps: FloatTensor<Self>, how: Largest) -> FloatTensor<Self> {
        pooling::largest_tracked::<C>(maps, how)
    }

    fn summary(maps: FloatTensor<Self>, detected: FloatTensor<Self>, grid: usize) -> FloatTensor<Self> {
        pooling::summary_tracked::<C>(maps, detected, grid)
    }

    fn frames(bytes: IntTensor<Self>, size: [usize; 3], factor: [f32; 3], summand: [f32; 3]) -> FloatTensor<Self> {
        FloatTensor::<Self>::new(pooling::frames(&bytes, size, factor, summand))
    }

    fn over_time(frames: FloatTensor<Self>, along: FloatTensor<Self>, how: OverTime) -> FloatTensor<Self> {
        time::over_time_tracked::<C>(frames, along, how)
    }

    fn with_earlier(now: FloatTensor<Self>, count: usize) -> FloatTensor<Self> {
        time::with_earlier_tracked::<C>(now, count)
    }

    fn cross_entropy(
        logits: FloatTensor<Self>,
        labels: FloatTensor<Self>,
        known: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        has_weights: bool,
    ) -> FloatTensor<Self> {
        loss::cross_entropy_tracked::<C>([logits, labels, known, weights], has_weights)
    }

    fn fold(
        weight: FloatTensor<Self>,
        norm_weight: FloatTensor<Self>,
        norm_bias: FloatTensor<Self>,
        mean: FloatTensor<Self>,
        variance: FloatTensor<Self>,
        epsilon: f32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let [weight, norm_weight, norm_bias, mean, variance] =
            [weight, norm_weight, norm_bias, mean, variance].map(FloatTensor::<Self>::into_primitive);
        convolution::fold(weight, [norm_weight, norm_bias, mean, variance], epsilon)
            .map(FloatTensor::<Self>::new)
            .into()
    }
}
