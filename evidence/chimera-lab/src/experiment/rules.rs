//! How well violations of rules are told, family by family, beside the paper's Table 3 and Table 5.

use chimera::eval::Evaluation;
use chimera::score::method::Method;
use chimera_data::error::Result;

use super::Lab;
use super::gains::{gain, mean, wins};
use crate::markdown::{Table, difference, number};
use crate::published;
use crate::world::World;

/// Methods in the order of columns; the first five are the paper's.
const METHODS: [Method; 8] = [
    Method::Indep,
    Method::Sem,
    Method::MonoN,
    Method::MonoC,
    Method::Chimera,
    Method::IndepCal,
    Method::Neural,
    Method::Oracle,
];

pub(super) fn run(lab: &Lab<'_>, world: World) -> Result<String> {
    let evaluation = measured(lab, world, &METHODS)?;
    let report = lab.report(&evaluation)?;
    Ok(page(lab, world, &evaluation, &report))
}

/// A kind of data measured, at the co-occurrence that experiments have.
pub(super) fn measured(lab: &Lab<'_>, world: World, methods: &[Method]) -> Result<Evaluation> {
    lab.study(world, TOGETHER)?.measure(lab.site, methods, lab.request.gate_seeds())
}

/// How often an object brings its partner along: concepts are not independent, as nowhere.
pub(super) const TOGETHER: f64 = 0.5;

fn page(lab: &Lab<'_>, world: World, evaluation: &Evaluation, report: &str) -> String {
    let about = &evaluation.about;
    let mut text = format!(
        "# {}\n\nMean AUROC of rules by 1 - p on {} test rows ({} break a rule), {} of gates on one leaf bank. {}\n\n",
        world.title(),
        about.rows,
        about.broken[0],
        crate::markdown::counted(about.seeds.len(), "seed"),
        lab.whose(world)
    );
    let names = METHODS.map(Method::name);
    let header = [&["rules", "number"][..], &names, &["`chimera` above `indep`", "`neural` above `indep`"]].concat();
    let mut table = Table::new(&header);
    let all: Vec<usize> = (0..evaluation.rules.len()).collect();
    let of = |families: &[&str]| -> Vec<usize> {
        all.iter().copied().filter(|&rule| families.contains(&evaluation.rules[rule].family.as_str())).collect()
    };
    let mut ours = |name: &str, rules: &[usize]| {
        if rules.is_empty() {
            return;
        }
        let mut cells = vec![format!("**{name}, ours**"), rules.len().to_string()];
        cells.extend(METHODS.map(|method| number(mean(evaluation, method, rules))));
        for method in [Method::Chimera, Method::Neural] {
            let [won, told] = wins(evaluation, method, Method::Indep, rules);
            cells.push(format!("{won}/{told}"));
        }
        table.row(cells);
    };
    let split: &[(&str, &[&str])] = match world {
        World::Clevr | World::Clevrer => &[("simple", &["simple"]), ("chain and compound", &["chain", "compound"])],
        World::Openimages | World::Vidor => &[("simple", &["simple"]), ("compound", &["chain", "compound"])],
    };
    split.iter().for_each(|(name, families)| ours(name, &of(families)));
    ours("all", &all);
    for row in published::RULES.iter().filter(|row| row.world == world) {
        let mut cells = vec![format!("{}, the paper", row.rules), row.count.to_string()];
        cells.extend([row.indep, row.sem, row.mono_n, row.mono_c, row.chimera].map(|auroc| format!("{auroc:.3}")));
        cells.extend([String::new(), String::new(), String::new(), row.wins.to_owned()]);
        table.row(cells);
    }
    if world == World::Clevr {
        table.row(vec![
            "static rules, the paper".to_owned(),
            String::new(),
            format!("{:.4}", published::STATIC_CLEVR_INDEP),
        ]);
    }
    text += &table.text();
    let leaves = evaluation.leaves.means();
    text +=
        &format!("\nConcepts: mean AUROC {}, average precision {}", number(leaves.auroc.mean), number(leaves.ap.mean));
    if let Some((_, auroc, ap)) = published::LEAVES.iter().find(|(of, ..)| *of == world) {
        text += &format!(" (the paper: {auroc:.3} and {ap:.3})");
    }
    text += ".\n";
    for (one, other) in
        [(Method::Neural, Method::IndepCal), (Method::Chimera, Method::IndepCal), (Method::Neural, Method::Chimera)]
    {
        if let Some(gain) = gain(evaluation, one, other) {
            text +=
                &format!("\n- `{}` against `{}`: {}", one.name(), other.name(), difference(gain.mean, gain.interval));
        }
    }
    text += &format!(
        "\n\n{} `oracle` has learned from violations and is no fair method; [the report]({report}/report.html) has every rule.\n",
        Lab::fallbacks(evaluation)
    );
    text
}
