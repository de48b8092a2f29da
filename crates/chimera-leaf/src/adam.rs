//! Adam in one pass over the parameters.
//!
//! Burn's Adam walks every parameter about ten times a step. The numbers here are the same to rounding, on the CPU and on
//! NVIDIA GPUs; on other devices burn's own Adam does the work.

use burn::backend::flex::FlexTensor;
use burn::backend::{BackendTensor, DType, DispatchTensor, DispatchTensorKind, Flex};
use burn::module::Module;
use burn::optim::decay::WeightDecayConfig;
use burn::optim::{
    Adam, AdamConfig, AdamState, AdaptiveMomentumState, GradientsParams, LearningRate, ModuleOptimizer, Optimizer,
};
use burn::store::RecordError;
use burn::tensor::{Bytes, Device, Tensor};
use chimera_gate::product::widest;
use rayon::prelude::*;

#[cfg(feature = "cuda")]
use super::cuda::{self, AdamNumbers};
#[cfg(feature = "cuda")]
use recorded::Recorded;

/// Parameters that one thread updates at a time.
const CHUNK: usize = 1 << 14;

/// Constants of Adam; those of its paper by default.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamSettings {
    /// How slowly the mean of gradients forgets (0.9).
    pub beta_1: f32,
    /// How slowly the mean of squared gradients forgets (0.999).
    pub beta_2: f32,
    /// Added to the root of the latter (1e-8).
    pub epsilon: f32,
    /// The share of a parameter that is added to its gradient (0).
    pub weight_decay: f32,
}

impl Default for AdamSettings {
    fn default() -> Self {
        Self { beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, weight_decay: 0.0 }
    }
}

impl AdamSettings {
    /// An optimizer for a whole module.
    #[must_use]
    pub fn init(self) -> ModuleAdam {
        let decay = (self.weight_decay > 0.0).then(|| WeightDecayConfig::new(self.weight_decay));
        let config = AdamConfig::new()
            .with_weight_decay(decay)
            .with_beta_1(self.beta_1)
            .with_beta_2(self.beta_2)
            .with_epsilon(self.epsilon);
        #[cfg(feature = "cuda")]
        let recorded = std::sync::Arc::<Recorded>::default();
        let each = OnePassAdam {
            settings: self,
            elsewhere: config.build(),
            #[cfg(feature = "cuda")]
            recorded: recorded.clone(),
        };
        ModuleAdam {
            parameters: ModuleOptimizer::from(each),
            #[cfg(feature = "cuda")]
            settings: self,
            #[cfg(feature = "cuda")]
            recorded,
        }
    }
}

/// Adam for all parameters of a module. Clones share what they know of steps that are recorded on a GPU, so of these one is used
/// at a time.
#[derive(Clone)]
pub struct ModuleAdam {
    parameters: ModuleOptimizer,
    #[cfg(feature = "cuda")]
    settings: AdamSettings,
    #[cfg(feature = "cuda")]
    recorded: std::sync::Arc<Recorded>,
}

impl ModuleAdam {
    /// Moves all parameters that have a gradient.
    pub fn step<M: Module>(&mut self, rate: LearningRate, module: M, gradients: GradientsParams) -> M {
        let module = self.parameters.step(rate, module, gradients);
        #[cfg(feature = "cuda")]
        self.recorded.was_taken();
        module
    }

    /// Both means of every parameter and the number of steps, as burn writes them.
    ///
    /// # Errors
    /// What burn cannot write.
    pub fn to_bytes(&self) -> Result<Bytes, RecordError> {
        self.parameters.into_bytes()
    }

    /// The same optimizer with the means that were written.
    ///
    /// # Errors
    /// Bytes that are none of an optimizer's.
    pub(crate) fn with_bytes(mut self, bytes: Bytes) -> Result<Self, RecordError> {
        self.parameters = self.parameters.from_bytes(bytes)?;
        Ok(self)
    }
}

#[derive(Clone)]
struct OnePassAdam {
    settings: AdamSettings,
    elsewhere: Adam,
    #[cfg(feature = "cuda")]
    recorded: std::sync::Arc<Recorded>,
}

impl Optimizer for OnePassAdam {
    type State<const D: usize> = AdamState<D>;

    fn step<const D: usize>(
        &self,
        rate: LearningRate,
        tensor: Tensor<D>,
        gradient: Tensor<D>,
        state: Option<AdamState<D>>,
    ) -> (Tensor<D>, Option<AdamState<D>>) {
        let (time, first, second) = match state {
            Some(AdamState { momentum }) => (momentum.time, momentum.moment_1, momentum.moment_2),
            None => {
                let zeros = || Tensor::zeros(tensor.shape(), &tensor.device());
                (0, zeros(), zeros())
            }
        };
        #[cfg(feature = "cuda")]
        let time = self.recorded.time_of(time);
        #[cfg(feature = "cuda")]
        let [tensor, gradient, first, second] = {
            let step = self.recorded.step(|| Step::new(self.settings, rate as f32, time + 1).numbers());
            match cuda::adam([tensor, gradient, first, second], &step) {
                Ok([values, first, second]) => {
                    return (values, Some(AdamState::new(AdaptiveMomentumState::new(time + 1, first, second))));
                }
                Err(tensors) => *tensors,
            }
        };
        match (flex(tensor), flex(gradient), flex(first), flex(second)) {
            (Ok(mut values), Ok(gradient), Ok(mut first), Ok(mut second)) => {
                let step = Step::new(self.settings, rate as f32, time + 1);
                step.take(values.storage_mut(), gradient.storage(), first.storage_mut(), second.storage_mut());
                let [values, first, second] = [values, first, second].map(Tensor::from_primitive::<Flex>);
                (values, Some(AdamState::new(AdaptiveMomentumState::new(time + 1, first, second))))
            }
            (tensor, gradient, first, second) => {
                let moments = AdaptiveMomentumState::new(time, whole(first), whole(second));
                // Burn starts from no state, not from zero moments at time zero: both give the same first step.
                let state = (time > 0).then(|| AdamState::new(moments));
                self.elsewhere.step(rate, whole(tensor), whole(gradient), state)
            }
        }
    }

    fn to_device<const D: usize>(state: AdamState<D>, device: &Device) -> AdamState<D> {
        Adam::to_device(state, device)
    }
}

/// The numbers of a tensor in the memory of this process, or the tensor itself where they are not there.
fn flex<const D: usize>(tensor: Tensor<D>) -> Result<FlexTensor, Box<Tensor<D>>> {
    let DispatchTensor { kind, autodiff } = tensor.into_dispatch();
    match kind {
        DispatchTensorKind::Flex(BackendTensor::Float(tensor)) if tensor.dtype() == DType::F32 => {
            Ok(tensor.to_contiguous())
        }
        kind => Err(Box::new(Tensor::from_dispatch(DispatchTensor { kind, autodiff }))),
    }
}

fn whole<const D: usize>(tensor: Result<FlexTensor, Box<Tensor<D>>>) -> Tensor<D> {
    tensor.map_or_else(|tensor| *tensor, Tensor::from_primitive::<Flex>)
}

/// One step, with all that does not depend on the parameter computed once.
#[derive(Debug, Clone, Copy)]
struct Step {
    settings: AdamSettings,
    rate: f32,
    /// Undoes the bias of both means, which start at zero.
    unbias: f32,
    epsilon: f32,
}

impl Step {
    fn new(settings: AdamSettings, rate: f32, time: usize) -> Self {
        let time = i32::try_from(time).unwrap_or(i32::MAX);
        let second = (1.0 - settings.beta_2.powi(time)).sqrt();
        let unbias = second / (1.0 - settings.beta_1.powi(time));
        Self { settings, rate, unbias, epsilon: settings.epsilon * second }
    }

    #[cfg(feature = "cuda")]
    fn numbers(&self) -> AdamNumbers {
        let AdamSettings { beta_1, beta_2, weight_decay, .. } = self.settings;
        AdamNumbers { beta_1, beta_2, weight_decay, unbias: self.unbias, epsilon: self.epsilon, rate: self.rate }
    }

    fn take(&self, values: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        values
            .par_chunks_mut(CHUNK)
            .zip(gradient.par_chunks(CHUNK))
            .zip(first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK)))
            .for_each(|((values, gradient), (first, second))| self.update(values, gradient, first, second));
    }

    fn update(&self, values: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        let AdamSettings { beta_1, beta_2, weight_decay, .. } = self.settings;
        let numbers = values.iter_mut().zip(gradient).zip(first).zip(second);
        widest(
            #[inline(always)]
            || {
                for (((value, gradient), first), second) in numbers {
                    let gradient = gradient + *value * weight_decay;
                    *first = *first * beta_1 + gradient * (1.0 - beta_1);
                    *second = *second * beta_2 + gradient * gradient * (1.0 - beta_2);
                    *value -= *first * self.unbias / (second.sqrt() + self.epsilon) * self.rate;
                }
            },
        );
    }
}

#[cfg(feature = "cuda")]
mod recorded {
    //! Steps that are recorded once on a GPU and repeated: what the optimizer knows of them.

    use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};

    use burn::optim::LearningRate;
    use burn::tensor::Tensor;

    use super::{ModuleAdam, Step};
    use crate::cuda::{AdamNumbers, AdamStep};

    /// What all parameters share. Each counts its own steps, but hears nothing of those that are repeated.
    #[derive(Debug, Default)]
    pub(super) struct Recorded {
        /// Where a step that is being recorded finds its numbers.
        numbers: Mutex<Option<Tensor<1>>>,
        /// Steps that were taken, with those that were repeated.
        time: AtomicUsize,
        /// How many of them parameters do not know of; -1 where one was recorded that was not taken yet.
        ahead: AtomicIsize,
    }

    impl Recorded {
        /// Steps before this one, where a parameter knows of `own`.
        pub(super) fn time_of(&self, own: usize) -> usize {
            let time = own.saturating_add_signed(self.ahead.load(Ordering::Relaxed));
            self.time.store(time + 1, Ordering::Relaxed);
            time
        }

        /// A step as it is recorded, or one with these numbers.
        pub(super) fn step(&self, now: impl FnOnce() -> AdamNumbers) -> AdamStep {
            let numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner).clone();
            numbers.map_or_else(|| AdamStep::Now(now()), |numbers| AdamStep::Recorded(Box::new(numbers)))
        }

        /// All parameters know how many steps there were.
        pub(super) fn was_taken(&self) {
            self.ahead.store(0, Ordering::Relaxed);
        }
    }

    impl ModuleAdam {
        /// The next steps find their numbers in this tensor of the device, and leave everything where it lies.
        pub(crate) fn begin_recording(&mut self, numbers: Tensor<1>) {
            *self.recorded.numbers.lock().unwrap_or_else(PoisonError::into_inner) = Some(numbers);
        }

        /// The numbers of the next step. At least one was taken.
        pub(crate) fn next_numbers(&self, rate: LearningRate) -> [f32; 6] {
            let time = self.recorded.time.load(Ordering::Relaxed) + 1;
            Step::new(self.settings, rate as f32, time).numbers().in_order()
        }

        /// Steps have numbers of their own again. Says whether the last one was recorded, which is to say not taken.
        pub(crate) fn end_recording(&mut self, was_recorded: bool) {
            *self.recorded.numbers.lock().unwrap_or_else(PoisonError::into_inner) = None;
            if was_recorded {
                self.recorded.ahead.store(-1, Ordering::Relaxed);
                self.recorded.time.fetch_sub(1, Ordering::Relaxed);
            }
        }

        /// The same where nothing was recorded: parameters know all steps.
        pub(crate) fn without_recording(mut self) -> Self {
            self.end_recording(false);
            self.recorded.was_taken();
            self
        }

        /// Counts one more step that is repeated, and gives its numbers.
        pub(crate) fn repeated(&mut self, rate: LearningRate) -> [f32; 6] {
            let numbers = self.next_numbers(rate);
            self.recorded.ahead.fetch_add(1, Ordering::Relaxed);
            self.recorded.time.fetch_add(1, Ordering::Relaxed);
            numbers
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn steps_are_those_of_burn() {
        let device = Device::flex();
        for weight_decay in [0.0, 0.1] {
            let settings = AdamSettings { weight_decay, ..AdamSettings::default() };
            let decay = (weight_decay > 0.0).then(|| WeightDecayConfig::new(weight_decay));
            let burn = AdamConfig::new().with_epsilon(settings.epsilon).with_weight_decay(decay).build();
            let ours = OnePassAdam {
                settings,
                elsewhere: burn.clone(),
                #[cfg(feature = "cuda")]
                recorded: std::sync::Arc::default(),
            };
            let mut random = fastrand::Rng::with_seed(3);
            let mut draw = || {
                let values: Vec<f32> = (0..40_000).map(|_| random.f32() - 0.5).collect();
                Tensor::<1>::from_floats(values.as_slice(), &device)
            };
            let start = draw();
            let (mut one, mut other) = ((start.clone(), None), (start, None));
            for _ in 0..5 {
                let gradient = draw();
                one = ours.step(1e-3, one.0, gradient.clone(), one.1);
                other = burn.step(1e-3, other.0, gradient, other.1);
            }
            let (one, other) = (one.0.into_data(), other.0.into_data());
            // A number that is none is not near, so nothing is folded that could drop it.
            let mut pairs = one.iter::<f32>().zip(other.iter::<f32>());
            assert!(pairs.all(|(one, other)| (one - other).abs() <= 1e-6));
        }
    }
}
