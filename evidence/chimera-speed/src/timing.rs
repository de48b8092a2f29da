//! The clock: steps in runs, with one wait for the device at the end of each.

use std::time::{Duration, Instant};

use chimera_data::error::Result;
use chimera_leaf::workload::Work;

/// Runs of which the median is taken.
const RUNS: usize = 5;

/// How long a step takes, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    pub(super) seconds: f64,
    /// Runs of which that is the median.
    pub(super) runs: usize,
    /// The slowest of them over the fastest; `None` for one run.
    pub(super) spread: Option<f64>,
}

/// Seconds of a step in the median of runs that take about as long as the budget together. The first steps, in which kernels are
/// compiled and chosen, are not counted.
pub(super) fn seconds_a_step(steps: &mut dyn Work, budget: Duration) -> Result<Timed> {
    let mut run = |count: usize| -> Result<f64> {
        let started = Instant::now();
        (0..count).try_for_each(|_| steps.step())?;
        steps.wait()?;
        Ok(started.elapsed().as_secs_f64() / count as f64)
    };
    run(1)?;
    let first = run(1)?;
    if first > budget.as_secs_f64() {
        // Too slow for runs of many: the best of three steps, in case that one was held up.
        let seconds = first.min(run(1)?).min(run(1)?);
        return Ok(Timed { seconds, runs: 1, spread: None });
    }
    // Without waits in between a device is faster than a single step says.
    let estimate = run(3)?.max(1e-7);
    let count = (budget.as_secs_f64() / RUNS as f64 / estimate) as usize;
    let mut seconds = (0..RUNS).map(|_| run(count.max(1))).collect::<Result<Vec<_>>>()?;
    seconds.sort_by(f64::total_cmp);
    let spread = Some(seconds[RUNS - 1] / seconds[0]);
    Ok(Timed { seconds: seconds[RUNS / 2], runs: RUNS, spread })
}

/// The best of several tries: for work that is measured as a whole.
pub(super) fn best_of(tries: usize, mut work: impl FnMut() -> Result<f64>) -> Result<f64> {
    (0..tries).try_fold(f64::INFINITY, |best, _| Ok(best.min(work()?)))
}
