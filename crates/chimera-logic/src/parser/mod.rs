//! Tokens of a line to a statement. The parser reads on after every mistake, so that one run shows them all, and it returns
//! [`Statement::Broken`] for a line that holds one. Depth and width of formulas are bounded, so nothing after it can
//! overflow a stack.
//!
//! Here are the limits, the entry and the cursor over the tokens; `head` reads what stands before the colon, `attributes` the
//! bracket list, `formula` what stands after the colon; `recovery` and `calls` say what is wrong there and where to read on.

mod attributes;
mod calls;
mod formula;
mod head;
mod recovery;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::lexer::{self, Line, Token, TokenKind};
use crate::span::{Source, SourceId, Span};
use crate::syntax::{FileLine, Statement};

/// Parses the line of a source that starts at byte `offset`.
pub(crate) fn parse_line(
    id: SourceId,
    source: &Source,
    offset: u32,
    text: &str,
    diagnostics: &mut Diagnostics,
) -> FileLine {
    let lossy = source.is_lossy();
    // A byte order mark is no part of the first name.
    let (offset, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) if offset == 0 => (3, rest),
        _ => (offset, text),
    };
    let (errors, kept) = (diagnostics.errors(), diagnostics.kept().len());
    let Line { tokens, comment, damaged } = lexer::lex(id, offset, text, lossy, diagnostics);
    // Where the rule's text ends, which is before its comment.
    let end = tokens.last().map_or(offset + text.len() as u32, |token| token.span.end);
    let end = Span { source: id, start: end, end };
    let statement = Parser::new(&tokens, end, damaged, diagnostics).statement();
    diagnostics.sort_from(kept);
    // Invalid bytes are reported for the whole file; a line that lost some, if only in its comment, must not be rewritten.
    let lost = lossy && text.contains(char::REPLACEMENT_CHARACTER);
    let clean = diagnostics.errors() == errors && !lost;
    FileLine { statement: statement.filter(|_| clean).unwrap_or(Statement::Broken), comment }
}

/// A cursor over the tokens of one line.
struct Parser<'a, 'd> {
    tokens: &'a [Token<'a>],
    at: usize,
    end: Span,
    /// Whether something unreadable stands at the end.
    damaged_end: bool,
    unclosed_reported: bool,
    if_reported: bool,
    diagnostics: &'d mut Diagnostics,
}

impl<'a, 'd> Parser<'a, 'd> {
    fn new(tokens: &'a [Token<'a>], end: Span, damaged_end: bool, diagnostics: &'d mut Diagnostics) -> Self {
        Self { tokens, at: 0, end, damaged_end, unclosed_reported: false, if_reported: false, diagnostics }
    }

    /// The tokens that have not been read.
    fn rest(&self) -> &'a [Token<'a>] {
        &self.tokens[self.at..]
    }

    fn token(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.at)
    }

    fn peek(&self) -> Option<TokenKind> {
        self.token().map(|token| token.kind)
    }

    /// The kind of the token after the next one.
    fn peek_second(&self) -> Option<TokenKind> {
        self.tokens.get(self.at + 1).map(|token| token.kind)
    }

    fn accept(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    /// The place of the next token, or the end of the rule.
    fn here(&self) -> Span {
        self.token().map_or(self.end, |token| token.span)
    }

    fn previous_token(&self) -> Option<&'a Token<'a>> {
        self.tokens.get(self.at.checked_sub(1)?)
    }

    fn previous(&self) -> Span {
        self.previous_token().map_or(self.end, |token| token.span)
    }

    /// Adds a finding about the place that has been reached.
    fn report(&mut self, code: Code, span: Span, message: impl Into<String>, hint: impl Into<String>) {
        self.push(Diagnostic::new(code, span, message).hint(hint));
    }

    /// Adds a finding, but not where something unreadable has been reported, since nobody knows what was meant there.
    fn push(&mut self, diagnostic: Diagnostic) {
        let damaged = self.token().map_or(self.damaged_end, |token| token.damaged);
        if !damaged {
            self.diagnostics.push(diagnostic);
        }
    }
}
