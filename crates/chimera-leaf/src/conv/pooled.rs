//! Gradients of a convolution whose results were pooled: of four windows one gets the gradient, so that a quarter of the
//! products is enough, and none for what a ReLU cut.
//!
//! Shards of a batch are those of the plain way: their number depends on sizes alone, and so does the order of all sums.

use chimera_gate::product::{Chosen, LANES, Patch, add_columns, widest};
use rayon::prelude::*;

use super::backward::{Asked, Gradients, Known, Shards, add_shards};
use super::buffers::FLOATS;
use crate::geometry::{Geometry, Order, Scratch, floats, with_scratch};

/// Floats that a core works on at a time: they stay in its nearest cache.
const NEAR_FLOATS: usize = 8 << 10;

/// Outputs whose weights a thread takes at least: fewer are not worth it.
const FILTERS_A_TASK: usize = 16;

/// Whether this way is there for a convolution.
pub(super) fn applies(geometry: &Geometry, asked: Asked) -> bool {
    let whole = geometry.inputs.is_multiple_of(LANES) && geometry.input_order == Order::ChannelsLast;
    let row = geometry.kernel[1] * geometry.inputs;
    geometry.pool && if asked.images { whole } else { 2 * row >= row.next_multiple_of(LANES) }
}

/// Gradients from that of the pooled results.
pub(super) fn backward(known: Known<'_>, asked: Asked) -> Gradients {
    let geometry = known.geometry;
    let work = Work::new(known, asked);
    let filters = geometry.outputs * work.filter();
    let shards = Shards::new(geometry, filters + geometry.padded_outputs());
    let mut partial = shards.sums();
    let mut to_images = FLOATS.take(if asked.images { known.images.len() } else { 0 });
    let shard = |at: usize, sums: &mut [f32], to_images: &mut [f32]| {
        let (filters, bias) = sums.split_at_mut(filters);
        let mut to_images = to_images.chunks_exact_mut(geometry.input_floats());
        with_scratch(|scratch| {
            for sample in shards.samples(at) {
                work.weights(sample, scratch, filters, bias);
                if let Some(to) = to_images.next() {
                    work.image(sample, scratch, to);
                }
            }
        });
    };
    if asked.images {
        let images = to_images.par_chunks_mut(shards.per_shard * geometry.input_floats());
        let pairs = partial.par_chunks_mut(shards.sums).zip(images).enumerate();
        pairs.for_each(|(at, (sums, to_images))| shard(at, sums, to_images));
    } else {
        partial.par_chunks_mut(shards.sums).enumerate().for_each(|(at, sums)| shard(at, sums, &mut []));
    }
    let total = add_shards(partial, shards.sums);
    let (weight, bias) = (work.unpack(&total), total[filters..][..geometry.outputs].to_vec());
    FLOATS.leave(total);
    FLOATS.leave(work.weight.0);
    Gradients { images: asked.images.then_some(to_images), weight, bias }
}

struct Work<'a> {
    known: Known<'a>,
    /// Floats between windows across and down, where patches are read.
    steps: [usize; 2],
    /// The window of a pixel in its frame, and the gradient of an output's weights. Where channels do not fill bundles of lanes,
    /// rows go on with what comes behind them, and nobody reads the sums of that.
    patch: Patch,
    /// `[outputs, height, width, inputs]`, from the float that begins a line of the cache; empty without images.
    weight: (Vec<f32>, usize),
}

impl<'a> Work<'a> {
    fn new(known: Known<'a>, asked: Asked) -> Self {
        let geometry = known.geometry;
        let (row, width) = (geometry.window_frame().row(), geometry.kernel[1] * geometry.inputs);
        let width = width.next_multiple_of(LANES);
        let patch = Patch { rows: geometry.kernel[0], width, from_row: row, to_row: width };
        let steps = [geometry.inputs, row].map(|step| geometry.stride * step);
        let mut work = Self { known, steps, patch, weight: (Vec::new(), 0) };
        if asked.images {
            work.weight = work.pack();
        }
        work
    }

    /// Floats of the gradient of an output's weights.
    fn filter(&self) -> usize {
        self.patch.rows * self.patch.width
    }

    /// Weights in the order of windows.
    fn pack(&self) -> (Vec<f32>, usize) {
        let (filter, taps) = (self.filter(), self.taps());
        let mut packed = FLOATS.take(self.known.weight.len() + LANES);
        let first = packed.as_ptr().align_offset(LANES * size_of::<f32>()).min(LANES);
        let pairs = packed[first..].par_chunks_exact_mut(filter).zip(self.known.weight.par_chunks_exact(filter));
        pairs.with_min_len(FILTERS_A_TASK).for_each(|(packed, weight)| {
            for (tap, packed) in packed.chunks_exact_mut(self.known.geometry.inputs).enumerate() {
                packed.iter_mut().zip(weight[tap..].iter().step_by(taps)).for_each(|(to, from)| *to = *from);
            }
        });
        (packed, first)
    }

    /// Gradients of the weights in the order `[outputs, inputs, height, width]`.
    fn unpack(&self, sums: &[f32]) -> Vec<f32> {
        let Geometry { inputs, kernel: [height, width], .. } = *self.known.geometry;
        let taps = self.taps();
        let mut weight = vec![0.0; self.known.weight.len()];
        let pairs = weight.par_chunks_exact_mut(inputs * taps).zip(sums.par_chunks_exact(self.filter()));
        pairs.with_min_len(FILTERS_A_TASK).for_each(|(weight, sums)| {
            for (y, sums) in sums.chunks_exact(self.patch.width).enumerate().take(height) {
                for (x, sums) in sums.chunks_exact(inputs).enumerate().take(width) {
                    let to = weight[y * width + x..].iter_mut().step_by(taps);
                    to.zip(sums).for_each(|(to, from)| *to = *from);
                }
            }
        });
        weight
    }

    /// Weights of an output and an input.
    fn taps(&self) -> usize {
        self.known.geometry.kernel[0] * self.known.geometry.kernel[1]
    }

    /// Adds what one image gives to the gradients of weights and bias. The gradient that winners get stays in the scratch.
    fn weights(&self, sample: usize, scratch: &mut Scratch, filters: &mut [f32], bias: &mut [f32]) {
        let geometry = self.known.geometry;
        let (frame, channels) = (geometry.window_frame(), geometry.outputs);
        let Scratch { image, other, offsets, .. } = scratch;
        let factors = floats(other, geometry.output_floats());
        self.passed(sample, factors);
        add_pixels(factors, channels, bias);
        let framed = floats(image, frame.floats() + LANES);
        let pixels = &self.known.images[sample * geometry.input_floats()..][..geometry.input_floats()];
        frame.fill(&mut framed[..frame.floats()], 0, pixels, geometry.input_order, geometry.size, geometry.inputs);
        let [rows, across] = geometry.output_size();
        let row = across * channels;
        let winners = self.winners(sample);
        let band = (NEAR_FLOATS / (2 * row + 2 * self.steps[1])).clamp(1, rows);
        if offsets.len() < band * row {
            offsets.resize(band * row, 0);
        }
        for first in (0..rows).step_by(band) {
            let of = first * row..(first + band).min(rows) * row;
            let offsets = &mut offsets[..of.len()];
            let rows = offsets.chunks_exact_mut(row).zip(winners[of.clone()].chunks_exact(row));
            let [right, down] = self.steps.map(|step| step as u32);
            widest(
                #[inline(always)]
                || {
                    for (start, (offsets, winners)) in (0..).step_by(2 * self.steps[1]).zip(rows) {
                        let pixels = offsets.chunks_exact_mut(channels).zip(winners.chunks_exact(channels));
                        for (place, (offsets, winners)) in (start..).step_by(2 * self.steps[0]).zip(pixels) {
                            for (offset, winner) in offsets.iter_mut().zip(winners) {
                                *offset = place + u32::from(winner & 1) * right + u32::from(winner >> 1) * down;
                            }
                        }
                    }
                },
            );
            let chosen = Chosen { offsets, factors: &factors[of], step: channels };
            add_columns(chosen, self.patch, &framed[2 * first * self.steps[1]..], filters, self.filter());
        }
    }

    /// The gradient of one image, from the gradient that winners get.
    fn image(&self, sample: usize, scratch: &mut Scratch, to: &mut [f32]) {
        let geometry = self.known.geometry;
        let (frame, channels, filter) = (geometry.window_frame(), geometry.outputs, self.filter());
        let Scratch { other, gradient, runs, .. } = scratch;
        let factors = floats(other, geometry.output_floats());
        let into = floats(gradient, frame.floats());
        into.fill(0.0);
        let weight = &self.weight.0[self.weight.1..];
        let patch = Patch { from_row: self.patch.width, to_row: frame.row(), ..self.patch };
        let across = geometry.output_size()[1];
        let (winners, row) = (self.winners(sample), across * channels);
        // As many outputs at a time as have their weights near.
        let group = (NEAR_FLOATS * 5 / 4 / filter).max(LANES) / LANES * LANES;
        for first in (0..channels).step_by(group) {
            let outputs = first..(first + group).min(channels);
            let start = [first * filter, filter].map(|floats| floats as u32);
            for (y, (factors, winners)) in factors.chunks_exact(row).zip(winners.chunks_exact(row)).enumerate() {
                runs.clear();
                let pixels = factors.chunks_exact(channels).zip(winners.chunks_exact(channels));
                for (x, (factors, winners)) in pixels.enumerate() {
                    let [right, down] = self.steps;
                    let place = 2 * (y * down + x * right);
                    let targets = [place, place + right, place + down, place + down + right];
                    runs.choose(&winners[outputs.clone()], &factors[outputs.clone()], start, targets);
                }
                runs.add(patch, weight, into);
            }
        }
        frame.take_out(into, to, geometry.size);
    }

    fn winners(&self, sample: usize) -> &'a [u8] {
        let floats = self.known.geometry.output_floats();
        &self.known.winners[sample * floats..][..floats]
    }

    /// The gradient of one result, without what the forward pass cut off.
    fn passed(&self, sample: usize, into: &mut [f32]) {
        let of = sample * into.len()..(sample + 1) * into.len();
        let gradient = &self.known.gradient[of.clone()];
        match self.known.cut {
            None => into.copy_from_slice(gradient),
            Some(cut) => widest(
                #[inline(always)]
                || {
                    for (into, (gradient, result)) in into.iter_mut().zip(gradient.iter().zip(&cut[of])) {
                        *into = if *result > 0.0 { *gradient } else { 0.0 };
                    }
                },
            ),
        }
    }
}

/// Adds all pixels to a sum a channel, four at a time: a sum would else wait for the one before it.
fn add_pixels(pixels: &[f32], channels: usize, sums: &mut [f32]) {
    widest(
        #[inline(always)]
        || {
            let fours = pixels.chunks_exact(4 * channels);
            let rest = fours.remainder();
            for four in fours {
                let (two, other_two) = four.split_at(2 * channels);
                let ((one, two), (three, four)) = (two.split_at(channels), other_two.split_at(channels));
                for ((((sum, one), two), three), four) in sums.iter_mut().zip(one).zip(two).zip(three).zip(four) {
                    *sum += (one + two) + (three + four);
                }
            }
            for pixel in rest.chunks_exact(channels) {
                sums.iter_mut().zip(pixel).for_each(|(sum, value)| *sum += value);
            }
        },
    );
}
