//! Rule files from disk: text with its includes, or the paper's graph form.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use chimera_data::error::system_words;
use chimera_data::table::LabelTable;
#[cfg(feature = "evidence")]
use chimera_logic::diagnostic::Diagnostics;
use chimera_logic::graph;
#[cfg(feature = "evidence")]
use chimera_logic::lint::lint;
use chimera_logic::load::{File, Loaded, MAX_FILE_BYTES, load};
use chimera_logic::render::render_all;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::Vocabulary;
use chimera_mine::record::{MiningRecord, records_in};

use crate::console::{self, Console};
use crate::table::counted;

/// Nothing larger than a rule file may be is taken into memory.
const LIMIT: u64 = MAX_FILE_BYTES as u64 + 1;

/// Reads what a command was given: a file, or standard input for `-`.
pub(crate) fn read(path: &Path) -> anyhow::Result<File> {
    if path != Path::new("-") {
        return read_file(path).map_err(|reason| anyhow!("cannot read rule file `{}`: {reason}", path.display()));
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LIMIT).read_to_end(&mut bytes).context("cannot read standard input")?;
    Ok(File { name: shown(path), bytes })
}

/// What to call a rule file.
pub(crate) fn shown(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

fn read_file(path: &Path) -> Result<File, String> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(LIMIT).read_to_end(&mut bytes));
    read.map_err(|cause| system_words(&cause))?;
    Ok(File { name: shown(path), bytes })
}

/// Whether a path holds the paper's graph form.
pub(crate) fn is_graph(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Loads a rule file with everything it includes. Concepts are the table's columns if there is one, else whatever the rules use.
pub(crate) fn load_rules(path: &Path, table: Option<&LabelTable>) -> anyhow::Result<Loaded> {
    load_over(path, table.map_or_else(Vocabulary::open, LabelTable::vocabulary))
}

fn load_over(path: &Path, vocabulary: Vocabulary) -> anyhow::Result<Loaded> {
    let file = read(path)?;
    if is_graph(path) {
        return load_graphs(&file, vocabulary);
    }
    // A file keeps the name under which it was first met, whatever way leads to it.
    let mut names = BTreeMap::new();
    names.insert(identity(path), file.name.clone());
    Ok(load(file, vocabulary, &mut |from, path| {
        let path = beside(Path::new(from), path);
        let mut file = read_file(&path)?;
        file.name = names.entry(identity(&path)).or_insert(file.name).clone();
        Ok(file)
    }))
}

fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A path relative to the file that includes it. `..` is left to the system, which follows links where text does not.
fn beside(from: &Path, path: &str) -> PathBuf {
    from.parent().unwrap_or(Path::new("")).join(path).components().collect()
}

fn load_graphs(file: &File, vocabulary: Vocabulary) -> anyhow::Result<Loaded> {
    match graph::load_graphs(&file.name, &file.bytes, vocabulary) {
        Ok(loaded) => Ok(loaded),
        Err(problems) => {
            let lines: Vec<_> = problems.iter().take(20).map(|problem| format!("  {problem}")).collect();
            let more = problems.len().saturating_sub(lines.len());
            let rest = if more > 0 { format!("\n  ... and {more} more") } else { String::new() };
            bail!("`{}` cannot be used:\n{}{rest}", file.name, lines.join("\n"))
        }
    }
}

/// Loads rules that a command needs whole: findings go to standard error, and errors end the command.
pub(crate) fn load_sound(path: &Path, table: Option<&LabelTable>, console: &Console) -> anyhow::Result<RuleSet> {
    load_sound_over(path, table.map_or_else(Vocabulary::open, LabelTable::vocabulary), console)
}

/// The same over given concepts.
pub(crate) fn load_sound_over(path: &Path, vocabulary: Vocabulary, console: &Console) -> anyhow::Result<RuleSet> {
    told(path, load_over(path, vocabulary)?, console)
}

/// Rules that go into a model or are measured, with where they come from.
pub(crate) struct Traced {
    pub(crate) rule_set: RuleSet,
    /// What the file and those that it includes say of how they were mined, each record once.
    pub(crate) mined: Vec<MiningRecord>,
}

impl Traced {
    /// The records as comments, to go with the rules into another file.
    pub(crate) fn comments(&self) -> chimera_data::error::Result<String> {
        self.mined.iter().map(MiningRecord::to_comments).collect()
    }
}

/// The same with where they come from.
pub(crate) fn load_traced(path: &Path, vocabulary: Vocabulary, console: &Console) -> anyhow::Result<Traced> {
    let mut loaded = load_over(path, vocabulary)?;
    let mined = records_in(&loaded.sources, &mut loaded.diagnostics);
    Ok(Traced { rule_set: told(path, loaded, console)?, mined })
}

/// The same; there must be some.
pub(crate) fn load_some(path: &Path, vocabulary: Vocabulary, console: &Console) -> anyhow::Result<Traced> {
    let traced = load_traced(path, vocabulary, console)?;
    if traced.rule_set.rules.is_empty() {
        bail!("expected rules in `{}`, got none", shown(path));
    }
    Ok(traced)
}

/// The same with everything that `rules check` would say without data, and what `more` finds: a contradiction is better named
/// before a search for what it rules out.
#[cfg(feature = "evidence")]
pub(crate) fn load_linted(
    path: &Path,
    more: impl FnOnce(&RuleSet, &mut Diagnostics) -> chimera_data::error::Result<()>,
    console: &Console,
) -> anyhow::Result<RuleSet> {
    let mut loaded = load_rules(path, None)?;
    lint(&loaded.rule_set, &mut loaded.diagnostics)?;
    more(&loaded.rule_set, &mut loaded.diagnostics)?;
    told(path, loaded, console)
}

/// Says what was found in rules, and hands them on where that was no error.
fn told(path: &Path, loaded: Loaded, console: &Console) -> anyhow::Result<RuleSet> {
    let errors = loaded.diagnostics.errors();
    if errors > 0 || !console.is_quiet() {
        let text = render_all(&loaded.diagnostics, &loaded.sources, console::words_palette());
        if !text.is_empty() {
            console.complain(text.trim_end());
        }
    }
    if errors > 0 {
        bail!("`{}` has {}; nothing was done", shown(path), counted(errors, "error"));
    }
    Ok(loaded.rule_set)
}

/// Leaves only the rules of these names, in file order; no names leave all.
pub(crate) fn keep_named(rule_set: &mut RuleSet, names: &[String]) -> anyhow::Result<()> {
    if let Some(missing) = names.iter().find(|name| rule_set.find(name).is_none()) {
        let known: Vec<_> = rule_set.rules.iter().take(20).map(|rule| rule.name.as_str()).collect();
        let more = if rule_set.rules.len() > known.len() { ", ..." } else { "" };
        bail!("there is no rule `{missing}`\nhint: the rules are {}{more}", known.join(", "));
    }
    if !names.is_empty() {
        rule_set.rules.retain(|rule| names.contains(&rule.name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_paths_are_relative_to_their_file() {
        for (from, path, expected) in [
            ("a.rules", "b.rules", "b.rules"),
            ("x/a.rules", "b.rules", "x/b.rules"),
            ("x/y/a.rules", "../b.rules", "x/y/../b.rules"),
            ("a.rules", "../b.rules", "../b.rules"),
            ("/x/a.rules", "./b.rules", "/x/b.rules"),
            ("x/a.rules", "/b.rules", "/b.rules"),
        ] {
            assert_eq!(beside(Path::new(from), path), PathBuf::from(expected), "{from} {path}");
        }
    }
}
