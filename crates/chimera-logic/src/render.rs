//! Findings as text for people: place, underlined source, hint.

use std::fmt::Write;

use unicode_width::UnicodeWidthChar;

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::lexer::is_invisible;
use crate::span::{SourceMap, Span};

/// Characters of a source line shown around a finding; longer lines are cut with `…`.
const WINDOW: usize = 100;

/// Whether text carries terminal colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// Text alone.
    Plain,
    /// ANSI escape codes.
    Ansi,
}

impl Palette {
    fn paint(self, style: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Ansi => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        }
    }
}

const BOLD: &str = "1";
const RED: &str = "1;31";
const YELLOW: &str = "1;33";
const BLUE: &str = "1;34";
const CYAN: &str = "1;36";

/// All kept findings, a blank line between them, and the number of those that were only counted.
#[must_use]
pub fn render_all(diagnostics: &Diagnostics, sources: &SourceMap, palette: Palette) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics.kept() {
        text.push_str(&render(diagnostic, sources, palette));
        text.push('\n');
    }
    if diagnostics.dropped() > 0 {
        let _ = writeln!(text, "... and {} more findings that are not shown\n", diagnostics.dropped());
    }
    text
}

/// One finding.
#[must_use]
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, palette: Palette) -> String {
    let severity = diagnostic.code.severity();
    let style = if severity == Severity::Error { RED } else { YELLOW };
    let head = palette.paint(style, &format!("{severity}[{}]", diagnostic.code.as_str()));
    let message = palette.paint(BOLD, &format!(": {}", printable(&diagnostic.message)));
    let gutter = std::iter::once(diagnostic.span)
        .chain(diagnostic.notes.iter().map(|note| note.span))
        .map(|span| sources.start(span).line.to_string().len())
        .max()
        .unwrap_or(1);

    let mut text = format!("{head}{message}\n");
    let mut frame = Frame { sources, palette, gutter, text: &mut text };
    frame.place(diagnostic.span, "-->");
    frame.source(diagnostic.span, style, '^', &diagnostic.label);
    for note in &diagnostic.notes {
        frame.place(note.span, ":::");
        frame.source(note.span, BLUE, '-', &note.text);
    }
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(text, "{:gutter$} {} {}", "", palette.paint(CYAN, "= hint:"), printable(hint));
    }
    text
}

/// What the pieces of one finding share.
struct Frame<'a> {
    sources: &'a SourceMap,
    palette: Palette,
    gutter: usize,
    text: &'a mut String,
}

impl Frame<'_> {
    fn place(&mut self, span: Span, arrow: &str) {
        let name = printable(self.sources.get(span.source).name());
        let arrow = self.palette.paint(BLUE, arrow);
        let _ = writeln!(self.text, "{:gutter$}{arrow} {name}:{}", "", self.sources.start(span), gutter = self.gutter);
    }

    fn source(&mut self, span: Span, style: &str, mark: char, label: &str) {
        let (index, line_start, line) = self.sources.get(span.source).line_at(span.start);
        let start = (span.start - line_start).min(line.len() as u32) as usize;
        let end = (span.end.saturating_sub(line_start) as usize).clamp(start, line.len());
        let excerpt = Excerpt::around(line, start, end);
        let bar = self.palette.paint(BLUE, "|");
        let number = self.palette.paint(BLUE, &format!("{:>gutter$}", index + 1, gutter = self.gutter));
        let marks = self.palette.paint(style, &mark.to_string().repeat(excerpt.marked.max(1)));
        let label =
            if label.is_empty() { String::new() } else { format!(" {}", self.palette.paint(style, &printable(label))) };
        let indent = excerpt.indent;
        let gutter = self.gutter;
        let _ = writeln!(self.text, "{:gutter$} {bar}", "");
        let _ = writeln!(self.text, "{number} {bar} {}", excerpt.text);
        let _ = writeln!(self.text, "{:gutter$} {bar} {:indent$}{marks}{label}", "", "");
    }
}

/// The part of a line that is shown, with the terminal columns of the underline.
struct Excerpt {
    text: String,
    indent: usize,
    marked: usize,
}

impl Excerpt {
    fn around(line: &str, start: usize, end: usize) -> Self {
        let whole = forward(line, 0, WINDOW) == line.len();
        let from = if whole || start < WINDOW / 2 { 0 } else { back(line, start, WINDOW / 3) };
        let to = forward(line, from, WINDOW);
        let (before, marked, after) =
            (&line[from..start], &line[start..end.clamp(start, to)], &line[end.clamp(start, to)..to]);
        let mut text = String::new();
        if from > 0 {
            text.push('…');
        }
        let lead = width(&text);
        let (before, marked, after) = (printable(before), printable(marked), printable(after));
        let (indent, marked_width) = (lead + width(&before), width(&marked));
        text.push_str(&before);
        text.push_str(&marked);
        text.push_str(after.trim_end());
        if to < line.len() {
            text.push('…');
        }
        Self { text, indent, marked: marked_width }
    }
}

/// The byte `count` characters before `at`.
fn back(line: &str, at: usize, count: usize) -> usize {
    line[..at].char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(byte, _)| byte)
}

/// The byte `count` characters after `at`.
fn forward(line: &str, at: usize, count: usize) -> usize {
    line[at..].char_indices().nth(count).map_or(line.len(), |(byte, _)| at + byte)
}

/// Control characters made visible, so that a rule file cannot steer the terminal and the underline stays in place.
fn printable(text: &str) -> String {
    let visible = |c: char| match c {
        '\t' => ' ',
        c if is_invisible(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(visible).collect()
}

fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;

    fn shown(text: &str, start: u32, end: u32) -> String {
        let mut sources = SourceMap::default();
        let source = sources.add("t.rules", text);
        let diagnostic = Diagnostic::new(Code::MissingOperand, Span { source, start, end }, "m").label("here");
        render(&diagnostic, &sources, Palette::Plain)
    }

    #[test]
    fn wide_characters_and_tabs_keep_the_underline_in_place() {
        let text = shown("日本:\tx &", 8, 9);
        assert_eq!(text, "error[E012]: m\n --> t.rules:1:5\n  |\n1 | 日本: x &\n  |       ^ here\n");
    }

    #[test]
    fn long_lines_are_cut_around_the_finding() {
        let line = format!("{}@{}", "a".repeat(5000), "b".repeat(5000));
        let text = shown(&line, 5000, 5001);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() < 120), "{text}");
        let at = lines[3].chars().position(|c| c == '@');
        assert_eq!(at, lines[4].chars().position(|c| c == '^'));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert!(!shown("a\u{1b}[31m \u{202e}b", 0, 1).contains(['\u{1b}', '\u{202e}']));
    }
}
