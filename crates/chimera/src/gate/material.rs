//! What gates are trained on, where they go, and what is said while they are trained.

use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::FitRows;
use chimera_data::error::Error;
use chimera_gate::train::Negatives;
use chimera_leaf::bank::LeafBank;
use chimera_leaf::device::Device;
use chimera_leaf::device::gpu_number;
use chimera_leaf::encode::EncodedRows;

use super::config::{Arithmetic, GateConfig};

/// What gates are taught on.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// Labels, groups and ids.
    pub dataset: &'a Dataset,
    /// The train rows that are learned from.
    pub rows: &'a FitRows,
    /// Encoder and heads.
    pub bank: &'a LeafBank,
    /// z of every row.
    pub encoded: &'a EncodedRows,
}

/// Where gates are looked for and go to.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The cache, for any number of datasets and models.
    pub cache: &'a Path,
    /// The folder of a model's gates; `None` where they go into the cache alone.
    pub gates: Option<&'a Path>,
    /// Gates taught at a time.
    pub threads: NonZeroUsize,
    /// Whether gates are taught even if they are there.
    pub retrain: bool,
    /// Where gates are taught: the processor, or a GPU that was [opened](chimera_leaf::device::DeviceChoice::open).
    pub device: &'a Device,
}

impl Place<'_> {
    /// Choices with what its device computes with.
    pub(crate) fn of_device(&self, config: &GateConfig) -> GateConfig {
        let arithmetic = match gpu_number(self.device) {
            Some(_) => Arithmetic::CudaTf32,
            None => Arithmetic::Cpu,
        };
        GateConfig { arithmetic, ..config.clone() }
    }
}

/// What is going on, for whoever shows it.
#[derive(Debug)]
pub enum GateEvent<'a> {
    /// A level is done.
    Level {
        /// What its gates learn from.
        negatives: Negatives,
        /// Counted from 1.
        level: usize,
        /// How many there are.
        levels: usize,
        /// Gates of it.
        gates: usize,
        /// Those that were taught now.
        taught: usize,
        /// How long it took.
        seconds: f64,
    },
    /// Heads of concepts are done.
    Heads {
        /// How many there are.
        heads: usize,
        /// Those that were taught now.
        taught: usize,
        /// How long it took.
        seconds: f64,
    },
    /// So many steps of the level are done.
    Steps {
        /// Steps done.
        done: usize,
        /// Steps of all its gates that are taught.
        total: usize,
    },
    /// A file was damaged. Its gate is taught again.
    SetAside {
        /// Where it lies now.
        path: &'a Path,
        /// What is wrong with it.
        reason: &'a str,
    },
    /// A gate of the model was damaged. It is written anew.
    Damaged {
        /// Its file.
        path: &'a Path,
        /// What is wrong with it.
        reason: &'a str,
    },
    /// The cache cannot be written. Said once; the model gets its gates all the same.
    NotKept(&'a Error),
}
