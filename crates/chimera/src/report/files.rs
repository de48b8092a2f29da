//! The files of a report. The folder is whole or not there, and never written over.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_data::new_folder::NewFolder;
use safetensors::tensor::{Dtype, TensorView};
use serde::Serialize;

use crate::eval::compare::{Kept, RESAMPLED, about_resamples};
use crate::eval::summary::Summary;
use crate::eval::{Cell, Evaluation, MethodOf, ScoreKind};
use crate::score::method::Method;

/// The columns of `rules.csv`.
const COLUMNS: [&str; 12] = [
    "rule",
    "family",
    "method",
    "score",
    "seed",
    "auroc",
    "auroc_lo",
    "auroc_hi",
    "ap",
    "fpr95",
    "positives",
    "negatives",
];

/// Makes sure before any work that a report can go to a folder.
///
/// # Errors
/// As [`NewFolder::create`].
pub fn check_place(folder: &Path) -> Result<()> {
    NewFolder::create(folder).map(drop)
}

/// Writes `report.html`, `rules.csv`, `leaves.csv`, `summary.json`, `timings.json`, `resamples.safetensors` and `plots/*.svg`. All
/// but `timings.json` and the times in `report.html` are the same for the same model, data and seeds.
///
/// # Errors
/// A folder that is not empty or cannot be written.
pub fn write(evaluation: &Evaluation, folder: &Path) -> Result<()> {
    let new = NewFolder::create(folder)?;
    let summary = Summary::of(evaluation);
    let put = |name: &str, write: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let mut file = BufWriter::new(new.create_file(Path::new(name))?);
        write(&mut file).and_then(|()| file.flush()).map_err(|cause| Error::write(&folder.join(name), cause))
    };
    put("rules.csv", &|out| rules(evaluation, out))?;
    put("leaves.csv", &|out| evaluation.leaves.csv(out))?;
    put("summary.json", &|out| json(&summary, out))?;
    put("timings.json", &|out| json(&evaluation.seconds, out))?;
    let resamples = resamples(evaluation)?;
    put(RESAMPLED, &|out| out.write_all(&resamples))?;
    for (name, svg) in super::plots(evaluation, &summary) {
        put(&format!("plots/{name}.svg"), &|out| out.write_all(svg.as_bytes()))?;
    }
    let page = super::page(evaluation, &summary);
    put("report.html", &|out| out.write_all(page.as_bytes()))?;
    new.finish()
}

fn json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(io::Error::from)?;
    writeln!(out)
}

/// A line a rule, method, kind of score and seed; full precision, empty where undefined.
fn rules(evaluation: &Evaluation, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS)?;
    let shown = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for (number, rule) in evaluation.rules.iter().enumerate() {
        for (method, score, cell) in cells_of(evaluation, number) {
            let [low, high] = [cell.interval.map(|interval| interval.low), cell.interval.map(|interval| interval.high)];
            let metrics = &cell.metrics;
            let values = [metrics.auroc, low, high, metrics.average_precision, metrics.fpr_at_95_tpr].map(shown);
            let counts = [metrics.positives, metrics.negatives].map(|count| count.to_string());
            let names =
                [&rule.name, &rule.family, method.name(), score.name(), &cell.seed.to_string()].map(str::to_owned);
            csv.write_record(names.iter().chain(&values).chain(&counts))?;
        }
    }
    csv.flush()
}

/// The cells of a rule, seed by seed, in the order of methods.
fn cells_of(evaluation: &Evaluation, rule: usize) -> impl Iterator<Item = (Method, ScoreKind, &Cell)> {
    let kinds = evaluation
        .present()
        .flat_map(|of| [ScoreKind::Raw, ScoreKind::Gated].map(|score| (of.method, score)))
        .collect::<Vec<_>>();
    evaluation.about.seeds.iter().flat_map(move |seed| {
        let of_kind = |&(method, score): &(Method, ScoreKind)| {
            let cell = evaluation.cells_of(method, score, rule).iter().find(|cell| cell.seed == *seed)?;
            Some((method, score, cell))
        };
        kinds.iter().filter_map(of_kind).collect::<Vec<_>>()
    })
}

/// What `compare` reads: for each rule and method, in the mean over seeds, the AUROC of every resample.
fn resamples(evaluation: &Evaluation) -> Result<Vec<u8>> {
    let refused = |error: &dyn std::fmt::Display| Error::input(format!("cannot write the report: {error}"), None);
    let (mut kept, mut bytes) = (Kept::of(evaluation), Vec::new());
    for &MethodOf { method, .. } in evaluation.present() {
        for (number, rule) in evaluation.rules.iter().enumerate() {
            let auroc = evaluation.auroc_of(method, ScoreKind::Raw, number);
            if let (Some(auroc), Some(again)) = (auroc, evaluation.resampled.of(method, number)) {
                kept.add(&rule.name, method.name(), auroc, evaluation.tells(method, ScoreKind::Raw, number));
                bytes.extend(again.iter().flat_map(|value| value.to_le_bytes()));
            }
        }
    }
    let sizes = vec![kept.len(), bytes.len() / 4 / kept.len().max(1)];
    let view = TensorView::new(Dtype::F32, sizes, &bytes).map_err(|error| refused(&error))?;
    let text = serde_json::to_string(&kept).map_err(|error| refused(&error))?;
    let metadata = about_resamples(&text, &bytes);
    safetensors::serialize([("auroc", view)], Some(metadata)).map_err(|error| refused(&error))
}
