//! A linear map on the CPU whose weights are read as they lie, and whose gradients are written as they lie: burn's own packs
//! them for its product, and turns the gradient of the weights round afterwards.
//!
//! A result is one sum in the order of what it sums over, so threads and batches change no bit.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, Shape, backend_extension};
use burn::tensor::{Tensor, module};
use chimera_gate::product::{Finish, LANES, PANEL, Walk, multiply};
use rayon::prelude::*;

use super::conv::{FLOATS, leave, runs_here, tensor_of};

/// Rows that the loop computes at a time: threads get multiples of it.
const ROWS: usize = 12;

/// `input` times the transposed `weight`, and `bias`.
///
/// # Shapes
/// - `input`: `[N, inputs]`
/// - `weight`: `[outputs, inputs]`
/// - `bias`: `[outputs]`
/// - output: `[N, outputs]`
pub(super) fn linear(input: Tensor<2>, weight: Tensor<2>, bias: Tensor<1>) -> Tensor<2> {
    let ([samples, inputs], [outputs, _]) = (input.dims(), weight.dims());
    let is_empty = samples == 0 || inputs == 0 || outputs == 0;
    if !runs_here(&input) || !runs_here(&weight) || is_empty || !inputs.is_multiple_of(LANES) {
        return module::linear(input, weight.transpose(), Some(bias));
    }
    let [input, weight] = [input, weight].map(Tensor::into_dispatch);
    Tensor::from_dispatch(<Dispatch as LinearOps>::map_linearly(input, weight, bias.into_dispatch()))
}

#[backend_extension(Flex, Autodiff)]
trait LinearOps: Backend {
    fn map_linearly(input: FloatTensor<Self>, weight: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl LinearOps for Flex {
    fn map_linearly(input: FlexTensor, weight: FlexTensor, bias: FlexTensor) -> FlexTensor {
        let (input, weight, bias) = (input.to_contiguous(), weight.to_contiguous(), bias.to_contiguous());
        let sizes = Sizes::of(&input, &weight);
        let values = sizes.forward(input.storage(), weight.storage(), bias.storage());
        tensor_of(values, Shape::from([sizes.samples, sizes.outputs]))
    }
}

impl<C: CheckpointStrategy> LinearOps for Autodiff<Flex, C> {
    fn map_linearly(input: FloatTensor<Self>, weight: FloatTensor<Self>, bias: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [input.node(), weight.node(), bias.node()];
        let (input, weight, bias) = (input.into_primitive(), weight.into_primitive(), bias.into_primitive());
        match MapLinearly.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let (input, weight) = (input.to_contiguous(), weight.to_contiguous());
                let result = Flex::map_linearly(input.clone(), weight.clone(), bias);
                prepared.finish([input, weight], result)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::map_linearly(input, weight, bias)),
        }
    }
}

#[derive(Debug)]
struct MapLinearly;

impl Backward<Flex, 3> for MapLinearly {
    type State = [FlexTensor; 2];

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let [input, weight] = ops.state;
        let sizes = Sizes::of(&input, &weight);
        let [of_input, of_weight, of_bias] = ops.parents;
        if let Some(node) = of_input {
            let to = sizes.gradient_of_input(gradient.storage(), weight.storage());
            gradients.register::<Flex>(node.id, tensor_of(to, input.layout().shape().clone()));
        }
        if let Some(node) = of_weight {
            let to = sizes.gradient_of_weight(gradient.storage(), input.storage());
            gradients.register::<Flex>(node.id, tensor_of(to, weight.layout().shape().clone()));
        }
        if let Some(node) = of_bias {
            let to = sizes.gradient_of_bias(gradient.storage());
            gradients.register::<Flex>(node.id, tensor_of(to, Shape::from([sizes.outputs])));
        }
        leave(gradient);
    }
}

#[derive(Debug, Clone, Copy)]
struct Sizes {
    samples: usize,
    inputs: usize,
    outputs: usize,
}

impl Sizes {
    fn of(input: &FlexTensor, weight: &FlexTensor) -> Self {
        let [samples, inputs] = input.layout().shape().dims();
        let [outputs, expected] = weight.layout().shape().dims();
        assert!(inputs == expected, "expected rows of {expected} numbers, got {inputs}");
        Self { samples, inputs, outputs }
    }

    /// Weights times the inputs turned round: weights are the larger by far, and stay as they lie.
    fn forward(&self, input: &[f32], weight: &[f32], bias: &[f32]) -> Vec<f32> {
        let Self { samples, inputs, outputs } = *self;
        let padded = samples.next_multiple_of(LANES);
        let turned = self.turned(input);
        let mut columns = FLOATS.take(outputs * padded);
        let rows = a_thread(outputs);
        columns.par_chunks_mut(rows * padded).zip(weight.par_chunks(rows * inputs)).for_each(|(columns, weight)| {
            for first in (0..padded).step_by(PANEL) {
                let width = PANEL.min(padded - first);
                let walk = Walk { segments: 1, steps: inputs, a: [inputs, 0, 1], b: [0, width], c: padded };
                let (from, into) = (&turned[first * inputs..], &mut columns[first..]);
                multiply(&walk, weight.len() / inputs, width, weight, from, into, Finish::Replace);
            }
        });
        let mut values = vec![0.0; samples * outputs];
        for (sample, values) in values.chunks_exact_mut(outputs).enumerate() {
            let column = columns[sample..].iter().step_by(padded);
            for ((value, sum), bias) in values.iter_mut().zip(column).zip(bias) {
                *value = sum + bias;
            }
        }
        FLOATS.leave(columns);
        FLOATS.leave(turned);
        values
    }

    /// Inputs with a column for each sample, in panels.
    fn turned(&self, input: &[f32]) -> Vec<f32> {
        let mut turned = FLOATS.take(self.inputs * self.samples.next_multiple_of(LANES));
        let panels = turned.par_chunks_mut(self.inputs * PANEL).zip(input.par_chunks(self.inputs * PANEL));
        panels.for_each(|(turned, input)| {
            let width = turned.len() / self.inputs;
            for (at, row) in turned.chunks_exact_mut(width).enumerate() {
                let (numbers, padding) = row.split_at_mut(input.len() / self.inputs);
                numbers.iter_mut().zip(input[at..].iter().step_by(self.inputs)).for_each(|(to, from)| *to = *from);
                padding.fill(0.0);
            }
        });
        turned
    }

    fn gradient_of_input(&self, gradient: &[f32], weight: &[f32]) -> Vec<f32> {
        let Self { samples, inputs, outputs } = *self;
        let mut to = FLOATS.take(samples * inputs);
        let rows = a_thread(samples);
        to.par_chunks_mut(rows * inputs).zip(gradient.par_chunks(rows * outputs)).for_each(|(to, gradient)| {
            let walk = Walk { segments: 1, steps: outputs, a: [outputs, 0, 1], b: [0, inputs], c: inputs };
            by_panels(&walk, to.len() / inputs, inputs, gradient, weight, to);
        });
        to
    }

    fn gradient_of_weight(&self, gradient: &[f32], input: &[f32]) -> Vec<f32> {
        let Self { samples, inputs, outputs } = *self;
        let mut to = FLOATS.take(outputs * inputs);
        let rows = a_thread(outputs);
        to.par_chunks_mut(rows * inputs).enumerate().for_each(|(task, to)| {
            let walk = Walk { segments: 1, steps: samples, a: [1, 0, outputs], b: [0, inputs], c: inputs };
            by_panels(&walk, to.len() / inputs, inputs, &gradient[task * rows..], input, to);
        });
        to
    }

    fn gradient_of_bias(&self, gradient: &[f32]) -> Vec<f32> {
        let mut to = vec![0.0; self.outputs];
        for gradient in gradient.chunks_exact(self.outputs) {
            to.iter_mut().zip(gradient).for_each(|(to, gradient)| *to += gradient);
        }
        to
    }
}

/// A product whose right operand lies in rows of all columns.
fn by_panels(walk: &Walk, rows: usize, columns: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    for first in (0..columns).step_by(PANEL) {
        let width = PANEL.min(columns - first);
        multiply(walk, rows, width, a, &b[first..], &mut c[first..], Finish::Replace);
    }
}

/// Rows that a thread computes.
fn a_thread(rows: usize) -> usize {
    rows.div_ceil(rayon::current_num_threads()).next_multiple_of(ROWS)
}

#[cfg(test)]
mod tests;
