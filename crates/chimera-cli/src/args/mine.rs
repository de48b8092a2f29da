//! What can be typed after `chimera mine`.

use std::path::PathBuf;

use chimera_data::dataset::assign::DEFAULT_SEED;
use chimera_mine::options::{Definitions, MineOptions, Rank, Support};
use chimera_mine::shape::Pattern;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

use super::Threads;
use super::data::at_least_one;

/// Thresholds that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MinePreset {
    /// The paper's defaults: 5 % of the rows, confidence 0.995.
    Paper,
    /// The paper's for Open Images: 200 rows, confidence 0.99.
    Openimages,
}

/// What rules are ranked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RankChoice {
    /// The lower bound of the confidence.
    Bound,
    /// How much more often a rule is kept than by chance.
    Lift,
}

/// What becomes of rules that labels can never break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DefinitionChoice {
    /// They are left out, with the reason.
    Drop,
    /// They are mined like others.
    Keep,
}

/// A pattern as it is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternChoice(pub(crate) Pattern);

impl ValueEnum for PatternChoice {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [PatternChoice; Pattern::ALL.len()] = {
            let mut all = [PatternChoice(Pattern::Iff); Pattern::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = PatternChoice(Pattern::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.as_str()))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera mine ds/ -o mined.rules\n  \
    chimera mine ds/ --support 20 --max-rules 40 -o mined.rules        # 20 rows instead of 5 %\n  \
    chimera mine ds/ --preset openimages --rank lift -o mined.rules\n  \
    chimera mine ds/ --families implies,excludes -o pairs.rules\n  \
    chimera mine ds/ --explain 'blue_sphere => metal_any' --sheet why.png\n\n\
    Families: iff (a <=> b), chain ((a => b) & (b => c)), both (a => b & c), and (a & b => c), or (a => b | c),\n\
    implies (a => b), excludes (a => !b).\n\n\
    Only train rows are read to choose rules. The file records which rows those were. How many rows of other splits break a\n\
    rule is told, and has no say in what is chosen. docs/mine.md defines every number.")]
pub(crate) struct MineArguments {
    /// Dataset folder.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Write the rules to a file, and what speaks for them to standard output; without it, the rules go to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Thresholds to start from; options that are given win.
    #[arg(long, value_enum, default_value = "paper")]
    pub(crate) preset: MinePreset,
    /// Rows that a rule must apply to: a share of the train rows (0.05) or a number of them (200).
    #[arg(long, value_name = "SHARE|ROWS", value_parser = Support::parse, allow_negative_numbers = true)]
    pub(crate) support: Option<Support>,
    /// The least confidence of `a => b`: rows with both among rows with `a`.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) confidence_pos: Option<f64>,
    /// The largest share of rows with `b` among rows with `a`, for `a => !b`.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) confidence_neg: Option<f64>,
    /// Rules to write, at most.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) max_rules: Option<usize>,
    /// Which rules to look for; all by default.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "FAMILY,...")]
    pub(crate) families: Vec<PatternChoice>,
    /// What the best rules are.
    #[arg(long, value_enum, default_value = "bound")]
    pub(crate) rank: RankChoice,
    /// The share of rules that may be chance, among those that pass the test against it, on average.
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) fdr: Option<f64>,
    /// The share of train rows that is kept from the search, to confirm rules on; 0 for none.
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) holdout: Option<f64>,
    /// What becomes of rules that labels can never break, such as `red_cube => red`.
    #[arg(long, value_enum, default_value = "drop")]
    pub(crate) definitions: DefinitionChoice,
    /// Candidates of a kind to keep while searching; the best stay.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) max_candidates: Option<usize>,
    /// Decides which rows are held out.
    #[arg(long, default_value_t = DEFAULT_SEED)]
    pub(crate) seed: u64,
    /// Explain a rule instead: a formula in quotes, or the name of a rule that is mined with the same options.
    #[arg(long, value_name = "RULE", conflicts_with = "out")]
    pub(crate) explain: Option<String>,
    /// With `--explain`: a contact sheet (PNG) of train samples that break and that keep the rule.
    #[arg(long, value_name = "FILE", requires = "explain")]
    pub(crate) sheet: Option<PathBuf>,
    /// Samples on the sheet, at most.
    #[arg(long, value_name = "N", default_value_t = 24, requires = "sheet", value_parser = at_least_one)]
    pub(crate) samples: usize,
    /// Print JSON in place of tables.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

impl MineArguments {
    /// The preset, with what was given.
    pub(crate) fn options(&self) -> MineOptions {
        let preset = match self.preset {
            MinePreset::Paper => MineOptions::default(),
            MinePreset::Openimages => MineOptions::openimages(),
        };
        let mut families: Vec<Pattern> = self.families.iter().map(|choice| choice.0).collect();
        families.sort_unstable();
        families.dedup();
        MineOptions {
            support: self.support.unwrap_or(preset.support),
            confidence_pos: self.confidence_pos.unwrap_or(preset.confidence_pos),
            confidence_neg: self.confidence_neg.unwrap_or(preset.confidence_neg),
            max_rules: self.max_rules.unwrap_or(preset.max_rules),
            families: if families.is_empty() { preset.families } else { families },
            rank: match self.rank {
                RankChoice::Bound => Rank::Bound,
                RankChoice::Lift => Rank::Lift,
            },
            fdr: self.fdr.unwrap_or(preset.fdr),
            holdout: self.holdout.unwrap_or(preset.holdout),
            definitions: match self.definitions {
                DefinitionChoice::Drop => Definitions::Drop,
                DefinitionChoice::Keep => Definitions::Keep,
            },
            max_candidates: self.max_candidates.unwrap_or(preset.max_candidates),
            seed: self.seed,
        }
    }

    /// The command with everything that decides its result, for the record in the file.
    pub(crate) fn command(&self) -> String {
        let mut words = vec!["chimera".to_owned(), "mine".to_owned(), self.folder.display().to_string()];
        let mut add = |name: &str, value: Option<String>| words.extend(value.map(|value| format!("--{name} {value}")));
        add("preset", (self.preset != MinePreset::Paper).then(|| word(&self.preset)));
        add("support", self.support.map(|support| support.to_string()));
        add("confidence-pos", self.confidence_pos.map(|share| share.to_string()));
        add("confidence-neg", self.confidence_neg.map(|share| share.to_string()));
        add("max-rules", self.max_rules.map(|rules| rules.to_string()));
        let families: Vec<String> = self.families.iter().map(word).collect();
        add("families", (!families.is_empty()).then(|| families.join(",")));
        add("rank", (self.rank != RankChoice::Bound).then(|| word(&self.rank)));
        add("fdr", self.fdr.map(|rate| rate.to_string()));
        add("holdout", self.holdout.map(|share| share.to_string()));
        add("definitions", (self.definitions != DefinitionChoice::Drop).then(|| word(&self.definitions)));
        add("max-candidates", self.max_candidates.map(|candidates| candidates.to_string()));
        add("seed", (self.seed != DEFAULT_SEED).then(|| self.seed.to_string()));
        words.join(" ")
    }
}

fn word(choice: &impl ValueEnum) -> String {
    choice.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
