//! `chimera explain`: why one sample is flagged, in words, as JSON, or as a page.

use std::io::{self, Write};

use anyhow::{Context, bail};
use chimera::explain::explainer::{Explainer, Wanted};
use chimera::explain::page::{Pictures, page};
use chimera::explain::told::{Explanation, MapTold, RuleTold};
use chimera::review::nearest_rule;
use chimera::score::aggregate::Aggregation;
use chimera::score::engine::Engine;
use chimera_data::dataset::Dataset;

use crate::args::ExplainArguments;
use crate::console::{Console, check_out, file_beside};
use crate::score::input::Input;
use crate::score::limits;
use crate::table::{Align, Table};
use crate::train::cache_folder;
use crate::{Outcome, devices};

/// Parts of a rule that are told on the console.
const PARTS: usize = 4;

pub(crate) fn run(arguments: &ExplainArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let file = file_beside(arguments.out.as_deref())?;
    if let Some(path) = file.filter(|path| !path.extension().is_some_and(|ending| ending == "html" || ending == "htm"))
    {
        bail!(
            "expected a page `.html` for `-o`, got `{}`\nhint: for JSON leave `-o` out and give `--json`",
            path.display()
        );
    }
    limits::check(&arguments.flags)?;
    if arguments.flags.agg == Aggregation::LearnedSupervised {
        bail!(
            "`--agg learned-supervised` learns from a dataset's violations, which `explain` does not read\nhint: another `--agg`"
        );
    }
    check_out(file, std::iter::empty(), &[&arguments.model])?;
    let device = devices::open(arguments.device, console)?;
    let engine = Engine::open(&arguments.model, &device, arguments.threads.get())?;
    let method = arguments.method.unwrap_or(engine.default_method());
    let mut rules: Vec<usize> = Vec::new();
    for name in &arguments.rule {
        let rule = rule_of(&engine, name)?;
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    let input = one(arguments, &engine)?;
    check_out(file, input.files_like(file), input.folder().as_slice())?;
    input.say_passed_over(console);
    let cache = cache_folder(arguments.cache.as_deref()).ok();
    let place = (cache.as_deref(), arguments.threads.get());
    let parts = Explainer::parts_of(&arguments.model, &device, &engine, method, place)?;
    let (scoring, flagging) = limits::params(&arguments.flags, method, &engine)?;
    let explainer = Explainer::new(&engine, &parts, (scoring, &flagging), arguments.threads.get())?;
    limits::say(explainer.thresholds(), explainer.ready(), console);
    let wanted = Wanted { rules: &rules, top_k: usize::from(arguments.top_k), maps: !arguments.no_maps };
    let sources = input.sources();
    let mut explained =
        explainer.explain(sources, 0, &wanted).with_context(|| format!("`{}` cannot be explained", sources.id(0)))?;
    explained.told.model = arguments.model.display().to_string();
    if let Some(path) = file {
        let pictures = Pictures::of(sources, 0, &explained.told)?;
        let page = page(&explained, &engine.gates.rule_set, &pictures);
        console.write_out(Some(path), &[], |out| out.write_all(page.as_bytes()))?;
    }
    if arguments.json {
        console.write_json(&explained.told)?;
    } else {
        write_text(&explained.told, console.results())?;
    }
    if let Some(path) = file {
        console.say(format_args!("page in `{}`", path.display()));
    }
    Ok(Outcome::Done)
}

/// The number of a rule.
fn rule_of(engine: &Engine, name: &str) -> anyhow::Result<usize> {
    if let Some(rule) = engine.rules().position(|rule| rule == name) {
        return Ok(rule);
    }
    let hint = nearest_rule(engine.rules(), name)
        .unwrap_or_else(|| format!("it has {}", engine.rules().collect::<Vec<_>>().join(", ")));
    bail!("the model has no rule `{name}`\nhint: {hint}")
}

/// The one sample that is asked for.
fn one(arguments: &ExplainArguments, engine: &Engine) -> anyhow::Result<Input> {
    let encoder = engine.model.bank.config().encoder;
    let input = Input::open(std::slice::from_ref(&arguments.input), None, &encoder)?;
    match (input, &arguments.id) {
        (Input::Rows { dataset, .. }, Some(id)) => {
            let row = row_of(&dataset, id)?;
            Ok(Input::Rows { dataset, rows: vec![row] })
        }
        (Input::Rows { dataset, .. }, None) => {
            let example = dataset.table().ids.iter().next().unwrap_or("ID");
            bail!(
                "expected one sample of the dataset `{}`\nhint: name it with `--id`, for instance `--id {example}`",
                arguments.input.display()
            )
        }
        (Input::Loose(_), Some(_)) => bail!("`--id` is about a dataset folder, got `{}`", arguments.input.display()),
        (Input::Loose(loose), None) => match loose.files().len() {
            1 => Ok(Input::Loose(loose)),
            0 => bail!("expected a picture or video, got none in `{}`", arguments.input.display()),
            many => bail!(
                "expected one sample, got {many} in `{}`\nhint: `chimera score` tells which are flagged; explain those one by one",
                arguments.input.display()
            ),
        },
    }
}

fn row_of(dataset: &Dataset, id: &str) -> anyhow::Result<usize> {
    let ids = &dataset.table().ids;
    match ids.iter().position(|known| known == id) {
        Some(row) => Ok(row),
        None => bail!("the dataset `{}` has no sample `{id}`", dataset.folder().display()),
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

fn write_text(told: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    let verdict = match (told.flagged, told.unknown.as_deref()) {
        (Some(true), _) => "flagged".to_owned(),
        (Some(false), _) => "not flagged".to_owned(),
        (None, why) => format!("flagged or not is unknown, {}", why.unwrap_or_default()),
    };
    let threshold = told.threshold.map_or_else(String::new, |limit| format!(", threshold {limit:.3}"));
    writeln!(out, "{}: {verdict} (anomaly {}{threshold}) by {}", told.id, shown(told.anomaly), told.method)?;
    let mut table = Table::new(&[
        ("rule", Align::Left),
        ("score", Align::Right),
        ("threshold", Align::Right),
        ("normal as bad", Align::Right),
        ("p", Align::Right),
        ("", Align::Left),
    ]);
    for rule in &told.rules {
        let Some(of) = told.standings.iter().find(|standing| standing.rule == rule.rule) else { continue };
        let share = of.normal_share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let flagged = match of.flagged {
            Some(true) => "flagged",
            Some(false) => "",
            None => "unknown",
        };
        table.row(vec![of.rule.clone(), shown(of.score), shown(of.threshold), share, shown(of.p), flagged.to_owned()]);
    }
    table.write(out, 2)?;
    told.rules.iter().try_for_each(|rule| write_rule(rule, told, out))
}

fn write_rule(rule: &RuleTold, told: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}: {}", rule.rule, rule.formula)?;
    if let Some(breach) = &rule.breach {
        let seen: Vec<String> = breach
            .concepts
            .iter()
            .map(|of| format!("{} {} ({:.3})", of.concept, if of.shown { "present" } else { "absent" }, of.p))
            .collect();
        let lead = if breach.is_likeliest {
            "broken as seen"
        } else {
            "what is most likely seen keeps it; most likely broken with"
        };
        writeln!(out, "  {lead}: {} (together {:.3})", seen.join(", "), breach.p)?;
    }
    for change in [&rule.repair, &rule.breaks].into_iter().flatten() {
        let cost = change.cost.map_or_else(|| "against a certainty".to_owned(), |cost| format!("cost {cost:.2}"));
        writeln!(out, "  {} ({cost})", change.words)?;
    }
    for part in rule.parts.iter().flatten().filter(|part| part.gains()).take(PARTS) {
        let wish = if part.wanted == Some(true) { "if it held" } else { "if it did not hold" };
        writeln!(out, "  {} {}: {wish}, the rule would hold with {:.3}", part.formula, shown(part.p), part.then)?;
    }
    let place = |map: &MapTold| {
        let frame = if told.frames > 1 { format!(" of frame {}", map.frame + 1) } else { String::new() };
        let of = map.concept.clone().unwrap_or_else(|| rule.seen().collect::<Vec<_>>().join(" and "));
        map.peak.map(|[across, down]| {
            format!("  {of}: evidence is strongest {:.0} % across, {:.0} % down{frame}", 100.0 * across, 100.0 * down)
        })
    };
    rule.maps.iter().filter_map(place).try_for_each(|line| writeln!(out, "{line}"))?;
    if let Some(when) = &rule.when {
        let scores: Vec<String> = when
            .so_far
            .iter()
            .map(|score| score.map_or_else(|| "-".to_owned(), |score| format!("{score:.2}")))
            .collect();
        writeln!(out, "  score up to each frame: {}", scores.join(" "))?;
    }
    Ok(())
}
