//! `chimera train`: from a dataset folder to a model folder.

mod choices;
pub(crate) mod events;
pub(crate) mod gates;
pub(crate) mod material;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use chimera::gate;
use chimera::gate::report::GatesReport;
use chimera::model::{self, ModelManifest};
use chimera::train::{self, Lesson};
use chimera_data::dataset::Dataset;
use chimera_data::metric::leaf_table::{LeafMeans, LeafRow, LeafTable};
use chimera_leaf::calibrate::{Method, Quality};
use chimera_leaf::encoder::EncoderConfig;
use chimera_leaf::stage::{LeafStage, MeasuredOn, Workplace};
use chimera_leaf::train::{EpochRecord, Start, StopReason};
use serde::Serialize;

use crate::args::TrainArguments;
use crate::console::Console;
use crate::table::{Align, Table, counted};
use crate::{Outcome, devices};

/// So many concepts are named.
const NAMED: usize = 5;

/// Says before the work of which concepts nothing can be learned.
fn tell_constant(dataset: &Dataset, console: &Console) -> anyhow::Result<()> {
    let labels = dataset.table().labels.select(dataset.train()?.numbers());
    let counts = (0..labels.columns()).map(|concept| labels.counts(concept));
    let constant: Vec<&str> = dataset
        .table()
        .concepts
        .iter()
        .zip(counts)
        .filter(|(_, counts)| counts.holds == 0 || counts.fails == 0)
        .map(|(name, _)| name.as_str())
        .collect();
    if !constant.is_empty() {
        let (some, more) = (&constant[..constant.len().min(NAMED)], if constant.len() > NAMED { ", .." } else { "" });
        console.say(format_args!(
            "nothing can be learned of {}, the same on all train rows: {}{more}",
            counted(constant.len(), "concept"),
            some.join(", ")
        ));
    }
    Ok(())
}

pub(crate) fn run(arguments: &TrainArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let choices = choices::settled(arguments)?;
    let dataset = Dataset::open(&arguments.dataset)?;
    let traced = arguments.rules.as_deref().map(|path| gates::load(path, &dataset, console)).transpose()?;
    tell_constant(&dataset, console)?;
    let encoder = choices.encoder_for(&dataset)?;
    choices.check_use(&encoder)?;
    let cache = cache_folder(arguments.cache.as_deref())?;
    if let EncoderConfig::Frames { .. } = encoder {
        check_cache(&cache)?;
    }
    let device = devices::open(choices.device, console)?;
    fs::create_dir_all(&arguments.out).with_context(|| unusable(&arguments.out))?;
    let _claimed = model::claim(&arguments.out)?;
    let earlier = files_of_earlier_runs(&arguments.out, arguments.restart)?;
    let clear = || earlier.iter().try_for_each(|path| removed(path));
    let workplace = Workplace {
        cache: &cache,
        start: if arguments.restart { Start::Anew(&clear) } else { Start::GoOn },
        checkpoint: &arguments.out.join(model::CHECKPOINT),
        log: &arguments.out.join(model::LOG),
        device,
        threads: arguments.threads.get(),
        strict: arguments.strict_media,
    };
    let shown = events::Shown::new(console);
    let rules = traced.as_ref().map(|traced| (&traced.rule_set, &traced.mined[..]));
    let lesson =
        Lesson { dataset: &dataset, rules, leaf: &choices.leaf, gates: &choices.gates, retrain: arguments.retrain };
    let taught = train::run(&arguments.out, lesson, &workplace, &|event| shown.show_taught(&event))?;
    drop(shown);
    let (stage, manifest) = (&taught.leaf, &taught.manifest);
    let report = taught.gates.as_ref().map(|stage| &stage.report);
    if arguments.json {
        console.write_json(&Summary::of(stage, manifest, report))?;
    } else {
        write_text(stage, console.results())?;
        report.map_or(Ok(()), |report| gates::write_text(report, console.results()))?;
    }
    if let Some(section) = &manifest.gates {
        gates::say_normal(section.normal_rows, console);
    }
    console.say(format_args!("model in `{}`, encoder {}", arguments.out.display(), &manifest.encoder.hash[..16]));
    Ok(Outcome::Done)
}

/// The cache folder: the one that was asked for, or the user's.
pub(crate) fn cache_folder(asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    asked.map_or_else(default_cache, |folder| Ok(folder.to_owned()))
}

/// Frames are read from the cache in every epoch: without it there is no training. Everything else only gains by it.
fn check_cache(folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder).or_else(|cause| {
        let folder = folder.display();
        bail!("cannot use the cache folder `{folder}`: {cause}\nhint: name another one with `--cache DIR`")
    })
}

/// The user's cache folder, as systems have it.
fn default_cache() -> anyhow::Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where caches lie is a convention of the user's system")]
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = variable("XDG_CACHE_HOME")
        .or_else(|| variable("LOCALAPPDATA"))
        .or_else(|| variable("HOME").map(|home| home.join(".cache")));
    Ok(folder.context("cannot find the user's cache folder\nhint: say where with `--cache DIR`")?.join("chimera"))
}

fn unusable(out: &Path) -> String {
    format!("cannot use the folder `{}`", out.display())
}

/// What earlier runs left in a model folder, the manifest first: without it, the rest is no model. Temporary files of a write
/// that was killed are removed at once, once it is known that everything there is ours.
fn files_of_earlier_runs(out: &Path, restart: bool) -> anyhow::Result<Vec<PathBuf>> {
    let (mut files, mut unfinished) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(out).with_context(|| unusable(out))? {
        let path = entry.with_context(|| unusable(out))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if chimera_data::file::is_unfinished(&path) {
            unfinished.push(path);
        } else if name == model::GATES && path.is_dir() {
            let ours = gate::stage::files_in(&path)?;
            let all = fs::read_dir(&path).with_context(|| unusable(&path))?.count();
            if all > ours.len() {
                bail!(
                    "expected nothing but gates in `{}`, got other files\nhint: give another folder to `--out`",
                    path.display()
                );
            }
            files.extend(ours);
        } else if model::FILES.contains(&name.as_str()) {
            files.push(path);
        } else {
            bail!(
                "expected an empty or new folder, got `{}` with `{name}`\nhint: give another folder to `--out`",
                out.display()
            );
        }
    }
    let is_manifest = |path: &Path| path.ends_with(model::MANIFEST);
    if !restart && files.iter().any(|path| is_manifest(path)) {
        bail!(
            "`{}` holds a model\nhint: give another folder to `--out`, or `--restart` to train it anew",
            out.display()
        );
    }
    unfinished.iter().try_for_each(|path| removed(path))?;
    files.sort_by_key(|path| !is_manifest(path));
    Ok(files)
}

fn removed(path: &Path) -> chimera_data::error::Result<()> {
    fs::remove_file(path).map_err(|cause| chimera_data::error::Error::Write { path: path.to_owned(), cause })
}

/// What `--json` prints.
#[derive(Serialize)]
struct Summary<'a> {
    encoder: &'a str,
    epoch: usize,
    stopped: StopReason,
    epochs: &'a [EpochRecord],
    measured_on: Option<MeasuredOn>,
    leaves: &'a [LeafRow],
    means: Option<LeafMeans>,
    temperature: f32,
    calibration: &'a [Quality],
    left_out: usize,
    seconds: [f64; 3],
    gates: Option<&'a GatesReport>,
}

impl<'a> Summary<'a> {
    fn of(stage: &'a LeafStage, manifest: &'a ModelManifest, gates: Option<&'a GatesReport>) -> Self {
        let table = stage.leaves.as_ref().map(|(_, table)| table);
        Self {
            encoder: &manifest.encoder.hash,
            epoch: stage.trained.epoch,
            stopped: stage.trained.stopped,
            epochs: &stage.trained.epochs,
            measured_on: manifest.measured_on,
            leaves: table.map_or(&[], |table| &table.rows),
            means: table.map(LeafTable::means),
            temperature: stage.calibration.temperature().value,
            calibration: &stage.quality,
            left_out: stage.left_out.len(),
            seconds: stage.seconds,
            gates,
        }
    }
}

fn write_text(stage: &LeafStage, out: &mut dyn Write) -> io::Result<()> {
    let Some((on, leaves)) = &stage.leaves else {
        return writeln!(
            out,
            "there are neither test nor calibration rows: nothing tells how well concepts are recognised"
        );
    };
    match on {
        MeasuredOn::Test => writeln!(out, "concepts on the test rows:")?,
        MeasuredOn::FitHalf => {
            writeln!(
                out,
                "concepts on calibration rows, for want of test rows; training has seen them, so they flatter:"
            )?;
        }
    }
    let mut table = Table::new(&[
        ("concept", Align::Left),
        ("auroc", Align::Right),
        ("ap", Align::Right),
        ("accuracy", Align::Right),
        ("prevalence", Align::Right),
        ("positives", Align::Right),
        ("known", Align::Right),
    ]);
    leaves.cells().into_iter().for_each(|cells| table.row(cells.into()));
    table.write(out, 2)?;
    let of = |method: Method| stage.quality.iter().find(|quality| quality.method == method);
    let error = |method: Method| of(method).and_then(|quality| quality.reliability.error);
    if let (Some(raw), Some(temperature), Some(platt)) =
        (error(Method::Raw), error(Method::Temperature), error(Method::Platt))
    {
        let value = stage.calibration.temperature().value;
        writeln!(
            out,
            "\ncalibration error {raw:.4}, with temperature {value:.3} {temperature:.4}, per concept {platt:.4}"
        )?;
    }
    Ok(())
}
