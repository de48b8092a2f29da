//! Features from `.safetensors`: a matrix of floats, and ids in a tensor of integers where there is one.

use std::fs;
use std::path::Path;

use ::safetensors::tensor::TensorView;
use ::safetensors::{Dtype, SafeTensors};

use super::stored::damaged;
use super::{Array, Arrays, Float};
use crate::error::{Error, Result};

/// All tensors by name, sorted; those of types that are of no use are `None`.
pub(super) fn read(path: &Path) -> Result<Arrays> {
    let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(path, &error))?;
    let mut arrays: Vec<_> = tensors.iter().map(|(name, view)| (name.to_owned(), array_of(&view))).collect();
    arrays.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(arrays)
}

fn array_of(view: &TensorView<'_>) -> Option<Array> {
    let float = |float: Float| Some(Array::Numbers(view.shape().to_vec(), float.decode(view.data(), true)));
    let [_] = view.shape() else {
        return match view.dtype() {
            Dtype::F16 => float(Float::Half),
            Dtype::F32 => float(Float::Single),
            Dtype::F64 => float(Float::Double),
            _ => None,
        };
    };
    let integers = |size: usize, signed: bool| {
        let text = |chunk: &[u8]| super::npy::integer_text(chunk, true, signed);
        Some(Array::Ids(view.data().chunks_exact(size).map(text).collect()))
    };
    match view.dtype() {
        Dtype::I32 => integers(4, true),
        Dtype::I64 => integers(8, true),
        Dtype::U32 => integers(4, false),
        Dtype::U64 => integers(8, false),
        _ => None,
    }
}
