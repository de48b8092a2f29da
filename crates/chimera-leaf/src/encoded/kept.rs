//! What earlier runs encoded, looked up sample by sample. Nothing on disk is changed, and what is not there is no error: a
//! cache that is missing, damaged or not ours to write serves as far as it goes.

use std::collections::BTreeMap;

use chimera_data::chunks::{Chunk, Digest, Place};

use super::cache::{digest, store};
use super::{EncodedParams, RowKey};

/// Samples in the cache of one encoder. Memory holds a digest and a place for each; z stays on disk.
#[derive(Debug, Default)]
pub struct Kept {
    features: usize,
    chunks: Vec<Chunk>,
    places: BTreeMap<Digest, Place>,
}

impl Kept {
    /// Opens what is there.
    #[must_use]
    pub fn open(params: &EncodedParams<'_>) -> Self {
        let features = params.features.get();
        let mut store = store(params, size_of::<f32>() * (features + params.concepts));
        if store.scan(&|_| true, false).is_err() {
            return Self::default();
        }
        let (chunks, places, _) = store.into_places();
        Self { features, chunks, places }
    }

    /// Whether no sample can be found here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// z and logits of a sample.
    #[must_use]
    pub fn find(&self, key: &RowKey<'_>) -> Option<(&[f32], &[f32])> {
        let place = self.places.get(&digest(key))?;
        let bytes = self.chunks.get(place.chunk)?.row(place.slot)?;
        // Maps begin on a page and rows are whole numbers of `f32`, so the bytes are aligned.
        bytemuck::cast_slice(bytes).split_at_checked(self.features)
    }
}
