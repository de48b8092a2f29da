//! One gate as a file: safetensors with the key's text inside, so that any program can read the weights and this one can tell
//! whether they are what the name promises.

use std::collections::HashMap;
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_gate::gate::{Gate, Shape};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::key::Key;

/// The one entry of the file's metadata. Several would be written in no order.
const ENTRY: &str = "chimera";

/// How a gate came to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// The node as formula.
    pub formula: String,
    /// Mean loss of each epoch.
    pub losses: Vec<f32>,
    /// What it was shown: truths of the operands as `0` and `1`, and how often.
    pub shown: Vec<(String, u64)>,
    /// Chimeras for which no samples were found.
    pub failed: u64,
    /// Chimeras and samples whose truth is unknown.
    pub unknown: u64,
}

/// A gate with its name and its history.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredGate {
    /// The text of its key.
    pub key: Key,
    /// The weights.
    pub gate: Gate,
    /// How it came to be.
    pub history: History,
}

#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    shape: Shape,
    /// Blake3 of everything: the key, the shape, the history and all numbers.
    hash: String,
    history: History,
}

impl StoredGate {
    /// The content of its file: the same bytes for the same gate.
    ///
    /// # Errors
    /// Where the format cannot hold it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let refused = |error: &dyn std::fmt::Display| Error::input(format!("cannot write a gate: {error}"), None);
        let shape = self.gate.shape();
        let tensors = self.gate.tensors();
        let bytes: Vec<Vec<u8>> =
            tensors.iter().map(|tensor| tensor.iter().flat_map(|number| number.to_le_bytes()).collect()).collect();
        let hash = hash(&self.key.text, shape, &self.history, bytes.iter().map(Vec::as_slice))
            .map_err(|error| refused(&error))?;
        let entry = Entry { key: self.key.text.clone(), shape, hash, history: self.history.clone() };
        let entry = serde_json::to_string(&entry).map_err(|error| refused(&error))?;
        let views = shape.tensors().into_iter().zip(&bytes).map(|((name, sizes), bytes)| {
            TensorView::new(Dtype::F32, sizes, bytes).map(|view| (name, view)).map_err(|error| refused(&error))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let metadata = HashMap::from([(ENTRY.to_owned(), entry)]);
        safetensors::serialize(views, Some(metadata)).map_err(|error| refused(&error))
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    /// What is wrong with it, in words: no gate, numbers that were changed, a name that is not its own.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, String> {
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| format!("it is no safetensors file: {error}"))?;
        let entry = metadata.metadata().as_ref().and_then(|entries| entries.get(ENTRY));
        let entry = entry.ok_or("it holds no gate")?;
        let entry: Entry =
            serde_json::from_str(entry).map_err(|error| format!("its description is damaged: {error}"))?;
        if !entry.shape.is_sound() {
            return Err("its sizes are not those of a gate".to_owned());
        }
        let file = SafeTensors::deserialize(bytes).map_err(|error| format!("it is damaged: {error}"))?;
        let mut tensors = Vec::new();
        let mut data = Vec::new();
        for (name, sizes) in entry.shape.tensors() {
            let tensor = file.tensor(name).map_err(|_| format!("`{name}` is missing"))?;
            if tensor.dtype() != Dtype::F32 || tensor.shape() != sizes {
                return Err(format!("`{name}` has another shape"));
            }
            data.push(tensor.data());
            tensors.push(tensor.data().chunks_exact(4).map(number).collect::<Vec<f32>>());
        }
        let found =
            hash(&entry.key, entry.shape, &entry.history, data.into_iter()).map_err(|error| error.to_string())?;
        if found != entry.hash {
            return Err("its content was changed".to_owned());
        }
        let slices: Vec<&[f32]> = tensors.iter().map(Vec::as_slice).collect();
        let slices: [&[f32]; 6] = slices.try_into().map_err(|_| "it has another number of tensors")?;
        let gate = Gate::from_tensors(entry.shape, &slices).ok_or("its tensors do not fit together")?;
        if !gate.is_finite() {
            return Err("its weights are no numbers".to_owned());
        }
        Ok(Self { key: Key::of(entry.key), gate, history: entry.history })
    }

    /// Reads a file that must hold the gate of a key and of a shape.
    ///
    /// # Errors
    /// As [`Self::from_bytes`], and a gate of another key or shape.
    pub(crate) fn of_key(bytes: &[u8], key: &Key, shape: Shape) -> std::result::Result<Self, String> {
        let stored = Self::from_bytes(bytes)?;
        if stored.key.text != key.text {
            return Err("it holds the gate of another key".to_owned());
        }
        if stored.gate.shape() != shape {
            return Err("its sizes are not those of its key".to_owned());
        }
        Ok(stored)
    }
}

/// The name of a gate's file in a model and in the cache.
#[must_use]
pub fn file_name(key: &Key) -> String {
    format!("{}.safetensors", key.hash)
}

/// Whether a path has the name of a gate's file, and which hash it promises.
#[must_use]
pub fn hash_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".safetensors")?;
    (name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| name.to_owned())
}

fn number(bytes: &[u8]) -> f32 {
    f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn hash<'a>(
    key: &str,
    shape: Shape,
    history: &History,
    parts: impl Iterator<Item = &'a [u8]>,
) -> serde_json::Result<String> {
    let mut hasher = blake3::Hasher::new_derive_key("chimera stored gate");
    hasher.update(&serde_json::to_vec(&(key, shape, history))?);
    parts.for_each(|part| {
        hasher.update(part);
    });
    Ok(hasher.finalize().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> StoredGate {
        let shape = Shape { arity: 2, features: 3, hidden: 4 };
        StoredGate {
            key: Key::of("chimera gate 2\nop and\n".to_owned()),
            gate: Gate::initial(shape, &mut fastrand::Rng::with_seed(1)),
            history: History { formula: "a & b".to_owned(), losses: vec![0.5, 0.25], ..History::default() },
        }
    }

    #[test]
    fn a_file_gives_back_the_gate_and_damage_is_seen() {
        let gate = stored();
        let bytes = gate.to_bytes().unwrap();
        assert_eq!(bytes, gate.to_bytes().unwrap());
        assert_eq!(StoredGate::from_bytes(&bytes).unwrap(), gate);
        assert_eq!(StoredGate::of_key(&bytes, &gate.key, gate.gate.shape()).unwrap(), gate);
        let other = Key::of("other".to_owned());
        let shape = gate.gate.shape();
        assert_eq!(StoredGate::of_key(&bytes, &other, shape).unwrap_err(), "it holds the gate of another key");
        let wider = Shape { arity: 3, ..shape };
        assert_eq!(StoredGate::of_key(&bytes, &gate.key, wider).unwrap_err(), "its sizes are not those of its key");
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            // A flipped bit can leave a sound file only where it changes nothing: a space of the header.
            if let Ok(read) = StoredGate::of_key(&damaged, &gate.key, shape) {
                assert_eq!(read, gate, "{at}");
            }
        }
        for length in [0, 7, 8, 100, bytes.len() - 1] {
            assert!(StoredGate::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
    }
}
