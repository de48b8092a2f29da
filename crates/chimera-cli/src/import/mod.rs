//! `chimera import ...`: one file a source.

mod clevr;
mod coco;
mod features;
mod mnist;
mod openimages;
mod table;
mod vidor;

use std::path::Path;

use chimera_data::import::{ImportOptions, Imported, RuleConcepts};
use chimera_data::split::Split;

use crate::Outcome;
use crate::args::{ImportCommand, ImportInto};
use crate::console::Console;
use crate::rules::input::load_sound;
use crate::table::{counted, grouped};

pub(crate) fn run(command: &ImportCommand, console: &Console) -> anyhow::Result<Outcome> {
    let (imported, into) = match command {
        ImportCommand::Table(arguments) => (table::run(arguments)?, &arguments.into),
        ImportCommand::Features(arguments) => (features::run(arguments)?, &arguments.into),
        ImportCommand::Mnist(arguments) => (mnist::run(arguments)?, &arguments.into),
        ImportCommand::Coco(arguments) => (coco::run(arguments)?, &arguments.into),
        ImportCommand::Clevr(arguments) => (clevr::run(arguments, console)?, &arguments.into),
        ImportCommand::Clevrer(arguments) => (clevr::run_videos(arguments, console)?, &arguments.into),
        ImportCommand::OpenImages(arguments) => (openimages::run(arguments, console)?, &arguments.into),
        ImportCommand::Vidor(arguments) => (vidor::run(arguments, console)?, &arguments.into),
    };
    tell(&imported, into, console);
    Ok(Outcome::Done)
}

/// What all importers are told.
fn options(into: &ImportInto) -> ImportOptions {
    let split = into.split.clone().unwrap_or_default();
    ImportOptions { name: into.name.clone(), split, seed: into.seed, limit: into.limit }
}

/// The concepts that a rule file names.
fn rule_concepts(file: Option<&Path>, console: &Console) -> anyhow::Result<Option<RuleConcepts>> {
    let Some(file) = file else { return Ok(None) };
    let rule_set = load_sound(file, None, console)?;
    let names = rule_set.dag.vocabulary().names().map(str::to_owned).collect();
    Ok(Some(RuleConcepts { file: file.to_owned(), names }))
}

fn tell(imported: &Imported, into: &ImportInto, console: &Console) {
    for note in &imported.notes {
        let count = if note.count > 0 { format!("{} ", grouped(note.count as u64)) } else { String::new() };
        console.say(format_args!("note: {count}{}", note.message));
        note.listed.iter().for_each(|name| console.say(format_args!("  {name}")));
        if note.more > 0 {
            console.say(format_args!("  and {} more", grouped(note.more as u64)));
        }
    }
    let dataset = &imported.dataset;
    let sizes = Split::ALL.map(|split| (split, dataset.splits().iter().filter(|other| **other == split).count()));
    let sizes: Vec<String> = sizes
        .iter()
        .filter(|(_, rows)| *rows > 0)
        .map(|(split, rows)| format!("{split} {}", grouped(*rows as u64)))
        .collect();
    console.say(format_args!(
        "`{}`: {} of kind {}, {}; {}",
        into.out.display(),
        counted(dataset.table().ids.len(), "sample"),
        dataset.manifest().kind.as_str(),
        counted(dataset.table().concepts.len(), "concept"),
        sizes.join(", ")
    ));
}
