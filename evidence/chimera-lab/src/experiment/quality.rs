//! Every method on the four worlds, at three strengths of co-occurrence, with several seeds of gates on one leaf bank each.

use chimera::eval::Evaluation;
use chimera::score::method::Method;
use chimera_data::error::Result;
use chimera_data::metric::bootstrap::{Interval, mean_of};

use super::Lab;
use super::gains::{Gain, gain, told_with_interval};
use crate::markdown::{Table, counted, difference, number};
use crate::world::World;

/// How often an object brings its partner along.
const SETTINGS: [f64; 3] = [0.0, 0.5, 0.9];

/// A world at one strength of co-occurrence, measured.
struct Measured {
    world: World,
    together: f64,
    evaluation: Evaluation,
    /// The name of its report.
    report: String,
}

impl Measured {
    fn name(&self) -> String {
        format!("{} {}", self.world.name(), self.together)
    }
}

pub(super) fn run(lab: &Lab<'_>) -> Result<String> {
    let methods: Vec<Method> = Method::ALL.iter().map(|(_, method)| *method).collect();
    let mut measured = Vec::new();
    for &world in if lab.request.worlds.is_empty() { &World::ALL } else { lab.request.worlds } {
        for together in SETTINGS {
            lab.site.say(&format!("{} with co-occurrence {together}", world.name()));
            let evaluation = lab.study(world, together)?.measure(lab.site, &methods, lab.request.gate_seeds())?;
            let report = lab.report(&evaluation)?;
            measured.push(Measured { world, together, evaluation, report });
        }
    }
    Ok(page(&methods, &measured))
}

fn page(methods: &[Method], measured: &[Measured]) -> String {
    let mut text = format!(
        "# Quality on simulated worlds\n\nMean AUROC of rules by 1 - p with 95 % intervals over test rows, {} of gates on one leaf bank of \
         each world and co-occurrence. `oracle` has learned from violations.\n",
        counted(measured[0].evaluation.about.seeds.len(), "seed")
    );
    for settings in measured.chunk_by(|one, next| one.world == next.world) {
        text += &format!("\n## {}\n\n{}", settings[0].world.title(), by_method(methods, settings));
    }
    text + &format!(
        "\n## `neural` against others\n\nMean differences with paired 95 % intervals over test rows:\n\n{}",
        against(measured)
    )
}

/// Every method at every co-occurrence of a world.
fn by_method(methods: &[Method], settings: &[Measured]) -> String {
    let links: Vec<String> =
        settings.iter().map(|of| format!("[{}]({}/report.html)", of.together, of.report)).collect();
    let header: Vec<&str> = std::iter::once("method").chain(links.iter().map(String::as_str)).collect();
    let mut table = Table::new(&header);
    for &method in methods {
        let cells = settings.iter().map(|of| told_with_interval(&of.evaluation, method));
        table.row(std::iter::once(format!("`{}`", method.name())).chain(cells).collect());
    }
    let concepts = settings.iter().map(|of| number(of.evaluation.leaves.means().auroc.mean));
    table.row(std::iter::once("concepts, mean AUROC".to_owned()).chain(concepts).collect());
    table.text()
}

/// `neural` against independent events and against gates as published, in every world and in the mean.
fn against(measured: &[Measured]) -> String {
    let mut table = Table::new(&["data", "against `indep-cal`", "against `chimera`", "rules that fall back"]);
    for of in measured {
        let told = |other| {
            let gain = gain(&of.evaluation, Method::Neural, other);
            gain.map_or_else(String::new, |gain| difference(gain.mean, gain.interval))
        };
        let fallbacks = of.evaluation.rules.iter().filter(|rule| rule.fallback.is_some()).count();
        let rules = of.evaluation.rules.len();
        table.row(vec![of.name(), told(Method::IndepCal), told(Method::Chimera), format!("{fallbacks} of {rules}")]);
    }
    for (name, wanted) in [("mean at .5 and .9", &SETTINGS[1..]), ("mean of all", &SETTINGS[..])] {
        let mut cells = vec![format!("**{name}**")];
        for other in [Method::IndepCal, Method::Chimera] {
            let wanted = measured.iter().filter(|of| wanted.contains(&of.together));
            let gains: Vec<Gain> = wanted.filter_map(|of| gain(&of.evaluation, Method::Neural, other)).collect();
            cells.push(over_worlds(&gains));
        }
        table.row(cells);
    }
    table.text()
}

/// The mean over worlds and settings. The same draws of rows are used for all of them, so that rows which two settings have in common are drawn together.
fn over_worlds(gains: &[Gain]) -> String {
    if gains.is_empty() {
        return String::new();
    }
    let mean = gains.iter().map(|gain| gain.mean).sum::<f64>() / gains.len() as f64;
    let again = mean_of(&gains.iter().map(|gain| gain.again.as_slice()).collect::<Vec<_>>());
    difference(mean, Interval::of(&again))
}
