//! Convolutions of all channels, as products on tensor cores.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::ops::FloatTensorOps;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Cube};
use burn::cubecl::prelude::Client;
use burn::cubecl::server::Handle;

use super::launch::{
    Array, Kernel, Numbers, Source, array, blocks, contiguous, floats, is_aligned, launch, sum_blocks, way_of_products,
};
use super::{Window, output_size};
use crate::geometry::Order;

/// Blocks that keep a large device busy: about one a multiprocessor.
const BUSY: usize = 132;

/// Floats of the parts of a weight gradient at most.
const MOST_PARTS: usize = 1 << 24;

/// A map with channels last that kernels read: fours of channels, pixels one after another.
#[derive(Debug, Clone)]
struct Map {
    handle: Handle,
    samples: usize,
    height: usize,
    width: usize,
    channels: usize,
    /// Floats from one pixel to the next.
    pixel: usize,
}

impl Map {
    /// The map of a tensor, where it lies if its memory has that form, else copied.
    fn of(tensor: &Array, order: Order) -> Self {
        let (shape, strides) = (tensor.meta.shape(), tensor.meta.strides());
        let axes = match order {
            Order::ChannelsFirst => [0, 2, 3, 1],
            Order::ChannelsLast => [0, 1, 2, 3],
        };
        let [samples, height, width, channels] = axes.map(|axis| shape[axis]);
        let [by_sample, by_row, by_column, by_channel] = axes.map(|axis| strides[axis]);
        // An axis of length one may have any stride; the first longer one says how far pixels are apart.
        let pixel = match (width > 1, height > 1, samples > 1) {
            (true, _, _) => by_column,
            (_, true, _) => by_row,
            (_, _, true) => by_sample,
            _ => channels.next_multiple_of(4),
        };
        let in_order = (channels == 1 || by_channel == 1)
            && (height == 1 || by_row == width * pixel)
            && (samples == 1 || by_sample == height * width * pixel);
        // Channels that a padded pixel has beyond its own meet weights that are zero.
        let fits = pixel.is_multiple_of(4) && pixel >= channels.next_multiple_of(4) && is_aligned(&tensor.handle);
        if in_order && fits {
            return Self { handle: tensor.handle.clone(), samples, height, width, channels, pixel };
        }
        let pixel = channels.next_multiple_of(4);
        let handle = floats(&tensor.client, samples * height * width * pixel);
        let numbers = [samples, height, width, channels, pixel, by_sample, by_row, by_column, by_channel];
        launch(
            &tensor.client,
            Kernel::plain(Source::Arrange, "spread"),
            blocks(samples * height * width * pixel),
            &[&tensor.handle],
            &[&handle],
            Numbers::of(numbers),
        );
        Self { handle, samples, height, width, channels, pixel }
    }

    /// Fours of channels a pixel.
    fn chunks(&self) -> usize {
        self.channels.div_ceil(4)
    }

    fn places(&self) -> usize {
        self.samples * self.height * self.width
    }
}

/// A tensor `[samples, height, width, channels]` with its axes in the order that was asked for.
fn ordered(tensor: Array, order: Order) -> Array {
    match order {
        Order::ChannelsFirst => Cube::float_permute(tensor, &[0, 3, 1, 2]),
        Order::ChannelsLast => tensor,
    }
}

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    images: Map,
    /// `[inputs][taps][outputs]`
    weight: Handle,
    /// `[outputs, inputs, window height, window width]`
    shape: [usize; 4],
    /// The results where an activation cut them.
    cut: Option<Array>,
    winners: Option<Handle>,
    /// Height and width of the results before pooling.
    size: [usize; 2],
    how: Window,
}

/// Results, and what is kept of them; weights for the way back only where gradients will be asked for.
fn forward(images: &Array, weight: Array, bias: &Array, around: Array, how: Window, tracked: bool) -> (Array, Kept) {
    let client = images.client.clone();
    let map = Map::of(images, how.input_order);
    let shape: [usize; 4] = [0, 1, 2, 3].map(|axis| weight.meta.shape()[axis]);
    let [outputs, inputs, kernel_height, kernel_width] = shape;
    let taps = kernel_height * kernel_width;
    let weight = contiguous(weight);
    let forth_count = outputs * taps * inputs.next_multiple_of(4);
    let back_count = if tracked { inputs * taps * outputs.next_multiple_of(4) } else { 0 };
    let forth = floats(&client, forth_count);
    let back = if tracked { floats(&client, back_count) } else { forth.clone() };
    let sizes = [outputs, inputs, taps, inputs.next_multiple_of(4), outputs.next_multiple_of(4), usize::from(tracked)];
    let pack = Kernel::plain(Source::Arrange, "pack_weights");
    launch(&client, pack, blocks(forth_count + back_count), &[&weight.handle], &[&forth, &back], Numbers::of(sizes));

    let size = [
        output_size(map.height, kernel_height, how.stride, how.padding),
        output_size(map.width, kernel_width, how.stride, how.padding),
    ];
    let [height, width] = if how.pool { size.map(|count| count.div_ceil(2)) } else { size };
    let count = map.samples * height * width * outputs;
    let result = floats(&client, count);
    let winners = how.pool.then(|| client.empty(count));
    let around = if how.has_around { contiguous(around).handle } else { forth.clone() };
    let bias_handle = if how.has_bias { &contiguous(bias.clone()).handle.clone() } else { &forth };
    let rows = map.samples * height * width * if how.pool { 4 } else { 1 };
    product(
        &client,
        Form { back: false, pool: how.pool, classes: 1, rows },
        [&map.handle, &forth, bias_handle, &around],
        [&result, winners.as_ref().unwrap_or(&result)],
        outputs,
        &[
            map.samples,
            map.height,
            map.width,
            map.pixel,
            map.chunks(),
            size[0],
            size[1],
            outputs,
            kernel_height,
            kernel_width,
            how.stride,
            how.padding,
            how.activation.number(),
            usize::from(how.has_bias),
            usize::from(how.has_around),
        ],
    );
    let result = array(images, result, [map.samples, height, width, outputs]);
    let kept = Kept {
        images: map,
        weight: back,
        shape,
        cut: how.activation.cuts().then(|| result.clone()),
        winners,
        size,
        how,
    };
    (ordered(result, how.output_order), kept)
}

/// Which of the products is made.
#[derive(Clone, Copy)]
struct Form {
    back: bool,
    pool: bool,
    /// Classes of places that see different taps.
    classes: usize,
    rows: usize,
}

fn product(
    client: &Client,
    form: Form,
    read: [&Handle; 4],
    written: [&Handle; 2],
    columns: usize,
    sizes: &[usize; 15],
) {
    let [bm, bn, wm, wn] = product_tile(form.rows * form.classes, columns);
    let threads = bm / wm * (bn / wn) * 32;
    let mut defines = vec![
        ("BM", bm),
        ("BN", bn),
        ("WM", wm),
        ("WN", wn),
        ("THREADS", threads),
        ("BACK", usize::from(form.back)),
        ("POOL", usize::from(form.pool)),
    ];
    defines.extend(way_of_products());
    let kernel = Kernel { source: Source::Product, entry: "product", defines, threads: threads as u32 };
    let blocks = [form.rows.div_ceil(bm), columns.div_ceil(bn), form.classes];
    launch(client, kernel, blocks, &read, &written, Numbers::of(*sizes));
}

/// Tile of a block and of a warp: wide ones read less, small ones keep more of the device busy. All have 256 threads: two
/// groups of four warps where the device multiplies in groups.
fn product_tile(rows: usize, columns: usize) -> [usize; 4] {
    let wide = [128, 128, 64, 32];
    let middle = [128, 64, 32, 32];
    match columns {
        0..=16 => [128, 16, 16, 16],
        17..=32 => [128, 32, 32, 16],
        _ if columns > 64 && rows.div_ceil(128) * columns.div_ceil(128) >= 2 * BUSY => wide,
        _ if rows.div_ceil(128) * columns.div_ceil(64) >= 2 * BUSY => middle,
        _ => [64, 64, 32, 16],
    }
}

/// Tile of a block and of a warp for the gradient to weights, and the steps that are copied ahead.
fn gradient_tile(outputs: usize) -> [usize; 5] {
    match outputs {
        0..=16 => [16, 64, 16, 16, 3],
        17..=32 => [32, 64, 16, 32, 3],
        33..=64 => [64, 128, 64, 32, 3],
        _ => [128, 128, 64, 64, 2],
    }
}

/// The gradient of what the product gave, before pooling and activation.
fn cut_gradient(kept: &Kept, gradient: Array) -> Map {
    let how = kept.how;
    if kept.cut.is_none() && kept.winners.is_none() {
        return Map::of(&gradient, how.output_order);
    }
    let gradient = match how.output_order {
        Order::ChannelsFirst => Cube::float_permute(gradient, &[0, 2, 3, 1]),
        Order::ChannelsLast => gradient,
    };
    let gradient = contiguous(gradient);
    let (outputs, [height, width], samples) = (kept.shape[0], kept.size, kept.images.samples);
    let pixel = outputs.next_multiple_of(4);
    let handle = floats(&gradient.client, samples * height * width * pixel);
    let result = kept.cut.as_ref().map_or(&gradient.handle, |cut| &cut.handle);
    let sizes = [samples, height, width, outputs, pixel, how.activation.number(), usize::from(how.pool)];
    launch(
        &gradient.client,
        Kernel::plain(Source::Arrange, "cut_gradient"),
        blocks(samples * height * width * pixel / 4),
        &[&gradient.handle, result, kept.winners.as_ref().unwrap_or(&gradient.handle)],
        &[&handle],
        Numbers::of(sizes),
    );
    Map { handle, samples, height, width, channels: outputs, pixel }
}

/// The gradient to the images, in the order of their axes.
fn gradient_of_images(kept: &Kept, gradient: &Map, like: &Array) -> Array {
    let Kept { images, weight, shape: [_, inputs, kernel_height, kernel_width], how, .. } = kept;
    let result = floats(&like.client, images.places() * inputs);
    let classes = how.stride * how.stride;
    // The largest class decides how many rows there are.
    let rows = images.samples * images.height.div_ceil(how.stride) * images.width.div_ceil(how.stride);
    product(
        &like.client,
        Form { back: true, pool: false, classes, rows },
        [&gradient.handle, weight, weight, weight],
        [&result, &result],
        *inputs,
        &[
            images.samples,
            gradient.height,
            gradient.width,
            gradient.pixel,
            gradient.chunks(),
            images.height,
            images.width,
            *inputs,
            *kernel_height,
            *kernel_width,
            how.stride,
            how.padding,
            0,
            0,
            0,
        ],
    );
    ordered(array(like, result, [images.samples, images.height, images.width, *inputs]), how.input_order)
}

/// The gradients to weights and bias.
fn gradient_of_weights(kept: &Kept, gradient: &Map, like: &Array) -> [Array; 2] {
    let Kept { images, shape, how, .. } = kept;
    let [outputs, inputs, kernel_height, kernel_width] = *shape;
    let (taps, padded) = (kernel_height * kernel_width, inputs.next_multiple_of(4));
    let columns = taps * padded + if how.has_bias { 4 } else { 0 };
    let [bm, bn, wm, wn, stages] = gradient_tile(outputs);
    let tiles = columns.div_ceil(bn) * outputs.div_ceil(bm);
    let most = (MOST_PARTS / (outputs * columns)).clamp(1, gradient.places().div_ceil(128).max(1));
    let wanted = (4 * BUSY).div_ceil(tiles).clamp(1, most);
    let share = gradient.places().div_ceil(wanted).next_multiple_of(16).max(16);
    let parts_count = gradient.places().div_ceil(share).max(1);
    let parts = floats(&like.client, parts_count * outputs * columns);
    let kernel = Kernel {
        source: Source::WeightGradient,
        entry: "weight_gradient",
        defines: vec![("BM", bm), ("BN", bn), ("WM", wm), ("WN", wn), ("STAGES", stages)],
        threads: (bm / wm * (bn / wn) * 32) as u32,
    };
    let sizes = [
        images.samples,
        images.height,
        images.width,
        images.pixel,
        images.chunks(),
        gradient.height,
        gradient.width,
        gradient.pixel,
        outputs,
        kernel_height,
        kernel_width,
        how.stride,
        how.padding,
        columns,
        share,
    ];
    launch(
        &like.client,
        kernel,
        [columns.div_ceil(bn), outputs.div_ceil(bm), parts_count],
        &[&images.handle, &gradient.handle],
        &[&parts],
        Numbers::of(sizes),
    );
    let (of_weight, of_bias) = (floats(&like.client, outputs * inputs * taps), floats(&like.client, outputs));
    launch(
        &like.client,
        Kernel::plain(Source::Arrange, "finish_weights"),
        sum_blocks(outputs * columns),
        &[&parts],
        &[&of_weight, &of_bias],
        Numbers::of([outputs, inputs, taps, padded, columns, parts_count, usize::from(how.has_bias)]),
    );
    [array(like, of_weight, *shape), array(like, of_bias, [outputs])]
}

pub(super) fn convolve(images: &Array, weight: Array, bias: &Array, around: Array, how: Window) -> Array {
    forward(images, weight, bias, around, how, false).0
}

/// Weights and bias with a normalisation by running statistics in them.
pub(super) fn fold(weight: Array, norm: [Array; 4], epsilon: f32) -> [Array; 2] {
    let weight = contiguous(weight);
    let [norm_weight, norm_bias, mean, variance] = norm.map(contiguous);
    let shape = weight.meta.shape().clone();
    let (count, outputs) = (shape.iter().product::<usize>(), shape[0]);
    let (folded, bias) = (floats(&weight.client, count), floats(&weight.client, outputs));
    launch(
        &weight.client,
        Kernel::plain(Source::Arrange, "fold"),
        blocks(count),
        &[&weight.handle, &norm_weight.handle, &norm_bias.handle, &mean.handle, &variance.handle],
        &[&folded, &bias],
        Numbers::of([count, count / outputs.max(1)]).floats([epsilon]),
    );
    [array(&weight, folded, shape), array(&weight, bias, [outputs])]
}

#[derive(Debug)]
struct Convolve;

pub(super) fn convolve_tracked<C: CheckpointStrategy>(
    images: FloatTensor<Autodiff<Cube, C>>,
    weight: FloatTensor<Autodiff<Cube, C>>,
    bias: FloatTensor<Autodiff<Cube, C>>,
    around: FloatTensor<Autodiff<Cube, C>>,
    how: Window,
) -> FloatTensor<Autodiff<Cube, C>> {
    let nodes = [images.node(), weight.node(), bias.node(), around.node()];
    let [images, weight, bias, around] =
        [images, weight, bias, around].map(FloatTensor::<Autodiff<Cube, C>>::into_primitive);
    match Convolve.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let (result, kept) = forward(&images, weight, &bias, around, how, true);
            prepared.finish(kept, result)
        }
        OpsKind::UnTracked(prepared) => prepared.finish(convolve(&images, weight, &bias, around, how)),
    }
}

impl Backward<Cube, 4> for Convolve {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, 4>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Cube>(&ops.node);
        let kept = ops.state;
        let [of_images, of_weight, of_bias, of_around] = ops.parents;
        let map = cut_gradient(&kept, gradient.clone());
        if of_weight.is_some() || (of_bias.is_some() && kept.how.has_bias) {
            let [weight, bias] = gradient_of_weights(&kept, &map, &gradient);
            if let Some(node) = of_weight {
                gradients.register::<Cube>(node.id, weight);
            }
            if let (Some(node), true) = (of_bias, kept.how.has_bias) {
                gradients.register::<Cube>(node.id, bias);
            }
        }
        if let (Some(node), true) = (of_around, kept.how.has_around) {
            // The way around has as many channels as the result, which are fours.
            let shape = [map.samples, map.height, map.width, map.channels];
            gradients.register::<Cube>(node.id, array(&gradient, map.handle.clone(), shape));
        }
        if let Some(node) = of_images {
            let images = gradient_of_images(&kept, &map, &gradient);
            gradients.register::<Cube>(node.id, images);
        }
    }
}
