//! Weights of torchvision's networks from the files in which people have them: what `torch.save` wrote, or
//! safetensors. Formats are told by content, not by name, and nothing in a file is executed.

mod pickle;
mod torch;

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::path::Path;

use burn::module::Module;
use chimera_data::error::{Error, Result, lower_first};
use chimera_data::file::open_regular;
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensors};
use zip::ZipArchive;

use super::parameters;

/// Files beyond this are refused: the largest network here takes 50 MB.
const LARGEST: u64 = 2 << 30;

/// A tensor that needs more of its storage is refused, before anything is unpacked.
const LARGEST_STORAGE: u64 = 256 << 20;

/// What training scripts put before torchvision's names.
const PREFIXES: [&str; 3] = ["module.", "backbone.", "model."];

/// Beginnings of names that a network owns: a tensor of such a name that has no place is a sign of another network.
const OWNED: [&str; 7] = ["conv1.", "bn1.", "layer1.", "layer2.", "layer3.", "layer4.", "features."];

/// How numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Half,
    Brain,
    Single,
    Double,
    /// Integers and the like, so many bytes each. No weights are stored so.
    Other(usize),
}

/// Where numbers lie.
#[derive(Clone, Debug)]
enum Place {
    /// Bytes of the file.
    Bytes(Range<usize>),
    /// An entry of the zip archive.
    Zipped(String),
}

/// A tensor in a file: which of the numbers at a place it takes.
#[derive(Clone, Debug)]
struct Stored {
    kind: Kind,
    shape: Vec<usize>,
    strides: Vec<usize>,
    offset: usize,
    /// Numbers there are.
    count: usize,
    place: Place,
}

/// The network with all its parameters and running statistics read from a file. A classifier (`fc`, `classifier`) and
/// counters of batches in the file are left alone, and so are names that belong to no part of the network.
///
/// `bytes` is what [`read`] gave; `file` is for messages.
pub(super) fn filled<M: Module>(module: M, network: &str, file: &Path, bytes: &[u8]) -> Result<M> {
    let Contents { mut tensors, mut archive } = index(bytes).map_err(|problem| parameters::damaged(file, &problem))?;
    let module = parameters::replaced(module, &mut |name, shape| {
        let stored = tensors.remove(name).ok_or_else(|| missing(file, network, name, shape, &tensors))?;
        if stored.shape != shape {
            let what = format!("expected shape {shape:?} for `{name}`, got {:?}", stored.shape);
            return Err(other_network(file, network, &what));
        }
        let values = numbers(bytes, archive.as_mut(), &stored)
            .map_err(|problem| parameters::damaged(file, &format!("cannot read `{name}`: {problem}")))?;
        parameters::check_numbers(file, name, &values)?;
        Ok(values)
    })?;
    let counter = |name: &str| name.ends_with("num_batches_tracked");
    let left = tensors.keys().find(|name| !counter(name) && OWNED.iter().any(|owned| name.starts_with(owned)));
    match left {
        Some(name) => Err(other_network(file, network, &format!("`{name}` has no place in {network}"))),
        None => Ok(module),
    }
}

/// The content of a file of weights. Pipes and the like are refused: they have no content to go back to.
pub(super) fn read(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let opened = open_regular(file).map_err(|cause| Error::read(file, cause))?;
    opened.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|cause| Error::read(file, cause))?;
    if bytes.len() as u64 > LARGEST {
        return Err(parameters::damaged(file, "it is larger than 2 GiB"));
    }
    Ok(bytes)
}

/// Blake3 of the content of a file of weights.
///
/// # Errors
/// As [`read`].
pub fn hash_of(file: &Path) -> Result<String> {
    Ok(blake3::hash(&read(file)?).to_string())
}

/// What a file holds.
struct Contents<'a> {
    /// By name, without what training scripts put before it.
    tensors: BTreeMap<String, Stored>,
    archive: Option<Archive<'a>>,
}

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

fn index(bytes: &[u8]) -> std::result::Result<Contents<'_>, String> {
    let header = bytes.first_chunk().map(|length| u64::from_le_bytes(*length));
    let mut archive = None;
    let tensors = match bytes {
        [] => return Err("it is empty".to_owned()),
        [b'P', b'K', 3, 4, ..] => torch::zipped(archive.insert(torch::archive(bytes)?))?,
        [0x80, (2..), ..] if bytes.get(8) != Some(&b'{') => torch::unzipped(bytes)?,
        _ if bytes.get(8) == Some(&b'{') && header.is_some_and(|length| length < bytes.len() as u64) => safe(bytes)?,
        _ => return Err("expected a `.pth` of torch or a `.safetensors` file, got something else".to_owned()),
    };
    let mut plain = BTreeMap::new();
    for (name, stored) in tensors {
        let mut short = name.as_str();
        while let Some(rest) = PREFIXES.iter().find_map(|prefix| short.strip_prefix(prefix)) {
            short = rest;
        }
        if plain.insert(short.to_owned(), stored).is_some() {
            return Err(format!("`{short}` is in it twice, with different prefixes"));
        }
    }
    Ok(Contents { tensors: plain, archive })
}

fn safe(bytes: &[u8]) -> std::result::Result<BTreeMap<String, Stored>, String> {
    let damaged = |error: safetensors::SafeTensorError| {
        format!("it is no whole safetensors file ({})", lower_first(&error.to_string()))
    };
    let tensors = SafeTensors::deserialize(bytes).map_err(damaged)?;
    let stored = tensors.iter().map(|(name, view)| {
        let start = view.data().as_ptr().addr() - bytes.as_ptr().addr();
        let kind = Kind::of_dtype(view.dtype());
        let stored = Stored {
            kind,
            shape: view.shape().to_vec(),
            strides: row_major(view.shape()),
            offset: 0,
            count: view.data().len() / kind.size().max(1),
            place: Place::Bytes(start..start + view.data().len()),
        };
        (name.to_owned(), stored)
    });
    Ok(stored.collect())
}

fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        // A shape without numbers may have any sides; what is reached is checked where it is read.
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

impl Kind {
    fn of_class(class: &str) -> Self {
        match class.rsplit('.').next().unwrap_or_default() {
            "HalfStorage" => Self::Half,
            "BFloat16Storage" => Self::Brain,
            "FloatStorage" => Self::Single,
            "DoubleStorage" => Self::Double,
            "ByteStorage" | "CharStorage" | "BoolStorage" => Self::Other(1),
            "ShortStorage" => Self::Other(2),
            "IntStorage" => Self::Other(4),
            _ => Self::Other(8),
        }
    }

    fn of_dtype(dtype: Dtype) -> Self {
        match dtype {
            Dtype::F16 => Self::Half,
            Dtype::BF16 => Self::Brain,
            Dtype::F32 => Self::Single,
            Dtype::F64 => Self::Double,
            other => Self::Other(other.bitsize() / 8),
        }
    }

    fn size(self) -> usize {
        match self {
            Self::Half | Self::Brain => 2,
            Self::Single => 4,
            Self::Double => 8,
            Self::Other(size) => size,
        }
    }

    /// The number whose bytes these are, lowest first.
    fn number(self, bytes: &[u8]) -> Option<f32> {
        match self {
            Self::Half => bytes.first_chunk().map(|bytes| f16::from_le_bytes(*bytes).to_f32()),
            Self::Brain => bytes.first_chunk().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()),
            Self::Single => bytes.first_chunk().map(|bytes| f32::from_le_bytes(*bytes)),
            Self::Double => bytes.first_chunk().map(|bytes| f64::from_le_bytes(*bytes) as f32),
            Self::Other(_) => None,
        }
    }
}

/// The numbers of a tensor, row-major. Its shape is known to be a sensible one.
fn numbers(file: &[u8], archive: Option<&mut Archive<'_>>, stored: &Stored) -> std::result::Result<Vec<f32>, String> {
    if matches!(stored.kind, Kind::Other(_)) {
        return Err("expected floats of 16, 32 or 64 bits, got another type".to_owned());
    }
    let size = stored.kind.size();
    let reach = stored.shape.iter().zip(&stored.strides).try_fold(stored.offset, |reach, (length, stride)| {
        length.saturating_sub(1).checked_mul(*stride).and_then(|step| reach.checked_add(step))
    });
    let numbers = reach.and_then(|last| last.checked_add(1)).ok_or("it claims more than this machine can count")?;
    if numbers > stored.count {
        return Err(format!("expected {numbers} numbers in its storage, got {}", stored.count));
    }
    let needed = numbers.checked_mul(size).filter(|needed| *needed as u64 <= LARGEST_STORAGE);
    let needed = needed.ok_or("it claims more than 256 MiB")?;
    let unpacked;
    let bytes = match (&stored.place, archive) {
        (Place::Bytes(range), _) => file.get(range.clone()).unwrap_or_default(),
        (Place::Zipped(name), Some(archive)) => {
            unpacked = torch::entry(archive, name, needed as u64)?;
            unpacked.as_slice()
        }
        (Place::Zipped(_), None) => &[],
    };
    if bytes.len() < needed {
        return Err(format!("expected {needed} bytes, got {}", bytes.len()));
    }
    let count = stored.shape.iter().product();
    let at = |place: usize| {
        let mut rest = place;
        let steps = stored.shape.iter().zip(&stored.strides).rev().map(|(length, stride)| {
            let step = rest % length * stride;
            rest /= length;
            step
        });
        (stored.offset + steps.sum::<usize>()) * size
    };
    (0..count)
        .map(|place| stored.kind.number(&bytes[at(place)..]))
        .collect::<Option<_>>()
        .ok_or("it is cut off".to_owned())
}

fn missing(file: &Path, network: &str, name: &str, shape: &[usize], left: &BTreeMap<String, Stored>) -> Error {
    let sample = left.keys().find(|name| name.contains('.')).or(left.keys().next());
    let got = sample.map_or("no tensors".to_owned(), |sample| format!("none, but tensors such as `{sample}`"));
    other_network(file, network, &format!("expected a tensor `{name}` of shape {shape:?}, got {got}"))
}

fn other_network(file: &Path, network: &str, what: &str) -> Error {
    let hint = format!("the file must hold torchvision's {network}, with or without its classifier");
    Error::input(format!("cannot use the weights in `{}`: {what}", file.display()), Some(hint))
}

#[cfg(test)]
mod tests;
