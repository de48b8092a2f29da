//! Gate-samples a second: implications of two concepts over one z, taught on chimeras.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chimera::error::{Error, Result};
use chimera::parallel::in_parallel;
use chimera_gate::cone::{Cone, LeafFeature};
use chimera_gate::draw::{Drawing, Population, Truths};
use chimera_gate::gate::Shape;
use chimera_gate::train::{Recipe, Task};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Node};
use chimera_logic::syntax::Op;
use chimera_logic::vocabulary::Vocabulary;
use serde_json::json;

use super::counts::gate_training;
use super::plug::{PRECISIONS, Work, on_gpu};
use super::record::{Measurement, On};
use super::{Bench, Notes, torch};

/// Concepts that gates are about.
pub(super) const CONCEPTS: usize = 64;

/// Numbers of z.
pub(super) const FEATURES: usize = 256;

const SAMPLES: usize = 4096;
const UNIT: &str = "gate-samples/s";

/// Seconds for all of PyTorch's ways.
const TORCH_SECONDS: [u64; 2] = [40, 90];

/// Gates to be taught, and what they are taught with.
#[derive(Debug)]
pub(super) struct Lesson {
    /// z of the samples, row by row.
    pub(super) z: Vec<f32>,
    /// Numbers of z (F).
    pub(super) features: usize,
    /// A column a concept.
    pub(super) labels: TruthTable,
    /// The concepts of each gate: the first implies the second.
    pub(super) pairs: Vec<[usize; 2]>,
    /// How each is taught.
    pub(super) recipe: Recipe,
    dag: Dag,
    cones: Vec<Cone>,
    truths: Vec<Arc<Truths>>,
}

impl Lesson {
    /// So many gates over random samples.
    pub(super) fn new(gates: usize, features: usize, samples: usize, batch: usize, seed: u64) -> Result<Self> {
        let failed = |what: &str| Error::input(format!("cannot make gates to measure: {what}"), None);
        let mut random = fastrand::Rng::with_seed(seed);
        // As behind a ReLU: half of the numbers are zero.
        let z: Vec<f32> = (0..samples * features).map(|_| (random.f32() - 0.5).max(0.0)).collect();
        let labels = TruthTable::complete(BitTable::from_fn(samples, CONCEPTS, |_, _| random.bool()));
        let mut dag = Dag::new(Vocabulary::open());
        let mut leaves = Vec::with_capacity(CONCEPTS);
        for concept in 0..CONCEPTS {
            let concept = dag.resolve(&format!("c{concept:02}")).ok_or_else(|| failed("a concept"))?;
            leaves.push(dag.leaf(concept));
        }
        // Mean and deviation of the numbers above: 1/8, and the root of 1/24 - 1/64.
        let (shift, scale) = (vec![0.125; features].into(), vec![6.197; features].into());
        let leaf = LeafFeature::Affine { shift, scale };
        let pair = |gate: usize| [gate % CONCEPTS, (gate + 1 + gate / CONCEPTS % (CONCEPTS - 1)) % CONCEPTS];
        let pairs: Vec<[usize; 2]> = (0..gates).map(pair).collect();
        let mut cones = Vec::with_capacity(gates);
        for pair in &pairs {
            let operands = pair.map(|concept| leaves[concept]).to_vec();
            let node = dag.gate(Op::Implies, operands).ok().ok_or_else(|| failed("a gate"))?.node();
            let cone = Cone::unfold(&dag, node, &|_| leaf.clone(), &|_| None);
            cones.push(cone.ok_or_else(|| failed("a cone"))?);
        }
        let truths = (0..CONCEPTS).map(|column| Arc::new(Truths::of_column(&labels, column))).collect();
        let recipe = Recipe { batch, epochs: 1, ..Recipe::default() };
        Ok(Self { z, features, labels, pairs, recipe, dag, cones, truths })
    }

    /// Number of samples.
    pub(super) fn samples(&self) -> usize {
        self.labels.rows()
    }

    /// Teaches gates side by side, each on one thread, and begins none after the limit; gives the number of gates and the seconds.
    pub(super) fn teach(&self, bench: &Bench<'_>, limit: Option<Duration>) -> Result<(usize, f64)> {
        let started = Instant::now();
        let in_time = || limit.is_none_or(|limit| started.elapsed() < limit);
        let taught = in_parallel(bench.site.threads, self.cones.len(), |gate| {
            if in_time() { self.teach_one(gate).map(|()| true) } else { Ok(false) }
        })?;
        Ok((taught.into_iter().filter(|taught| *taught).count(), started.elapsed().as_secs_f64()))
    }

    fn teach_one(&self, gate: usize) -> Result<()> {
        let (features, population) = ((self.z.as_slice(), self.features), self.population());
        let taught = self.task(gate, &self.recipe, &features, &population).teach(&|| {});
        std::hint::black_box(taught.map_err(|problem| Error::input(format!("a gate is not taught: {problem}"), None))?);
        Ok(())
    }

    /// Does something with the tasks of all gates.
    #[cfg(feature = "cuda")]
    pub(super) fn with_tasks<T>(&self, recipe: &Recipe, work: impl FnOnce(&[Task<'_, (&[f32], usize)>]) -> T) -> T {
        let (features, population) = ((self.z.as_slice(), self.features), self.population());
        let tasks = (0..self.cones.len()).map(|gate| self.task(gate, recipe, &features, &population));
        work(&tasks.collect::<Vec<_>>())
    }

    fn population(&self) -> Population {
        Population { rows: self.samples(), groups: None }
    }

    fn task<'t>(
        &'t self,
        gate: usize,
        recipe: &'t Recipe,
        features: &'t (&'t [f32], usize),
        population: &'t Population,
    ) -> Task<'t, (&'t [f32], usize)> {
        let cone = &self.cones[gate];
        let truth_of = |node| match self.dag.node(node) {
            Node::Leaf(concept) => Arc::clone(&self.truths[concept.index()]),
            Node::Gate(..) => Arc::default(),
        };
        Task {
            cone,
            shape: Shape { arity: 2, features: self.features, hidden: recipe.hidden },
            recipe,
            features,
            population,
            chimeras: Some(Drawing::new(cone, recipe.chimeras, &truth_of)),
            same: None,
            grafts: None,
            kept: None,
            seed: gate as u64,
        }
    }
}

/// A number of gates and samples a step.
#[derive(Clone, Copy, Debug)]
struct Case {
    gates: usize,
    batch: usize,
}

impl Case {
    fn name(self) -> String {
        format!("{} gates, batch {}", self.gates, self.batch)
    }
}

fn cases(bench: &Bench<'_>, on: On) -> Vec<Case> {
    let gates: &[usize] = if bench.quick { &[4, 8] } else { &[32, 256, 2048] };
    let batches: &[usize] = if bench.quick { &[64] } else { &[64, 256, 1024] };
    let every = gates.iter().flat_map(|&gates| batches.iter().map(move |&batch| Case { gates, batch }));
    // PyTorch's stacks are measured at these on a CPU: more of them take too long there.
    let of_torch = if bench.quick { &[][..] } else { &[64, 256] };
    let stacked = of_torch.iter().map(|&batch| Case { gates: 64, batch }).filter(|_| on == On::Cpu);
    stacked.chain(every).collect()
}

pub(super) fn measure(bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
    let samples = bench.full_or_quick(SAMPLES, 256);
    for on in bench.places() {
        for case in cases(bench, on) {
            let lesson = Lesson::new(case.gates, FEATURES, samples, case.batch, bench.seed)?;
            let cost = gate_training(FEATURES, lesson.recipe.hidden, case.batch);
            for precision in precisions(on) {
                let Some(rate) = rate(bench, &lesson, on, precision)? else { continue };
                let measured = Measurement::ours("train", &case.name(), on, (rate, UNIT)).costing(cost);
                notes.keep(vec![Measurement { precision: (*precision).to_owned(), ..measured }])?;
            }
        }
        notes.keep(theirs(bench, on, samples)?)?;
    }
    Ok(())
}

/// Precisions that gates have there.
fn precisions(on: On) -> &'static [&'static str] {
    match on {
        On::Cpu => &["fp32"],
        On::Gpu => &PRECISIONS,
    }
}

/// Gate-samples a second; `None` where gates do not run there.
fn rate(bench: &Bench<'_>, lesson: &Lesson, on: On, precision: &str) -> Result<Option<f64>> {
    let each = (lesson.samples() * lesson.recipe.epochs) as f64;
    match (on, &bench.gpu) {
        (On::Gpu, Some((choice, _))) => {
            let Some(ready) = on_gpu(*choice, precision, Work::Train(lesson)) else { return Ok(None) };
            ready?;
            let seconds = on_gpu(*choice, precision, Work::Steps(lesson)).transpose()?;
            Ok(seconds.map(|seconds| lesson.pairs.len() as f64 * each / seconds))
        }
        _ => {
            let (gates, seconds) = lesson.teach(bench, Some(2 * bench.budget()))?;
            Ok(Some(gates as f64 * each / seconds))
        }
    }
}

fn theirs(bench: &Bench<'_>, on: On, samples: usize) -> Result<Vec<Measurement>> {
    let is_asked = |case: &Case| on == On::Gpu || bench.quick || case.gates == 64;
    let asked: Vec<Case> = cases(bench, on).into_iter().filter(is_asked).collect();
    let hidden = Recipe::default().hidden;
    let described: Vec<_> =
        asked.iter().map(|case| json!({"name": case.name(), "gates": case.gates, "batch": case.batch})).collect();
    let sizes = json!({
        "cases": described, "features": FEATURES, "hidden": hidden, "samples": samples, "concepts": CONCEPTS,
    });
    let theirs = torch::ask(bench, "gates", on, sizes, TORCH_SECONDS[usize::from(on == On::Gpu)])?;
    let with_cost = |measured: Measurement| match asked.iter().find(|case| case.name() == measured.case) {
        Some(case) => measured.costing(gate_training(FEATURES, hidden, case.batch)),
        None => measured,
    };
    Ok(theirs.into_iter().map(with_cost).collect())
}
