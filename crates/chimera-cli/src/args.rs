//! What can be typed. The help texts are the manual.

mod clevr;
mod data;
mod eval;
#[cfg(feature = "evidence")]
mod experiment;
mod explain;
mod flag;
mod mine;
mod openimages;
mod review;
mod score;
mod structure;
mod train;
mod vidor;
#[cfg(feature = "evidence")]
mod world;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use chimera_leaf::device::DeviceChoice;
use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use self::clevr::*;
pub(crate) use self::data::*;
pub(crate) use self::eval::*;
#[cfg(feature = "evidence")]
pub(crate) use self::experiment::*;
pub(crate) use self::explain::*;
pub(crate) use self::flag::*;
pub(crate) use self::mine::*;
pub(crate) use self::openimages::*;
pub(crate) use self::review::*;
pub(crate) use self::score::*;
pub(crate) use self::structure::*;
pub(crate) use self::train::*;
pub(crate) use self::vidor::*;
#[cfg(feature = "evidence")]
pub(crate) use self::world::*;

/// The way to begin.
#[cfg(feature = "evidence")]
macro_rules! start {
    () => {
        "Start with `chimera demo`, then `chimera rules check my.rules --data labels.csv`."
    };
}

#[cfg(not(feature = "evidence"))]
macro_rules! start {
    () => {
        "Start with `chimera rules check my.rules --data labels.csv`."
    };
}

const AFTER_HELP: &str = concat!(
    "Exit codes: 0 done, 1 findings (`rules check` found errors, `fmt --check` a difference, `compare` a regression), 2 could not run, \
    3 some inputs could not be scored (`score`), 4 a sample is flagged (`score --fail-on flagged`), 130 interrupted. 2 goes before 3, and 3 before 4.\n\
    Results go to standard output or to -o, words to standard error.\n\n",
    start!()
);

/// Logical anomaly detection: rules over visual concepts, checked exactly.
#[derive(Debug, Parser)]
#[command(name = "chimera", version, max_term_width = 110, arg_required_else_help = true)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Say nothing but results and errors.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check, format, show and evaluate rule files.
    #[command(subcommand)]
    Rules(RulesCommand),
    /// Turn a source of data into a dataset folder, which everything else reads.
    #[command(subcommand)]
    Import(ImportCommand),
    /// Make simulated data in the formats of real datasets, under rules.
    #[cfg(feature = "evidence")]
    #[command(subcommand)]
    World(WorldCommand),
    /// Show and check dataset folders.
    #[command(subcommand)]
    Data(DataCommand),
    /// Find rules in the labels of a dataset's train rows.
    Mine(Box<MineArguments>),
    /// Learn a dataset's concepts, and gates for rules over them.
    Train(Box<TrainArguments>),
    /// Teach a model new rules: only the gates that are missing.
    Add(AddArguments),
    /// Score samples: how badly each breaks which rule.
    Score(ScoreArguments),
    /// Say why a sample is flagged: which rules it breaks, where, when, and what would mend it.
    Explain(ExplainArguments),
    /// Measure every method on test rows, side by side, into a report.
    Eval(EvalArguments),
    /// Compare two reports, rule by rule.
    Compare(CompareArguments),
    /// Learn from verdicts on flagged samples how often rules are right, and which thresholds would do better.
    Review(ReviewArguments),
    /// List, check and clean up the gates that are kept for all models.
    #[command(subcommand)]
    Cache(CacheCommand),
    /// List what can be computed on: the processor, and GPUs or why there are none.
    Devices,
    /// Hold a GPU against the processor: outputs of gates and networks, steps of training, and how well rules are told apart.
    #[command(
        after_help = "Example:\n  chimera selftest --device cuda:0\n\nExit code 1 if something is further apart than it may be."
    )]
    Selftest {
        /// The GPU: `auto` or `cuda:N`.
        #[arg(long, value_name = "DEVICE", default_value_t)]
        device: DeviceChoice,
    },
    /// Run an experiment of the paper, on worlds of our own or on a real archive.
    #[cfg(feature = "evidence")]
    Experiment(ExperimentArguments),
    /// See all of it work on a world of our own, from making it to saying what is wrong with three clips.
    #[cfg(feature = "evidence")]
    Demo(DemoArguments),
    /// Print a script that completes commands in a shell.
    #[command(
        after_help = "Examples:\n  chimera completions bash > ~/.local/share/bash-completion/completions/chimera\n  \
        chimera completions zsh > ~/.zfunc/_chimera\n  chimera completions fish > ~/.config/fish/completions/chimera.fish"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// The cache that a command is about.
#[derive(Debug, Args)]
pub(crate) struct CacheFolder {
    /// The cache folder; by default `chimera` in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// List gates with their formulas, frames, vectors, z, models of other seeds, and kernels.
    Ls(CacheFolder),
    /// Read all of it and say what is damaged; exit code 1 if anything is.
    Verify(CacheFolder),
    /// Remove what was not used for long, what is damaged, and what killed runs left.
    #[command(
        after_help = "Examples:\n  chimera cache gc\n  chimera cache gc --unused-for 0 --keep model/   # all but the gates and z of a model"
    )]
    Gc {
        #[command(flatten)]
        folder: CacheFolder,
        /// Days after which goes what was not used.
        #[arg(long, value_name = "DAYS", default_value_t = 30)]
        unused_for: u64,
        /// Keep the gates and z of this model, unless they are damaged; may be given several times.
        #[arg(long, value_name = "MODEL")]
        keep: Vec<PathBuf>,
        /// Only say what would be removed.
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Find what is wrong with a rule file, all of it at once: syntax, logic and, with data, support.
    Check(CheckArguments),
    /// Print a rule file in its canonical spelling.
    Fmt(FormatArguments),
    /// Print rules with their gates, as text or JSON.
    Show(ShowArguments),
    /// Write which rule holds on which sample, exactly.
    Truth(TruthArguments),
    /// Count which truth configurations of each gate's operands the data hold.
    Coverage(CoverageArguments),
    /// Draw the rules' DAG as SVG or Graphviz.
    Graph(GraphArguments),
    /// Make rules from a dataset's hierarchy: kinds, parts and siblings.
    Structure(StructureArguments),
}

/// Which rules of the file a command is about.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Names of the rules to look at; all if none is given.
    #[arg(value_name = "RULE")]
    pub(crate) names: Vec<String>,
}

/// How much of the machine a command may use.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Threads {
    /// Threads to work with; all cores by default. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads)]
    threads: Option<NonZeroUsize>,
}

/// More threads than this are no machine's, and would only take its memory.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let wanted = || format!("expected from 1 to {MOST_THREADS}");
    text.parse().ok().filter(|threads: &NonZeroUsize| threads.get() <= MOST_THREADS).ok_or_else(wanted)
}

impl Threads {
    pub(crate) fn get(self) -> NonZeroUsize {
        self.threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
    }
}

/// The label table of a command that cannot do without.
#[derive(Debug, Args)]
pub(crate) struct LabelsInput {
    /// Dataset folder, or label table (.csv, .tsv, .parquet, .jsonl) with `id` and one column a concept.
    #[arg(long, value_name = "DATA")]
    pub(crate) data: PathBuf,
}

/// The rule file of a command.
#[derive(Debug, Args)]
pub(crate) struct RulesInput {
    /// Rule file: text, or the paper's graph form when it ends in `.json`; `-` reads text from standard input.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera rules check my.rules\n  chimera rules check my.rules --data labels.csv\n  \
    chimera rules check my.rules --data ds/\n  chimera rules check my.rules --json | jq '.diagnostics[].code'\n\n\
    Exit code 1 if there are errors; warnings alone leave it at 0."
)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) rules: RulesInput,
    /// Dataset folder or label table (.csv, .tsv, .parquet, .jsonl): concepts must be its columns, and rules are counted on
    /// its rows.
    #[arg(long, value_name = "DATA")]
    pub(crate) data: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera rules fmt my.rules            # print\n  chimera rules fmt my.rules --write    # \
    rewrite the file\n  chimera rules fmt my.rules --check    # exit code 1 if it would change\n  chimera rules fmt \
    graphs.json > my.rules   # from the paper's graph form\n\n\
    The order of operands, comments and blank lines stay; a file with errors is never rewritten."
)]
pub(crate) struct FormatArguments {
    #[command(flatten)]
    pub(crate) rules: RulesInput,
    /// Rewrite the file itself.
    #[arg(short, long, conflicts_with = "check")]
    pub(crate) write: bool,
    /// Only tell whether the file is formatted.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera rules show my.rules\n  chimera rules show my.rules baby_watched\n  \
    chimera rules show my.rules baby_watched --p obj:baby=0.9,obj:adult=0.2   # probability and repair\n  \
    chimera rules show my.rules --graph > graphs.json   # the paper's mask, x, y, neg, pos")]
pub(crate) struct ShowArguments {
    #[command(flatten)]
    pub(crate) rules: RulesInput,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Probabilities of concepts, such as `a=0.9,b=0.3`; others are 0.5. Adds to each rule its probability (exact, and as if
    /// operands were independent), its most probable world and its cheapest repair, with the log-odds that it overrules as cost.
    #[arg(long = "p", value_name = "CONCEPT=P,...")]
    pub(crate) probabilities: Option<String>,
    /// Print JSON.
    #[arg(long, conflicts_with = "graph")]
    pub(crate) json: bool,
    /// Print the paper's graph form (JSON).
    #[arg(long, conflicts_with = "probabilities")]
    pub(crate) graph: bool,
}

/// What `rules graph` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawFormat {
    /// A finished picture.
    Svg,
    /// Graphviz text.
    Dot,
}

/// Which way a drawing is read, from rules to concepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DrawDirection {
    /// As fits a page.
    Auto,
    /// Rules on top.
    Down,
    /// Rules at the left.
    Right,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera rules graph my.rules -o rules.svg\n  chimera rules graph my.rules baby_watched \
    -o one.svg\n  chimera rules graph my.rules --p obj:baby=0.9,obj:adult=0.2 -o lit.svg\n  chimera rules graph my.rules --format dot | dot -Tpdf > rules.pdf"
)]
pub(crate) struct GraphArguments {
    #[command(flatten)]
    pub(crate) rules: RulesInput,
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Probabilities of concepts, such as `a=0.9,b=0.3`; others are 0.5. Nodes are coloured by their exact probability.
    #[arg(long = "p", value_name = "CONCEPT=P,...")]
    pub(crate) probabilities: Option<String>,
    /// Words above the picture.
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// Which way to read.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) direction: DrawDirection,
    /// Leave out the explanation of the signs.
    #[arg(long)]
    pub(crate) no_legend: bool,
    /// What to write; by default what the name of the file says, else SVG.
    #[arg(long, value_enum)]
    pub(crate) format: Option<DrawFormat>,
    /// Write to a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera rules truth my.rules --data labels.csv -o truth.csv\n  \
    chimera rules truth my.rules --data labels.parquet --json | head\n\n\
    One row a sample: `id`, then one column a rule with 1 (holds), 0 (broken) or nothing (unknown).")]
pub(crate) struct TruthArguments {
    #[command(flatten)]
    pub(crate) rules: RulesInput,
    #[command(flatten)]
    pub(crate) labels: LabelsInput,
    /// Write to a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Write one JSON object a line instead of CSV.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Shape of a printed table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// For people.
    Table,
    /// For spreadsheets.
    Csv,
    /// For programs.
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  chimera rules coverage my.rules --data labels.csv\n  \
    chimera rules coverage my.rules --data labels.csv --format csv -o coverage.csv\n\n\
    Operands are listed in the order in which the gate takes them, negation applied; rows on which an operand is unknown are \
    counted apart. Gates with more than 10 operands list only configurations that occur.")]
pub(crate) struct CoverageArguments {
    #[command(flatten)]
    pub(crate) rules: RulesInput,
    #[command(flatten)]
    pub(crate) labels: LabelsInput,
    /// How to print it; by default what the name of the file says, else a table.
    #[arg(long, value_enum)]
    pub(crate) format: Option<TableFormat>,
    /// Short for `--format json`.
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to a file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
