//! A training run in memory: its bank, its optimizer and its epochs, and one pass over the rows at a time.

use std::path::Path;

use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::{Bytes, Device, Tensor, TensorData};
use chimera_data::dataset::rows::FitRows;
use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_data::media::augment::{Augment, AugmentParams};
use chimera_data::seed::stream;

use super::{EpochRecord, StopReason, TrainEvent, Training};
use crate::adam::{AdamSettings, ModuleAdam};
use crate::bank::{LeafBank, LeafBankConfig, Stored};
use crate::checkpoint::{Checkpoint, State};
use crate::config::LeafConfig;
use crate::conv::has_queue;
use crate::features::Scale;
use crate::learner::{Learner, Lesson};
use crate::loss::positive_weights;
use crate::vectors::View;

/// The mean loss of an epoch beyond which a run is given up: a bank that always says "even odds" has 0.69.
const DIVERGED: f64 = 20.0;

/// Steps whose losses are read at once from a device that works off a queue: reading one waits until the queue is empty.
const READ_TOGETHER: usize = 16;

/// Steps of an epoch from which on it pays to record one.
#[cfg(feature = "cuda")]
const FEW: usize = 6;

/// What is the same in all steps.
pub(super) struct Learned {
    positive_weights: Option<Tensor<1>>,
    augment: Option<Augment>,
}

impl Learned {
    pub(super) fn of(training: &Training<'_>, rows: &FitRows) -> Result<Self> {
        let config = training.config;
        let positive_weights = match config.pos_weight {
            None => None,
            Some(cap) => {
                let labels = training.samples.dataset().table().labels.select(rows.numbers());
                let counts = (0..labels.columns()).map(|column| labels.counts(column));
                let (positives, negatives): (Vec<usize>, Vec<usize>) =
                    counts.map(|counts| (counts.holds as usize, counts.fails as usize)).unzip();
                let weights = positive_weights(&positives, &negatives, cap)?;
                let length = weights.len();
                Some(Tensor::from_data(
                    TensorData::new(weights, [length]),
                    &training.device.tensors().clone().autodiff(),
                ))
            }
        };
        let augment = config.augment.then(|| AugmentParams::default().check(config.seed)).transpose()?;
        Ok(Self { positive_weights, augment })
    }
}

/// A run in memory.
pub(super) struct Run {
    bank: LeafBank,
    optimizer: ModuleAdam,
    epochs: Vec<EpochRecord>,
    /// The best epoch, and its encoder and heads as a model has them.
    best: Option<(usize, [Vec<u8>; 2])>,
    /// Whether the GPU is asked for each step by itself.
    #[cfg(feature = "cuda")]
    one_by_one: bool,
}

impl Run {
    pub(super) fn start(training: &Training<'_>, rows: &FitRows, weights: Option<&[u8]>) -> Result<Self> {
        let Training { config, encoder, samples, device, .. } = training;
        let concepts = samples.dataset().table().concepts.clone();
        let bank_config = LeafBankConfig { encoder: *encoder, concepts };
        let mut bank = bank_config.init_on(config.seed, &device.tensors().clone().autodiff())?;
        if let (Some(file), Some(bytes)) = (config.weights_file(), weights) {
            bank = bank.with_stored_weights(Stored { file, bytes })?;
        }
        if let Some(features) = samples.given() {
            bank = bank.with_scale(&Scale::of(features, rows)?)?;
        }
        if config.freeze {
            bank = bank.frozen();
        }
        Ok(Self {
            bank,
            optimizer: adam(config).init(),
            epochs: Vec::new(),
            best: None,
            #[cfg(feature = "cuda")]
            one_by_one: false,
        })
    }

    /// Its bank, on a device that records gradients.
    pub(super) fn bank(&self) -> &LeafBank {
        &self.bank
    }

    /// The epochs that are done.
    pub(super) fn epochs(&self) -> &[EpochRecord] {
        &self.epochs
    }

    pub(super) fn into_epochs(self) -> Vec<EpochRecord> {
        self.epochs
    }

    /// Goes back to where a checkpoint was written; tells after which epoch that was.
    pub(super) fn resume(&mut self, training: &Training<'_>, checkpoint: Option<Checkpoint>) -> Result<Option<usize>> {
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
        let restored = adam(training.config).init().with_bytes(Bytes::from_bytes_vec(optimizer));
        self.optimizer = restored.map_err(|error| unusable(&error))?;
        self.best = state.best.zip(best);
        self.epochs = state.epochs;
        Ok(Some(self.epochs.len()))
    }

    /// One pass over the rows: the mean loss and the last rate.
    pub(super) fn epoch(
        &mut self,
        training: &Training<'_>,
        view: View<'_>,
        learned: &Learned,
        rows: &[usize],
        events: &mut (dyn FnMut(TrainEvent<'_>) + Send),
    ) -> Result<(f64, f64)> {
        let mut learner = self.learner(training, learned, rows.len());
        let passed = self.pass(training, view, learned, rows, &mut learner, events);
        #[cfg(feature = "cuda")]
        if let Some(why) = learner.refusal() {
            // Weights and means are still those before the epoch: it begins anew.
            drop(learner);
            self.one_by_one = true;
            events(TrainEvent::OneByOne { why: &why });
            return self.epoch(training, view, learned, rows, events);
        }
        let (mean, rate) = passed?;
        (self.bank, self.optimizer) = learner.into_parts()?;
        if mean > DIVERGED {
            return Err(self.diverged(training, &format!("its mean loss is {mean:.1}")));
        }
        Ok((mean, rate))
    }

    /// What takes the steps of an epoch.
    #[cfg(feature = "cuda")]
    fn learner(&mut self, training: &Training<'_>, learned: &Learned, rows: usize) -> Learner {
        let weights = learned.positive_weights.clone();
        let repeats = has_queue(training.device.tensors()) && rows >= FEW * training.config.batch && !self.one_by_one;
        match repeats {
            // All of it is kept, in case that the device refuses.
            true => Learner::new(self.bank.clone(), self.optimizer.clone(), weights),
            false => Learner::new(self.bank.clone(), self.taken_optimizer(training), weights).one_by_one(),
        }
    }

    /// What takes the steps of an epoch.
    #[cfg(not(feature = "cuda"))]
    fn learner(&mut self, training: &Training<'_>, learned: &Learned, _: usize) -> Learner {
        Learner::new(self.bank.clone(), self.taken_optimizer(training), learned.positive_weights.clone())
    }

    /// The optimizer, of which the epoch gives the next one: a second handle would make it copy its means.
    fn taken_optimizer(&mut self, training: &Training<'_>) -> ModuleAdam {
        std::mem::replace(&mut self.optimizer, adam(training.config).init())
    }

    fn pass(
        &self,
        training: &Training<'_>,
        view: View<'_>,
        learned: &Learned,
        rows: &[usize],
        learner: &mut Learner,
        events: &mut (dyn FnMut(TrainEvent<'_>) + Send),
    ) -> Result<(f64, f64)> {
        let (config, epoch) = (training.config, self.epochs.len() + 1);
        let mut order = rows.to_vec();
        stream(config.seed, "order of train rows", epoch as u64).shuffle(&mut order);
        let batches = batches(&order, config.batch, training.needs_company());
        let steps = batches.len();
        let mut losses = Losses::new(if has_queue(training.device.tensors()) { READ_TOGETHER } else { 1 });
        let (mut rate, device) = (config.rate, self.bank.tensors());
        for (step, rows) in batches.into_iter().enumerate() {
            let augment = learned.augment.as_ref().map(|augment| (augment, epoch as u64));
            rate = config.rate * config.schedule.share((epoch - 1) * steps + step, config.epochs * steps);
            let lesson = Lesson { seen: view.seen(rows, augment, &device)?, labels: view.samples.labels(rows), rate };
            let known = lesson.labels.iter().flatten().count() as f64;
            let is_last = step + 1 == steps;
            let loss = if is_last { learner.last_step(lesson)? } else { learner.step(lesson)? };
            losses.push(loss, known);
            if losses.are_due() || is_last {
                let report = |step: usize, loss: f64| events(TrainEvent::Step { epoch, step, steps, loss });
                losses.read(report).map_err(|what| self.diverged(training, &what))?;
            }
        }
        Ok((losses.mean(), rate))
    }

    /// What is said of a run whose next epoch came to nothing.
    pub(super) fn diverged(&self, training: &Training<'_>, what: &str) -> Error {
        let (done, rate) = (self.epochs.len(), training.config.rate);
        let (kept, again) = match done {
            0 => ("no epoch was finished before".to_owned(), ""),
            _ => (
                format!("`{}` has the weights after epoch {done}", training.checkpoint.display()),
                " (with `--restart`: a run goes on only with the options that it began with)",
            ),
        };
        let message = format!("training diverged in epoch {}: {what}; {kept}", done + 1);
        let hint = format!("a smaller `--rate` than {rate} may help{again}, or features without extreme numbers");
        Error::input(message, Some(hint))
    }

    /// Takes in an epoch, and its weights if no earlier one was better.
    pub(super) fn keep(&mut self, record: EpochRecord) -> Result<()> {
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
    pub(super) fn stopped(&self, patience: usize) -> Option<StopReason> {
        let best = self.best.as_ref().map_or(0, |(epoch, _)| *epoch);
        (self.epochs.len() >= best + patience && !self.epochs.is_empty()).then_some(StopReason::NoBetter)
    }

    pub(super) fn checkpoint(&self, key: &str, config: &LeafConfig) -> Result<Checkpoint> {
        let failed = |error: &dyn std::fmt::Display| Error::input(format!("cannot record the run: {error}"), None);
        let bank = self.bank.clone().into_record().into_bytes().map_err(|error| failed(&error))?;
        let optimizer = self.optimizer.to_bytes().map_err(|error| failed(&error))?;
        let (best, weights) = self.best.clone().unzip();
        let state = State::new(key, config, &self.epochs, best);
        Ok(Checkpoint { state, bank: bank.to_vec(), optimizer: optimizer.to_vec(), best: weights })
    }

    /// The bank of the best epoch, and which that is.
    pub(super) fn best(&self, device: &Device) -> Result<(LeafBank, usize)> {
        let Some((epoch, [encoder, heads])) = &self.best else {
            return Err(Error::input("no epoch was trained".to_owned(), None));
        };
        let [encoder_file, head_file] = ["encoder.safetensors", "heads.safetensors"].map(Path::new);
        let bank = self.bank.config().restored(
            Stored { file: encoder_file, bytes: encoder },
            Stored { file: head_file, bytes: heads },
            device,
        )?;
        Ok((bank, *epoch))
    }
}

/// The losses of an epoch. Those that were not read yet are still on the device.
struct Losses {
    /// How many wait at most.
    together: usize,
    /// Loss and known labels of steps that were not read.
    waiting: Vec<(Tensor<1>, f64)>,
    /// Steps that were read.
    done: usize,
    /// Losses times known labels.
    sum: f64,
    /// Known labels.
    seen: f64,
}

impl Losses {
    fn new(together: usize) -> Self {
        Self { together, waiting: Vec::new(), done: 0, sum: 0.0, seen: 0.0 }
    }

    fn push(&mut self, loss: Tensor<1>, known: f64) {
        self.waiting.push((loss, known));
    }

    fn are_due(&self) -> bool {
        self.waiting.len() >= self.together
    }

    /// Takes in what waits, and reports the steps with the mean up to each; says what is wrong where a loss is no number.
    fn read(&mut self, mut report: impl FnMut(usize, f64)) -> std::result::Result<(), String> {
        let (losses, known): (Vec<Tensor<1>>, Vec<f64>) = std::mem::take(&mut self.waiting).into_iter().unzip();
        if losses.is_empty() {
            return Ok(());
        }
        let values = Tensor::cat(losses, 0).into_data();
        for (value, known) in values.iter::<f32>().map(f64::from).zip(known) {
            self.done += 1;
            if !value.is_finite() {
                return Err(format!("the loss of step {} is {value}", self.done));
            }
            self.sum += value * known;
            self.seen += known;
            report(self.done, self.mean());
        }
        Ok(())
    }

    /// The mean over the known labels of the steps that were read.
    fn mean(&self) -> f64 {
        self.sum / f64::max(self.seen, 1.0)
    }
}

fn adam(config: &LeafConfig) -> AdamSettings {
    AdamSettings { weight_decay: config.weight_decay as f32, ..AdamSettings::default() }
}

/// The rows of each step. Where samples need company, a last row that would be alone joins the batch before it.
fn batches(order: &[usize], size: usize, needs_company: bool) -> Vec<&[usize]> {
    let mut batches: Vec<&[usize]> = order.chunks(size).collect();
    if let (true, [rest @ .., before, [_]]) = (needs_company && size > 1, batches.as_slice()) {
        let (kept, first) = (rest.len(), order.len() - 1 - before.len());
        batches.truncate(kept);
        batches.push(&order[first..]);
    }
    batches
}

/// Writes one epoch a line.
pub(super) fn write_log(path: &Path, epochs: &[EpochRecord]) -> Result<()> {
    write_atomic(path, |out| {
        for epoch in epochs {
            serde_json::to_writer(&mut *out, epoch)?;
            writeln!(out)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_alone_who_needs_company() {
        let order: Vec<usize> = (0..9).rev().collect();
        let sizes = |count: usize, size, needs_company| -> Vec<usize> {
            let batches = batches(&order[..count], size, needs_company);
            assert_eq!(batches.concat(), order[..count]);
            batches.iter().map(|batch| batch.len()).collect()
        };
        assert_eq!(sizes(9, 4, false), [4, 4, 1]);
        assert_eq!(sizes(9, 4, true), [4, 5]);
        assert_eq!(sizes(8, 4, true), [4, 4]);
        assert_eq!(sizes(6, 4, true), [4, 2]);
        assert_eq!(sizes(5, 4, true), [5]);
        assert_eq!(sizes(3, 2, true), [3]);
        // There is none to join.
        assert_eq!(sizes(1, 4, true), [1]);
        assert_eq!(sizes(3, 1, true), [1, 1, 1]);
    }
}
