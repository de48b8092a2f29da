//! What can be typed after `chimera explain`.

use std::path::PathBuf;

use chimera::score::method::Method;
use chimera_leaf::device::DeviceChoice;
use clap::Args;

use super::Threads;
use super::flag::FlagArguments;
use super::score::named;

/// Methods that are part of a model: what is taught beside it has no parts to look at.
const METHODS: [(&str, Method); 6] = [
    ("indep", Method::Indep),
    ("indep-cal", Method::IndepCal),
    ("wmc", Method::Wmc),
    ("chimera", Method::Chimera),
    ("graft", Method::Graft),
    ("neural", Method::Neural),
];

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera explain model/ one.jpg -o why.html\n  chimera explain model/ clip.mp4\n  \
    chimera explain model/ ds/ --id img_0042 --rule helmet_on_bicycle -o why.html\n  \
    chimera explain model/ one.jpg --flag per-rule --fpr 0.02        # flags as `chimera score` with the same options\n  \
    chimera explain model/ one.jpg --json | jq -r '.rules[0].repair.words'\n\n\
    Says which rules a sample breaks and how, what would mend them, and where in the picture and when in the video they are seen. The page \
    has the graph of each rule with probabilities in colour, the evidence over the picture, and switches that set concepts. Evidence is what \
    is lost when parts of the picture are covered."
)]
pub(crate) struct ExplainArguments {
    /// Model folder, trained with rules.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// A picture or video, or a dataset folder with `--id`.
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// The sample of a dataset.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Page to write (`.html`); without it the explanation is told on standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Rules to explain, by name; may be given several times [default: those that the sample is flagged for, or the worst].
    #[arg(long, value_name = "NAME")]
    pub(crate) rule: Vec<String>,
    /// How many rules are explained at most, the worst first.
    #[arg(long, value_name = "K", default_value = "3", value_parser = clap::value_parser!(u16).range(1..), conflicts_with = "rule")]
    pub(crate) top_k: u16,
    /// Where rules' probabilities come from [default: neural; chimera where the model was trained without grafts].
    #[arg(long, value_parser = named(&METHODS))]
    pub(crate) method: Option<Method>,
    #[command(flatten)]
    pub(crate) flags: FlagArguments,
    /// Do not look for where rules are seen.
    #[arg(long)]
    pub(crate) no_maps: bool,
    /// Where gates are kept that the model's own folder lacks; by default `chimera` in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Where to compute: `auto`, `cpu` or `cuda:N`; `chimera devices` says what is there.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,
}
