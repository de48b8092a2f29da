//! Delimited text, record by record, with the line each one starts on.
//!
//! Written here because line numbers must be right after blank lines, `\r\n` and cells that span lines, and because a
//! quote that is never closed must be an error; the `csv` crate gives neither (tests compare the cells with it).

use std::io::{self, BufRead, Read};

/// A record longer than this is no record of a table, but another kind of file or a quote that is never closed.
const LONGEST: usize = 1 << 26;

/// Reads records. White space outside quotes may surround a cell; a quote inside a bare cell is an ordinary character.
pub(super) struct Records<R> {
    reader: R,
    delimiter: u8,
    /// Lines read so far.
    lines: u64,
    /// The record as it stands in the file.
    raw: Vec<u8>,
    /// The record without quotes, delimiters kept; unused where the record has no quotes.
    unquoted: Vec<u8>,
    /// Where each cell ends; the next one starts one byte later.
    ends: Vec<usize>,
    longest: usize,
}

/// The next thing in the file.
pub(super) enum Next<'a> {
    Record(Record<'a>),
    /// Something that cannot be split into cells; reading may go on if it is not `fatal`.
    Bad {
        line: u64,
        message: String,
        hint: &'static str,
        fatal: bool,
    },
    End,
}

/// The cells of one record.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    /// Line that the record starts on.
    pub(super) line: u64,
    text: &'a str,
    ends: &'a [usize],
}

impl<'a> Record<'a> {
    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// All cells in order.
    pub(super) fn cells(self) -> impl Iterator<Item = &'a str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let cell = self.text.get(start..end).unwrap_or_default();
            start = end + 1;
            cell
        })
    }
}

/// Where in a record the scan is.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    CellStart,
    BareCell,
    Quotes,
    /// After a quote within quotes: the end of the cell, or one half of a doubled quote.
    QuoteInQuotes,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(reader: R, delimiter: u8) -> Self {
        let (raw, unquoted, ends) = (Vec::new(), Vec::new(), Vec::new());
        Self { reader, delimiter, lines: 0, raw, unquoted, ends, longest: LONGEST }
    }

    /// The next record; blank lines are skipped.
    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        self.raw.clear();
        loop {
            if !self.read_line()? {
                return Ok(Next::End);
            }
            // Only what no cell can consist of: a line of tabs is a record of a table with tabs.
            if self.raw.iter().any(|&byte| byte == self.delimiter || !byte.is_ascii_whitespace()) {
                break;
            }
            self.raw.clear();
        }
        let line = self.lines;
        self.ends.clear();
        let text = if self.raw.contains(&b'"') {
            if let Some(bad) = self.split_quoted(line)? {
                return Ok(bad);
            }
            &self.unquoted
        } else {
            if self.raw.len() > self.longest {
                return Ok(too_long(line, self.longest));
            }
            let content = without_line_end(&self.raw);
            self.ends.extend(content.iter().enumerate().filter(|&(_, &byte)| byte == self.delimiter).map(|(at, _)| at));
            self.ends.push(content.len());
            &self.raw
        };
        match std::str::from_utf8(text) {
            Ok(text) => Ok(Next::Record(Record { line, text, ends: &self.ends })),
            Err(error) => {
                let at = error.valid_up_to();
                let line = line + text[..at].iter().filter(|&&byte| byte == b'\n').count() as u64;
                let message = format!("expected UTF-8, got the byte 0x{:02x}", text[at]);
                Ok(Next::Bad { line, message, hint: "save the file as UTF-8", fatal: false })
            }
        }
    }

    /// Appends the next line to the record, or what is allowed of it; `false` at the end of the file.
    fn read_line(&mut self) -> io::Result<bool> {
        let allowed = (self.longest + 1).saturating_sub(self.raw.len());
        let read = Read::take(&mut self.reader, allowed as u64).read_until(b'\n', &mut self.raw)?;
        if self.lines == 0 && self.raw.starts_with("\u{feff}".as_bytes()) {
            self.raw.drain(..3);
        }
        self.lines += u64::from(read > 0);
        Ok(read > 0)
    }

    /// Takes the quotes off into `unquoted`, reading on where a cell goes over the end of its line.
    fn split_quoted(&mut self, line: u64) -> io::Result<Option<Next<'static>>> {
        self.unquoted.clear();
        let (mut inside, mut at) = (Inside::CellStart, 0);
        loop {
            while let Some(&byte) = self.raw.get(at) {
                at += 1;
                inside = match (inside, byte) {
                    (Inside::Quotes, b'"') => Inside::QuoteInQuotes,
                    (Inside::Quotes, _) => self.keep(byte, inside),
                    (Inside::QuoteInQuotes, b'"') => self.keep(byte, Inside::Quotes),
                    (_, _) if byte == self.delimiter => {
                        self.ends.push(self.unquoted.len());
                        self.keep(byte, Inside::CellStart)
                    }
                    (Inside::CellStart, b'"') => Inside::Quotes,
                    (Inside::CellStart | Inside::QuoteInQuotes, _) if byte.is_ascii_whitespace() => inside,
                    (Inside::CellStart | Inside::BareCell, _) => self.keep(byte, Inside::BareCell),
                    (Inside::QuoteInQuotes, _) => {
                        let message = "expected the end of the cell after its closing quote, got more text".to_owned();
                        let hint = "write a quote inside a quoted cell twice: `\"\"`";
                        return Ok(Some(Next::Bad { line, message, hint, fatal: false }));
                    }
                };
            }
            if self.raw.len() > self.longest {
                return Ok(Some(too_long(line, self.longest)));
            }
            if inside != Inside::Quotes {
                if inside == Inside::BareCell {
                    self.unquoted.truncate(without_line_end(&self.unquoted).len());
                }
                self.ends.push(self.unquoted.len());
                return Ok(None);
            }
            if !self.read_line()? {
                let message = "expected a closing quote, got the end of the file".to_owned();
                let hint = "close the quote that opens on this line, or remove it";
                return Ok(Some(Next::Bad { line, message, hint, fatal: true }));
            }
        }
    }

    fn keep(&mut self, byte: u8, inside: Inside) -> Inside {
        self.unquoted.push(byte);
        inside
    }
}

fn too_long(line: u64, longest: usize) -> Next<'static> {
    let message = format!("expected a record of at most {longest} bytes, got a longer one");
    Next::Bad { line, message, hint: "make sure that this is a text table and that every quote is closed", fatal: true }
}

fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every record's line and trimmed cells; what is bad as its line and message.
    fn read(text: &[u8], longest: usize) -> Vec<(u64, Vec<String>)> {
        let mut records = Records::new(text, b',');
        records.longest = longest;
        let mut read = Vec::new();
        loop {
            match records.next().unwrap() {
                Next::Record(record) => {
                    assert_eq!(record.len(), record.cells().count());
                    read.push((record.line, record.cells().map(|cell| cell.trim().to_owned()).collect()));
                }
                Next::Bad { line, message, fatal, .. } => {
                    read.push((line, vec![message]));
                    if fatal {
                        return read;
                    }
                }
                Next::End => return read,
            }
        }
    }

    #[test]
    fn lines_are_counted_over_blank_lines_and_cells_that_span_lines() {
        let text = "\u{feff}a,b\r\n\r\n1,2\n  \n\"x\ny\n\",\"\"\"z\"\"\"\r\n , \"q,\" \n5\" pipe,";
        let expected: [(u64, [&str; 2]); 5] =
            [(1, ["a", "b"]), (3, ["1", "2"]), (5, ["x\ny", "\"z\""]), (8, ["", "q,"]), (9, ["5\" pipe", ""])];
        let expected: Vec<(u64, Vec<String>)> =
            expected.iter().map(|(line, cells)| (*line, cells.map(str::to_owned).to_vec())).collect();
        assert_eq!(read(text.as_bytes(), 1000), expected);
    }

    #[test]
    fn what_cannot_be_split_is_named_with_its_line() {
        let one = |text: &[u8], longest| {
            let mut read = read(text, longest);
            let (line, mut cells) = read.pop().unwrap();
            (line, cells.remove(0))
        };
        let at_the_end = |line, text: &str| (line, text.to_owned());
        assert_eq!(one(b"a,b\n1,\"2\n3,4\n", 1000), at_the_end(2, "expected a closing quote, got the end of the file"));
        assert_eq!(
            one(b"a,b\n1,\"2\"x\n", 1000),
            at_the_end(2, "expected the end of the cell after its closing quote, got more text")
        );
        assert_eq!(one(b"a,b\n1,\"\n\xe9\"\n", 1000), at_the_end(3, "expected UTF-8, got the byte 0xe9"));
        let too_long = "expected a record of at most 5 bytes, got a longer one";
        assert_eq!(one(b"a,b\n123456", 5), at_the_end(2, too_long));
        assert_eq!(one(b"a,b\n\"1\n2\n3\n\"", 5), at_the_end(2, too_long));
    }

    #[test]
    fn cells_are_those_of_the_csv_crate() {
        let mut random = fastrand::Rng::with_seed(2);
        for _ in 0..2000 {
            let mut text = String::new();
            for _ in 0..random.usize(1..6) {
                for column in 0..3 {
                    let cell: String = (0..random.usize(0..5))
                        .map(|_| random.choice(['a', 'b', '"', ',', '\n', ' ', 'é']).unwrap())
                        .collect();
                    let bare = !cell.contains(['"', ',', '\n', ' ']) && !cell.is_empty();
                    text += &if bare { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) };
                    text += if column < 2 { "," } else { random.choice(["\n", "\r\n"]).unwrap() };
                }
            }
            let mut reference = csv::ReaderBuilder::new();
            let mut reference = reference.has_headers(false).trim(csv::Trim::All).from_reader(text.as_bytes());
            let expected: Vec<Vec<String>> =
                reference.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
            let cells: Vec<Vec<String>> = read(text.as_bytes(), 1000).into_iter().map(|(_, cells)| cells).collect();
            assert_eq!(cells, expected, "{text:?}");
        }
    }

    #[test]
    fn rubbish_never_panics() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..5000 {
            let text: Vec<u8> =
                (0..random.usize(0..40)).map(|_| random.choice(*b"ab\",\n\r \xe9\0").unwrap()).collect();
            read(&text, random.usize(1..40));
        }
    }
}
