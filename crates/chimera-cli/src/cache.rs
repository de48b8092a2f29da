//! `chimera cache ls|verify|gc`: what is kept on disk for later runs.

use std::path::PathBuf;
use std::time::Duration;

use chimera::cache::{Cache, Checked, Item, Kept, Kind};
use chimera::model::Model;
use chimera_leaf::device::DeviceChoice;
use serde::Serialize;

use crate::Outcome;
use crate::args::{CacheCommand, CacheFolder};
use crate::console::{self, Console};
use crate::table::{Align, Table, counted};
use crate::train::cache_folder;

const DAY: u64 = 24 * 60 * 60;

pub(crate) fn run(command: &CacheCommand, console: &mut Console) -> anyhow::Result<Outcome> {
    match command {
        CacheCommand::Ls(folder) => list(folder, console),
        CacheCommand::Verify(folder) => verify(folder, console),
        CacheCommand::Gc { folder, unused_for, keep, dry_run } => {
            let cache = opened(folder)?;
            let mut kept = Kept::default();
            for model in keep {
                kept.add(&Model::open(model, &DeviceChoice::Cpu.open()?)?)?;
            }
            let age = Duration::from_secs(unused_for.saturating_mul(DAY));
            let bar = console.bar("reading");
            let removed = cache.collect(age, &kept, *dry_run, &mut |done, of| bar.set(done, of))?;
            drop(bar);
            if folder.json {
                console.write_json(&removed)?;
            } else {
                let would = if *dry_run { "would remove" } else { "removed" };
                let unused = of_kinds(|kind| removed.unused.get(&kind).copied().unwrap_or_default());
                let leftovers = counted(removed.leftovers, "damaged or left file");
                writeln!(console.results(), "{would} {unused} and {leftovers}, {}", size(removed.bytes))?;
            }
            Ok(Outcome::Done)
        }
    }
}

fn opened(folder: &CacheFolder) -> anyhow::Result<Cache> {
    if let Some(asked) = folder.cache.as_deref().filter(|asked| !asked.is_dir()) {
        anyhow::bail!("expected a cache folder, got `{}`, which is none", asked.display());
    }
    let path = cache_folder(folder.cache.as_deref())?;
    let cache = Cache::new(&path);
    if folder.cache.is_some() && !cache.is_there() {
        anyhow::bail!("expected a cache folder, got `{}` with nothing of a cache in it", path.display());
    }
    Ok(cache)
}

/// The word for one thing of a kind.
fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Gate => "gate",
        Kind::Frames => "file of frames",
        Kind::Vectors => "file of vectors",
        Kind::Encoded => "file of z",
        Kind::Replica => "model",
        Kind::Kernel => "kernel",
    }
}

/// `3 gates, 2 files of z`: what there is of each kind, at least the gates.
fn of_kinds(count: impl Fn(Kind) -> usize) -> String {
    let counts = Kind::ALL.into_iter().map(|kind| (kind, count(kind)));
    let told = counts.filter(|&(kind, count)| kind == Kind::Gate || count > 0);
    let words = told.map(|(kind, count)| match word(kind).split_once(' ') {
        Some((first, rest)) => format!("{} {rest}", counted(count, first)),
        None => counted(count, word(kind)),
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The columns of `ls`, and what `verify` says of what is damaged.
#[derive(Serialize)]
struct Shown {
    kind: Kind,
    /// The hash by which a gate is found, or the name of a file.
    key: String,
    path: PathBuf,
    /// Of a gate: a gate, a head, a monolith or an oracle, and what it was trained on.
    what: Option<String>,
    formula: Option<String>,
    bytes: u64,
    days_unused: u64,
    /// What is wrong with it; nothing where it is sound, or was not read.
    problem: Option<String>,
}

impl Shown {
    /// `None` where the item was removed meanwhile.
    fn of(item: &Item, checked: Option<Checked>) -> Option<Self> {
        let (what, formula, problem) = match checked {
            Some(Checked::Gone) => return None,
            Some(Checked::Gate(stored)) => (what(&stored.key.text), Some(stored.history.formula), None),
            Some(Checked::Damaged(reason)) => (None, None, Some(reason)),
            Some(Checked::Sound | Checked::Unknown) | None => (None, None, None),
        };
        Some(Self {
            kind: item.kind,
            key: item.name(),
            path: item.path.clone(),
            what,
            formula,
            bytes: item.bytes,
            days_unused: item.unused_for.as_secs() / DAY,
            problem,
        })
    }
}

/// The part of a key that says what it is of.
fn what(key: &str) -> Option<String> {
    let kind = key.split_whitespace().nth(1)?;
    let trained_on = key.split("\"negatives\":\"").nth(1)?.split('"').next()?;
    Some(format!("{kind}, {trained_on}"))
}

/// Everything that later runs find. Gates are read for their formulas, the rest only for `verify`.
fn looked(cache: &Cache, reads_all: bool, console: &Console) -> anyhow::Result<Vec<Shown>> {
    let items: Vec<Item> = cache.items()?.into_iter().filter(Item::is_in_use).collect();
    let bar = console.bar("reading");
    let mut shown = Vec::new();
    for (number, item) in items.iter().enumerate() {
        bar.set(number + 1, items.len());
        let checked = (reads_all || item.kind == Kind::Gate).then(|| item.check()).transpose()?;
        shown.extend(Shown::of(item, checked));
    }
    Ok(shown)
}

fn counts(shown: &[Shown]) -> String {
    of_kinds(|kind| shown.iter().filter(|item| item.kind == kind).count())
}

fn list(folder: &CacheFolder, console: &mut Console) -> anyhow::Result<Outcome> {
    let cache = opened(folder)?;
    let shown = looked(&cache, false, console)?;
    if folder.json {
        console.write_json(&shown)?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(&[
        ("kind", Align::Left),
        ("key", Align::Left),
        ("size", Align::Right),
        ("days unused", Align::Right),
        ("what", Align::Left),
        ("formula", Align::Left),
    ]);
    for item in &shown {
        let formula = item.formula.clone().or_else(|| item.problem.as_ref().map(|reason| format!("damaged: {reason}")));
        table.row(vec![
            item.kind.folder().to_owned(),
            item.key.chars().take(16).collect(),
            size(item.bytes),
            item.days_unused.to_string(),
            item.what.clone().unwrap_or_default(),
            formula.unwrap_or_default(),
        ]);
    }
    if !shown.is_empty() {
        table.write(console.results(), 0)?;
    }
    let total = size(shown.iter().map(|item| item.bytes).sum());
    console.say(format_args!("{}: {total} in `{}`", counts(&shown), cache.folder().display()));
    Ok(Outcome::Done)
}

fn verify(folder: &CacheFolder, console: &mut Console) -> anyhow::Result<Outcome> {
    let cache = opened(folder)?;
    let shown = looked(&cache, true, console)?;
    let damaged: Vec<&Shown> = shown.iter().filter(|item| item.problem.is_some()).collect();
    if folder.json {
        console::heard(console.write_json(&damaged))?;
    } else {
        for item in &damaged {
            let path = item.path.strip_prefix(cache.folder()).unwrap_or(&item.path).display();
            let problem = item.problem.as_deref().unwrap_or_default();
            console::heard(writeln!(console.results(), "{path}: {problem}"))?;
        }
        console::heard(writeln!(console.results(), "{} read, {} damaged", counts(&shown), damaged.len()))?;
    }
    if damaged.is_empty() {
        return Ok(Outcome::Done);
    }
    console.say("what is damaged is set aside and made again when it is needed");
    Ok(Outcome::Findings)
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
