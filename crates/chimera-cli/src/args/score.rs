//! What can be typed after `chimera score`.

use std::path::PathBuf;

use chimera::score::method::Method;
use chimera_leaf::device::DeviceChoice;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use super::Threads;
use super::flag::FlagArguments;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera score model/ photos/ -o scores.csv\n  chimera score model/ one.jpg two.jpg\n  \
    chimera score model/ 'photos/**/*.jpg' -o scores.parquet   # patterns, for shells without them\n  \
    chimera score model/ ds/ --split test --method indep-cal --fpr 0.005 -o scores.jsonl\n  \
    chimera score model/ photos/ --set helmet=1   # what if all of them had one?\n  \
    chimera score model/ photos/ --json | jq -r 'select(.flagged) | .id'\n  \
    chimera score model/ photos/ -o scores.csv --json | jq .seconds\n  \
    chimera score model/ photos/ -q -o scores.csv --fail-on flagged || echo 'look at scores.csv'\n\n\
    One row an input, whatever happened: `id`, `anomaly`, `flagged`, `error` (why it could not be scored), `rule:<name>` (how badly it is \
    broken) and `p:<name>` (the probability that it holds) for each rule, `top_rules`, `flagged_rules`, `severity`. Empty is unknown. \
    A sample is flagged where its anomaly is above what all but the stated share of normal samples reach; `--flag` has other ways. \
    `flagged` is empty where the model has too few normal samples to promise the rate.\n\n\
    Exit codes: 0 done, 2 could not run, 3 some inputs could not be scored, 4 `--fail-on flagged` and a sample is flagged, 130 after \
    Ctrl-C. 2 goes before 3, and 3 before 4.\n\n\
    Samples are read, scored and written block by block: any number of them takes the same memory. \
    Ctrl-C ends after the samples at hand with a file that is whole (exit code 130); a second one leaves no file."
)]
pub(crate) struct ScoreArguments {
    /// Model folder, trained with rules.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// One dataset folder, or pictures or videos: files, folders with all that is in them, and quoted patterns such as
    /// `'photos/*.jpg'` and `'photos/**/*.png'`; for a model of videos a folder of frames is one video.
    #[arg(value_name = "INPUT", required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// File to write, `.csv`, `.jsonl` or `.parquet`; without it, and for `-`, standard output gets CSV.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON: a line a sample, or with `-o FILE` a summary at the end.
    #[arg(long)]
    pub(crate) json: bool,
    /// Where rules' probabilities come from [default: neural; chimera where the model was trained without grafts].
    #[arg(long, value_parser = named(&Method::ALL))]
    pub(crate) method: Option<Method>,
    /// Rules to score instead of the model's; for `chimera` and `graft` every part of them must have a gate in the model
    /// or in the cache, for `neural` every concept a head in the model.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The dataset that the model was trained on, for methods that are not part of a model (`indep-deep`, `sem`, `mono-n`,
    /// `mono-c`, `oracle`) and for `--agg learned-supervised`; may be left out where it is the input.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) flags: FlagArguments,
    /// Exit with code 4 where a sample is flagged.
    #[arg(long, value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,
    /// Scores as if samples showed a concept (1), or did not (0); may be given for several concepts. Nothing is encoded again: methods
    /// that look at concepts alone take it as given, others look at z with the concept grafted on.
    #[arg(long, value_name = "CONCEPT=0|1")]
    pub(crate) set: Vec<String>,
    /// Rules that are named for each sample, the worst first.
    #[arg(long, value_name = "K", default_value_t = 3)]
    pub(crate) top_k: usize,
    /// Only rows of this split of a dataset.
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Where training kept encoded samples, which are read and not made again, and where methods go that are taught now; by
    /// default `chimera` in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Where to compute: `auto`, `cpu` or `cuda:N`; `chimera devices` says what is there.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,
}

/// What a script can wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A sample is flagged.
    Flagged,
}

pub(super) fn named<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(names.iter().map(|(name, _)| *name));
    words.try_map(|word| names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or("no such name"))
}
