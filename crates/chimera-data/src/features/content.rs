//! A file of features, and the content that a reader finds in it.

use std::path::PathBuf;

use super::choose::{Choice, Described};
use super::element::Element;

/// A file of features.
#[derive(Clone, Debug)]
pub struct FeatureSource {
    /// `.npy`, `.npz`, `.safetensors` or `.parquet`.
    pub path: PathBuf,
    /// The array, or column of lists, to take where a file has several; by default the only one, or `z`, `features`,
    /// `embeddings` or `x`.
    pub array: Option<String>,
}

/// What a file holds for us: a matrix, row-major, and the ids of its rows where it has them.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) rows: usize,
    pub(super) width: usize,
    pub(super) values: Vec<f32>,
    pub(super) ids: Option<Vec<String>>,
    pub(super) unused: Vec<String>,
    pub(super) converted: Vec<String>,
}

impl Content {
    /// A matrix that was decoded.
    pub(super) fn of_matrix(array: &Described, values: Vec<f32>) -> Self {
        let (rows, width) = match array.shape.as_slice() {
            &[rows, width] => (rows, width),
            _ => (0, 0),
        };
        let is_converted = !array.element.is_some_and(Element::is_float);
        let converted = is_converted.then(|| array.name.clone()).into_iter().collect();
        Self { rows, width, values, converted, ..Self::default() }
    }

    pub(super) fn note_unused(&mut self, arrays: &[Described], choice: Choice) {
        let is_unused = |position: &usize| *position != choice.features && Some(*position) != choice.ids;
        self.unused = (0..arrays.len()).filter(is_unused).map(|position| arrays[position].name.clone()).collect();
    }
}
