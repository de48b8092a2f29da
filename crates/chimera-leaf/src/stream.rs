//! Encoding without keeping: any number of samples become z and logits batch by batch, and nothing is written. While one
//! batch goes through the network the next is decoded.
//!
//! A sample has the bits that [`super::encode`] gives it: the same batches, the same bank, and a sample's numbers do not
//! depend on its company. What an earlier run left in the cache of encoded samples is read from there.

mod look;
mod sources;

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Instant;

use burn::tensor::{Tensor, TensorData};
use chimera_data::dataset::media::LeftOut;
use chimera_data::error::{Error, Result};
use chimera_data::features::FeatureRows;
use chimera_data::media::frames::FrameShape;
use chimera_data::media::reader::MediaReader;
use chimera_data::parallel::pool;

use self::look::Looked;
pub use self::sources::Sources;
use super::bank::{LeafBank, TOGETHER};
use super::encoded::{CHUNK_BYTES, EncodedParams, EncoderFingerprint, Kept};
use super::encoder::{Batch, EncoderConfig};
use super::input;

/// Samples on their way through an encoder.
#[derive(Debug)]
pub struct Stream<'a> {
    bank: &'a LeafBank,
    sources: Sources<'a>,
    content: Content,
    kept: Kept,
    threads: NonZeroUsize,
    pool: rayon::ThreadPool,
}

/// What is looked at.
#[derive(Debug)]
enum Content {
    Media { reader: MediaReader, shape: FrameShape },
    Given(Mutex<FeatureRows>),
}

/// Some samples that are encoded, in their order, and some that cannot be.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// Numbers of the samples that are encoded.
    pub samples: Vec<usize>,
    /// Their z, row-major.
    pub z: Vec<f32>,
    /// Their logits, row-major.
    pub logits: Vec<f32>,
    /// Those that are left out; their row is the number of the sample.
    pub left_out: Vec<LeftOut>,
    /// How many were in the cache.
    pub kept: usize,
    /// Seconds to read and decode them. Meanwhile others may have been encoded.
    pub decoding: f64,
    /// Seconds in the network.
    pub encoding: f64,
}

impl<'a> Stream<'a> {
    /// Makes samples ready for a bank. Rows of a dataset are looked for in `cache`, the folder of encoded samples.
    ///
    /// # Errors
    /// As [`Sources::check`], and features that cannot be read.
    pub fn open(bank: &'a LeafBank, sources: Sources<'a>, cache: Option<&Path>, threads: NonZeroUsize) -> Result<Self> {
        let encoder = &bank.config().encoder;
        sources.check(encoder)?;
        let content = match *encoder {
            EncoderConfig::Given { .. } => Content::Given(Mutex::new(sources.feature_rows()?)),
            EncoderConfig::Frames { frames, size, .. } => {
                Content::Media { reader: sources.media_reader()?, shape: FrameShape::new(frames, size, size)? }
            }
        };
        let kept = match (sources, cache) {
            (Sources::Rows { .. }, Some(folder)) => Kept::open(&EncodedParams {
                folder,
                encoder: EncoderFingerprint::of(&bank.bank_fingerprint()?, &bank.tensors()),
                features: NonZeroUsize::new(encoder.features()).unwrap_or(NonZeroUsize::MIN),
                concepts: bank.config().concepts.len(),
                threads,
                chunk_bytes: CHUNK_BYTES,
            }),
            _ => Kept::default(),
        };
        Ok(Self { bank, sources, content, kept, threads, pool: pool(threads)? })
    }

    /// The samples.
    #[must_use]
    pub fn sources(&self) -> Sources<'a> {
        self.sources
    }

    /// Numbers of z and of logits a sample.
    #[must_use]
    pub fn widths(&self) -> [usize; 2] {
        [self.bank.config().encoder.features(), self.bank.config().concepts.len()]
    }

    /// Encodes all samples and hands them over in their order, a batch at a time. Once `stop` is set, what was read already
    /// is handed over and nothing more.
    ///
    /// # Errors
    /// A program that is missing, and what `take` refuses.
    pub fn run(&self, stop: &AtomicBool, take: &mut dyn FnMut(Part) -> Result<()>) -> Result<()> {
        let batches = 0..self.sources.len().div_ceil(TOGETHER);
        let failed = AtomicBool::new(false);
        let halted = || stop.load(Ordering::Relaxed) || failed.load(Ordering::Relaxed);
        if self.threads == NonZeroUsize::MIN {
            for batch in batches {
                let looked = self.look(batch, &halted)?;
                let cut = looked.cut;
                take(self.encode(looked)?)?;
                if cut {
                    break;
                }
            }
            return Ok(());
        }
        thread::scope(|scope| {
            // Whoever reads waits until its batch is taken: two batches are in memory at most.
            let (sender, receiver) = mpsc::sync_channel(0);
            let (look, halted) = (|batch| self.look(batch, &halted), &halted);
            scope.spawn(move || {
                for batch in batches {
                    let looked = look(batch);
                    let last = looked.as_ref().map_or(true, |looked| looked.cut) || halted();
                    if sender.send(looked).is_err() || last {
                        break;
                    }
                }
            });
            let encoded = receiver.into_iter().try_for_each(|looked| take(self.encode(looked?)?));
            // What is being decoded for nobody need not be waited for.
            failed.store(true, Ordering::Relaxed);
            encoded
        })
    }

    /// Runs a batch through the network, but for what was in the cache.
    fn encode(&self, looked: Looked<'_>) -> Result<Part> {
        let Looked { samples, kept, frames, given, left_out, seconds, .. } = looked;
        let began = Instant::now();
        let [features, concepts] = self.widths();
        let mut part = Part { left_out, decoding: seconds, ..Part::default() };
        let (mut z, mut logits) = (Vec::new(), Vec::new());
        if kept.iter().any(Option::is_none) {
            let device = self.bank.tensors();
            let batch = match &self.content {
                Content::Media { shape, .. } => {
                    let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
                    Batch::Frames(input::normalised(&frames, *shape, self.threads, &device)?)
                }
                Content::Given(_) => {
                    let shape = [frames.len(), given.len() / frames.len()];
                    Batch::Given(Tensor::from_data(TensorData::new(given, shape), &device))
                }
            };
            let answer = self.pool.install(|| self.bank.after_backbone_alike(&self.bank.backbone(batch)?))?;
            z.extend(answer.z.into_data().iter::<f32>());
            logits.extend(answer.logits.into_data().iter::<f32>());
        }
        part.kept = kept.iter().flatten().count();
        for (sample, (z, logits)) in samples.into_iter().zip(joined(&kept, [&z, &logits], [features, concepts])?) {
            if z.iter().chain(logits).all(|number| number.is_finite()) {
                part.samples.push(sample);
                part.z.extend_from_slice(z);
                part.logits.extend_from_slice(logits);
            } else {
                let reason = "expected finite z, got other numbers".to_owned();
                part.left_out.push(LeftOut { row: sample, path: self.sources.path(sample), reason });
            }
        }
        part.encoding = began.elapsed().as_secs_f64();
        Ok(part)
    }
}

/// z and logits of a sample.
type Numbers<'n> = (&'n [f32], &'n [f32]);

/// The numbers of each sample of a batch: what was kept, and for all others what the network gave, in their order.
fn joined<'n>(kept: &[Option<Numbers<'n>>], given: [&'n [f32]; 2], widths: [usize; 2]) -> Result<Vec<Numbers<'n>>> {
    let missing = kept.len() - kept.iter().flatten().count();
    let ([z, logits], [features, concepts]) = (given, widths);
    if [z.len(), logits.len()] != widths.map(|width| missing * width) {
        let message = format!(
            "expected z and logits of {missing} samples from the network, {features} and {concepts} numbers each, got {} and {} numbers in all",
            z.len(),
            logits.len()
        );
        return Err(Error::input(message, None));
    }
    let mut new = z.chunks_exact(features).zip(logits.chunks_exact(concepts));
    Ok(kept.iter().filter_map(|kept| kept.or_else(|| new.next())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_answer_of_the_network_is_an_error() {
        let (z, logits) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0]);
        let kept = [None, Some((&[7.0, 8.0][..], &[9.0][..])), None];
        let all = joined(&kept, [&z, &logits], [2, 1]).unwrap();
        assert_eq!(all, [(&z[..2], &logits[..1]), (&[7.0, 8.0], &[9.0]), (&z[2..], &logits[1..])]);
        for short in [[&z[..2], &logits[..]], [&z[..], &logits[..1]], [&[], &[]]] {
            let error = joined(&kept, short, [2, 1]).unwrap_err().to_string();
            assert!(error.starts_with("expected z and logits of 2 samples from the network"), "{error}");
        }
    }
}
