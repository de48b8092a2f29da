//! `rules graph`: the DAG of one rule or of all of them, as a finished picture or as Graphviz text.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, bail};
use chimera_logic::draw::{Direction, Figure, Options, to_dot, to_svg};

use super::input;
use super::probability::{self, Given};
use crate::Outcome;
use crate::args::{DrawDirection, DrawFormat, GraphArguments};
use crate::console::Console;
use crate::table::counted;

pub(crate) fn run(arguments: &GraphArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let format = format_of(arguments)?;
    let mut rule_set = input::load_sound(&arguments.rules.file, None, console)?;
    input::keep_named(&mut rule_set, &arguments.names)?;
    let values = match &arguments.probabilities {
        Some(given) => probability::of_nodes(&rule_set, &Given::parse(given, &rule_set)?)?,
        None => Vec::new(),
    };
    let options = Options {
        title: arguments.title.as_deref(),
        values: &values,
        direction: match arguments.direction {
            DrawDirection::Auto => Direction::Auto,
            DrawDirection::Down => Direction::Down,
            DrawDirection::Right => Direction::Right,
        },
        legend: !arguments.no_legend,
        ..Options::default()
    };
    let figure = Figure::of_rules(&rule_set);
    let text = match format {
        DrawFormat::Svg => to_svg(&figure, &options),
        DrawFormat::Dot => to_dot(&figure, &options),
    };
    match &arguments.out {
        Some(path) => {
            chimera::file::write_atomic(path, |out| out.write_all(text.as_bytes()))?;
            console.say(format_args!("drew {} to `{}`", counted(rule_set.rules.len(), "rule"), path.display()));
        }
        None => console.results().write_all(text.as_bytes()).context("cannot write to standard output")?,
    }
    Ok(Outcome::Done)
}

/// The format asked for, or the one that the file's name says.
fn format_of(arguments: &GraphArguments) -> anyhow::Result<DrawFormat> {
    let extension = arguments.out.as_deref().and_then(Path::extension).and_then(OsStr::to_str);
    match (arguments.format, extension) {
        (Some(format), _) => Ok(format),
        (None, Some("dot" | "gv")) => Ok(DrawFormat::Dot),
        (None, Some("svg") | None) => Ok(DrawFormat::Svg),
        (None, Some(other)) => {
            bail!("cannot draw a `.{other}` file\nhint: use `.svg` or `.dot`, or say `--format svg`")
        }
    }
}
