//! Where a run looks for gates before it teaches them, and where it puts them: a model's folder, if there is one, and the
//! cache.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(feature = "cuda")]
use std::sync::{Mutex, PoisonError};

use chimera_data::error::{Error, Result};
use chimera_data::file::write_among_many;
use chimera_data::parallel::in_parallel;
use chimera_gate::cone::Features;
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::train::{Problem, Task, Taught};
#[cfg(feature = "cuda")]
use chimera_leaf::device;

use super::cache::{Found, GateCache};
use super::key::Key;
use super::material::{GateEvent, Place};
use super::report::Origin;
use super::stored::{History, StoredGate, file_name};

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

/// A gate that is asked for.
pub(crate) struct Wanted<'t, F> {
    pub(crate) key: Key,
    pub(crate) formula: String,
    pub(crate) task: Task<'t, F>,
}

/// Told after steps of a gate, and when one needs none.
pub(crate) struct Ticks<'a> {
    pub(crate) steps: &'a (dyn Fn(usize) + Sync),
    pub(crate) untaught: &'a (dyn Fn() + Sync),
}

/// A gate, or why it cannot be taught.
pub(crate) type Answer = std::result::Result<Got, Problem>;

type Outcome = std::result::Result<Taught, Problem>;

/// A gate and the content of its file.
type WithBytes = (StoredGate, Vec<u8>);

impl<'a> Shelf<'a> {
    pub(crate) fn new(place: Place<'a>, events: &'a (dyn Fn(GateEvent<'_>) + Sync)) -> Self {
        Self { cache: GateCache::new(place.cache), place, events, not_kept: AtomicBool::new(false) }
    }

    /// Gates from the model, from the cache, or taught now: on the processor each on a thread, and on disk as soon as it is
    /// done; on a GPU all at once.
    pub(crate) fn get<F: Features>(&self, wanted: &[Wanted<'_, F>], ticks: &Ticks<'_>) -> Result<Vec<Answer>> {
        let threads = self.place.threads;
        #[cfg(feature = "cuda")]
        if let Some(gpu) = device::gates(self.place.device)? {
            let found = in_parallel(threads, wanted.len(), |at| self.find(&wanted[at].key, wanted[at].task.shape))?;
            let missing: Vec<usize> = (0..wanted.len()).filter(|&at| found[at].0.is_none()).collect();
            (0..wanted.len() - missing.len()).for_each(|_| (ticks.untaught)());
            let tasks: Vec<&Task<'_, F>> = missing.iter().map(|&at| &wanted[at].task).collect();
            let outcomes =
                gpu.teach(&tasks, threads, &|steps| (ticks.steps)(steps)).map_err(|error| device::failed(&error))?;
            let mut taught: Vec<Option<Outcome>> = wanted.iter().map(|_| None).collect();
            for (at, outcome) in missing.into_iter().zip(outcomes) {
                taught[at] = Some(outcome);
            }
            let all = found.into_iter().zip(taught).map(|both| Mutex::new(Some(both))).collect::<Vec<_>>();
            return in_parallel(threads, wanted.len(), |at| {
                let both = all[at].lock().unwrap_or_else(PoisonError::into_inner).take();
                let Some((found, taught)) = both else { return Ok(Err(Problem::NothingKnown)) };
                self.put(&wanted[at], found, || taught.unwrap_or(Err(Problem::NothingKnown)), ticks, true)
            });
        }
        in_parallel(threads, wanted.len(), |at| {
            let one = &wanted[at];
            let found = self.find(&one.key, one.task.shape)?;
            self.put(one, found, || one.task.teach(&|| (ticks.steps)(1)), ticks, false)
        })
    }

    /// Puts a gate where it belongs, taught by `teach` if it was not found. `counted`: those that were found are counted already.
    fn put<F: Features>(
        &self,
        wanted: &Wanted<'_, F>,
        (found, origin): (Option<WithBytes>, Origin),
        teach: impl FnOnce() -> Outcome,
        ticks: &Ticks<'_>,
        counted: bool,
    ) -> Result<Answer> {
        let key = &wanted.key;
        let (stored, bytes) = match found {
            Some(found) => {
                if !counted {
                    (ticks.untaught)();
                }
                found
            }
            None => match teach() {
                Ok(taught) => {
                    let stored = stored(key, &wanted.formula, taught);
                    let bytes = stored.to_bytes()?;
                    self.keep(key, &bytes);
                    (stored, bytes)
                }
                Err(problem) => {
                    (ticks.untaught)();
                    return Ok(Err(problem));
                }
            },
        };
        if let Some(folder) = self.place.gates {
            write_among_many(&folder.join(file_name(key)), &bytes)?;
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
