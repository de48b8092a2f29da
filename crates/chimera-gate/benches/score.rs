//! Scoring on the CPU: many samples against what a plain matrix product reaches, and one sample against what a plain read of
//! as many bytes takes, both measured in the same run; and the same gates in PyTorch, one after the other.
//!
//!     cargo bench -p chimera-gate --bench score -- --python "$PWD/.venv/bin/python"

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

mod common;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use chimera_gate::cone::LeafFeature;
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::product::widest;

use self::common::{argument, sgemm_peak, spread, torch};

const FEATURES: usize = 256;
const RULES: usize = 100;
const SAMPLES: usize = 100_000;
/// Samples of one call, as the scoring engine has it.
const BATCH: usize = 1024;
/// PyTorch gets a part of the samples: its time goes with their number.
const TORCH_SAMPLES: usize = 20 * BATCH;
/// The batched path of the prototype, in samples x rules a second, at its best.
const PROTOTYPE: f64 = 74e3;
const TIMES: usize = 3;

fn main() {
    let python = argument("--python");
    let threads = std::thread::available_parallelism().expect("a number").get();
    let mut random = fastrand::Rng::with_seed(1);
    let evaluator = Evaluator::new(FEATURES, &rules(&mut random)).expect("gates that fit");
    // `--samples N`, for a short look: a busy machine may be quiet for a minute, not for ten.
    let samples = argument("--samples").map_or(SAMPLES, |samples| samples.parse().expect("a number")).max(BATCH);
    let z: Vec<f32> = (0..samples * FEATURES).map(|_| random.f32()).collect();
    // `--only many` or `--only one`, for a look at it alone.
    let only = argument("--only");
    println!("{RULES} rules `A => (B & C)` of {} gates, {FEATURES} features", evaluator.len());
    if only.as_deref() != Some("one") {
        many(&evaluator, &z, threads, python.as_deref());
    }
    if only.as_deref() != Some("many") {
        one(&evaluator, &z);
    }
}

/// Gates as the product has them: leaves are z, centred and scaled.
fn rules(random: &mut fastrand::Rng) -> Vec<PlacedGate> {
    let shape = Shape { arity: 2, features: FEATURES, hidden: FEATURES };
    let (shift, scale) = (vec![0.5; FEATURES].into(), vec![3.5; FEATURES].into());
    let leaf = || (Source::Leaf(LeafFeature::Affine { shift: Arc::clone(&shift), scale: Arc::clone(&scale) }), false);
    let mut gate = |operands| PlacedGate { gate: Arc::new(Gate::initial(shape, random)), operands };
    (0..RULES)
        .flat_map(|rule| [gate(vec![leaf(), leaf()]), gate(vec![leaf(), (Source::Node(2 * rule), false)])])
        .collect()
}

fn many(evaluator: &Evaluator, z: &[f32], threads: usize, python: Option<&str>) {
    let (features, samples) = ((z, FEATURES), z.len() / FEATURES);
    let (mut peak, mut ours, mut slowest, mut theirs) = (0.0_f64, f64::INFINITY, 0.0_f64, f64::INFINITY);
    // Seconds of a sample in the fastest call: what it would be where nobody else computes, as it is for the plain product,
    // which is the best of many short ones.
    let fastest = Mutex::new(f64::INFINITY);
    for _ in 0..TIMES {
        peak = peak.max(sgemm_peak(threads));
        let started = Instant::now();
        spread(threads, samples.div_ceil(BATCH), |number| {
            let rows = number * BATCH..((number + 1) * BATCH).min(samples);
            let count = rows.len() * threads;
            let started = Instant::now();
            let mut out = vec![0.0; rows.len() * evaluator.len()];
            evaluator.run(&features, rows, &mut out);
            std::hint::black_box(out);
            let mut fastest = fastest.lock().expect("a lock");
            *fastest = fastest.min(started.elapsed().as_secs_f64() / count as f64);
        });
        let seconds = started.elapsed().as_secs_f64() / samples as f64;
        (ours, slowest) = (ours.min(seconds), slowest.max(seconds));
        if let Some(python) = python {
            let seconds = torch(python, "rules", [RULES, FEATURES, BATCH, samples.min(TORCH_SAMPLES), 1, threads]);
            theirs = theirs.min(seconds / samples.min(TORCH_SAMPLES) as f64);
        }
    }
    let rate = |seconds: f64| RULES as f64 / seconds;
    let fastest = rate(fastest.into_inner().expect("a lock"));
    let limit = rate(evaluator.operations() as f64 / peak);
    let (ours, slowest, theirs) = (rate(ours), rate(slowest), rate(theirs));
    println!("{samples} samples, {BATCH} a call, {threads} threads; the best of {TIMES} (and in the fastest call):");
    println!(
        "  k samples x rules/s      {:6.0} ({:.0}); {:.0} at the slowest",
        ours / 1e3,
        fastest / 1e3,
        slowest / 1e3
    );
    println!(
        "  % of a plain product     {:6.1} ({:.1}); target 60, of {:.0} GFLOP/s",
        100.0 * ours / limit,
        100.0 * fastest / limit,
        peak / 1e9
    );
    if python.is_some() {
        println!("  times PyTorch            {:6.2}; target 1.3, of {:.0} k", ours / theirs, theirs / 1e3);
    }
    println!(
        "  times the prototype      {:6.2} ({:.2}); target 10, of {:.0} k; a plain product would give {:.0} k: {:.2} times",
        ours / PROTOTYPE,
        fastest / PROTOTYPE,
        PROTOTYPE / 1e3,
        limit / 1e3,
        limit / PROTOTYPE
    );
}

fn one(evaluator: &Evaluator, z: &[f32]) {
    let features = (z, FEATURES);
    // Two operations are one weight of four bytes.
    let bytes = 2 * evaluator.operations();
    let buffer: Vec<f32> = (0..bytes / size_of::<f32>()).map(|number| number as f32).collect();
    let mut out = vec![0.0; evaluator.len()];
    let (mut reads, mut calls) = (Vec::new(), Vec::new());
    // In turns, so that both see the machine as busy or idle as it is. The first of a turn finds the other's data in the
    // cache, and is not counted.
    for turn in 0..10 {
        for number in 0..51 {
            let started = Instant::now();
            std::hint::black_box(sum(&buffer));
            if number > 0 {
                reads.push(started.elapsed().as_secs_f64());
            }
        }
        for number in 0..51 {
            let row = turn * 51 + number;
            let started = Instant::now();
            evaluator.run(&features, row..row + 1, &mut out);
            std::hint::black_box(&mut out);
            if number > 0 {
                calls.push(started.elapsed().as_secs_f64());
            }
        }
    }
    let of = |seconds: &mut Vec<f64>| {
        seconds.sort_by(f64::total_cmp);
        [0, 50, 90, 99].map(|percent| seconds[(seconds.len() - 1) * percent / 100])
    };
    let (reads, calls) = (of(&mut reads), of(&mut calls));
    println!(
        "one sample, one core, {:.0} MB of weights, 500 calls; at the median (and the fastest):",
        bytes as f64 / 1e6
    );
    println!("  milliseconds             {:6.2} ({:.2})", 1e3 * calls[1], 1e3 * calls[0]);
    println!(
        "  % of a plain read        {:6.1} ({:.1}); target 70, of {:.1} GB/s ({:.1})",
        100.0 * reads[1] / calls[1],
        100.0 * reads[0] / calls[0],
        bytes as f64 / reads[1] / 1e9,
        bytes as f64 / reads[0] / 1e9
    );
    println!(
        "  p99 / p50                {:6.2}; target 1.5; p90 / p50 {:.2}",
        calls[3] / calls[1],
        calls[2] / calls[1]
    );
    println!("  the same of the read     {:6.2}; p90 / p50 {:.2}", reads[3] / reads[1], reads[2] / reads[1]);
}

/// The sum of all numbers, in many sums beside each other: nothing waits but for memory.
fn sum(numbers: &[f32]) -> f32 {
    widest(
        #[inline(always)]
        || {
            let mut sums = [0.0_f32; 128];
            for numbers in numbers.as_chunks::<128>().0 {
                for (sum, number) in sums.iter_mut().zip(numbers) {
                    *sum += number;
                }
            }
            sums.iter().sum()
        },
    )
}
