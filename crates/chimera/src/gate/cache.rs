//! Gates on disk, by the hashes of their keys, for any number of models and processes.
//!
//! A file is written under another name and renamed: it is whole or not there. Two processes that train the same gate
//! write the same bytes. What is found damaged, as a machine that goes down can leave it, is moved aside, never deleted, and
//! trained again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use chimera_data::error::{Error, Result};
use chimera_data::file::{mark_used, write_to_cache};
use chimera_gate::gate::Shape;

use super::key::Key;
use super::stored::{StoredGate, file_name};

/// The folder of all gates in a cache folder.
pub(crate) const FOLDER: &str = "gates";

/// Where damaged files go, inside the cache.
pub(crate) const DAMAGED: &str = "damaged";

/// The folder of all gates.
#[derive(Clone, Debug)]
pub(crate) struct GateCache {
    folder: PathBuf,
}

/// What the cache has for a key.
#[derive(Debug)]
pub enum Found {
    /// The gate.
    Gate(Box<StoredGate>),
    /// Nothing.
    Nothing,
    /// A file that cannot be used.
    Damaged {
        /// Where it lies now, or still where it was if it could not be moved.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

impl GateCache {
    /// The gates in a cache folder.
    #[must_use]
    pub(crate) fn new(cache: &Path) -> Self {
        Self { folder: cache.join(FOLDER) }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.hash[..2]).join(file_name(key))
    }

    /// Looks for a gate. One that is there is marked as used now.
    ///
    /// # Errors
    /// A file that the system does not let us read.
    pub(crate) fn get(&self, key: &Key, shape: Shape) -> Result<Found> {
        let path = self.path(key);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(cause) => return Err(Error::read(&path, cause)),
        };
        match StoredGate::of_key(&bytes, key, shape) {
            Ok(gate) => {
                mark_used(&path);
                Ok(Found::Gate(Box::new(gate)))
            }
            Err(reason) => Ok(Found::Damaged { path: self.set_aside(&path).unwrap_or(path), reason }),
        }
    }

    fn set_aside(&self, path: &Path) -> Option<PathBuf> {
        let folder = self.folder.join(DAMAGED);
        fs::create_dir_all(&folder).ok()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        // Claimed by making it: of two processes that find the same damage, each gets a name of its own.
        let claim = |number: &u32| File::create_new(folder.join(format!("{name}.{number}"))).is_ok();
        let target = folder.join(format!("{name}.{}", (1..10_000).find(claim)?));
        fs::rename(path, &target).ok()?;
        Some(target)
    }

    /// Keeps the content of a gate's file.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub(crate) fn put(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        let path = self.path(key);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|cause| Error::write(folder, cause))?;
        }
        write_to_cache(&path, bytes)
    }
}
