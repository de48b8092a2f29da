//! What can be typed after `chimera review`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera score model/ photos/ -o scores.csv          # then look at what is flagged, and write verdicts.csv\n  \
    chimera review model/ verdicts.csv                          # how often each rule was right\n  \
    chimera review model/ verdicts.csv --scores scores.csv      # and which threshold would do\n  \
    chimera review model/ verdicts.csv --scores scores.csv --precision 0.95 -o thresholds.csv\n\n\
    verdicts.csv has the columns `id`, `rule` (empty: the sample as a whole) and `verdict`: `real` (or 1, true) and `false alarm` (or 0, false). \
    Lines without a verdict are passed over, other columns too. With --scores a threshold is proposed where the lower end of the 95 % interval of the \
    precision above it reaches --precision. The model is left as it is."
)]
pub(crate) struct ReviewArguments {
    /// Model folder, trained with rules.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Table of verdicts (.csv, .tsv).
    #[arg(value_name = "VERDICTS")]
    pub(crate) verdicts: PathBuf,
    /// The scores that the samples were flagged by, as `chimera score -o` wrote them (.csv, .jsonl, .parquet); without them no
    /// thresholds are proposed.
    #[arg(long, value_name = "FILE")]
    pub(crate) scores: Option<PathBuf>,
    /// How many of the violations above a threshold must be real: a share.
    #[arg(long, value_name = "SHARE", default_value_t = 0.9)]
    pub(crate) precision: f64,
    /// File for the proposals, as CSV.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
