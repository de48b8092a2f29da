//! One line of a rule file to tokens. Never fails: what it cannot read becomes a diagnostic and a mark on the token that
//! follows, and the operators and quotes of other languages are read as what was meant.

mod names;
mod quotes;
mod symbols;
mod unreadable;

use std::borrow::Cow;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::span::{SourceId, Span};

pub(crate) use names::is_bare_name;
pub(crate) use symbols::{Reserved, reserved};
pub(crate) use unreadable::is_invisible;

use names::{bare_name_length, spaced_arguments, value_length};
use symbols::{Symbol, symbol_at};

/// What a token is. Names carry their text in [`Token::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    Name,
    /// A name in double quotes.
    Quoted,
    Not,
    And,
    Or,
    Implies,
    Iff,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    /// `:` followed by white space or the end of the line.
    Colon,
    Equals,
    Comma,
}

/// A token with its place; `name` is empty unless it is a name.
#[derive(Clone, Debug)]
pub(crate) struct Token<'a> {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    pub(crate) name: Cow<'a, str>,
    /// Whether something unreadable, which has been reported, stands right before it.
    pub(crate) damaged: bool,
}

/// The tokens of a line and its comment, `#` included.
pub(crate) struct Line<'a> {
    pub(crate) tokens: Vec<Token<'a>>,
    pub(crate) comment: Option<String>,
    /// Whether something unreadable stands at its end.
    pub(crate) damaged: bool,
}

/// Reads one line that starts at byte `offset` of its source. `lossy` sources had invalid bytes, which became U+FFFD and
/// were reported.
pub(crate) fn lex<'a>(
    source: SourceId,
    offset: u32,
    line: &'a str,
    lossy: bool,
    diagnostics: &mut Diagnostics,
) -> Line<'a> {
    // Room for most lines at once, and little for a hostile one.
    let tokens = Vec::with_capacity((line.len() / 3).min(64));
    let mut lexer = Lexer { source, offset, line, lossy, at: 0, tokens, in_list: false, damaged: false, diagnostics };
    let comment = lexer.run();
    Line { tokens: lexer.tokens, comment, damaged: lexer.damaged }
}

struct Lexer<'a, 'd> {
    source: SourceId,
    offset: u32,
    line: &'a str,
    lossy: bool,
    at: usize,
    tokens: Vec<Token<'a>>,
    /// Between the brackets of an attribute list.
    in_list: bool,
    /// Something unreadable has just been passed.
    damaged: bool,
    diagnostics: &'d mut Diagnostics,
}

impl<'a> Lexer<'a, '_> {
    /// Reads to the end of the line; returns the comment.
    fn run(&mut self) -> Option<String> {
        while let Some(c) = self.rest().chars().next() {
            match c {
                '#' => return Some(self.rest().trim_end().to_owned()),
                ' ' | '\t' => self.at += 1,
                '"' => self.quoted(),
                c => self.unquoted(c),
            }
        }
        None
    }

    fn unquoted(&mut self, c: char) {
        let rest = self.rest();
        let value = if self.expects_value() { value_length(rest) } else { 0 };
        if value > 0 {
            return self.push(TokenKind::Name, Cow::Borrowed(&rest[..value]), value);
        }
        match bare_name_length(rest) {
            0 => match symbol_at(rest) {
                Some(symbol) => self.symbol(symbol),
                None => self.unexpected(c),
            },
            length => self.word(length),
        }
    }

    fn word(&mut self, length: usize) {
        let rest = self.rest();
        let word = &rest[..length];
        if let Some(Reserved::Operator(kind)) = reserved(word) {
            return self.push(kind, Cow::Borrowed(""), length);
        }
        let Some(spaced) = spaced_arguments(&rest[length..]) else {
            return self.push(TokenKind::Name, Cow::Borrowed(word), length);
        };
        let text = &rest[..length + spaced];
        let name: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let message = format!("white space inside the parentheses of the name `{text}`");
        let hint = format!("write `{name}`, or quote the name if the space belongs to it: `\"{text}\"`");
        self.report(Code::SpaceInName, text.len(), message, hint);
        self.push(TokenKind::Name, Cow::Owned(name), text.len());
    }

    fn symbol(&mut self, symbol: &Symbol) {
        let &Symbol { text, kind, hint } = symbol;
        // At the start of a line it is a list mark, and the parser says what a line starts with.
        if let Some(hint) = hint.filter(|_| !self.tokens.is_empty() || kind == TokenKind::Not) {
            let message = format!("`{text}` is not an operator of the rule language");
            self.report(Code::ForeignOperator, text.len(), message, hint);
        }
        self.push(kind, Cow::Borrowed(""), text.len());
    }

    /// Adds a token that ends where the lexer now goes on.
    fn push(&mut self, kind: TokenKind, name: Cow<'a, str>, length: usize) {
        let span = self.span(self.at, length);
        self.in_list = kind == TokenKind::OpenBracket || (self.in_list && kind != TokenKind::CloseBracket);
        self.tokens.push(Token { kind, span, name, damaged: std::mem::take(&mut self.damaged) });
        self.at += length;
    }

    /// Adds a finding about the next `length` bytes.
    fn report(&mut self, code: Code, length: usize, message: impl Into<String>, hint: impl Into<String>) {
        self.report_at(code, self.at, length, message, Some(hint.into()));
    }

    fn report_at(&mut self, code: Code, at: usize, length: usize, message: impl Into<String>, hint: Option<String>) {
        let diagnostic = Diagnostic::new(code, self.span(at, length), message);
        self.diagnostics.push(Diagnostic { hint, ..diagnostic });
    }

    fn rest(&self) -> &'a str {
        &self.line[self.at..]
    }

    fn span(&self, at: usize, length: usize) -> Span {
        let start = self.offset + at as u32;
        Span { source: self.source, start, end: start + length as u32 }
    }

    fn expects_value(&self) -> bool {
        self.in_list && self.tokens.last().is_some_and(|token| token.kind == TokenKind::Equals)
    }

    fn after_include(&self) -> bool {
        matches!(&self.tokens[..], [first] if first.kind == TokenKind::Name && first.name == "include")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::SourceMap;

    fn kinds(line: &str) -> (Vec<(TokenKind, String)>, Vec<&'static str>) {
        let source = SourceMap::default().add("t", line);
        let mut diagnostics = Diagnostics::default();
        let tokens = lex(source, 0, line, false, &mut diagnostics).tokens;
        let codes = diagnostics.kept().iter().map(|diagnostic| diagnostic.code.as_str()).collect();
        (tokens.into_iter().map(|token| (token.kind, token.name.into_owned())).collect(), codes)
    }

    fn names(line: &str) -> Vec<String> {
        let (tokens, codes) = kinds(line);
        assert!(codes.is_empty(), "{line}: {codes:?}");
        tokens.into_iter().filter(|(_, name)| !name.is_empty()).map(|(_, name)| name).collect()
    }

    #[test]
    fn names_of_the_datasets_are_bare() {
        for name in [
            "blue_sphere",
            "obj:baby",
            "rel:adult-in_front_of-baby",
            "collide(sphere,red)",
            "7",
            "a.b/c",
            "collide(shape=sphere,color=red)",
            "é_1",
            "f(a)-g(b)",
            "nothing",
            "and_more",
            "rel:not",
        ] {
            assert_eq!(names(name), [name]);
        }
    }

    #[test]
    fn arrows_win_over_dashes_and_colons_end_names() {
        assert_eq!(names("a-b->c"), ["a-b", "c"]);
        assert_eq!(names("a<->b-c"), ["a", "b-c"]);
        assert_eq!(names("obj:r: obj:a"), ["obj:r", "obj:a"]);
        assert_eq!(names("not(a)and(b)or(c)"), ["a", "b", "c"]);
        assert_eq!(kinds("a:").0, [(TokenKind::Name, "a".to_owned()), (TokenKind::Colon, String::new())]);
    }

    #[test]
    fn quotes_take_every_character() {
        assert_eq!(names(r#""Land vehicle" "a\"\\\n\u{1F600}" "and""#), ["Land vehicle", "a\"\\\n😀", "and"]);
        assert_eq!(kinds(r#""a\qb""#).1, ["E003"]);
        assert_eq!(kinds(r#""a\u{d800}""#).1, ["E003"]);
        assert_eq!(kinds(r#""a\"#).1, ["E003", "E002"]);
        assert_eq!(kinds("\"\"").1, ["E005"]);
    }

    #[test]
    fn spaces_in_arguments_are_reported_and_read() {
        let (tokens, codes) = kinds("collide(sphere, red)");
        assert_eq!(tokens, [(TokenKind::Name, "collide(sphere,red)".to_owned())]);
        assert_eq!(codes, ["E006"]);
        assert_eq!(kinds("a (b)").0.len(), 4);
        assert_eq!(kinds("a(b c)").0.len(), 5);
    }
}
