//! `rules fmt`: the canonical spelling of a rule file. Included files are left alone; they are formatted on their own.

use std::path::Path;

use anyhow::{Context, bail};
use chimera_logic::load::{File, ParsedFile, parse_file};
use chimera_logic::printer::format_file;
use chimera_logic::render::render_all;
use chimera_logic::rules::format_rules;
use chimera_logic::vocabulary::Vocabulary;

use super::input;
use crate::Outcome;
use crate::args::FormatArguments;
use crate::console::{self, Console};
use crate::table::counted;

pub(crate) fn run(arguments: &FormatArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let path = &arguments.rules.file;
    if input::is_graph(path) {
        if arguments.write || arguments.check {
            bail!("`{}` is a graph file; fmt can only print it as rules", path.display());
        }
        let traced = input::load_traced(path, Vocabulary::open(), console)?;
        let comments = traced.comments()?;
        let space = if comments.is_empty() { "" } else { "\n" };
        write!(console.results(), "{}{space}{comments}", format_rules(&traced.rule_set))?;
        return Ok(Outcome::Done);
    }
    if arguments.write && path == Path::new("-") {
        bail!("standard input cannot be rewritten; leave out `--write`");
    }
    let file = input::read(path)?;
    let before = file.bytes.clone();
    let text = formatted(file, console)?;
    let changed = text.as_bytes() != before;
    if arguments.check {
        if changed {
            console.say(format_args!("`{}` is not formatted; run `chimera rules fmt --write` on it", path.display()));
        }
        return Ok(if changed { Outcome::Findings } else { Outcome::Done });
    }
    if !arguments.write {
        write!(console.results(), "{text}")?;
    } else if changed {
        chimera_data::file::write_atomic(path, |out| out.write_all(text.as_bytes()))?;
        console.say(format_args!("formatted `{}`", path.display()));
    }
    Ok(Outcome::Done)
}

/// The canonical text; a file with errors is shown what is wrong with it instead.
fn formatted(file: File, console: &Console) -> anyhow::Result<String> {
    let name = file.name.clone();
    let ParsedFile { lines, diagnostics, sources } = parse_file(file);
    if diagnostics.errors() > 0 {
        console.complain(render_all(&diagnostics, &sources, console::words_palette()).trim_end());
        bail!("`{}` has {}; it is left as it is", name, counted(diagnostics.errors(), "error"));
    }
    format_file(&lines).with_context(|| format!("`{name}` cannot be formatted"))
}
