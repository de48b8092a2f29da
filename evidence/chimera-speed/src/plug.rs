//! The one place where gates meet a GPU.

use chimera_data::error::Result;
use chimera_leaf::device::DeviceChoice;

use super::lesson::Lesson;
use super::scoring::Scoring;

/// What is done with gates.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "nobody reads it without a GPU"))]
pub(super) enum Work<'a> {
    /// All gates of a lesson are taught from their beginning, `recipe.epochs` times over the samples: all of that.
    Train(&'a Lesson),
    /// The same without what is done before the first step and after the last.
    Steps(&'a Lesson),
    /// All rules over all samples.
    Score(&'a Scoring),
}

/// Precisions of products on a GPU, by their names in tables; the first is what models are taught with.
pub(super) const PRECISIONS: [&str; 2] = ["tf32", "fp32"];

/// Seconds that the work takes on a GPU, from z in the memory of this machine to results there; `None` where gates do not run on that
/// device. Callers ask once before they measure, so that what is made ready once is not counted.
#[cfg(not(feature = "cuda"))]
pub(super) fn on_gpu(_device: DeviceChoice, _precision: &str, _work: Work<'_>) -> Option<Result<f64>> {
    None
}

#[cfg(feature = "cuda")]
pub(super) use self::cuda::on_gpu;

#[cfg(feature = "cuda")]
mod cuda {
    use std::num::NonZeroUsize;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Instant;

    use chimera_cuda::evaluate::Scorer;
    use chimera_cuda::gpu::{Gpu, GpuError, Precision};
    use chimera_data::error::Error;
    use chimera_gate::train::Recipe;
    use chimera_leaf::device::kernels_folder;

    use super::{DeviceChoice, Lesson, Result, Work};

    /// Gate-samples that are enough to time: a second or so.
    const ENOUGH: usize = 40_000_000;

    pub(crate) fn on_gpu(device: DeviceChoice, precision: &str, work: Work<'_>) -> Option<Result<f64>> {
        let DeviceChoice::Cuda(number) = device else { return None };
        let precision = if precision == Precision::Fp32.as_str() { Precision::Fp32 } else { Precision::Tf32 };
        Some(opened(number, precision).and_then(|gpu| seconds(&gpu, work)))
    }

    /// Devices that are ready.
    static OPENED: Mutex<Vec<(usize, Precision, Arc<Gpu>)>> = Mutex::new(Vec::new());

    fn opened(number: usize, precision: Precision) -> Result<Arc<Gpu>> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., gpu)) = opened.iter().find(|(at, of, _)| (*at, *of) == (number, precision)) {
            return Ok(Arc::clone(gpu));
        }
        let gpu = Arc::new(Gpu::open(number, precision, kernels_folder()).map_err(|error| told(&error))?);
        opened.push((number, precision, Arc::clone(&gpu)));
        Ok(gpu)
    }

    fn told(error: &GpuError) -> Error {
        Error::input(error.to_string(), None)
    }

    fn seconds(gpu: &Gpu, work: Work<'_>) -> Result<f64> {
        match work {
            Work::Train(lesson) => taught(gpu, lesson, lesson.recipe.epochs),
            Work::Steps(lesson) => {
                let each = lesson.pairs.len() * lesson.samples();
                let epochs = (ENOUGH / each.max(1)).clamp(2, 200);
                let (one, more) = (taught(gpu, lesson, 1)?, taught(gpu, lesson, 1 + epochs)?);
                Ok((more - one).max(1e-9) / epochs as f64 * lesson.recipe.epochs as f64)
            }
            Work::Score(scoring) => {
                let scorer = Scorer::new(gpu, scoring.features, &scoring.gates).map_err(|error| told(&error))?;
                let started = Instant::now();
                let logits = scorer.run(&(scoring.z.as_slice(), scoring.features), 0..scoring.samples());
                std::hint::black_box(logits.map_err(|error| told(&error))?);
                Ok(started.elapsed().as_secs_f64())
            }
        }
    }

    fn taught(gpu: &Gpu, lesson: &Lesson, epochs: usize) -> Result<f64> {
        let recipe = Recipe { epochs, ..lesson.recipe.clone() };
        lesson.with_tasks(&recipe, |tasks| {
            let tasks: Vec<_> = tasks.iter().collect();
            let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
            let started = Instant::now();
            let taught = gpu.teach(&tasks, threads, &|_| {}).map_err(|error| told(&error))?;
            let seconds = started.elapsed().as_secs_f64();
            match taught.into_iter().find_map(std::result::Result::err) {
                None => Ok(seconds),
                Some(problem) => Err(Error::input(format!("a gate is not taught: {problem}"), None)),
            }
        })
    }
}
