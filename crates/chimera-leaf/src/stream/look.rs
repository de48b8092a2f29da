//! Reading a batch of samples for the encoder, on several threads: what the cache has, what must be decoded, and what
//! cannot be looked at.

use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::Instant;

use chimera_data::dataset::media::LeftOut;
use chimera_data::error::{Error, Result};
use chimera_data::features::FeatureRows;
use chimera_data::media::frames::FrameShape;
use chimera_data::media::prepared::{digest, is_fatal};
use chimera_data::media::reader::MediaReader;
use chimera_data::parallel::in_parallel;

use super::{Content, Sources, Stream};
use crate::bank::TOGETHER;
use crate::encoded::RowKey;

/// A batch that was read.
#[derive(Default)]
pub(super) struct Looked<'k> {
    pub(super) samples: Vec<usize>,
    /// z and logits of those samples that are in the cache.
    pub(super) kept: Vec<Option<(&'k [f32], &'k [f32])>>,
    /// Frames of the other samples, or an empty place for each where features are given.
    pub(super) frames: Vec<Vec<u8>>,
    pub(super) given: Vec<f32>,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) seconds: f64,
    /// Whether samples of the batch were not looked at any more.
    pub(super) cut: bool,
}

/// One sample that was read.
enum Found<'k> {
    Kept((&'k [f32], &'k [f32])),
    /// What the network is to see; given features lie together in the batch, and nothing is here.
    Frames(Vec<u8>),
    Nothing(Option<PathBuf>, String),
    /// Asked to stop.
    Passed,
}

impl Stream<'_> {
    /// Reads a batch: from the cache of encoded samples, or what the network needs.
    pub(super) fn look(&self, batch: usize, halted: &(dyn Fn() -> bool + Sync)) -> Result<Looked<'_>> {
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
        let Sources::Rows { rows, .. } = self.sources else {
            return Err(Error::input("expected rows with features, got loose media".to_owned(), None));
        };
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
}
