//! The first stage of `train`: from a dataset to a trained, calibrated leaf bank with z of every sample, and to a model
//! folder that holds it.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::media::LeftOut;
use chimera_data::error::Result;
use chimera_data::media::prepared::Progress;
use chimera_data::metric::columns::ScoreTable;
use chimera_data::metric::leaf_table::LeafTable;
use chimera_data::parallel::in_pool;

use super::bank::LeafBank;
use super::calibrate::{Calibration, Quality};
use super::config::LeafConfig;
use super::device::Device;
use super::encode::{self, EncodedRows};
use super::samples::{Opening, Samples};
use super::train::{Start, TrainEvent, Trained, Training};
use super::vectors::View;

/// The folder of decoded frames in a cache folder.
pub const FRAMES: &str = "frames";

/// The folder of vectors of frozen networks in a cache folder.
pub const VECTORS: &str = "vectors";

/// The folder of z and logits in a cache folder.
pub const ENCODED: &str = "encoded";

/// Where things lie and what may be used.
#[derive(Clone, Debug)]
pub struct Workplace<'a> {
    /// The cache of prepared frames and encoded samples, for any number of datasets and models.
    pub cache: &'a Path,
    /// Whether what an earlier run left is used.
    pub start: Start<'a>,
    /// The checkpoint of the run.
    pub checkpoint: &'a Path,
    /// The log of its epochs.
    pub log: &'a Path,
    /// Where tensors live.
    pub device: Device,
    /// Threads for everything.
    pub threads: NonZeroUsize,
    /// Whether the first medium that cannot be decoded ends the work.
    pub strict: bool,
}

/// What is going on, for whoever shows it.
#[derive(Debug)]
pub enum StageEvent<'a> {
    /// Media are made ready.
    Preparing(Progress),
    /// Media are ready, but for these.
    Prepared {
        /// Rows that are left out.
        left_out: &'a [LeftOut],
    },
    /// The bank learns.
    Training(TrainEvent<'a>),
    /// Samples go through the trained encoder.
    Encoding(encode::Progress),
    /// Files of a cache were damaged. What they held was made anew.
    SetAside {
        /// What they held.
        content: Cached,
        /// Where they lie now.
        files: &'a [PathBuf],
    },
}

/// What lies in a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// Frames of media.
    Frames,
    /// Vectors of a frozen network.
    Vectors,
    /// z and logits.
    Encoded,
    /// Models of other seeds.
    Replica,
}

/// Rows that results are computed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredOn {
    /// The test rows.
    Test,
    /// There are none: the half of calibration that early stops and temperatures have seen. Too good to be true.
    FitHalf,
}

/// What the stage gives.
#[derive(Debug)]
pub struct LeafStage {
    /// The bank and how it was trained.
    pub trained: Trained,
    /// What makes its logits probabilities.
    pub calibration: Calibration,
    /// How good probabilities are on the rows that results are computed on, a method each; empty without such rows.
    pub quality: Vec<Quality>,
    /// How well each concept is recognised; `None` where there are no rows to tell.
    pub leaves: Option<(MeasuredOn, LeafTable)>,
    /// z and logits of every sample.
    pub encoded: EncodedRows,
    /// Rows that are left out, since their media are missing or damaged.
    pub left_out: Vec<LeftOut>,
    /// Train rows that were learned from.
    pub rows: usize,
    /// Seconds to prepare media, to train (over all parts of a run that was stopped) and to encode.
    pub seconds: [f64; 3],
}

/// z and logits of a dataset from a bank that is trained already.
///
/// # Errors
/// As [`Samples::open`] and [`EncodedRows::make`].
pub fn encode(
    dataset: &Dataset,
    bank: &LeafBank,
    (cache, threads, strict): (&Path, NonZeroUsize, bool),
    events: &(dyn Fn(StageEvent<'_>) + Sync),
) -> Result<EncodedRows> {
    let opening = Opening { cache: &cache.join(FRAMES), threads, strict };
    let preparing = |progress| events(StageEvent::Preparing(progress));
    let samples = Samples::open(dataset, &bank.config().encoder, opening, &preparing)?;
    events(StageEvent::Prepared { left_out: samples.left_out() });
    let set_aside = |content, files: &[PathBuf]| {
        if !files.is_empty() {
            events(StageEvent::SetAside { content, files });
        }
    };
    set_aside(Cached::Frames, samples.set_aside());
    let view = View { samples: &samples, vectors: None };
    let progress = |progress| events(StageEvent::Encoding(progress));
    let encoded = in_pool(threads, || EncodedRows::make(bank, view, &cache.join(ENCODED), threads, &progress))?;
    set_aside(Cached::Encoded, encoded.set_aside());
    Ok(encoded)
}

/// Runs the stage.
///
/// # Errors
/// As [`LeafConfig::encoder_for`], [`Samples::open`], [`Training::run`] and [`EncodedRows::make`].
pub fn run(
    dataset: &Dataset,
    config: &LeafConfig,
    workplace: &Workplace<'_>,
    events: &(dyn Fn(StageEvent<'_>) + Sync),
) -> Result<LeafStage> {
    let Workplace { cache, start, checkpoint, log, device, threads, strict } = workplace;
    let set_aside = |content, files: &[PathBuf]| {
        if !files.is_empty() {
            events(StageEvent::SetAside { content, files });
        }
    };
    let encoder = config.encoder_for(dataset)?;
    let began = Instant::now();
    let opening = Opening { cache: &cache.join(FRAMES), threads: *threads, strict: *strict };
    let samples = Samples::open(dataset, &encoder, opening, &|progress| events(StageEvent::Preparing(progress)))?;
    events(StageEvent::Prepared { left_out: samples.left_out() });
    set_aside(Cached::Frames, samples.set_aside());
    let prepared = began.elapsed().as_secs_f64();

    let training = Training {
        config,
        encoder,
        samples: &samples,
        start: *start,
        vectors: Some(&cache.join(VECTORS)),
        checkpoint,
        log,
        device: device.clone(),
        threads: *threads,
    };
    let trained = training.run(&mut |event| events(StageEvent::Training(event)))?;
    let vectors = trained.vectors.as_deref();
    set_aside(Cached::Vectors, vectors.map_or(&[], |vectors| vectors.set_aside()));

    let began = Instant::now();
    let view = View { samples: &samples, vectors };
    let progress = |progress| events(StageEvent::Encoding(progress));
    let encoded =
        in_pool(*threads, || EncodedRows::make(&trained.bank, view, &cache.join(ENCODED), *threads, &progress))?;
    set_aside(Cached::Encoded, encoded.set_aside());
    let encoding = began.elapsed().as_secs_f64();

    let table = dataset.table();
    let fit = encoded.present(&dataset.fit_half());
    let logits = encoded.logits(fit.numbers())?;
    let scores = ScoreTable::new(&logits, fit.len(), &table.concepts)?;
    let calibration = Calibration::fit(scores, &table.labels, &fit, *threads)?;
    let test = encoded.present(&dataset.test());
    let measured = match (test.is_empty(), fit.is_empty()) {
        (false, _) => Some((MeasuredOn::Test, test.numbers())),
        (true, false) => Some((MeasuredOn::FitHalf, fit.numbers())),
        (true, true) => None,
    };
    let (mut quality, mut leaves) = (Vec::new(), None);
    if let Some((on, rows)) = measured {
        let logits = encoded.logits(rows)?;
        let (scores, labels) = (ScoreTable::new(&logits, rows.len(), &table.concepts)?, table.labels.select(rows));
        quality = calibration.quality(scores, &labels, *threads)?;
        leaves = Some((on, LeafTable::measure(scores, &labels, 0.0, *threads)?));
    }
    let rows = training.rows()?.len();
    let left_out = samples.left_out().to_vec();
    let seconds = [prepared, trained.seconds, encoding];
    Ok(LeafStage { trained, calibration, quality, leaves, encoded, left_out, rows, seconds })
}
