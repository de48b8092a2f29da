//! Gradients of a convolution: of its weights and bias, and of its images where they are asked for.
//!
//! A batch is cut into shards whose number depends on sizes alone. Each shard sums its own gradients in order, and
//! shards are added in order, so threads change no bit. With more threads than shards, parts of a shard's weights and rows
//! of images are shared among threads: that changes no sum.

use std::cell::RefCell;
use std::mem;
use std::ops::Range;

use chimera_gate::product::{Finish, LANES, PANEL, Walk, multiply};
use rayon::prelude::*;

use super::buffers::FLOATS;
use super::phases::{Phase, all_phases, phases};
use super::pool::Rows;
use super::pooled;
use crate::geometry::{Block, Frame, Geometry, Order, Panel, floats, panels, reorder, with_scratch};

/// Shards of a batch: enough for many threads, few enough that their sums stay small beside the activations.
const SHARDS: usize = 16;
const SHARD_FLOATS: usize = 640 << 10;

/// Windows of a shard at least: with fewer, it would take long to add its sums beside making them.
const SHARD_WINDOWS: usize = 128;

/// Floats of an image and of its gradient that a core works on at a time.
const BAND_FLOATS: usize = 32 << 10;

/// Floats of frames that are kept from one batch to the next.
const KEPT_FLOATS: usize = 16 << 20;

/// What a convolution passes back.
#[derive(Debug)]
pub(super) struct Gradients {
    /// Of the images, in their order.
    pub images: Option<Vec<f32>>,
    /// Of the weights, `[outputs, inputs, height, width]`.
    pub weight: Vec<f32>,
    /// Of the bias; zero where it is not asked for.
    pub bias: Vec<f32>,
}

/// What a convolution was given, and what came of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub geometry: &'a Geometry,
    pub images: &'a [f32],
    pub weight: &'a [f32],
    /// The results where the forward pass kept only what is positive.
    pub cut: Option<&'a [f32]>,
    /// Those of the pooling.
    pub(crate) winners: &'a [u8],
    /// Of the results.
    pub gradient: &'a [f32],
}

/// Which gradients are asked for beside that of the weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub images: bool,
    pub bias: bool,
}

/// Gradients from that of the results.
pub(super) fn backward(known: Known<'_>, asked: Asked) -> Gradients {
    let geometry = known.geometry;
    if pooled::applies(geometry, asked) {
        return pooled::backward(known, asked);
    }
    let columns = geometry.padded_outputs();
    let places = geometry.kernel[0] * geometry.kernel[1] * geometry.inputs;
    let shards = Shards::new(geometry, (places + 1) * columns);
    let Shards { sums, per_shard, .. } = shards;
    let phases = if asked.images { phases(geometry, known.weight) } else { Vec::new() };
    let mut partial = shards.sums();
    let count = if asked.images { known.images.len() } else { 0 };
    // Where windows leave pixels out, nothing is written to these.
    let everywhere = geometry.kernel.iter().all(|kernel| geometry.stride <= *kernel);
    let mut to_images = if everywhere { FLOATS.take(count) } else { FLOATS.zeros(count) };
    let work = Work { known, asked, phases: &phases };
    if partial.len() / sums >= rayon::current_num_threads() {
        work.by_shard(per_shard, (&mut partial, sums), &mut to_images);
    } else {
        work.by_part(per_shard, (&mut partial, sums), &mut to_images);
    }
    let total = add_shards(partial, sums);
    let (weight, bias) = (unpack(geometry, &total), total[places * columns..][..geometry.outputs].to_vec());
    FLOATS.leave(total);
    Gradients { images: asked.images.then_some(to_images), weight, bias }
}

/// How a batch is cut: by sizes alone.
#[derive(Clone, Copy)]
pub(super) struct Shards {
    /// Images of the batch.
    samples: usize,
    /// Images of a shard, but for the last.
    pub(crate) per_shard: usize,
    /// Sums of a shard.
    pub sums: usize,
}

impl Shards {
    pub(super) fn new(geometry: &Geometry, sums: usize) -> Self {
        let windows = geometry.samples * geometry.windows()[0] * geometry.windows()[1];
        let shards = SHARDS.min(SHARD_FLOATS / sums).min(windows / SHARD_WINDOWS).clamp(1, geometry.samples.max(1));
        Self { samples: geometry.samples, per_shard: geometry.samples.div_ceil(shards).max(1), sums }
    }

    /// The sums of all shards, zero.
    pub(super) fn sums(&self) -> Vec<f32> {
        FLOATS.zeros(self.samples.div_ceil(self.per_shard) * self.sums)
    }

    /// Images of one.
    pub(super) fn samples(&self, shard: usize) -> Range<usize> {
        shard * self.per_shard..((shard + 1) * self.per_shard).min(self.samples)
    }
}

#[derive(Clone, Copy)]
struct Work<'a> {
    known: Known<'a>,
    asked: Asked,
    phases: &'a [Phase],
}

impl Work<'_> {
    /// A shard a thread, an image at a time: what a thread works on stays near.
    fn by_shard(&self, per_shard: usize, (partial, sums): (&mut [f32], usize), to_images: &mut [f32]) {
        let geometry = self.known.geometry;
        let (window, frame) = (geometry.window_frame(), geometry.gradient_frame());
        let shard = |at: usize, sums: &mut [f32], to_images: &mut [f32]| {
            with_scratch(|scratch| {
                let samples = at * per_shard..((at + 1) * per_shard).min(geometry.samples);
                let mut parts = Part::all(geometry, sums);
                for (sample, index) in samples.enumerate() {
                    let passed = self.passed(index, &mut scratch.other);
                    let gradient = floats(&mut scratch.gradient, frame.floats());
                    self.fill_gradient(index, passed, gradient, 0);
                    let image = floats(&mut scratch.image, window.floats());
                    self.fill_image(index, image, 0);
                    parts.iter_mut().filter(|part| part.wanted(self.asked)).for_each(|part| {
                        part.add(geometry, image, gradient);
                    });
                    if self.asked.images {
                        let from = sample * geometry.input_floats();
                        self.image(gradient, &mut scratch.other, &mut to_images[from..][..geometry.input_floats()]);
                    }
                }
            });
        };
        if self.asked.images {
            let images = to_images.par_chunks_mut(per_shard * geometry.input_floats());
            let shards = partial.par_chunks_mut(sums).zip(images).enumerate();
            shards.for_each(|(at, (sums, to_images))| shard(at, sums, to_images));
        } else {
            partial.par_chunks_mut(sums).enumerate().for_each(|(at, sums)| shard(at, sums, &mut []));
        }
    }

    /// All images are framed first; then threads share parts of the weights and rows of the images.
    fn by_part(&self, per_shard: usize, (partial, sums): (&mut [f32], usize), to_images: &mut [f32]) {
        let geometry = self.known.geometry;
        let (window, frame) = (geometry.window_frame(), geometry.gradient_frame());
        let cut = self.known.cut.map(|result| positive(self.known.gradient, result));
        let passed = cut.as_deref().unwrap_or(self.known.gradient);
        let mut kept = FRAMES.take();
        let [images, gradients] = &mut kept;
        let images = floats(images, geometry.samples * window.floats());
        let gradients = floats(gradients, geometry.samples * frame.floats());
        // Any number of rows will do: they are only copied.
        let rows = |frame: &Frame| frame.height.div_ceil(4) * frame.row();
        images.par_chunks_mut(window.floats()).enumerate().for_each(|(sample, image)| {
            let image = image.par_chunks_mut(rows(&window)).enumerate();
            image.for_each(|(at, part)| self.fill_image(sample, part, at * window.height.div_ceil(4)));
        });
        gradients.par_chunks_mut(frame.floats()).enumerate().for_each(|(sample, gradient)| {
            let passed = &passed[sample * geometry.output_floats()..][..geometry.output_floats()];
            let gradient = gradient.par_chunks_mut(rows(&frame)).enumerate();
            gradient.for_each(|(at, part)| {
                self.fill_gradient(sample, passed, part, at * frame.height.div_ceil(4));
            });
        });
        let (images, gradients) = (&*images, &*gradients);
        let weights = || {
            let shards = partial.chunks_exact_mut(sums).enumerate();
            let parts =
                shards.flat_map(|(shard, sums)| Part::all(geometry, sums).into_iter().map(move |part| (shard, part)));
            let parts: Vec<_> = parts.filter(|(_, part)| part.wanted(self.asked)).collect();
            parts.into_par_iter().with_max_len(1).for_each(|(shard, mut part)| {
                for sample in shard * per_shard..((shard + 1) * per_shard).min(geometry.samples) {
                    let image = &images[sample * window.floats()..][..window.floats()];
                    part.add(geometry, image, &gradients[sample * frame.floats()..][..frame.floats()]);
                }
            });
        };
        let of_images = || {
            let samples = to_images.par_chunks_mut(geometry.input_floats()).zip(gradients.par_chunks(frame.floats()));
            samples.for_each(|(to, gradient)| self.image_by_rows(gradient, to));
        };
        rayon::join(weights, of_images);
        if kept.iter().map(Vec::len).sum::<usize>() <= KEPT_FLOATS {
            FRAMES.set(kept);
        }
    }

    /// The gradient of one result, without what the forward pass cut off.
    fn passed<'b>(&'b self, sample: usize, other: &'b mut Vec<f32>) -> &'b [f32] {
        let of = sample * self.known.geometry.output_floats()..(sample + 1) * self.known.geometry.output_floats();
        let gradient = &self.known.gradient[of.clone()];
        let Some(cut) = self.known.cut else { return gradient };
        let pairs = gradient.iter().zip(&cut[of]);
        other.clear();
        other.extend(pairs.map(|(gradient, result)| if *result > 0.0 { *gradient } else { 0.0 }));
        other
    }

    /// Puts the gradient of one result into rows of its frame.
    fn fill_gradient(&self, sample: usize, passed: &[f32], rows: &mut [f32], first: usize) {
        let geometry = self.known.geometry;
        let (frame, windows, channels) = (geometry.gradient_frame(), geometry.windows(), geometry.outputs);
        if !geometry.pool {
            return frame.fill(rows, first, passed, geometry.output_order, windows, channels);
        }
        let winners = &self.known.winners[sample * geometry.output_floats()..][..geometry.output_floats()];
        let (pooled, row) = (Rows { width: windows[1], channels }, geometry.output_size()[1] * channels);
        frame.fill_rows(rows, first, windows, |y, pixels| {
            let from = y / 2 * row;
            let place = 2 * u8::from(y % 2 == 1);
            pooled.spread(&passed[from..from + row], &winners[from..from + row], place, frame.channels, pixels);
        });
    }

    /// Puts one image into rows of its frame.
    fn fill_image(&self, sample: usize, rows: &mut [f32], first: usize) {
        let geometry = self.known.geometry;
        let image = &self.known.images[sample * geometry.input_floats()..][..geometry.input_floats()];
        geometry.window_frame().fill(rows, first, image, geometry.input_order, geometry.size, geometry.inputs);
    }

    /// Gradient of one image from the framed gradient of its result.
    fn image(&self, gradient: &[f32], other: &mut Vec<f32>, to: &mut [f32]) {
        let geometry = self.known.geometry;
        match geometry.input_order {
            Order::ChannelsLast => all_phases(geometry, self.phases, gradient, 0, to),
            Order::ChannelsFirst => {
                let other = floats(other, to.len());
                other.fill(0.0);
                all_phases(geometry, self.phases, gradient, 0, other);
                reorder(other, geometry.inputs, to);
            }
        }
    }

    /// The same on several threads.
    fn image_by_rows(&self, gradient: &[f32], to: &mut [f32]) {
        let geometry = self.known.geometry;
        if geometry.input_order == Order::ChannelsFirst {
            return with_scratch(|scratch| self.image(gradient, &mut scratch.other, to));
        }
        let bands = rayon::current_num_threads().div_ceil(geometry.samples).max(2);
        let rows = geometry.size[0].div_ceil(bands).next_multiple_of(geometry.stride);
        to.par_chunks_mut(rows * geometry.size[1] * geometry.inputs)
            .enumerate()
            .for_each(|(at, to)| all_phases(geometry, self.phases, gradient, at * rows, to));
    }
}

thread_local! {
    /// Frames of a batch and of its gradients: a large buffer that is new costs more than the copy into it.
    static FRAMES: RefCell<[Vec<f32>; 2]> = RefCell::default();
}

/// The gradient where the result is positive.
fn positive(gradient: &[f32], result: &[f32]) -> Vec<f32> {
    let pairs = gradient.par_iter().zip(result);
    pairs.map(|(gradient, result)| if *result > 0.0 { *gradient } else { 0.0 }).collect()
}

/// Sums that a thread adds to on its own.
enum Part<'a> {
    /// Of one row of windows of weights, for a panel of outputs.
    Weight {
        row: usize,
        panel: Panel,
        sums: &'a mut [f32],
    },
    Bias(&'a mut [f32]),
}

impl<'a> Part<'a> {
    /// All of a shard: `[panels, height, width, inputs, outputs of the panel]`, then the bias.
    fn all(geometry: &Geometry, mut sums: &'a mut [f32]) -> Vec<Self> {
        let rows = geometry.kernel[1] * geometry.inputs;
        let mut parts = Vec::new();
        for panel in panels(geometry.padded_outputs()) {
            for row in 0..geometry.kernel[0] {
                let (here, rest) = mem::take(&mut sums).split_at_mut(rows * panel.width);
                parts.push(Part::Weight { row, panel, sums: here });
                sums = rest;
            }
        }
        parts.push(Part::Bias(sums));
        parts
    }

    fn wanted(&self, asked: Asked) -> bool {
        asked.bias || matches!(self, Part::Weight { .. })
    }

    /// Adds what one image and the gradient of its result give.
    fn add(&mut self, geometry: &Geometry, image: &[f32], gradient: &[f32]) {
        let (window, frame) = (geometry.window_frame(), geometry.gradient_frame());
        let ([height, width], columns) = (geometry.windows(), frame.channels);
        let gradient = &gradient[frame.border * (frame.row() + columns)..];
        match self {
            Part::Weight { row, panel, sums } => {
                let (image, gradient) = (&image[*row * window.row()..], &gradient[panel.first..]);
                let (down, rows) = (geometry.stride * window.row(), geometry.kernel[1] * geometry.inputs);
                let band = (BAND_FLOATS / (down + frame.row())).clamp(1, height);
                for first in (0..height).step_by(band) {
                    let walk = Walk {
                        segments: band.min(height - first),
                        steps: width,
                        a: [1, down, geometry.stride * geometry.inputs],
                        b: [frame.row(), columns],
                        c: panel.width,
                    };
                    let (image, gradient) = (&image[first * down..], &gradient[first * frame.row()..]);
                    multiply(&walk, rows, panel.width, image, gradient, sums, Finish::Add);
                }
            }
            Part::Bias(bias) => {
                for row in gradient.chunks(frame.row()).take(height) {
                    for pixel in row[..width * columns].chunks_exact(columns) {
                        for (bias, value) in bias.iter_mut().zip(pixel) {
                            *bias += value;
                        }
                    }
                }
            }
        }
    }
}

/// Adds the sums of all shards, in order.
pub(super) fn add_shards(mut partial: Vec<f32>, sums: usize) -> Vec<f32> {
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
    let (inputs, taps) = (geometry.inputs, geometry.kernel[0] * geometry.kernel[1]);
    let filter = inputs * taps;
    let mut weight = vec![0.0; geometry.outputs * filter];
    let pairs = weight.par_chunks_mut(filter * PANEL).zip(sums.par_chunks(filter * PANEL));
    pairs.zip(panels(geometry.outputs).collect::<Vec<_>>()).for_each(|((filters, sums), panel)| {
        let mut block = Block::new();
        for first in (0..filter).step_by(Block::ROWS) {
            let count = Block::ROWS.min(filter - first);
            for (place, row) in (first..first + count).zip(block.rows()) {
                let from = (place % taps * inputs + place / taps) * panel.width;
                row[..panel.columns].copy_from_slice(&sums[from..from + panel.columns]);
            }
            for (column, filter) in filters.chunks_exact_mut(filter).enumerate() {
                for (row, value) in block.rows().zip(&mut filter[first..first + count]) {
                    *value = row[column];
                }
            }
        }
    });
    weight
}
