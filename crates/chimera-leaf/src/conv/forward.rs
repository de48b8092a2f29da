//! Results of a convolution, on all threads of the current pool: an image or a band of its rows at a time.

use chimera_gate::product::{Finish, PANEL, Walk, multiply};
use rayon::prelude::*;

use super::buffers::{BYTES, FLOATS};
use super::pool::Rows;
use crate::geometry::{Block, Frame, Geometry, Order, Scratch, floats, panels, reorder, with_scratch};

/// Floats of an image that a core works on at a time: they stay in its own cache.
const BAND_FLOATS: usize = 64 << 10;

/// What a convolution gives for a batch.
#[derive(Debug, PartialEq)]
pub(super) struct Results {
    /// The results, in their order.
    pub values: Vec<f32>,
    /// Which of four each is, channels last; empty without pooling.
    pub(crate) winners: Vec<u8>,
}

/// What sums begin with, and what is done with them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<'a> {
    /// A number an output that its weights are multiplied by first.
    pub factor: Option<&'a [f32]>,
    /// A number an output.
    pub bias: &'a [f32],
    /// Numbers that are added before the ReLU, in the order of the results, which have channels last then and are not pooled.
    pub around: Option<&'a [f32]>,
    /// Whether only what is above zero is kept (ReLU).
    pub positive: bool,
}

/// Results of a batch. How the work is shared changes no bit.
pub(super) fn forward(geometry: &Geometry, images: &[f32], weight: &[f32], ends: Ends<'_>) -> Results {
    let weight = pack(geometry, weight, ends.factor);
    let mut bias = vec![0.0; geometry.padded_outputs()];
    bias[..geometry.outputs].copy_from_slice(ends.bias);
    let work = Work { geometry, frame: geometry.window_frame(), weight: &weight, bias: &bias, ends };
    let floats = geometry.output_floats();
    let mut values = FLOATS.take(geometry.samples * floats);
    let mut winners = BYTES.take(if geometry.pool { values.len() } else { 0 });
    let images = images.par_chunks(geometry.input_floats());
    match geometry.output_order {
        Order::ChannelsLast if geometry.pool => {
            values.par_chunks_mut(floats).zip(winners.par_chunks_mut(floats)).zip(images).for_each(
                |((values, winners), image)| with_scratch(|scratch| work.pooled(image, scratch, values, winners)),
            );
        }
        Order::ChannelsLast => {
            let rows = work.band();
            let band = rows * geometry.windows()[1] * geometry.outputs;
            values.par_chunks_mut(floats).zip(images).enumerate().for_each(|(sample, (values, image))| {
                let around = ends.around.map(|around| &around[sample * floats..][..floats]);
                values.par_chunks_mut(band).enumerate().for_each(|(at, values)| {
                    let around = around.map(|around| &around[at * band..][..values.len()]);
                    with_scratch(|scratch| work.plain(image, at * rows, around, &mut scratch.image, values));
                });
            });
        }
        Order::ChannelsFirst => values.par_chunks_mut(floats).zip(images).for_each(|(values, image)| {
            with_scratch(|scratch| {
                let Scratch { image: framed, other, .. } = scratch;
                let other = self::floats(other, floats);
                work.plain(image, 0, None, framed, other);
                reorder(other, geometry.outputs, values);
            });
        }),
    }
    Results { values, winners }
}

/// One convolution over a batch.
#[derive(Clone, Copy)]
struct Work<'a> {
    geometry: &'a Geometry,
    frame: Frame,
    weight: &'a [f32],
    bias: &'a [f32],
    ends: Ends<'a>,
}

impl Work<'_> {
    /// Rows of results that are computed at a time.
    fn band(&self) -> usize {
        let for_cache = self.frame.floats().div_ceil(BAND_FLOATS);
        // Several bands a thread even out; but each reads all weights, which pays where they are few.
        let a_thread = if self.weight.len() <= 4 * BAND_FLOATS { 4 } else { 1 };
        let for_threads = (a_thread * rayon::current_num_threads()).div_ceil(self.geometry.samples);
        self.geometry.windows()[0].div_ceil(for_cache.max(for_threads))
    }

    /// Results of as many rows as `values` has, channels last.
    fn plain(&self, image: &[f32], first: usize, around: Option<&[f32]>, framed: &mut Vec<f32>, values: &mut [f32]) {
        let row = self.geometry.windows()[1] * self.geometry.outputs;
        let framed = self.framed(image, first, values.len() / row, framed);
        let Some(around) = around else {
            return self.compute(framed, values, Finish::Bias(self.bias, self.ends.positive));
        };
        // Added behind the sum: the same bits as one after the other.
        self.compute(framed, values, Finish::Bias(self.bias, false));
        for (value, around) in values.iter_mut().zip(around) {
            let sum = *value + around;
            // What is no number stays none.
            *value = if self.ends.positive && sum < 0.0 { 0.0 } else { sum };
        }
    }

    fn pooled(&self, image: &[f32], scratch: &mut Scratch, values: &mut [f32], winners: &mut [u8]) {
        let ([height, width], channels) = (self.geometry.windows(), self.geometry.outputs);
        let framed = self.framed(image, 0, height, &mut scratch.image);
        let row = self.geometry.output_size()[1] * channels;
        for (y, (values, winners)) in values.chunks_exact_mut(row).zip(winners.chunks_exact_mut(row)).enumerate() {
            let count = 2.min(height - 2 * y);
            let two = floats(&mut scratch.other, count * width * channels);
            let from = &framed[2 * y * self.geometry.stride * self.frame.row()..];
            self.compute(from, two, Finish::Bias(self.bias, self.ends.positive));
            let (top, bottom) = two.split_at(width * channels);
            Rows { width, channels }.largest(top, if bottom.is_empty() { top } else { bottom }, values, winners);
        }
    }

    /// What rows of windows look at.
    fn framed<'b>(&self, image: &[f32], first: usize, rows: usize, into: &'b mut Vec<f32>) -> &'b [f32] {
        let Geometry { stride, size, inputs, input_order, .. } = *self.geometry;
        let height = rows.saturating_sub(1) * stride + self.geometry.kernel[0];
        let into = floats(into, height * self.frame.row());
        self.frame.fill(into, first * stride, image, input_order, size, inputs);
        into
    }

    /// Computes as many rows as `into` has, channels last. A panel of weights stays near for all of them.
    fn compute(&self, framed: &[f32], into: &mut [f32], finish: Finish<'_>) {
        let Geometry { stride, inputs, outputs, kernel, .. } = *self.geometry;
        let (width, steps) = (self.geometry.windows()[1], kernel[1] * inputs);
        for panel in panels(outputs) {
            let walk = Walk {
                segments: kernel[0],
                steps,
                a: [stride * inputs, self.frame.row(), 1],
                b: [steps * panel.width, panel.width],
                c: outputs,
            };
            let weight = &self.weight[panel.first * kernel[0] * steps..];
            let finish = match finish {
                Finish::Bias(bias, positive) => Finish::Bias(&bias[panel.first..], positive),
                other => other,
            };
            for (y, into) in into.chunks_exact_mut(width * outputs).enumerate() {
                let from = &framed[y * stride * self.frame.row()..];
                multiply(&walk, width, panel.columns, from, weight, &mut into[panel.first..], finish);
            }
        }
    }
}

/// Weights `[outputs, inputs, height, width]` as the right operand: `[height, width, inputs, outputs]` a panel.
fn pack(geometry: &Geometry, weight: &[f32], factor: Option<&[f32]>) -> Vec<f32> {
    let (inputs, taps) = (geometry.inputs, geometry.kernel[0] * geometry.kernel[1]);
    let filter = inputs * taps;
    let mut packed = vec![0.0; filter * geometry.padded_outputs()];
    let panels = packed.par_chunks_mut(filter * PANEL).zip(weight.par_chunks(filter * PANEL)).enumerate();
    panels.for_each(|(at, (packed, filters))| {
        let (columns, width) = (filters.len() / filter, packed.len() / filter);
        let mut block = Block::new();
        for first in (0..filter).step_by(Block::ROWS) {
            let count = Block::ROWS.min(filter - first);
            for (column, filter) in filters.chunks_exact(filter).enumerate() {
                let factor = factor.map_or(1.0, |factor| factor[at * PANEL + column]);
                for (row, value) in block.rows().zip(&filter[first..first + count]) {
                    row[column] = value * factor;
                }
            }
            for (place, row) in (first..first + count).zip(block.rows()) {
                let to = (place % taps * inputs + place / taps) * width;
                packed[to..to + columns].copy_from_slice(&row[..columns]);
            }
        }
    });
    packed
}
