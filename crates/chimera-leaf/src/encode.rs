//! Encoding once: z and logits of every sample of a dataset, from the cache or from the bank.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera_data::dataset::rows::Rows;
use chimera_data::error::{Error, Result};

use super::bank::LeafBank;
use super::encoded::{CHUNK_BYTES, Encoded, EncodedParams, EncoderFingerprint};
pub use super::fill::Progress;
use super::fill::{through_cache, together};
use super::vectors::View;

/// z and logits by the numbers of a dataset's rows.
#[derive(Debug)]
pub struct EncodedRows {
    encoded: Encoded,
    /// Where each row of the dataset lies; rows without a medium have no place.
    places: Vec<Option<usize>>,
    /// Blake3 of what every sample was made of.
    content: String,
    /// What each sample was made of; rows without a medium have nothing.
    contents: Vec<Option<[u8; 32]>>,
}

impl EncodedRows {
    /// Encodes all samples that have something to look at, unless the cache in `folder` has them.
    ///
    /// # Errors
    /// A folder that cannot be used, and z that is not finite, with the sample's name.
    pub fn make(
        bank: &LeafBank,
        view: View<'_>,
        folder: &Path,
        threads: NonZeroUsize,
        progress: &dyn Fn(Progress),
    ) -> Result<Self> {
        let features = NonZeroUsize::new(bank.config().encoder.features()).unwrap_or(NonZeroUsize::MIN);
        let encoder = EncoderFingerprint::of(&bank.bank_fingerprint()?, &bank.tensors());
        let concepts = bank.config().concepts.len();
        let params = EncodedParams { folder, encoder, features, concepts, threads, chunk_bytes: CHUNK_BYTES };
        let together = together(bank);
        let (encoded, places) = through_cache(&params, view.samples, together, progress, &mut |rows, z, logits| {
            let answer = view.encoded(bank, rows)?;
            z.iter_mut().zip(answer.z.into_data().iter::<f32>()).for_each(|(to, from)| *to = from);
            logits.iter_mut().zip(answer.logits.into_data().iter::<f32>()).for_each(|(to, from)| *to = from);
            Ok(())
        })?;
        let ids = &view.samples.dataset().table().ids;
        let contents: Vec<Option<[u8; 32]>> = (0..ids.len()).map(|row| view.samples.content_hash(row)).collect();
        // By id: a table with its rows in another order is the same data.
        let by_id: BTreeMap<&str, &Option<[u8; 32]>> = ids.iter().zip(&contents).collect();
        let mut content = blake3::Hasher::new();
        for (id, of_row) in by_id {
            content.update(id.as_bytes()).update(&[0]).update(&of_row.unwrap_or_default());
        }
        Ok(Self { encoded, places, content: content.finalize().to_string(), contents })
    }

    /// A hash of the content of every sample: its medium or its given features.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    /// A hash of the content of one sample; `None` where it has no medium.
    #[must_use]
    pub fn content_of(&self, row: usize) -> Option<[u8; 32]> {
        self.contents[row]
    }

    /// The z of a row; `None` where it has no medium.
    #[must_use]
    pub fn z(&self, row: usize) -> Option<&[f32]> {
        self.places[row].map(|place| self.encoded.z(place))
    }

    /// Samples that were encoded now; the rest was on disk.
    #[must_use]
    pub fn encoded(&self) -> usize {
        self.encoded.encoded()
    }

    /// Chunks of the cache that were found damaged, where they lie now.
    #[must_use]
    pub fn set_aside(&self) -> &[PathBuf] {
        self.encoded.set_aside()
    }

    /// Those of some rows that are encoded.
    #[must_use]
    pub fn present<Purpose>(&self, rows: &Rows<Purpose>) -> Rows<Purpose> {
        rows.filtered(|row| self.places[row].is_some())
    }

    /// The logits of a row; `None` where it has no medium.
    #[must_use]
    pub fn logits_of(&self, row: usize) -> Option<&[f32]> {
        self.places[row].map(|place| self.encoded.logits(place))
    }

    /// The logits of rows that are encoded, row by row.
    ///
    /// # Errors
    /// A row that is not encoded.
    pub fn logits(&self, rows: &[usize]) -> Result<Vec<f32>> {
        let place = |&row: &usize| {
            self.places[row].ok_or_else(|| Error::input(format!("row {} is not encoded", row + 1), None))
        };
        let places = rows.iter().map(place).collect::<Result<Vec<usize>>>()?;
        let mut logits = Vec::new();
        self.encoded.gather_logits(&places, &mut logits)?;
        Ok(logits)
    }
}
