//! One step of Adam, in one kernel a parameter.

use burn::backend::{BackendTensor, Cube, DType, DispatchTensor, DispatchTensorKind};
use burn::tensor::Tensor;

use super::launch::{Array, Kernel, Numbers, Source, array, blocks, contiguous, floats, launch};

/// What a step of Adam depends on beside the parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::leaf) struct AdamNumbers {
    pub beta_1: f32,
    pub beta_2: f32,
    pub weight_decay: f32,
    pub unbias: f32,
    pub epsilon: f32,
    pub rate: f32,
}

/// Parameters, gradient and both means to parameters and means; the same back where they are not on the device.
pub(in crate::leaf) fn adam<const D: usize>(
    tensors: [Tensor<D>; 4],
    numbers: AdamNumbers,
) -> Result<[Tensor<D>; 3], Box<[Tensor<D>; 4]>> {
    let [Some(values), Some(gradient), Some(first), Some(second)] = tensors.each_ref().map(array_of) else {
        return Err(Box::new(tensors));
    };
    let shape = tensors[0].dims();
    // From here on nobody holds them who would keep them from being written in place.
    drop(tensors);
    let [values, gradient, first, second] = [values, gradient, first, second].map(contiguous);
    let count: usize = shape.iter().product();
    // What nobody else holds is written in place.
    let target = |tensor: &Array| {
        if tensor.handle.can_mut() { tensor.handle.clone() } else { floats(&tensor.client, count) }
    };
    let targets = [&values, &first, &second].map(target);
    let AdamNumbers { beta_1, beta_2, weight_decay, unbias, epsilon, rate } = numbers;
    launch(
        &values.client,
        Kernel::plain(Source::Arrange, "adam"),
        blocks(count),
        &[&values.handle, &gradient.handle, &first.handle, &second.handle],
        &[&targets[0], &targets[1], &targets[2]],
        Numbers::of([count]).floats([beta_1, beta_2, weight_decay, unbias, epsilon, rate]),
    );
    Ok(targets.map(|handle| Tensor::from_primitive::<Cube>(array(&values, handle, shape))))
}

/// The numbers of a tensor of 32-bit floats that lies on the device and records no gradients.
fn array_of<const D: usize>(tensor: &Tensor<D>) -> Option<Array> {
    let DispatchTensor { kind, .. } = tensor.clone().into_dispatch();
    match kind {
        DispatchTensorKind::Cube(BackendTensor::Float(array)) if array.dtype == DType::F32 => Some(array),
        _ => None,
    }
}
