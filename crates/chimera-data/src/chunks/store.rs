//! The folder of chunks that share a title: finding what is there, setting aside what is damaged, and keeping two
//! builders apart.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use super::chunk::{Chunk, Digest, NotOpened, folder_name};
use crate::error::{Error, Result};
use crate::file::{mark_used, set_aside};
use crate::parallel::in_parallel;

/// What the chunks of a store have in common.
#[derive(Clone, Debug)]
pub struct StoreParams<'a> {
    /// Where the folders of all titles lie.
    pub folder: &'a Path,
    /// Everything that decides the rows beside what each is made of; lines, each with its line break.
    pub title: String,
    /// What the names of chunks end in.
    pub extension: &'static str,
    /// The length of a row.
    pub row_bytes: usize,
    /// Chunks that are opened at the same time.
    pub threads: NonZeroUsize,
}

/// Chunks on disk that are whole, to the last bit of every row.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    /// What every chunk in the folder opens its list with.
    title: String,
    extension: &'static str,
    row_bytes: usize,
    threads: NonZeroUsize,
    chunks: BTreeMap<PathBuf, Chunk>,
    /// Damaged chunks that were renamed, where they lie now.
    set_aside: Vec<PathBuf>,
}

/// A chunk as it was found.
enum Opened {
    Sound(Chunk),
    Damaged,
    /// It holds nothing that is wanted, or is gone.
    Unwanted,
}

/// Where a row lies.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The number of its chunk.
    pub chunk: usize,
    /// Its place among the rows of the chunk.
    pub slot: usize,
}

impl Store {
    /// A store that has read nothing so far.
    pub fn new(params: StoreParams<'_>) -> Self {
        let StoreParams { folder, title, extension, row_bytes, threads } = params;
        let folder = folder.join(folder_name(&title));
        let (chunks, set_aside) = (BTreeMap::new(), Vec::new());
        Self { folder, title, extension, row_bytes, threads, chunks, set_aside }
    }

    /// Where the chunks lie.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The text that names its folder.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Takes in chunks that are new since the last time and hold a row that is wanted; the others, of other datasets, are not
    /// read. Damaged ones are renamed where nobody else can be building.
    pub fn scan(&mut self, is_wanted: &(dyn Fn(&Digest) -> bool + Sync), alone: bool) -> Result<()> {
        let names: Vec<PathBuf> =
            self.names(self.extension)?.into_iter().filter(|name| !self.chunks.contains_key(name)).collect();
        let opened = in_parallel(self.threads, names.len(), |number| {
            match Chunk::open(&names[number], &self.title, self.row_bytes) {
                Ok(chunk) if !chunk.entries().iter().any(|entry| is_wanted(&entry.source)) => Ok(Opened::Unwanted),
                Ok(chunk) if chunk.is_sound() => Ok(Opened::Sound(chunk)),
                Ok(_) | Err(NotOpened::Damaged) => Ok(Opened::Damaged),
                // Another process has just set it aside.
                Err(NotOpened::System(error)) if error.kind() == ErrorKind::NotFound => Ok(Opened::Unwanted),
                Err(NotOpened::System(cause)) => Err(Error::read(&names[number], cause)),
            }
        })?;
        for (name, opened) in names.into_iter().zip(opened) {
            match opened {
                Opened::Sound(chunk) => _ = self.chunks.insert(name, chunk),
                Opened::Damaged if alone => self.set_aside.extend(set_aside(&name)?),
                Opened::Damaged | Opened::Unwanted => {}
            }
        }
        Ok(())
    }

    /// Makes the folder and waits until no other process builds in it. The lock goes with the file, also when we are
    /// killed. Where the file system has no locks we go on without: chunks are whole and never changed, so two builders
    /// only do the same work twice.
    pub fn lock(&self, waiting: &dyn Fn()) -> Result<Option<File>> {
        fs::create_dir_all(&self.folder).map_err(|cause| Error::write(&self.folder, cause))?;
        let path = self.folder.join("lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|cause| Error::write(&path, cause))?;
        let locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                waiting();
                file.lock().is_ok()
            }
            Err(TryLockError::Error(_)) => false,
        };
        if !locked {
            return Ok(None);
        }
        // Nobody else is writing, so these are of builders that were killed.
        for unfinished in self.names("tmp")? {
            let _ = fs::remove_file(unfinished);
        }
        Ok(Some(file))
    }

    /// The path of a chunk of rows made of these sources.
    pub fn path(&self, sources: &[Digest]) -> PathBuf {
        let name = blake3::hash(sources.as_flattened()).to_hex();
        self.folder.join(format!("{}.{}", &name[..32], self.extension))
    }

    /// All chunks, where the row of each source lies in them, and what was set aside.
    pub fn into_places(self) -> (Vec<Chunk>, BTreeMap<Digest, Place>, Vec<PathBuf>) {
        let mut chunks: Vec<Chunk> = self.chunks.into_values().collect();
        let mut places = BTreeMap::new();
        for (chunk, content) in chunks.iter_mut().enumerate() {
            let entries = content.take_entries().into_iter().enumerate();
            places.extend(entries.map(|(slot, entry)| (entry.source, Place { chunk, slot })));
        }
        (chunks, places, self.set_aside)
    }

    /// Notes that the chunks are used now, for whoever cleans up.
    pub fn mark_used(&self) {
        self.chunks.keys().for_each(|path| mark_used(path));
    }

    /// What rows in chunks were made of.
    pub fn sources(&self) -> impl Iterator<Item = Digest> {
        self.chunks.values().flat_map(|chunk| chunk.entries().iter().map(|entry| entry.source))
    }

    /// Files of one kind in a fixed order; none where the folder does not exist yet.
    fn names(&self, extension: &str) -> Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(cause) => return Err(Error::read(&self.folder, cause)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let path = entry.map_err(|cause| Error::read(&self.folder, cause))?.path();
            if path.extension().is_some_and(|found| found == extension) {
                names.push(path);
            }
        }
        names.sort();
        Ok(names)
    }
}
