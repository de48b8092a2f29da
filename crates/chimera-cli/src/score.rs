//! `chimera score`: from a model and samples to a table of scores.

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
use serde::ser::SerializeMap;

use crate::Outcome;
use crate::args::ScoreArguments;
use crate::console::{Console, csv_error};
use crate::table::{counted, grouped};
use crate::train::cache_folder;
use crate::train::events::Shown;

pub(crate) fn run(arguments: &ScoreArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let format = Format::of(arguments.out.as_deref())?;
    let scoring = Scoring { method: arguments.method, aggregation: arguments.agg, tau: arguments.tau };
    if !(arguments.fpr > 0.0 && arguments.fpr < 1.0) {
        bail!("expected `--fpr` above 0 and below 1, got `{}`", arguments.fpr);
    }
    if !(0.0..1.0).contains(&arguments.tau) {
        bail!("expected `--tau` from 0 to below 1, got `{}`", arguments.tau);
    }
    let engine = Engine::open(&arguments.model, &DeviceChoice::default().open())?;
    let limits = thresholds(&arguments.threshold, &engine)?;
    let (cache, threads) = (cache_folder(arguments.cache.as_deref())?, arguments.threads.get());
    let loose;
    let opened;
    let dataset = match &arguments.inputs[..] {
        [folder] if folder.join(MANIFEST).is_file() => {
            opened = Dataset::open(folder)?;
            &opened
        }
        _ if arguments.split.is_some() => bail!("`--split` is about a dataset folder, got files\nhint: leave it out"),
        inputs => {
            loose = Loose::of(inputs, kind_of(&engine)?)?;
            &loose.dataset
        }
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
    let began = Instant::now();
    let normal = engine.normal(scoring, threads)?;
    let limit = normal.threshold(arguments.fpr);
    if limit.is_some_and(|limit| limit >= 1.0) {
        console.say("normal samples reach the highest score there is: nothing can be flagged\nhint: another `--agg` or a larger `--fpr`");
    }
    if limit.is_none() {
        console.say(format_args!(
            "{} cannot tell a false-alarm rate of {}: nothing is flagged by it\nhint: a larger `--fpr`, or more calibration rows",
            counted(engine.normal_rows(), "normal calibration row"),
            arguments.fpr
        ));
    }
    let table =
        Rows { engine: &engine, dataset, present: &present, limit, limits: &limits, top_k: arguments.top_k, format };
    let samples = RowsOf { encoded: &encoded, numbers: &present };
    let (mut flagged, mut failure) = (0, None);
    let mut write = |out: &mut dyn Write| -> io::Result<()> {
        table.head(out)?;
        let written = engine.score(&samples, scoring, threads, &mut |row, scores| {
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
    let limit = limit.map_or_else(String::new, |limit| format!(" above {limit:.4}"));
    console.say(format_args!(
        "{} scored, {} flagged{limit} ({} of {} left out); {looking:.1} s to decode and encode, {logic:.1} s for the logic",
        counted(present.len(), "sample"),
        grouped(flagged as u64),
        grouped((rows.len() - present.len()) as u64),
        grouped(rows.len() as u64),
    ));
    Ok(Outcome::Done)
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

/// Thresholds of single rules, as typed.
fn thresholds(words: &[String], engine: &Engine) -> anyhow::Result<Vec<(usize, f64)>> {
    let one = |word: &String| {
        let parts = word.rsplit_once('=').and_then(|(name, number)| Some((name, number.parse::<f64>().ok()?)));
        let Some((name, limit)) = parts.filter(|(_, limit)| (0.0..=1.0).contains(limit)) else {
            bail!("expected `--threshold RULE=SCORE` with a score from 0 to 1, got `{word}`");
        };
        match engine.rules().position(|rule| rule == name) {
            Some(rule) => Ok((rule, limit)),
            None => bail!("there is no rule `{name}` in the model\nhint: `rules.rules` in its folder lists them"),
        }
    };
    words.iter().map(one).collect()
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
    limit: Option<f64>,
    limits: &'a [(usize, f64)],
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
        let above =
            |score: Option<f64>, limit: Option<f64>| score.zip(limit).is_some_and(|(score, limit)| score > limit);
        let flagged = above(scores.anomaly, self.limit)
            || self.limits.iter().any(|(rule, limit)| above(scores.s[*rule], Some(*limit)));
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
