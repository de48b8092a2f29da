//! Work of a leaf bank over drawn numbers, step by step, for whoever measures how long it takes: training, encoding, and a plain product as
//! a mark to compare both with.

use std::hint::black_box;
use std::num::NonZeroUsize;

use burn::tensor::{Device as Tensors, Distribution, Tensor};
use chimera_data::error::{Error, Result};
use chimera_data::media::frames::FrameShape;

use crate::adam::AdamSettings;
use crate::bank::{LeafBank, LeafBankConfig};
use crate::device::Device;
use crate::encoder::{Batch, DEFAULT_FEATURES, EncoderConfig, Network};
use crate::input;
use crate::learner::{Learner, Lesson};
use crate::pool::Pooling;
use crate::vectors::Seen;

/// Work that is done step by step.
pub trait Work {
    /// Does a step, or puts it into the device's queue.
    ///
    /// # Errors
    /// What the device reports.
    fn step(&mut self) -> Result<()>;

    /// Waits until every step so far is done.
    ///
    /// # Errors
    /// What the device reports.
    fn wait(&mut self) -> Result<()>;
}

/// A leaf bank over single pictures, and how many it is given at a time.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The network.
    pub network: Network,
    /// Pixels of a side.
    pub side: usize,
    /// Pictures of a step.
    pub batch: usize,
    /// Heads.
    pub concepts: usize,
    /// The seed of weights, pictures and labels.
    pub seed: u64,
    /// Threads that make pictures ready.
    pub threads: NonZeroUsize,
}

impl Load {
    fn bank(&self, device: &Tensors) -> Result<LeafBank> {
        let &Self { network, side: size, .. } = self;
        let encoder =
            EncoderConfig::Frames { network, frames: 1, size, pooling: Pooling::Mean, features: DEFAULT_FEATURES };
        let concepts = (0..self.concepts).map(|concept| concept.to_string()).collect();
        LeafBankConfig { encoder, concepts }.init_on(self.seed, device)
    }
}

/// Pictures as the cache has them: bytes.
struct Pictures {
    samples: Vec<Vec<u8>>,
    shape: FrameShape,
    threads: NonZeroUsize,
    device: Tensors,
}

impl Pictures {
    fn new(load: &Load, device: Tensors) -> Result<Self> {
        let shape = FrameShape::new(1, load.side, load.side)?;
        let mut random = fastrand::Rng::with_seed(load.seed);
        let samples = (0..load.batch).map(|_| (0..shape.bytes()).map(|_| random.u8(..)).collect()).collect();
        Ok(Self { samples, shape, threads: load.threads, device })
    }

    fn batch(&self) -> Result<Batch> {
        let samples: Vec<&[u8]> = self.samples.iter().map(Vec::as_slice).collect();
        input::batch(&samples, self.shape, self.threads, &self.device)
    }

    fn wait(&self) -> Result<()> {
        self.device.sync().map_err(|error| Error::input(format!("the device failed: {error:?}"), None))
    }
}

/// Training, a batch a step.
pub struct Training {
    learner: Learner,
    pictures: Pictures,
    labels: Vec<Option<bool>>,
}

impl Training {
    /// Makes a network and pictures.
    ///
    /// # Errors
    /// Sizes that the network cannot have.
    pub fn new(load: &Load, device: &Device) -> Result<Self> {
        let device = device.tensors().clone().autodiff();
        let mut random = fastrand::Rng::with_seed(load.seed);
        Ok(Self {
            learner: Learner::new(load.bank(&device)?, AdamSettings::default().init(), None),
            labels: (0..load.batch * load.concepts).map(|_| Some(random.bool())).collect(),
            pictures: Pictures::new(load, device)?,
        })
    }
}

impl Work for Training {
    fn step(&mut self) -> Result<()> {
        let seen = Seen::Samples(self.pictures.batch()?);
        self.learner.step(Lesson { seen, labels: self.labels.clone(), rate: 1e-3 })?;
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        self.pictures.wait()
    }
}

/// Encoding, a batch a step.
pub struct Encoding {
    bank: LeafBank,
    pictures: Pictures,
    /// The sum of every z so far: nothing can be left undone that goes into it.
    sum: Option<Tensor<1>>,
}

impl Encoding {
    /// Makes a network and pictures.
    ///
    /// # Errors
    /// Sizes that the network cannot have.
    pub fn new(load: &Load, device: &Device) -> Result<Self> {
        let device = device.tensors();
        Ok(Self { bank: load.bank(device)?, pictures: Pictures::new(load, device.clone())?, sum: None })
    }
}

impl Work for Encoding {
    fn step(&mut self) -> Result<()> {
        let sum = self.bank.forward(self.pictures.batch()?)?.z.sum();
        self.sum = Some(match self.sum.take() {
            Some(before) => before + sum,
            None => sum,
        });
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        if let Some(sum) = self.sum.take() {
            black_box(sum.into_scalar::<f32>());
        }
        self.pictures.wait()
    }
}

/// A product of two square matrices a step.
pub struct Product([Tensor<2>; 2]);

impl Product {
    /// Draws both matrices.
    #[must_use]
    pub fn new(side: usize, device: &Device) -> Self {
        let matrix = || Tensor::<2>::random([side, side], Distribution::Default, device.tensors());
        Self([matrix(), matrix()])
    }
}

impl Work for Product {
    fn step(&mut self) -> Result<()> {
        let [one, other] = &self.0;
        black_box(one.clone().matmul(other.clone()));
        Ok(())
    }

    fn wait(&mut self) -> Result<()> {
        Ok(())
    }
}
