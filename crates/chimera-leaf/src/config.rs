//! How a leaf bank is made and trained: every choice with its default and its range. What depends on the dataset (the
//! encoder, the size of pictures) is settled here too.

use std::path::{Path, PathBuf};

use chimera_data::dataset::Dataset;
use chimera_data::dataset::assign::DEFAULT_SEED;
use chimera_data::dataset::manifest::Kind;
use chimera_data::dataset::rows::FitRows;
use chimera_data::error::{Error, Result};
use chimera_data::seed::stream;
use serde::{Deserialize, Serialize};

use super::encoder::{DEFAULT_FEATURES, EncoderConfig, Network};
use super::pool::Pooling;

/// Pixels a side that pretrained networks were made for.
const PRETRAINED_SIZE: usize = 224;

/// The default network looks at no more than so many pixels a side; smaller pictures stay as they are.
const CNN_SIZE: usize = 64;

/// What gives z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EncoderChoice {
    /// The small network that learns fast on a CPU.
    #[serde(rename = "cnn")]
    Cnn,
    /// ResNet-18 as torchvision has it.
    #[serde(rename = "resnet18")]
    Resnet18,
    /// MobileNetV2 as torchvision has it.
    #[serde(rename = "mobilenet_v2")]
    MobilenetV2,
    /// The features that the dataset holds.
    #[serde(rename = "features")]
    Features,
}

impl EncoderChoice {
    /// The choice that led to an encoder.
    #[must_use]
    pub fn of(encoder: &EncoderConfig) -> Self {
        match encoder {
            EncoderConfig::Given { .. } => Self::Features,
            EncoderConfig::Frames { network: Network::Cnn, .. } => Self::Cnn,
            EncoderConfig::Frames { network: Network::Resnet18, .. } => Self::Resnet18,
            EncoderConfig::Frames { network: Network::MobilenetV2, .. } => Self::MobilenetV2,
        }
    }
}

/// How the learning rate goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// It stays.
    #[default]
    Constant,
    /// It falls to zero along half a cosine.
    Cosine,
}

impl Schedule {
    /// The share of the rate at a step of so many.
    #[must_use]
    pub fn share(self, step: usize, steps: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => 0.5 * (1.0 + (std::f64::consts::PI * step as f64 / steps.max(1) as f64).cos()),
        }
    }
}

/// Weights that a large network starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PathBuf", into = "PathBuf")]
pub enum Weights {
    /// None: the network is trained from scratch. Typed as `none`; a file of that name is `./none`.
    Untrained,
    /// Those of a file, `.pth` or `.safetensors` in torchvision's layout.
    File(PathBuf),
}

impl Weights {
    /// The file, if there is one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Untrained => None,
            Self::File(path) => Some(path),
        }
    }
}

impl From<PathBuf> for Weights {
    fn from(path: PathBuf) -> Self {
        if path.as_os_str() == "none" { Self::Untrained } else { Self::File(path) }
    }
}

impl From<Weights> for PathBuf {
    fn from(weights: Weights) -> Self {
        match weights {
            Weights::Untrained => "none".into(),
            Weights::File(path) if path.as_os_str() == "none" => "./none".into(),
            Weights::File(path) => path,
        }
    }
}

/// Every choice about the leaf bank.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct LeafConfig {
    /// What gives z; by default the dataset's features where it is made of them, else the small network.
    pub encoder: Option<EncoderChoice>,
    /// Weights that resnet18 or mobilenet_v2 starts from; these networks are not trained where nothing is said.
    pub weights: Option<Weights>,
    /// Whether the network keeps these weights; pooling, projection and heads still learn.
    pub freeze: bool,
    /// Numbers of z (F).
    pub features: usize,
    /// Whether given features go through a trained projection. Without it they are z.
    pub projection: bool,
    /// How frames become one vector.
    pub pooling: Pooling,
    /// Frames of a video (T), unless its dataset fixes them.
    pub frames: usize,
    /// Pixels a side; by default 224 for pretrained networks, and at most 64 for the small one.
    pub size: Option<usize>,
    /// Passes over the train rows.
    pub epochs: usize,
    /// Samples a step.
    pub batch: usize,
    /// Adam's learning rate.
    pub rate: f64,
    /// The share of a weight that is added to its gradient.
    pub weight_decay: f64,
    /// How the rate goes on.
    pub schedule: Schedule,
    /// Epochs without a better loss on held-out rows after which training stops; the best epoch's weights are kept.
    pub patience: usize,
    /// The most that a concept's positives are weighted by where they are rare; without it all labels count alike.
    pub pos_weight: Option<f32>,
    /// Whether pictures are changed a little at random.
    pub augment: bool,
    /// The share of train rows that is learned from.
    pub train_frac: f64,
    /// The seed of everything that is drawn.
    pub seed: u64,
}

impl Default for LeafConfig {
    fn default() -> Self {
        Self {
            encoder: None,
            weights: None,
            freeze: false,
            features: DEFAULT_FEATURES,
            projection: true,
            pooling: Pooling::Mean,
            frames: 8,
            size: None,
            epochs: 3,
            batch: 64,
            rate: 1e-3,
            weight_decay: 0.0,
            schedule: Schedule::Constant,
            patience: 2,
            pos_weight: None,
            augment: false,
            train_frac: 1.0,
            seed: DEFAULT_SEED,
        }
    }
}

impl LeafConfig {
    /// The choices of the paper's experiments.
    #[must_use]
    pub fn paper() -> Self {
        Self { encoder: Some(EncoderChoice::Resnet18), pooling: Pooling::Mean, ..Self::default() }
    }

    /// The file of the weights that the network starts from.
    #[must_use]
    pub fn weights_file(&self) -> Option<&Path> {
        self.weights.as_ref().and_then(Weights::file)
    }

    /// The share of some rows that is learned from.
    #[must_use]
    pub fn share(&self, rows: FitRows) -> FitRows {
        if self.train_frac >= 1.0 {
            return rows;
        }
        let mut drawn = rows.numbers().to_vec();
        stream(self.seed, "share of train rows", 0).shuffle(&mut drawn);
        drawn.truncate(((rows.len() as f64 * self.train_frac).round() as usize).max(1));
        drawn.sort_unstable();
        rows.filtered(|row| drawn.binary_search(&row).is_ok())
    }

    /// Checks every number.
    ///
    /// # Errors
    /// [`Error::Input`] with the option's name, its range and what was got.
    pub fn check(&self) -> Result<()> {
        let refuse = |name: &str, range: &str, got: String| {
            Err(Error::input(format!("expected `{name}` {range}, got `{got}`"), None))
        };
        let counts =
            [("epochs", self.epochs, 100_000), ("batch", self.batch, 1 << 16), ("patience", self.patience, 100_000)];
        for (name, number, most) in counts {
            if number == 0 || number > most {
                return refuse(name, &format!("from 1 to {most}"), number.to_string());
            }
        }
        if !(self.rate > 0.0 && self.rate <= 1.0) {
            return refuse("rate", "above 0, at most 1", self.rate.to_string());
        }
        if !(0.0..=1.0).contains(&self.weight_decay) {
            return refuse("weight-decay", "from 0 to 1", self.weight_decay.to_string());
        }
        if !(self.train_frac > 0.0 && self.train_frac <= 1.0) {
            return refuse("train-frac", "above 0, at most 1", self.train_frac.to_string());
        }
        if let Some(cap) = self.pos_weight.filter(|cap| !(*cap >= 1.0 && cap.is_finite())) {
            return refuse("pos-weight", "of at least 1", cap.to_string());
        }
        Ok(())
    }

    /// The encoder for a dataset.
    ///
    /// # Errors
    /// [`Error::Input`] where the dataset has nothing that the encoder could look at, or numbers are out of range.
    pub fn encoder_for(&self, dataset: &Dataset) -> Result<EncoderConfig> {
        self.check()?;
        let manifest = dataset.manifest();
        let given = dataset.feature_width()?;
        let choice = self.encoder.unwrap_or(match manifest.kind {
            Kind::Features => EncoderChoice::Features,
            _ => EncoderChoice::Cnn,
        });
        let network = match choice {
            EncoderChoice::Features => return self.given(dataset, given),
            EncoderChoice::Cnn => Network::Cnn,
            EncoderChoice::Resnet18 => Network::Resnet18,
            EncoderChoice::MobilenetV2 => Network::MobilenetV2,
        };
        if manifest.media_root.is_none() {
            let (name, kind) = (dataset.folder().display(), manifest.kind.as_str());
            let message = format!("expected pictures, videos or features to learn from in `{name}`, got kind `{kind}`");
            let hint = given.map_or(
                "import it again with `--media-root`, or as features with `chimera import features`",
                |_| "leave out `--encoder`: the dataset's own features are used then",
            );
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        if self.freeze && self.weights_file().is_none() {
            let hint = "a frozen network without pretrained weights sees nothing; give `--weights` too";
            let message = "expected `--weights` with `--freeze`, got none".to_owned();
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        if network != Network::Cnn && self.weights.is_none() {
            let message = format!("expected `--weights` for the encoder {}, got none", network.as_str());
            let hint = "name a file of pretrained weights in torchvision's layout; `--weights none` trains it from scratch, \
                        which takes many pictures";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        if network == Network::Cnn && self.weights.is_some() {
            let hint = "weights are for `--encoder resnet18` or `mobilenet_v2`";
            return Err(Error::input(
                "expected no `--weights` for the encoder `cnn`, got some".to_owned(),
                Some(hint.to_owned()),
            ));
        }
        let frames = match manifest.kind {
            Kind::Video => manifest.frames.map_or(self.frames, |frames| frames as usize),
            _ => 1,
        };
        if manifest.kind == Kind::Video && frames == 1 {
            let message = "expected at least 2 frames of a video, got `1`: the model would be one of pictures";
            let hint = "give more `--frames`; where the dataset fixes how many, import it again with more";
            return Err(Error::input(message.to_owned(), Some(hint.to_owned())));
        }
        let size = self.size.unwrap_or_else(|| match (network, manifest.size) {
            (Network::Cnn, Some([width, height])) => (width.max(height) as usize).clamp(network.least_size(), CNN_SIZE),
            (Network::Cnn, None) => CNN_SIZE,
            _ => PRETRAINED_SIZE,
        });
        let config = EncoderConfig::Frames { network, frames, size, pooling: self.pooling, features: self.features };
        config.check()?;
        if network.normalises_by_batch() && !self.freeze && self.batch * frames < 2 {
            let name = network.as_str();
            let message = format!("expected `batch` of at least 2 for {name}, which normalises by batches, got `1`");
            return Err(Error::input(message, Some("with `--freeze` any batch will do".to_owned())));
        }
        Ok(config)
    }

    fn given(&self, dataset: &Dataset, width: Option<usize>) -> Result<EncoderConfig> {
        let Some(width) = width else {
            let message = format!("expected features in `{}`, got none", dataset.folder().display());
            let hint = "bring them in with `chimera import features`, or choose another `--encoder`";
            return Err(Error::input(message, Some(hint.to_owned())));
        };
        if self.weights.is_some() || self.freeze || self.augment {
            let message = "given features have no network: `--weights`, `--freeze` and `--augment` do not go with them";
            return Err(Error::input(message.to_owned(), None));
        }
        let config = EncoderConfig::Given { width, projection: self.projection.then_some(self.features) };
        config.check()?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_named() {
        let refused = |change: &dyn Fn(&mut LeafConfig)| {
            let mut config = LeafConfig::default();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert_eq!(refused(&|config| config.epochs = 0), "expected `epochs` from 1 to 100000, got `0`");
        assert_eq!(refused(&|config| config.rate = f64::NAN), "expected `rate` above 0, at most 1, got `NaN`");
        assert_eq!(refused(&|config| config.train_frac = 1.5), "expected `train-frac` above 0, at most 1, got `1.5`");
        assert!(refused(&|config| config.pos_weight = Some(0.5)).contains("`pos-weight` of at least 1"));
        assert!(refused(&|config| config.weight_decay = -1.0).contains("`weight-decay` from 0 to 1"));
        LeafConfig::default().check().unwrap();
        LeafConfig::paper().check().unwrap();
    }

    #[test]
    fn cosine_falls_from_one_to_zero() {
        let shares = [0, 5, 10].map(|step| Schedule::Cosine.share(step, 10));
        assert!(
            shares.iter().zip([1.0, 0.5, 0.0]).all(|(found, expected)| (found - expected).abs() < 1e-12),
            "{shares:?}"
        );
        assert_eq!(Schedule::Constant.share(7, 10), 1.0);
    }
}
