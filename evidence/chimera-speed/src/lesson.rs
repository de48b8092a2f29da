//! Gates over drawn samples, to be trained again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chimera_data::error::{Error, Result};
use chimera_data::parallel::in_parallel;
use chimera_gate::cone::{Cone, LeafFeature};
use chimera_gate::draw::{Drawing, Population, Truths};
use chimera_gate::gate::Shape;
use chimera_gate::train::{Recipe, Task};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Node};
use chimera_logic::syntax::Op;
use chimera_logic::vocabulary::Vocabulary;

use super::Bench;

/// Concepts that gates are about.
pub(super) const CONCEPTS: usize = 64;

/// Numbers of z.
pub(super) const FEATURES: usize = 256;

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
