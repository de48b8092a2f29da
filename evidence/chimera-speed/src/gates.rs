//! Gate-samples a second: implications of two concepts over one z, taught on chimeras.

use chimera_data::error::Result;
use chimera_gate::train::Recipe;
use serde_json::json;

use super::counts::gate_training;
use super::lesson::{CONCEPTS, FEATURES, Lesson};
use super::plug::{PRECISIONS, Work, on_gpu};
use super::record::{Measurement, On};
use super::{Bench, Notes, torch};

const SAMPLES: usize = 4096;
const UNIT: &str = "gate-samples/s";

/// Seconds for all of PyTorch's ways.
const TORCH_SECONDS: [u64; 2] = [40, 90];

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
