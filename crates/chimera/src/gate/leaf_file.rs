//! The file with what leaves give their gates, by concept, where that is not z itself.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_gate::cone::LeafFeature;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::naming::ConceptFeatures;

/// Writes features of leaves under the name of their content, and gives that name; `None` where all leaves give z.
pub(super) fn write(leaves: &ConceptFeatures, folder: &Path) -> Result<Option<String>> {
    if leaves.is_empty() {
        return Ok(None);
    }
    let refused = |error: &dyn std::fmt::Display| Error::input(format!("cannot write the model: {error}"), None);
    let mut tensors = Vec::new();
    for (concept, feature) in leaves {
        if let LeafFeature::Affine { shift, scale } = feature {
            for (part, numbers) in [("shift", shift), ("scale", scale)] {
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                tensors.push((format!("{concept}.{part}"), numbers.len(), bytes));
            }
        }
    }
    let views = tensors.iter().map(|(name, length, bytes)| {
        TensorView::new(Dtype::F32, vec![*length], bytes).map(|view| (name, view)).map_err(|error| refused(&error))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let bytes = safetensors::serialize(views, None).map_err(|error| refused(&error))?;
    let name = name_of(&bytes);
    write_atomic(&folder.join(&name), |out| out.write_all(&bytes))?;
    Ok(Some(name))
}

/// The name of a file with this content.
fn name_of(bytes: &[u8]) -> String {
    format!("features-{}.safetensors", &blake3::hash(bytes).to_string()[..16])
}

/// Returns true for the path of such a file.
pub(super) fn is_leaf_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("features-") && name.ends_with(".safetensors")
}

/// Reads such a file.
pub(super) fn read(path: &Path) -> Result<ConceptFeatures> {
    let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
    let refuse = || {
        let message = format!("expected `{}` as it was trained, got other content", path.display());
        Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
    };
    let named = name_of(&bytes);
    if path.file_name().is_none_or(|name| *name != *named) {
        return Err(refuse());
    }
    let file = SafeTensors::deserialize(&bytes).map_err(|_| refuse())?;
    let numbers = |name: &str| -> Result<Arc<[f32]>> {
        let tensor = file.tensor(name).map_err(|_| refuse())?;
        Ok(bytemuck::pod_collect_to_vec::<u8, f32>(tensor.data()).into())
    };
    let concepts = file.names().into_iter().filter_map(|name| name.strip_suffix(".shift").map(str::to_owned));
    concepts
        .map(|concept: String| {
            let (shift, scale) = (numbers(&format!("{concept}.shift"))?, numbers(&format!("{concept}.scale"))?);
            Ok((concept, LeafFeature::Affine { shift, scale }))
        })
        .collect()
}
