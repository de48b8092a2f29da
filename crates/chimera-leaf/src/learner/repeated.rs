//! Steps on a GPU that are recorded once and repeated with other samples.
//!
//! The first step gives weights and means memory of their own, the second leaves the memory behind that a step needs in
//! between, and is recorded right after it was taken. From then on samples, labels and the optimizer's numbers are written to
//! where the recording reads them, and all kernels of the step are one entry of the queue.

use std::thread::{self, ThreadId};

use burn::cubecl::server::ServerError;
use burn::tensor::{Int, Tensor};
use chimera_data::error::{Error, Result};

use super::{Learner, Lesson, lost};
use crate::bank::LeafBank;
use crate::batch::{FrameBytes, normalised_there};
use crate::cuda::{Fed, Recording};
use crate::device::is_settled;
use crate::encoder::Batch;
use crate::loss::{Targets, numbers};
use crate::vectors::Seen;

/// How far the recording is.
#[derive(Default)]
pub(super) enum Repeated {
    /// No step was taken of which the next may be like.
    #[default]
    Nothing,
    /// A step of this kind was taken.
    Once(Kind),
    /// Steps of a kind are repeated.
    Recorded(Box<Recorded>),
    /// Steps are taken one by one: it was asked for, or the device said why.
    Never(Option<String>),
}

/// What steps have in common that can be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// Count, height and width of frames.
    sizes: [usize; 3],
    labels: usize,
    /// Each thread has a queue of its own, and a recording is for one queue.
    thread: ThreadId,
}

/// A step that was recorded. The recording comes first, so that it is gone before what it reads.
pub(super) struct Recorded {
    recording: Recording,
    kind: Kind,
    fed: AllFed,
    /// Where each step leaves its loss.
    loss: Tensor<1>,
}

/// Where samples, labels and the optimizer's numbers are written.
struct AllFed {
    bytes: (Tensor<1, Int>, Fed),
    labels: (Tensor<2>, Fed),
    known: (Tensor<2>, Fed),
    adam: (Tensor<1>, Fed),
}

impl AllFed {
    /// Memory with a first lesson in it; nothing where the device is none that records.
    fn new(bytes: Vec<u8>, labels: &[Option<bool>], bank: &LeafBank) -> Option<Self> {
        let (device, concepts) = (bank.tensors(), bank.config().concepts.len());
        let [holds, known] = numbers(labels);
        let table = |numbers| {
            let (tensor, fed) = Fed::numbers(numbers, [labels.len() / concepts, concepts], &device)?;
            Some((Tensor::from_inner(tensor), fed))
        };
        Some(Self {
            bytes: Fed::bytes(bytes, &device)?,
            labels: table(holds)?,
            known: table(known)?,
            adam: Fed::numbers(vec![0.0; 6], [6], &device)?,
        })
    }

    fn targets(&self) -> Targets {
        Targets { labels: self.labels.0.clone(), known: self.known.0.clone() }
    }

    fn seen(&self, sizes: [usize; 3]) -> Seen {
        Seen::Samples(Batch::Frames(normalised_there(self.bytes.0.clone(), sizes)))
    }

    fn feed(&self, bytes: Vec<u8>, labels: &[Option<bool>], adam: [f32; 6]) -> std::result::Result<(), ServerError> {
        let [holds, known] = numbers(labels);
        self.bytes.1.replace(bytes);
        self.labels.1.replace_numbers(&holds);
        self.known.1.replace_numbers(&known);
        self.adam.1.replace_numbers(&adam);
        Fed::check([&self.bytes.1, &self.labels.1, &self.known.1, &self.adam.1])
    }
}

impl Repeated {
    /// The kind of a lesson that can be repeated: frames that come as bytes.
    pub(super) fn kind(&self, lesson: &Lesson) -> Option<Kind> {
        match (self, &lesson.seen) {
            (Self::Never(_), _) => None,
            (_, Seen::Samples(Batch::Bytes(frames))) => {
                Some(Kind { sizes: frames.sizes, labels: lesson.labels.len(), thread: thread::current().id() })
            }
            _ => None,
        }
    }

    /// Lets go of a recording: weights may be elsewhere after the next step.
    pub(super) fn forget(&mut self) {
        if !matches!(self, Self::Never(_)) {
            *self = Self::Nothing;
        }
    }
}

impl Learner {
    /// Takes every step by itself from now on.
    #[must_use]
    pub(crate) fn one_by_one(mut self) -> Self {
        self.optimizer = self.optimizer.without_recording();
        self.repeated = Repeated::Never(None);
        self.before = None;
        self
    }

    /// Why the device did not record or repeat a step. The bank is lost then.
    pub(crate) fn refusal(&self) -> Option<String> {
        match &self.repeated {
            Repeated::Never(why) => why.clone(),
            _ => None,
        }
    }

    /// Whether the next step can be one that is repeated.
    pub(crate) fn is_recorded(&self) -> bool {
        matches!(self.repeated, Repeated::Recorded(_))
    }

    /// A step as it was recorded, or one that is taken, and recorded where one like it was taken before.
    pub(super) fn step_or_repeat(&mut self, lesson: Lesson, kind: Kind) -> Result<Tensor<1>> {
        match &self.repeated {
            Repeated::Recorded(recorded) if recorded.kind == kind => {
                let Seen::Samples(Batch::Bytes(FrameBytes { bytes, .. })) = lesson.seen else { return Err(lost()) };
                let fed = recorded.fed.feed(bytes, &lesson.labels, self.optimizer.repeated(lesson.rate));
                match fed.and_then(|()| recorded.recording.repeat()) {
                    // The next step writes its loss to the same place.
                    Ok(()) => Ok(recorded.loss.clone().add_scalar(0.0)),
                    Err(error) => Err(self.refused(&error)),
                }
            }
            // While another thread uses the driver, the driver refuses both of them.
            Repeated::Once(before) if *before == kind && is_settled() => self.step_and_record(lesson, kind),
            _ => {
                let loss = self.last_step(lesson)?;
                self.repeated = Repeated::Once(kind);
                Ok(loss)
            }
        }
    }

    fn step_and_record(&mut self, lesson: Lesson, kind: Kind) -> Result<Tensor<1>> {
        let Seen::Samples(Batch::Bytes(FrameBytes { bytes, .. })) = lesson.seen else { return Err(lost()) };
        let bank = self.bank.take().ok_or_else(lost)?;
        let Some(fed) = AllFed::new(bytes, &lesson.labels, &bank) else {
            return Err(Error::input("expected samples on a GPU, got them elsewhere".to_owned(), None));
        };
        fed.adam.1.replace_numbers(&self.optimizer.next_numbers(lesson.rate));
        fed.adam.1.prepare().map_err(|error| self.refused(&error))?;
        self.optimizer.begin_recording(fed.adam.0.clone());
        let taken = self.move_bank(bank, fed.seen(kind.sizes), &fed.targets(), lesson.rate);
        let (Ok(loss), Some(bank)) = (&taken, self.bank.take()) else {
            self.optimizer.end_recording(false);
            fed.adam.1.abandon();
            return taken;
        };
        let recorded = fed.adam.1.record(|| self.move_bank(bank, fed.seen(kind.sizes), &fed.targets(), lesson.rate));
        self.optimizer.end_recording(true);
        let (recording, place) = recorded.map_err(|error| self.refused(&error))?;
        self.repeated = Repeated::Recorded(Box::new(Recorded { recording, kind, fed, loss: place? }));
        Ok(loss.clone())
    }

    /// What is said of a device that does not record.
    fn refused(&mut self, error: &ServerError) -> Error {
        // After words for programmers, the reason; after it, a backtrace that release builds do not have.
        let words = error.to_string();
        let reason = words.split("\nBacktrace").next().unwrap_or_default();
        let reason = reason.rsplit("Caused by:").next().unwrap_or_default().split_whitespace();
        let why = reason.collect::<Vec<_>>().join(" ");
        // A device that is broken does nothing one by one, either.
        self.repeated = Repeated::Never((!error.is_device_poisoned()).then(|| why.clone()));
        // What was to be written in the recording cannot be read any more.
        self.bank = None;
        Error::input(
            format!("the GPU could not record or repeat a step of training: {why}"),
            Some("`chimera selftest` looks at the device; `--device cpu` does without it".to_owned()),
        )
    }
}
