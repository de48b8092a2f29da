//! The rows of one of Open Images' large CSV files, by the names of the columns that are wanted.
//!
//! The official files have no quotes, and none are read: a stray one would swallow all that follows. So a row is a line and a
//! cell ends at a comma, which is found faster than by a reader of any CSV, and a block of lines can be cut into pieces for
//! several threads.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::{memchr, memchr_iter, memrchr};

use crate::error::{Error, Result};
use crate::file::open_regular;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 22;

/// Bytes of a line at most; a file of another kind may have no lines.
const LONGEST: usize = 1 << 20;

/// A file that is read block by block: one with all boxes of Open Images has two gigabytes.
pub(super) struct Rows<const N: usize> {
    path: PathBuf,
    file: File,
    block: Vec<u8>,
    /// Of the block, bytes that were handed out, and bytes of whole lines.
    handed: usize,
    whole: usize,
    /// Lines that were handed out.
    lines: u64,
    /// For each column which of the wanted ones it is, up to the last of them.
    wanted: Vec<Option<usize>>,
}

/// Some lines of a file, each of which is a row unless it is empty.
#[derive(Clone, Copy)]
pub(super) struct Lines<'a, const N: usize> {
    text: &'a [u8],
    /// Lines of the file before these.
    before: u64,
    wanted: &'a [Option<usize>],
}

/// One row.
pub(super) struct Row<'a, const N: usize> {
    /// Where it stands.
    pub(super) line: u64,
    /// The wanted cells; empty where the row is too short.
    pub(super) cells: [&'a [u8]; N],
}

impl<const N: usize> Rows<N> {
    /// Opens a file whose first line names its columns.
    pub(super) fn open(path: &Path, columns: [&str; N]) -> Result<Self> {
        let file = open_regular(path).map_err(|cause| Error::read(path, cause))?;
        let (path, block, wanted) = (path.to_owned(), Vec::new(), Vec::new());
        let mut rows = Self { path, file, block, handed: 0, whole: 0, lines: 0, wanted };
        rows.fill()?;
        let (head, rest) = first_line(&rows.block[..rows.whole]);
        let head = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
        let names: Vec<&[u8]> = head.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).collect();
        for (wanted, name) in columns.iter().enumerate() {
            let Some(position) = names.iter().position(|cell| *cell == name.as_bytes()) else {
                let path = rows.path.display();
                let message = format!("expected a column `{name}` in the first line of `{path}`, got none");
                let hint = format!("Open Images' own files have the columns {}", columns.join(", "));
                return Err(Error::input(message, Some(hint)));
            };
            let columns = rows.wanted.len().max(position + 1);
            rows.wanted.resize(columns, None);
            rows.wanted[position] = Some(wanted);
        }
        (rows.handed, rows.lines) = (rows.whole - rest.len(), 1);
        Ok(rows)
    }

    /// The next lines; `None` at the end.
    pub(super) fn block(&mut self) -> Result<Option<Lines<'_, N>>> {
        if self.handed == self.whole && !self.fill()? {
            return Ok(None);
        }
        let text = &self.block[self.handed..self.whole];
        let before = self.lines;
        self.handed = self.whole;
        self.lines += memchr_iter(b'\n', text).count() as u64;
        Ok(Some(Lines { text, before, wanted: &self.wanted }))
    }

    /// Reads until there is a line, or the end; whether there is one.
    fn fill(&mut self) -> Result<bool> {
        self.block.drain(..self.whole);
        (self.handed, self.whole) = (0, 0);
        loop {
            let begun = self.block.len();
            let reading = (&mut self.file).take(BLOCK as u64).read_to_end(&mut self.block);
            let read = reading.map_err(|cause| Error::read(&self.path, cause))?;
            if read == 0 {
                self.whole = self.block.len();
                return Ok(self.whole > 0);
            }
            if let Some(end) = memrchr(b'\n', &self.block[begun..]) {
                self.whole = begun + end + 1;
                return Ok(true);
            }
            if self.block.len() > LONGEST {
                let (path, line) = (self.path.display(), self.lines + 1);
                let message = format!("expected lines of at most {LONGEST} bytes in `{path}`, got more in line {line}");
                return Err(Error::input(message, Some("is it one of Open Images' CSV files?".to_owned())));
            }
        }
    }
}

impl<'a, const N: usize> Lines<'a, N> {
    /// The same lines in so many pieces, or fewer.
    pub(super) fn pieces(self, count: usize) -> Vec<Self> {
        let (mut rest, mut pieces) = (self, Vec::with_capacity(count));
        for piece in (1..=count).rev() {
            let about = rest.text.len() / piece;
            let end = memchr(b'\n', &rest.text[about..]).map_or(rest.text.len(), |end| about + end + 1);
            let (text, after) = rest.text.split_at(end);
            pieces.push(Self { text, ..rest });
            rest = Self { text: after, before: rest.before + memchr_iter(b'\n', text).count() as u64, ..rest };
        }
        pieces
    }
}

impl<'a, const N: usize> Iterator for Lines<'a, N> {
    type Item = Row<'a, N>;

    fn next(&mut self) -> Option<Row<'a, N>> {
        while !self.text.is_empty() {
            let (line, rest) = first_line(self.text);
            (self.text, self.before) = (rest, self.before + 1);
            if line.is_empty() {
                continue;
            }
            let mut cells: [&[u8]; N] = [&[]; N];
            for (cell, wanted) in line.split(|byte| *byte == b',').zip(self.wanted) {
                if let Some(wanted) = wanted {
                    cells[*wanted] = cell;
                }
            }
            return Some(Row { line: self.before, cells });
        }
        None
    }
}

/// The first line without its end, and what follows it.
fn first_line(text: &[u8]) -> (&[u8], &[u8]) {
    let (line, rest) = memchr(b'\n', text).map_or((text, &[][..]), |end| (&text[..end], &text[end + 1..]));
    (line.strip_suffix(b"\r").unwrap_or(line), rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &[u8], pieces: usize) -> Result<Vec<(u64, [String; 2])>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        std::fs::write(&path, text).unwrap();
        let mut rows = Rows::open(&path, ["b", "a"])?;
        let mut found = Vec::new();
        while let Some(lines) = rows.block()? {
            for row in lines.pieces(pieces).into_iter().flatten() {
                found.push((row.line, row.cells.map(|cell| String::from_utf8_lossy(cell).into_owned())));
            }
        }
        Ok(found)
    }

    #[test]
    fn lines_are_rows_however_they_end() {
        let row = |line, b: &str, a: &str| (line, [b.to_owned(), a.to_owned()]);
        let expected = [row(2, "y", "x"), row(4, "", "only"), row(5, "\"2", "1")];
        for pieces in 1..8 {
            assert_eq!(cells(b"a,c,b,d\nx,,y,z\n\nonly\n1,\",\"2\n", pieces).unwrap(), expected);
            let marked = b"\xEF\xBB\xBFa,c,b\r\nx,,y\r\n\r\nonly\r\n1,\",\"2";
            assert_eq!(cells(marked, pieces).unwrap(), expected);
        }
        assert_eq!(cells(b"a,b", 1).unwrap(), []);
        assert_eq!(cells(b"a,b\n", 3).unwrap(), []);
    }

    #[test]
    fn blocks_end_where_lines_do() {
        let count = 3 * BLOCK / 10;
        let lines: String = (0..count).map(|number| format!("{number},{}\n", number % 7)).collect();
        for pieces in [1, 3] {
            let found = cells(format!("a,b\n{lines}").as_bytes(), pieces).unwrap();
            assert_eq!(found.len(), count);
            for (number, (line, [b, a])) in found.into_iter().enumerate() {
                assert_eq!((line, a, b), (number as u64 + 2, number.to_string(), (number % 7).to_string()));
            }
        }
    }

    #[test]
    fn other_files_are_refused() {
        let message = |text: &[u8]| cells(text, 1).unwrap_err().to_string();
        assert!(message(b"").contains("expected a column `b`"));
        assert!(message(b"a,c\n").contains("expected a column `b`"));
        let endless = [b"a,b\n1,2\n".as_slice(), &vec![b'x'; 2 * BLOCK]].concat();
        let message = message(&endless);
        assert!(message.contains("expected lines of at most 1048576 bytes") && message.contains("line 3"), "{message}");
    }
}
