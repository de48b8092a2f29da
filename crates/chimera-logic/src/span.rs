//! Where something stands: byte spans, the sources they point into, and line:column places.

use std::fmt;
use std::sync::Arc;

/// A file of a rule set, in the order in which it was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(u32);

/// A range of bytes in one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The source the bytes belong to.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The smallest span that covers both; the sources must be the same.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        debug_assert_eq!(self.source, other.source, "spans of different files");
        Self { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place as people count it: both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Line number.
    pub line: usize,
    /// Column number.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// One text with a name.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    lossy: bool,
}

impl Source {
    fn new(name: String, text: String, lossy: bool) -> Self {
        let newlines = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(newlines.map(|(at, _)| at as u32 + 1)).collect();
        Self { name, text, line_starts, lossy }
    }

    /// The name shown in front of `line:column`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether invalid bytes were replaced by U+FFFD.
    #[must_use]
    pub(crate) fn is_lossy(&self) -> bool {
        self.lossy
    }

    /// The byte ranges of the lines, line ends (`\n`, `\r\n`) left out.
    pub fn lines(&self) -> impl Iterator<Item = (u32, &str)> {
        (0..self.line_starts.len()).map(|index| (self.line_starts[index], self.line(index)))
    }

    fn line(&self, index: usize) -> &str {
        let start = self.line_starts[index] as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |&next| next as usize - 1);
        let line = &self.text[start..end];
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The line that holds a byte: its number from 0, its first byte and its text.
    #[must_use]
    pub(crate) fn line_at(&self, offset: u32) -> (usize, u32, &str) {
        let index = self.line_starts.partition_point(|&start| start <= offset).saturating_sub(1);
        (index, self.line_starts[index], self.line(index))
    }

    fn place(&self, offset: u32) -> Place {
        let (index, start, line) = self.line_at(offset);
        let within = (offset - start).min(line.len() as u32) as usize;
        Place { line: index + 1, column: line[..within].chars().count() + 1 }
    }
}

/// All texts of a rule set.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Arc<Source>>,
}

impl SourceMap {
    /// Adds a text. Spans are 32 bits wide; the loader refuses larger files before they come here.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.push(Source::new(name.into(), text.into(), false))
    }

    /// Adds bytes that should be UTF-8, and returns the spans of those that were not and became U+FFFD.
    pub(crate) fn add_bytes(&mut self, name: impl Into<String>, bytes: Vec<u8>) -> (SourceId, Vec<Span>) {
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return (self.add(name, text), Vec::new()),
            Err(error) => error.into_bytes(),
        };
        let mut text = String::with_capacity(bytes.len());
        let mut invalid = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                invalid.push(text.len() as u32);
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        let source = self.push(Source::new(name.into(), text, true));
        let replaced = char::REPLACEMENT_CHARACTER.len_utf8() as u32;
        (source, invalid.into_iter().map(|start| Span { source, start, end: start + replaced }).collect())
    }

    fn push(&mut self, source: Source) -> SourceId {
        self.sources.push(Arc::new(source));
        SourceId(self.sources.len() as u32 - 1)
    }

    /// One text.
    #[must_use]
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// All texts, in the order in which they were added.
    pub fn entries(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources.iter().enumerate().map(|(number, source)| (SourceId(number as u32), source.as_ref()))
    }

    /// One text, to be read while others are added.
    #[must_use]
    pub fn share(&self, id: SourceId) -> Arc<Source> {
        Arc::clone(&self.sources[id.0 as usize])
    }

    /// Line and column of a span's first byte.
    #[must_use]
    pub fn start(&self, span: Span) -> Place {
        self.get(span.source).place(span.start)
    }

    /// Line and column just past a span.
    #[must_use]
    pub fn end(&self, span: Span) -> Place {
        self.get(span.source).place(span.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_ignore_line_ends() {
        let mut map = SourceMap::default();
        let source = map.add("x", "ab\r\nçd\n");
        let at = |start| map.start(Span { source, start, end: start });
        assert_eq!(at(1), Place { line: 1, column: 2 });
        assert_eq!(at(4), Place { line: 2, column: 1 });
        assert_eq!(at(6), Place { line: 2, column: 2 });
        assert_eq!(at(8), Place { line: 3, column: 1 });
        let lines: Vec<_> = map.get(source).lines().collect();
        assert_eq!(lines, [(0, "ab"), (4, "çd"), (8, "")]);
    }
}
