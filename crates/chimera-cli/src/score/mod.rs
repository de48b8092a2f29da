//! `chimera score`: from a model and samples to a table of scores, block by block.

mod given;
pub(crate) mod input;
pub(crate) mod limits;
mod output;
mod summary;
mod teach;

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{anyhow, bail};
use chimera::score::engine::Engine;
use chimera::score::flag::{Flagging, Thresholds, Unknown};
use chimera::score::method::Method;
use chimera::score::pass::{Event, Pass};
use chimera::score::samples::SampleScores;
use chimera_data::error::Error;
use chimera_leaf::stage::ENCODED;
use chimera_leaf::stream::Stream;
use chimera_logic::attributes::RuleSeverity;
use chimera_logic::vocabulary::Vocabulary;

use self::input::Input;
use self::output::{Format, Reader, Row, Writer};
use self::summary::Summary;
use self::teach::TrainingData;
use crate::args::ScoreArguments;
use crate::console::{self, Bar, Console, check_out, file_of, stop_on_interrupt};
use crate::table::counted;
use crate::train::cache_folder;
use crate::{Outcome, devices, rules};

pub(crate) fn run(arguments: &ScoreArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let began = Instant::now();
    let file = file_of(arguments.out.as_deref());
    let format = Format::of(arguments.out.as_deref(), arguments.json)?;
    limits::check(&arguments.flags)?;
    check_out(file, std::iter::empty(), &[&arguments.model])?;
    let device = devices::open(arguments.device, console)?;
    let mut engine = Engine::open(&arguments.model, &device, arguments.threads.get())?;
    let method = arguments.method.unwrap_or(engine.default_method());
    let threads = arguments.threads.get();
    let cache = cache_folder(arguments.cache.as_deref());
    if let Some(path) = &arguments.rules {
        engine = with_rules(engine, arguments, (path, method), cache.as_deref().ok(), console)?;
    }
    let [alone, fallbacks] = if method == Method::Neural { engine.without_grafts() } else { Default::default() };
    say_without_grafts(alone.len(), fallbacks.len(), engine.rules().count(), console);
    let by_indep_cal = fallbacks.into_iter().map(str::to_owned).collect();
    let (scoring, flagging) = limits::params(&arguments.flags, method, &engine)?;
    let given = given::parse(&arguments.set, &engine.model.manifest.bank.concepts)?;
    engine.can_suppose(method, &given)?;
    let encoder = engine.model.bank.config().encoder;
    let input = Input::open(&arguments.inputs, arguments.split.as_deref(), &encoder)?;
    check_out(file, input.files_like(file), input.folder().as_slice())?;
    input.say_passed_over(console);
    let training = TrainingData::open(scoring, &engine, (arguments.data.as_deref(), input.folder()))?;
    let training = match training {
        Some(dataset) => {
            let place = (cache.as_deref().map_err(|error| anyhow!("{error:#}"))?, threads);
            Some(TrainingData::teach(dataset, &mut engine, scoring, place, console)?)
        }
        None => None,
    };
    // Without a cache there is only more to compute.
    let cache = cache.ok().map(|folder| folder.join(ENCODED));
    let stream = Stream::open(&engine.model.bank, input.sources(), cache.as_deref(), threads)?;

    let logic = Instant::now();
    let violations = training.as_ref().map(TrainingData::violations);
    let (ready, thresholds) = engine.ready(scoring, violations, threads)?.judged_by(&flagging, violations, threads)?;
    let ready = ready.supposing(given)?;
    limits::say(&thresholds, &ready, console);
    if arguments.fail_on.is_some() && thresholds.is_deaf() {
        let reason = thresholds.no_promise().map_or_else(|| limits::DEAF.to_owned(), |reason| reason.to_string());
        bail!("`--fail-on flagged` has no answer: {reason}\nhint: set `--fpr` or thresholds of rules, or leave it out");
    }
    let mut summary = Summary::new(input.sources().len());
    summary.seconds.parts.logic = logic.elapsed().as_secs_f64();
    (summary.fpr, summary.out) = (thresholds.rate(), file.map(Path::to_owned));
    (summary.method, summary.aggregation) = (method.name(), scoring.aggregation.name());
    summary.by_indep_cal = by_indep_cal;
    (summary.flag, summary.set) = (flagging.flagging.name(), arguments.set.clone());
    summary.flagged_by = limits::words(&thresholds);
    summary.no_promise = thresholds.no_promise().map(|reason| reason.to_string());
    summary.threshold = thresholds.global();
    let limits_of_rules = engine.rules().map(str::to_owned).zip(thresholds.rules()).enumerate();
    summary.rule_thresholds = limits_of_rules
        .filter(|(rule, _)| flagging.flagging == Flagging::PerRule || flagging.set.contains_key(rule))
        .map(|(_, limit)| limit)
        .collect();
    (summary.tau, summary.normal_rows) = (scoring.tau, thresholds.rows());
    (summary.min_severity, summary.rules) =
        (scoring.least_severity.map(|least| least.to_string()), arguments.rules.clone());
    summary.fitted_on = training.as_ref().and_then(TrainingData::fitted_on).or(ready.fitted_on());
    if let Some(fitted_on) = ready.fitted_on() {
        console.say(format_args!("{}{}", scoring.aggregation.name(), teach::seen(fitted_on)));
    }
    if !arguments.set.is_empty() {
        console.say(format_args!(
            "as if {} for every sample; thresholds are those of samples as they are",
            arguments.set.join(" and ")
        ));
    }
    summary.remembers_all = arguments.json && file.is_some();

    let pass = Pass { ready: &ready, stream: &stream, threads, stop: stop_on_interrupt() };
    let table = Table {
        rules: engine.rules().collect(),
        severities: engine.severities().collect(),
        counted: ready.counted(),
        method: method.name(),
        thresholds: &thresholds,
        top_k: arguments.top_k,
        bar: (file.is_some() || !console.shows_results()).then(|| console.bar("scoring")),
    };
    let mut failure = None;
    let written = console.write_out(file, &[], |out| {
        // Somebody waits for the exit code, which only all samples tell: they are scored whether rows are read or not.
        let mut out = Reader::new(out, file.is_none() && arguments.fail_on.is_some());
        table.write(&pass, &mut *format.writer(&table.rules), &mut out, &mut summary).map_err(|error| match error {
            Error::Write { cause, .. } => cause,
            // What went wrong with the samples is not the output's fault, and is told below.
            other => {
                failure = Some(other);
                io::Error::other("scores could not be computed")
            }
        })?;
        // A table without rows is not worth a file, let alone one in the place of an older file.
        if summary.rows() == 0 { Err(io::Error::other("there are no scores")) } else { Ok(()) }
    });
    drop(table);
    summary.say_left_out(console);
    summary.say_untold(arguments.fail_on, console);
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    summary.seconds.all = began.elapsed().as_secs_f64();
    match written {
        // Enough rows were read: what is known of the inputs so far tells how the command ends.
        Err(error) if console::is_closed_pipe(&error) => return Ok(summary.outcome(arguments.fail_on)),
        Err(_) if summary.rows() == 0 && summary.interrupted => {}
        Err(_) if summary.of == 0 => bail!("expected samples to score, got none"),
        written => written?,
    }
    if arguments.json && file.is_some() {
        console::heard(console.write_json(&summary))?;
    }
    summary.say(console);
    Ok(summary.outcome(arguments.fail_on))
}

/// Says which rules `neural` scores with less than it has for others.
fn say_without_grafts(alone: usize, fallbacks: usize, rules: usize, console: &Console) {
    if alone > 0 {
        console.say(format_args!(
            "{} without gates that were taught on grafts: heads of concepts alone tell; `chimera add` teaches gates",
            counted(alone, "rule")
        ));
    }
    if fallbacks > 0 {
        console.say(format_args!(
            "`neural` is `indep-cal` for {fallbacks} of {}: grafts cannot be trusted there (`gates.json` of the model says why)",
            counted(rules, "rule")
        ));
    }
}

/// The model with other rules over its concepts.
fn with_rules(
    engine: Engine,
    arguments: &ScoreArguments,
    (path, method): (&Path, Method),
    cache: Option<&Path>,
    console: &Console,
) -> anyhow::Result<Engine> {
    let vocabulary = Vocabulary::closed(engine.model.manifest.bank.concepts.clone(), "the concepts of the model");
    let rule_set = rules::input::load_sound_over(path, vocabulary, console)?;
    if rule_set.rules.is_empty() {
        bail!("expected rules in `{}`, got none", rules::input::shown(path));
    }
    Ok(engine.with_rules(&arguments.model, rule_set, method, cache)?)
}

/// Which rows there will be.
struct Table<'a> {
    rules: Vec<&'a str>,
    severities: Vec<RuleSeverity>,
    counted: &'a [bool],
    method: &'static str,
    thresholds: &'a Thresholds,
    top_k: usize,
    bar: Option<Bar>,
}

impl Table<'_> {
    /// Writes all rows. Errors of the output are told by [`Error::Write`].
    fn write(
        &self,
        pass: &Pass<'_>,
        writer: &mut dyn Writer,
        out: &mut dyn Write,
        summary: &mut Summary,
    ) -> chimera_data::error::Result<()> {
        let failed = |cause| Error::Write { path: "the scores".into(), cause };
        let (sources, mut is_fresh) = (pass.stream.sources(), false);
        let nothing = vec![None; self.rules.len()];
        let nothing = SampleScores { anomaly: None, reason: None, p: nothing.clone(), s: nothing };
        writer.begin(out).map_err(failed)?;
        let tally = pass.run(&mut |event| {
            match event {
                Event::Scored(sample, scores) => {
                    let error = self.error(scores);
                    let row = self.row(sources.id(sample), scores, error.as_deref());
                    summary.judge(&row);
                    writer.row(out, &row).map_err(failed)?;
                    is_fresh = true;
                }
                Event::LeftOut(sample) => {
                    summary.leave_out(sources, sample);
                    let row = Row::without_scores(sources.id(sample.row), &sample.reason, &nothing);
                    writer.row(out, &row).map_err(failed)?;
                    is_fresh = true;
                }
                Event::Read(read) => {
                    self.bar.iter().for_each(|bar| bar.set(read, sources.len()));
                    // Whoever reads along sees rows as they come, and a pipe that nobody reads is noticed.
                    if std::mem::take(&mut is_fresh) {
                        out.flush().map_err(failed)?;
                    }
                }
            }
            Ok(())
        })?;
        summary.count(&tally);
        writer.end(out).and_then(|()| out.flush()).map_err(failed)
    }

    /// Why a sample that was read lacks scores.
    fn error(&self, scores: &SampleScores) -> Option<String> {
        let unscored = self.thresholds.unscored(scores);
        if scores.s.iter().all(Option::is_none) {
            Some(format!("no rule has a score by `{}`", self.method))
        } else if !unscored.is_empty() {
            Some(Unknown::OpenRules(unscored).words(&self.rules))
        } else if self.thresholds.lacks_anomaly(scores) {
            Some(Unknown::NoAnomaly.words(&self.rules))
        } else {
            None
        }
    }

    fn row<'r>(&'r self, id: &'r str, scores: &'r SampleScores, error: Option<&'r str>) -> Row<'r> {
        let flags = self.thresholds.flags(scores);
        let is_top = |rule: &usize| self.counted[*rule] && scores.s[*rule].is_some();
        let top: Vec<usize> =
            self.thresholds.ranking(scores, &flags).into_iter().filter(is_top).take(self.top_k).collect();
        let names = |rules: &[usize]| -> Vec<&str> { rules.iter().map(|&rule| self.rules[rule]).collect() };
        Row {
            id,
            flagged: flags.sample,
            error,
            severity: flags.why.iter().map(|&rule| self.severities[rule]).max(),
            scores,
            top: names(&top),
            flagged_rules: flags.sample.map(|_| names(&flags.why)),
        }
    }
}
