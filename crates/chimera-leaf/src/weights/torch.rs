//! The two layouts of files that `torch.save` has written: a zip archive with a pickle and one entry a storage, and,
//! before torch 1.6, several pickles in a row with the storages behind them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::rc::Rc;

use zip::ZipArchive;

use super::pickle::{self, Id, Pickle, Value};
use super::{Archive, Kind, Place, Stored};

/// No pickle of a state dict is longer: 100,000 tensors take 20 MB.
const LONGEST_PICKLE: u64 = 64 << 20;

/// 0x1950a86a20f9469cfc6c, with which an old file begins, lowest byte first.
const MAGIC: [u8; 10] = [0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19];

/// Keys under which training scripts keep the weights among other things.
const NESTED: [&str; 5] = ["state_dict", "model_state_dict", "model", "net", "network"];

pub(super) fn archive(bytes: &[u8]) -> Result<Archive<'_>, String> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| format!("the zip archive is damaged ({error})"))
}

/// The tensors of a zip archive by name.
pub(super) fn zipped(archive: &mut Archive<'_>) -> Result<BTreeMap<String, Stored>, String> {
    let main = archive.file_names().flatten().find(|name| *name == "data.pkl" || name.ends_with("/data.pkl"));
    let main = main.map(Cow::into_owned);
    let main = main.ok_or("the zip archive has no `data.pkl`")?;
    let folder = main.trim_end_matches("data.pkl").to_owned();
    let order = entry(archive, &format!("{folder}byteorder"), 16).unwrap_or_default();
    if !order.is_empty() && order != b"little" {
        return Err("its numbers are stored highest byte first".to_owned());
    }
    let pickle = pickle::read(&entry(archive, &main, LONGEST_PICKLE)?)?;
    tensors(&pickle, &|key| Some(Place::Zipped(format!("{folder}data/{key}"))))
}

/// An entry of an archive, of which little more than `longest` bytes are unpacked.
pub(super) fn entry(archive: &mut Archive<'_>, name: &str, longest: u64) -> Result<Vec<u8>, String> {
    let damaged = |error: &dyn std::fmt::Display| format!("the entry `{name}` of the zip archive is damaged ({error})");
    let file = archive.by_name(name).map_err(|error| damaged(&error))?;
    let mut unpacked = Vec::new();
    // One byte more: the checksum is looked at when the end is seen.
    file.take(longest + 1).read_to_end(&mut unpacked).map_err(|error| damaged(&error))?;
    Ok(unpacked)
}

/// The tensors of a file in the old layout by name.
pub(super) fn unzipped(bytes: &[u8]) -> Result<BTreeMap<String, Stored>, String> {
    let mut at = 0;
    let mut next = || {
        let longest = usize::try_from(LONGEST_PICKLE).unwrap_or(usize::MAX);
        let rest = &bytes[at..];
        let pickle = pickle::read(&rest[..rest.len().min(longest)])?;
        at += pickle.length;
        Ok::<Pickle, String>(pickle)
    };
    let magic = next()?;
    if magic.values[magic.root] != Value::Long(MAGIC.to_vec()) {
        return Err("it is a pickle, but not of `torch.save`".to_owned());
    }
    // Version of the layout, then sizes of C's integers on the machine that wrote the file.
    next()?;
    next()?;
    let (state, keys) = (next()?, next()?);
    let ranges = storage_ranges(bytes, at, &state, &keys)?;
    tensors(&state, &|key| ranges.get(key).cloned().map(Place::Bytes))
}

/// Where the storages lie: in the order of their keys, each after its length in numbers.
fn storage_ranges(
    bytes: &[u8],
    mut at: usize,
    state: &Pickle,
    keys: &Pickle,
) -> Result<BTreeMap<Rc<str>, Range<usize>>, String> {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for value in &state.values {
        if let Value::Storage(storage) = value {
            sizes.insert(&storage.key, Kind::of_class(&storage.class).size());
        }
    }
    let Value::List(keys_in_order) = &keys.values[keys.root] else {
        return Err("its list of storages is damaged".to_owned());
    };
    let mut ranges = BTreeMap::new();
    for id in keys_in_order {
        let Value::Text(key) = &keys.values[*id] else { return Err("its list of storages is damaged".to_owned()) };
        let size = *sizes.get(&**key).ok_or("its list of storages is damaged")?;
        let count = bytes.get(at..).and_then(<[u8]>::first_chunk).map(|count| u64::from_le_bytes(*count));
        let length = count.and_then(|count| usize::try_from(count).ok()).and_then(|count| count.checked_mul(size));
        let end = length.and_then(|length| (at + 8).checked_add(length)).filter(|end| *end <= bytes.len());
        let end = end.ok_or("the file is cut off")?;
        ranges.insert(key.clone(), at + 8..end);
        at = end;
    }
    Ok(ranges)
}

/// The tensors of a state dict, which may lie one level down in what a training script saved.
fn tensors(pickle: &Pickle, place: &dyn Fn(&str) -> Option<Place>) -> Result<BTreeMap<String, Stored>, String> {
    let mut found = BTreeMap::new();
    for (name, id) in state_dict(pickle)? {
        let Value::Tensor(tensor) = &pickle.values[id] else { continue };
        let Some(place) = place(&tensor.storage.key) else { continue };
        let stored = Stored {
            kind: Kind::of_class(&tensor.storage.class),
            shape: tensor.shape.clone(),
            strides: tensor.strides.clone(),
            offset: tensor.offset,
            count: tensor.storage.count,
            place,
        };
        found.insert(name, stored);
    }
    Ok(found)
}

fn state_dict(pickle: &Pickle) -> Result<Vec<(String, Id)>, String> {
    let entries = |id: Id| -> Option<Vec<(String, Id)>> {
        let Value::Dict(entries) = &pickle.values[id] else { return None };
        let named = |(key, value): &(Id, Id)| match &pickle.values[*key] {
            Value::Text(key) => Some((key.to_string(), *value)),
            _ => None,
        };
        Some(entries.iter().filter_map(named).collect())
    };
    let is_tensor = |(_, id): &(String, Id)| matches!(pickle.values[*id], Value::Tensor(_));
    let Some(top) = entries(pickle.root) else {
        let class = match &pickle.values[pickle.root] {
            Value::Other(class) => class,
            _ => "something else",
        };
        return Err(format!("expected a state dict, got {class}; save `model.state_dict()` instead of `model`"));
    };
    // One level down first: what stands beside the weights may be tensors too, such as the best accuracy so far.
    let nested = NESTED.iter().find_map(|wanted| {
        let (_, id) = top.iter().find(|(name, _)| name == wanted)?;
        entries(*id).filter(|nested| nested.iter().any(is_tensor))
    });
    nested.or_else(|| top.iter().any(is_tensor).then_some(top)).ok_or_else(|| "it holds no tensors".to_owned())
}
