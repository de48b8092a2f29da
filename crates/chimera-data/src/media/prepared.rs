//! Frames on disk, decoded once: a cache of RGB bytes, frames x height x width x 3 a sample, memory-mapped, so that
//! training reads any sample in any order whatever the size of the dataset.
//!
//! A sample is known by the content of its medium, never by its path or date. Samples lie in chunk files;
//! those of one recipe and shape share a folder.

mod build;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::build::{digest, is_fatal};
use super::frames::FrameShape;
pub use crate::chunks::Digest;
use crate::chunks::{Chunk, Place};
use crate::error::{Error, Result};

/// How to prepare media.
#[derive(Clone, Copy, Debug)]
pub struct Preparation<'a> {
    /// Where everything prepared lies, for any number of recipes and datasets. It is created where it is missing.
    pub folder: &'a Path,
    /// What is taken of each medium.
    pub shape: FrameShape,
    /// Everything beside the medium's bytes and the shape that decides the result: the decoder, its version and
    /// options.
    pub recipe: &'a str,
    /// Media that are decoded at the same time.
    pub threads: NonZeroUsize,
    /// Whether the first medium that cannot be decoded ends the work. Otherwise it is listed and skipped.
    pub strict: bool,
    /// About so many bytes go into one chunk: what a kill can lose. [`CHUNK_BYTES`] is a good choice.
    pub chunk_bytes: usize,
}

/// A good size of a chunk: some fifty videos of eight frames.
pub const CHUNK_BYTES: usize = 64 << 20;

/// What is being done, for whoever shows it. Calls come from several threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Media are read to know them by content.
    Reading {
        /// Media read.
        done: usize,
        /// All media.
        total: usize,
    },
    /// Another process prepares in the same folder; what it makes will be used.
    Waiting,
    /// Media are decoded.
    Preparing {
        /// Media done, undecodable ones included.
        done: usize,
        /// Media that were not prepared before.
        total: usize,
    },
}

/// A medium that could not be decoded.
#[derive(Clone, Debug)]
pub struct Undecodable {
    /// The number of its sample.
    pub sample: usize,
    /// Its file.
    pub path: PathBuf,
    /// Why.
    pub reason: Arc<Error>,
}

/// The frames of all samples, in the order in which their media were given.
#[derive(Debug)]
pub struct Prepared {
    shape: FrameShape,
    chunks: Vec<Chunk>,
    places: Vec<Option<Place>>,
    digests: Vec<Option<Digest>>,
    undecodable: Vec<Undecodable>,
    set_aside: Vec<PathBuf>,
    decoded: usize,
}

/// Some samples and their frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch<'a> {
    /// The numbers of the samples.
    pub samples: Vec<usize>,
    /// For each, its bytes on disk: frames x height x width x 3.
    pub frames: Vec<&'a [u8]>,
}

impl Preparation<'_> {
    /// Prepares what is not prepared yet and opens everything. `decode` fills a buffer of the shape's bytes from a
    /// file; a medium it cannot decode is one for which it gives an error other than [`Error::Program`] and
    /// [`Error::Write`].
    ///
    /// A killed run loses only the chunks it was writing. Two processes may prepare in one folder: the second waits for
    /// the first and uses what it made. Damaged chunks are renamed to `.damaged` and their samples prepared anew.
    ///
    /// # Errors
    /// Where the folder cannot be used or a program is missing, and with `strict` the error of the first bad medium.
    pub fn run(
        &self,
        media: &[PathBuf],
        decode: &(dyn Fn(&Path, &mut [u8]) -> Result<()> + Sync),
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Prepared> {
        build::run(self, media, decode, progress)
    }
}

impl Prepared {
    /// The number of samples, undecodable ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The shape of every sample.
    #[must_use]
    pub fn shape(&self) -> FrameShape {
        self.shape
    }

    /// Media that could not be decoded, in the order of their samples.
    #[must_use]
    pub fn undecodable(&self) -> &[Undecodable] {
        &self.undecodable
    }

    /// Chunks that were found damaged, where they lie now.
    #[must_use]
    pub fn set_aside(&self) -> &[PathBuf] {
        &self.set_aside
    }

    /// Media that this run decoded; the rest was on disk.
    #[must_use]
    pub fn decoded(&self) -> usize {
        self.decoded
    }

    /// The frames of one sample, `None` where it is undecodable or there is no such sample.
    #[must_use]
    pub fn sample(&self, number: usize) -> Option<&[u8]> {
        let place = (*self.places.get(number)?)?;
        self.chunks.get(place.chunk)?.row(place.slot)
    }

    /// A hash of one sample's medium, `None` where it cannot be read or there is no such sample.
    #[must_use]
    pub fn digest(&self, number: usize) -> Option<[u8; 32]> {
        *self.digests.get(number)?
    }

    /// The frames of these samples in this order, so many at a time. They are slices of the mapped files: the system
    /// brings pages in as they are read and drops them when memory is short. Undecodable samples are left out.
    ///
    /// # Errors
    /// [`Error::Input`] for a number that no sample has.
    pub fn batches<'a>(&'a self, samples: &'a [usize], size: NonZeroUsize) -> Result<Batches<'a>> {
        if let Some(number) = samples.iter().find(|number| **number >= self.len()) {
            return Err(Error::input(
                format!("there is no sample {number} among the {} prepared ones", self.len()),
                None,
            ));
        }
        Ok(Batches { prepared: self, samples: samples.iter(), size })
    }
}

/// Iterator of [`Prepared::batches`].
#[derive(Clone, Debug)]
pub struct Batches<'a> {
    prepared: &'a Prepared,
    samples: std::slice::Iter<'a, usize>,
    size: NonZeroUsize,
}

impl<'a> Iterator for Batches<'a> {
    type Item = Batch<'a>;

    fn next(&mut self) -> Option<Batch<'a>> {
        let prepared = self.prepared;
        let present = self.samples.by_ref().filter_map(|number| Some((*number, prepared.sample(*number)?)));
        let (samples, frames): (Vec<_>, Vec<_>) = present.take(self.size.get()).unzip();
        (!samples.is_empty()).then_some(Batch { samples, frames })
    }
}
