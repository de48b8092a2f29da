//! `thresholds.json` of a model: where normal ends by default, for people and other programs. Scoring itself computes thresholds
//! from the calibration rows that the model keeps, whatever is asked.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use serde::Serialize;

use super::aggregate::Aggregation;
use super::engine::{Engine, Scoring};
use super::flag::FlagParams;
use super::method::Method;
use crate::model::THRESHOLDS;

#[derive(Serialize)]
struct Readable<'a> {
    /// The seal of the model's manifest: whose thresholds these are.
    model: &'a str,
    method: Method,
    aggregation: Aggregation,
    tau: f64,
    fpr: f64,
    /// Normal calibration rows that they come from.
    rows: usize,
    /// Of the one number of a sample; `None` where the rows are too few.
    global: Option<f64>,
    rules: BTreeMap<&'a str, Option<f64>>,
}

/// Writes the file.
///
/// # Errors
/// As [`Engine::ready`], and a folder that cannot be written.
pub fn write(engine: &Engine, folder: &Path, threads: NonZeroUsize) -> Result<()> {
    let scoring = Scoring { method: engine.default_method(), ..Scoring::default() };
    let ready = engine.ready(scoring, None, threads)?;
    let (_, thresholds) = ready.judged_by(&FlagParams::default(), None, threads)?;
    let readable = Readable {
        model: &engine.model.manifest.seal,
        method: scoring.method,
        aggregation: scoring.aggregation,
        tau: scoring.tau,
        fpr: thresholds.rate(),
        rows: thresholds.rows(),
        global: thresholds.global(),
        rules: engine.rules().zip(thresholds.rule_thresholds().iter().copied()).collect(),
    };
    let mut bytes = serde_json::to_vec_pretty(&readable)
        .map_err(|error| Error::input(format!("cannot write the model: {error}"), None))?;
    bytes.push(b'\n');
    write_atomic(&folder.join(THRESHOLDS), |out| out.write_all(&bytes))
}
