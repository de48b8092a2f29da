//! One sample, looked at again and again with something changed: frames covered in part, left out, or shown in another order.
//! A frame that stays as it is goes through the network once.

use std::num::NonZeroUsize;

use chimera_data::error::{Error, Result};
use chimera_data::media::frames::FrameShape;
use chimera_data::parallel::pool;

use crate::bank::{LeafBank, TOGETHER};
use crate::encoder::{Batch, EncoderConfig};
use crate::input;
use crate::stream::Sources;
use burn::tensor::{Int, Tensor, TensorData};

/// A sample that was read, with what the network says about each of its frames.
#[derive(Debug)]
pub struct Look<'a> {
    bank: &'a LeafBank,
    threads: NonZeroUsize,
    pool: rayon::ThreadPool,
    frames: Option<Frames>,
    /// What the backbone gives, a row a frame; given features are one frame.
    vectors: Tensor<2>,
}

/// The frames that a network sees.
#[derive(Clone, Debug)]
pub struct Frames {
    /// Frames, rows and columns.
    pub shape: FrameShape,
    /// RGB bytes, frame after frame.
    pub bytes: Vec<u8>,
}

impl Frames {
    /// The bytes of a frame.
    #[must_use]
    pub fn of(&self, frame: usize) -> &[u8] {
        let size = self.shape.frame_bytes();
        &self.bytes[frame * size..][..size]
    }
}

/// z and logits of some variants of a sample.
#[derive(Clone, Debug)]
pub struct Encoded {
    z: Vec<f32>,
    logits: Vec<f32>,
    widths: [usize; 2],
}

impl Encoded {
    /// How many variants there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.z.len() / self.widths[0]
    }

    /// z of a variant.
    #[must_use]
    pub fn z(&self, row: usize) -> &[f32] {
        &self.z[row * self.widths[0]..][..self.widths[0]]
    }

    /// Logits of a variant, one a concept.
    #[must_use]
    pub fn logits(&self, row: usize) -> &[f32] {
        &self.logits[row * self.widths[1]..][..self.widths[1]]
    }
}

impl<'a> Look<'a> {
    /// Reads a sample and runs it through the backbone.
    ///
    /// # Errors
    /// As [`Sources::check`], and a medium or features that cannot be read.
    pub fn read(bank: &'a LeafBank, sources: Sources<'_>, sample: usize, threads: NonZeroUsize) -> Result<Self> {
        let encoder = &bank.config().encoder;
        sources.check(encoder)?;
        let pool = pool(threads)?;
        let (frames, vectors) = match *encoder {
            EncoderConfig::Frames { frames, size, .. } => {
                let shape = FrameShape::new(frames, size, size)?;
                let Some(path) = sources.path(sample) else {
                    return Err(Error::input(format!("`{}` has no medium to look at", sources.id(sample)), None));
                };
                let mut bytes = vec![0; shape.bytes()];
                sources.media_reader()?.read(&path, shape, &mut bytes)?;
                let batch = Batch::Frames(input::normalised(&[&bytes], shape, threads, &bank.tensors())?);
                (Some(Frames { shape, bytes }), pool.install(|| bank.backbone(batch))?)
            }
            EncoderConfig::Given { width, .. } => {
                let features = sources.features(sample)?;
                if let Some(wrong) = features.iter().find(|number| !number.is_finite()) {
                    let message = format!("expected finite features of `{}`, got `{wrong}`", sources.id(sample));
                    return Err(Error::input(message, None));
                }
                let batch = Tensor::from_data(TensorData::new(features, [1, width]), &bank.tensors());
                (None, pool.install(|| bank.backbone(Batch::Given(batch)))?)
            }
        };
        Ok(Self { bank, threads, pool, frames, vectors })
    }

    /// What the network sees; `None` where features are given.
    #[must_use]
    pub fn frames(&self) -> Option<&Frames> {
        self.frames.as_ref()
    }

    /// How many frames there are.
    #[must_use]
    pub fn frame_count(&self) -> usize {
        self.vectors.dims()[0]
    }

    /// The sample as it is.
    ///
    /// # Errors
    /// z that is not finite.
    pub fn as_it_is(&self) -> Result<Encoded> {
        self.encode(&self.vectors, &[(0..self.frame_count()).collect()])
    }

    /// The sample with its own frames in other places, each variant a list of frames.
    ///
    /// # Errors
    /// z that is not finite.
    pub fn rearranged(&self, variants: &[Vec<usize>]) -> Result<Encoded> {
        self.encode(&self.vectors, variants)
    }

    /// The sample as if pictures were all that is seen of it: each picture in the place of every frame.
    ///
    /// # Errors
    /// z that is not finite.
    pub fn pictured(&self, pictures: &[&[u8]]) -> Result<Encoded> {
        let Some(frames) = &self.frames else {
            return Err(Error::input("given features have no frames".to_owned(), None));
        };
        let shape = FrameShape { frames: NonZeroUsize::MIN, ..frames.shape };
        let mut vectors = Vec::new();
        for group in pictures.chunks(TOGETHER) {
            let batch = Batch::Frames(input::normalised(group, shape, self.threads, &self.bank.tensors())?);
            vectors.push(self.pool.install(|| self.bank.backbone(batch))?);
        }
        let throughout: Vec<Vec<usize>> =
            (0..pictures.len()).map(|picture| vec![picture; self.frame_count()]).collect();
        self.encode(&Tensor::cat(vectors, 0), &throughout)
    }

    /// z and logits of variants, whose frames are rows of `vectors`.
    fn encode(&self, vectors: &Tensor<2>, variants: &[Vec<usize>]) -> Result<Encoded> {
        let config = self.bank.config();
        let widths = [config.encoder.features(), config.concepts.len()];
        let (mut z, mut logits) = (Vec::new(), Vec::new());
        for group in variants.chunks(TOGETHER) {
            let rows: Vec<i32> = group.iter().flatten().map(|&row| row as i32).collect();
            let count = rows.len();
            let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [count]), &vectors.device());
            let chosen = vectors.clone().select(0, rows);
            let answer = self.pool.install(|| self.bank.after_backbone_alike(&chosen))?;
            z.extend(answer.z.into_data().iter::<f32>());
            logits.extend(answer.logits.into_data().iter::<f32>());
        }
        if !z.iter().chain(&logits).all(|number| number.is_finite()) {
            return Err(Error::input(
                "expected finite z, got other numbers: the sample cannot be scored".to_owned(),
                None,
            ));
        }
        Ok(Encoded { z, logits, widths })
    }
}
