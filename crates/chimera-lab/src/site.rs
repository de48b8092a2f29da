//! Where an experiment works, and who hears about it.

use std::num::NonZeroUsize;
use std::path::Path;

use burn::tensor::Device;
use chimera::error::Result;
use chimera::leaf::device::DeviceChoice;
use chimera::{eval, teach};

/// Where an experiment works.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Data, models and results lie in it, by their names.
    pub folder: &'a Path,
    /// The cache of frames, z and gates.
    pub cache: &'a Path,
    /// Threads for everything.
    pub threads: NonZeroUsize,
    /// Where tensors are computed.
    pub device: DeviceChoice,
    /// Who hears what is going on.
    pub tell: &'a (dyn Fn(Event<'_>) + Sync),
}

/// What is going on.
#[derive(Debug)]
pub enum Event<'a> {
    /// Words.
    Said(&'a str),
    /// Scenes of a world are made.
    Scenes {
        /// Scenes done.
        done: usize,
        /// Scenes of the world.
        total: usize,
    },
    /// A model is taught.
    Taught(teach::Event<'a>),
    /// Methods are measured.
    Measured(eval::Event<'a>),
}

impl Site<'_> {
    /// The device, ready to compute.
    ///
    /// # Errors
    /// A device that is not there.
    pub fn open(&self) -> Result<Device> {
        self.device.open()
    }

    /// Says something.
    pub fn say(&self, words: &str) {
        (self.tell)(Event::Said(words));
    }
}
