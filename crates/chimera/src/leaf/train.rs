//! Training of the leaf bank: passes over the train rows in an order of their own, a look at held-out rows after each, the
//! weights of the best epoch kept.
//!
//! Everything random is named by the seed, the epoch and the sample, and nothing depends on the number of threads: the same
//! configuration and data give the same bytes, also when a run was killed and went on.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Instant;

use burn::module::Module;
use burn::optim::{GradientsParams, ModuleOptimizer};
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::adam::AdamSettings;
use super::bank::{LeafBank, LeafBankConfig, Stored};
use super::checkpoint::{Checkpoint, State};
use super::config::LeafConfig;
use super::encoder::EncoderConfig;
use super::features::Scale;
use super::held_out::{self, HeldOut};
use super::loss::{cross_entropy, positive_weights};
use super::samples::Samples;
use crate::data::rows::FitRows;
use crate::error::{Error, Result};
use crate::file::write_atomic;
use crate::media::augment::{Augment, AugmentParams};
use crate::parallel::in_pool;
use crate::seed::stream;

/// The mean loss of an epoch beyond which a run is given up: a bank that always says "even odds" has 0.69.
const DIVERGED: f64 = 20.0;

/// What came of an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Its number, from 1.
    pub epoch: usize,
    /// Mean loss over the train rows while they were learned from.
    pub loss: f64,
    /// The learning rate of its last step.
    pub rate: f64,
    /// What held-out rows say; `None` where there are none.
    pub held_out: Option<HeldOut>,
    /// How long it took, held-out rows included.
    pub seconds: f64,
    /// Samples learned from a second.
    pub samples_per_second: f64,
}

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
}

/// What is going on, for whoever shows it.
#[derive(Clone, Debug)]
pub enum TrainEvent<'a> {
    /// A run that was stopped goes on after this epoch.
    Resumed {
        /// The last epoch that was done.
        epoch: usize,
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

/// A run that is about to begin, or to go on.
#[derive(Debug)]
pub struct Training<'a> {
    /// The choices.
    pub config: &'a LeafConfig,
    /// What the encoder is.
    pub encoder: EncoderConfig,
    /// What it looks at.
    pub samples: &'a Samples<'a>,
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
        let mut run = Run::start(self, &rows)?;
        let key = self.key(&rows, &held_out)?;
        let resumed_after = run.resume(self, Checkpoint::read(self.checkpoint, &key)?)?;
        if let Some(epoch) = resumed_after {
            events(TrainEvent::Resumed { epoch });
            // A kill may have come between the checkpoint and the log.
            write_log(self.log, &run.epochs)?;
        }
        let learned = self.learned(&rows)?;
        let mut stopped = run.stopped(self.config.patience);
        while run.epochs.len() < self.config.epochs && stopped.is_none() {
            let began = Instant::now();
            let (loss, rate) = run.epoch(self, &learned, rows.numbers(), events)?;
            let bank = run.bank.valid();
            if !bank.is_finite() {
                return Err(run.diverged(self, run.epochs.len() + 1, "its weights are no numbers any more"));
            }
            let held_out = held_out::look(&bank, self.samples, held_out.numbers(), self.threads)?;
            let seconds = began.elapsed().as_secs_f64();
            let record = EpochRecord {
                epoch: run.epochs.len() + 1,
                loss,
                rate,
                held_out,
                seconds,
                samples_per_second: rows.len() as f64 / seconds,
            };
            run.keep(record)?;
            stopped = run.stopped(self.config.patience);
            run.checkpoint(&key)?.write(self.checkpoint)?;
            write_log(self.log, &run.epochs)?;
            run.epochs.last().into_iter().for_each(|record| events(TrainEvent::Epoch(record)));
        }
        run.finish(self, stopped.unwrap_or(StopReason::Done), resumed_after)
    }

    /// The train rows that have something to look at, a share of them if so configured.
    ///
    /// # Errors
    /// Where there are none.
    pub fn rows(&self) -> Result<FitRows> {
        let dataset = self.samples.dataset();
        let rows = dataset.train()?.filtered(|row| self.samples.has(row));
        if rows.is_empty() {
            let message = format!("expected train rows with media in `{}`, got none", dataset.folder().display());
            return Err(Error::input(message, Some("`chimera data check` says what is wrong with them".to_owned())));
        }
        if self.config.train_frac >= 1.0 {
            return Ok(rows);
        }
        let mut drawn = rows.numbers().to_vec();
        stream(self.config.seed, "share of train rows", 0).shuffle(&mut drawn);
        drawn.truncate(((rows.len() as f64 * self.config.train_frac).round() as usize).max(1));
        drawn.sort_unstable();
        Ok(rows.filtered(|row| drawn.binary_search(&row).is_ok()))
    }

    /// A name for everything that decides the result.
    fn key(&self, rows: &FitRows, held_out: &FitRows) -> Result<String> {
        let dataset = self.samples.dataset();
        let mut hasher = blake3::Hasher::new_derive_key("chimera leaf training 1");
        // Weights are named by their content, wherever they lie.
        let config = LeafConfig { weights: None, ..self.config.clone() };
        let config = serde_json::to_string(&(config, self.encoder.description(), env!("CARGO_PKG_VERSION")));
        let config = config.map_err(|error| Error::input(format!("cannot name the configuration: {error}"), None))?;
        hasher.update(config.as_bytes());
        for rows in [rows, held_out] {
            hasher.update(dataset.row_fingerprint(rows).to_string().as_bytes());
            for concept in 0..dataset.table().concepts.len() {
                hasher.update(dataset.label_fingerprint(concept, rows).to_string().as_bytes());
            }
            for hash in rows.numbers().iter().filter_map(|&row| self.samples.content_hash(row)) {
                hasher.update(&hash);
            }
        }
        if let Some(path) = &self.config.weights {
            let bytes = std::fs::read(path).map_err(|cause| Error::read(path, cause))?;
            hasher.update(blake3::hash(&bytes).as_bytes());
        }
        Ok(hasher.finalize().to_string())
    }

    /// What is the same in all steps.
    fn learned(&self, rows: &FitRows) -> Result<Learned> {
        let positive_weights = match self.config.pos_weight {
            None => None,
            Some(cap) => {
                let labels = self.samples.dataset().table().labels.select(rows.numbers());
                let counts = (0..labels.columns()).map(|column| labels.counts(column));
                let (positives, negatives): (Vec<usize>, Vec<usize>) =
                    counts.map(|counts| (counts.holds as usize, counts.fails as usize)).unzip();
                let weights = positive_weights(&positives, &negatives, cap)?;
                let length = weights.len();
                Some(Tensor::from_data(TensorData::new(weights, [length]), &self.device.clone().autodiff()))
            }
        };
        let augment = self.config.augment.then(|| AugmentParams::default().check(self.config.seed)).transpose()?;
        Ok(Learned { positive_weights, augment })
    }
}

/// What is the same in all steps.
struct Learned {
    positive_weights: Option<Tensor<1>>,
    augment: Option<Augment>,
}

/// A run in memory.
struct Run {
    bank: LeafBank,
    optimizer: ModuleOptimizer,
    epochs: Vec<EpochRecord>,
    /// The best epoch, and its encoder and heads as a model has them.
    best: Option<(usize, [Vec<u8>; 2])>,
}

impl Run {
    fn start(training: &Training<'_>, rows: &FitRows) -> Result<Self> {
        let Training { config, encoder, samples, device, .. } = training;
        let concepts = samples.dataset().table().concepts.clone();
        let bank_config = LeafBankConfig { encoder: *encoder, concepts };
        let mut bank = bank_config.init(config.seed, &device.clone().autodiff())?;
        if let Some(file) = &config.weights {
            bank = bank.with_weights(file)?;
        }
        if let Some(features) = samples.given() {
            bank = bank.with_scale(&Scale::of(features, rows)?)?;
        }
        if config.freeze {
            bank = bank.frozen();
        }
        let settings = AdamSettings { weight_decay: config.weight_decay as f32, ..AdamSettings::default() };
        Ok(Self { bank, optimizer: settings.init(), epochs: Vec::new(), best: None })
    }

    /// Goes back to where a checkpoint was written; tells after which epoch that was.
    fn resume(&mut self, training: &Training<'_>, checkpoint: Option<Checkpoint>) -> Result<Option<usize>> {
        let Some(Checkpoint { state, bank, optimizer, best }) = checkpoint else { return Ok(None) };
        let unusable = |error: &dyn std::fmt::Display| {
            let path = training.checkpoint.display();
            Error::input(
                format!("cannot go on from `{path}`: {error}"),
                Some("to begin anew, give `--restart`".to_owned()),
            )
        };
        let record = ModuleRecord::from_bytes(Bytes::from_bytes_vec(bank)).map_err(|error| unusable(&error))?;
        self.bank = self.bank.clone().try_load_record(record).map_err(|error| unusable(&error))?;
        if training.config.freeze {
            self.bank = self.bank.clone().frozen();
        }
        let settings = AdamSettings { weight_decay: training.config.weight_decay as f32, ..AdamSettings::default() };
        let restored = settings.init().from_bytes(Bytes::from_bytes_vec(optimizer));
        self.optimizer = restored.map_err(|error| unusable(&error))?;
        self.best = state.best.zip(best);
        self.epochs = state.epochs;
        Ok(Some(self.epochs.len()))
    }

    /// One pass over the rows: the mean loss and the last rate.
    fn epoch(
        &mut self,
        training: &Training<'_>,
        learned: &Learned,
        rows: &[usize],
        events: &mut (dyn FnMut(TrainEvent<'_>) + Send),
    ) -> Result<(f64, f64)> {
        let (config, epoch) = (training.config, self.epochs.len() + 1);
        let mut order = rows.to_vec();
        stream(config.seed, "order of train rows", epoch as u64).shuffle(&mut order);
        let steps = order.len().div_ceil(config.batch);
        let (mut sum, mut seen, mut rate) = (0.0, 0, config.rate);
        for (step, rows) in order.chunks(config.batch).enumerate() {
            let device = self.bank.device();
            let augment = learned.augment.as_ref().map(|augment| (augment, epoch as u64));
            let batch = training.samples.batch(rows, augment, &device)?;
            let targets = training.samples.targets(rows, &device)?;
            let answer = self.bank.forward(batch)?;
            let loss = cross_entropy(answer.logits, &targets, learned.positive_weights.clone());
            let value = f64::from(loss.clone().into_scalar::<f32>());
            if !value.is_finite() {
                return Err(self.diverged(training, epoch, &format!("the loss of step {} is {value}", step + 1)));
            }
            let gradients = GradientsParams::from_grads(loss.backward(), &self.bank);
            rate = config.rate * config.schedule.share((epoch - 1) * steps + step, config.epochs * steps);
            self.bank = self.optimizer.step(rate, self.bank.clone(), gradients);
            sum += value * rows.len() as f64;
            seen += rows.len();
            events(TrainEvent::Step { epoch, step: step + 1, steps, loss: sum / seen as f64 });
        }
        let mean = sum / seen as f64;
        if mean > DIVERGED {
            return Err(self.diverged(training, epoch, &format!("its mean loss is {mean:.1}")));
        }
        Ok((mean, rate))
    }

    fn diverged(&self, training: &Training<'_>, epoch: usize, what: &str) -> Error {
        let kept = match self.epochs.len() {
            0 => "no epoch was finished before".to_owned(),
            done => format!("`{}` has the weights after epoch {done}", training.checkpoint.display()),
        };
        let message = format!("training diverged in epoch {epoch}: {what}; {kept}");
        let hint =
            format!("a smaller `--rate` than {} may help, or features without extreme numbers", training.config.rate);
        Error::input(message, Some(hint))
    }

    /// Takes in an epoch, and its weights if no earlier one was better.
    fn keep(&mut self, record: EpochRecord) -> Result<()> {
        let loss = |record: &EpochRecord| record.held_out.as_ref().map_or(f64::NEG_INFINITY, |held_out| held_out.loss);
        let best = self.best.as_ref().and_then(|(epoch, _)| self.epochs.get(epoch - 1));
        // Without held-out rows the last epoch is taken for the best.
        if best.is_none_or(|best| loss(&record) < loss(best) || record.held_out.is_none()) {
            let bank = self.bank.valid();
            self.best = Some((record.epoch, [bank.encoder_bytes()?, bank.head_bytes()?]));
        }
        self.epochs.push(record);
        Ok(())
    }

    /// Whether held-out rows have not got better for too long.
    fn stopped(&self, patience: usize) -> Option<StopReason> {
        let best = self.best.as_ref().map_or(0, |(epoch, _)| *epoch);
        (self.epochs.len() >= best + patience && !self.epochs.is_empty()).then_some(StopReason::NoBetter)
    }

    fn checkpoint(&self, key: &str) -> Result<Checkpoint> {
        let failed = |error: &dyn std::fmt::Display| Error::input(format!("cannot record the run: {error}"), None);
        let bank = self.bank.clone().into_record().into_bytes().map_err(|error| failed(&error))?;
        let optimizer = self.optimizer.into_bytes().map_err(|error| failed(&error))?;
        let (best, weights) = self.best.clone().unzip();
        let state = State { key: key.to_owned(), epochs: self.epochs.clone(), best };
        Ok(Checkpoint { state, bank: bank.to_vec(), optimizer: optimizer.to_vec(), best: weights })
    }

    fn finish(self, training: &Training<'_>, stopped: StopReason, resumed_after: Option<usize>) -> Result<Trained> {
        let Some((epoch, [encoder, heads])) = self.best else {
            return Err(Error::input("no epoch was trained".to_owned(), None));
        };
        let [encoder_file, head_file] = ["encoder.safetensors", "heads.safetensors"].map(Path::new);
        let bank = self.bank.config().restore(
            Stored { file: encoder_file, bytes: &encoder },
            Stored { file: head_file, bytes: &heads },
            &training.device,
        )?;
        Ok(Trained { bank, epochs: self.epochs, epoch, stopped, resumed_after })
    }
}

/// Writes one epoch a line.
fn write_log(path: &Path, epochs: &[EpochRecord]) -> Result<()> {
    write_atomic(path, |out| {
        for epoch in epochs {
            serde_json::to_writer(&mut *out, epoch)?;
            writeln!(out)?;
        }
        Ok(())
    })
}
