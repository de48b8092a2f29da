//! Gradients of a convolution: of its weights and bias, and of its images where they are asked for.
//!
//! A batch is cut into shards whose number depends on sizes alone. Each shard sums its own gradients in order, and
//! shards are added in order, so threads change no bit.

use rayon::prelude::*;

use super::geometry::{Frame, Geometry, Order, Scratch, reorder, with_scratch};
use super::pool::Rows;
use chimera_gate::product::{Finish, LANES, Walk, multiply};

/// Shards of a batch: enough for many threads, few enough that their sums stay small beside the activations.
const SHARDS: usize = 16;
const SHARD_FLOATS: usize = 16 << 20;

/// What a convolution passes back.
#[derive(Debug)]
pub(super) struct Gradients {
    /// Of the images, in their order.
    pub images: Option<Vec<f32>>,
    /// Of the weights, `[outputs, inputs, height, width]`.
    pub weight: Vec<f32>,
    /// Of the bias.
    pub bias: Vec<f32>,
}

/// Gradients from that of the results. `cut` are the results where the forward pass kept only what is positive,
/// `winners` are those of its pooling.
pub(super) fn backward(
    geometry: &Geometry,
    images: &[f32],
    weight: &[f32],
    cut: Option<&[f32]>,
    winners: &[u8],
    gradient: &[f32],
    of_images: bool,
) -> Gradients {
    let columns = geometry.padded_outputs();
    let places = geometry.kernel[0] * geometry.kernel[1] * geometry.inputs;
    let sums = (places + 1) * columns;
    let shards = SHARDS.min(SHARD_FLOATS / sums).clamp(1, geometry.samples.max(1));
    let per_shard = geometry.samples.div_ceil(shards).max(1);
    let phases = if of_images { phases(geometry, weight) } else { Vec::new() };
    let mut partial = vec![0.0; geometry.samples.div_ceil(per_shard) * sums];
    let mut to_images = vec![0.0; if of_images { images.len() } else { 0 }];
    let image_chunk = per_shard * geometry.input_floats();
    let shard = |at: usize, sums: &mut [f32], to_images: &mut [f32]| {
        with_scratch(|scratch| {
            let samples = at * per_shard..((at + 1) * per_shard).min(geometry.samples);
            for (sample, index) in samples.enumerate() {
                let of = |floats: usize| index * floats..(index + 1) * floats;
                let result = of(geometry.output_floats());
                let winners = winners.get(result.clone());
                frame_gradient(geometry, cut.map(|all| &all[result.clone()]), winners, &gradient[result], scratch);
                add_weight(geometry, &images[of(geometry.input_floats())], scratch, sums);
                if of_images {
                    let from = sample * geometry.input_floats();
                    image(geometry, &phases, scratch, &mut to_images[from..from + geometry.input_floats()]);
                }
            }
        });
    };
    if of_images {
        partial
            .par_chunks_mut(sums)
            .zip(to_images.par_chunks_mut(image_chunk))
            .enumerate()
            .for_each(|(at, (sums, to_images))| shard(at, sums, to_images));
    } else {
        partial.par_chunks_mut(sums).enumerate().for_each(|(at, sums)| shard(at, sums, &mut []));
    }
    let total = add_shards(partial, sums);
    let bias = total[places * columns..][..geometry.outputs].to_vec();
    Gradients { images: of_images.then_some(to_images), weight: unpack(geometry, &total), bias }
}

/// Puts the gradient of one result into its frame, without what the forward pass cut off.
fn frame_gradient(
    geometry: &Geometry,
    cut: Option<&[f32]>,
    winners: Option<&[u8]>,
    gradient: &[f32],
    scratch: &mut Scratch,
) {
    let mut passed = gradient;
    if let Some(result) = cut {
        let pairs = gradient.iter().zip(result);
        scratch.other.clear();
        scratch.other.extend(pairs.map(|(gradient, result)| if *result > 0.0 { *gradient } else { 0.0 }));
        passed = &scratch.other;
    }
    let (frame, windows, channels) = (geometry.gradient_frame(), geometry.windows(), geometry.outputs);
    match winners.filter(|_| geometry.pool) {
        None => frame.fill(&mut scratch.gradient, passed, geometry.output_order, windows, channels),
        Some(winners) => {
            let (rows, row) = (Rows { width: windows[1], channels }, geometry.output_size()[1] * channels);
            frame.fill_rows(&mut scratch.gradient, windows, |y, pixels| {
                let from = y / 2 * row;
                let place = 2 * u8::from(y % 2 == 1);
                rows.spread(&passed[from..from + row], &winners[from..from + row], place, frame.channels, pixels);
            });
        }
    }
}

/// Adds one image's gradients of weights and bias.
fn add_weight(geometry: &Geometry, image: &[f32], scratch: &mut Scratch, sums: &mut [f32]) {
    let (window, frame) = (geometry.window_frame(), geometry.gradient_frame());
    window.fill(&mut scratch.image, image, geometry.input_order, geometry.size, geometry.inputs);
    let ([height, width], columns) = (geometry.windows(), geometry.padded_outputs());
    let rows = geometry.kernel[1] * geometry.inputs;
    let walk = Walk {
        segments: height,
        steps: width,
        a: [1, geometry.stride * window.row(), geometry.stride * geometry.inputs],
        b: [frame.row(), columns],
        c: columns,
    };
    let gradient = &scratch.gradient[frame.border * (frame.row() + columns)..];
    for (y, sums) in sums.chunks_mut(rows * columns).take(geometry.kernel[0]).enumerate() {
        multiply(&walk, rows, columns, &scratch.image[y * window.row()..], gradient, sums, Finish::Add);
    }
    let bias = &mut sums[geometry.kernel[0] * rows * columns..];
    for row in gradient.chunks(frame.row()).take(height) {
        for pixel in row[..width * columns].chunks_exact(columns) {
            for (bias, value) in bias.iter_mut().zip(pixel) {
                *bias += value;
            }
        }
    }
}

/// Pixels of the image that lie alike under the windows, and the weights that reach them, as a right operand.
struct Phase {
    /// First pixel, down and across.
    first: [usize; 2],
    /// Pixels, down and across.
    count: [usize; 2],
    /// First pixel of the gradient's frame that the first one reads.
    from: [usize; 2],
    /// Weights that reach a pixel, down and across.
    taps: [usize; 2],
    /// `[taps down, taps across, padded outputs, padded inputs]`
    weight: Vec<f32>,
}

/// With a stride of two, a pixel is reached by other weights than its neighbour: one phase a pair of remainders.
fn phases(geometry: &Geometry, weight: &[f32]) -> Vec<Phase> {
    let stride = geometry.stride;
    let frame = geometry.gradient_frame();
    (0..stride * stride)
        .map(|pair| {
            let remainder = [pair / stride, pair % stride];
            let axis = |axis: usize| {
                let first = (remainder[axis] + stride - geometry.padding % stride) % stride;
                let count = geometry.size[axis].saturating_sub(first).div_ceil(stride);
                let taps = geometry.kernel[axis].saturating_sub(remainder[axis]).div_ceil(stride);
                let from = (first + geometry.padding) / stride + frame.border + 1 - taps.max(1);
                (first, count, from, taps)
            };
            let (down, across) = (axis(0), axis(1));
            let taps = [down.3, across.3];
            Phase {
                first: [down.0, across.0],
                count: [down.1, across.1],
                from: [down.2, across.2],
                taps,
                weight: pack(geometry, weight, remainder, taps),
            }
        })
        .collect()
}

fn pack(geometry: &Geometry, weight: &[f32], remainder: [usize; 2], taps: [usize; 2]) -> Vec<f32> {
    let (inputs, padded) = (geometry.padded_inputs(), geometry.padded_outputs());
    let [height, width] = geometry.kernel;
    let mut packed = vec![0.0; (taps[0] * taps[1] * padded * inputs).max(LANES)];
    for down in 0..taps[0] {
        for across in 0..taps[1] {
            let y = remainder[0] + geometry.stride * (taps[0] - 1 - down);
            let x = remainder[1] + geometry.stride * (taps[1] - 1 - across);
            for output in 0..geometry.outputs {
                let to = ((down * taps[1] + across) * padded + output) * inputs;
                for input in 0..geometry.inputs {
                    packed[to + input] = weight[((output * geometry.inputs + input) * height + y) * width + x];
                }
            }
        }
    }
    packed
}

/// Gradient of one image from the framed gradient of its result.
fn image(geometry: &Geometry, phases: &[Phase], scratch: &mut Scratch, to: &mut [f32]) {
    let frame = geometry.gradient_frame();
    match geometry.input_order {
        Order::ChannelsLast => all_phases(geometry, phases, &frame, &scratch.gradient, to),
        Order::ChannelsFirst => {
            scratch.other.resize(to.len(), 0.0);
            all_phases(geometry, phases, &frame, &scratch.gradient, &mut scratch.other);
            reorder(&scratch.other, geometry.inputs, to);
        }
    }
}

fn all_phases(geometry: &Geometry, phases: &[Phase], frame: &Frame, gradient: &[f32], to: &mut [f32]) {
    let row = geometry.size[1] * geometry.inputs;
    for phase in phases.iter().filter(|phase| phase.count[1] > 0) {
        let steps = phase.taps[1] * frame.channels;
        let walk = Walk {
            segments: phase.taps[0],
            steps,
            a: [frame.channels, frame.row(), 1],
            b: [steps * geometry.padded_inputs(), geometry.padded_inputs()],
            c: geometry.stride * geometry.inputs,
        };
        for y in 0..phase.count[0] {
            let from = (phase.from[0] + y) * frame.row() + phase.from[1] * frame.channels;
            let into = (phase.first[0] + geometry.stride * y) * row + phase.first[1] * geometry.inputs;
            multiply(
                &walk,
                phase.count[1],
                geometry.inputs,
                &gradient[from..],
                &phase.weight,
                &mut to[into..],
                Finish::Replace,
            );
        }
    }
}

/// Adds the sums of all shards, in order.
fn add_shards(mut partial: Vec<f32>, sums: usize) -> Vec<f32> {
    let (total, others) = partial.split_at_mut(sums);
    let chunk = sums.div_ceil(32).next_multiple_of(LANES);
    total.par_chunks_mut(chunk).enumerate().for_each(|(at, total)| {
        for shard in others.chunks_exact(sums) {
            for (total, value) in total.iter_mut().zip(&shard[at * chunk..]) {
                *total += value;
            }
        }
    });
    partial.truncate(sums);
    partial
}

/// Gradients of the weights back in the order `[outputs, inputs, height, width]`.
fn unpack(geometry: &Geometry, sums: &[f32]) -> Vec<f32> {
    let (inputs, taps, padded) = (geometry.inputs, geometry.kernel[0] * geometry.kernel[1], geometry.padded_outputs());
    let mut weight = vec![0.0; geometry.outputs * inputs * taps];
    for (output, filter) in weight.chunks_exact_mut(inputs * taps).enumerate() {
        for (input, window) in filter.chunks_exact_mut(taps).enumerate() {
            for (tap, value) in window.iter_mut().enumerate() {
                *value = sums[(tap * inputs + input) * padded + output];
            }
        }
    }
    weight
}
