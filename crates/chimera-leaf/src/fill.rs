//! Samples through a network, unless the cache has what it says of them.

use std::num::NonZeroUsize;

use chimera_data::error::Result;

use super::bank::{LeafBank, TOGETHER};
use super::device::number_of;
use super::encoded::{Encoded, EncodedCache, EncodedParams, RowKey};
use super::samples::Samples;

/// Fills the two slices with what is computed of some rows: `features` and `concepts` numbers a row.
type Encode<'a> = dyn FnMut(&[usize], &mut [f32], &mut [f32]) -> Result<()> + 'a;

/// Frames that go through a network at a time on a GPU, at least: fewer do not fill it.
const FRAMES_ON_GPU: usize = 512;

/// Samples that go through the encoder at a time. More are no faster and take more memory.
pub(super) fn together(bank: &LeafBank) -> NonZeroUsize {
    let frames = bank.config().encoder.frames().max(1);
    let most = match number_of(&bank.tensors()) {
        Some(_) => FRAMES_ON_GPU.div_ceil(frames).next_multiple_of(TOGETHER),
        None => TOGETHER,
    };
    NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN)
}

/// What is being done, for whoever shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process encodes the same; what it makes will be used.
    Waiting,
    /// Samples are encoded.
    Encoding {
        /// Samples done.
        done: usize,
        /// Samples that were not in the cache.
        total: usize,
    },
}

/// Numbers of every sample that has something to look at, from the cache or from `encode`, and where each row of the
/// dataset lies among them.
pub(super) fn through_cache(
    params: &EncodedParams<'_>,
    samples: &Samples<'_>,
    together: NonZeroUsize,
    progress: &dyn Fn(Progress),
    encode: &mut Encode<'_>,
) -> Result<(Encoded, Vec<Option<usize>>)> {
    let ids = &samples.dataset().table().ids;
    let mut places = vec![None; ids.len()];
    let (mut rows, mut keys) = (Vec::new(), Vec::new());
    for (row, id) in ids.iter().enumerate() {
        if let Some(content) = samples.content_hash(row) {
            places[row] = Some(rows.len());
            rows.push(row);
            keys.push(RowKey { id, content });
        }
    }
    let mut cache = EncodedCache::open(params, &keys, &|| progress(Progress::Waiting))?;
    let encode = |numbers: &[usize], first: &mut [f32], second: &mut [f32]| {
        let rows: Vec<usize> = numbers.iter().map(|&number| rows[number]).collect();
        encode(&rows, first, second)
    };
    cache.fill(together, encode, |done, total| progress(Progress::Encoding { done, total }))?;
    Ok((cache.finish()?, places))
}
