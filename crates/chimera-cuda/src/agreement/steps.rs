//! Steps that have nothing random in them, and gates that are taught together: what comes out must stay together.

use chimera_gate::cone::Cone;
use chimera_gate::gate::Gate;
use chimera_gate::train::{Negatives, Recipe};

use super::case::{Case, Setting, Teach, WIDTH, What};
use super::{Agreement, RULES, Side, apart, recipe};
use crate::gpu::{GpuError, Result};

/// A gate of fourteen operands, and as many leaves below gates.
const BROAD: &str = "!(a & b & !c & d & e & f & !g & h & i & j & k & l & m & n)";
const DEEP: &str = "(a & b & !c) => ((d | e | f | g) & (h <=> i) & (j | !k | (l & m) | n))";

/// Rules that can hold together without any part of them being always true.
const TOGETHER: [&str; 6] = [
    "a => b",
    "c => (d & e)",
    "(f | !g) => (h | i)",
    "!(a & d & g)",
    "(b & !h) | (e <=> j)",
    "(a & c) => (f | !j | (h & i))",
];

/// Steps on all samples at once. `factor` says how far numbers may be apart after one of them.
pub(super) fn equal(device: Side<'_>, processor: Side<'_>, factor: f64) -> Result<Vec<Agreement>> {
    let plain = Setting::plain(&RULES[2..3], 300, 8);
    let rows = [
        ("three gates", What::Gates, 2, plain.clone()),
        ("three gates, unknown labels", What::Gates, 2, Setting { unknown: 0.1, ..plain.clone() }),
        ("three gates, samples left out", What::Gates, 2, Setting { left_out: true, ..plain.clone() }),
        ("a gate of fourteen operands", What::Gates, 14, Setting { formulas: &[BROAD], concepts: 14, ..plain.clone() }),
        ("monolith over fourteen leaves", What::Monoliths, 14, Setting { formulas: &[DEEP], concepts: 14, ..plain }),
    ];
    let mut all = Vec::new();
    for (name, what, operands, setting) in rows {
        let case = Case::new(&setting)?;
        let recipe = Recipe { batch: 512, epochs: 12, weight_decay: 1e-3, ..recipe(Negatives::Same) };
        let found = case.taught(what, (&recipe, device.seed), device.teach)?;
        let (mut worst, mut loss) = (0.0_f64, 0.0_f64);
        // Each gate over the same gates below it.
        case.again(what, (&recipe, processor.seed), &found, |found, cone, task| {
            let outcome = (processor.teach)(&[task])?.pop();
            let expected = outcome.and_then(std::result::Result::ok).ok_or_else(|| refused(name))?;
            // What the gates say, not single weights: Adam turns the sign of a gradient near zero into a whole step.
            worst = worst.max(apart(&said(&found.gate, cone, &case), &said(&expected.gate, cone, &case)));
            for (found, expected) in found.losses.iter().zip(&expected.losses) {
                let far = f64::from((found - expected).abs() / expected.abs().max(1e-6));
                loss = if far.is_nan() { f64::INFINITY } else { loss.max(far) };
            }
            Ok(())
        })?;
        let agreement = |what: &str, difference, tolerance| Agreement {
            what: format!("{what} 12 equal steps, {name}"),
            cpu: None,
            gpu: None,
            difference,
            tolerance,
        };
        all.push(agreement("loss of", loss, factor.max(1e-3)));
        // Errors that do not know of each other add up as the root of their number.
        let wider = (f64::from(operands) / 2.0).sqrt();
        all.push(agreement("logits after", worst, 3.0 * wider * factor.max(1e-3)));
    }
    Ok(all)
}

/// A rate at which no gate stays finite: both must say so, and in which epoch.
pub(super) fn diverged(device: Side<'_>, processor: Side<'_>) -> Result<Agreement> {
    let case = Case::new(&Setting::plain(&RULES[2..3], 300, 8))?;
    let recipe = Recipe { batch: 512, epochs: 4, rate: 1e20, ..recipe(Negatives::Same) };
    let said =
        |side: Side<'_>| case.taught(What::Monoliths, (&recipe, side.seed), side.teach).err().map(|e| e.to_string());
    let (found, expected) = (said(device), said(processor));
    let agree = found == expected && expected.is_some_and(|text| text.contains("diverged"));
    Ok(Agreement {
        what: "a gate that diverges is reported, in the same epoch".to_owned(),
        cpu: None,
        gpu: None,
        difference: if agree { 0.0 } else { 1.0 },
        tolerance: 0.0,
    })
}

fn refused(name: &str) -> GpuError {
    GpuError::Driver(format!("the check cannot teach {name}"))
}

/// Gates of all rules, those of a level in one call against each in a call of its own: the same numbers are drawn, and what
/// comes out is the same but for the order in which tiles add up.
pub(super) fn together(many: &Teach<'_>, alone: &Teach<'_>, factor: f64) -> Result<Vec<Agreement>> {
    let mut all = Vec::new();
    for (name, what, negatives) in [
        ("gates on chimeras", What::Gates, Negatives::Chimera),
        ("gates on chimeras and grafts", What::Gates, Negatives::ChimeraGraft),
        ("gates on chimeras and samples", What::Gates, Negatives::Both),
        ("monoliths on chimeras", What::Monoliths, Negatives::Chimera),
        ("heads", What::Heads, Negatives::Graft),
    ] {
        let odd = Setting { unknown: 0.05, grouped: Some(3), left_out: true, ..Setting::plain(&TOGETHER, 400, 12) };
        let setting = Setting { concepts: 10, ..odd };
        let case = Case::new(&setting)?;
        let recipe = Recipe { epochs: 2, ..recipe(negatives) };
        let found = case.taught(what, (&recipe, 6), many)?;
        let (mut drawn, mut worst) = (0, 0.0_f64);
        // Each alone over the gates that were taught together.
        case.again(what, (&recipe, 6), &found, |found, cone, task| {
            let outcome = alone(&[task])?.pop();
            let expected = outcome.and_then(std::result::Result::ok).ok_or_else(|| refused(name))?;
            let same =
                found.shown == expected.shown && (found.failed, found.unknown) == (expected.failed, expected.unknown);
            drawn += usize::from(!same);
            worst = worst.max(apart(&said(&found.gate, cone, &case), &said(&expected.gate, cone, &case)));
            Ok(())
        })?;
        let count = found.len();
        let agreement = |what: &str, difference, tolerance| Agreement {
            what: format!("{count} {name} at once and one by one: {what}"),
            cpu: None,
            gpu: None,
            difference,
            tolerance,
        };
        all.push(agreement("gates for which other samples are drawn", f64::from(drawn as u32), 0.0));
        all.push(agreement("logits", worst, 3.0 * factor));
    }
    Ok(all)
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
