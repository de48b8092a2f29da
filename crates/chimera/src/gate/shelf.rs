//! Where a run looks for gates before it teaches them, and where it puts them: a model's folder, if there is one, and the
//! cache.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chimera_gate::cone::Features;
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::train::{Problem, Task, Taught};

use super::cache::{Found, GateCache};
use super::key::Key;
use super::report::Origin;
use super::stage::{GateEvent, Place};
use super::stored::{History, StoredGate, file_name};
use crate::error::{Error, Result};
use crate::file::write_atomic;

/// The shelves of a run.
pub(crate) struct Shelf<'a> {
    cache: GateCache,
    place: Place<'a>,
    events: &'a (dyn Fn(GateEvent<'_>) + Sync),
    not_kept: AtomicBool,
}

/// A gate that is there now, with how it came.
pub(crate) struct Got {
    pub(crate) gate: Arc<Gate>,
    pub(crate) history: History,
    pub(crate) origin: Origin,
}

/// A gate and the content of its file.
type WithBytes = (StoredGate, Vec<u8>);

impl<'a> Shelf<'a> {
    pub(crate) fn new(place: Place<'a>, events: &'a (dyn Fn(GateEvent<'_>) + Sync)) -> Self {
        Self { cache: GateCache::new(place.cache), place, events, not_kept: AtomicBool::new(false) }
    }

    /// A gate from the model, from the cache, or taught now. `untaught` is called where it need not or cannot be taught.
    pub(crate) fn get<F: Features>(
        &self,
        key: &Key,
        formula: &str,
        task: &Task<'_, F>,
        tick: &(dyn Fn() + Sync),
        untaught: &(dyn Fn() + Sync),
    ) -> Result<std::result::Result<Got, Problem>> {
        let (found, origin) = self.find(key, task.shape)?;
        let (stored, bytes) = match found {
            Some(found) => {
                untaught();
                found
            }
            None => match task.teach(tick) {
                Ok(taught) => {
                    let stored = stored(key, formula, taught);
                    let bytes = stored.to_bytes()?;
                    self.keep(key, &bytes);
                    (stored, bytes)
                }
                Err(problem) => {
                    untaught();
                    return Ok(Err(problem));
                }
            },
        };
        if let Some(folder) = self.place.gates {
            write_atomic(&folder.join(file_name(key)), |out| out.write_all(&bytes))?;
        }
        Ok(Ok(Got { gate: Arc::new(stored.gate), history: stored.history, origin }))
    }

    /// Looks into the model and into the cache.
    fn find(&self, key: &Key, shape: Shape) -> Result<(Option<WithBytes>, Origin)> {
        if self.place.retrain {
            return Ok((None, Origin::Trained));
        }
        if let Some(path) = self.place.gates.map(|folder| folder.join(file_name(key)))
            && let Ok(bytes) = std::fs::read(&path)
        {
            match StoredGate::of_key(&bytes, key, shape) {
                Ok(stored) => return Ok((Some((stored, bytes)), Origin::Cached)),
                Err(reason) => (self.events)(GateEvent::Damaged { path: &path, reason: &reason }),
            }
        }
        match self.cache.get(key, shape) {
            Ok(Found::Gate(stored)) => {
                let bytes = stored.to_bytes()?;
                Ok((Some((*stored, bytes)), Origin::Cached))
            }
            Ok(Found::Nothing) => Ok((None, Origin::Trained)),
            Ok(Found::Damaged { path, reason }) => {
                (self.events)(GateEvent::SetAside { path: &path, reason: &reason });
                Ok((None, Origin::Replaced))
            }
            Err(error) => {
                self.complain(&error);
                Ok((None, Origin::Trained))
            }
        }
    }

    fn keep(&self, key: &Key, bytes: &[u8]) {
        if let Err(error) = self.cache.put(key, bytes) {
            self.complain(&error);
        }
    }

    fn complain(&self, error: &Error) {
        if !self.not_kept.swap(true, Ordering::Relaxed) {
            (self.events)(GateEvent::NotKept(error));
        }
    }
}

/// A gate of a model or of the cache; `None` where neither has it.
///
/// # Errors
/// A file that cannot be read, or is damaged.
pub(crate) fn look_up(folder: &Path, cache: Option<&Path>, key: &Key, shape: Shape) -> Result<Option<Arc<Gate>>> {
    let path = folder.join(file_name(key));
    let gate = |stored: StoredGate| Some(Arc::new(stored.gate));
    let refused = |path: &Path, reason: &str| {
        let message = format!("cannot use `{}`: {reason}", path.display());
        Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
    };
    match std::fs::read(&path) {
        Ok(bytes) => StoredGate::of_key(&bytes, key, shape).map(gate).map_err(|reason| refused(&path, &reason)),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            match cache.map(|cache| GateCache::new(cache).get(key, shape)).transpose()? {
                Some(Found::Gate(stored)) => Ok(gate(*stored)),
                Some(Found::Nothing) | None => Ok(None),
                Some(Found::Damaged { path, reason }) => Err(refused(&path, &reason)),
            }
        }
        Err(cause) => Err(Error::read(&path, cause)),
    }
}

/// Truths of operands as `0` and `1`.
pub(crate) fn digits(values: &[bool]) -> String {
    values.iter().map(|value| if *value { '1' } else { '0' }).collect()
}

fn stored(key: &Key, formula: &str, taught: Taught) -> StoredGate {
    let Taught { gate, losses, shown, failed, unknown } = taught;
    let shown = shown.0.iter().map(|(values, count)| (digits(values), *count)).collect();
    StoredGate {
        key: key.clone(),
        gate,
        history: History { formula: formula.to_owned(), losses, shown, failed, unknown },
    }
}
