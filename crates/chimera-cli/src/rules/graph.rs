//! `rules graph`: the DAG of one rule or of all of them, as a finished picture or as Graphviz text.

use chimera_logic::draw::{Direction, Figure, Options, to_dot, to_svg};

use super::input;
use super::probability::{self, Given};
use crate::Outcome;
use crate::args::{DrawDirection, DrawFormat, GraphArguments};
use crate::console::Console;
use crate::ending;
use crate::table::counted;

/// Rules beyond which a picture of all of them is hard to read.
const READABLE: usize = 60;

pub(crate) fn run(arguments: &GraphArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let format = format_of(arguments)?;
    let mut rule_set = input::load_sound(&arguments.rules.file, None, console)?;
    input::keep_named(&mut rule_set, &arguments.selection.names)?;
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
    let inputs = [arguments.rules.file.as_path()];
    console.write_out(arguments.out.as_deref(), &inputs, |out| out.write_all(text.as_bytes()))?;
    if let Some(path) = &arguments.out {
        console.say(format_args!("drew {} to `{}`", counted(rule_set.rules.len(), "rule"), path.display()));
    }
    if rule_set.rules.len() > READABLE && arguments.selection.names.is_empty() {
        console.say("hint: that is much for one picture; name the rules to draw after the file");
    }
    Ok(Outcome::Done)
}

/// The format asked for, or the one that the file's name says.
fn format_of(arguments: &GraphArguments) -> anyhow::Result<DrawFormat> {
    let out = arguments.out.as_deref();
    let by_name = match ending::of(out).as_deref() {
        Some("dot" | "gv") => DrawFormat::Dot,
        _ => DrawFormat::Svg,
    };
    let format = arguments.format.unwrap_or(by_name);
    let endings: &[&str] = match (arguments.format, format) {
        (None, _) => &["svg", "dot", "gv"],
        (_, DrawFormat::Svg) => &["svg"],
        (_, DrawFormat::Dot) => &["dot", "gv", "txt"],
    };
    ending::expect(out, endings)?;
    Ok(format)
}
