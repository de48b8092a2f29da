//! Options that decide how rules become one number and what is flagged: the same for every command that flags samples.

use chimera::score::aggregate::Aggregation;
use chimera::score::flag::Flagging;
use chimera_logic::attributes::RuleSeverity;
use clap::Args;

use super::score::named;

#[derive(Debug, Args)]
pub(crate) struct FlagArguments {
    /// How rules become one number; `min` is the paper's.
    #[arg(long, value_parser = named(&Aggregation::ALL), default_value = "max")]
    pub(crate) agg: Aggregation,
    /// Rules that matter less do not count for `anomaly` and flags; one that says nothing is `medium`.
    #[arg(long, value_name = "LEVEL", value_parser = named(&SEVERITIES))]
    pub(crate) min_severity: Option<RuleSeverity>,
    /// What thresholds are about: one for `anomaly`, one for each rule, or rules together (Benjamini and Hochberg).
    #[arg(long, value_name = "WAY", value_parser = named(&Flagging::ALL), default_value = "global")]
    pub(crate) flag: Flagging,
    /// The share of normal samples that may be flagged [default: 0.01, or the smallest rate up to 0.05 that the model's normal
    /// samples can promise].
    #[arg(long, value_name = "RATE")]
    pub(crate) fpr: Option<f64>,
    /// The threshold of a rule: above it the rule is flagged, and its sample; may be given for several rules.
    #[arg(long, value_name = "RULE=SCORE")]
    pub(crate) threshold: Vec<String>,
    /// From which probability of its antecedent on a violation of an implication counts; rules with `tau` have their own.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) tau: f64,
}

const SEVERITIES: [(&str, RuleSeverity); 3] =
    [("low", RuleSeverity::Low), ("medium", RuleSeverity::Medium), ("high", RuleSeverity::High)];
