//! What can be typed after `chimera eval` and `chimera compare`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use chimera::score::method::Method;
use chimera_leaf::device::DeviceChoice;
use clap::Args;

use super::Threads;
use super::score::named;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera eval model/ ds/ -o report/\n  chimera eval model/ ds/ -o report/ --seeds 3 --methods \
    indep-cal,chimera,neural\n  chimera eval model/ other/ -o report/ --data ds/   # test rows of another dataset\n  \
    chimera eval model/ ds/ -o report/ --json | jq .methods.neural.all.auroc\n\n\
    Writes report.html (one page that needs nothing else), rules.csv, leaves.csv, summary.json, timings.json, \
    resamples.safetensors (for `chimera compare`) and plots/. Methods that are not part of the model are taught into the cache, \
    on the data that it was trained on. What cannot be measured is said, and the rest is measured."
)]
pub(crate) struct EvalArguments {
    /// Model folder, trained with rules.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Dataset folder whose test rows are measured.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: PathBuf,
    /// Folder of the report; a new or an empty one.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Methods side by side; all by default.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = named(&Method::ALL))]
    pub(crate) methods: Vec<Method>,
    /// How many seeds: gates are taught anew for each but the first, which is the model's own.
    #[arg(long, value_name = "N", default_value = "1", value_parser = seeds)]
    pub(crate) seeds: NonZeroUsize,
    /// For other seeds, train the leaf bank anew, too, and not only gates.
    #[arg(long)]
    pub(crate) refit_leaf: bool,
    /// Pretrained weights that the model started from, where there were any; models do not keep them.
    #[arg(long, value_name = "FILE", requires = "refit_leaf")]
    pub(crate) weights: Option<PathBuf>,
    /// Rules to measure instead of the model's.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The dataset that the model was trained on, where it is not the one that is measured.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Where encoded samples, methods and seeds are kept; by default `chimera` in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Where to compute: `auto`, `cpu` or `cuda:N`; `chimera devices` says what is there.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,
    /// Print `summary.json` instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// More seeds than this nobody waits for.
const MOST_SEEDS: usize = 100;

fn seeds(text: &str) -> Result<NonZeroUsize, String> {
    let wanted = || format!("expected from 1 to {MOST_SEEDS}");
    text.parse().ok().filter(|seeds: &NonZeroUsize| seeds.get() <= MOST_SEEDS).ok_or_else(wanted)
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera compare before/ after/\n  chimera compare before/ after/ --method chimera --tolerance 0.02\n  \
    chimera compare report/ report/ --method indep-cal --with neural   # two methods of one report\n\n\
    A rule is a regression where its AUROC is lower by more than the tolerance and the interval of the difference is below zero. \
    Exit code 1 if there is any, the mean over rules included."
)]
pub(crate) struct CompareArguments {
    /// Report folder, as `chimera eval` makes them.
    #[arg(value_name = "BEFORE")]
    pub(crate) before: PathBuf,
    /// Report folder to compare with it.
    #[arg(value_name = "AFTER")]
    pub(crate) after: PathBuf,
    /// The method to compare; by default the one that each report speaks of first.
    #[arg(long, value_name = "NAME", value_parser = named(&Method::ALL))]
    pub(crate) method: Option<Method>,
    /// Another method for the second report.
    #[arg(long, value_name = "NAME", value_parser = named(&Method::ALL))]
    pub(crate) with: Option<Method>,
    /// What an AUROC may lose without being a regression.
    #[arg(long, value_name = "DIFFERENCE", default_value_t = 0.01)]
    pub(crate) tolerance: f64,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
