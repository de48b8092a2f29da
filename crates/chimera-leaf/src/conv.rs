//! Convolution over batches of images: burn's tensors and gradients outside, our own loop on the CPU inside.
//!
//! [`conv2d`] is the door. On the CPU (burn's `flex`) and on NVIDIA GPUs it runs as an operation of our own, because
//! burn's is much slower there; on any other device it is burn's own convolution. Bias, ReLU and pooling
//! are part of the operation: apart, each would read and write every activation once more.

mod backward;
mod buffers;
mod forward;
mod phases;
mod pool;
mod pooled;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::{FlexTensor, Layout};
use burn::backend::tensor::FloatTensor;
use burn::backend::{
    Autodiff, Backend, BackendTensor, DType, Dispatch, DispatchTensorKind, Flex, Shape, backend_extension,
};
use burn::tensor::{
    Bytes, Device, Tensor, activation, module,
    ops::{ConvOptions, MaxPoolOptions},
};

use super::geometry::Geometry;
pub use super::geometry::Order;
#[cfg(feature = "cuda")]
use super::{activation::Activation, cuda};
use backward::{Asked, Known};
use buffers::BYTES;
pub(super) use buffers::FLOATS;
use forward::Ends;

/// How a convolution moves over its images, and what it does with its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution {
    /// Pixels from one window to the next, at least one.
    pub stride: usize,
    /// Zeros around the image.
    pub padding: usize,
    /// Whether negative results become zero.
    pub relu: bool,
    /// Whether the largest of each two by two results is kept, of one or two at an odd edge. Needs channels-last
    /// results.
    pub pool: bool,
    /// Order of the axes of the images.
    pub input_order: Order,
    /// Order of the axes of the results.
    pub output_order: Order,
}

/// Slides windows of weights over images.
///
/// The results are the same bits for any number of threads; those of one image are the same alone and in a batch.
/// The work runs in the current rayon pool.
///
/// # Shapes
///
/// - `images`: `[samples, inputs, height, width]`, or as `input_order` says
/// - `weight`: `[outputs, inputs, window height, window width]`
/// - `bias`: `[outputs]`
/// - result: `[samples, outputs, height', width']`, or as `output_order` says;
///   `height' = (height + 2 padding - window height) / stride + 1`, and half of it, rounded up, with `pool`
///
/// # Panics
///
/// When shapes do not fit together, as burn's own operations do, and where there is no image or the padding is as
/// large as a window.
pub(crate) fn conv2d(images: Tensor<4>, weight: Tensor<4>, bias: Option<Tensor<1>>, how: Convolution) -> Tensor<4> {
    #[cfg(feature = "cuda")]
    if cuda::runs_here(&images) {
        return cuda::convolve(images, weight, bias, None, how.into());
    }
    if !runs_here(&images) {
        return conv2d_of_burn(images, weight, bias, how);
    }
    let bias = bias.unwrap_or_else(|| Tensor::zeros([weight.dims()[0]], &images.device()));
    Tensor::from_dispatch(<Dispatch as ConvolutionOps>::convolve(
        images.into_dispatch(),
        weight.into_dispatch(),
        bias.into_dispatch(),
        how,
    ))
}

#[cfg(feature = "cuda")]
impl From<Convolution> for cuda::Window {
    fn from(how: Convolution) -> Self {
        let Convolution { stride, padding, relu, pool, input_order, output_order } = how;
        let activation = if relu { Activation::Relu } else { Activation::None };
        Self { stride, padding, activation, pool, input_order, output_order, has_bias: false, has_around: false }
    }
}

/// The same with burn's own operations: the way on other devices, and the oracle of the tests.
pub(crate) fn conv2d_of_burn(
    images: Tensor<4>,
    weight: Tensor<4>,
    bias: Option<Tensor<1>>,
    how: Convolution,
) -> Tensor<4> {
    let images = match how.input_order {
        Order::ChannelsFirst => images,
        Order::ChannelsLast => images.permute([0, 3, 1, 2]),
    };
    let options = ConvOptions::new([how.stride; 2], [how.padding; 2], [1, 1], 1);
    let results = module::conv2d(images, weight, bias, options);
    let results = if how.relu { activation::relu(results) } else { results };
    let pooling = MaxPoolOptions { ceil_mode: true, ..MaxPoolOptions::new([2, 2]) };
    let results = if how.pool { module::max_pool2d(results, pooling) } else { results };
    match how.output_order {
        Order::ChannelsFirst => results,
        Order::ChannelsLast => results.permute([0, 2, 3, 1]),
    }
}

/// A convolution where no gradient is recorded, with the normalisation and the sum that follow: weights are multiplied by
/// a number an output, and a map is added before the ReLU. Results have channels last.
///
/// # Shapes
///
/// As [`conv2d`]; `factor`: `[outputs]`; `around`: that of the results.
/// Nothing comes of tensors that do not lie in the memory that our loop reads.
pub(super) fn convolve_scaled(
    images: &Tensor<4>,
    weight: &Tensor<4>,
    [factor, bias]: [&Tensor<1>; 2],
    around: Option<&Tensor<4>>,
    how: Convolution,
) -> Option<Tensor<4>> {
    let (images, weight) = (in_memory(images)?, in_memory(weight)?);
    let (factor, bias) = (in_memory(factor)?, in_memory(bias)?);
    let around = match around {
        Some(around) => Some(in_memory(around)?),
        None => None,
    };
    let geometry = geometry(&images, &weight, how);
    let ends = Ends {
        factor: Some(factor.storage()),
        bias: bias.storage(),
        around: around.as_ref().map(FlexTensor::storage),
        positive: how.relu,
    };
    let results = forward::forward(&geometry, images.storage(), weight.storage(), ends);
    let [height, width] = geometry.output_size();
    let shape = Shape::from([geometry.samples, height, width, geometry.outputs]);
    Some(Tensor::from_primitive::<Flex>(tensor_of(results.values, shape)))
}

/// The numbers of a tensor in the memory of this process, where they are there and no gradient is recorded.
fn in_memory<const D: usize>(tensor: &Tensor<D>) -> Option<FlexTensor> {
    match tensor.clone().into_dispatch().kind {
        DispatchTensorKind::Flex(BackendTensor::Float(tensor)) if tensor.dtype() == DType::F32 => {
            Some(tensor.to_contiguous())
        }
        _ => None,
    }
}

/// Whether a tensor of 32-bit floats lies in the memory that our loop reads.
pub(super) fn runs_here<const D: usize>(tensor: &Tensor<D>) -> bool {
    let on_flex = match tensor.clone().into_dispatch().kind {
        DispatchTensorKind::Flex(_) => true,
        DispatchTensorKind::Autodiff(inner) => matches!(*inner, DispatchTensorKind::Flex(_)),
        #[allow(unreachable_patterns, reason = "burn has more variants with the features of other devices")]
        _ => false,
    };
    on_flex && tensor.dtype() == DType::F32
}

/// Whether a device works off a queue of its own, so that reading a number waits for all that came before.
pub(crate) fn has_queue(device: &Device) -> bool {
    !runs_here(&Tensor::<1>::zeros([1], device))
}

#[backend_extension(Flex, Autodiff)]
trait ConvolutionOps: Backend {
    fn convolve(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        how: Convolution,
    ) -> FloatTensor<Self>;
}

impl ConvolutionOps for Flex {
    fn convolve(images: FlexTensor, weight: FlexTensor, bias: FlexTensor, how: Convolution) -> FlexTensor {
        let geometry = geometry(&images, &weight, how);
        let (results, winners) = convolve(&geometry, &images, &weight, &bias, how);
        leave(images);
        BYTES.leave(winners);
        results
    }
}

/// Results, and the winners of their pooling.
fn convolve(
    geometry: &Geometry,
    images: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
    how: Convolution,
) -> (FlexTensor, Vec<u8>) {
    let (images, weight, bias) = (images.to_contiguous(), weight.to_contiguous(), bias.to_contiguous());
    let ends = Ends { factor: None, bias: bias.storage(), around: None, positive: how.relu };
    let results = forward::forward(geometry, images.storage(), weight.storage(), ends);
    let [height, width] = geometry.output_size();
    let shape = match how.output_order {
        Order::ChannelsFirst => [geometry.samples, geometry.outputs, height, width],
        Order::ChannelsLast => [geometry.samples, height, width, geometry.outputs],
    };
    (tensor_of(results.values, Shape::from(shape)), results.winners)
}

impl<C: CheckpointStrategy> ConvolutionOps for Autodiff<Flex, C> {
    fn convolve(
        images: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        how: Convolution,
    ) -> FloatTensor<Self> {
        let nodes = [images.node(), weight.node(), bias.node()];
        let (images, weight, bias) = (images.into_primitive(), weight.into_primitive(), bias.into_primitive());
        match Convolve.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let (results, winners) = convolve(&geometry(&images, &weight, how), &images, &weight, &bias, how);
                let cut = how.relu.then(|| results.clone());
                prepared.finish(Kept { images, weight, cut, winners: Arc::new(winners), how }, results)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::convolve(images, weight, bias, how)),
        }
    }
}

/// What the backward pass of a convolution needs of the forward pass.
#[derive(Debug, Clone)]
struct Kept {
    images: FlexTensor,
    weight: FlexTensor,
    /// The results, where a ReLU cut them: their zeros say what passes nothing back.
    cut: Option<FlexTensor>,
    winners: Arc<Vec<u8>>,
    how: Convolution,
}

#[derive(Debug)]
struct Convolve;

impl Backward<Flex, 3> for Convolve {
    type State = Kept;

    fn backward(self, ops: Ops<Kept, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let Kept { images, weight, cut, winners, how } = ops.state;
        let geometry = geometry(&images, &weight, how);
        let (image_shape, weight_shape) = (images.layout().shape().clone(), weight.layout().shape().clone());
        let [of_images, of_weight, of_bias] = ops.parents;
        let (images, weight) = (images.to_contiguous(), weight.to_contiguous());
        let known = Known {
            geometry: &geometry,
            images: images.storage(),
            weight: weight.storage(),
            cut: cut.as_ref().map(FlexTensor::storage),
            winners: &winners,
            gradient: gradient.storage(),
        };
        let back = backward::backward(known, Asked { images: of_images.is_some(), bias: of_bias.is_some() });
        [Some(gradient), cut].into_iter().flatten().for_each(leave);
        if let Ok(winners) = Arc::try_unwrap(winners) {
            BYTES.leave(winners);
        }
        if let (Some(node), Some(images)) = (of_images, back.images) {
            gradients.register::<Flex>(node.id, tensor_of(images, image_shape));
        }
        if let Some(node) = of_weight {
            gradients.register::<Flex>(node.id, tensor_of(back.weight, weight_shape));
        }
        if let Some(node) = of_bias {
            gradients.register::<Flex>(node.id, tensor_of(back.bias, Shape::from([geometry.outputs])));
        }
    }
}

fn geometry(images: &FlexTensor, weight: &FlexTensor, how: Convolution) -> Geometry {
    let (images, weight) = (images.layout().shape().dims::<4>(), weight.layout().shape().dims::<4>());
    let (samples, inputs, size) = match how.input_order {
        Order::ChannelsFirst => (images[0], images[1], [images[2], images[3]]),
        Order::ChannelsLast => (images[0], images[3], [images[1], images[2]]),
    };
    assert!(!how.pool || how.output_order == Order::ChannelsLast, "pooling needs channels-last results");
    assert!(samples > 0, "there are no images");
    assert!(how.stride > 0, "a convolution moves by at least one pixel");
    assert!(weight[1] == inputs, "expected images of {} channels, got {inputs}", weight[1]);
    let kernel = [weight[2], weight[3]];
    for axis in 0..2 {
        let padded = size[axis] + 2 * how.padding;
        assert!(kernel[axis] > 0 && kernel[axis] <= padded, "a window of {kernel:?} in an image of {size:?}");
        assert!(how.padding < kernel[axis], "a padding of {} around windows of {kernel:?}", how.padding);
    }
    Geometry {
        samples,
        size,
        inputs,
        outputs: weight[0],
        kernel,
        stride: how.stride,
        padding: how.padding,
        pool: how.pool,
        input_order: how.input_order,
        output_order: how.output_order,
    }
}

/// Keeps the buffer of a tensor, where nothing else needs it.
pub(super) fn leave(tensor: FlexTensor) {
    let bytes = tensor.data_arc();
    drop(tensor);
    if let Ok(floats) = Arc::try_unwrap(bytes).map_err(drop).and_then(|bytes| bytes.try_into_vec().map_err(drop)) {
        FLOATS.leave(floats);
    }
}

pub(super) fn tensor_of(values: Vec<f32>, shape: Shape) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), Layout::contiguous(shape), DType::F32)
}
