//! Teaching gates on a GPU: gate-samples a second by number of gates and batch, in both precisions, after a check that the
//! device agrees with the processor.
//!
//!     cargo bench -p chimera-cuda --bench gates
//!
//! `chimera experiment speed` holds the same against PyTorch.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::num::NonZeroUsize;
use std::time::Instant;

use chimera_cuda::agreement;
use chimera_cuda::gpu::{Gpu, Precision, usable};
use chimera_gate::cone::{Cone, LeafFeature};
use chimera_gate::ground::Ground;
use chimera_gate::train::{Recipe, Task};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::Dag;
use chimera_logic::syntax::Op;
use chimera_logic::vocabulary::Vocabulary;

const FEATURES: usize = 256;
const SAMPLES: usize = 4096;
const CONCEPTS: usize = 16;

fn main() {
    if let Err(missing) = usable(0) {
        println!("skipped: {missing}");
        return;
    }
    // `--only tf32 32 256`: one size, for a look at it alone.
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let arguments: Vec<String> = std::env::args().collect();
    let only = arguments.iter().position(|argument| argument == "--only").map(|at| &arguments[at + 1..]);
    let wanted = |at: usize, name: &str| only.is_none_or(|only| only.get(at).is_none_or(|only| only == name));
    for precision in [Precision::Fp32, Precision::Tf32] {
        if !wanted(0, precision.as_str()) {
            continue;
        }
        let started = Instant::now();
        let gpu = Gpu::open(0, precision, None).expect("a device");
        println!("{} ({}), opened in {:.1} s", gpu.device.name, precision.as_str(), started.elapsed().as_secs_f64());
        match if only.is_some() { Ok(Vec::new()) } else { agreement::check(&gpu) } {
            Ok(all) => {
                for one in all {
                    let numbers = match (one.cpu, one.gpu) {
                        (Some(cpu), Some(gpu)) => format!(" {cpu:.4} {gpu:.4}"),
                        _ => String::new(),
                    };
                    let verdict = if one.holds() { "" } else { "  <-- APART" };
                    println!("  {:<55} {:.2e} of {:.2e}{numbers}{verdict}", one.what, one.difference, one.tolerance);
                }
            }
            Err(error) => println!("  {error}"),
        }
        for gates in [32, 256, 2048] {
            for batch in [64, 256, 1024] {
                if !wanted(1, &gates.to_string()) || !wanted(2, &batch.to_string()) {
                    continue;
                }
                train(&gpu, gates, batch);
            }
        }
    }
}

fn train(gpu: &Gpu, gates: usize, batch: usize) {
    let mut random = fastrand::Rng::with_seed(1);
    let z: Vec<f32> = (0..SAMPLES * FEATURES).map(|_| (random.f32() - 0.5).max(0.0)).collect();
    let labels = TruthTable::complete(BitTable::from_fn(SAMPLES, CONCEPTS, |_, _| random.bool()));
    let mut dag = Dag::new(Vocabulary::open());
    let leaves: Vec<_> = (0..CONCEPTS)
        .map(|concept| {
            let concept = dag.resolve(&format!("c{concept:02}")).expect("open");
            dag.leaf(concept)
        })
        .collect();
    let pairs =
        (0..gates).map(|gate| vec![leaves[gate % CONCEPTS], leaves[(gate + 1 + gate / CONCEPTS % 15) % CONCEPTS]]);
    let roots: Vec<_> = pairs.map(|pair| dag.gate(Op::Implies, pair).expect("a gate")).collect();
    let features = (z.as_slice(), FEATURES);
    let ground = Ground::new(&dag, &roots, &labels, (&features, FEATURES), None, |_| LeafFeature::Shared);
    // Enough for a second or two.
    let epochs = (60_000_000 / (SAMPLES * gates)).max(2);
    let recipe = Recipe { batch, epochs, ..Recipe::default() };
    let cones: Vec<Cone> = roots.iter().map(|root| ground.cone(root.node(), &|_| None).expect("a cone")).collect();
    let tasks = |recipe: &'static Recipe| -> Vec<Task<'_, (&[f32], usize)>> {
        cones.iter().enumerate().map(|(seed, cone)| ground.task(cone, recipe, None, seed as u64)).collect()
    };
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let seconds = |epochs: usize| {
        let recipe: &'static Recipe = Box::leak(Box::new(Recipe { epochs, ..recipe.clone() }));
        let tasks = tasks(recipe);
        let started = Instant::now();
        let tasks: Vec<_> = tasks.iter().collect();
        let outcomes = gpu.teach(&tasks, threads, &|_| {}).expect("gates");
        assert!(outcomes.iter().all(Result::is_ok));
        started.elapsed().as_secs_f64()
    };
    seconds(1);
    let (one, all) = (seconds(1), seconds(1 + epochs));
    let rate = (epochs * SAMPLES * gates) as f64 / (all - one);
    let operations = (2 * (2 * 2 * FEATURES * FEATURES + 3 * FEATURES * FEATURES)) as f64;
    println!(
        "  {gates:>4} gates, batch {batch:>4}: {:>6.1} M gate-samples/s, {:>5.1} TFLOP/s, {:.2} ms before the first step",
        rate / 1e6,
        rate * operations / 1e12,
        1e3 * (one - (all - one) / epochs as f64)
    );
}
