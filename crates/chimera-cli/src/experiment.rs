//! `chimera experiment`: the paper's experiments, as the laboratory has them.

use chimera_lab::experiment::Request;
use chimera_lab::experiment::speed::Options;
use chimera_lab::site::{Event, Site};

use crate::Outcome;
use crate::args::ExperimentArguments;
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
        let mut worlds = arguments.worlds.clone();
        worlds.sort_unstable();
        worlds.dedup();
        let request = Request {
            root: arguments.root.as_deref(),
            worlds: &worlds,
            seed: arguments.seed,
            seeds: arguments.seeds,
            quick: arguments.quick,
            speed: Options {
                device: arguments.device,
                python: arguments.python.as_deref(),
                parts: &arguments.parts,
                alone: arguments.alone,
            },
        };
        arguments.name.run(&site, &request)?
    };
    write!(console.results(), "{}", results.text)?;
    console.say(format_args!("results in `{}`", results.page.display()));
    Ok(Outcome::Done)
}
