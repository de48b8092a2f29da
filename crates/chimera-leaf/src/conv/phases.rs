//! Gradients of images from those of results: with a stride, pixels are reached by different weights.

use chimera_gate::product::{Finish, PANEL, Walk, multiply};
use rayon::prelude::*;

use crate::geometry::{Geometry, panels};

/// Pixels of the image that lie alike under the windows, and the weights that reach them, as a right operand.
pub(super) struct Phase {
    /// First pixel, down and across.
    first: [usize; 2],
    /// Pixels, down and across.
    count: [usize; 2],
    /// First pixel of the gradient's frame that the first one reads.
    from: [usize; 2],
    /// Weights that reach a pixel, down and across.
    taps: [usize; 2],
    /// `[taps down, taps across, padded outputs, inputs]` a panel of inputs.
    weight: Vec<f32>,
}

/// With a stride of two, a pixel is reached by other weights than its neighbour: one phase a pair of remainders.
pub(super) fn phases(geometry: &Geometry, weight: &[f32]) -> Vec<Phase> {
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
    let (padded, all) = (geometry.padded_outputs(), taps[0] * taps[1]);
    let [height, width] = geometry.kernel;
    let filter = geometry.inputs * height * width;
    let mut packed = vec![0.0; all * padded * geometry.padded_inputs()];
    if all == 0 {
        return packed;
    }
    packed.par_chunks_mut(all * padded * PANEL).zip(panels(geometry.inputs).collect::<Vec<_>>()).for_each(
        |(packed, panel)| {
            for (output, filter) in weight.chunks_exact(filter).enumerate() {
                for tap in 0..all {
                    let y = remainder[0] + geometry.stride * (taps[0] - 1 - tap / taps[1]);
                    let x = remainder[1] + geometry.stride * (taps[1] - 1 - tap % taps[1]);
                    let from = filter[panel.first * height * width + y * width + x..].iter().step_by(height * width);
                    let to = &mut packed[(tap * padded + output) * panel.width..][..panel.columns];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
                }
            }
        },
    );
    packed
}

/// Gradient of rows of one image, from one on that a stride divides.
pub(super) fn all_phases(geometry: &Geometry, phases: &[Phase], gradient: &[f32], first: usize, to: &mut [f32]) {
    let Geometry { stride, inputs, .. } = *geometry;
    let (frame, row) = (geometry.gradient_frame(), geometry.size[1] * inputs);
    let (rows, skipped) = (to.len() / row, first / stride);
    // What no weight reaches stays zero.
    for phase in phases.iter().filter(|phase| phase.count[1] > 0 && !phase.weight.is_empty()) {
        let steps = phase.taps[1] * frame.channels;
        let count = rows.saturating_sub(phase.first[0]).div_ceil(stride);
        for panel in panels(inputs) {
            let walk = Walk {
                segments: phase.taps[0],
                steps,
                a: [frame.channels, frame.row(), 1],
                b: [steps * panel.width, panel.width],
                c: stride * inputs,
            };
            let weight = &phase.weight[panel.first * phase.taps[0] * steps..];
            for y in 0..count {
                let from = (phase.from[0] + skipped + y) * frame.row() + phase.from[1] * frame.channels;
                let into = (phase.first[0] + stride * y) * row + phase.first[1] * inputs + panel.first;
                let from = &gradient[from..];
                multiply(&walk, phase.count[1], panel.columns, from, weight, &mut to[into..], Finish::Replace);
            }
        }
    }
}
