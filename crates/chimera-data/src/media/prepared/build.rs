//! Building: which media are known, decoding those that are not, chunk by chunk.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Preparation, Prepared, Progress, Undecodable};
use crate::chunks::{Digest, Entry, Store, StoreParams, write_list};
use crate::error::media::MediaProblem;
use crate::error::{Error, Result};
use crate::file::{open_regular, write_atomic};
use crate::media::frame_folder::FrameFolder;
use crate::parallel::in_parallel;

/// Raised when chunks are written in another way.
const VERSION: u32 = 1;
/// At least so many chunks are made where there are enough media, so that several threads have something to do.
const FEWEST_CHUNKS: usize = 16;

type Decode<'a> = &'a (dyn Fn(&Path, &mut [u8]) -> Result<()> + Sync);
type Report<'a> = &'a (dyn Fn(Progress) + Sync);
/// The content of a medium, or why it cannot be read.
type Known = std::result::Result<Digest, Arc<Error>>;
/// What is wrong with media that could not be read or decoded.
type Reasons = BTreeMap<Digest, Arc<Error>>;

pub(super) fn run(
    preparation: &Preparation<'_>,
    media: &[PathBuf],
    decode: Decode<'_>,
    progress: Report<'_>,
) -> Result<Prepared> {
    let digests = digests(preparation, media, progress)?;
    let mut store = store(preparation);
    let wanted: BTreeSet<Digest> = digests.iter().filter_map(|digest| digest.as_ref().ok()).copied().collect();
    let is_wanted = |digest: &Digest| wanted.contains(digest);
    store.scan(&is_wanted, false)?;
    let mut reasons = Reasons::new();
    let mut decoded = 0;
    // Where everything is there, nothing is written: a cache on a read-only disk serves too.
    if !missing(&store, media, &digests).is_empty() {
        let lock = store.lock(&|| progress(Progress::Waiting))?;
        store.scan(&is_wanted, lock.is_some())?;
        let missing = missing(&store, media, &digests);
        reasons = build(preparation, &store, &missing, decode, progress)?;
        decoded = missing.len() - reasons.len();
        // What was just written is checked like everything else, and set aside next time if the disk garbled it.
        store.scan(&is_wanted, false)?;
    }
    store.mark_used();
    let (chunks, found, set_aside) = store.into_places();
    let mut places = Vec::with_capacity(media.len());
    let known = digests.iter().map(|digest| digest.as_ref().ok().copied()).collect();
    let mut undecodable = Vec::new();
    for (sample, (path, digest)) in media.iter().zip(digests).enumerate() {
        let place = digest.as_ref().ok().and_then(|digest| found.get(digest)).copied();
        places.push(place);
        if place.is_none() {
            let reason = digest.and_then(|digest| reasons.get(&digest).cloned().ok_or_else(|| vanished(path)));
            let reason = reason.unwrap_or_else(|reason| reason);
            undecodable.push(Undecodable { sample, path: path.clone(), reason });
        }
    }
    Ok(Prepared { shape: preparation.shape, chunks, places, digests: known, undecodable, set_aside, decoded })
}

/// The chunks of this recipe and shape.
fn store(preparation: &Preparation<'_>) -> Store {
    let &Preparation { folder, shape, recipe, threads, .. } = preparation;
    // Quoted, so that a line break in the recipe cannot look like a part of the list.
    let title = format!(
        "chimera prepared frames {VERSION}\nshape {} {} {} 3\nrecipe {recipe:?}\n",
        shape.frames, shape.height, shape.width
    );
    Store::new(StoreParams { folder, title, extension: "frames", row_bytes: shape.bytes(), threads })
}

/// A chunk that we wrote but cannot read back.
fn vanished(path: &Path) -> Arc<Error> {
    let cause = io::Error::other("its prepared frames were damaged on disk as soon as they were written");
    Arc::new(Error::read(path, cause))
}

/// What every medium contains, or why it cannot be read.
fn digests(preparation: &Preparation<'_>, media: &[PathBuf], progress: Report<'_>) -> Result<Vec<Known>> {
    let done = AtomicUsize::new(0);
    in_parallel(preparation.threads, media.len(), |number| {
        let digest = digest(&media[number]);
        progress(Progress::Reading { done: done.fetch_add(1, Ordering::Relaxed) + 1, total: media.len() });
        match digest {
            Err(error) if preparation.strict => Err(error),
            other => Ok(other.map_err(Arc::new)),
        }
    })
}

/// The content of a medium: of a folder, that of its frames.
pub fn digest(path: &Path) -> Result<Digest> {
    if path.is_dir() {
        return FrameFolder::open(path)?.digest();
    }
    let read = || {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(open_regular(path)?)?;
        Ok(*hasher.finalize().as_bytes())
    };
    read().map_err(|cause| Error::read(path, cause))
}

/// Media that lie in no chunk, each content once, in the order of the samples.
fn missing<'a>(store: &Store, media: &'a [PathBuf], digests: &[Known]) -> Vec<(Digest, &'a Path)> {
    let mut known: BTreeSet<Digest> = store.sources().collect();
    let readable =
        digests.iter().zip(media).filter_map(|(digest, path)| Some((*digest.as_ref().ok()?, path.as_path())));
    readable.filter(|(digest, _)| known.insert(*digest)).collect()
}

fn build(
    preparation: &Preparation<'_>,
    store: &Store,
    missing: &[(Digest, &Path)],
    decode: Decode<'_>,
    progress: Report<'_>,
) -> Result<Reasons> {
    // The number of threads has no say, so that the same media always make the same files.
    let fitting = preparation.chunk_bytes / preparation.shape.bytes();
    let samples = fitting.min(missing.len().div_ceil(FEWEST_CHUNKS)).max(1);
    let pieces: Vec<_> = missing.chunks(samples).collect();
    let done = AtomicUsize::new(0);
    let step =
        || progress(Progress::Preparing { done: done.fetch_add(1, Ordering::Relaxed) + 1, total: missing.len() });
    let reasons = in_parallel(preparation.threads, pieces.len(), |number| {
        write_chunk(preparation, store, pieces[number], decode, &step)
    })?;
    Ok(reasons.into_iter().flatten().collect())
}

/// Decodes media straight into a new chunk; one sample is held in memory. Returns those that could not be decoded.
fn write_chunk(
    preparation: &Preparation<'_>,
    store: &Store,
    media: &[(Digest, &Path)],
    decode: Decode<'_>,
    step: &dyn Fn(),
) -> Result<Reasons> {
    let mut reasons = Reasons::new();
    let mut fatal = None;
    let mut entries = Vec::with_capacity(media.len());
    let digests: Vec<Digest> = media.iter().map(|(digest, _)| *digest).collect();
    let written = write_atomic(&store.path(&digests), |writer| {
        let mut frames = vec![0; preparation.shape.bytes()];
        for (medium, path) in media {
            frames.fill(0);
            match decode_unchanged(medium, path, decode, &mut frames) {
                Ok(()) => {
                    writer.write_all(&frames)?;
                    entries.push(Entry { source: *medium, content: *blake3::hash(&frames).as_bytes() });
                }
                Err(error) if preparation.strict || is_fatal(&error) => {
                    fatal = Some(error);
                    return Err(io::Error::other("stopped"));
                }
                Err(error) => {
                    reasons.insert(*medium, Arc::new(error));
                }
            }
            step();
        }
        // An error leaves no file, which is right for a chunk without samples.
        if entries.is_empty() { Err(io::Error::other("empty")) } else { write_list(writer, store.title(), &entries) }
    });
    match (fatal, written) {
        (Some(error), _) => Err(error),
        (None, Err(_)) if entries.is_empty() && reasons.len() == media.len() => Ok(reasons),
        (None, written) => written.map(|()| reasons),
    }
}

/// Whether no other medium would fare better.
pub fn is_fatal(error: &Error) -> bool {
    matches!(error, Error::Program { .. } | Error::Write { .. })
}

/// Decodes a medium and makes sure that it still is what it was when it got its digest.
fn decode_unchanged(medium: &Digest, path: &Path, decode: Decode<'_>, frames: &mut [u8]) -> Result<()> {
    decode(path, frames)?;
    if digest(path)? == *medium { Ok(()) } else { Err(Error::media(path, MediaProblem::Changed)) }
}
