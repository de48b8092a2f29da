//! Everything that is kept in a cache folder for later runs: gates, decoded frames, vectors of frozen networks, z, models of
//! repeated runs and compiled kernels. Lists it, checks it to the last bit, and removes what is not used any more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chimera_data::chunks;
use chimera_data::error::{Error, Result};
use chimera_data::file::{is_unfinished, since};
use chimera_leaf::device::{self, DeviceChoice};
use chimera_leaf::encoded::{EncoderFingerprint, folder_name};
use chimera_leaf::stage;

use crate::eval::replica::{self, REPLICAS};
use crate::gate;
use crate::gate::cache::DAMAGED;
use crate::gate::stored::{StoredGate, hash_of};
use crate::model::{MANIFEST, Model, SCHEMA, claim};

/// A write of another process may be under way in an unfinished file that is younger.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The start of every compiled kernel of gates, before the checksum of the rest (`chimera-cuda/src/shelf.rs` writes them).
const KERNEL: &[u8] = b"chimera kernel 1";

/// A kind of thing in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A trained gate, head or monolith.
    Gate,
    /// Decoded frames of samples.
    Frames,
    /// Vectors that a frozen network gave for frames.
    Vectors,
    /// z and logits of samples.
    Encoded,
    /// A whole model that `eval --refit-leaf` trained with another seed.
    Replica,
    /// A compiled kernel of a GPU.
    Kernel,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Gate, Self::Frames, Self::Vectors, Self::Encoded, Self::Replica, Self::Kernel];

    /// The name of its folder.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            Self::Gate => gate::cache::FOLDER,
            Self::Frames => stage::FRAMES,
            Self::Vectors => stage::VECTORS,
            Self::Encoded => stage::ENCODED,
            Self::Replica => REPLICAS,
            Self::Kernel => device::FOLDER,
        }
    }
}

/// The state of an item as its name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Later runs find it.
    InUse,
    /// No later run finds it: it was set aside as damaged, or made by a version with another layout.
    Left,
    /// A killed run left it, or another process is writing it.
    Unfinished,
}

/// One file of the cache, or one folder where its files belong together.
#[derive(Clone, Debug)]
pub struct Item {
    /// The kind.
    pub kind: Kind,
    /// Its path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The time since it was last used; of what does not note that, since it was made.
    pub unused_for: Duration,
    state: State,
}

/// The result of reading an item whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Checked {
    /// Every bit is as it was written.
    Sound,
    /// A gate whose every bit is as it was written.
    Gate(Box<StoredGate>),
    /// Something is wrong, in words.
    Damaged(String),
    /// Files of another program without checksums.
    Unknown,
    /// It was removed by another process.
    Gone,
}

impl Item {
    /// Returns true for something that later runs find.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.state == State::InUse
    }

    /// The name by which it is found, without endings.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Reads all of it and compares it with its checksums.
    ///
    /// # Errors
    /// A file that the system does not let us read.
    pub fn check(&self) -> Result<Checked> {
        let path = &self.path;
        let checked = match self.kind {
            Kind::Gate => fs::read(path).map(|bytes| check_gate(path, &bytes)),
            Kind::Frames | Kind::Vectors | Kind::Encoded => {
                chunks::problem_of(path).map(|problem| problem.map_or(Checked::Sound, Checked::Damaged))
            }
            Kind::Replica => return check_replica(path),
            Kind::Kernel if path.is_dir() => Ok(Checked::Unknown),
            Kind::Kernel => fs::read(path).map(|bytes| check_kernel(&bytes)),
        };
        match checked {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Checked::Gone),
            checked => checked.map_err(|cause| Error::read(path, cause)),
        }
    }

    /// Removes it unless another process is at work in it. Says whether it is gone.
    fn remove(&self) -> Result<bool> {
        let removed = if self.path.is_dir() {
            // Held until everything is gone.
            let Ok(_claimed) = claim(&self.path) else { return Ok(false) };
            fs::remove_dir_all(&self.path)
        } else {
            fs::remove_file(&self.path)
        };
        match removed {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::write(&self.path, cause)),
            _ => Ok(true),
        }
    }
}

fn check_gate(path: &Path, bytes: &[u8]) -> Checked {
    match StoredGate::from_bytes(bytes) {
        Ok(gate) if hash_of(path).is_some_and(|hash| hash == gate.key.hash) => Checked::Gate(Box::new(gate)),
        Ok(_) => Checked::Damaged("its name is not that of its key".to_owned()),
        Err(problem) => Checked::Damaged(problem),
    }
}

/// Opens a model as `eval` would. One without a manifest is not finished, which is no damage.
fn check_replica(folder: &Path) -> Result<Checked> {
    if !folder.join(MANIFEST).is_file() {
        return Ok(Checked::Sound);
    }
    let refused = |cause: &io::Error| !matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory);
    match replica::open(folder, &DeviceChoice::Cpu.open()?, NonZeroUsize::MIN) {
        Ok(_) => Ok(Checked::Sound),
        // Nothing is known of what the system does not let us read, and what is damaged is removed.
        Err(Error::Read { path, cause }) if refused(&cause) => Err(Error::Read { path, cause }),
        Err(error) => Ok(Checked::Damaged(in_one_line(&error))),
    }
}

/// What is wrong, with the file that it is about, and without a hint: nobody is to train a replica by hand.
fn in_one_line(error: &Error) -> String {
    let text = error.to_string();
    let problem = text.split("\nhint: ").next().unwrap_or_default();
    problem.lines().collect::<Vec<_>>().join(" ")
}

fn check_kernel(bytes: &[u8]) -> Checked {
    let image = bytes.strip_prefix(KERNEL).and_then(|rest| rest.split_at_checked(blake3::OUT_LEN));
    match image {
        Some((sum, image)) if !image.is_empty() && sum == blake3::hash(image).as_bytes() => Checked::Sound,
        _ => Checked::Damaged("its content was changed or cut off".to_owned()),
    }
}

/// Things of some models that stay, however long they were not used.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    gates: BTreeSet<String>,
    /// Names of folders of z.
    encoded: BTreeSet<String>,
}

impl Kept {
    /// Adds the gates of a model, and z that its leaf bank made.
    ///
    /// # Errors
    /// A bank that cannot be described.
    pub fn add(&mut self, model: &Model) -> Result<()> {
        self.gates.extend(model.manifest.gates.iter().flat_map(|section| section.hashes().cloned()));
        let (config, weights) = (model.bank.config(), model.bank.bank_fingerprint()?);
        for encoder in EncoderFingerprint::of_every_device(&weights) {
            self.encoded.insert(folder_name(&encoder, config.encoder.features(), config.concepts.len()));
        }
        Ok(())
    }

    fn has(&self, item: &Item) -> bool {
        let folder = || item.path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        match item.kind {
            Kind::Gate => self.gates.contains(&item.name()),
            Kind::Encoded => folder().is_some_and(|folder| self.encoded.contains(&folder)),
            _ => false,
        }
    }
}

/// The result of a clean-up.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Removed {
    /// Items that were not used for long.
    pub unused: BTreeMap<Kind, usize>,
    /// Damaged items, and what killed runs and earlier versions left.
    pub leftovers: usize,
    /// Their size.
    pub bytes: u64,
}

/// A cache folder.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache in a folder, which need not exist yet.
    #[must_use]
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns true for a folder that may be a cache: an empty one, or one with a folder of some kind.
    #[must_use]
    pub fn is_there(&self) -> bool {
        let is_empty = fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_none());
        is_empty || Kind::ALL.iter().any(|kind| self.folder.join(kind.folder()).is_dir())
    }

    /// Everything in it that is ours, kind by kind, in the order of names.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn items(&self) -> Result<Vec<Item>> {
        let mut items = Vec::new();
        for kind in Kind::ALL {
            let folder = self.folder.join(kind.folder());
            let paths = match kind {
                Kind::Replica | Kind::Kernel => listed(&folder)?,
                Kind::Gate | Kind::Frames | Kind::Vectors | Kind::Encoded => below(&folder)?,
            };
            for path in paths {
                let Some(state) = state(kind, &path) else { continue };
                // What another process has just removed is not listed.
                let Ok((bytes, used)) = size_and_use(&path) else { continue };
                items.push(Item { kind, bytes, unused_for: since(used), state, path });
            }
        }
        Ok(items)
    }

    /// Removes what was not used for so long and is not kept, what is damaged, what earlier versions left, and what killed runs
    /// left an hour ago or earlier. With `is_dry`, only says what it would remove. `progress` hears of every item.
    ///
    /// # Errors
    /// A folder that cannot be read or written.
    pub fn collect(
        &self,
        unused_for: Duration,
        kept: &Kept,
        is_dry: bool,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Removed> {
        let mut removed = Removed::default();
        let items = self.items()?;
        for (number, item) in items.iter().enumerate() {
            progress(number + 1, items.len());
            let is_unused = match item.state {
                State::InUse => item.unused_for >= unused_for && !kept.has(item),
                State::Left => false,
                State::Unfinished if item.unused_for < ABANDONED => continue,
                State::Unfinished => false,
            };
            if item.state == State::InUse && !is_unused && !matches!(item.check()?, Checked::Damaged(_)) {
                continue;
            }
            if is_dry || item.remove()? {
                *if is_unused { removed.unused.entry(item.kind).or_default() } else { &mut removed.leftovers } += 1;
                removed.bytes += item.bytes;
            }
        }
        Ok(removed)
    }
}

/// The state of a path in the folder of a kind; `None` where it is not ours.
fn state(kind: Kind, path: &Path) -> Option<State> {
    let name = path.file_name()?.to_string_lossy();
    let has_ending = |ending: &str| path.extension().is_some_and(|found| found == ending);
    match kind {
        Kind::Replica => {
            let is_current = name.ends_with(&format!("-layout-{SCHEMA}"));
            path.is_dir().then_some(if is_current { State::InUse } else { State::Left })
        }
        Kind::Kernel if path.is_dir() => name.starts_with("networks-").then_some(State::InUse),
        Kind::Kernel if name.starts_with(".kernel-") => Some(State::Unfinished),
        Kind::Kernel => has_ending("kernel").then_some(State::InUse),
        _ if is_unfinished(path) => Some(State::Unfinished),
        Kind::Gate if path.parent()?.ends_with(DAMAGED) => hash_of(&path.with_extension("")).map(|_| State::Left),
        Kind::Gate => hash_of(path).map(|_| State::InUse),
        _ if has_ending("damaged") => Some(State::Left),
        Kind::Frames => has_ending("frames").then_some(State::InUse),
        Kind::Vectors | Kind::Encoded => has_ending("encoded").then_some(State::InUse),
    }
}

/// What lies in a folder, by name; nothing where there is no folder.
fn listed(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| entry.path()).map_err(|cause| Error::read(folder, cause)))
            .collect::<Result<_>>()?,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(cause) => return Err(Error::read(folder, cause)),
    };
    paths.sort();
    Ok(paths)
}

/// Files in the folders of a folder.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in listed(folder)?.into_iter().filter(|path| path.is_dir()) {
        files.extend(listed(&folder)?.into_iter().filter(|path| path.is_file()));
    }
    Ok(files)
}

/// The size of a file, or of all files in a folder, and when the last of them was used.
fn size_and_use(path: &Path) -> io::Result<(u64, SystemTime)> {
    let metadata = fs::symlink_metadata(path)?;
    let used = metadata.modified()?;
    if !metadata.is_dir() {
        return Ok((metadata.len(), used));
    }
    let mut all = (0, used);
    for entry in fs::read_dir(path)? {
        let (bytes, used) = size_and_use(&entry?.path())?;
        all = (all.0 + bytes, all.1.max(used));
    }
    Ok(all)
}
