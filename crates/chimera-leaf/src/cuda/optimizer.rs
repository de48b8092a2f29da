//! One step of Adam, in one kernel a parameter.

use burn::backend::{BackendTensor, Cube, DType, DispatchTensor, DispatchTensorKind};
use burn::tensor::Tensor;

use super::launch::{Array, Kernel, Numbers, Source, array, blocks, contiguous, floats, launch};

/// What a step of Adam depends on beside the parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AdamNumbers {
    pub beta_1: f32,
    pub beta_2: f32,
    pub weight_decay: f32,
    pub unbias: f32,
    pub epsilon: f32,
    pub rate: f32,
}

impl AdamNumbers {
    /// In the order of the kernels' struct.
    pub(crate) fn in_order(self) -> [f32; 6] {
        let Self { beta_1, beta_2, weight_decay, unbias, epsilon, rate } = self;
        [beta_1, beta_2, weight_decay, unbias, epsilon, rate]
    }
}

/// Where a step finds its numbers.
#[derive(Debug, Clone)]
pub(crate) enum AdamStep {
    /// They are given to the kernel.
    Now(AdamNumbers),
    /// They are on the device, since the step is recorded: each time that it is repeated they are others. Parameters and
    /// means stay where they lie.
    Recorded(Box<Tensor<1>>),
}

/// Parameters, gradient and both means to parameters and means; the same back where they are not on the device.
pub(crate) fn adam<const D: usize>(
    tensors: [Tensor<D>; 4],
    step: &AdamStep,
) -> Result<[Tensor<D>; 3], Box<[Tensor<D>; 4]>> {
    let [Some(values), Some(gradient), Some(first), Some(second)] = tensors.each_ref().map(array_of) else {
        return Err(Box::new(tensors));
    };
    let shape = tensors[0].dims();
    let count: usize = shape.iter().product();
    let (entry, recorded, numbers) = match step {
        AdamStep::Now(numbers) => ("adam", None, Numbers::of([count]).floats(numbers.in_order())),
        AdamStep::Recorded(numbers) => match array_of(numbers) {
            Some(numbers) => ("recorded_adam", Some(numbers), Numbers::of([count])),
            None => return Err(Box::new(tensors)),
        },
    };
    // From here on nobody holds them who would keep them from being written in place.
    drop(tensors);
    let [values, gradient, first, second] = [values, gradient, first, second].map(contiguous);
    // What nobody else holds is written in place.
    let target = |tensor: &Array| {
        let in_place = recorded.is_some() || tensor.handle.can_mut();
        if in_place { tensor.handle.clone() } else { floats(&tensor.client, count) }
    };
    let targets = [&values, &first, &second].map(target);
    let mut read = vec![&values.handle, &gradient.handle, &first.handle, &second.handle];
    read.extend(recorded.as_ref().map(|numbers| &numbers.handle));
    let written = targets.each_ref();
    launch(&values.client, Kernel::plain(Source::Arrange, entry), blocks(count), &read, &written, numbers);
    Ok(targets.map(|handle| Tensor::from_primitive::<Cube>(array(&values, handle, shape))))
}

/// The numbers of a tensor of 32-bit floats that lies on the device and records no gradients.
pub(super) fn array_of<const D: usize>(tensor: &Tensor<D>) -> Option<Array> {
    let DispatchTensor { kind, .. } = tensor.clone().into_dispatch();
    match kind {
        DispatchTensorKind::Cube(BackendTensor::Float(array)) if array.dtype == DType::F32 => Some(array),
        _ => None,
    }
}
