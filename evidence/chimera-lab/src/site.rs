//! Where an experiment works, and who hears about it.

use std::fs::{self, File};
use std::num::NonZeroUsize;
use std::path::Path;

use chimera::{eval, model, train};
use chimera_data::error::{Error, Result};
use chimera_leaf::device::Device;
use chimera_leaf::device::DeviceChoice;

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
    Taught(train::Event<'a>),
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

    /// Makes the folder and claims it for as long as the result lives. A device that is not there is found out here: scenes and
    /// pictures take minutes.
    ///
    /// # Errors
    /// A device that is not there, a folder that cannot be written or that another process works in.
    pub fn claim(&self) -> Result<Option<File>> {
        self.open()?;
        fs::create_dir_all(self.folder).map_err(|cause| Error::write(self.folder, cause))?;
        model::claim(self.folder)
    }

    /// Says something.
    pub fn say(&self, words: &str) {
        (self.tell)(Event::Said(words));
    }
}
