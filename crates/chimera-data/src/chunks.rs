//! Rows of one length on disk, in chunk files: what both caches, of frames and of encoded samples, are made of.
//!
//! A row is known by a digest of what it was made of. Chunks are written whole or not at all and never changed
//! afterwards; each lists what it holds, so there is no second file that could disagree. Chunks of one title share a
//! folder named after it. Every byte that is used is compared with its checksum first.

mod chunk;
mod store;

pub use self::chunk::{Chunk, Digest, Entry, folder_name, problem_of, write_list};
pub use self::store::{Place, Store, StoreParams};
