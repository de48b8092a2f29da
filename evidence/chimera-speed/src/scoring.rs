//! Rules over drawn samples, to be scored again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chimera_data::error::{Error, Result};
use chimera_data::parallel::in_parallel;
use chimera_gate::cone::LeafFeature;
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::train::Recipe;

use super::Bench;

/// Samples of one call, as the scoring engine has it.
pub(super) const CALL: usize = 1024;

/// Rules and samples.
#[derive(Debug)]
pub(super) struct Scoring {
    /// Two gates a rule, each after those that it reads.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the evaluator has its own"))]
    pub(super) gates: Vec<PlacedGate>,
    pub(super) rules: usize,
    /// z of the samples, row by row.
    pub(super) z: Vec<f32>,
    /// Numbers of z (F).
    pub(super) features: usize,
    evaluator: Evaluator,
}

impl Scoring {
    /// So many rules over so many random samples. Leaves are z, centred and scaled, as models have it.
    pub(super) fn new(rules: usize, features: usize, samples: usize, seed: u64) -> Result<Self> {
        let mut random = fastrand::Rng::with_seed(seed);
        let shape = Shape { arity: 2, features, hidden: Recipe::default().hidden };
        let (shift, scale) = (vec![0.5; features].into(), vec![3.5; features].into());
        let leaf = || {
            let feature = LeafFeature::Affine { shift: Arc::clone(&shift), scale: Arc::clone(&scale) };
            (Source::Leaf(feature), false)
        };
        let mut gate = |operands| PlacedGate { gate: Arc::new(Gate::initial(shape, &mut random)), operands };
        let gates: Vec<PlacedGate> = (0..rules)
            .flat_map(|rule| [gate(vec![leaf(), leaf()]), gate(vec![leaf(), (Source::Node(2 * rule), false)])])
            .collect();
        let z = (0..samples * features).map(|_| random.f32()).collect();
        let evaluator = Evaluator::new(features, &gates);
        let evaluator = evaluator.ok_or_else(|| Error::input("cannot make rules to measure".to_owned(), None))?;
        Ok(Self { gates, rules, z, features, evaluator })
    }

    /// Multiplications and additions for a sample, as the evaluator has them.
    #[cfg(test)]
    pub(super) fn operations(&self) -> usize {
        self.evaluator.operations()
    }

    /// Number of samples.
    pub(super) fn samples(&self) -> usize {
        self.z.len() / self.features
    }

    /// Scores samples on all threads, and begins no call after the limit; gives the number of samples and the seconds.
    pub(super) fn run(&self, bench: &Bench<'_>, limit: Option<Duration>) -> Result<(usize, f64)> {
        let (features, samples) = ((self.z.as_slice(), self.features), self.samples());
        // Few samples are for all threads, too.
        let size = CALL.min(samples.div_ceil(bench.site.threads.get()));
        let started = Instant::now();
        let scored = in_parallel(bench.site.threads, samples.div_ceil(size), |call| {
            if limit.is_some_and(|limit| started.elapsed() > limit) {
                return Ok(0);
            }
            let rows = call * size..((call + 1) * size).min(samples);
            let count = rows.len();
            let mut out = vec![0.0; count * self.evaluator.len()];
            self.evaluator.run(&features, rows, &mut out);
            std::hint::black_box(out);
            Ok(count)
        })?;
        Ok((scored.into_iter().sum(), started.elapsed().as_secs_f64()))
    }
}
