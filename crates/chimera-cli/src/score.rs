//! `chimera score`: from a model and samples to a table of scores.

mod limits;
mod teach;

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::bail;
use chimera::data::dataset::Dataset;
use chimera::data::loose::Loose;
use chimera::data::manifest::{Kind, MANIFEST};
use chimera::error::Error;
use chimera::file::write_atomic;
use chimera::leaf::device::DeviceChoice;
use chimera::leaf::encoder::EncoderConfig;
use chimera::leaf::stage;
use chimera::score::engine::{Engine, RowsOf, SampleScores, Scoring};
use chimera::score::flag::Thresholds;
use chimera_logic::vocabulary::Vocabulary;
use serde::ser::SerializeMap;

use self::teach::TrainingData;
use crate::Outcome;
use crate::args::ScoreArguments;
use crate::console::{Console, csv_error};
use crate::rules::input;
use crate::table::{counted, grouped};
use crate::train::cache_folder;
use crate::train::events::Shown;

pub(crate) fn run(arguments: &ScoreArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let format = Format::of(arguments.out.as_deref())?;
    let scoring = Scoring {
        method: arguments.method,
        aggregation: arguments.agg,
        tau: arguments.tau,
        least_severity: arguments.min_severity,
    };
    if !(arguments.fpr > 0.0 && arguments.fpr < 1.0) {
        bail!("expected `--fpr` above 0 and below 1, got `{}`", arguments.fpr);
    }
    if !(0.0..1.0).contains(&arguments.tau) {
        bail!("expected `--tau` from 0 to below 1, got `{}`", arguments.tau);
    }
    let mut engine = Engine::open(&arguments.model, &DeviceChoice::default().open())?;
    let (cache, threads) = (cache_folder(arguments.cache.as_deref())?, arguments.threads.get());
    if let Some(path) = &arguments.rules {
        engine = with_rules(engine, &arguments.model, path, &cache, console)?;
    }
    let set = limits::parse(&arguments.threshold, &engine)?;
    let mut loose = None;
    let opened;
    let dataset = match &arguments.inputs[..] {
        [folder] if folder.join(MANIFEST).is_file() => {
            opened = Dataset::open(folder)?;
            &opened
        }
        _ if arguments.split.is_some() => bail!("`--split` is about a dataset folder, got files\nhint: leave it out"),
        inputs => &loose.insert(Loose::of(inputs, kind_of(&engine)?)?).dataset,
    };
    let rows = rows_of(dataset, arguments.split.as_deref())?;
    let shown = Shown::new(console);
    let began = Instant::now();
    let encoded = stage::encode(dataset, &engine.model.bank, (&cache, threads, false), &|event| shown.show(&event))?;
    let looking = began.elapsed().as_secs_f64();
    drop(shown);
    let present: Vec<usize> = rows.iter().copied().filter(|&row| encoded.z(row).is_some()).collect();
    if present.is_empty() {
        bail!("expected samples to score, got none that can be read");
    }
    let input = match &arguments.inputs[..] {
        [folder] if folder.join(MANIFEST).is_file() => Some(folder.as_path()),
        _ => None,
    };
    let (data, place) = (arguments.data.as_deref(), (cache.as_path(), threads));
    let training = TrainingData::open(scoring, &engine, (data, input), place, console)?;
    training.teach(&mut engine, scoring, place, console)?;
    let began = Instant::now();
    let ready = engine.ready(scoring, training.violations(), threads)?;
    let thresholds = ready.thresholds(arguments.flag, arguments.fpr, set, threads)?;
    limits::say(&thresholds, arguments.flag, arguments.fpr, engine.rules().count(), console);
    let table =
        Rows { engine: &engine, dataset, present: &present, thresholds: &thresholds, top_k: arguments.top_k, format };
    let samples = RowsOf { encoded: &encoded, numbers: &present };
    let (mut flagged, mut failure) = (0, None);
    let mut write = |out: &mut dyn Write| -> io::Result<()> {
        table.head(out)?;
        let written = ready.score(&samples, threads, &mut |row, scores| {
            flagged += usize::from(table.row(out, row, &scores).map_err(|cause| Error::Write {
                path: arguments.out.clone().unwrap_or_else(|| "standard output".into()),
                cause,
            })?);
            Ok(())
        });
        // What went wrong with the scores is not the output's fault, and is told below.
        written.map_err(|error| match error {
            Error::Write { cause, .. } => cause,
            other => {
                failure = Some(other);
                io::Error::other("scores could not be computed")
            }
        })
    };
    let written = match &arguments.out {
        Some(path) => write_atomic(path, write).map_err(anyhow::Error::from),
        None => write(console.results()).map_err(anyhow::Error::from),
    };
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    written?;
    let logic = began.elapsed().as_secs_f64();
    let limit = limits::words(&thresholds, arguments.flag);
    console.say(format_args!(
        "{} scored, {} flagged{limit} ({} of {} left out); {looking:.1} s to decode and encode, {logic:.1} s for the logic",
        counted(present.len(), "sample"),
        grouped(flagged as u64),
        grouped((rows.len() - present.len()) as u64),
        grouped(rows.len() as u64),
    ));
    Ok(Outcome::Done)
}

/// The model with other rules over its concepts.
fn with_rules(engine: Engine, model: &Path, path: &Path, cache: &Path, console: &Console) -> anyhow::Result<Engine> {
    let vocabulary = Vocabulary::closed(engine.model.manifest.bank.concepts.clone(), "the model");
    let rule_set = input::load_sound_over(path, vocabulary, console)?;
    if rule_set.rules.is_empty() {
        bail!("expected rules in `{}`, got none", input::shown(path));
    }
    Ok(engine.with_rules(model, rule_set, cache)?)
}

/// What the model looks at.
fn kind_of(engine: &Engine) -> anyhow::Result<Kind> {
    match engine.model.manifest.bank.encoder {
        EncoderConfig::Frames { frames: 1, .. } => Ok(Kind::Image),
        EncoderConfig::Frames { .. } => Ok(Kind::Video),
        EncoderConfig::Given { .. } => bail!(
            "expected a dataset folder with features, as the model was trained on, got files\nhint: bring them in with \
             `chimera import features`"
        ),
    }
}

fn rows_of(dataset: &Dataset, split: Option<&str>) -> anyhow::Result<Vec<usize>> {
    let splits = dataset.splits();
    let Some(split) = split else { return Ok((0..splits.len()).collect()) };
    let rows: Vec<usize> = (0..splits.len()).filter(|&row| splits[row].as_str() == split).collect();
    if rows.is_empty() {
        bail!("expected rows of the split `{split}` in `{}`, got none", dataset.folder().display());
    }
    Ok(rows)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Csv,
    Lines,
}

impl Format {
    fn of(path: Option<&Path>) -> anyhow::Result<Self> {
        let Some(path) = path else { return Ok(Self::Csv) };
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Lines),
            _ if path.starts_with("/dev") => Ok(Self::Csv),
            _ => bail!("expected a file ending in `.csv` or `.jsonl`, got `{}`", path.display()),
        }
    }
}

/// Rows of the result.
struct Rows<'a> {
    engine: &'a Engine,
    dataset: &'a Dataset,
    present: &'a [usize],
    thresholds: &'a Thresholds,
    top_k: usize,
    format: Format,
}

impl Rows<'_> {
    fn head(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.format == Format::Lines {
            return Ok(());
        }
        let mut names: Vec<String> = ["id", "anomaly", "flagged"].map(str::to_owned).into();
        names.extend(self.engine.rules().map(|rule| format!("rule:{rule}")));
        names.extend(self.engine.rules().map(|rule| format!("p:{rule}")));
        names.push("top_rules".to_owned());
        record(out, &names)
    }

    /// Writes one row, and says whether its sample is flagged.
    fn row(&self, out: &mut dyn Write, row: usize, scores: &SampleScores) -> io::Result<bool> {
        let flagged = self.thresholds.flags(scores).sample;
        let names: Vec<&str> = self.engine.rules().collect();
        let top: Vec<&str> = scores.top(self.top_k).into_iter().map(|rule| names[rule]).collect();
        let id = &self.dataset.table().ids[self.present[row]];
        if self.format == Format::Lines {
            let mut line = serde_json::Serializer::new(&mut *out);
            let mut object = serde::Serializer::serialize_map(&mut line, None)?;
            object.serialize_entry("id", id)?;
            object.serialize_entry("anomaly", &scores.anomaly)?;
            object.serialize_entry("flagged", &flagged)?;
            for (kind, values) in [("rule", &scores.s), ("p", &scores.p)] {
                for (rule, value) in names.iter().zip(values) {
                    object.serialize_entry(&format!("{kind}:{rule}"), value)?;
                }
            }
            object.serialize_entry("top_rules", &top)?;
            SerializeMap::end(object)?;
            writeln!(out)?;
            return Ok(flagged);
        }
        let cell = |number: &Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let mut cells = vec![id.to_owned(), cell(&scores.anomaly), u8::from(flagged).to_string()];
        cells.extend(scores.s.iter().chain(&scores.p).map(cell));
        cells.push(top.join("|"));
        record(out, &cells)?;
        Ok(flagged)
    }
}

/// One line of CSV. It goes through memory: a writer of its own would flush what is below it, row by row.
fn record(out: &mut dyn Write, cells: &[String]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(Vec::with_capacity(1024));
    csv.write_record(cells).map_err(csv_error)?;
    out.write_all(&csv.into_inner().map_err(|error| io::Error::other(error.to_string()))?)
}
