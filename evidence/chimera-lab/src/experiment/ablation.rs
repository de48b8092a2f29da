//! What is lost without a part of the method.

use chimera::gate::config::{GateConfig, Negatives};
use chimera::score::method::Method;
use chimera_data::error::Result;

use super::Lab;
use super::gains::{gain, gain_between, mean};
use super::rules::{TOGETHER, measured};
use crate::markdown::{Table, difference, number};
use crate::published;
use crate::world::World;

/// Worlds that ablations are measured on: those of the paper's Table 3.
const WORLDS: [World; 3] = [World::Clevrer, World::Openimages, World::Vidor];

/// Without chimeras: the same gates, taught on samples as they are.
pub(super) fn chimera(lab: &Lab<'_>) -> Result<String> {
    let said = "The same gates, taught on samples as they are on which the rule holds (`sem`), and on chimeras. Where no sample breaks \
                a rule, samples as they are have nothing to say about violations.";
    without(lab, "Without chimeras", said, Method::Sem, |row| row.sem)
}

/// Without gates inside of rules: one gate a rule, taught on chimeras.
pub(super) fn modular(lab: &Lab<'_>) -> Result<String> {
    let said = "One gate a rule, taught on chimeras (`mono-c`), against a gate for every node, which other rules can use and which says \
                what of a rule is broken. The paper finds both alike.";
    without(lab, "Without gates inside of rules", said, Method::MonoC, |row| row.mono_c)
}

fn without(
    lab: &Lab<'_>,
    title: &str,
    said: &str,
    method: Method,
    paper: impl Fn(&published::Row) -> f64,
) -> Result<String> {
    let header =
        ["data", method.name(), "chimera", "difference", &format!("the paper's {}", method.name()), "and chimera"];
    let mut table = Table::new(&header);
    for world in WORLDS {
        let evaluation = measured(lab, world, &[method, Method::Chimera])?;
        let all: Vec<usize> = (0..evaluation.rules.len()).collect();
        let gain = gain(&evaluation, Method::Chimera, method);
        let published = published::RULES.iter().find(|row| row.world == world && row.rules == "all");
        table.row(vec![
            world.title().to_owned(),
            number(mean(&evaluation, method, &all)),
            number(mean(&evaluation, Method::Chimera, &all)),
            gain.map_or_else(String::new, |gain| difference(gain.mean, gain.interval)),
            number(published.map(&paper)),
            number(published.map(|row| row.chimera)),
        ]);
    }
    Ok(format!("# {title}\n\n{said} Mean AUROC of rules; data are ours, simulated.\n\n{}", table.text()))
}

/// What gates learn from: chimeras, chimeras and samples as they are, and these only where the rule holds.
pub(super) fn same_pairs(lab: &Lab<'_>) -> Result<String> {
    let seed = lab.request.seed;
    let config = |negatives, strict| GateConfig { negatives, strict, seed, grafts: false, ..GateConfig::default() };
    let ways = [
        ("chimera", config(Negatives::Chimera, false)),
        ("both", config(Negatives::Both, false)),
        ("both-strict", config(Negatives::Both, true)),
    ];
    let mut table =
        Table::new(&["data", "chimera", "both", "both, strict", "both against chimera", "strict against chimera"]);
    for world in WORLDS {
        let study = lab.study(world, TOGETHER)?;
        let mut evaluations = Vec::new();
        for (name, config) in &ways {
            let name = format!("{}-pairs-{name}", lab.scenes(world, TOGETHER).name_of(world));
            let regated = study.regated(lab.site, &name, world.rules(), config, false)?;
            evaluations.push(regated.measure(lab.site, &[Method::Chimera], lab.request.gate_seeds())?);
        }
        let all: Vec<usize> = (0..evaluations[0].rules.len()).collect();
        let mut cells = vec![world.title().to_owned()];
        cells.extend(evaluations.iter().map(|evaluation| number(mean(evaluation, Method::Chimera, &all))));
        for other in &evaluations[1..] {
            let gain = gain_between((other, Method::Chimera), (&evaluations[0], Method::Chimera));
            cells.push(gain.map_or_else(String::new, |gain| difference(gain.mean, gain.interval)));
        }
        table.row(cells);
    }
    let said = "Gates taught on chimeras alone, on chimeras and samples as they are (`--negatives both`), and on chimeras and samples on which the \
                rule holds (`--strict`, the paper's AD-strict). No train row of ours breaks a rule, so strict leaves nothing out, and both are \
                the same gates but for what names them. The paper has no numbers for this.";
    Ok(format!(
        "# Samples as they are beside chimeras\n\n{said} Mean AUROC of rules; data are ours, simulated.\n\n{}",
        table.text()
    ))
}
