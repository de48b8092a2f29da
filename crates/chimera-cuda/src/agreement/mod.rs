//! Whether a device computes what the processor does: outputs of gates, steps of training, what is drawn, gates taught together
//! and alone, and how well taught gates tell samples that break rules.

mod case;
mod drawn;
mod steps;

use std::num::NonZeroUsize;
use std::sync::Arc;

use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::train::{Negatives, Recipe, Task};

use self::case::{Case, Setting, Teach, WIDTH, What, World, Z};
use crate::evaluate::Scorer;
use crate::gpu::{Gpu, Precision, Result};
use crate::teach::Outcome;

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

/// Rules of all operators, with negations, shared parts and two levels.
const RULES: [&str; 6] =
    ["a => b", "a => (b & c)", "(a | !b) => (c | d)", "!(a & b & c)", "(a & !c) | (d <=> e)", "a <=> b"];

/// Threads of the host; what comes out does not depend on it.
const THREADS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(3);

/// One of the two that are compared.
#[derive(Clone, Copy)]
struct Side<'a> {
    teach: &'a Teach<'a>,
    seed: u64,
}

fn by_processor(tasks: &[&Task<'_, Z<'_>>]) -> Result<Vec<Outcome>> {
    Ok(tasks.iter().map(|task| task.teach(&|| {})).collect())
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
    let many = |tasks: &[&Task<'_, Z<'_>>]| gpu.teach(tasks, THREADS, &|_| {});
    let alone = |tasks: &[&Task<'_, Z<'_>>]| -> Result<Vec<Outcome>> {
        let taught = tasks.iter().map(|task| gpu.teach(&[*task], THREADS, &|_| {})).collect::<Result<Vec<_>>>()?;
        Ok(taught.into_iter().flatten().collect())
    };
    let device = |seed| Side { teach: &alone, seed };
    let processor = |seed| Side { teach: &by_processor, seed };
    let mut all = vec![outputs(gpu)?];
    all.extend(steps::equal(device(3), processor(3), tolerance(gpu))?);
    all.push(steps::diverged(device(3), processor(3))?);
    all.extend(steps::together(&many, &alone, tolerance(gpu))?);
    all.extend(drawn::ways(device(4), processor(4))?);
    all.extend(drawn::settings(Side { teach: &many, seed: 4 }, processor(4))?);
    all.extend(aurocs(&many, &by_processor, 0)?);
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
    let world = World::new(700, 5, 6, |_| true);
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

/// Gates taught on either, asked about fresh samples; the processor starts from other seeds by so many.
fn aurocs(device: &Teach<'_>, processor: &Teach<'_>, seeds_apart: u64) -> Result<Vec<Agreement>> {
    const SEEDS: u64 = 4;
    let mut all = Vec::new();
    for (name, what, negatives, rules) in [
        ("chimeras", What::Gates, Negatives::Chimera, &RULES[..3]),
        ("grafts", What::Gates, Negatives::Graft, &RULES[..3]),
        ("chimeras, monolith", What::Monoliths, Negatives::Chimera, &RULES[2..3]),
        ("grafts, heads", What::Heads, Negatives::Graft, &RULES[2..3]),
    ] {
        for formula in rules {
            let case = Case::new(&Setting::plain(std::slice::from_ref(formula), 2000, 10))?;
            let (mut cpu, mut gpu) = (0.0, 0.0);
            for seed in 0..SEEDS {
                let recipe = recipe(negatives);
                let of = |teach: &Teach<'_>, seed: u64| -> Result<f64> {
                    Ok(case.auroc(what, &case.taught(what, (&recipe, seed), teach)?) / SEEDS as f64)
                };
                cpu += of(processor, 100 * seed + seeds_apart)?;
                gpu += of(device, 100 * seed)?;
            }
            all.push(Agreement {
                what: format!("AUROC on {name}: `{formula}`"),
                cpu: Some(cpu),
                gpu: Some(gpu),
                difference: (cpu - gpu).abs(),
                tolerance: 0.005,
            });
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn all_hold(all: Vec<Agreement>) {
        for one in all {
            println!("{:<80} {:.2e} of {:.2e}", one.what, one.difference, one.tolerance);
            assert!(one.holds(), "{}: {} is more than {}", one.what, one.difference, one.tolerance);
        }
    }

    const OTHER: Side<'_> = Side { teach: &by_processor, seed: 1004 };
    const ONE: Side<'_> = Side { teach: &by_processor, seed: 4 };

    // The processor against itself, with other random numbers: what is asked of a device must hold between two of a kind.

    #[test]
    fn the_processor_draws_as_it_draws() {
        all_hold(drawn::settings(ONE, OTHER).unwrap());
    }

    #[test]
    fn the_processor_agrees_with_itself() {
        all_hold(steps::equal(ONE, ONE, 0.0).unwrap());
        all_hold(vec![steps::diverged(ONE, ONE).unwrap()]);
        all_hold(steps::together(&by_processor, &by_processor, 0.0).unwrap());
    }

    #[test]
    fn gates_of_the_processor_are_as_good_whatever_is_drawn() {
        all_hold(aurocs(&by_processor, &by_processor, 1000).unwrap());
    }
}
