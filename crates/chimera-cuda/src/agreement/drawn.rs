//! What is drawn: either draws with random numbers of its own, so it is shares that are compared.

use chimera_gate::draw::{Choice, Depth};
use chimera_gate::train::{Negatives, Recipe, Taught};
use chimera_logic::dag::NodeId;

use super::case::{Case, Setting, What};
use super::{Agreement, RULES, Side, recipe};
use crate::gpu::{GpuError, Result};

/// Fourteen concepts: more than are listed configuration by configuration, in a rule of three levels.
const WIDE: &str = "((a & b & c & d) | (e & f & !g)) => ((h | i | j) & (k | l | !m | n))";

const ROWS: usize = 2000;
const EPOCHS: usize = 8;

/// Ways of drawing: the share of each configuration of operands.
pub(super) fn ways(device: Side<'_>, processor: Side<'_>) -> Result<Vec<Agreement>> {
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
        let settings = RULES.iter().map(|rule| Setting::plain(std::slice::from_ref(rule), ROWS, 9));
        all.push(shares(name, settings, What::Gates, &recipe, (device, processor))?);
    }
    Ok(all)
}

/// The same where something is out of the ordinary.
pub(super) fn settings(device: Side<'_>, processor: Side<'_>) -> Result<Vec<Agreement>> {
    let sides = (device, processor);
    let plain = RULES.map(|rule| [rule]);
    let of = |change: fn(Setting<'_>) -> Setting<'_>| {
        plain.iter().map(move |rule| change(Setting::plain(rule, ROWS, 9))).collect::<Vec<_>>()
    };
    let open = of(|setting| Setting { unknown: 0.1, ..setting });
    let grouped = of(|setting| Setting { grouped: Some(50), ..setting });
    let alone = of(|setting| Setting { grouped: Some(ROWS), ..setting });
    let left_out = of(|setting| Setting { left_out: true, ..setting });
    let wide = vec![Setting { concepts: 14, ..Setting::plain(&[WIDE], ROWS, 9) }];
    let rows = [
        ("chimeras, unknown labels", &open, What::Gates, Negatives::Chimera),
        ("samples, unknown labels", &open, What::Gates, Negatives::Same),
        ("chimeras and grafts, unknown labels", &open, What::Gates, Negatives::ChimeraGraft),
        ("chimeras, groups of 50 samples", &grouped, What::Gates, Negatives::Chimera),
        ("chimeras, all samples in one group", &alone, What::Gates, Negatives::Chimera),
        ("samples, some left out", &left_out, What::Gates, Negatives::Same),
        ("chimeras and samples, some of these left out", &left_out, What::Gates, Negatives::Both),
        ("heads", &open, What::Heads, Negatives::Graft),
        ("monoliths on chimeras", &grouped, What::Monoliths, Negatives::Chimera),
        ("monoliths on grafts", &open, What::Monoliths, Negatives::Graft),
        ("chimeras, fourteen concepts", &wide, What::Gates, Negatives::Chimera),
        ("grafts, fourteen concepts", &wide, What::Gates, Negatives::Graft),
        ("monolith on chimeras and grafts, fourteen concepts", &wide, What::Monoliths, Negatives::ChimeraGraft),
    ];
    rows.into_iter()
        .map(|(name, settings, what, negatives)| {
            shares(name, settings.iter().cloned(), what, &recipe(negatives), sides)
        })
        .collect()
}

/// The worst of some settings.
fn shares<'s>(
    name: &str,
    settings: impl Iterator<Item = Setting<'s>>,
    what: What,
    recipe: &Recipe,
    (device, processor): (Side<'_>, Side<'_>),
) -> Result<Agreement> {
    let recipe = Recipe { epochs: EPOCHS, hidden: 8, ..recipe.clone() };
    let (mut worst, mut left) = (0.0_f64, 1.0_f64);
    for setting in settings {
        // What is left where the labels of five concepts must be known.
        left = left.min((1.0 - setting.unknown).powi(5));
        let case = Case::new(&setting)?;
        let taught = |side: Side<'_>| case.taught(what, (&recipe, side.seed), side.teach);
        // Some rules cannot be taught in some ways: then both must say so.
        match (taught(device), taught(processor)) {
            (Ok(found), Ok(expected)) => {
                for ((_, found), (_, expected)) in found.iter().zip(&expected) {
                    worst = worst.max(between(found, expected));
                }
            }
            (Err(found), Err(expected)) if found.to_string() == expected.to_string() => {}
            (found, expected) => {
                let text =
                    |result: Result<Vec<(NodeId, Taught)>>| result.map_or_else(|e| e.to_string(), |_| String::new());
                let (found, expected) = (text(found), text(expected));
                let rules = setting.formulas.join("`, `");
                return Err(GpuError::Driver(format!("{name}, `{rules}`: `{found}`, not `{expected}`")));
            }
        }
    }
    // Samples as they are come all of them in every epoch, whatever their order.
    let is_exact = recipe.negatives == Negatives::Same;
    // Four standard deviations of a share of one half, of the difference of two of them.
    let draws = (ROWS * EPOCHS) as f64 * left;
    let tolerance = if is_exact { 1e-9 } else { 4.0 * (2.0 * 0.25 / draws).sqrt() };
    Ok(Agreement {
        what: format!("shares of what is shown: {name}"),
        cpu: None,
        gpu: None,
        difference: worst,
        tolerance,
    })
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
