//! The leaf bank: an encoder and one linear head a concept. It is made from a seed, trained by somebody else, stored
//! as two files, and known by fingerprints of everything that its numbers depend on.

mod fingerprint;

use std::path::Path;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use chimera_data::error::{Error, Result};
use serde::{Deserialize, Serialize};

pub use self::fingerprint::Fingerprint;
use super::device;
use super::encoder::{Batch, Encoder, EncoderConfig};
use super::features::Scale;
use super::init::Initial;
use super::layer::Linear;
use super::{parameters, weights};

/// Samples that are encoded together.
pub const TOGETHER: usize = 64;

/// What a leaf bank is, beside its weights.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LeafBankConfig {
    /// What gives z.
    pub encoder: EncoderConfig,
    /// The concepts, in the order of the heads.
    pub concepts: Vec<String>,
}

/// Encoder and heads.
///
/// Like every module of burn it trains on a device that records gradients ([`Module::train`]) and answers on one that
/// does not ([`Module::valid`]). A clone shares its running statistics with the original; what `valid` gives has its
/// own.
#[derive(Module, Debug)]
pub struct LeafBank {
    encoder: Encoder,
    heads: Linear,
    #[module(skip)]
    config: LeafBankConfig,
}

/// What a leaf bank says about samples.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Features, `[N, F]`.
    pub z: Tensor<2>,
    /// One number a concept, `[N, K]`.
    pub logits: Tensor<2>,
}

/// A file that was read, with its name for messages.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    /// The file as the caller named it.
    pub file: &'a Path,
    /// Its content.
    pub bytes: &'a [u8],
}

impl LeafBankConfig {
    /// A leaf bank with initial weights.
    ///
    /// # Errors
    /// [`Error::Input`] for numbers out of range and for no concepts.
    pub fn init(&self, seed: u64, device: &device::Device) -> Result<LeafBank> {
        self.init_on(seed, device.tensors())
    }

    /// The same on a device as tensors know it.
    ///
    /// # Errors
    /// As [`Self::init`].
    pub fn init_on(&self, seed: u64, device: &Device) -> Result<LeafBank> {
        self.start(Some(seed), device)
    }

    fn start(&self, seed: Option<u64>, device: &Device) -> Result<LeafBank> {
        self.encoder.check()?;
        if self.concepts.is_empty() {
            return Err(Error::input("expected concepts to learn, got none".to_owned(), None));
        }
        let mut initial = Initial::new(seed, "heads", device);
        Ok(LeafBank {
            encoder: Encoder::new(&self.encoder, seed, device),
            heads: Linear::new(&mut initial, self.encoder.features(), self.concepts.len()),
            config: self.clone(),
        })
    }

    /// A leaf bank with the weights that [`LeafBank::encoder_bytes`] and [`LeafBank::head_bytes`] gave.
    ///
    /// # Errors
    /// [`Error::Input`] that names the file and what does not fit: a tensor's name, shape or numbers.
    pub fn restore(&self, encoder: Stored<'_>, heads: Stored<'_>, device: &device::Device) -> Result<LeafBank> {
        self.restored(encoder, heads, device.tensors())
    }

    /// The same on a device as tensors know it.
    pub(crate) fn restored(&self, encoder: Stored<'_>, heads: Stored<'_>, device: &Device) -> Result<LeafBank> {
        let LeafBank { encoder: empty_encoder, heads: empty_heads, config } = self.start(None, device)?;
        let filled = parameters::from_bytes(encoder.file, encoder.bytes)?;
        let encoder = parameters::filled(empty_encoder, encoder.file, filled)?;
        let filled = parameters::from_bytes(heads.file, heads.bytes)?;
        let heads = parameters::filled(empty_heads, heads.file, filled)?;
        Ok(LeafBank { encoder, heads, config })
    }
}

impl LeafBank {
    /// What it was made from.
    #[must_use]
    pub fn config(&self) -> &LeafBankConfig {
        &self.config
    }

    /// The device that it computes on.
    #[must_use]
    pub fn device(&self) -> device::Device {
        self.tensors().into()
    }

    /// The same as tensors know it, and whether gradients are recorded there. Batches must be made for it.
    #[must_use]
    pub fn tensors(&self) -> Device {
        self.heads.device()
    }

    /// The bank with the backbone of a file of torchvision's weights.
    ///
    /// # Errors
    /// [`Error::Read`], and [`Error::Input`] that names the file, the tensor, what was expected and what was got.
    pub fn with_weights(self, file: &Path) -> Result<Self> {
        let bytes = weights::read(file)?;
        self.with_stored_weights(Stored { file, bytes: &bytes })
    }

    /// The same with a file that was read before.
    ///
    /// # Errors
    /// [`Error::Input`] as there.
    pub fn with_stored_weights(mut self, Stored { file, bytes }: Stored<'_>) -> Result<Self> {
        self.encoder = self.encoder.with_weights(file, bytes)?;
        Ok(self)
    }

    /// The bank with given features brought to one scale before the projection. One without a projection stays as it
    /// is.
    ///
    /// # Errors
    /// [`Error::Input`] for a scale of another width.
    pub(crate) fn with_scale(mut self, scale: &Scale) -> Result<Self> {
        match self.config.encoder {
            EncoderConfig::Given { width, .. } if width == scale.width() => {
                let device = self.tensors();
                self.encoder = self.encoder.with_scale(scale, &device);
                Ok(self)
            }
            EncoderConfig::Given { width, .. } => {
                Err(Error::input(format!("expected a scale of {width} features, got one of {}", scale.width()), None))
            }
            EncoderConfig::Frames { .. } => Err(Error::input("frames have no scale of features".to_owned(), None)),
        }
    }

    /// The bank with its backbone frozen: no gradients, batch normalisation by running statistics. Pooling, projection
    /// and heads still train.
    #[must_use]
    pub fn frozen(mut self) -> Self {
        self.encoder.backbone = self.encoder.backbone.freeze();
        self
    }

    /// z and logits of some samples.
    ///
    /// # Shapes
    /// - `batch`: `[N * T, 3, S, S]` or `[N, D]`
    /// - output: `[N, F]` and `[N, K]`
    ///
    /// # Errors
    /// [`Error::Input`] for a batch of another kind or shape.
    pub fn forward(&self, batch: Batch) -> Result<Answer> {
        self.after_backbone(self.backbone(batch)?)
    }

    /// The backbone alone. While it is frozen, its vectors can be kept from epoch to epoch.
    ///
    /// # Shapes
    /// - `batch`: `[N * T, 3, S, S]` or `[N, D]`
    /// - output: `[N * T, D]`
    ///
    /// # Errors
    /// [`Error::Input`] for a batch of another kind or shape.
    pub fn backbone(&self, batch: Batch) -> Result<Tensor<2>> {
        #[cfg(feature = "cuda")]
        let batch = batch.on(&self.tensors());
        let (expected, got) = match (self.config.encoder, &batch) {
            (EncoderConfig::Frames { size, .. }, Batch::Frames(frames)) => {
                (vec![3, size, size], frames.dims()[1..].to_vec())
            }
            (EncoderConfig::Given { width, .. }, Batch::Given(features)) => {
                (vec![width], features.dims()[1..].to_vec())
            }
            _ => Default::default(),
        };
        if let Batch::Frames(frames) = &batch
            && frames.dims()[0] == 0
        {
            return Err(Error::input("expected frames to look at, got none".to_owned(), None));
        }
        if expected != got {
            return Err(Error::input(format!("expected samples of shape {expected:?}, got {got:?}"), None));
        }
        self.encoder.backbone.forward(batch)
    }

    /// What follows the backbone.
    ///
    /// # Shapes
    /// - `frames`: `[N * T, D]`, frames of a sample after one another
    /// - output: `[N, F]` and `[N, K]`
    ///
    /// # Errors
    /// [`Error::Input`] where the frames are not those of whole samples.
    pub(crate) fn after_backbone(&self, frames: Tensor<2>) -> Result<Answer> {
        let count = self.frames_of_whole_samples(&frames)?;
        let z = self.encoder.pooled(frames, count);
        let logits = self.heads.forward(z.clone());
        Ok(Answer { z, logits })
    }

    /// Frames a sample, where these vectors are those of whole samples.
    fn frames_of_whole_samples(&self, frames: &Tensor<2>) -> Result<usize> {
        let (rows, count) = (frames.dims()[0], self.config.encoder.frames());
        if rows == 0 || !rows.is_multiple_of(count) {
            return Err(Error::input(format!("expected samples of {count} frames, got {rows} frames"), None));
        }
        Ok(count)
    }

    /// The same, with numbers of a sample that do not depend on how many others there are. Products of few rows are
    /// rounded in another way than those of many, so samples always go in groups of [`TOGETHER`], the last filled up.
    ///
    /// # Shapes
    /// As [`LeafBank::after_backbone`].
    ///
    /// # Errors
    /// As [`LeafBank::after_backbone`].
    pub fn after_backbone_alike(&self, frames: &Tensor<2>) -> Result<Answer> {
        let ([rows, width], sample) = (frames.dims(), self.frames_of_whole_samples(frames)?);
        let group = TOGETHER * sample;
        let (mut all_z, mut all_logits) = (Vec::new(), Vec::new());
        for start in (0..rows).step_by(group) {
            let count = group.min(rows - start);
            let part = frames.clone().narrow(0, start, count);
            let padding = Tensor::zeros([group - count, width], &frames.device());
            let whole = if count < group { Tensor::cat(vec![part, padding], 0) } else { part };
            let Answer { z, logits } = self.after_backbone(whole)?;
            all_z.push(z.narrow(0, 0, count / sample));
            all_logits.push(logits.narrow(0, 0, count / sample));
        }
        Ok(Answer { z: Tensor::cat(all_z, 0), logits: Tensor::cat(all_logits, 0) })
    }

    /// Logits of z that was computed before.
    ///
    /// # Shapes
    /// - `z`: `[N, F]`
    /// - output: `[N, K]`
    #[must_use]
    pub fn logits(&self, z: Tensor<2>) -> Tensor<2> {
        self.heads.forward(z)
    }

    /// The weights of each concept's head.
    #[must_use]
    pub fn head_weights(&self) -> Vec<Vec<f32>> {
        let taken = parameters::taken(&self.heads);
        let width = self.config.encoder.features().max(1);
        taken
            .get("weight")
            .map_or_else(Vec::new, |array| array.values.chunks_exact(width).map(<[f32]>::to_vec).collect())
    }

    /// Whether all weights and running statistics are numbers.
    pub(super) fn is_finite(&self) -> bool {
        let parts = [parameters::taken(&self.encoder), parameters::taken(&self.heads)];
        parts
            .iter()
            .flat_map(std::collections::BTreeMap::values)
            .all(|array| array.values.iter().all(|value| value.is_finite()))
    }

    /// The content of `encoder.safetensors`. The same weights give the same bytes.
    ///
    /// # Errors
    /// [`Error::Input`] where the format cannot hold the weights.
    pub fn encoder_bytes(&self) -> Result<Vec<u8>> {
        parameters::to_bytes(&parameters::taken(&self.encoder))
    }

    /// The content of `heads.safetensors`: `weight` of shape `[K, F]` and `bias` of shape `[K]`.
    ///
    /// # Errors
    /// [`Error::Input`] where the format cannot hold the weights.
    pub fn head_bytes(&self) -> Result<Vec<u8>> {
        parameters::to_bytes(&parameters::taken(&self.heads))
    }
}
