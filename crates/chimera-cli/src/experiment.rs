//! `chimera experiment`: the paper's experiments, as the laboratory has them.

use chimera_data::error::Error;
use chimera_lab::experiment::{Experiment, Request, Results};
use chimera_lab::site::{Event, Site};

use crate::Outcome;
use crate::args::{ExperimentArguments, ExperimentName};
use crate::console::Console;
use crate::train::events::Shown;

pub(crate) fn run(arguments: &ExperimentArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let results = {
        let shown = Shown::new(console);
        let cache = arguments.out.join("cache");
        let tell = |event: Event<'_>| match event {
            Event::Said(words) => shown.say(words),
            Event::Scenes { done, total } => shown.scenes(done, total),
            Event::Taught(event) => shown.show_taught(&event),
            Event::Measured(event) => shown.show_measured(event),
        };
        let site = Site {
            folder: &arguments.out,
            cache: &cache,
            threads: arguments.threads.get(),
            device: arguments.device.unwrap_or_default(),
            tell: &tell,
        };
        match arguments.name {
            ExperimentName::Speed => speed(arguments, &site)?,
            ExperimentName::Of(experiment) => of_lab(arguments, experiment, &site)?,
        }
    };
    write!(console.results(), "{}", results.text)?;
    console.say(format_args!("results in `{}`", results.page.display()));
    Ok(Outcome::Done)
}

/// Runs an experiment of the laboratory.
fn of_lab(arguments: &ExperimentArguments, experiment: Experiment, site: &Site<'_>) -> anyhow::Result<Results> {
    if arguments.python.is_some() || !arguments.parts.is_empty() || arguments.alone {
        let message =
            format!("`{}` measures no speed and takes neither parts, `--alone` nor a Python", experiment.name());
        let hint = "leave out `--parts`, `--alone` and `--python`, which are for `speed`";
        return Err(Error::input(message, Some(hint.to_owned())).into());
    }
    let mut worlds = arguments.worlds.clone();
    worlds.sort_unstable();
    worlds.dedup();
    let request = Request {
        root: arguments.root.as_deref(),
        worlds: &worlds,
        seed: arguments.seed,
        seeds: arguments.seeds,
        quick: arguments.quick,
    };
    Ok(experiment.run(site, &request)?)
}

/// Measures speed.
fn speed(arguments: &ExperimentArguments, site: &Site<'_>) -> anyhow::Result<Results> {
    let refused = [
        (arguments.root.is_some(), "measures data of its own and takes no archive", "--root"),
        (!arguments.worlds.is_empty(), "has data of its own and takes no worlds", "--worlds"),
        (arguments.seeds.is_some(), "measures time and takes no seeds", "--seeds"),
    ];
    if let Some((_, why, option)) = refused.into_iter().find(|(is_given, ..)| *is_given) {
        return Err(Error::input(format!("`speed` {why}"), Some(format!("leave out `{option}`"))).into());
    }
    let request = chimera_speed::Request {
        device: arguments.device,
        python: arguments.python.as_deref(),
        parts: &arguments.parts,
        alone: arguments.alone,
        quick: arguments.quick,
        seed: arguments.seed,
    };
    Ok(chimera_speed::run(site, &request)?)
}
