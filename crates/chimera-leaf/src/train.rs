//! Training of the leaf bank: passes over the train rows in an order of their own, a look at held-out rows after each, the
//! weights of the best epoch kept.
//!
//! Everything random is named by the seed, the epoch and the sample, and nothing depends on the number of threads: the same
//! configuration and data give the same bytes, also when a run was killed and went on.

mod run;

use std::cell::RefCell;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use super::device::Device;
use burn::module::Module;
use chimera_data::dataset::rows::FitRows;
use chimera_data::error::{Error, Result};
use chimera_data::parallel::in_pool;
use serde::{Deserialize, Serialize};

use self::run::{Learned, Run, write_log};
use super::bank::LeafBank;
use super::checkpoint::Checkpoint;
use super::config::LeafConfig;
use super::device::gpu_number;
use super::encode::Progress;
use super::encoded::TF32;
use super::encoder::EncoderConfig;
pub use super::epoch::EpochRecord;
use super::held_out::{self};
use super::samples::Samples;
use super::vectors::{Vectors, View};
use super::weights;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All epochs are done.
    Done,
    /// Held-out rows had not got better for as long as `patience` allows.
    NoBetter,
}

/// A trained bank and how it came about.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The bank, on a device without gradients.
    pub bank: LeafBank,
    /// Its epochs.
    pub epochs: Vec<EpochRecord>,
    /// The epoch whose weights it has.
    pub epoch: usize,
    /// Why it ended.
    pub stopped: StopReason,
    /// The epoch after which a run that had been stopped went on.
    pub resumed_after: Option<usize>,
    /// Seconds of all its epochs, those before a stop included, and of what was computed before them.
    pub seconds: f64,
    /// What its frozen network gives for every sample, where that was kept.
    pub vectors: Option<Arc<Vectors>>,
    /// Blake3 of the file of weights that its network started from.
    pub weights: Option<String>,
}

/// What is going on, for whoever shows it.
#[derive(Clone, Debug)]
pub enum TrainEvent<'a> {
    /// A run that was stopped goes on after this epoch.
    Resumed {
        /// The last epoch that was done.
        epoch: usize,
    },
    /// Samples go once through the network, which is frozen.
    Vectors(Progress),
    /// A GPU would not record a step, or repeat it. The epoch begins anew, and takes longer.
    OneByOne {
        /// What it said.
        why: &'a str,
    },
    /// A step is done.
    Step {
        /// The epoch, from 1.
        epoch: usize,
        /// Steps of it that are done.
        step: usize,
        /// Steps of an epoch.
        steps: usize,
        /// Mean loss of the epoch so far.
        loss: f64,
    },
    /// An epoch is done.
    Epoch(&'a EpochRecord),
}

/// Whether a run uses what an earlier one left.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// It goes on where the checkpoint ends, if there is one.
    GoOn,
    /// The checkpoint is not looked at. The function removes what the earlier run left; it is called when everything has
    /// been checked and the first epoch is about to begin.
    Anew(&'a (dyn Fn() -> Result<()> + Sync)),
}

impl std::fmt::Debug for Start<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::GoOn => "GoOn",
            Self::Anew(_) => "Anew",
        })
    }
}

/// A run that is about to begin, or to go on.
#[derive(Debug)]
pub struct Training<'a> {
    /// The choices.
    pub config: &'a LeafConfig,
    /// What the encoder is.
    pub encoder: EncoderConfig,
    /// What it looks at.
    pub samples: &'a Samples<'a>,
    /// Whether what an earlier run left is used.
    pub start: Start<'a>,
    /// Where the vectors of a frozen network are kept; without it they are computed in each epoch.
    pub vectors: Option<&'a Path>,
    /// Where the checkpoint lies.
    pub checkpoint: &'a Path,
    /// Where each epoch is a line of JSON.
    pub log: &'a Path,
    /// Where tensors live.
    pub device: Device,
    /// Threads for everything.
    pub threads: NonZeroUsize,
}

impl Training<'_> {
    /// Trains, or goes on where the checkpoint ends.
    ///
    /// # Errors
    /// No train rows or concepts, weights or a checkpoint that cannot be used, a loss that is no number, a full disk.
    pub fn run(&self, events: &mut (dyn FnMut(TrainEvent<'_>) + Send)) -> Result<Trained> {
        in_pool(self.threads, || self.run_here(events))
    }

    fn run_here(&self, events: &mut (dyn FnMut(TrainEvent<'_>) + Send)) -> Result<Trained> {
        let dataset = self.samples.dataset();
        let (rows, held_out) = (self.rows()?, dataset.fit_half().filtered(|row| self.samples.has(row)));
        let weights = self.config.weights_file().map(weights::read).transpose()?;
        let mut run = Run::start(self, &rows, weights.as_deref())?;
        let learned = Learned::of(self, &rows)?;
        let weights = weights.map(|bytes| blake3::hash(&bytes));
        let key = self.key(&rows, &held_out, weights.as_ref())?;
        let resumed_after = match self.start {
            Start::GoOn => run.resume(self, Checkpoint::read(self.checkpoint, &key, self.config)?)?,
            Start::Anew(_) => None,
        };
        if let Some(epoch) = resumed_after {
            events(TrainEvent::Resumed { epoch });
            // A kill may have come between the checkpoint and the log.
            write_log(self.log, run.epochs())?;
        }
        let began = Instant::now();
        let vectors = self.vectors(run.bank(), events)?;
        let view = View { samples: self.samples, vectors: vectors.as_ref() };
        let before = began.elapsed().as_secs_f64();
        if let Start::Anew(clear) = self.start {
            clear()?;
        }
        let mut stopped = run.stopped(self.config.patience);
        while run.epochs().len() < self.config.epochs && stopped.is_none() {
            let began = Instant::now();
            let (loss, rate) = run.epoch(self, view, &learned, rows.numbers(), events)?;
            let bank = run.bank().valid();
            if !bank.is_finite() {
                return Err(run.diverged(self, "its weights are no numbers any more"));
            }
            let learning = began.elapsed().as_secs_f64();
            let held_out = held_out::look(&bank, view, held_out.numbers(), self.threads)?;
            let seconds = began.elapsed().as_secs_f64();
            let record = EpochRecord {
                epoch: run.epochs().len() + 1,
                loss,
                rate,
                held_out,
                seconds,
                samples_per_second: rows.len() as f64 / learning,
            };
            run.keep(record)?;
            stopped = run.stopped(self.config.patience);
            run.checkpoint(&key, self.config)?.write(self.checkpoint)?;
            write_log(self.log, run.epochs())?;
            run.epochs().last().into_iter().for_each(|record| events(TrainEvent::Epoch(record)));
        }
        let seconds = before + run.epochs().iter().map(|record| record.seconds).sum::<f64>();
        let (bank, epoch) = run.best(self.device.tensors())?;
        let (epochs, stopped) = (run.into_epochs(), stopped.unwrap_or(StopReason::Done));
        Ok(Trained {
            bank,
            epochs,
            epoch,
            stopped,
            resumed_after,
            seconds,
            vectors: vectors.map(Arc::new),
            weights: weights.map(|hash| hash.to_string()),
        })
    }

    /// What a frozen network gives, unless pictures are changed from epoch to epoch.
    fn vectors(&self, bank: &LeafBank, events: &mut (dyn FnMut(TrainEvent<'_>) + Send)) -> Result<Option<Vectors>> {
        let Some(folder) = self.vectors.filter(|_| self.config.freeze && !self.config.augment) else { return Ok(None) };
        let events = RefCell::new(events);
        let progress = |progress| (events.borrow_mut())(TrainEvent::Vectors(progress));
        Vectors::make(&bank.valid(), self.samples, folder, self.threads, &progress).map(Some)
    }

    /// The train rows that have something to look at, a share of them if so configured.
    ///
    /// # Errors
    /// Where there are none, or too few for the network.
    pub fn rows(&self) -> Result<FitRows> {
        let dataset = self.samples.dataset();
        let rows = dataset.train()?.filtered(|row| self.samples.has(row));
        if rows.is_empty() {
            let message = format!("expected train rows with media in `{}`, got none", dataset.folder().display());
            return Err(Error::input(message, Some("`chimera data check` says what is wrong with them".to_owned())));
        }
        let rows = self.config.share(rows);
        if let EncoderConfig::Frames { network, frames, .. } = self.encoder
            && self.needs_company()
            && rows.len() * frames < 2
        {
            let message =
                format!("expected at least 2 train rows for {}, which normalises by batches, got 1", network.as_str());
            return Err(Error::input(message, Some("the encoder `cnn` can learn from one".to_owned())));
        }
        Ok(rows)
    }

    /// Whether a batch of one sample is to be avoided: batch normalisation learns nothing true from it.
    fn needs_company(&self) -> bool {
        let normalises = matches!(self.encoder, EncoderConfig::Frames { network, .. } if network.normalises_by_batch());
        normalises && !self.config.freeze
    }

    /// A name for everything that decides the result.
    fn key(&self, rows: &FitRows, held_out: &FitRows, weights: Option<&blake3::Hash>) -> Result<String> {
        let dataset = self.samples.dataset();
        let mut hasher = blake3::Hasher::new_derive_key("chimera leaf training 2");
        // Weights are named by their content, wherever they lie.
        let config = LeafConfig { weights: None, ..self.config.clone() };
        let config = serde_json::to_string(&(config, self.encoder.description(), env!("CARGO_PKG_VERSION")));
        let config = config.map_err(|error| Error::input(format!("cannot name the configuration: {error}"), None))?;
        hasher.update(config.as_bytes());
        if gpu_number(&self.device).is_some() {
            // It rounds in another way: a run goes on where it began.
            hasher.update(TF32);
        }
        for rows in [rows, held_out] {
            hasher.update(dataset.row_fingerprint(rows).to_string().as_bytes());
            for concept in 0..dataset.table().concepts.len() {
                hasher.update(dataset.label_fingerprint(concept, rows).to_string().as_bytes());
            }
            for hash in rows.numbers().iter().filter_map(|&row| self.samples.content_hash(row)) {
                hasher.update(&hash);
            }
        }
        if let Some(hash) = weights {
            hasher.update(hash.as_bytes());
        }
        Ok(hasher.finalize().to_string())
    }
}
