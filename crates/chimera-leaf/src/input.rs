//! Frames as bytes to the tensor that encoders of pictures see: planes of numbers, normalised by the statistics of
//! ImageNet.

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use burn::tensor::{Device, Tensor, TensorData};
use chimera_data::error::{Error, Result};
use chimera_data::media::frames::FrameShape;
use chimera_data::parallel::in_parallel;

#[cfg(feature = "cuda")]
use super::batch::FrameBytes;
use super::batch::{Batch, affine};
pub use super::batch::{DEVIATION, MEAN};
#[cfg(feature = "cuda")]
use super::cuda;

/// Frames that one thread converts at least: fewer are not worth starting it.
const FRAMES_A_THREAD: usize = 4;

/// Makes a batch from samples, each frames x height x width x 3 bytes.
///
/// # Errors
/// As [`normalised`].
pub fn batch(samples: &[&[u8]], shape: FrameShape, threads: NonZeroUsize, device: &Device) -> Result<Batch> {
    #[cfg(feature = "cuda")]
    if cuda::runs_on(device) {
        check(samples, shape)?;
        return FrameBytes::of(samples, shape).map(Batch::Bytes);
    }
    normalised(samples, shape, threads, device).map(Batch::Frames)
}

/// Makes the input of encoders from samples, each frames x height x width x 3 bytes.
///
/// # Shapes
/// - output: `[N * T, 3, height, width]`, frames of a sample after one another
///
/// # Errors
/// [`Error::Input`] for a sample whose bytes are not those of `shape`, or more pixels than a GPU takes at a time.
pub fn normalised(samples: &[&[u8]], shape: FrameShape, threads: NonZeroUsize, device: &Device) -> Result<Tensor<4>> {
    check(samples, shape)?;
    let size = shape.frame_bytes();
    #[cfg(feature = "cuda")]
    if cuda::runs_on(device) {
        return Ok(FrameBytes::of(samples, shape)?.normalised(device));
    }
    let frames: Vec<&[u8]> = samples.iter().flat_map(|sample| sample.chunks_exact(size)).collect();
    let mut planes = vec![0.0_f32; frames.len() * size];
    // Each piece has its planes for itself; the locks are there for the compiler and never waited for.
    let pieces: Vec<_> =
        frames.chunks(FRAMES_A_THREAD).zip(planes.chunks_mut(FRAMES_A_THREAD * size)).map(Mutex::new).collect();
    in_parallel(threads, pieces.len(), |piece| {
        let mut piece = pieces[piece].lock().unwrap_or_else(PoisonError::into_inner);
        let (frames, planes) = &mut *piece;
        for (frame, planes) in frames.iter().zip(planes.chunks_exact_mut(size)) {
            separate(frame, planes);
        }
        Ok(())
    })?;
    drop(pieces);
    let shape = [frames.len(), 3, shape.height.get(), shape.width.get()];
    Ok(Tensor::from_data(TensorData::new(planes, shape), device))
}

fn check(samples: &[&[u8]], shape: FrameShape) -> Result<()> {
    let Some(sample) = samples.iter().find(|sample| sample.len() != shape.bytes()) else { return Ok(()) };
    let message = format!("expected {} bytes of frames a sample, got {}", shape.bytes(), sample.len());
    Err(Error::input(message, None))
}

/// One frame of pixels to three planes.
fn separate(pixels: &[u8], planes: &mut [f32]) {
    let (pixels, _) = pixels.as_chunks::<3>();
    let (red, rest) = planes.split_at_mut(pixels.len());
    let (green, blue) = rest.split_at_mut(pixels.len());
    let [factor, summand] = affine();
    let [r, g, b] = [0, 1, 2].map(|channel| (factor[channel], summand[channel]));
    for (((pixel, red), green), blue) in pixels.iter().zip(red).zip(green).zip(blue) {
        *red = f32::from(pixel[0]) * r.0 + r.1;
        *green = f32::from(pixel[1]) * g.0 + g.1;
        *blue = f32::from(pixel[2]) * b.0 + b.1;
    }
}

/// How bytes become numbers, in words that change when the numbers do.
#[must_use]
pub fn description() -> String {
    let words = |values: [f32; 3]| values.map(|value| value.to_string()).join(" ");
    format!("rgb/255, mean {}, deviation {}", words(MEAN), words(DEVIATION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_hold_normalised_channels_at_any_thread_count() {
        let shape = FrameShape::new(3, 2, 5).unwrap();
        let sample = |start: usize| -> Vec<u8> { (0..90).map(|place| ((start + 7 * place) % 256) as u8).collect() };
        let samples: Vec<Vec<u8>> = (0..7).map(|number| sample(31 * number)).collect();
        let slices: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        for threads in [1, 3] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let tensor = normalised(&slices, shape, threads, &Device::flex()).unwrap();
            assert_eq!(tensor.dims(), [21, 3, 2, 5]);
            let found: Vec<f32> = tensor.into_data().iter::<f32>().collect();
            for (frame, channel, pixel) in [(0, 0, 0), (4, 1, 9), (11, 2, 3), (20, 2, 9)] {
                let byte = samples[frame / 3][(frame % 3) * 30 + pixel * 3 + channel];
                let expected = (f32::from(byte) / 255.0 - MEAN[channel]) / DEVIATION[channel];
                let found = found[(frame * 3 + channel) * 10 + pixel];
                assert!((found - expected).abs() < 1e-5, "{found} {expected}");
            }
        }
        let error = normalised(&[&[0; 89]], shape, NonZeroUsize::MIN, &Device::flex()).unwrap_err();
        assert_eq!(error.to_string(), "expected 90 bytes of frames a sample, got 89");
    }
}
