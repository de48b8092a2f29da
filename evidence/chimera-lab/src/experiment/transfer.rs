//! A rule of gates that were taught for other rules, against the same rule taught from scratch.

use std::collections::BTreeSet;

use chimera::gate::config::GateConfig;
use chimera::score::method::Method;
use chimera_data::error::Result;
use chimera_logic::dag::{Dag, Edge};

use super::Lab;
use super::gains::{gain_between, mean};
use super::rules::TOGETHER;
use crate::markdown::{Table, difference, number};
use crate::world::World;

pub(super) fn run(lab: &Lab<'_>) -> Result<String> {
    let mut table =
        Table::new(&["data", "rule", "gates of other rules", "gates taught", "composed", "from scratch", "difference"]);
    let seed = lab.request.seed;
    for world in [World::Clevr, World::Clevrer] {
        let study = lab.study(world, TOGETHER)?;
        let name = lab.scenes(world, TOGETHER).name_of(world);
        // The first two rules, joined: everything but the last gate is there.
        let [first, second] = [0, 1].map(|rule| study.rule_set.dag.text(study.rule_set.rules[rule].root));
        let text = format!("joined [family=compound]: ({first}) & ({second})\n");
        let config = GateConfig { seed, ..GateConfig::default() };
        let other = GateConfig { seed: seed.wrapping_add(1000), ..GateConfig::default() };
        let composed = study.regated(lab.site, &format!("{name}-composed"), &text, &config, false)?;
        let scratch = study.regated(lab.site, &format!("{name}-scratch"), &text, &other, true)?;
        let seeds = lab.request.gate_seeds();
        let [composed_at, scratch_at] = [
            composed.measure(lab.site, &[Method::Chimera], seeds)?,
            scratch.measure(lab.site, &[Method::Chimera], seeds)?,
        ];
        let (own, there) = (formulas(&composed.rule_set.dag), formulas(&study.rule_set.dag));
        let shared = own.intersection(&there).count();
        let gain = gain_between((&composed_at, Method::Chimera), (&scratch_at, Method::Chimera));
        table.row(vec![
            world.title().to_owned(),
            format!("`({first}) & ({second})`"),
            shared.to_string(),
            (own.len() - shared).to_string(),
            number(mean(&composed_at, Method::Chimera, &[0])),
            number(mean(&scratch_at, Method::Chimera, &[0])),
            gain.map_or_else(String::new, |gain| difference(gain.mean, gain.interval)),
        ]);
    }
    let said = "A new rule is two rules of the model, joined. Its parts have gates already, taught for those rules; the last one alone is taught. \
                From scratch, all of its gates are taught for it, from another seed. AUROC of the new rule by `chimera`.";
    Ok(format!("# Gates of other rules\n\n{said} Data are ours, simulated.\n\n{}", table.text()))
}

/// What each gate says.
fn formulas(dag: &Dag) -> BTreeSet<String> {
    dag.gates().map(|(node, ..)| dag.text(Edge::new(node, false))).collect()
}
