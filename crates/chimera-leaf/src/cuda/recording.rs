//! Launches that are recorded once and then put on the queue as one: the host takes some 18 µs for each launch that it puts
//! there by itself, which is longer than most of them run.
//!
//! A recording runs on the memory that it was made with. What it is fed with is written there before it is repeated.

use burn::backend::{BackendTensor, DType, DispatchTensorKind};
use burn::cubecl::client::Graph;
use burn::cubecl::prelude::Client;
use burn::cubecl::server::{Handle, ServerError};
use burn::tensor::{Bytes, Device, Int, Tensor, TensorData};

/// What a recording is fed with: memory whose content is replaced from outside.
pub(crate) struct Fed {
    client: Client,
    handle: Handle,
}

impl Fed {
    /// Bytes, as a tensor and as a place to write to; nothing where tensors of the device lie elsewhere.
    pub(crate) fn bytes(bytes: Vec<u8>, device: &Device) -> Option<(Tensor<1, Int>, Self)> {
        let tensor = super::uploaded(bytes, device);
        match tensor.clone().into_dispatch().kind {
            DispatchTensorKind::Cube(BackendTensor::Int(array)) if array.dtype == DType::U8 => {
                Some((tensor, Self { client: array.client, handle: array.handle }))
            }
            _ => None,
        }
    }

    /// Numbers in rows, likewise. They record no gradients.
    pub(crate) fn numbers<const D: usize>(
        numbers: Vec<f32>,
        shape: [usize; D],
        device: &Device,
    ) -> Option<(Tensor<D>, Self)> {
        let length = numbers.len();
        // One axis at first: rows of several could be padded in memory.
        let tensor = Tensor::<1>::from_data(TensorData::new(numbers, [length]), &device.clone().without_autodiff());
        let tensor = tensor.reshape(shape);
        let array = super::optimizer::array_of(&tensor)?;
        Some((tensor, Self { client: array.client, handle: array.handle }))
    }

    /// Whether what was written is there; a write that failed says nothing by itself.
    pub(crate) fn check<const N: usize>(all: [&Self; N]) -> Result<(), ServerError> {
        match all.first() {
            Some(first) => first.client.check(all.iter().map(|fed| &fed.handle)),
            None => Ok(()),
        }
    }

    /// Replaces all of it, behind what is on the queue already.
    pub(crate) fn replace(&self, bytes: Vec<u8>) {
        self.client.write(&self.handle, Bytes::from_bytes_vec(bytes));
    }

    /// As [`Fed::replace`].
    pub(crate) fn replace_numbers(&self, numbers: &[f32]) {
        self.replace(bytemuck::cast_slice(numbers).to_vec());
    }

    /// Makes the queue ready for a recording. What runs until then leaves the memory behind that the recording will use.
    pub(crate) fn prepare(&self) -> Result<(), ServerError> {
        self.client.graph_prepare()
    }

    /// Records what `run` puts on the queue, none of which happens yet.
    pub(crate) fn record<T>(&self, run: impl FnOnce() -> T) -> Result<(Recording, T), ServerError> {
        if let Err(error) = self.client.start_capture() {
            self.abandon();
            return Err(error);
        }
        let result = run();
        Ok((Recording(self.client.stop_capture()?), result))
    }

    /// The queue is as before it was made ready.
    pub(crate) fn abandon(&self) {
        // There is no recording to end, which is what the error would say.
        let _ = self.client.stop_capture();
    }
}

/// Launches in their order.
pub(crate) struct Recording(Graph);

impl Recording {
    /// Puts all of it on the queue.
    pub(crate) fn repeat(&self) -> Result<(), ServerError> {
        #[allow(unsafe_code, reason = "what it reads and writes is kept where it is for as long as it lives")]
        // SAFETY: cubecl guards every page that a recorded launch was given until the recording is dropped, which waits for
        // what is under way: nothing on them moves or is handed to somebody else. Weights, means and what it is fed with
        // are held by the `Learner`, which lets go of the recording before any step that could put them elsewhere, and which
        // repeats only in the thread, and so in the queue, that recorded.
        unsafe {
            self.0.replay()
        }
    }
}
