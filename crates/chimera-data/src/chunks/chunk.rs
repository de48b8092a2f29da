//! One chunk file: the bytes of its rows, then a list of them as text, then a trailer of fixed length. Whatever is not
//! exactly as long as its list says, or has another checksum, is damaged.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use memmap2::Mmap;

/// The last bytes of a chunk: the length of the list, its checksum, and this mark.
const MARK: &[u8; 8] = b"chimera\n";
const TRAILER: usize = 8 + blake3::OUT_LEN + MARK.len();
/// A list longer than this is not ours.
const LONGEST_LIST: u64 = 1 << 30;

/// What identifies what a row was made of, or its bytes.
pub type Digest = [u8; blake3::OUT_LEN];

/// One row in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Digest of what it was made of.
    pub source: Digest,
    /// Digest of its bytes.
    pub content: Digest,
}

/// A chunk that is whole, mapped into memory.
#[derive(Debug)]
pub struct Chunk {
    map: Mmap,
    row_bytes: usize,
    rows: usize,
    /// Until they are taken.
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

/// Ends a chunk whose rows have been written: the list and the trailer. `title` is what all chunks of a folder share.
pub fn write_list(writer: &mut dyn Write, title: &str, entries: &[Entry]) -> io::Result<()> {
    let mut list = title.to_owned();
    for entry in entries {
        let hex = |digest| blake3::Hash::from_bytes(digest).to_hex();
        list.push_str(&format!("{} {}\n", hex(entry.source), hex(entry.content)));
    }
    writer.write_all(list.as_bytes())?;
    writer.write_all(&(list.len() as u64).to_le_bytes())?;
    writer.write_all(blake3::hash(list.as_bytes()).as_bytes())?;
    writer.write_all(MARK)
}

/// The list of a chunk, whose checksum is right.
struct List {
    file: File,
    text: Vec<u8>,
    /// Where it starts: the length of all rows.
    start: u64,
    /// The length of the file.
    length: u64,
}

impl List {
    fn read(path: &Path) -> Result<Self, NotOpened> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let list_end = length.checked_sub(TRAILER as u64).ok_or(NotOpened::Damaged)?;
        let mut trailer = [0; TRAILER];
        file.seek(SeekFrom::Start(list_end))?;
        file.read_exact(&mut trailer)?;
        let (list_length, rest) = trailer.split_at(8);
        let (checksum, mark) = rest.split_at(blake3::OUT_LEN);
        let list_length = list_length.try_into().map(u64::from_le_bytes).map_err(|_| NotOpened::Damaged)?;
        let start = list_end.checked_sub(list_length).ok_or(NotOpened::Damaged)?;
        if mark != MARK || list_length > LONGEST_LIST {
            return Err(NotOpened::Damaged);
        }
        file.seek(SeekFrom::Start(start))?;
        let mut text = Vec::new();
        (&mut file).take(list_length).read_to_end(&mut text)?;
        if blake3::hash(&text).as_bytes() != checksum {
            return Err(NotOpened::Damaged);
        }
        Ok(Self { file, text, start, length })
    }
}

impl Chunk {
    /// Opens a chunk of the folder with this title and rows of this length. Its list is checked, its rows are not: see
    /// [`Self::is_sound`].
    pub(super) fn open(path: &Path, title: &str, row_bytes: usize) -> Result<Self, NotOpened> {
        let list = List::read(path)?;
        let entries = parse_list(&list.text, title).ok_or(NotOpened::Damaged)?;
        Self::of(&list, entries, row_bytes)
    }

    fn of(list: &List, entries: Vec<Entry>, row_bytes: usize) -> Result<Self, NotOpened> {
        if (entries.len() as u64).checked_mul(row_bytes as u64) != Some(list.start) {
            return Err(NotOpened::Damaged);
        }
        let map = map(&list.file)?;
        if map.len() as u64 != list.length {
            return Err(NotOpened::Damaged);
        }
        Ok(Self { map, row_bytes, rows: entries.len(), entries })
    }

    /// Returns true where every row has its checksum. Reads all of them.
    pub(super) fn is_sound(&self) -> bool {
        let is_whole = |(slot, entry): (usize, &Entry)| {
            self.row(slot).is_some_and(|bytes| *blake3::hash(bytes).as_bytes() == entry.content)
        };
        self.entries.iter().enumerate().all(is_whole)
    }

    /// What it holds, in the order of the file.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The same, given away: whoever has noted the places needs the list no more.
    pub(super) fn take_entries(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// The bytes in a slot.
    pub fn row(&self, slot: usize) -> Option<&[u8]> {
        let start = slot.checked_mul(self.row_bytes).filter(|_| slot < self.rows)?;
        self.map.get(start..start + self.row_bytes)
    }
}

fn parse_list(list: &[u8], title: &str) -> Option<Vec<Entry>> {
    str::from_utf8(list).ok()?.strip_prefix(title)?.lines().map(parse_entry).collect()
}

fn parse_entry(line: &str) -> Option<Entry> {
    let digest = |text: &str| blake3::Hash::from_hex(text).ok().map(|hash| *hash.as_bytes());
    let (source, content) = line.split_once(' ')?;
    Some(Entry { source: digest(source)?, content: digest(content)? })
}

/// The problem of a chunk of which nothing is known but its path; `None` where the whole file is as it was written. Reads all of
/// it.
///
/// # Errors
/// A file that the system does not let us read.
pub fn problem_of(path: &Path) -> io::Result<Option<String>> {
    let problem = |words: &str| Ok(Some(words.to_owned()));
    let list = match List::read(path) {
        Ok(list) => list,
        Err(NotOpened::System(error)) => return Err(error),
        Err(NotOpened::Damaged) => return problem("its list was changed or cut off"),
    };
    // Lines of the title are no entries, and every entry follows the title.
    let Ok(text) = str::from_utf8(&list.text) else { return problem("its list is no text") };
    let title_length: usize =
        text.split_inclusive('\n').take_while(|line| parse_entry(line.trim_end()).is_none()).map(str::len).sum();
    let (title, _) = text.split_at(title_length);
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    if folder.is_none_or(|folder| folder != folder_name(title)) {
        return problem("it is not in the folder of its kind");
    }
    let entries = parse_list(&list.text, title).unwrap_or_default();
    if entries.is_empty() {
        return problem("its list names no row");
    }
    let row_bytes = usize::try_from(list.start / entries.len() as u64).unwrap_or_default();
    match Chunk::of(&list, entries, row_bytes) {
        Ok(chunk) if chunk.is_sound() => Ok(None),
        Ok(_) => problem("its content was changed"),
        Err(NotOpened::Damaged) => problem("its length is not that of its rows"),
        Err(NotOpened::System(error)) => Err(error),
    }
}

/// The name of the folder of all chunks with this title.
pub fn folder_name(title: &str) -> String {
    blake3::hash(title.as_bytes()).to_hex()[..32].to_owned()
}

/// Maps a chunk for reading.
#[expect(
    unsafe_code,
    reason = "a file of many gigabytes is read as one slice; there is no other unsafe code in this crate"
)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: a mapped slice must not change while it is borrowed. Chunks appear under their name by a rename, once
    // they are complete, and nobody writes to one or shortens it afterwards: a damaged chunk is renamed, a new one is a
    // new file that replaces the name and not the content. A mapping outlives renaming and removal. Another program
    // that writes into the cache folder breaks this; it would change rows, or end the process if it cuts a file short.
    // Any byte is a valid u8.
    unsafe { Mmap::map(file) }
}
