//! Hashes of content that is a sequence of texts.

use std::fmt;

use serde::{Serialize, Serializer};

use super::names::Names;

/// A hash (blake3) of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub(crate) blake3::Hash);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Bytes that are hashed at a time: many short pieces take several times as long.
const TOGETHER: usize = 1 << 16;

/// Hashes a sequence of texts so that no two sequences look alike.
pub(crate) struct Texts {
    hasher: blake3::Hasher,
    /// What is not hashed yet.
    waiting: Vec<u8>,
}

impl Texts {
    pub(crate) fn new(context: &str) -> Self {
        Self { hasher: blake3::Hasher::new_derive_key(context), waiting: Vec::with_capacity(TOGETHER) }
    }

    pub(crate) fn add(&mut self, text: &str) {
        self.bytes(&(text.len() as u64).to_le_bytes());
        self.bytes(text.as_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        if self.waiting.len() + bytes.len() > TOGETHER {
            self.hasher.update(&self.waiting);
            self.waiting.clear();
        }
        self.waiting.extend_from_slice(bytes);
    }

    pub(crate) fn finish(mut self) -> Fingerprint {
        Fingerprint(self.hasher.update(&self.waiting).finalize())
    }
}

/// A hash of ids in their order, which ties a file of features to a table.
pub(crate) fn of_ordered_ids(ids: &Names) -> Fingerprint {
    let mut texts = Texts::new("chimera ordered ids");
    ids.iter().for_each(|id| texts.add(id));
    texts.finish()
}
