//! Rows of one length on disk, in chunk files: what both caches, of frames and of encoded samples, are made of.
//!
//! A row is known by a digest of what it was made of. Chunks are written whole or not at all and never changed
//! afterwards; each lists what it holds, so there is no second file that could disagree. Chunks of one title share a
//! folder named after it.

mod chunk;
mod store;

pub(crate) use self::chunk::{Chunk, Digest, Entry, write_list};
pub(crate) use self::store::{Place, Store, StoreParams};

/// How far to distrust the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Every byte is held against its checksum.
    Checksums,
    /// The lists of the chunks are held against their checksums, the rows only against their length.
    Lengths,
}
