//! Layers over maps with channels last on the CPU: batch normalisation with what follows it, and the largest of windows.
//! Burn's own walk every activation many times, most of them on one thread.
//!
//! Sums over places are made of parts whose sizes depend on the maps alone, added in order, so threads change no bit.

mod largest;
mod normalise;

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, Shape, backend_extension};
use burn::tensor::Tensor;

use super::activation::Activation;
use super::conv::tensor_of;
use normalise::Statistics;

/// How a batch is normalised.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Normalising {
    pub(crate) activation: Activation,
    pub epsilon: f32,
}

/// Normalises by the statistics of the batch, adds what goes around, and applies the activation; gives the result, the
/// mean and the biased variance.
///
/// # Shapes
/// - `input` and `around`: `[N, H, W, C]`
/// - the rest: `[C]`
pub(super) fn normalise(
    input: Tensor<4>,
    weight: Tensor<1>,
    bias: Tensor<1>,
    around: Option<Tensor<4>>,
    how: Normalising,
) -> (Tensor<4>, [Tensor<1>; 2]) {
    let has_around = around.is_some();
    let weight = weight.into_dispatch();
    let around = around.map_or_else(|| weight.clone(), Tensor::into_dispatch);
    let (result, mean, variance) = <Dispatch as MapOps>::normalise_maps(
        input.into_dispatch(),
        weight,
        bias.into_dispatch(),
        around,
        has_around,
        how,
    );
    (Tensor::from_dispatch(result), [mean, variance].map(Tensor::from_dispatch))
}

/// The largest of three by three, every second one down and across.
///
/// # Shapes
/// - `maps`: `[N, H, W, C]`
pub(super) fn largest(maps: Tensor<4>) -> Tensor<4> {
    Tensor::from_dispatch(<Dispatch as MapOps>::largest_of_maps(maps.into_dispatch()))
}

/// The operations, for burn to record gradients. Where nothing goes around, any tensor stands for it.
#[backend_extension(Flex, Autodiff)]
trait MapOps: Backend {
    fn normalise_maps(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        has_around: bool,
        how: Normalising,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);

    fn largest_of_maps(maps: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl MapOps for Flex {
    fn normalise_maps(
        input: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        around: FlexTensor,
        has_around: bool,
        how: Normalising,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        let (result, found) = normalised(&input.to_contiguous(), &weight, &bias, has_around.then_some(around), how);
        let [mean, variance] = of_channels(found);
        (result, mean, variance)
    }

    fn largest_of_maps(maps: FlexTensor) -> FlexTensor {
        largest_of_windows(&maps).0
    }
}

fn normalised(
    input: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
    around: Option<FlexTensor>,
    how: Normalising,
) -> (FlexTensor, Statistics) {
    let (weight, bias, around) = (weight.to_contiguous(), bias.to_contiguous(), around.map(|map| map.to_contiguous()));
    let found = Statistics::of(input.storage(), weight.storage::<f32>().len());
    let around = around.as_ref().map(FlexTensor::storage);
    let result = found.normalise(input.storage(), weight.storage(), bias.storage(), around, how);
    (tensor_of(result, input.layout().shape().clone()), found)
}

fn of_channels(found: Statistics) -> [FlexTensor; 2] {
    [found.mean, found.variance].map(|values| {
        let shape = Shape::from([values.len()]);
        tensor_of(values, shape)
    })
}

fn largest_of_windows(maps: &FlexTensor) -> (FlexTensor, Vec<u8>) {
    let maps = maps.to_contiguous();
    let windows = largest::Windows::over(maps.layout().shape().dims::<4>());
    let (values, winners) = windows.largest(maps.storage());
    (tensor_of(values, Shape::from(windows.result_shape())), winners)
}

impl<C: CheckpointStrategy> MapOps for Autodiff<Flex, C> {
    fn normalise_maps(
        input: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        around: FloatTensor<Self>,
        has_around: bool,
        how: Normalising,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let nodes = [input.node(), weight.node(), bias.node(), around.node()];
        let [input, weight, bias, around] = [input, weight, bias, around].map(FloatTensor::<Self>::into_primitive);
        let input = input.to_contiguous();
        let (result, found) = normalised(&input, &weight, &bias, has_around.then_some(around), how);
        let result = match Normalise.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let cut = (how.activation != Activation::None).then(|| result.clone());
                prepared.finish(Kept { input, weight, found: found.clone(), cut, has_around, how }, result)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(result),
        };
        let [mean, variance] = of_channels(found).map(FloatTensor::<Self>::new);
        (result, mean, variance)
    }

    fn largest_of_maps(maps: FloatTensor<Self>) -> FloatTensor<Self> {
        let nodes = [maps.node()];
        let maps = maps.into_primitive();
        let (result, winners) = largest_of_windows(&maps);
        match Largest.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                prepared.finish((Arc::new(winners), maps.layout().shape().dims::<4>()), result)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(result),
        }
    }
}

/// What the backward pass of a normalisation needs of the forward pass.
#[derive(Debug, Clone)]
struct Kept {
    input: FlexTensor,
    weight: FlexTensor,
    found: Statistics,
    /// The results, where an activation cut them.
    cut: Option<FlexTensor>,
    has_around: bool,
    how: Normalising,
}

#[derive(Debug)]
struct Normalise;

impl Backward<Flex, 4> for Normalise {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, 4>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let mut gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let Kept { input, weight, found, cut, has_around, how } = ops.state;
        let [of_input, of_weight, of_bias, of_around] = ops.parents;
        let of_around = of_around.filter(|_| has_around);
        let (weight, shape) = (weight.to_contiguous(), input.layout().shape().clone());
        let cut = cut.as_ref().map(FlexTensor::storage);
        let sums = found.gradient_sums(input.storage(), cut, gradient.storage(), how);
        if of_input.is_some() || of_around.is_some() {
            // What passes the activation takes the place of the gradient, which nothing else needs.
            let to_input =
                found.input_gradient(input.storage(), weight.storage(), cut, &sums, gradient.storage_mut(), how);
            if let Some(node) = of_input {
                gradients.register::<Flex>(node.id, tensor_of(to_input, shape));
            }
            if let Some(node) = of_around {
                gradients.register::<Flex>(node.id, gradient);
            }
        }
        for (node, values) in [(of_weight, sums.weight), (of_bias, sums.bias)] {
            if let Some(node) = node {
                let shape = Shape::from([values.len()]);
                gradients.register::<Flex>(node.id, tensor_of(values, shape));
            }
        }
    }
}

#[derive(Debug)]
struct Largest;

impl Backward<Flex, 1> for Largest {
    type State = (Arc<Vec<u8>>, [usize; 4]);

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let (winners, shape) = ops.state;
        let [Some(node)] = ops.parents else { return };
        let to_maps = largest::Windows::over(shape).spread(gradient.storage(), &winners);
        gradients.register::<Flex>(node.id, tensor_of(to_maps, Shape::from(shape)));
    }
}

#[cfg(test)]
mod tests;
