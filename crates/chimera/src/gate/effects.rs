//! What concepts add to z, for grafts: fitted to the rows that gates are taught on, measured on rows that nothing was taught on,
//! and kept in the model.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_data::parallel::{in_parallel, join_columns, parts};
use chimera_gate::cone::Features;
use chimera_gate::effects::{Design, Explained};
use chimera_gate::graft::{Effects, Labels};
use chimera_logic::bits::TruthTable;
use chimera_logic::vocabulary::Vocabulary;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::named::{concepts_in, named_concepts};
use super::slices::Slices;

/// Numbers of z that a thread fits at a time.
const TOGETHER: usize = 16;

/// Samples that a thread asks about at a time.
const SAMPLES: usize = 64;

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
        Error::input(message.to_owned(), Some("`--grafts=false` and `--negatives chimera` need none of it".to_owned()))
    })?;
    let parts = in_parallel(threads, width.div_ceil(TOGETHER), |part| {
        Ok(design.fit(z, part * TOGETHER..((part + 1) * TOGETHER).min(width), rectified))
    })?;
    Ok(design.join(&parts, rectified))
}

/// How far samples go along each concept's effect (see [`Effects::along`]).
///
/// # Shapes
/// concepts x rows.
pub(super) fn along(effects: &Effects, z: &impl Features, labels: &Labels, threads: NonZeroUsize) -> Result<Vec<f32>> {
    let parts = parts(labels.rows(), SAMPLES, threads);
    let along = in_parallel(threads, parts.len(), |part| Ok(effects.along(z, labels, parts[part].clone())))?;
    Ok(join_columns(effects.shares.len(), &along))
}

/// Measures how much of z labels explain.
pub(super) fn explained(
    effects: &Effects,
    z: &impl Features,
    table: &TruthTable,
    threads: NonZeroUsize,
) -> Result<Explained> {
    let labels = Labels::of(table);
    let along = along(effects, z, &labels, threads)?;
    Ok(Explained { overall: effects.explained_of_z(z, &labels), concepts: effects.told_along(&along, table) })
}

/// A hash of all numbers, and of the labels that grafts change, for keys of gates.
pub(super) fn fingerprint(effects: &Effects, labels: &TruthTable) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("chimera effects");
    hasher.update(&[u8::from(effects.rectified)]);
    for numbers in [&effects.base, &effects.added, &effects.spread, &effects.shares] {
        numbers.iter().for_each(|number| _ = hasher.update(&number.to_le_bytes()));
    }
    for concept in 0..labels.columns() {
        hasher.update(bytemuck::cast_slice(labels.value().column(concept)));
        labels.known().iter().for_each(|known| _ = hasher.update(bytemuck::cast_slice(known.column(concept))));
    }
    hasher.finalize().to_string()
}

/// Writes effects under the name of their content and gives that name.
pub(super) fn write(effects: &Effects, vocabulary: &Vocabulary, folder: &Path) -> Result<String> {
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
    let names = named_concepts(vocabulary.names()).map_err(|error| refused(&error))?;
    let bytes = safetensors::serialize(views, Some(names)).map_err(|error| refused(&error))?;
    let name = name_of(&bytes);
    write_atomic(&folder.join(&name), |out| out.write_all(&bytes))?;
    Ok(name)
}

/// The name that such a file has for its content.
fn name_of(bytes: &[u8]) -> String {
    format!("effects-{}.safetensors", &blake3::hash(bytes).to_string()[..16])
}

/// Reads effects of these concepts on so many numbers; whether z comes out of a ReLU is the encoder's business.
pub(super) fn read(path: &Path, rectified: bool, (concepts, width): (&[String], usize)) -> Result<Effects> {
    let bytes = std::fs::read(path).map_err(|cause| Error::read(path, cause))?;
    let refuse = || {
        let message = format!("expected `{}` as it was trained, got other content", path.display());
        Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
    };
    if path.file_name().is_none_or(|name| *name != *name_of(&bytes)) {
        return Err(refuse());
    }
    if concepts_in(&bytes).is_none_or(|names| names != concepts) {
        return Err(refuse());
    }
    let concepts = concepts.len();
    let file = SafeTensors::deserialize(&bytes).map_err(|_| refuse())?;
    let numbers = |name: &str| -> Result<Vec<f32>> {
        Ok(bytemuck::pod_collect_to_vec(file.tensor(name).map_err(|_| refuse())?.data()))
    };
    let (base, added, spread, shares) = (numbers("base")?, numbers("added")?, numbers("spread")?, numbers("shares")?);
    if [base.len(), spread.len(), shares.len(), added.len()] != [width, width, concepts, concepts * width] {
        return Err(refuse());
    }
    Ok(Effects { base, added, spread, shares, rectified })
}

/// Whether a path is that of a file of effects.
pub(super) fn is_effects(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("effects-") && name.ends_with(".safetensors")
}
