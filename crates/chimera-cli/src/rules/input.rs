//! Rule files from disk: text with its includes, or the paper's graph form.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use chimera::data::table::LabelTable;
use chimera_logic::graph;
use chimera_logic::load::{File, Loaded, MAX_FILE_BYTES, load};
use chimera_logic::render::render_all;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::Vocabulary;

use crate::console::{self, Console};
use crate::table::counted;

/// Reads a file, or standard input for `-`. Nothing larger than a rule file may be is taken into memory.
pub(crate) fn read(path: &Path) -> anyhow::Result<File> {
    let limit = MAX_FILE_BYTES as u64 + 1;
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(File { name: "standard input".to_owned(), bytes });
    }
    let open = || -> std::io::Result<Vec<u8>> {
        fs::File::open(path)?.take(limit).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = open().with_context(|| format!("cannot read rule file `{}`", path.display()))?;
    Ok(File { name: path.display().to_string(), bytes })
}

/// Whether a path holds the paper's graph form.
pub(crate) fn is_graph(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Loads a rule file with everything it includes. Concepts are the table's columns if there is one, else whatever the rules use.
pub(crate) fn load_rules(path: &Path, table: Option<&LabelTable>) -> anyhow::Result<Loaded> {
    let file = read(path)?;
    let vocabulary = table.map_or_else(Vocabulary::open, LabelTable::vocabulary);
    if is_graph(path) {
        return load_graphs(&file, vocabulary);
    }
    // A file keeps the name under which it was first met, whatever way leads to it.
    let mut names = BTreeMap::new();
    names.insert(identity(path), file.name.clone());
    Ok(load(file, vocabulary, &mut |from, path| {
        let path = beside(Path::new(from), path);
        let mut file = read(&path).map_err(|error| error.root_cause().to_string())?;
        file.name = names.entry(identity(&path)).or_insert(file.name).clone();
        Ok(file)
    }))
}

fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A path relative to the file that includes it, without detours such as `a/../b`.
fn beside(from: &Path, path: &str) -> PathBuf {
    let joined = from.parent().unwrap_or(Path::new("")).join(path);
    let mut tidy = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(tidy.components().next_back(), Some(Component::Normal(_))) => {
                tidy.pop();
            }
            component => tidy.push(component),
        }
    }
    tidy
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
    let loaded = load_rules(path, table)?;
    let errors = loaded.diagnostics.errors();
    if errors > 0 || !console.is_quiet() {
        let text = render_all(&loaded.diagnostics, &loaded.sources, console::words_palette());
        if !text.is_empty() {
            console.complain(text.trim_end());
        }
    }
    if errors > 0 {
        bail!("`{}` has {}; nothing was done", path.display(), counted(errors, "error"));
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
            ("x/y/a.rules", "../b.rules", "x/b.rules"),
            ("a.rules", "../b.rules", "../b.rules"),
            ("/x/a.rules", "./z/../b.rules", "/x/b.rules"),
            ("x/a.rules", "/b.rules", "/b.rules"),
        ] {
            assert_eq!(beside(Path::new(from), path), PathBuf::from(expected), "{from} {path}");
        }
    }
}
