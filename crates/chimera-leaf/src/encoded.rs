//! Samples encoded once: z and the logits of every sample on disk, memory-mapped, so that everything after the encoder
//! reads any sample in any order whatever the size of the dataset.
//!
//! A row is known by the id of its sample and the content of its medium, a folder by the encoder. Rows lie in chunk
//! files that are whole or not there, so a killed run loses the chunk it was at, and new samples of a dataset are all
//! that is encoded when it grows. Memory holds one chunk while encoding and the place of each row afterwards.

mod cache;
mod kept;

use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use burn::tensor::Device;
use chimera_data::chunks::{Chunk, Place};
use chimera_data::error::{Error, Result};

pub use self::cache::EncodedCache;
pub use self::cache::folder_name;
pub use self::kept::Kept;
use super::bank::Fingerprint;
use super::device::number_of;

/// A good size of a chunk: some two thousand samples of 256 features and 300 concepts.
pub const CHUNK_BYTES: usize = 4 << 20;

/// What is part of a name where a GPU computes. The number is raised when its kernels give other numbers.
pub(super) const TF32: &[u8] = b"products in TF32, kernels 1\n";

/// A hash (blake3) of everything beside the medium that decides z and logits: weights of encoder and heads, the names
/// and order of concepts, and how media are prepared. The cache itself keeps apart what machines with other instructions
/// computed, since that differs in the last bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EncoderFingerprint(pub [u8; 32]);

impl EncoderFingerprint {
    /// Of a fingerprint of weights, and of the device that computes with them: a GPU rounds in another way.
    #[must_use]
    pub fn of(weights: &Fingerprint, device: &Device) -> Self {
        let [processor, gpu] = Self::of_every_device(weights);
        if number_of(device).is_some() { gpu } else { processor }
    }

    /// The two that there are for weights: on the processor, and on a GPU.
    pub fn of_every_device(weights: &Fingerprint) -> [Self; 2] {
        [&[][..], TF32].map(|arithmetic| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(weights.text.as_bytes()).update(arithmetic);
            Self(hasher.finalize().into())
        })
    }
}

impl fmt::Display for EncoderFingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

/// What a row is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowKey<'a> {
    /// The id of its sample.
    pub id: &'a str,
    /// A hash (blake3) of the medium's bytes, or of the ready-made features.
    pub content: [u8; 32],
}

/// Which cache.
#[derive(Clone, Copy, Debug)]
pub struct EncodedParams<'a> {
    /// Where the encoded samples of all encoders and datasets lie. It is created where it is missing.
    pub folder: &'a Path,
    /// The encoder.
    pub encoder: EncoderFingerprint,
    /// Numbers in a z.
    pub features: NonZeroUsize,
    /// Logits of a sample.
    pub concepts: usize,
    /// Chunks that are checked at the same time.
    pub threads: NonZeroUsize,
    /// About so many bytes go into one chunk: what a kill can lose. [`CHUNK_BYTES`] is a good choice.
    pub chunk_bytes: usize,
}

/// z and logits of all samples, in the order of their keys.
#[derive(Debug)]
pub struct Encoded {
    features: usize,
    concepts: usize,
    chunks: Vec<Chunk>,
    places: Vec<Place>,
    set_aside: Vec<PathBuf>,
    encoded: usize,
}

impl Encoded {
    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Numbers in a z.
    #[must_use]
    pub fn features(&self) -> usize {
        self.features
    }

    /// Logits of a row.
    #[must_use]
    pub fn concepts(&self) -> usize {
        self.concepts
    }

    /// Rows that this run encoded; the rest was on disk.
    #[must_use]
    pub fn encoded(&self) -> usize {
        self.encoded
    }

    /// Chunks that were found damaged, where they lie now.
    #[must_use]
    pub fn set_aside(&self) -> &[PathBuf] {
        &self.set_aside
    }

    /// The z of a row: a slice of the mapped file.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn z(&self, row: usize) -> &[f32] {
        &self.row(row)[..self.features]
    }

    /// The logits of a row, in the order of concepts.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn logits(&self, row: usize) -> &[f32] {
        &self.row(row)[self.features..]
    }

    /// Replaces `out` by the z of these rows, one after the other.
    ///
    /// # Shapes
    /// `out`: rows x features, row-major.
    ///
    /// # Errors
    /// A number that no row has.
    pub fn gather(&self, rows: &[usize], out: &mut Vec<f32>) -> Result<()> {
        self.gather_with(rows, out, self.features, Self::z)
    }

    /// Replaces `out` by the logits of these rows, one after the other.
    ///
    /// # Shapes
    /// `out`: rows x concepts, row-major.
    ///
    /// # Errors
    /// A number that no row has.
    pub fn gather_logits(&self, rows: &[usize], out: &mut Vec<f32>) -> Result<()> {
        self.gather_with(rows, out, self.concepts, Self::logits)
    }

    fn gather_with<'a>(
        &'a self,
        rows: &[usize],
        out: &mut Vec<f32>,
        width: usize,
        part: fn(&'a Self, usize) -> &'a [f32],
    ) -> Result<()> {
        if let Some(row) = rows.iter().find(|row| **row >= self.len()) {
            return Err(Error::input(format!("there is no row {row} among the {} encoded ones", self.len()), None));
        }
        out.clear();
        out.reserve(rows.len() * width);
        rows.iter().for_each(|&row| out.extend_from_slice(part(self, row)));
        Ok(())
    }

    fn row(&self, row: usize) -> &[f32] {
        let Place { chunk, slot } = self.places[row];
        // Maps begin on a page and rows are whole numbers of `f32`, so the bytes are aligned.
        bytemuck::cast_slice(self.chunks[chunk].row(slot).unwrap_or_default())
    }
}
