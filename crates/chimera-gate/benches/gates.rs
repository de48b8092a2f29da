//! Teaching and running gates on the CPU: gate-samples a second, the share of what a plain matrix product reaches on this
//! machine in the same run, and the same gates in PyTorch, one after the other and stacked.
//!
//!     cargo bench -p chimera-gate --bench gates -- --python "$PWD/.venv/bin/python"

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

mod common;

use std::sync::Arc;
use std::time::Instant;

use chimera_gate::cone::{Cone, LeafFeature};
use chimera_gate::draw::{Choice, Drawing, Population, Truths};
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::graft::{Effects, Grafting, Labels};
use chimera_gate::train::{Negatives, Recipe, Task};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Node};
use chimera_logic::syntax::Op;
use chimera_logic::vocabulary::Vocabulary;

use self::common::{argument, sgemm_peak, spread, torch};

const GATES: usize = 64;
const FEATURES: usize = 256;
const SAMPLES: usize = 5000;
const CONCEPTS: usize = 16;
const TIMES: usize = 3;

fn main() {
    let python = argument("--python");
    let threads = std::thread::available_parallelism().expect("a number").get();
    let peak = sgemm_peak(threads);
    println!("{threads} threads, {:.0} GFLOP/s in a plain product of 512x512 matrices a thread", peak / 1e9);
    // `--batch N`: only the training of that batch, for a look at it alone.
    let only = argument("--batch");
    for batch in [64, 256].into_iter().filter(|batch| only.as_ref().is_none_or(|only| *only == batch.to_string())) {
        train(batch, threads, peak, python.as_deref());
    }
    if only.is_some() {
        return;
    }
    score(1000, 10_000, threads, peak, python.as_deref());
}

fn train(batch: usize, threads: usize, peak: f64, python: Option<&str>) {
    let mut random = fastrand::Rng::with_seed(1);
    // As behind a ReLU: half of the numbers are zero.
    let z: Vec<f32> = (0..SAMPLES * FEATURES).map(|_| (random.f32() - 0.5).max(0.0)).collect();
    let labels = TruthTable::complete(BitTable::from_fn(SAMPLES, CONCEPTS, |_, _| random.bool()));
    let mut dag = Dag::new(Vocabulary::open());
    let leaves: Vec<_> = (0..CONCEPTS)
        .map(|concept| {
            let concept = dag.resolve(&format!("c{concept:02}")).expect("open");
            dag.leaf(concept)
        })
        .collect();
    let pairs = (0..GATES).map(|gate| vec![leaves[gate % CONCEPTS], leaves[(gate + 1 + gate / CONCEPTS) % CONCEPTS]]);
    let nodes: Vec<_> = pairs.map(|pair| dag.gate(Op::Implies, pair).expect("a gate").node()).collect();
    let truths: Vec<Arc<Truths>> = (0..CONCEPTS).map(|column| Arc::new(Truths::of_column(&labels, column))).collect();
    let truth_of = |node| match dag.node(node) {
        Node::Leaf(concept) => truths[concept.index()].clone(),
        Node::Gate(..) => Arc::default(),
    };
    let recipe = Recipe { batch, epochs: 1, sampler: Choice::Shift, ..Recipe::default() };
    let population = Population { rows: SAMPLES, groups: None };
    let features = (z.as_slice(), FEATURES);
    let cones: Vec<Cone> = nodes
        .iter()
        .map(|&node| Cone::unfold(&dag, node, &|_| LeafFeature::Shared, &|_| None).expect("a cone"))
        .collect();
    let effects = Effects {
        base: vec![0.0; FEATURES],
        added: (0..CONCEPTS * FEATURES).map(|_| random.f32() - 0.5).collect(),
        spread: vec![0.3; FEATURES],
        shares: vec![0.5; CONCEPTS],
        rectified: true,
    };
    let known = Labels::of(&labels);
    let concept_of = |node| match dag.node(node) {
        Node::Leaf(concept) => concept.index(),
        Node::Gate(..) => 0,
    };
    let teach = |recipe: &Recipe| {
        spread(threads, GATES, |gate| {
            let cone = &cones[gate];
            let task = Task {
                cone,
                shape: Shape { arity: 2, features: FEATURES, hidden: recipe.hidden },
                recipe,
                features: &features,
                population: &population,
                chimeras: recipe.negatives.has_chimeras().then(|| Drawing::new(cone, recipe.chimeras, &truth_of)),
                same: None,
                grafts: recipe.negatives.has_grafts().then(|| Grafting::new(cone, &effects, &known, concept_of)),
                kept: None,
                seed: gate as u64,
            };
            std::hint::black_box(task.teach(&|| {}).expect("a gate"));
        });
    };
    let ways = [
        ("shift", Choice::Shift, Negatives::Chimera),
        ("stratified", Choice::Stratified, Negatives::Chimera),
        ("grafts", Choice::Stratified, Negatives::Graft),
    ];
    let mut ours = [f64::INFINITY; 3];
    let mut theirs = [f64::INFINITY; 2];
    for _ in 0..TIMES {
        for (best, (_, sampler, negatives)) in ours.iter_mut().zip(ways) {
            let recipe = Recipe { sampler, negatives, ..recipe.clone() };
            let started = Instant::now();
            teach(&recipe);
            *best = best.min(started.elapsed().as_secs_f64());
        }
        if let Some(python) = python {
            for (best, what) in theirs.iter_mut().zip(["single", "stacked"]) {
                *best = best.min(torch(python, what, [GATES, FEATURES, batch, SAMPLES, 1, threads]));
            }
        }
    }
    let samples = (GATES * SAMPLES) as f64;
    let width = 2 * (FEATURES + 1);
    let operations = (2 * (2 * width * FEATURES + 3 * FEATURES * FEATURES)) as f64;
    println!("training {GATES} gates of {FEATURES} features, batch {batch}, {SAMPLES} samples:");
    for (seconds, (name, ..)) in ours.iter().zip(ways) {
        let share = 100.0 * samples * operations / seconds / peak;
        print!("  {name}: {:.0} k gate-samples/s, {share:.0} % of the product", samples / seconds / 1e3);
        match python {
            Some(_) => println!(
                "; {:.2} times PyTorch one after the other ({:.0} k), {:.2} times PyTorch stacked ({:.0} k)",
                theirs[0] / seconds,
                samples / theirs[0] / 1e3,
                theirs[1] / seconds,
                samples / theirs[1] / 1e3
            ),
            None => println!("; give a Python that has torch to compare: -- --python PATH"),
        }
    }
    println!("  grafts take {:.2} times as long as stratified chimeras", ours[2] / ours[1]);
}

fn score(gates: usize, samples: usize, threads: usize, peak: f64, python: Option<&str>) {
    let mut random = fastrand::Rng::with_seed(1);
    let z: Vec<f32> = (0..samples * FEATURES).map(|_| random.f32()).collect();
    let shape = Shape { arity: 2, features: FEATURES, hidden: FEATURES };
    let placed: Vec<PlacedGate> = (0..gates)
        .map(|_| PlacedGate {
            gate: Arc::new(Gate::initial(shape, &mut random)),
            operands: vec![(Source::Leaf(LeafFeature::Shared), false); 2],
        })
        .collect();
    let evaluator = Evaluator::new(FEATURES, &placed).expect("gates that fit");
    let features = (z.as_slice(), FEATURES);
    let block = 528;
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TIMES {
        let started = Instant::now();
        spread(threads, samples.div_ceil(block), |number| {
            let rows = number * block..((number + 1) * block).min(samples);
            let mut out = vec![0.0; rows.len() * gates];
            evaluator.run(&features, rows, &mut out);
            std::hint::black_box(out);
        });
        ours = ours.min(started.elapsed().as_secs_f64());
        if let Some(python) = python {
            theirs = theirs.min(torch(python, "score", [gates, FEATURES, block, samples, 1, threads]));
        }
    }
    let operations = evaluator.operations() as f64 * samples as f64;
    let pairs = (gates * samples) as f64;
    println!("scoring {gates} gates over leaves on {samples} samples:");
    print!("  {:.0} k gate-samples/s, {:.0} % of the product", pairs / ours / 1e3, 100.0 * operations / ours / peak);
    match python {
        Some(_) => println!("; {:.2} times PyTorch one after the other ({:.0} k)", theirs / ours, pairs / theirs / 1e3),
        None => println!(),
    }
}
