//! Convolutions in which a channel sees only itself.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Cube};

use super::launch::{Array, Kernel, Numbers, Source, THREADS, array, blocks, contiguous, floats, launch, sum_blocks};
use super::{Window, output_size};

/// Places across that a thread computes, as `depthwise.cu` says.
const ACROSS: usize = 4;

/// Blocks that share the places of a gradient to weights.
const SHARES: usize = 256;

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    images: Array,
    weight: Array,
    /// The results where an activation cut them.
    cut: Option<Array>,
    how: Window,
}

/// Sizes of one convolution, in the order of the kernels' struct.
struct Sizes {
    samples: usize,
    image: [usize; 2],
    result: [usize; 2],
    channels: usize,
    kernel: usize,
}

impl Sizes {
    fn of(images: &Array, weight: &Array, how: Window) -> Self {
        let [samples, height, width, channels] = [0, 1, 2, 3].map(|axis| images.meta.shape()[axis]);
        let kernel = weight.meta.shape()[3];
        let result = [height, width].map(|size| output_size(size, kernel, how.stride, how.padding));
        Self { samples, image: [height, width], result, channels, kernel }
    }

    fn numbers(&self, how: Window, share: usize, parts: usize) -> Numbers {
        let ([in_height, in_width], [out_height, out_width]) = (self.image, self.result);
        let places = [self.samples, in_height, in_width, out_height, out_width, self.channels];
        let [samples, in_height, in_width, out_height, out_width, channels] = places;
        Numbers::of([
            samples,
            in_height,
            in_width,
            out_height,
            out_width,
            channels,
            how.stride,
            how.padding,
            how.activation.number(),
            usize::from(how.has_bias),
            share,
            parts,
        ])
    }

    fn kernel(&self, entry: &'static str) -> Kernel {
        Kernel { source: Source::Depthwise, entry, defines: vec![("KERNEL", self.kernel)], threads: THREADS }
    }

    fn places(&self) -> usize {
        self.samples * self.result[0] * self.result[1]
    }
}

pub(super) fn convolve(images: Array, weight: Array, bias: Array, how: Window) -> Array {
    let [images, weight, bias] = [images, weight, bias].map(contiguous);
    let sizes = Sizes::of(&images, &weight, how);
    let result = floats(&images.client, sizes.places() * sizes.channels);
    let threads = sizes.samples * sizes.result[0] * sizes.result[1].div_ceil(ACROSS) * sizes.channels;
    launch(
        &images.client,
        sizes.kernel("depthwise"),
        blocks(threads),
        &[&images.handle, &weight.handle, &bias.handle],
        &[&result],
        sizes.numbers(how, 0, 0),
    );
    array(&images, result, [sizes.samples, sizes.result[0], sizes.result[1], sizes.channels])
}

#[derive(Debug)]
struct ConvolveChannels;

pub(super) fn convolve_tracked<C: CheckpointStrategy>(
    images: FloatTensor<Autodiff<Cube, C>>,
    weight: FloatTensor<Autodiff<Cube, C>>,
    bias: FloatTensor<Autodiff<Cube, C>>,
    how: Window,
) -> FloatTensor<Autodiff<Cube, C>> {
    let nodes = [images.node(), weight.node(), bias.node()];
    let [images, weight, bias] = [images, weight, bias].map(|tensor| contiguous(tensor.into_primitive()));
    match ConvolveChannels.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let result = convolve(images.clone(), weight.clone(), bias, how);
            let cut = how.activation.cuts().then(|| result.clone());
            prepared.finish(Kept { images, weight, cut, how }, result)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(convolve(images, weight, bias, how)),
    }
}

impl Backward<Cube, 3> for ConvolveChannels {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = contiguous(gradients.consume::<Cube>(&ops.node));
        let Kept { images, weight, cut, how } = ops.state;
        let [of_images, of_weight, of_bias] = ops.parents;
        let sizes = Sizes::of(&images, &weight, how);
        let gradient = match cut {
            Some(cut) => cut_gradient(&gradient, &cut, &sizes, how),
            None => gradient,
        };
        let client = &gradient.client;
        if of_weight.is_some() || (of_bias.is_some() && how.has_bias) {
            let share = sizes.places().div_ceil(SHARES).max(64);
            let count = sizes.places().div_ceil(share).max(1);
            let taps = sizes.kernel * sizes.kernel;
            let numbers = || sizes.numbers(how, share, count);
            let parts = floats(client, count * (taps + 1) * sizes.channels);
            let (found, bias) = (floats(client, taps * sizes.channels), floats(client, sizes.channels));
            let grid = [count, sizes.channels.div_ceil(32), 1];
            let (kernel, finish) = (sizes.kernel("depthwise_weights"), sizes.kernel("finish_depthwise"));
            launch(client, kernel, grid, &[&images.handle, &gradient.handle], &[&parts], numbers());
            launch(client, finish, sum_blocks((taps + 1) * sizes.channels), &[&parts], &[&found, &bias], numbers());
            if let Some(node) = of_weight {
                gradients.register::<Cube>(node.id, array(&gradient, found, weight.meta.shape().clone()));
            }
            if let (Some(node), true) = (of_bias, how.has_bias) {
                gradients.register::<Cube>(node.id, array(&gradient, bias, [sizes.channels]));
            }
        }
        if let Some(node) = of_images {
            let count = sizes.samples * sizes.image[0] * sizes.image[1] * sizes.channels;
            let found = floats(client, count);
            let kernel = sizes.kernel("depthwise_images");
            let read = [&gradient.handle, &weight.handle];
            launch(client, kernel, blocks(count), &read, &[&found], sizes.numbers(how, 0, 0));
            gradients.register::<Cube>(node.id, array(&gradient, found, images.meta.shape().clone()));
        }
    }
}

/// The gradient before the activation. Channels are a multiple of four.
fn cut_gradient(gradient: &Array, cut: &Array, sizes: &Sizes, how: Window) -> Array {
    let Sizes { samples, result: [height, width], channels, .. } = *sizes;
    let found = floats(&gradient.client, sizes.places() * channels);
    launch(
        &gradient.client,
        Kernel::plain(Source::Arrange, "cut_gradient"),
        blocks(sizes.places() * channels / 4),
        &[&gradient.handle, &cut.handle, &gradient.handle],
        &[&found],
        Numbers::of([samples, height, width, channels, channels, how.activation.number(), 0]),
    );
    array(gradient, found, [samples, height, width, channels])
}
