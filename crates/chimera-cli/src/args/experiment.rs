//! What can be typed after `experiment` and `demo`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use chimera_lab::experiment::Experiment;
use chimera_lab::world::World;
use chimera_leaf::device::DeviceChoice;
use chimera_speed::Part;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::Threads;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    chimera experiment clevrer-events --quick                 # a first look, minutes\n  \
    chimera experiment mnist-contradiction --root ~/mnist     # on the real thing\n  \
    chimera experiment paper --out paper/                     # all of the paper's; takes long\n  \
    chimera experiment speed --python .venv/bin/python        # how fast this machine is, beside PyTorch\n\n\
    Data, models and results lie in the folder of `--out`; what is there already is used again. Worlds are ours, in the formats of the \
    datasets whose names they have; `--root` takes a real archive.")]
pub(crate) struct ExperimentArguments {
    /// Which one.
    #[arg(value_parser = experiments())]
    pub(crate) name: ExperimentName,
    /// A real archive instead of a world of ours: MNIST, CLEVR, CLEVRER, Open Images or VidOR, as the experiment's name says.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Worlds that `quality` measures; all where none is named.
    #[arg(long, value_name = "WORLD", value_delimiter = ',', value_parser = worlds())]
    pub(crate) worlds: Vec<World>,
    /// Folder for data, models and results.
    #[arg(short, long, value_name = "DIR", default_value = "chimera-experiments")]
    pub(crate) out: PathBuf,
    /// Seed of worlds and leaf banks.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Seeds of gates on each leaf bank, for experiments that measure methods; 3 by default.
    #[arg(long, value_name = "N")]
    pub(crate) seeds: Option<NonZeroUsize>,
    /// Where to compute; `speed` measures it beside the processor [default: auto].
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    /// A Python that has torch and torchvision, which `speed` measures on the same machine.
    #[arg(long, value_name = "PATH")]
    pub(crate) python: Option<PathBuf>,
    /// Parts that `speed` measures, into the same files as other parts; all where none is named.
    #[arg(long, value_name = "PART", value_delimiter = ',', value_parser = parts())]
    pub(crate) parts: Vec<Part>,
    /// `speed` leaves out the processor: measure it apart, into the same folder.
    #[arg(long)]
    pub(crate) alone: bool,
    /// A first look: a quarter of our own data, and of the epochs.
    #[arg(long)]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) threads: Threads,
}

/// An experiment of the laboratory, or the measurement of speed beside them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExperimentName {
    Of(Experiment),
    Speed,
}

impl ExperimentName {
    fn all() -> impl Iterator<Item = Self> {
        Experiment::ALL.into_iter().map(Self::Of).chain([Self::Speed])
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Of(experiment) => experiment.name(),
            Self::Speed => "speed",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Of(experiment) => experiment.about(),
            Self::Speed => "how fast everything is on this machine, beside PyTorch with `--python`",
        }
    }
}

fn experiments() -> impl TypedValueParser<Value = ExperimentName> {
    let values = ExperimentName::all().map(|name| PossibleValue::new(name.as_str()).help(name.about()));
    PossibleValuesParser::new(values)
        .try_map(|word| ExperimentName::all().find(|name| name.as_str() == word).ok_or("no such experiment"))
}

fn worlds() -> impl TypedValueParser<Value = World> {
    PossibleValuesParser::new(World::ALL.map(World::name))
        .try_map(|name| World::ALL.into_iter().find(|world| world.name() == name).ok_or("no such world"))
}

fn parts() -> impl TypedValueParser<Value = Part> {
    PossibleValuesParser::new(Part::ALL.map(Part::name))
        .try_map(|name| Part::ALL.into_iter().find(|part| part.name() == name).ok_or("no such part"))
}

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera demo               # a bit over a minute on two cores\n  chimera demo --quick       # a first look\n\n\
    Needs no data, no other program and no network."
)]
pub(crate) struct DemoArguments {
    /// Folder for everything that the demo makes; it must be new or empty.
    #[arg(short, long, value_name = "DIR", default_value = "chimera-demo")]
    pub(crate) out: PathBuf,
    /// Fewer clips and epochs: half a minute, and less good.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Seed of the world and of everything that is learned.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Where to compute: `auto`, `cpu` or `cuda:N`; `chimera devices` says what is there [default: auto].
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
    #[command(flatten)]
    pub(crate) threads: Threads,
}
