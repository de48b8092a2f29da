//! Filling the cache: which rows are missing, and writing them chunk by chunk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;

use chimera_data::chunks::{self, Digest, Entry, Store, StoreParams, write_list};
use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;

use super::{Encoded, EncodedParams, EncoderFingerprint, RowKey};

/// Raised when chunks are written in another way.
/// Chunks of version 1 may hold z of frames that were damaged on disk and not checked.
const VERSION: u32 = 2;
/// Where there are rows enough, at least so many chunks are made, so that a kill loses little.
const FEWEST_CHUNKS: usize = 16;
/// No chunk is made smaller than this for the sake of their number.
const FEWEST_ROWS: usize = 64;

/// A cache that may lack rows. Where it does, no other process fills it while this one lives; it waits and then uses
/// what was made. A thread that has one must not open another of the same encoder.
#[derive(Debug)]
pub struct EncodedCache<'a> {
    keys: &'a [RowKey<'a>],
    digests: Vec<Digest>,
    features: usize,
    concepts: usize,
    chunk_rows: usize,
    store: Store,
    /// Held while rows are missing; gone with the process.
    lock: Option<File>,
    missing: Vec<usize>,
    encoded: usize,
}

impl<'a> EncodedCache<'a> {
    /// Looks for the rows with these keys. Damaged chunks are renamed to `.damaged`, their rows are missing. Where
    /// nothing is missing nothing is written: a cache on a read-only disk serves too. `waiting` is called where another
    /// process is filling the cache, before this one waits for it.
    ///
    /// # Errors
    /// Where the folder cannot be used.
    pub fn open(params: &EncodedParams<'a>, keys: &'a [RowKey<'a>], waiting: &dyn Fn()) -> Result<Self> {
        let (features, concepts) = (params.features.get(), params.concepts);
        let row_bytes = size_of::<f32>() * (features + concepts);
        let mut cache = Self {
            keys,
            digests: keys.iter().map(digest).collect(),
            features,
            concepts,
            chunk_rows: 0,
            store: store(params, row_bytes),
            lock: None,
            missing: Vec::new(),
            encoded: 0,
        };
        cache.scan(false)?;
        cache.missing = cache.find_missing();
        if !cache.missing.is_empty() {
            cache.lock = cache.store.lock(waiting)?;
            cache.scan(cache.lock.is_some())?;
            cache.missing = cache.find_missing();
        }
        if cache.missing.is_empty() {
            cache.lock = None;
        }
        let fitting = params.chunk_bytes / row_bytes;
        cache.chunk_rows = fitting.min(cache.missing.len().div_ceil(FEWEST_CHUNKS).max(FEWEST_ROWS)).max(1);
        Ok(cache)
    }

    /// Rows that lie in no chunk, each key once, ascending.
    #[must_use]
    pub fn missing(&self) -> &[usize] {
        &self.missing
    }

    /// A good number of rows for one [`Self::write`].
    #[must_use]
    pub fn chunk_rows(&self) -> usize {
        self.chunk_rows
    }

    /// Writes the rows of these numbers as one chunk.
    ///
    /// # Shapes
    /// `z`: rows x features; `logits`: rows x concepts; both row-major.
    ///
    /// # Errors
    /// Numbers that are not finite, with the sample's name; slices of another length; where the folder cannot be
    /// written.
    pub fn write(&mut self, rows: &[usize], z: &[f32], logits: &[f32]) -> Result<()> {
        self.check(rows, z, logits)?;
        if rows.is_empty() {
            return Ok(());
        }
        let digests: Vec<Digest> = rows.iter().map(|&row| self.digests[row]).collect();
        let written = write_atomic(&self.store.path(&digests), |writer| {
            let mut entries = Vec::with_capacity(rows.len());
            let mut values = Vec::with_capacity(self.features + self.concepts);
            for (number, &source) in digests.iter().enumerate() {
                values.clear();
                values.extend_from_slice(&z[number * self.features..][..self.features]);
                values.extend_from_slice(&logits[number * self.concepts..][..self.concepts]);
                let bytes: &[u8] = bytemuck::cast_slice(&values);
                writer.write_all(bytes)?;
                entries.push(Entry { source, content: *blake3::hash(bytes).as_bytes() });
            }
            write_list(writer, self.store.title(), &entries)
        });
        // The chunk's own name says nothing to whoever must make room.
        written.map_err(|error| match error {
            Error::Write { cause, .. } => Error::write(self.store.folder(), cause),
            other => other,
        })?;
        let written: BTreeSet<Digest> = digests.into_iter().collect();
        self.missing.retain(|&row| !written.contains(&self.digests[row]));
        self.encoded += written.len();
        Ok(())
    }

    fn check(&self, rows: &[usize], z: &[f32], logits: &[f32]) -> Result<()> {
        if let Some(row) = rows.iter().find(|row| **row >= self.keys.len()) {
            return Err(Error::input(format!("there is no row {row} among {} samples", self.keys.len()), None));
        }
        for (values, width, name) in [(z, self.features, "features"), (logits, self.concepts, "logits")] {
            if rows.len().checked_mul(width) != Some(values.len()) {
                let message = format!("expected {} x {width} {name}, got {}", rows.len(), values.len());
                return Err(Error::input(message, None));
            }
            if let Some(wrong) = values.iter().position(|value| !value.is_finite()) {
                let (id, value) = (self.keys[rows[wrong / width]].id, values[wrong]);
                let message = format!("expected finite {name} of sample `{id}`, got {value} at {}", wrong % width);
                let hint = "look at the sample and at the encoder's weights; a lower learning rate may help";
                return Err(Error::input(message, Some(hint.to_owned())));
            }
        }
        Ok(())
    }

    /// Encodes everything that is missing: `encode` fills z and logits of the rows it is given, `batch` at most at a
    /// time.
    /// `progress` is told how many of the missing rows are done.
    ///
    /// # Errors
    /// The error of `encode`, and as [`Self::write`]. Chunks that were written stay.
    pub fn fill(
        &mut self,
        batch: NonZeroUsize,
        mut encode: impl FnMut(&[usize], &mut [f32], &mut [f32]) -> Result<()>,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<()> {
        let total = self.missing.len();
        let (mut z, mut logits, mut done) = (Vec::new(), Vec::new(), 0);
        while !self.missing.is_empty() {
            let rows = self.missing[..self.chunk_rows.min(self.missing.len())].to_vec();
            z.resize(rows.len() * self.features, 0.0);
            logits.resize(rows.len() * self.concepts, 0.0);
            for (number, batch_rows) in rows.chunks(batch.get()).enumerate() {
                let (first, count) = (number * batch.get(), batch_rows.len());
                let z = &mut z[first * self.features..][..count * self.features];
                let logits = &mut logits[first * self.concepts..][..count * self.concepts];
                encode(batch_rows, z, logits)?;
                done += count;
                progress(done, total);
            }
            self.write(&rows, &z, &logits)?;
        }
        Ok(())
    }

    /// Opens all rows for reading and lets others fill the cache.
    ///
    /// # Errors
    /// Rows that are still missing, or were damaged as soon as they were written.
    pub fn finish(mut self) -> Result<Encoded> {
        if let Some(&row) = self.missing.first() {
            let (id, count, all) = (self.keys[row].id, self.missing.len(), self.keys.len());
            let message = format!("expected {all} encoded samples, but {count} are missing, the first of them `{id}`");
            return Err(Error::input(message, None));
        }
        self.scan(false)?;
        self.store.mark_used();
        let folder = self.store.folder().to_owned();
        let (chunks, found, set_aside) = self.store.into_places();
        let places = self.digests.iter().map(|digest| found.get(digest).copied()).collect::<Option<Vec<_>>>();
        let places = places.ok_or_else(|| {
            Error::read(&folder, io::Error::other("encoded samples were damaged as soon as they were written"))
        })?;
        let Self { features, concepts, encoded, .. } = self;
        Ok(Encoded { features, concepts, chunks, places, set_aside, encoded })
    }

    fn scan(&mut self, alone: bool) -> Result<()> {
        let wanted: BTreeSet<&Digest> = self.digests.iter().collect();
        self.store.scan(&|digest| wanted.contains(digest), alone)
    }

    fn find_missing(&self) -> Vec<usize> {
        let mut known: BTreeSet<Digest> = self.store.sources().collect();
        (0..self.keys.len()).filter(|&row| known.insert(self.digests[row])).collect()
    }
}

/// The chunks of an encoder.
pub(super) fn store(params: &EncodedParams<'_>, row_bytes: usize) -> Store {
    let &EncodedParams { folder, encoder, features, concepts, threads, .. } = params;
    let title = title(&encoder, features.get(), concepts);
    Store::new(StoreParams { folder, title, extension: "encoded", row_bytes, threads })
}

fn title(encoder: &EncoderFingerprint, features: usize, concepts: usize) -> String {
    // Numbers lie on disk as in memory; a machine with another order has another folder.
    let order = if cfg!(target_endian = "big") { "big" } else { "little" };
    format!(
        "chimera encoded samples {VERSION}\nencoder {encoder}\nfeatures {features}\nconcepts {concepts}\norder {order}\n\
         arithmetic {}\n",
        arithmetic()
    )
}

/// The name of the folder of an encoder's chunks.
pub fn folder_name(encoder: &EncoderFingerprint, features: usize, concepts: usize) -> String {
    chunks::folder_name(&title(encoder, features, concepts))
}

/// The instructions that products are computed with: others round in another way.
fn arithmetic() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            return "avx512";
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            return "avx2";
        }
    }
    std::env::consts::ARCH
}

/// One digest for id and content, so that no two keys look alike.
pub(super) fn digest(key: &RowKey<'_>) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("chimera encoded sample");
    hasher.update(&(key.id.len() as u64).to_le_bytes()).update(key.id.as_bytes()).update(&key.content);
    *hasher.finalize().as_bytes()
}
