//! What can be typed after `chimera score`.

use std::path::PathBuf;

use chimera::leaf::device::DeviceChoice;
use chimera::score::aggregate::Aggregation;
use chimera::score::flag::Flagging;
use chimera::score::method::Method;
use chimera::score::readable::DEFAULT_RATE;
use chimera_logic::attributes::RuleSeverity;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::Threads;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera score model/ photos/ -o scores.csv\n  chimera score model/ one.jpg two.jpg\n  \
    chimera score model/ 'photos/**/*.jpg' -o scores.parquet   # patterns, for shells without them\n  \
    chimera score model/ ds/ --split test --method indep-cal --fpr 0.005 -o scores.jsonl\n  \
    chimera score model/ photos/ --set helmet=1   # what if all of them had one?\n  \
    chimera score model/ photos/ --json | jq -r 'select(.flagged) | .id'\n  \
    chimera score model/ photos/ -o scores.csv --json | jq .seconds\n\n\
    One row a sample: `id`, `anomaly`, `flagged`, `rule:<name>` (how badly it is broken) and `p:<name>` (the probability that \
    it holds) for each rule, `top_rules`, `flagged_rules`, `severity`. Empty is unknown. A sample is flagged where its anomaly is \
    above what all but the stated share of normal samples reach; `--flag` has other ways.\n\n\
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
    /// How rules become one number; `min` is the paper's.
    #[arg(long, value_parser = named(&Aggregation::ALL), default_value = "max")]
    pub(crate) agg: Aggregation,
    /// Rules to score instead of the model's; for `chimera` and `graft` every part of them must have a gate in the model
    /// or in the cache, for `neural` every concept a head in the model.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// The dataset that the model was trained on, for methods that are not part of a model (`indep-deep`, `sem`, `mono-n`,
    /// `mono-c`, `oracle`) and for `--agg learned-supervised`; may be left out where it is the input.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Rules that matter less do not count for `anomaly` and flags; one that says nothing is `medium`.
    #[arg(long, value_name = "LEVEL", value_parser = named(&SEVERITIES))]
    pub(crate) min_severity: Option<RuleSeverity>,
    /// What thresholds are about: one for `anomaly`, one for each rule, or rules together (Benjamini and Hochberg).
    #[arg(long, value_name = "WAY", value_parser = named(&Flagging::ALL), default_value = "global")]
    pub(crate) flag: Flagging,
    /// The share of normal samples that may be flagged.
    #[arg(long, value_name = "RATE", default_value_t = DEFAULT_RATE)]
    pub(crate) fpr: f64,
    /// The threshold of a rule: above it the rule is flagged, and its sample; may be given for several rules.
    #[arg(long, value_name = "RULE=SCORE")]
    pub(crate) threshold: Vec<String>,
    /// From which probability of its antecedent on a violation of an implication counts; rules with `tau` have their own.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) tau: f64,
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

const SEVERITIES: [(&str, RuleSeverity); 3] =
    [("low", RuleSeverity::Low), ("medium", RuleSeverity::Medium), ("high", RuleSeverity::High)];

pub(super) fn named<T: Copy + Send + Sync + 'static>(
    names: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let words = PossibleValuesParser::new(names.iter().map(|(name, _)| *name));
    words.try_map(|word| names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or("no such name"))
}
