//! Samples as an encoder takes them, and how bytes become its numbers.

#[cfg(feature = "cuda")]
use burn::tensor::Device;
use burn::tensor::Tensor;
#[cfg(feature = "cuda")]
use chimera_data::error::{Error, Result};
#[cfg(feature = "cuda")]
use chimera_data::media::frames::FrameShape;

#[cfg(feature = "cuda")]
use super::cuda;

/// ImageNet's mean of red, green and blue, of a range from 0 to 1.
pub const MEAN: [f32; 3] = [0.485, 0.456, 0.406];

/// ImageNet's standard deviation of red, green and blue.
pub const DEVIATION: [f32; 3] = [0.229, 0.224, 0.225];

/// Samples as an encoder takes them.
#[derive(Clone, Debug)]
pub enum Batch {
    /// `[N * T, 3, S, S]` as [`input::normalised`](super::input::normalised) makes them.
    Frames(Tensor<4>),
    /// The same before it is on a GPU.
    #[cfg(feature = "cuda")]
    Bytes(FrameBytes),
    /// `[N, D]`
    Given(Tensor<2>),
}

#[cfg(feature = "cuda")]
impl Batch {
    /// The same where the device can compute with it.
    pub(super) fn on(self, device: &Device) -> Self {
        match self {
            Self::Bytes(frames) => Self::Frames(frames.normalised(device)),
            there => there,
        }
    }
}

/// Pixels that kernels of a GPU count at a time.
#[cfg(feature = "cuda")]
const MOST_PIXELS: usize = 1 << 30;

/// Frames on the host that a GPU makes numbers of: bytes are a quarter of them on the way there.
#[cfg(feature = "cuda")]
#[derive(Clone, Debug)]
pub struct FrameBytes {
    /// Frames x height x width x 3.
    pub(super) bytes: Vec<u8>,
    /// Count, height and width of frames.
    pub(super) sizes: [usize; 3],
}

#[cfg(feature = "cuda")]
impl FrameBytes {
    pub(super) fn of(samples: &[&[u8]], shape: FrameShape) -> Result<Self> {
        let count = samples.len() * shape.bytes() / shape.frame_bytes();
        let sizes = [count, shape.height.get(), shape.width.get()];
        if sizes.iter().product::<usize>() > MOST_PIXELS {
            let message = format!(
                "expected at most {MOST_PIXELS} pixels at a time on a GPU, got {} frames of {} x {}",
                sizes[0], sizes[2], sizes[1]
            );
            return Err(Error::input(message, Some("give a smaller `--batch`".to_owned())));
        }
        Ok(Self { bytes: samples.concat(), sizes })
    }

    /// As [`input::normalised`](super::input::normalised).
    pub(super) fn normalised(self, device: &Device) -> Tensor<4> {
        normalised_there(cuda::uploaded(self.bytes, device), self.sizes)
    }
}

/// Bytes that are on a GPU already, as [`input::normalised`](super::input::normalised).
#[cfg(feature = "cuda")]
pub(super) fn normalised_there(bytes: Tensor<1, burn::tensor::Int>, sizes: [usize; 3]) -> Tensor<4> {
    let [factor, summand] = affine();
    cuda::frames(bytes, sizes, factor, summand)
}

/// What a byte of each channel is multiplied by, and what is added then.
pub(super) fn affine() -> [[f32; 3]; 2] {
    let factor = [0, 1, 2].map(|channel| 1.0 / (255.0 * DEVIATION[channel]));
    [factor, [0, 1, 2].map(|channel| -MEAN[channel] / DEVIATION[channel])]
}
