//! Results of a convolution, an image at a time on all threads of the current pool.

use rayon::prelude::*;

use super::geometry::{Geometry, Order, Scratch, reorder, with_scratch};
use super::pool::Rows;
use chimera_gate::product::{Finish, Walk, multiply};

/// What a convolution gives for a batch.
#[derive(Debug, PartialEq)]
pub(super) struct Results {
    /// The results, in their order.
    pub values: Vec<f32>,
    /// Which of four each is, channels last; empty without pooling.
    pub winners: Vec<u8>,
}

/// Results of a batch. `positive` keeps what is above zero (ReLU).
pub(super) fn forward(geometry: &Geometry, images: &[f32], weight: &[f32], bias: &[f32], positive: bool) -> Results {
    let weight = pack(geometry, weight);
    let mut padded = vec![0.0; geometry.padded_outputs()];
    padded[..geometry.outputs].copy_from_slice(bias);
    let finish = Finish::Bias(&padded, positive);
    let floats = geometry.output_floats();
    let mut values = vec![0.0; geometry.samples * floats];
    let mut winners = vec![0; if geometry.pool { values.len() } else { 0 }];
    let images = images.par_chunks(geometry.input_floats());
    if geometry.pool {
        values.par_chunks_mut(floats).zip(winners.par_chunks_mut(floats)).zip(images).for_each(
            |((values, winners), image)| {
                with_scratch(|scratch| pooled(geometry, image, &weight, finish, scratch, values, winners));
            },
        );
    } else {
        values.par_chunks_mut(floats).zip(images).for_each(|(values, image)| {
            with_scratch(|scratch| plain(geometry, image, &weight, finish, scratch, values));
        });
    }
    Results { values, winners }
}

fn plain(
    geometry: &Geometry,
    image: &[f32],
    weight: &[f32],
    finish: Finish<'_>,
    scratch: &mut Scratch,
    values: &mut [f32],
) {
    let rows = WindowRows::new(geometry, image, weight, finish, &mut scratch.image);
    match geometry.output_order {
        Order::ChannelsLast => rows.compute(0, values),
        Order::ChannelsFirst => {
            scratch.other.resize(values.len(), 0.0);
            rows.compute(0, &mut scratch.other);
            reorder(&scratch.other, geometry.outputs, values);
        }
    }
}

fn pooled(
    geometry: &Geometry,
    image: &[f32],
    weight: &[f32],
    finish: Finish<'_>,
    scratch: &mut Scratch,
    values: &mut [f32],
    winners: &mut [u8],
) {
    let ([height, width], channels) = (geometry.windows(), geometry.outputs);
    let rows = WindowRows::new(geometry, image, weight, finish, &mut scratch.image);
    let row = geometry.output_size()[1] * channels;
    for (y, (values, winners)) in values.chunks_exact_mut(row).zip(winners.chunks_exact_mut(row)).enumerate() {
        let count = 2.min(height - 2 * y);
        scratch.other.resize(2 * width * channels, 0.0);
        let two = &mut scratch.other[..count * width * channels];
        rows.compute(2 * y, two);
        let (top, bottom) = two.split_at(width * channels);
        Rows { width, channels }.largest(top, if bottom.is_empty() { top } else { bottom }, values, winners);
    }
}

/// Rows of windows over one image.
struct WindowRows<'a> {
    geometry: &'a Geometry,
    walk: Walk,
    image: &'a [f32],
    row: usize,
    weight: &'a [f32],
    finish: Finish<'a>,
}

impl<'a> WindowRows<'a> {
    fn new(
        geometry: &'a Geometry,
        image: &[f32],
        weight: &'a [f32],
        finish: Finish<'a>,
        framed: &'a mut Vec<f32>,
    ) -> Self {
        let frame = geometry.window_frame();
        frame.fill(framed, image, geometry.input_order, geometry.size, geometry.inputs);
        let (steps, columns) = (geometry.kernel[1] * geometry.inputs, geometry.padded_outputs());
        let walk = Walk {
            segments: geometry.kernel[0],
            steps,
            a: [geometry.stride * geometry.inputs, frame.row(), 1],
            b: [steps * columns, columns],
            c: geometry.outputs,
        };
        Self { geometry, walk, image: framed, row: geometry.stride * frame.row(), weight, finish }
    }

    /// Computes as many rows as `into` has, from one on, channels last.
    fn compute(&self, first: usize, into: &mut [f32]) {
        let width = self.geometry.windows()[1];
        for (y, into) in into.chunks_exact_mut(width * self.geometry.outputs).enumerate() {
            let from = &self.image[(first + y) * self.row..];
            multiply(&self.walk, width, self.geometry.outputs, from, self.weight, into, self.finish);
        }
    }
}

/// Weights `[outputs, inputs, height, width]` as the right operand: `[height, width, inputs, padded outputs]`.
fn pack(geometry: &Geometry, weight: &[f32]) -> Vec<f32> {
    let (inputs, taps, padded) = (geometry.inputs, geometry.kernel[0] * geometry.kernel[1], geometry.padded_outputs());
    let mut packed = vec![0.0; taps * inputs * padded];
    for (output, filter) in weight.chunks_exact(inputs * taps).enumerate() {
        for (input, window) in filter.chunks_exact(taps).enumerate() {
            for (tap, value) in window.iter().enumerate() {
                packed[(tap * inputs + input) * padded + output] = *value;
            }
        }
    }
    packed
}
