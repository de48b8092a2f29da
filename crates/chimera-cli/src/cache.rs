//! `chimera cache ls|verify|gc`: the gates of all models, on disk.

use std::path::Path;
use std::time::Duration;

use chimera::gate::cache::{CacheEntry, GateCache};
use chimera::leaf::device::DeviceChoice;
use chimera::model::Model;
use serde::Serialize;

use crate::Outcome;
use crate::args::{CacheCommand, CacheFolder};
use crate::console::Console;
use crate::table::{Align, Table, counted};
use crate::train::cache_folder;

const DAY: u64 = 24 * 60 * 60;

pub(crate) fn run(command: &CacheCommand, console: &mut Console) -> anyhow::Result<Outcome> {
    match command {
        CacheCommand::Ls(folder) => list(folder, console),
        CacheCommand::Verify(folder) => verify(folder, console),
        CacheCommand::Gc { folder, unused_for, keep, dry_run } => {
            let mut kept = Vec::new();
            for model in keep {
                let model = Model::open(model, &DeviceChoice::Cpu.open()?)?;
                kept.extend(model.manifest.gates.iter().flat_map(|section| section.hashes().cloned()));
            }
            let age = Duration::from_secs(unused_for.saturating_mul(DAY));
            let removed = opened(folder)?.collect(age, &kept, *dry_run)?;
            if folder.json {
                console.write_json(&removed)?;
            } else {
                let would = if *dry_run { "would remove" } else { "removed" };
                let (gates, leftovers) =
                    (counted(removed.gates, "gate"), counted(removed.leftovers, "damaged or left file"));
                writeln!(console.results(), "{would} {gates} and {leftovers}, {}", size(removed.bytes))?;
            }
            Ok(Outcome::Done)
        }
    }
}

fn opened(folder: &CacheFolder) -> anyhow::Result<GateCache> {
    if let Some(asked) = folder.cache.as_deref().filter(|asked| !asked.is_dir()) {
        anyhow::bail!("expected a cache folder, got `{}`, which is none", asked.display());
    }
    Ok(GateCache::new(&cache_folder(folder.cache.as_deref())?))
}

/// What is shown of a gate.
#[derive(Serialize)]
struct Shown {
    key: String,
    /// A gate, a head, a monolith or an oracle, and what it was taught on.
    what: Option<String>,
    formula: Option<String>,
    bytes: u64,
    days_unused: u64,
    /// What is wrong with it; nothing where it is sound.
    problem: Option<String>,
}

/// What a key is of, as its text says.
fn what(key: &str) -> Option<String> {
    let kind = key.split_whitespace().nth(1)?;
    let taught_on = key.split("\"negatives\":\"").nth(1)?.split('"').next()?;
    Some(format!("{kind}, {taught_on}"))
}

fn look(cache: &GateCache, entry: &CacheEntry) -> anyhow::Result<Option<Shown>> {
    let Some(checked) = cache.check(entry)? else { return Ok(None) };
    let (what, formula, problem) = match checked {
        Ok(stored) => (what(&stored.key.text), Some(stored.history.formula), None),
        Err(reason) => (None, None, Some(reason)),
    };
    Ok(Some(Shown {
        key: entry.hash.clone(),
        what,
        formula,
        bytes: entry.bytes,
        days_unused: entry.unused_for.as_secs() / DAY,
        problem,
    }))
}

fn looked(cache: &GateCache, console: &Console) -> anyhow::Result<Vec<Shown>> {
    let entries = cache.entries()?;
    let bar = console.bar("reading gates");
    let look = |(number, entry): (usize, &CacheEntry)| {
        bar.set(number + 1, entries.len());
        look(cache, entry)
    };
    entries.iter().enumerate().filter_map(|numbered| look(numbered).transpose()).collect()
}

fn list(folder: &CacheFolder, console: &mut Console) -> anyhow::Result<Outcome> {
    let cache = opened(folder)?;
    let shown = looked(&cache, console)?;
    if folder.json {
        console.write_json(&shown)?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&[
        ("key", Align::Left),
        ("size", Align::Right),
        ("days unused", Align::Right),
        ("what", Align::Left),
        ("formula", Align::Left),
    ]);
    for gate in &shown {
        let formula = gate.formula.clone().or_else(|| gate.problem.as_ref().map(|reason| format!("damaged: {reason}")));
        table.row(vec![
            gate.key[..16].to_owned(),
            size(gate.bytes),
            gate.days_unused.to_string(),
            gate.what.clone().unwrap_or_default(),
            formula.unwrap_or_default(),
        ]);
    }
    if !shown.is_empty() {
        table.write(console.results(), 0)?;
    }
    let total = size(shown.iter().map(|gate| gate.bytes).sum());
    say_total(console, cache.folder(), shown.len(), &total);
    Ok(Outcome::Done)
}

fn verify(folder: &CacheFolder, console: &mut Console) -> anyhow::Result<Outcome> {
    let cache = opened(folder)?;
    let shown = looked(&cache, console)?;
    let damaged: Vec<&Shown> = shown.iter().filter(|gate| gate.problem.is_some()).collect();
    if folder.json {
        console.write_json(&damaged)?;
    } else {
        for gate in &damaged {
            writeln!(console.results(), "{}: {}", gate.key, gate.problem.as_deref().unwrap_or_default())?;
        }
        writeln!(console.results(), "{} read, {} damaged", counted(shown.len(), "gate"), damaged.len())?;
    }
    if damaged.is_empty() {
        return Ok(Outcome::Done);
    }
    console.say("damaged gates are set aside and taught again when they are needed");
    Ok(Outcome::Findings)
}

fn say_total(console: &Console, folder: &Path, count: usize, total: &str) {
    console.say(format_args!("{} of {total} in `{}`", counted(count, "gate"), folder.display()));
}

/// Bytes as people read them.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}
