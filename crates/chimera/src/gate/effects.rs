//! What concepts add to z, for grafts: fitted to the rows that gates are taught on, measured on rows that nothing was taught on,
//! and kept in the model.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_gate::effects::{Design, Explained};
use chimera_gate::graft::Effects;
use chimera_logic::bits::TruthTable;
use safetensors::tensor::{Dtype, TensorView};
use serde::{Deserialize, Serialize};

use super::lesson::Slices;
use crate::error::{Error, Result};
use crate::file::write_atomic;
use crate::parallel::in_parallel;

/// Numbers of z that a thread fits at a time.
const TOGETHER: usize = 32;

/// How much of z concepts explain, on rows that effects were not fitted to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExplainedReport {
    /// The share of the variance of z; `None` where there is nothing to tell.
    pub overall: Option<f64>,
    /// How well each concept's label is seen along the direction of its effect, from 0 to 1.
    pub concepts: BTreeMap<String, Option<f64>>,
}

impl ExplainedReport {
    pub(super) fn new(explained: &Explained, concepts: &[String]) -> Self {
        let named = concepts.iter().cloned().zip(explained.concepts.iter().copied());
        Self { overall: explained.overall, concepts: named.collect() }
    }
}

/// Fits effects of all concepts.
///
/// # Errors
/// No rows, or labels of which no effects can be told.
pub(super) fn fit(
    z: &Slices<'_>,
    labels: &TruthTable,
    width: usize,
    rectified: bool,
    threads: NonZeroUsize,
) -> Result<Effects> {
    let design = Design::new(labels).ok_or_else(|| {
        let message = "grafts need to know what concepts add to z, and labels of the train rows do not tell";
        Error::input(message.to_owned(), Some("`--negatives chimera` needs none of it".to_owned()))
    })?;
    let parts = in_parallel(threads, width.div_ceil(TOGETHER), |part| {
        Ok(design.fit(z, part * TOGETHER..((part + 1) * TOGETHER).min(width), rectified))
    })?;
    Ok(design.join(&parts, rectified))
}

/// A hash of all numbers, for keys of gates.
pub(super) fn fingerprint(effects: &Effects) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("chimera effects");
    hasher.update(&[u8::from(effects.rectified)]);
    for numbers in [&effects.base, &effects.added, &effects.spread, &effects.shares] {
        numbers.iter().for_each(|number| _ = hasher.update(&number.to_le_bytes()));
    }
    hasher.finalize().to_string()
}

/// Writes effects under the name of their content and gives that name.
pub(super) fn write(effects: &Effects, folder: &Path) -> Result<String> {
    let refused = |error: &dyn std::fmt::Display| Error::input(format!("cannot write the model: {error}"), None);
    let (width, concepts) = (effects.base.len(), effects.shares.len());
    let tensors = [
        ("added", vec![concepts, width], &effects.added),
        ("base", vec![width], &effects.base),
        ("shares", vec![concepts], &effects.shares),
        ("spread", vec![width], &effects.spread),
    ];
    let bytes = tensors.map(|(name, sizes, numbers)| {
        (name, sizes, numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>())
    });
    let views = bytes.iter().map(|(name, sizes, bytes)| {
        TensorView::new(Dtype::F32, sizes.clone(), bytes).map(|view| (*name, view)).map_err(|error| refused(&error))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let bytes = safetensors::serialize(views, None).map_err(|error| refused(&error))?;
    let name = format!("effects-{}.safetensors", &blake3::hash(&bytes).to_string()[..16]);
    write_atomic(&folder.join(&name), |out| out.write_all(&bytes))?;
    Ok(name)
}

/// Whether a path is that of a file of effects.
pub(super) fn is_effects(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("effects-") && name.ends_with(".safetensors")
}
