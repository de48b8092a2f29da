//! What the default network keeps of its last maps, on the CPU in one operation: the mean of each cell, and the most that
//! each detector saw anywhere.
//!
//! A detector passes its gradient back to the one place where it saw most. One after the other, burn's operations would write
//! and read what all detectors see at all places, forwards and backwards.

use std::ops::Range;
use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, Shape, backend_extension};
use burn::tensor::Tensor;
use chimera_gate::product::{Panels, widest};
use rayon::prelude::*;

use super::GRID;
use crate::conv::{FLOATS, leave, tensor_of};

/// Places that detectors look at before the most of them is kept: what they see there stays near.
const PLACES: usize = 64;

/// Detectors whose weights a thread takes at a time.
const DETECTORS_A_TASK: usize = 8;

/// Means of cells, then what detectors saw at most, not less than zero.
///
/// # Shapes
/// - `maps`: `[N, height, width, C]`, on the CPU
/// - `weight`: `[D, C, 1, 1]`
/// - `bias`: `[D]`
/// - output: `[N, GRID * GRID * C + D]`
pub(super) fn summary(maps: Tensor<4>, weight: Tensor<4>, bias: Tensor<1>) -> Tensor<2> {
    let [maps, weight] = [maps, weight].map(Tensor::into_dispatch);
    Tensor::from_dispatch(<Dispatch as SummaryOps>::summarise(maps, weight, bias.into_dispatch()))
}

#[backend_extension(Flex, Autodiff)]
trait SummaryOps: Backend {
    fn summarise(maps: FloatTensor<Self>, weight: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl SummaryOps for Flex {
    fn summarise(maps: FlexTensor, weight: FlexTensor, bias: FlexTensor) -> FlexTensor {
        summarised(&maps.to_contiguous(), &weight.to_contiguous(), &bias).0
    }
}

impl<C: CheckpointStrategy> SummaryOps for Autodiff<Flex, C> {
    fn summarise(maps: FloatTensor<Self>, weight: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [maps.node(), weight.node(), bias.node()];
        let (maps, weight, bias) = (maps.into_primitive(), weight.into_primitive(), bias.into_primitive());
        match Summarise.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let (maps, weight) = (maps.to_contiguous(), weight.to_contiguous());
                let (result, winners) = summarised(&maps, &weight, &bias);
                let winners = Arc::new(winners);
                prepared.finish(Kept { maps, weight, result: result.clone(), winners }, result)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::summarise(maps, weight, bias)),
        }
    }
}

fn summarised(maps: &FlexTensor, weight: &FlexTensor, bias: &FlexTensor) -> (FlexTensor, Vec<u32>) {
    let sizes = Sizes::of(maps, weight);
    let (values, winners) = sizes.summarise(maps.storage(), weight.storage(), bias.to_contiguous().storage());
    (tensor_of(values, Shape::from([sizes.samples, sizes.width()])), winners)
}

/// What the backward pass needs of the forward pass.
#[derive(Debug, Clone)]
struct Kept {
    maps: FlexTensor,
    weight: FlexTensor,
    result: FlexTensor,
    /// The place where each detector saw most.
    winners: Arc<Vec<u32>>,
}

#[derive(Debug)]
struct Summarise;

impl Backward<Flex, 3> for Summarise {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let Kept { maps, weight, result, winners } = ops.state;
        let sizes = Sizes::of(&maps, &weight);
        let passed = sizes.passed(gradient.storage(), result.storage());
        let [of_maps, of_weight, of_bias] = ops.parents;
        if let Some(node) = of_maps {
            let to = sizes.gradient_of_maps(gradient.storage(), &passed, &winners, weight.storage());
            gradients.register::<Flex>(node.id, tensor_of(to, maps.layout().shape().clone()));
        }
        if let Some(node) = of_weight {
            let to = sizes.gradient_of_weight(&passed, &winners, maps.storage());
            gradients.register::<Flex>(node.id, tensor_of(to, weight.layout().shape().clone()));
        }
        if let Some(node) = of_bias {
            let to = sizes.gradient_of_bias(&passed);
            gradients.register::<Flex>(node.id, tensor_of(to, Shape::from([sizes.detectors])));
        }
        [gradient, result].into_iter().for_each(leave);
    }
}

#[derive(Debug, Clone, Copy)]
struct Sizes {
    samples: usize,
    size: [usize; 2],
    channels: usize,
    detectors: usize,
}

impl Sizes {
    fn of(maps: &FlexTensor, weight: &FlexTensor) -> Self {
        let [samples, height, width, channels] = maps.layout().shape().dims();
        let [detectors, inputs, ..] = weight.layout().shape().dims::<4>();
        assert!(inputs == channels, "expected maps of {inputs} channels, got {channels}");
        Self { samples, size: [height, width], channels, detectors }
    }

    /// Numbers of cells.
    fn cells(&self) -> usize {
        GRID * GRID * self.channels
    }

    /// Numbers of a sample.
    fn width(&self) -> usize {
        self.cells() + self.detectors
    }

    /// Floats of the maps of a sample.
    fn map(&self) -> usize {
        self.size[0] * self.size[1] * self.channels
    }

    fn summarise(&self, maps: &[f32], weight: &[f32], bias: &[f32]) -> (Vec<f32>, Vec<u32>) {
        let weight =
            Panels::from_fn(self.channels, self.detectors, |detector, input| weight[detector * self.channels + input]);
        let padded = weight.values().len() / self.channels;
        let mut padded_bias = bias.to_vec();
        padded_bias.resize(padded, 0.0);
        let mut values = FLOATS.zeros(self.samples * self.width());
        let mut winners = vec![0; self.samples * self.detectors];
        let samples = values.par_chunks_mut(self.width()).zip(winners.par_chunks_mut(self.detectors));
        samples.zip(maps.par_chunks(self.map())).for_each_init(
            || vec![0.0; PLACES * padded],
            |seen, ((values, winners), map)| {
                let (cells, most) = values.split_at_mut(self.cells());
                self.means(map, cells);
                for (first, places) in (0..).step_by(PLACES).zip(map.chunks(PLACES * self.channels)) {
                    let rows = places.len() / self.channels;
                    weight.apply((places, self.channels), rows, &padded_bias, (seen, padded));
                    keep_most(first, seen[..rows * padded].chunks_exact(padded), most, winners);
                }
            },
        );
        (values, winners)
    }

    /// The mean of each cell of one map.
    fn means(&self, map: &[f32], cells: &mut [f32]) {
        widest(
            #[inline(always)]
            || {
                for (cell, mean) in cells.chunks_exact_mut(self.channels).enumerate() {
                    let (places, share) = self.cell(cell);
                    for place in places {
                        let pixel = &map[place * self.channels..][..self.channels];
                        mean.iter_mut().zip(pixel).for_each(|(mean, value)| *mean += value * share);
                    }
                }
            },
        );
    }

    /// The places of a cell, and what each adds to its mean. Cells cover the map evenly and overlap by a pixel where it does
    /// not divide.
    #[inline(always)]
    fn cell(&self, cell: usize) -> (impl Iterator<Item = usize>, f32) {
        let [height, width] = self.size;
        let span =
            |cell: usize, size: usize| -> Range<usize> { cell * size / GRID..((cell + 1) * size).div_ceil(GRID) };
        let (down, across) = (span(cell / GRID, height), span(cell % GRID, width));
        let share = 1.0 / (down.len() * across.len()) as f32;
        (down.flat_map(move |y| across.clone().map(move |x| y * width + x)), share)
    }

    /// Gradients of what detectors saw, `[N, D]`, without those that saw nothing.
    fn passed(&self, gradient: &[f32], result: &[f32]) -> Vec<f32> {
        let rows = gradient.chunks_exact(self.width()).zip(result.chunks_exact(self.width()));
        let rows = rows.map(|(gradient, result)| (&gradient[self.cells()..], &result[self.cells()..]));
        let pairs = rows.flat_map(|(gradient, result)| gradient.iter().zip(result));
        pairs.map(|(gradient, result)| if *result > 0.0 { *gradient } else { 0.0 }).collect()
    }

    fn gradient_of_maps(&self, gradient: &[f32], passed: &[f32], winners: &[u32], weight: &[f32]) -> Vec<f32> {
        let channels = self.channels;
        let mut to = FLOATS.zeros(self.samples * self.map());
        let gradients = gradient.par_chunks(self.width()).zip(passed.par_chunks(self.detectors));
        let samples = to.par_chunks_mut(self.map()).zip(gradients.zip(winners.par_chunks(self.detectors)));
        samples.for_each(|(to, ((gradient, passed), winners))| {
            widest(
                #[inline(always)]
                || {
                    for (cell, gradient) in gradient[..self.cells()].chunks_exact(channels).enumerate() {
                        let (places, share) = self.cell(cell);
                        for place in places {
                            add_product(share, gradient, &mut to[place * channels..][..channels]);
                        }
                    }
                    for ((factor, winner), weight) in passed.iter().zip(winners).zip(weight.chunks_exact(channels)) {
                        add_product(*factor, weight, &mut to[*winner as usize * channels..][..channels]);
                    }
                },
            );
        });
        to
    }

    /// A detector is summed over samples in their order, on one thread.
    fn gradient_of_weight(&self, passed: &[f32], winners: &[u32], maps: &[f32]) -> Vec<f32> {
        let channels = self.channels;
        let mut to = vec![0.0; self.detectors * channels];
        to.par_chunks_mut(DETECTORS_A_TASK * channels).enumerate().for_each(|(task, to)| {
            widest(
                #[inline(always)]
                || {
                    for (sample, map) in maps.chunks_exact(self.map()).enumerate() {
                        let first = sample * self.detectors + task * DETECTORS_A_TASK;
                        let chosen = passed[first..].iter().zip(&winners[first..]);
                        for (to, (factor, winner)) in to.chunks_exact_mut(channels).zip(chosen) {
                            add_product(*factor, &map[*winner as usize * channels..][..channels], to);
                        }
                    }
                },
            );
        });
        to
    }

    fn gradient_of_bias(&self, passed: &[f32]) -> Vec<f32> {
        let mut to = vec![0.0; self.detectors];
        for passed in passed.chunks_exact(self.detectors) {
            to.iter_mut().zip(passed).for_each(|(to, passed)| *to += passed);
        }
        to
    }
}

/// Keeps the most of some places, the first of which has a number, and where it was: of equal ones the first.
fn keep_most<'a>(first: u32, places: impl Iterator<Item = &'a [f32]>, most: &mut [f32], winners: &mut [u32]) {
    widest(
        #[inline(always)]
        || {
            for (place, seen) in (first..).zip(places) {
                for ((most, winner), value) in most.iter_mut().zip(winners.iter_mut()).zip(seen) {
                    // What is no number wins, and then nothing is larger.
                    let wins = *value > *most || value.is_nan();
                    *winner = if wins { place } else { *winner };
                    *most = if wins { *value } else { *most };
                }
            }
        },
    );
}

#[inline(always)]
fn add_product(factor: f32, values: &[f32], to: &mut [f32]) {
    to.iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}

#[cfg(test)]
mod tests;
