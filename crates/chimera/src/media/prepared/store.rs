//! The folder of chunks that share a recipe and a shape: finding what is there, setting aside what is damaged, and
//! keeping two builders apart.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::chunk::{Chunk, Digest, NotOpened};
use super::{Place, Preparation, Progress};
use crate::error::{Error, Result};
use crate::parallel::in_parallel;

/// Raised when chunks are written in another way.
const VERSION: u32 = 1;
const CHUNK: &str = "frames";

/// Chunks on disk that are whole.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    /// What every chunk in the folder opens its list with.
    title: String,
    chunks: BTreeMap<PathBuf, Chunk>,
    /// Damaged chunks that were renamed, where they lie now.
    pub(super) set_aside: Vec<PathBuf>,
}

impl Store {
    pub(super) fn new(preparation: &Preparation<'_>) -> Self {
        let shape = preparation.shape;
        // Quoted, so that a line break in the recipe cannot look like a part of the list.
        let title = format!(
            "chimera prepared frames {VERSION}\nshape {} {} {} 3\nrecipe {:?}\n",
            shape.frames, shape.height, shape.width, preparation.recipe
        );
        let name = blake3::hash(title.as_bytes()).to_hex();
        let folder = preparation.folder.join(&name[..32]);
        Self { folder, title, chunks: BTreeMap::new(), set_aside: Vec::new() }
    }

    pub(super) fn title(&self) -> &str {
        &self.title
    }

    /// Takes in chunks that are new since the last time. Damaged ones are renamed where nobody else can be building.
    pub(super) fn scan(&mut self, preparation: &Preparation<'_>, alone: bool) -> Result<()> {
        let names: Vec<PathBuf> =
            self.names(CHUNK)?.into_iter().filter(|name| !self.chunks.contains_key(name)).collect();
        let opened = in_parallel(preparation.threads, names.len(), |number| {
            match Chunk::open(&names[number], &self.title, preparation.shape.bytes(), preparation.check) {
                Ok(chunk) => Ok(Some(chunk)),
                Err(NotOpened::Damaged) => Ok(None),
                // Another process has just set it aside.
                Err(NotOpened::System(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(NotOpened::System(cause)) => Err(Error::read(&names[number], cause)),
            }
        })?;
        for (name, chunk) in names.into_iter().zip(opened) {
            if let Some(chunk) = chunk {
                self.chunks.insert(name, chunk);
            } else if alone && let Some(aside) = set_aside(&name)? {
                self.set_aside.push(aside);
            }
        }
        Ok(())
    }

    /// Makes the folder and waits until no other process builds in it. The lock goes with the file, also when we are
    /// killed. Where the file system has no locks we go on without: chunks are whole and never changed, so two builders
    /// only do the same work twice.
    pub(super) fn lock(&self, progress: &(dyn Fn(Progress) + Sync)) -> Result<Option<File>> {
        fs::create_dir_all(&self.folder).map_err(|cause| Error::write(&self.folder, cause))?;
        let path = self.folder.join("lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|cause| Error::write(&path, cause))?;
        let locked = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => {
                progress(Progress::Waiting);
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

    /// The path of a chunk made of these media.
    pub(super) fn path(&self, media: &[Digest]) -> PathBuf {
        let name = blake3::hash(media.as_flattened()).to_hex();
        self.folder.join(format!("{}.{CHUNK}", &name[..32]))
    }

    /// All chunks, and where each medium lies in them.
    pub(super) fn into_places(self) -> (Vec<Chunk>, BTreeMap<Digest, Place>, Vec<PathBuf>) {
        let chunks: Vec<Chunk> = self.chunks.into_values().collect();
        let places = chunks.iter().enumerate().flat_map(|(chunk, content)| {
            let entries = content.entries().iter().enumerate();
            entries.map(move |(slot, entry)| (entry.medium, Place { chunk, slot }))
        });
        let places = places.collect();
        (chunks, places, self.set_aside)
    }

    /// The media that lie in chunks.
    pub(super) fn media(&self) -> impl Iterator<Item = Digest> {
        self.chunks.values().flat_map(|chunk| chunk.entries().iter().map(|entry| entry.medium))
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

/// Renames a damaged chunk to a name that is free; `None` where it is gone already.
fn set_aside(path: &Path) -> Result<Option<PathBuf>> {
    let names = (0_u32..).map(|number| match number {
        0 => path.with_extension("damaged"),
        _ => path.with_extension(format!("{number}.damaged")),
    });
    for aside in names {
        if !aside.exists() {
            return match fs::rename(path, &aside) {
                Ok(()) => Ok(Some(aside)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(cause) => Err(Error::write(path, cause)),
            };
        }
    }
    Ok(None)
}
