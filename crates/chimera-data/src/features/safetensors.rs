//! Features from `.safetensors`: a matrix of numbers, and ids in a tensor of integers where there is one.

use std::fs;

use ::safetensors::{Dtype, SafeTensors};

use super::choose::{Described, choose};
use super::content::{Content, FeatureSource};
use super::element::Element;
use super::stored::damaged;
use crate::error::{Error, Result};

/// Reads the features and the ids; no other tensor is decoded.
pub(super) fn read(source: &FeatureSource, id_column: &str) -> Result<Content> {
    let path = source.path.as_path();
    let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| damaged(path, &error))?;
    let mut views: Vec<_> = tensors.iter().collect();
    views.sort_by_key(|(name, _)| *name);
    let describe = |(name, view): &(&str, ::safetensors::tensor::TensorView<'_>)| Described {
        name: (*name).to_owned(),
        element: element_of(view.dtype()),
        type_name: format!("{:?}", view.dtype()),
        shape: view.shape().to_vec(),
    };
    let arrays: Vec<Described> = views.iter().map(describe).collect();
    let choice = choose(path, &arrays, source.array.as_deref(), id_column)?;
    let chosen = &arrays[choice.features];
    let values = chosen.element.and_then(|element| element.numbers(views[choice.features].1.data(), true));
    let mut content = Content::of_matrix(chosen, values.unwrap_or_default());
    if let Some(ids) = choice.ids {
        content.ids = arrays[ids].element.and_then(|element| element.texts(views[ids].1.data(), true));
    }
    content.note_unused(&arrays, choice);
    Ok(content)
}

fn element_of(dtype: Dtype) -> Option<Element> {
    match dtype {
        Dtype::F16 => Some(Element::Half),
        Dtype::BF16 => Some(Element::BrainHalf),
        Dtype::F32 => Some(Element::Single),
        Dtype::F64 => Some(Element::Double),
        Dtype::BOOL => Some(Element::Boolean),
        Dtype::I8 => Some(Element::Integer(1, true)),
        Dtype::I16 => Some(Element::Integer(2, true)),
        Dtype::I32 => Some(Element::Integer(4, true)),
        Dtype::I64 => Some(Element::Integer(8, true)),
        Dtype::U8 => Some(Element::Integer(1, false)),
        Dtype::U16 => Some(Element::Integer(2, false)),
        Dtype::U32 => Some(Element::Integer(4, false)),
        Dtype::U64 => Some(Element::Integer(8, false)),
        _ => None,
    }
}
