//! `chimera add`: new rules into a trained model.

use anyhow::bail;
use chimera::gate::config::GateConfig;
use chimera::gate::report::GatesReport;
use chimera::gate::section::GateSection;
use chimera::gate::stage::Place;
use chimera::model::{self, Model};
use chimera::train::{self, Gating};
use chimera_data::dataset::Dataset;
use chimera_logic::load::load_text;
use chimera_logic::rules::format_rules;
use chimera_logic::rules::{Rule, RuleSet};
use chimera_mine::record;

use crate::args::AddArguments;
use crate::console::Console;
use crate::rules::input::Traced;
use crate::table::counted;
use crate::train::events::Shown;
use crate::train::{cache_folder, gates, material};
use crate::{Outcome, devices};

pub(crate) fn run(arguments: &AddArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let folder = &arguments.model;
    // Claimed before it is read: what another process adds meanwhile would be lost.
    let _claimed = model::claim(folder)?;
    let device = devices::open(arguments.device, console)?;
    let model = Model::open(folder, &device)?;
    let dataset = Dataset::open(&arguments.data)?.in_order_of(&model.manifest.bank.concepts);
    let Traced { rule_set: new, mined } = gates::load(&arguments.rules, &dataset, console)?;
    let section = model.manifest.gates.as_ref();
    let old = section.map(|section| section.rule_set(&model.manifest.bank.concepts)).transpose()?;
    let rule_set = joined(old.as_ref(), &new, &dataset, console)?;
    let config = section.map_or_else(
        || GateConfig { seed: model.manifest.config.seed, ..GateConfig::default() },
        |section| section.config.clone(),
    );
    let (cache, threads) = (cache_folder(arguments.cache.as_deref())?, arguments.threads.get());
    let shown = Shown::new(console);
    let encoded = material::encode(&model, &dataset, &cache, threads, &shown)?;
    let kept = section.filter(|_| old.as_ref().is_some_and(|old| replaced(old, &new).count() < old.rules.len()));
    let kept = kept.map(|section| section.mined.clone()).unwrap_or_default();
    let mined = record::joined(kept.into_iter().chain(mined));
    let gates = folder.join(model::GATES);
    let place = Place { cache: &cache, gates: Some(&gates), threads, retrain: false, device: &device };
    let gating =
        Gating { dataset: &dataset, encoded: &encoded, rule_set: &rule_set, mined: &mined, config: &config, place };
    let section = section.cloned();
    let (stage, manifest) = train::regate(folder, model, gating, &device, &|event| shown.show_taught(&event))?;
    drop(shown);
    say_taught_again(section.as_ref(), &stage.report, console);
    if arguments.json {
        console.write_json(&stage.report)?;
    } else {
        gates::write_text(&stage.report, console.results())?;
    }
    if let Some(section) = &manifest.gates {
        gates::say_normal(section.normal_rows, console);
    }
    let rules = counted(rule_set.rules.len(), "rule");
    console.say(format_args!("model in `{}` with {rules}", folder.display()));
    Ok(Outcome::Done)
}

/// Says when gates of the model's own rules had to be taught anew, and why that can be.
fn say_taught_again(section: Option<&GateSection>, report: &GatesReport, console: &Console) {
    let Some(section) = section else { return };
    let gone = section.gates.trained.iter().filter(|hash| !report.gates.iter().any(|gate| gate.key == **hash)).count();
    if gone > 0 && report.counts().trained >= gone {
        let why = if section.config.nominal_only {
            "with `nominal-only`, the rows that gates are taught on depend on all rules"
        } else {
            "a rule was replaced, or z has other bits on this machine"
        };
        console.say(format_args!("{} of the model given up for new ones: {why}", counted(gone, "gate")));
    }
}

/// The model's rules that new ones of their names take the place of, with another meaning.
fn replaced<'a>(old: &'a RuleSet, new: &RuleSet) -> impl Iterator<Item = &'a Rule> {
    let formula = |set: &RuleSet, rule: &Rule| set.dag.text(rule.root);
    let changed =
        move |rule: &&Rule| new.find(&rule.name).is_some_and(|other| formula(new, other) != formula(old, rule));
    old.rules.iter().filter(changed)
}

/// The model's rules and the new ones, over one DAG. A new rule takes the place of an old one of its name.
fn joined(old: Option<&RuleSet>, new: &RuleSet, dataset: &Dataset, console: &Console) -> anyhow::Result<RuleSet> {
    let Some(old) = old else { return Ok(new.clone()) };
    let mut kept = old.clone();
    let changed = replaced(old, new).count();
    kept.rules.retain(|rule| new.find(&rule.name).is_none());
    if changed > 0 {
        console.say(format_args!("{} of the model replaced by new ones of the same name", counted(changed, "rule")));
    }
    let text = format!("{}{}", format_rules(&kept), format_rules(new));
    let loaded = load_text("joined rules", &text, dataset.table().vocabulary());
    if loaded.diagnostics.errors() > 0 {
        bail!("the new rules do not go together with the model's");
    }
    Ok(loaded.rule_set)
}
