//! Gates on disk, by the hashes of their keys, for any number of models and processes.
//!
//! A file is written under another name and renamed: it is whole or not there. Two processes that train the same gate
//! write the same bytes. What is found damaged, as a machine that goes down can leave it, is moved aside, never deleted, and
//! trained again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chimera_gate::gate::Shape;

use super::key::Key;
use super::stored::{StoredGate, file_name, hash_of};
use crate::error::{Error, Result};
use crate::file::{is_unfinished, write_to_cache};

/// Where damaged files go, inside the cache.
const DAMAGED: &str = "damaged";

/// The folder of all gates.
#[derive(Clone, Debug)]
pub struct GateCache {
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

/// A file of the cache.
#[derive(Debug)]
pub struct CacheEntry {
    /// Where it lies.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// How long it was not used.
    pub unused_for: Duration,
    /// The hash that its name promises.
    pub hash: String,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Removed {
    /// Gates that were not used for long.
    pub gates: usize,
    /// Damaged files and what killed runs left.
    pub leftovers: usize,
    /// Their size.
    pub bytes: u64,
}

impl GateCache {
    /// The gates in a cache folder.
    #[must_use]
    pub fn new(cache: &Path) -> Self {
        Self { folder: cache.join("gates") }
    }

    /// Where gates lie.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.hash[..2]).join(file_name(key))
    }

    /// Looks for a gate. One that is there is marked as used now.
    ///
    /// # Errors
    /// A file that the system does not let us read.
    pub fn get(&self, key: &Key, shape: Shape) -> Result<Found> {
        let path = self.path(key);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(cause) => return Err(Error::read(&path, cause)),
        };
        match StoredGate::of_key(&bytes, key, shape) {
            Ok(gate) => {
                // A cache that cannot be written is still of use.
                let _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(now()));
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
    pub fn put(&self, key: &Key, bytes: &[u8]) -> Result<()> {
        let path = self.path(key);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|cause| Error::write(folder, cause))?;
        }
        write_to_cache(&path, bytes)
    }

    /// All gates, by hash.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn entries(&self) -> Result<Vec<CacheEntry>> {
        let mut entries = Vec::new();
        for path in self.files()? {
            let Some(hash) = hash_of(&path) else { continue };
            let Ok(metadata) = fs::metadata(&path) else { continue };
            entries.push(CacheEntry { bytes: metadata.len(), unused_for: age(&metadata), hash, path });
        }
        entries.sort_by(|one, other| one.hash.cmp(&other.hash));
        Ok(entries)
    }

    /// Reads an entry whole, and says what is wrong with it; `None` where it is gone by now.
    ///
    /// # Errors
    /// A file that the system does not let us read.
    pub fn check(&self, entry: &CacheEntry) -> Result<Option<std::result::Result<StoredGate, String>>> {
        let bytes = match fs::read(&entry.path) {
            Ok(bytes) => bytes,
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(Error::read(&entry.path, cause)),
        };
        Ok(Some(StoredGate::from_bytes(&bytes).and_then(|stored| {
            if stored.key.hash == entry.hash { Ok(stored) } else { Err("its name is not that of its key".to_owned()) }
        })))
    }

    /// Removes gates that were not used for so long and are in none of the kept hashes, damaged files, and what killed runs
    /// left an hour ago or earlier. With `dry`, only says what it would remove.
    ///
    /// # Errors
    /// A folder that cannot be read or written.
    pub fn collect(&self, unused_for: Duration, kept: &[String], dry: bool) -> Result<Removed> {
        let mut removed = Removed::default();
        for path in self.files()? {
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let age = age(&metadata);
            let count = match hash_of(&path) {
                Some(hash) if is_damaged(&path, &hash) => &mut removed.leftovers,
                Some(hash) if age >= unused_for && !kept.contains(&hash) => &mut removed.gates,
                None if is_set_aside(&path) => &mut removed.leftovers,
                // A write of another process may be under way.
                None if is_unfinished(&path) && age >= Duration::from_secs(3600) => &mut removed.leftovers,
                // Used lately, or not ours.
                _ => continue,
            };
            *count += 1;
            removed.bytes += metadata.len();
            match if dry { Ok(()) } else { fs::remove_file(&path) } {
                Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(Error::write(&path, cause)),
                _ => {}
            }
        }
        Ok(removed)
    }

    /// Every file in the folders of the cache: two digits of a hash each, and the one for damaged files.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for folder in listed(&self.folder)? {
            let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let ours = name == DAMAGED || name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if ours && folder.is_dir() {
                files.extend(listed(&folder)?.into_iter().filter(|path| path.is_file()));
            }
        }
        files.sort();
        Ok(files)
    }
}

/// The time, for how long a file was not used.
#[expect(clippy::disallowed_methods, reason = "no result depends on it")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn age(metadata: &fs::Metadata) -> Duration {
    metadata.modified().ok().and_then(|used| now().duration_since(used).ok()).unwrap_or_default()
}

/// Whether a file does not hold the gate that its name promises. One that cannot be read is left alone.
fn is_damaged(path: &Path, hash: &str) -> bool {
    fs::read(path).is_ok_and(|bytes| StoredGate::from_bytes(&bytes).map_or(true, |stored| stored.key.hash != hash))
}

/// A gate's file with a number behind its name, among the damaged ones.
fn is_set_aside(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with(DAMAGED)) && hash_of(&path.with_extension("")).is_some()
}

fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            entries.map(|entry| entry.map(|entry| entry.path()).map_err(|cause| Error::read(folder, cause))).collect()
        }
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(cause) => Err(Error::read(folder, cause)),
    }
}
