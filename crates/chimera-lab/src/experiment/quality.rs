//! Every method on the four worlds, at three strengths of co-occurrence, with several seeds of gates on one leaf bank each.

use chimera::error::Result;
use chimera::eval::Evaluation;
use chimera::metric::bootstrap::{Interval, mean_of};
use chimera::score::method::Method;

use super::Lab;
use super::gains::{Gain, gain, mean};
use crate::markdown::{Table, difference, number};
use crate::world::World;

/// How often an object brings its partner along.
const SETTINGS: [f64; 3] = [0.0, 0.5, 0.9];

pub(super) fn run(lab: &Lab<'_>) -> Result<String> {
    let methods: Vec<Method> = Method::ALL.iter().map(|(_, method)| *method).collect();
    let mut measured: Vec<(World, f64, Evaluation)> = Vec::new();
    for world in World::ALL {
        for together in SETTINGS {
            lab.site.say(&format!("{} with co-occurrence {together}", world.name()));
            let evaluation = lab.study(world, together)?.measure(lab.site, &methods, lab.request.seeds)?;
            measured.push((world, together, evaluation));
        }
    }
    Ok(page(lab, &methods, &measured))
}

fn page(lab: &Lab<'_>, methods: &[Method], measured: &[(World, f64, Evaluation)]) -> String {
    let columns: Vec<String> =
        measured.iter().map(|(world, together, _)| format!("{} {together}", world.name())).collect();
    let header: Vec<&str> = std::iter::once("method").chain(columns.iter().map(String::as_str)).collect();
    let mut table = Table::new(&header);
    for &method in methods {
        let mut cells = vec![format!("`{}`", method.name())];
        cells.extend(measured.iter().map(|(_, _, evaluation)| {
            let all: Vec<usize> = (0..evaluation.rules.len()).collect();
            number(mean(evaluation, method, &all))
        }));
        table.row(cells);
    }
    let mut concepts = vec!["AUROC of concepts".to_owned()];
    concepts.extend(measured.iter().map(|(_, _, evaluation)| number(evaluation.leaves.means().auroc.mean)));
    table.row(concepts);
    let mut text = format!(
        "# Quality on simulated worlds\n\nMean AUROC of rules by 1 - p, {} of gates on one leaf bank of each world and co-occurrence.\n\n{}\n",
        crate::markdown::counted(lab.request.seeds.get(), "seed"),
        table.text()
    );
    text += "`neural` against others, mean differences with paired 95 % intervals over test rows:\n\n";
    let mut table = Table::new(&["data", "against `indep-cal`", "against `chimera`", "rules that fall back"]);
    for (world, together, evaluation) in measured {
        let told = |other| {
            let gain = gain(evaluation, Method::Neural, other);
            gain.map_or_else(String::new, |gain| difference(gain.mean, gain.interval))
        };
        let fallbacks = evaluation.rules.iter().filter(|rule| rule.fallback.is_some()).count();
        table.row(vec![
            format!("{} {together}", world.name()),
            told(Method::IndepCal),
            told(Method::Chimera),
            format!("{fallbacks} of {}", evaluation.rules.len()),
        ]);
    }
    for (name, wanted) in [("mean at .5 and .9", &SETTINGS[1..]), ("mean of all", &SETTINGS[..])] {
        let mut cells = vec![format!("**{name}**")];
        for other in [Method::IndepCal, Method::Chimera] {
            let gains = measured.iter().filter(|(_, together, _)| wanted.contains(together));
            let gains: Vec<Gain> = gains.filter_map(|(_, _, of)| gain(of, Method::Neural, other)).collect();
            cells.push(over_worlds(&gains));
        }
        table.row(cells);
    }
    text + &table.text()
}

/// The mean over worlds, whose rows are drawn independently of each other.
fn over_worlds(gains: &[Gain]) -> String {
    if gains.is_empty() {
        return String::new();
    }
    let mean = gains.iter().map(|gain| gain.mean).sum::<f64>() / gains.len() as f64;
    let again = mean_of(&gains.iter().map(|gain| gain.again.as_slice()).collect::<Vec<_>>());
    difference(mean, Interval::of(&again))
}
