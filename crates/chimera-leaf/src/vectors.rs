//! The vectors of a frozen network, computed once: it gives the same ones in every epoch and to every bank that has it.
//!
//! They lie in a cache like that of z, known by the network and its weights, so that later runs with the same network read
//! them too. Pictures that are changed at random in each epoch have no vectors to keep.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor, TensorData};
use chimera_data::error::{Error, Result};
use chimera_data::media::augment::Augment;

use super::bank::{Answer, LeafBank};
use super::encoded::{CHUNK_BYTES, Encoded, EncodedParams, EncoderFingerprint};
use super::encoder::{Batch, EncoderConfig};
use super::fill::{Progress, through_cache, together};
use super::samples::Samples;

/// Vectors of every sample that has something to look at: one a frame, frames of a sample after one another.
#[derive(Debug)]
pub struct Vectors {
    encoded: Encoded,
    /// Where each row of the dataset lies; rows without a medium have no place.
    places: Vec<Option<usize>>,
    /// Frames a sample.
    frames: usize,
    /// Numbers a frame.
    width: usize,
}

impl Vectors {
    /// Runs all samples through the bank's network, unless the cache in `folder` has their vectors.
    ///
    /// # Errors
    /// A bank of given features, a folder that cannot be used, and vectors that are not finite, with the sample's name.
    pub fn make(
        bank: &LeafBank,
        samples: &Samples<'_>,
        folder: &Path,
        threads: NonZeroUsize,
        progress: &dyn Fn(Progress),
    ) -> Result<Self> {
        let EncoderConfig::Frames { network, frames, .. } = bank.config().encoder else {
            return Err(Error::input("given features have no network that could be frozen".to_owned(), None));
        };
        let width = network.width();
        let features = NonZeroUsize::new(frames * width).unwrap_or(NonZeroUsize::MIN);
        let encoder = EncoderFingerprint::of(&bank.backbone_fingerprint()?, &bank.tensors());
        let params = EncodedParams { folder, encoder, features, concepts: 0, threads, chunk_bytes: CHUNK_BYTES };
        let device = bank.tensors();
        let (encoded, places) = through_cache(&params, samples, together(bank), progress, &mut |rows, vectors, _| {
            let answer = bank.backbone(samples.batch(rows, None, &device)?)?;
            vectors.iter_mut().zip(answer.into_data().iter::<f32>()).for_each(|(to, from)| *to = from);
            Ok(())
        })?;
        Ok(Self { encoded, places, frames, width })
    }

    /// The vectors of these rows.
    ///
    /// # Shapes
    /// - output: `[N * T, D]`
    ///
    /// # Errors
    /// [`Error::Input`] for a row that has none.
    fn batch(&self, rows: &[usize], device: &Device) -> Result<Tensor<2>> {
        let place = |&row: &usize| {
            self.places[row].ok_or_else(|| Error::input(format!("row {} has nothing to look at", row + 1), None))
        };
        let places = rows.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let mut numbers = Vec::new();
        self.encoded.gather(&places, &mut numbers)?;
        Ok(Tensor::from_data(TensorData::new(numbers, [rows.len() * self.frames, self.width]), device))
    }

    /// Samples that went through the network now; the vectors of the rest were on disk.
    #[must_use]
    pub fn computed(&self) -> usize {
        self.encoded.encoded()
    }

    /// Chunks of the cache that were found damaged, where they lie now.
    #[must_use]
    pub fn set_aside(&self) -> &[PathBuf] {
        self.encoded.set_aside()
    }
}

/// How a bank looks at rows: at their frames or features, or at the vectors that its frozen network gave before.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The samples.
    pub samples: &'a Samples<'a>,
    /// Their vectors, where the network is frozen.
    pub vectors: Option<&'a Vectors>,
}

impl View<'_> {
    /// z and logits of these rows, changed at random as `augment` says for an epoch.
    ///
    /// # Errors
    /// [`Error::Input`] for a row that has nothing to look at.
    pub fn answer(&self, bank: &LeafBank, rows: &[usize], augment: Option<(&Augment, u64)>) -> Result<Answer> {
        bank.after_backbone(self.before_pooling(bank, rows, augment)?)
    }

    /// z and logits of these rows, each with the same bits alone and in any company.
    ///
    /// # Errors
    /// [`Error::Input`] for a row that has nothing to look at.
    pub fn encoded(&self, bank: &LeafBank, rows: &[usize]) -> Result<Answer> {
        bank.after_backbone_alike(&self.before_pooling(bank, rows, None)?)
    }

    fn before_pooling(&self, bank: &LeafBank, rows: &[usize], augment: Option<(&Augment, u64)>) -> Result<Tensor<2>> {
        self.seen(rows, augment, &bank.tensors())?.before_pooling(bank)
    }

    /// What a bank looks at of these rows.
    ///
    /// # Errors
    /// [`Error::Input`] for a row that has nothing to look at.
    pub fn seen(&self, rows: &[usize], augment: Option<(&Augment, u64)>, device: &Device) -> Result<Seen> {
        match self.vectors.filter(|_| augment.is_none()) {
            Some(vectors) => vectors.batch(rows, device).map(Seen::Vectors),
            None => self.samples.batch(rows, augment, device).map(Seen::Samples),
        }
    }
}

/// What a bank looks at.
#[derive(Clone, Debug)]
pub enum Seen {
    /// Frames or features.
    Samples(Batch),
    /// What a frozen network made of them before: `[N * T, D]`.
    Vectors(Tensor<2>),
}

impl Seen {
    fn before_pooling(self, bank: &LeafBank) -> Result<Tensor<2>> {
        match self {
            Self::Samples(batch) => bank.backbone(batch),
            Self::Vectors(vectors) => Ok(vectors),
        }
    }

    /// z and logits.
    ///
    /// # Errors
    /// As [`LeafBank::backbone`] and [`LeafBank::after_backbone`].
    pub fn answer(self, bank: &LeafBank) -> Result<Answer> {
        bank.after_backbone(self.before_pooling(bank)?)
    }
}
