//! Samples x rules a second: rules `A => (B & C)` of two gates each over many samples.

use chimera_data::error::Result;
use chimera_gate::train::Recipe;
use serde_json::json;

use super::counts::rule_scoring;
use super::lesson::FEATURES;
use super::plug::{PRECISIONS, Work, on_gpu};
use super::record::{Measurement, On};
use super::scoring::{CALL, Scoring};
use super::timing::best_of;
use super::{Bench, Notes, torch};

const UNIT: &str = "samples x rules/s";

/// Seconds for all of PyTorch's ways.
const TORCH_SECONDS: [u64; 2] = [30, 60];

pub(super) fn measure(bench: &Bench<'_>, notes: &mut Notes<'_>) -> Result<()> {
    let (rules, samples) = bench.full_or_quick((100, 100_000), (8, 2048));
    let case = format!("{rules} rules, {samples} samples");
    let scoring = Scoring::new(rules, FEATURES, samples, bench.seed)?;
    let hidden = Recipe::default().hidden;
    let cost = rule_scoring(FEATURES, hidden, rules, CALL);
    for on in bench.places() {
        if let Some(rate) = rate(bench, &scoring, on)? {
            notes.keep(vec![Measurement::ours("score", &case, on, (rate, UNIT)).costing(cost)])?;
        }
        let call = match on {
            On::Cpu => CALL,
            On::Gpu => 8 * CALL,
        };
        let sizes = json!({
            "name": case, "rules": rules, "features": FEATURES, "hidden": hidden, "call": call.min(samples),
        });
        let theirs = torch::ask(bench, "score", on, sizes, TORCH_SECONDS[usize::from(on == On::Gpu)])?;
        notes.keep(theirs.into_iter().map(|measured| measured.costing(cost)).collect())?;
    }
    Ok(())
}

/// Samples x rules a second; `None` where gates do not run there.
fn rate(bench: &Bench<'_>, scoring: &Scoring, on: On) -> Result<Option<f64>> {
    let rules = scoring.rules as f64;
    let seconds_a_sample = match (on, &bench.gpu) {
        (On::Gpu, Some((choice, _))) => {
            let score = || on_gpu(*choice, PRECISIONS[0], Work::Score(scoring));
            let Some(ready) = score() else { return Ok(None) };
            ready?;
            let Some(seconds) = score().transpose()? else { return Ok(None) };
            seconds / scoring.samples() as f64
        }
        _ => best_of(3, || {
            let (samples, seconds) = scoring.run(bench, Some(3 * bench.budget()))?;
            Ok(seconds / samples as f64)
        })?,
    };
    Ok(Some(rules / seconds_a_sample))
}
