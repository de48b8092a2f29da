//! A leaf bank while it learns: one step after the other, each an answer, its loss, and Adam.
//!
//! A GPU takes a step of a small network in less time than the host needs to ask for its hundred kernels. So a step is
//! recorded there, and repeated with other samples.

#[cfg(feature = "cuda")]
mod repeated;

use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use chimera_data::error::{Error, Result};

use super::adam::ModuleAdam;
use super::bank::LeafBank;
use super::loss::{Targets, cross_entropy};
use super::vectors::Seen;

#[cfg(feature = "cuda")]
use self::repeated::Repeated;

/// What a step learns from.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Samples.
    pub seen: Seen,
    /// Their labels, row by row; `None` where one is unknown.
    pub labels: Vec<Option<bool>>,
    /// Adam's learning rate.
    pub rate: f64,
}

/// A bank and its optimizer.
pub struct Learner {
    // The first to be dropped: it reads and writes what the others hold.
    #[cfg(feature = "cuda")]
    repeated: Repeated,
    /// Taken out for a step: a second handle on weights would make the optimizer copy them.
    bank: Option<LeafBank>,
    optimizer: ModuleAdam,
    /// How much positives of each concept weigh.
    positive_weights: Option<Tensor<1>>,
    /// Both as they were before the first step: so that it gives weights and means memory of their own, where it is taken.
    #[cfg(feature = "cuda")]
    before: Option<(LeafBank, ModuleAdam)>,
}

impl Learner {
    /// A learner that goes on with this bank, on a device that records gradients, and this optimizer.
    #[must_use]
    pub fn new(bank: LeafBank, optimizer: ModuleAdam, positive_weights: Option<Tensor<1>>) -> Self {
        Self {
            #[cfg(feature = "cuda")]
            before: Some((bank.clone(), optimizer.clone())),
            #[cfg(feature = "cuda")]
            repeated: Repeated::default(),
            bank: Some(bank),
            optimizer,
            positive_weights,
        }
    }

    /// The bank and the optimizer after a [last](Learner::last_step) step.
    ///
    /// # Errors
    /// Where a step failed before, or the last one was none, so that the optimizer may not know how many there were.
    pub fn into_parts(self) -> Result<(LeafBank, ModuleAdam)> {
        #[cfg(feature = "cuda")]
        if self.is_recorded() {
            return Err(Error::input("expected a last step, got others that may follow".to_owned(), None));
        }
        Ok((self.bank.ok_or_else(lost)?, self.optimizer))
    }

    /// A step before others; gives its loss, which may still be on the device.
    ///
    /// # Errors
    /// Samples that the bank cannot look at, and a device that fails.
    pub fn step(&mut self, lesson: Lesson) -> Result<Tensor<1>> {
        #[cfg(feature = "cuda")]
        if let Some(kind) = self.repeated.kind(&lesson) {
            return self.step_or_repeat(lesson, kind);
        }
        self.last_step(lesson)
    }

    /// The same where none follows that is like it. After it, every parameter knows how many steps there were.
    ///
    /// # Errors
    /// As [`Learner::step`].
    pub(crate) fn last_step(&mut self, lesson: Lesson) -> Result<Tensor<1>> {
        #[cfg(feature = "cuda")]
        self.repeated.forget();
        let bank = self.bank.take().ok_or_else(lost)?;
        let targets = Targets::new(&lesson.labels, bank.config().concepts.len(), &bank.tensors())?;
        self.move_bank(bank, lesson.seen, &targets, lesson.rate)
    }

    fn move_bank(&mut self, bank: LeafBank, seen: Seen, targets: &Targets, rate: f64) -> Result<Tensor<1>> {
        let loss = cross_entropy(seen.answer(&bank)?.logits, targets, self.positive_weights.clone());
        let gradients = GradientsParams::from_grads(loss.backward(), &bank);
        self.bank = Some(self.optimizer.step(rate, bank, gradients));
        #[cfg(feature = "cuda")]
        drop(self.before.take());
        Ok(loss.detach())
    }
}

fn lost() -> Error {
    Error::input("the leaf bank was lost in a step that failed".to_owned(), None)
}
