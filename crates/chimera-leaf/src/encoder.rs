//! From a sample to z: a backbone gives a vector a frame, pooling one a sample, a trained projection and ReLU z.

use std::path::Path;

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use chimera_data::error::{Error, Result};
use chimera_data::media::frames::FRAMES_TAKEN;
use chimera_data::media::image::ImageReader;
use chimera_data::media::video::VideoReader;
use serde::{Deserialize, Serialize};

use super::activation::Activation;
pub use super::batch::Batch;
use super::cnn::{self, Cnn};
use super::features::{Scale, Scaled};
use super::init::Initial;
use super::layer::Linear;
use super::mobilenet::{self, MobilenetV2};
use super::pool::{Pool, Pooling};
use super::resnet::{self, Resnet18};
use super::{input, weights};

/// Numbers of z unless the user says otherwise.
pub const DEFAULT_FEATURES: usize = 256;

const FEATURES: std::ops::RangeInclusive<usize> = 1..=1 << 14;
const LARGEST_SIZE: usize = 1 << 12;
/// So many weights are a gigabyte.
const LARGEST_PROJECTION: usize = 1 << 28;

/// Networks that see pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// A small network of our own that learns fast on a CPU.
    #[serde(rename = "cnn")]
    Cnn,
    /// ResNet-18 as torchvision has it.
    #[serde(rename = "resnet18")]
    Resnet18,
    /// MobileNetV2 as torchvision has it.
    #[serde(rename = "mobilenet_v2")]
    MobilenetV2,
}

impl Network {
    /// The name that configurations, messages and fingerprints use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cnn => "cnn",
            Self::Resnet18 => "resnet18",
            Self::MobilenetV2 => "mobilenet_v2",
        }
    }

    /// Whether it normalises by the statistics of the batch while it learns, which one picture alone does not have.
    #[must_use]
    pub(crate) fn normalises_by_batch(self) -> bool {
        match self {
            Self::Cnn => false,
            Self::Resnet18 | Self::MobilenetV2 => true,
        }
    }

    /// Pixels a side that it needs at least: it halves a picture so often.
    #[must_use]
    pub(crate) fn least_size(self) -> usize {
        match self {
            Self::Cnn => 16,
            Self::Resnet18 | Self::MobilenetV2 => 32,
        }
    }

    /// Numbers a frame before the projection.
    #[must_use]
    pub fn width(self) -> usize {
        match self {
            Self::Cnn => cnn::WIDTH,
            Self::Resnet18 => resnet::WIDTH,
            Self::MobilenetV2 => mobilenet::WIDTH,
        }
    }

    /// How many of them, at the end, are of detectors that keep the most they saw.
    fn detectors(self) -> usize {
        match self {
            Self::Cnn => cnn::DETECTORS,
            Self::Resnet18 | Self::MobilenetV2 => 0,
        }
    }
}

/// Everything beside the weights that decides z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "input", rename_all = "kebab-case", deny_unknown_fields)]
pub enum EncoderConfig {
    /// Pictures, or videos of several frames.
    Frames {
        /// What sees a frame.
        network: Network,
        /// Frames a sample (T).
        frames: usize,
        /// Rows and columns of a frame (S).
        size: usize,
        /// How frames become one vector.
        pooling: Pooling,
        /// Numbers of z (F).
        features: usize,
    },
    /// Features that the dataset holds.
    Given {
        /// Numbers a sample (D).
        width: usize,
        /// Numbers of z (F) after a trained projection; without it the given features are z.
        projection: Option<usize>,
    },
}

impl EncoderConfig {
    /// Numbers of z (F).
    #[must_use]
    pub fn features(&self) -> usize {
        match *self {
            Self::Frames { features, .. } => features,
            Self::Given { width, projection } => projection.unwrap_or(width),
        }
    }

    /// Frames a sample (T).
    #[must_use]
    pub fn frames(&self) -> usize {
        match *self {
            Self::Frames { frames, .. } => frames,
            Self::Given { .. } => 1,
        }
    }

    /// Whether z comes out of a ReLU behind a trained projection. Otherwise it is what was given.
    #[must_use]
    pub fn is_projected(&self) -> bool {
        !matches!(self, Self::Given { projection: None, .. })
    }

    /// Checks that a network of this shape can be made.
    ///
    /// # Errors
    /// [`Error::Input`] that names the number, what was expected and what was got.
    pub fn check(&self) -> Result<()> {
        let within = |what: &str, range: std::ops::RangeInclusive<usize>, number: usize| {
            let (low, high) = (range.start(), range.end());
            let message = || format!("expected {what} from {low} to {high}, got `{number}`");
            if range.contains(&number) { Ok(()) } else { Err(Error::input(message(), None)) }
        };
        within("a number of features", FEATURES, self.features())?;
        match *self {
            Self::Frames { network, frames, size, .. } => {
                within("a number of frames", FRAMES_TAKEN, frames)?;
                within("a size of pictures", network.least_size()..=LARGEST_SIZE, size)
            }
            Self::Given { width, .. } => {
                within("a number of given features", 1..=1 << 20, width)?;
                let weights = width * self.features();
                if self.is_projected() && weights > LARGEST_PROJECTION {
                    let message =
                        format!("expected a projection of at most {LARGEST_PROJECTION} weights, got {weights}");
                    return Err(Error::input(message, Some("make z shorter".to_owned())));
                }
                Ok(())
            }
        }
    }

    /// The same in words, one fact a line, as it goes into fingerprints.
    #[must_use]
    pub fn description(&self) -> String {
        let projected = |width| format!("projection linear {width} -> {}, relu\n", self.features());
        let backbone = self.backbone_description();
        match *self {
            Self::Frames { network, pooling, .. } => {
                let most = match (pooling, network.detectors()) {
                    (Pooling::Mean, _) | (_, 0) => String::new(),
                    (Pooling::Order, detectors) => format!(", the most of {detectors}"),
                };
                format!("{backbone}pooling {}{most}\n{}", pooling.as_str(), projected(network.width()))
            }
            Self::Given { width, projection: Some(_) } => {
                format!("{backbone}normalisation mean and deviation of train rows\n{}", projected(width))
            }
            Self::Given { width, projection: None } => format!("{backbone}projection none, {width} numbers\n"),
        }
    }

    /// What the vectors depend on that go into pooling, one fact a line.
    pub(super) fn backbone_description(&self) -> String {
        match *self {
            Self::Frames { network, frames, size, .. } => format!(
                "encoder {}\ndecoding {}; {}\nnormalisation {}\nsize {size}\nframes {frames}\n",
                network.as_str(),
                ImageReader::recipe(),
                VideoReader::recipe(),
                input::description(),
            ),
            Self::Given { .. } => "encoder features\n".to_owned(),
        }
    }
}

/// What gives a vector a frame.
#[derive(Module, Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one in a program")]
pub(super) enum Backbone {
    Cnn(Cnn),
    Resnet18(Resnet18),
    MobilenetV2(MobilenetV2),
    Given(Scaled),
}

impl Backbone {
    fn new(config: &EncoderConfig, seed: Option<u64>, device: &Device) -> Self {
        let initial = &mut Initial::new(seed, "backbone", device);
        match *config {
            EncoderConfig::Frames { network: Network::Cnn, .. } => Self::Cnn(Cnn::new(initial)),
            EncoderConfig::Frames { network: Network::Resnet18, .. } => Self::Resnet18(Resnet18::new(initial)),
            EncoderConfig::Frames { network: Network::MobilenetV2, .. } => Self::MobilenetV2(MobilenetV2::new(initial)),
            EncoderConfig::Given { width, .. } => Self::Given(Scaled::new(&Scale::unit(width), device)),
        }
    }

    /// # Shapes
    /// - `batch`: `[N * T, 3, S, S]` or `[N, D]`
    /// - output: `[N * T, D]`
    pub(super) fn forward(&self, batch: Batch) -> Result<Tensor<2>> {
        match (self, batch) {
            (Self::Cnn(network), Batch::Frames(frames)) => Ok(network.forward(frames)),
            (Self::Resnet18(network), Batch::Frames(frames)) => Ok(network.forward(frames)),
            (Self::MobilenetV2(network), Batch::Frames(frames)) => Ok(network.forward(frames)),
            (Self::Given(scaled), Batch::Given(features)) => Ok(scaled.forward(features)),
            (Self::Given(_), Batch::Frames(_)) => {
                Err(Error::input("expected given features, got frames".to_owned(), None))
            }
            #[cfg(feature = "cuda")]
            (_, Batch::Bytes(_)) => Err(Error::input("expected frames on the device, got bytes".to_owned(), None)),
            (_, Batch::Given(_)) => Err(Error::input("expected frames, got given features".to_owned(), None)),
        }
    }
}

/// Backbone, pooling and projection.
#[derive(Module, Debug)]
pub(super) struct Encoder {
    pub(super) backbone: Backbone,
    pool: Pool,
    projection: Option<Linear>,
}

impl Encoder {
    /// An encoder with initial weights, or zeros where there is no seed.
    pub(super) fn new(config: &EncoderConfig, seed: Option<u64>, device: &Device) -> Self {
        let (width, detectors, pooling) = match *config {
            EncoderConfig::Frames { network, pooling, .. } => (network.width(), network.detectors(), pooling),
            EncoderConfig::Given { width, .. } => (width, 0, Pooling::Mean),
        };
        let projection = || Linear::new(&mut Initial::new(seed, "projection", device), width, config.features());
        Self {
            backbone: Backbone::new(config, seed, device),
            pool: Pool::new(pooling, &mut Initial::new(seed, "pool", device), width, detectors),
            projection: config.is_projected().then(projection),
        }
    }

    /// The encoder with a backbone from a file of weights, whose content is `bytes`.
    pub(super) fn with_weights(mut self, file: &Path, bytes: &[u8]) -> Result<Self> {
        self.backbone = match self.backbone {
            Backbone::Resnet18(network) => Backbone::Resnet18(weights::filled(network, "resnet18", file, bytes)?),
            Backbone::MobilenetV2(network) => {
                Backbone::MobilenetV2(weights::filled(network, "mobilenet_v2", file, bytes)?)
            }
            Backbone::Cnn(_) | Backbone::Given(_) => {
                let message = format!(
                    "expected resnet18 or mobilenet_v2 for the weights in `{}`, got another encoder",
                    file.display()
                );
                return Err(Error::input(message, Some("leave out the weights".to_owned())));
            }
        };
        Ok(self)
    }

    /// The encoder with this scale of given features.
    pub(super) fn with_scale(mut self, scale: &Scale, device: &Device) -> Self {
        if let (Backbone::Given(_), Some(_)) = (&self.backbone, &self.projection) {
            self.backbone = Backbone::Given(Scaled::new(scale, device));
        }
        self
    }

    /// What comes after the backbone.
    ///
    /// # Shapes
    /// - `frames`: `[N * T, D]`
    /// - output: `[N, F]`
    pub(super) fn pooled(&self, frames: Tensor<2>, count: usize) -> Tensor<2> {
        let pooled = self.pool.forward(frames, count);
        match &self.projection {
            Some(projection) => projection.activated(pooled, Activation::Relu),
            None => pooled,
        }
    }
}
