//! A training run on disk after each epoch: one file, written whole or not at all, from which a later run goes on as if it
//! had never stopped.
//!
//! The file is safetensors: parts of bytes, and beside them a text that says which run it belongs to and how far it came.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use ::safetensors::tensor::{Dtype, TensorView};
use ::safetensors::{SafeTensors, serialize};
use chimera_data::error::{Error, Result, lower_first};
use chimera_data::file::write_atomic;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::config::LeafConfig;
use super::epoch::EpochRecord;

/// The name of the text among the file's own words.
const STATE: &str = "chimera";

/// How far a run came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct State {
    /// The name of the run: a hash of everything that decides its result.
    pub(super) key: String,
    /// Its choices, to tell how another run differs.
    config: Map<String, Value>,
    /// The epochs that are done.
    pub(super) epochs: Vec<EpochRecord>,
    /// The epoch whose weights are the best so far.
    pub(super) best: Option<usize>,
}

impl State {
    pub(super) fn new(key: &str, config: &LeafConfig, epochs: &[EpochRecord], best: Option<usize>) -> Self {
        Self { key: key.to_owned(), config: choices(config), epochs: epochs.to_vec(), best }
    }

    /// How the run differs from one with this configuration, in words.
    fn difference(&self, config: &LeafConfig) -> String {
        let now = choices(config);
        let differs = |(name, value): (&String, &Value)| {
            let before = self.config.get(name).unwrap_or(&Value::Null);
            (before != value).then(|| format!("`{name}` was {before} and is {value} now"))
        };
        let found: Vec<String> = now.iter().filter_map(differs).collect();
        match found.as_slice() {
            [] => "it is of a run with other data, other weights or another version of chimera".to_owned(),
            found => format!("it is of a run with another configuration ({})", found.join(", ")),
        }
    }
}

/// The choices by name. Weights are left out: where they lie does not matter.
fn choices(config: &LeafConfig) -> Map<String, Value> {
    match serde_json::to_value(LeafConfig { weights: None, ..config.clone() }) {
        Ok(Value::Object(choices)) => choices,
        _ => Map::new(),
    }
}

/// A run after an epoch.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Checkpoint {
    pub(super) state: State,
    /// Weights and optimizer as burn records them.
    pub(super) bank: Vec<u8>,
    pub(super) optimizer: Vec<u8>,
    /// Encoder and heads of the best epoch as a model has them.
    pub(super) best: Option<[Vec<u8>; 2]>,
}

impl Checkpoint {
    /// Writes the file.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| Error::write(path, std::io::Error::other(error.to_string()));
        let state = serde_json::to_string(&self.state).map_err(|error| failed(&error))?;
        let mut parts: BTreeMap<&str, &[u8]> = BTreeMap::from([("bank", &*self.bank), ("optimizer", &*self.optimizer)]);
        if let Some([encoder, heads]) = &self.best {
            parts.extend([("best.encoder", &**encoder), ("best.heads", &**heads)]);
        }
        let view = |(name, bytes)| {
            let bytes: &[u8] = bytes;
            TensorView::new(Dtype::U8, vec![bytes.len()], bytes).map(|view| (name, view))
        };
        let views =
            parts.into_iter().map(view).collect::<std::result::Result<Vec<_>, _>>().map_err(|error| failed(&error))?;
        let words = HashMap::from([(STATE.to_owned(), state)]);
        let bytes = serialize(views, Some(words)).map_err(|error| failed(&error))?;
        // A cut-off file is noticed by its length, and changed bytes by the hash at its end.
        let hash = blake3::hash(&bytes);
        write_atomic(path, |out| {
            out.write_all(&bytes)?;
            out.write_all(hash.as_bytes())
        })
    }

    /// Reads the file of a run; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::Input`] for a file that is damaged or belongs to another run.
    pub(super) fn read(path: &Path, key: &str, config: &LeafConfig) -> Result<Option<Self>> {
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|cause| Error::read(path, cause))?,
        };
        let hint = "to begin anew, remove the file or give `--restart`".to_owned();
        let damaged = |error: &dyn std::fmt::Display| {
            let said = lower_first(&error.to_string());
            Error::input(format!("cannot go on from `{}`: it is damaged ({said})", path.display()), Some(hint.clone()))
        };
        let Some((content, hash)) = bytes.split_last_chunk::<32>() else { return Err(damaged(&"it is too short")) };
        if blake3::hash(content) != *hash {
            return Err(damaged(&"its bytes are not those that were written"));
        }
        let (_, metadata) = SafeTensors::read_metadata(content).map_err(|error| damaged(&error))?;
        let words = metadata.metadata().as_ref().and_then(|words| words.get(STATE));
        let state = words.ok_or_else(|| damaged(&"it has no state"))?;
        let state: State = serde_json::from_str(state).map_err(|error| damaged(&error))?;
        if state.key != key {
            let message = format!("cannot go on from `{}`: {}", path.display(), state.difference(config));
            let hint = "a run goes on only with the options that it began with; to begin anew, give `--restart`";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let tensors = SafeTensors::deserialize(content).map_err(|error| damaged(&error))?;
        let part =
            |name: &str| tensors.tensor(name).map(|tensor| tensor.data().to_vec()).map_err(|error| damaged(&error));
        let best = match state.best {
            Some(_) => Some([part("best.encoder")?, part("best.heads")?]),
            None => None,
        };
        Ok(Some(Self { bank: part("bank")?, optimizer: part("optimizer")?, best, state }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Weights;

    #[test]
    fn what_is_written_comes_back_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let config = LeafConfig::default();
        let read = |key: &str| Checkpoint::read(&path, key, &config);
        assert_eq!(read("k").unwrap(), None);
        let mut checkpoint = Checkpoint {
            state: State::new("k", &config, &[], None),
            bank: vec![1, 2, 3],
            optimizer: Vec::new(),
            best: None,
        };
        for best in [None, Some([vec![9; 5], vec![8]])] {
            (checkpoint.state.best, checkpoint.best) = (best.as_ref().map(|_| 1), best);
            checkpoint.write(&path).unwrap();
            assert_eq!(read("k").unwrap().as_ref(), Some(&checkpoint));
        }
        let error = read("other").unwrap_err().to_string();
        assert!(error.contains("other data, other weights") && error.contains("--restart"), "{error}");
        let other =
            LeafConfig { rate: 0.5, size: Some(32), weights: Some(Weights::File("w".into())), ..config.clone() };
        let error = Checkpoint::read(&path, "other", &other).unwrap_err().to_string();
        let differences = "(`rate` was 0.001 and is 0.5 now, `size` was null and is 32 now)";
        assert!(error.contains(differences), "{error}");
        let bytes = fs::read(&path).unwrap();
        for (cut, flip) in [(bytes.len() - 1, None), (10, None), (0, None), (bytes.len(), Some(bytes.len() / 2))] {
            let mut broken = bytes[..cut].to_vec();
            flip.into_iter().for_each(|at: usize| broken[at] ^= 1);
            fs::write(&path, broken).unwrap();
            assert!(read("k").unwrap_err().to_string().contains("it is damaged"));
        }
    }
}
