//! Encoding without keeping: any number of samples become z and logits batch by batch, and nothing is written. While one
//! batch goes through the network the next is decoded.
//!
//! A sample has the bits that [`super::encode`] gives it: the same batches, the same bank, and a sample's numbers do not
//! depend on its company. What an earlier run left in the cache of encoded samples is read from there.

mod sources;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use burn::tensor::{Tensor, TensorData};

pub use self::sources::Sources;
use super::bank::{LeafBank, TOGETHER};
use super::encoded::{CHUNK_BYTES, Check, EncodedParams, EncoderFingerprint, Kept, RowKey};
use super::encoder::{Batch, EncoderConfig};
use super::input;
use crate::data::features::FeatureRows;
use crate::data::manifest::Kind;
use crate::data::media::LeftOut;
use crate::error::{Error, Result};
use crate::media::frames::FrameShape;
use crate::media::image::ImageReader;
use crate::media::prepared::{digest, is_fatal};
use crate::media::reader::MediaReader;
use crate::media::video::VideoReader;
use crate::parallel::{in_parallel, pool};

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

/// A batch that was read.
#[derive(Default)]
struct Looked<'k> {
    samples: Vec<usize>,
    /// z and logits of those samples that are in the cache.
    kept: Vec<Option<(&'k [f32], &'k [f32])>>,
    /// Frames or features of the other samples.
    frames: Vec<Vec<u8>>,
    given: Vec<f32>,
    left_out: Vec<LeftOut>,
    seconds: f64,
    /// Whether samples of the batch were not looked at any more.
    cut: bool,
}

/// One sample that was read.
enum Found<'k> {
    Kept((&'k [f32], &'k [f32])),
    Frames(Vec<u8>),
    Nothing(Option<PathBuf>, String),
    /// Asked to stop.
    Passed,
}

impl<'a> Stream<'a> {
    /// Makes samples ready for a bank. Rows of a dataset are looked for in `cache`, the folder of encoded samples.
    ///
    /// # Errors
    /// As [`Sources::check`], and features that cannot be read.
    pub fn open(bank: &'a LeafBank, sources: Sources<'a>, cache: Option<&Path>, threads: NonZeroUsize) -> Result<Self> {
        let encoder = &bank.config().encoder;
        sources.check(encoder)?;
        let content = match (*encoder, sources) {
            (EncoderConfig::Given { .. }, Sources::Rows { dataset, .. }) => {
                let missing =
                    || Error::input(format!("expected features in `{}`, got none", dataset.folder().display()), None);
                Content::Given(Mutex::new(dataset.feature_rows()?.ok_or_else(missing)?))
            }
            (EncoderConfig::Given { .. }, Sources::Loose(_)) => {
                return Err(Error::input("loose media have no features".to_owned(), None));
            }
            (EncoderConfig::Frames { frames, size, .. }, _) => {
                let reader = match sources {
                    Sources::Rows { dataset, .. } => dataset.media_reader()?,
                    Sources::Loose(loose) if loose.kind() == Kind::Video => MediaReader::Videos(VideoReader::default()),
                    Sources::Loose(_) => MediaReader::Pictures(ImageReader::default()),
                };
                Content::Media { reader, shape: FrameShape::new(frames, size, size)? }
            }
        };
        let kept = match (sources, cache) {
            (Sources::Rows { .. }, Some(folder)) => Kept::open(&EncodedParams {
                folder,
                encoder: EncoderFingerprint(blake3::hash(bank.bank_fingerprint()?.text.as_bytes()).into()),
                features: NonZeroUsize::new(encoder.features()).unwrap_or(NonZeroUsize::MIN),
                concepts: bank.config().concepts.len(),
                check: Check::Checksums,
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

    /// Reads a batch: from the cache of encoded samples, or what the network needs.
    fn look(&self, batch: usize, halted: &(dyn Fn() -> bool + Sync)) -> Result<Looked<'_>> {
        let began = Instant::now();
        let samples = batch * TOGETHER..((batch + 1) * TOGETHER).min(self.sources.len());
        let mut looked = Looked::default();
        let found = match &self.content {
            Content::Media { reader, shape } => in_parallel(self.threads, samples.len(), |number| {
                self.medium(reader, *shape, samples.start + number, halted)
            })?,
            Content::Given(features) if !halted() => {
                let mut features = features.lock().unwrap_or_else(PoisonError::into_inner);
                self.features(&mut features, samples.clone(), &mut looked.given)?
            }
            Content::Given(_) => vec![Found::Passed],
        };
        for (sample, found) in samples.zip(found) {
            match found {
                Found::Passed => {
                    looked.cut = true;
                    break;
                }
                Found::Nothing(path, reason) => looked.left_out.push(LeftOut { row: sample, path, reason }),
                Found::Kept(numbers) => {
                    looked.samples.push(sample);
                    looked.kept.push(Some(numbers));
                }
                Found::Frames(frames) => {
                    looked.samples.push(sample);
                    looked.kept.push(None);
                    looked.frames.push(frames);
                }
            }
        }
        looked.seconds = began.elapsed().as_secs_f64();
        Ok(looked)
    }

    fn medium(
        &self,
        reader: &MediaReader,
        shape: FrameShape,
        sample: usize,
        halted: &(dyn Fn() -> bool + Sync),
    ) -> Result<Found<'_>> {
        if halted() {
            return Ok(Found::Passed);
        }
        let Some(path) = self.sources.path(sample) else {
            return Ok(Found::Nothing(None, "it has no medium".to_owned()));
        };
        if !self.kept.is_empty()
            && let Ok(content) = digest(&path)
            && let Some(numbers) = self.kept.find(&RowKey { id: self.sources.id(sample), content })
        {
            return Ok(Found::Kept(numbers));
        }
        let mut frames = vec![0; shape.bytes()];
        match reader.read(&path, shape, &mut frames) {
            Ok(()) => Ok(Found::Frames(frames)),
            // Ctrl-C reaches the program that decodes videos, too: that says nothing about the video.
            Err(_) if halted() => Ok(Found::Passed),
            Err(error) if is_fatal(&error) => Err(error),
            Err(error) => Ok(Found::Nothing(Some(path), error.reason())),
        }
    }

    /// Given features of some samples; those that the network is to see go to `given`.
    fn features(
        &self,
        features: &mut FeatureRows,
        samples: std::ops::Range<usize>,
        given: &mut Vec<f32>,
    ) -> Result<Vec<Found<'_>>> {
        let Sources::Rows { rows, .. } = self.sources else { return Ok(Vec::new()) };
        let numbers = features.read(&rows[samples.clone()])?;
        let found = samples.zip(numbers.chunks_exact(features.width())).map(|(sample, numbers)| {
            if let Some(wrong) = numbers.iter().find(|number| !number.is_finite()) {
                return Found::Nothing(None, format!("expected finite features, got `{wrong}`"));
            }
            let mut hasher = blake3::Hasher::new();
            if !self.kept.is_empty() {
                numbers.iter().for_each(|number| _ = hasher.update(&number.to_le_bytes()));
            }
            let key = RowKey { id: self.sources.id(sample), content: *hasher.finalize().as_bytes() };
            self.kept.find(&key).map_or_else(
                || {
                    given.extend_from_slice(numbers);
                    Found::Frames(Vec::new())
                },
                Found::Kept,
            )
        });
        Ok(found.collect())
    }

    /// Runs a batch through the network, but for what was in the cache.
    fn encode(&self, looked: Looked<'_>) -> Result<Part> {
        let Looked { samples, kept, frames, given, left_out, seconds, .. } = looked;
        let began = Instant::now();
        let [features, concepts] = self.widths();
        let mut part = Part { left_out, decoding: seconds, ..Part::default() };
        let (mut z, mut logits) = (Vec::new(), Vec::new());
        if kept.iter().any(Option::is_none) {
            let device = self.bank.device();
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
        let mut new = z.chunks_exact(features).zip(logits.chunks_exact(concepts));
        for (sample, kept) in samples.into_iter().zip(kept) {
            part.kept += usize::from(kept.is_some());
            let Some((z, logits)) = kept.or_else(|| new.next()) else { break };
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
