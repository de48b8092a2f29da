//! Whether a device computes what the processor does: outputs of gates, steps of training, what is drawn, and how well taught
//! gates tell samples that break rules.

use std::sync::Arc;

use chimera_gate::cone::{Cone, LeafFeature, Moments};
use chimera_gate::draw::{Choice, Depth};
use chimera_gate::effects::Design;
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::graft::Effects;
use chimera_gate::ground::Ground;
use chimera_gate::train::{Negatives, Recipe, Task, Taught};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge, NodeId};
use chimera_logic::load::load_text;
use chimera_logic::truth::holds;
use chimera_logic::vocabulary::Vocabulary;

use crate::evaluate::Scorer;
use crate::gpu::{Gpu, GpuError, Precision, Result};

/// One comparison.
#[derive(Clone, Debug)]
pub struct Agreement {
    /// What was compared.
    pub what: String,
    /// What the processor says, where that is one number.
    pub cpu: Option<f64>,
    /// What the device says.
    pub gpu: Option<f64>,
    /// How far they are apart.
    pub difference: f64,
    /// How far they may be.
    pub tolerance: f64,
}

impl Agreement {
    /// Whether they agree. A number that is none does not.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.difference <= self.tolerance
    }
}

const CONCEPTS: [&str; 5] = ["a", "b", "c", "d", "e"];
const WIDTH: usize = 40;

/// Rules of all operators, with negations, shared parts and two levels.
const RULES: [&str; 6] =
    ["a => b", "a => (b & c)", "(a | !b) => (c | d)", "!(a & b & c)", "(a & !c) | (d <=> e)", "a <=> b"];

/// Samples of five concepts, each with numbers of its own, behind a ReLU.
struct World {
    labels: Vec<[bool; 5]>,
    z: Vec<f32>,
}

impl World {
    fn new(count: usize, seed: u64, pass: impl Fn(&[bool; 5]) -> bool) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = Self { labels: Vec::new(), z: Vec::new() };
        while world.labels.len() < count {
            let labels = std::array::from_fn(|_| random.bool());
            if pass(&labels) {
                for at in 0..WIDTH {
                    let there = labels.get(at / 7).is_some_and(|there| *there);
                    let noise = random.f32() + random.f32() + random.f32() - 1.5;
                    world.z.push((0.8 * f32::from(u8::from(there)) + 0.9 * noise).max(0.0));
                }
                world.labels.push(labels);
            }
        }
        world
    }

    fn table(&self) -> TruthTable {
        TruthTable::complete(BitTable::from_fn(self.labels.len(), CONCEPTS.len(), |row, column| {
            self.labels[row][column]
        }))
    }

    fn leaf(&self) -> LeafFeature {
        let mut moments = Moments::new(WIDTH);
        self.z.chunks_exact(WIDTH).for_each(|z| moments.add(z));
        moments.standard()
    }
}

/// Who teaches a gate.
type Teach<'a> = dyn Fn(&Task<'_, (&[f32], usize)>) -> Result<Taught> + 'a;

/// A rule and samples on which it holds.
struct Case {
    formula: &'static str,
    dag: Dag,
    root: Edge,
    train: World,
    leaf: LeafFeature,
    effects: Effects,
}

impl Case {
    fn new(formula: &'static str, rows: usize, seed: u64) -> Result<Self> {
        let vocabulary = Vocabulary::closed(CONCEPTS.map(str::to_owned), "the check");
        let loaded = load_text("check", &format!("r: {formula}"), vocabulary);
        let refused = || GpuError::Driver(format!("the check cannot use `{formula}`"));
        let root = loaded.rule_set.rules.first().ok_or_else(refused)?.root;
        let dag = loaded.rule_set.dag;
        let train = World::new(rows, seed, |labels| holds(&dag, root, &|concept| labels[concept.index()]));
        let design = Design::new(&train.table()).ok_or_else(refused)?;
        let features = (train.z.as_slice(), WIDTH);
        let effects = design.join(&[design.fit(&features, 0..WIDTH, true)], true);
        Ok(Self { formula, leaf: train.leaf(), dag, root, train, effects })
    }

    /// All gates, the lowest first, each taught by `teach`.
    fn taught(&self, recipe: &Recipe, seed: u64, teach: &Teach<'_>) -> Result<Vec<(NodeId, Taught)>> {
        let features = (self.train.z.as_slice(), WIDTH);
        let table = self.train.table();
        let ground = Ground::new(&self.dag, &[self.root], &table, (&features, WIDTH), None, |_| self.leaf.clone())
            .with_effects(&self.effects, &table);
        let mut gates: Vec<Option<Arc<Gate>>> = vec![None; self.dag.len()];
        let mut taught = Vec::new();
        for (node, ..) in self.dag.gates() {
            let Some(cone) = ground.cone(node, &|node| gates[node.index()].clone()) else { continue };
            let task = ground.task(&cone, recipe, None, seed + node.index() as u64);
            let result = teach(&task)?;
            gates[node.index()] = Some(Arc::new(result.gate.clone()));
            taught.push((node, result));
        }
        Ok(taught)
    }

    fn placed(&self, taught: &[(NodeId, Taught)]) -> Vec<PlacedGate> {
        let place = |node: NodeId| taught.iter().position(|(other, _)| *other == node);
        let gates = taught.iter().map(|(node, taught)| {
            let operands = self.dag.operands(*node).iter().map(|edge| {
                let source = place(edge.node()).map_or(Source::Leaf(self.leaf.clone()), Source::Node);
                (source, edge.is_negated())
            });
            PlacedGate { gate: Arc::new(taught.gate.clone()), operands: operands.collect() }
        });
        gates.collect()
    }

    /// How well gates tell fresh samples that break the rule.
    fn auroc(&self, taught: &[(NodeId, Taught)]) -> f64 {
        let test = World::new(3000, 77, |_| true);
        let logits = on_processor(&self.placed(taught), &test.z);
        let Some(root) = taught.iter().position(|(node, _)| *node == self.root.node()) else { return f64::NAN };
        let score = |row: usize| {
            let logit = logits[row * taught.len() + root];
            if self.root.is_negated() { logit } else { -logit }
        };
        let breaks = |row: &usize| !holds(&self.dag, self.root, &|concept| test.labels[*row][concept.index()]);
        let (broken, held): (Vec<usize>, Vec<usize>) = (0..test.labels.len()).partition(breaks);
        let won: f64 =
            broken.iter().map(|&high| held.iter().map(|&low| compare(score(high), score(low))).sum::<f64>()).sum();
        won / (broken.len() * held.len()) as f64
    }
}

fn compare(high: f32, low: f32) -> f64 {
    if high > low {
        1.0
    } else if high < low {
        0.0
    } else {
        0.5
    }
}

fn on_processor(gates: &[PlacedGate], z: &[f32]) -> Vec<f32> {
    let rows = z.len() / WIDTH;
    let mut logits = vec![f32::NAN; rows * gates.len()];
    if let Some(evaluator) = Evaluator::new(WIDTH, gates) {
        evaluator.run(&(z, WIDTH), 0..rows, &mut logits);
    }
    logits
}

/// The largest difference, in units of the size of what is expected.
fn apart(found: &[f32], expected: &[f32]) -> f64 {
    let size = expected.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>() / expected.len().max(1) as f64;
    let differences = found.iter().zip(expected).map(|(found, expected)| f64::from((found - expected).abs()));
    // A number that is none counts as far away.
    let worst = differences.fold(0.0, |worst, x| if x.is_nan() { f64::INFINITY } else { f64::max(worst, x) });
    if found.len() == expected.len() { worst / size.sqrt().max(1e-12) } else { f64::INFINITY }
}

fn recipe(negatives: Negatives) -> Recipe {
    Recipe { hidden: 72, negatives, epochs: 6, rate: 2e-3, ..Recipe::default() }
}

/// Compares a device with the processor.
///
/// # Errors
/// What the device reports.
pub fn check(gpu: &Gpu) -> Result<Vec<Agreement>> {
    let mut all = vec![outputs(gpu)?];
    all.extend(steps(gpu)?);
    all.extend(drawn(gpu)?);
    all.extend(aurocs(gpu)?);
    Ok(all)
}

/// What may differ: TF32 keeps 10 bits behind the point, and errors of many numbers add up.
fn tolerance(gpu: &Gpu) -> f64 {
    match gpu.precision {
        Precision::Tf32 => 1e-2,
        Precision::Fp32 => 1e-4,
    }
}

/// Gates of all numbers of operands, some over others.
fn outputs(gpu: &Gpu) -> Result<Agreement> {
    let mut random = fastrand::Rng::with_seed(5);
    let world = World::new(700, 6, |_| true);
    let leaf = world.leaf();
    let mut gates = Vec::new();
    for number in 0..24 {
        let arity = 1 + number % 4;
        let gate = Arc::new(Gate::initial(Shape { arity, features: WIDTH, hidden: 30 + number }, &mut random));
        let operands = (0..arity).map(|_| {
            let below = random.usize(..2 * number.max(1));
            let source = if below < number { Source::Node(below) } else { Source::Leaf(leaf.clone()) };
            (source, random.bool())
        });
        gates.push(PlacedGate { gate, operands: operands.collect() });
    }
    let found = Scorer::new(gpu, WIDTH, &gates)?.run(&(world.z.as_slice(), WIDTH), 0..world.labels.len())?;
    let expected = on_processor(&gates, &world.z);
    let difference = apart(&found, &expected);
    Ok(Agreement {
        what: "logits of 24 gates over each other, 700 samples".to_owned(),
        cpu: None,
        gpu: None,
        difference,
        tolerance: tolerance(gpu),
    })
}

/// Steps on all samples at once have nothing random in them: weights must stay together.
fn steps(gpu: &Gpu) -> Result<Vec<Agreement>> {
    let case = Case::new(RULES[2], 300, 8)?;
    let recipe = Recipe { batch: 512, epochs: 12, weight_decay: 1e-3, ..recipe(Negatives::Same) };
    let on_gpu = case.taught(&recipe, 3, &|task| one(gpu, task))?;
    // Each gate over the same gates below it.
    let below: Vec<Option<Arc<Gate>>> = {
        let mut gates = vec![None; case.dag.len()];
        on_gpu.iter().for_each(|(node, taught)| gates[node.index()] = Some(Arc::new(taught.gate.clone())));
        gates
    };
    let features = (case.train.z.as_slice(), WIDTH);
    let table = case.train.table();
    let ground = Ground::new(&case.dag, &[case.root], &table, (&features, WIDTH), None, |_| case.leaf.clone());
    let (mut worst, mut loss) = (0.0_f64, 0.0_f64);
    for (node, found) in &on_gpu {
        let Some(cone) = ground.cone(*node, &|node| below[node.index()].clone()) else { continue };
        let task = ground.task(&cone, &recipe, None, 3 + node.index() as u64);
        let expected = task.teach(&|| {}).map_err(|problem| GpuError::Driver(problem.to_string()))?;
        // What the gates say, not single weights: Adam turns the sign of a gradient near zero into a whole step.
        let inputs = |gate: &Gate| said(gate, &cone, &case);
        worst = worst.max(apart(&inputs(&found.gate), &inputs(&expected.gate)));
        for (found, expected) in found.losses.iter().zip(&expected.losses) {
            loss = loss.max(f64::from((found - expected).abs() / expected.abs().max(1e-6)));
        }
    }
    let agreement = |what: &str, difference, tolerance| Agreement {
        what: what.to_owned(),
        cpu: None,
        gpu: None,
        difference,
        tolerance,
    };
    let factor = tolerance(gpu);
    Ok(vec![
        agreement("loss of 12 equal steps, three gates", loss, factor.max(1e-3)),
        agreement("logits after 12 equal steps, three gates", worst, 3.0 * factor.max(1e-3)),
    ])
}

/// What a gate says of the training samples as they are.
fn said(gate: &Gate, cone: &Cone, case: &Case) -> Vec<f32> {
    let count = case.train.labels.len();
    let rows: Vec<Vec<u32>> = vec![(0..count as u32).collect(); cone.spots];
    let (mut rooms, mut inputs) = Default::default();
    cone.fill(&(case.train.z.as_slice(), WIDTH), WIDTH, &rows, count, &mut rooms, &mut inputs);
    let mut room = chimera_gate::pass::Room::default();
    room.forward(gate, &inputs, count);
    room.logits().to_vec()
}

fn one(gpu: &Gpu, task: &Task<'_, (&[f32], usize)>) -> Result<Taught> {
    let outcome = gpu.teach(&[task], &|_| {})?.pop();
    let refused = |why: String| GpuError::Driver(why);
    outcome.ok_or_else(|| refused("no gate came back".to_owned()))?.map_err(|problem| refused(problem.to_string()))
}

/// Ways of drawing: the share of each configuration of operands.
fn drawn(gpu: &Gpu) -> Result<Vec<Agreement>> {
    let ways = [
        ("chimeras by leaf", recipe(Negatives::Chimera)),
        ("chimeras by operand", Recipe { chimeras: Depth::Node, ..recipe(Negatives::Chimera) }),
        ("shifted batches", Recipe { chimeras: Depth::Node, sampler: Choice::Shift, ..recipe(Negatives::Chimera) }),
        ("samples as they are", recipe(Negatives::Same)),
        ("grafts", recipe(Negatives::Graft)),
        ("chimeras and grafts", recipe(Negatives::ChimeraGraft)),
    ];
    let mut all = Vec::new();
    for (name, recipe) in ways {
        let recipe = Recipe { epochs: 8, hidden: 8, ..recipe };
        let mut worst = 0.0_f64;
        for formula in RULES {
            let case = Case::new(formula, 2000, 9)?;
            let on_processor = |task: &Task<'_, (&[f32], usize)>| match task.teach(&|| {}) {
                Ok(taught) => Ok(taught),
                Err(problem) => Err(GpuError::Driver(problem.to_string())),
            };
            // Some rules cannot be taught in some ways: then both must say so.
            match (case.taught(&recipe, 4, &|task| one(gpu, task)), case.taught(&recipe, 4, &on_processor)) {
                (Ok(found), Ok(expected)) => {
                    for ((_, found), (_, expected)) in found.iter().zip(&expected) {
                        worst = worst.max(between(found, expected));
                    }
                }
                (Err(found), Err(expected)) if found.to_string() == expected.to_string() => {}
                (found, expected) => {
                    let text = |result: Result<Vec<(NodeId, Taught)>>| {
                        result.map_or_else(|e| e.to_string(), |_| String::new())
                    };
                    let (found, expected) = (text(found), text(expected));
                    return Err(GpuError::Driver(format!("{name}, `{formula}`: `{found}`, not `{expected}`")));
                }
            }
        }
        all.push(Agreement {
            what: format!("shares of what is shown: {name}"),
            cpu: None,
            gpu: None,
            difference: worst,
            // 16,000 draws: four standard deviations of a share of one half, of the difference of two of them.
            tolerance: 4.0 * (2.0 * 0.25 / 16_000.0_f64).sqrt(),
        });
    }
    Ok(all)
}

/// The largest difference between shares of configurations, and of what could not be drawn or is unknown.
fn between(found: &Taught, expected: &Taught) -> f64 {
    let total = |taught: &Taught| taught.shown.0.values().sum::<u64>().max(1) as f64;
    let share = |taught: &Taught, values: &Vec<bool>| *taught.shown.0.get(values).unwrap_or(&0) as f64 / total(taught);
    let keys = found.shown.0.keys().chain(expected.shown.0.keys());
    let shares = keys.map(|key| (share(found, key) - share(expected, key)).abs());
    let others = [(found.failed, expected.failed), (found.unknown, expected.unknown)];
    let others = others.map(|(one, other)| one.abs_diff(other) as f64 / total(expected));
    shares.chain(others).chain([(total(found) / total(expected) - 1.0).abs()]).fold(0.0, f64::max)
}

/// Gates taught on either, asked about fresh samples.
fn aurocs(gpu: &Gpu) -> Result<Vec<Agreement>> {
    const SEEDS: u64 = 4;
    let mut all = Vec::new();
    for (name, negatives) in [("chimeras", Negatives::Chimera), ("grafts", Negatives::Graft)] {
        for formula in [RULES[0], RULES[1], RULES[2]] {
            let case = Case::new(formula, 2000, 10)?;
            let (mut cpu, mut device) = (0.0, 0.0);
            for seed in 0..SEEDS {
                let recipe = recipe(negatives);
                let on_processor = |task: &Task<'_, (&[f32], usize)>| {
                    task.teach(&|| {}).map_err(|problem| GpuError::Driver(problem.to_string()))
                };
                cpu += case.auroc(&case.taught(&recipe, 100 * seed, &on_processor)?) / SEEDS as f64;
                device += case.auroc(&case.taught(&recipe, 100 * seed, &|task| one(gpu, task))?) / SEEDS as f64;
            }
            all.push(Agreement {
                what: format!("AUROC on {name}: `{}`", case.formula),
                cpu: Some(cpu),
                gpu: Some(device),
                difference: (cpu - device).abs(),
                tolerance: 0.005,
            });
        }
    }
    Ok(all)
}
