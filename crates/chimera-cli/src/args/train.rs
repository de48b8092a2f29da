//! What can be typed after `chimera train`. The same names are the keys of a configuration file.

use std::path::PathBuf;

use chimera::gate::config::{Choice, Depth, LeafFeatures, Negatives};
use chimera_leaf::config::{EncoderChoice, Schedule, Weights};
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::pool::Pooling;
use clap::Args;
use clap::builder::{PathBufValueParser, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Threads;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  chimera train ds/ --rules my.rules --out model/\n  chimera train ds/ --out model/ --encoder resnet18 --weights \
    resnet18-f37072fd.pth --freeze\n  chimera train ds/ --out model/ --config train.toml --epochs 10\n  \
    chimera train ds/ --out model/ --preset paper --weights resnet18-f37072fd.pth\n\n\
    A configuration file has the long options as keys (`epochs = 10`); what is typed beats the file, the file beats the \
    preset. A run that was stopped goes on when the same command is given again."
)]
pub(crate) struct TrainArguments {
    /// Dataset folder, as `chimera import` makes them.
    #[arg(value_name = "DATASET")]
    pub(crate) dataset: PathBuf,
    /// Rules to teach gates for; without them only the dataset's concepts are learned.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Model folder to make.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Configuration file (TOML).
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) choices: TrainChoices,
    /// Where prepared frames, encoded samples and gates are kept; by default `chimera` in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Fail at the first picture or video that cannot be decoded, instead of leaving it out.
    #[arg(long)]
    pub(crate) strict_media: bool,
    /// Teach every gate, also those that the cache has.
    #[arg(long, requires = "rules")]
    pub(crate) retrain: bool,
    /// Begin anew: what an earlier run left in the model folder is removed, once everything else has been checked.
    #[arg(long)]
    pub(crate) restart: bool,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What a command line and a configuration file can both say.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct TrainChoices {
    /// Choices to start from; `paper` is the paper's experiments: resnet18, mean pooling, z as it is for every leaf, `node`
    /// chimeras by `shift`.
    #[arg(long, value_parser = words::<Preset>(&["paper"]))]
    pub(crate) preset: Option<Preset>,
    /// What gives z [default: the dataset's own features where it is made of them, else `cnn`].
    #[arg(long, value_parser = words::<EncoderChoice>(&["cnn", "resnet18", "mobilenet_v2", "features"]))]
    pub(crate) encoder: Option<EncoderChoice>,
    /// Weights that resnet18 or mobilenet_v2 starts from, in torchvision's layout (.pth or .safetensors); `none` trains it from
    /// scratch.
    #[arg(long, value_name = "FILE|none", value_parser = PathBufValueParser::new().map(Weights::from))]
    pub(crate) weights: Option<Weights>,
    /// Keep the network's weights as they are; pooling, projection and heads still learn.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) freeze: Option<bool>,
    /// Numbers of z [default: 256].
    #[arg(long, value_name = "N")]
    pub(crate) features: Option<usize>,
    /// Whether given features go through a trained projection; without it they are z [default: true].
    #[arg(long, value_name = "BOOL")]
    pub(crate) projection: Option<bool>,
    /// How the frames of a video become one vector; `order` keeps what happened after what [default: mean].
    #[arg(long, value_parser = words::<Pooling>(&["mean", "order"]))]
    pub(crate) pooling: Option<Pooling>,
    /// Frames of a video, unless its dataset fixes them [default: 8].
    #[arg(long, value_name = "N")]
    pub(crate) frames: Option<usize>,
    /// Pixels a side [default: at most 64 for cnn, 224 for others].
    #[arg(long, value_name = "N")]
    pub(crate) size: Option<usize>,
    /// Passes over the train rows [default: 3].
    #[arg(long, value_name = "N")]
    pub(crate) epochs: Option<usize>,
    /// Samples a step [default: 64].
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<usize>,
    /// Learning rate of Adam [default: 0.001].
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<f64>,
    /// Weight decay [default: 0].
    #[arg(long, value_name = "SHARE")]
    pub(crate) weight_decay: Option<f64>,
    /// How the learning rate goes on; `cosine` falls to zero along half a cosine [default: constant].
    #[arg(long, value_parser = words::<Schedule>(&["constant", "cosine"]))]
    pub(crate) schedule: Option<Schedule>,
    /// Epochs without a better loss on held-out rows after which training stops [default: 2].
    #[arg(long, value_name = "N")]
    pub(crate) patience: Option<usize>,
    /// Weight positives by how many negatives there are for each, at most by CAP, 10 if none is given [default: not].
    #[arg(long, value_name = "CAP", num_args = 0..=1, require_equals = true, default_missing_value = "10")]
    pub(crate) pos_weight: Option<f32>,
    /// Change pictures a little at random: colours, position, an erased rectangle.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) augment: Option<bool>,
    /// Share of the train rows to learn from [default: 1].
    #[arg(long, value_name = "SHARE")]
    pub(crate) train_frac: Option<f64>,
    /// Gates: what they learn from; chimeras, samples as they are, as many of both, samples with other concepts grafted on, or as
    /// many of these as chimeras [default: chimera].
    #[arg(long, value_parser = words::<Negatives>(&["chimera", "same", "both", "graft", "chimera-graft"]))]
    pub(crate) negatives: Option<Negatives>,
    /// Gates: teach gates and heads on grafts, too, for the methods `graft` and `neural`, which is the default of `score`
    /// [default: true; `--preset paper`: false].
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) grafts: Option<bool>,
    /// Gates: take samples as they are only where the rule holds; for `--negatives same` and `both`.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) strict: Option<bool>,
    /// Gates: where one sample of a chimera ends and another begins; every operand of a node, or every leaf [default: deep].
    #[arg(long, value_parser = words::<Depth>(&["node", "deep"]))]
    pub(crate) chimeras: Option<Depth>,
    /// Gates: how samples are found for chimeras; `stratified` shows every configuration, rare ones too [default:
    /// stratified].
    #[arg(long, value_parser = words::<Choice>(&["shift", "stratified"]))]
    pub(crate) sampler: Option<Choice>,
    /// Gates: what a leaf gives its gate; z centred and scaled, z as it is, or z weighted by the concept's head [default:
    /// standard].
    #[arg(long, value_parser = words::<LeafFeatures>(&["standard", "shared", "concept"]))]
    pub(crate) leaf_features: Option<LeafFeatures>,
    /// Gates: leave out train rows that break a rule.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub(crate) nominal_only: Option<bool>,
    /// Gates: numbers between their layers [default: 256].
    #[arg(long, value_name = "N")]
    pub(crate) hidden: Option<usize>,
    /// Gates: passes over the train rows for each level [default: 2].
    #[arg(long, value_name = "N")]
    pub(crate) gate_epochs: Option<usize>,
    /// Gates: chimeras a step [default: 64].
    #[arg(long, value_name = "N")]
    pub(crate) gate_batch: Option<usize>,
    /// Gates: learning rate of Adam [default: 0.001].
    #[arg(long, value_name = "RATE")]
    pub(crate) gate_rate: Option<f64>,
    /// Gates: weight decay [default: 0].
    #[arg(long, value_name = "SHARE")]
    pub(crate) gate_weight_decay: Option<f64>,
    /// Seed of everything that is drawn [default: 123].
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Where to compute: `auto`, `cpu` or `cuda:N`; `chimera devices` says what is there [default: auto].
    #[arg(long, value_name = "DEVICE")]
    pub(crate) device: Option<DeviceChoice>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  chimera add model/ new.rules --data ds/\n\n\
    The data must be those that the model was trained on. Gates that the model or the cache has are not taught again. A rule \
    with the name of one of the model's takes its place.")]
pub(crate) struct AddArguments {
    /// Model folder.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Rule file with the rules to add.
    #[arg(value_name = "FILE")]
    pub(crate) rules: PathBuf,
    /// The dataset folder that the model was trained on.
    #[arg(long, value_name = "DATASET")]
    pub(crate) data: PathBuf,
    /// Where prepared frames, encoded samples and gates are kept; by default `chimera` in the user's cache folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Where to compute: `auto`, `cpu` or `cuda:N`; `chimera devices` says what is there.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Choices that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Preset {
    /// The paper's experiments.
    Paper,
}

/// A parser of the words that a configuration file has for the same choice.
fn words<T: DeserializeOwned + Clone + Send + Sync + 'static>(
    words: &'static [&'static str],
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(words).try_map(|word| serde_json::from_value::<T>(word.into()))
}
