//! One chunk file: the bytes of its samples, then a list of them as text, then a trailer of fixed length. Whatever is
//! not exactly as long as its list says, or has another checksum, is damaged.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use memmap2::Mmap;

use super::Check;

/// The last bytes of a chunk: the length of the list, its checksum, and this mark.
const MARK: &[u8; 8] = b"chimera\n";
const TRAILER: usize = 8 + blake3::OUT_LEN + MARK.len();
/// A list longer than this is not ours.
const LONGEST_LIST: u64 = 1 << 30;

/// What identifies a medium, or the frames made of it.
pub(crate) type Digest = [u8; blake3::OUT_LEN];

/// One sample in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Digest of the medium.
    pub(super) medium: Digest,
    /// Digest of the frames.
    pub(super) frames: Digest,
}

/// A chunk that is whole, mapped into memory.
#[derive(Debug)]
pub(super) struct Chunk {
    map: Mmap,
    sample_bytes: usize,
    entries: Vec<Entry>,
}

/// Why a chunk was not opened.
#[derive(Debug)]
pub(super) enum NotOpened {
    /// The file is not what was written.
    Damaged,
    /// The system refused.
    System(io::Error),
}

impl From<io::Error> for NotOpened {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof { Self::Damaged } else { Self::System(error) }
    }
}

/// Ends a chunk whose samples have been written: the list and the trailer. `title` is what all chunks of a folder
/// share.
pub(super) fn write_list(writer: &mut dyn Write, title: &str, entries: &[Entry]) -> io::Result<()> {
    let mut list = title.to_owned();
    for entry in entries {
        let hex = |digest| blake3::Hash::from_bytes(digest).to_hex();
        list.push_str(&format!("{} {}\n", hex(entry.medium), hex(entry.frames)));
    }
    writer.write_all(list.as_bytes())?;
    writer.write_all(&(list.len() as u64).to_le_bytes())?;
    writer.write_all(blake3::hash(list.as_bytes()).as_bytes())?;
    writer.write_all(MARK)
}

impl Chunk {
    /// Opens a chunk of the folder with this title and samples of this length.
    pub(super) fn open(path: &Path, title: &str, sample_bytes: usize, check: Check) -> Result<Self, NotOpened> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let list_end = length.checked_sub(TRAILER as u64).ok_or(NotOpened::Damaged)?;
        let mut trailer = [0; TRAILER];
        file.seek(SeekFrom::Start(list_end))?;
        file.read_exact(&mut trailer)?;
        let (list_length, rest) = trailer.split_at(8);
        let (checksum, mark) = rest.split_at(blake3::OUT_LEN);
        let list_length = list_length.try_into().map(u64::from_le_bytes).map_err(|_| NotOpened::Damaged)?;
        let list_start = list_end.checked_sub(list_length).ok_or(NotOpened::Damaged)?;
        if mark != MARK || list_length > LONGEST_LIST {
            return Err(NotOpened::Damaged);
        }
        file.seek(SeekFrom::Start(list_start))?;
        let mut list = Vec::new();
        (&mut file).take(list_length).read_to_end(&mut list)?;
        let entries = (blake3::hash(&list).as_bytes() == checksum).then(|| parse_list(&list, title)).flatten();
        let entries = entries.ok_or(NotOpened::Damaged)?;
        if (entries.len() as u64).checked_mul(sample_bytes as u64) != Some(list_start) {
            return Err(NotOpened::Damaged);
        }
        let map = map(&file)?;
        if map.len() as u64 != length {
            return Err(NotOpened::Damaged);
        }
        let chunk = Self { map, sample_bytes, entries };
        let whole = |(slot, entry): (usize, &Entry)| {
            chunk.sample(slot).is_some_and(|frames| *blake3::hash(frames).as_bytes() == entry.frames)
        };
        if check == Check::Checksums && !chunk.entries.iter().enumerate().all(whole) {
            return Err(NotOpened::Damaged);
        }
        Ok(chunk)
    }

    /// What it holds, in the order of the file.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The frames in a slot.
    pub(super) fn sample(&self, slot: usize) -> Option<&[u8]> {
        let start = slot.checked_mul(self.sample_bytes).filter(|_| slot < self.entries.len())?;
        self.map.get(start..start + self.sample_bytes)
    }
}

fn parse_list(list: &[u8], title: &str) -> Option<Vec<Entry>> {
    let lines = str::from_utf8(list).ok()?.strip_prefix(title)?.lines();
    let digest = |text: &str| blake3::Hash::from_hex(text).ok().map(|hash| *hash.as_bytes());
    lines
        .map(|line| {
            let (medium, frames) = line.split_once(' ')?;
            Some(Entry { medium: digest(medium)?, frames: digest(frames)? })
        })
        .collect()
}

/// Maps a chunk for reading.
#[expect(unsafe_code, reason = "a file of many gigabytes is read as one slice; the only unsafe function of this crate")]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a mapped slice must not change while it is borrowed. Chunks appear under their name by a rename, once
    // they are complete, and nobody writes to one or shortens it afterwards: a damaged chunk is renamed, a new one is a
    // new file that replaces the name and not the content. A mapping outlives renaming and removal. Another program
    // that writes into the cache folder breaks this; it would change pixels, or end the process if it cuts a file
    // short. Any byte is a valid u8.
    unsafe { Mmap::map(file) }
}
