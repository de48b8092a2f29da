//! One line of a rule file to tokens. Never fails: what it cannot read becomes a diagnostic and a mark on the token that
//! follows, and the operators and quotes of other languages are read as what was meant.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::span::{SourceId, Span};

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
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
    pub(crate) name: String,
    /// Whether something unreadable, which has been reported, stands right before it.
    pub(crate) damaged: bool,
}

/// The tokens of a line and its comment, `#` included.
pub(crate) struct Line {
    pub(crate) tokens: Vec<Token>,
    pub(crate) comment: Option<String>,
    /// Whether something unreadable stands at its end.
    pub(crate) damaged: bool,
}

/// A word that is an operator or a constant and so never a bare name, whatever its case.
pub(crate) fn reserved(word: &str) -> Option<Reserved> {
    const WORDS: [(&str, Reserved); 5] = [
        ("not", Reserved::Operator(TokenKind::Not)),
        ("and", Reserved::Operator(TokenKind::And)),
        ("or", Reserved::Operator(TokenKind::Or)),
        ("true", Reserved::Constant),
        ("false", Reserved::Constant),
    ];
    WORDS.iter().find(|(text, _)| word.eq_ignore_ascii_case(text)).map(|&(_, reserved)| reserved)
}

/// What a reserved word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reserved {
    Operator(TokenKind),
    Constant,
}

/// Whether a text can stand bare where a name is expected.
pub(crate) fn is_bare_name(text: &str) -> bool {
    bare_name_length(text) == text.len() && !text.is_empty() && reserved(text).is_none()
}

/// Symbols, longest first. The hint is set for those of other languages.
const SYMBOLS: &[(&str, TokenKind, Option<&str>)] = &[
    ("<==>", TokenKind::Iff, Some("write `<=>`")),
    ("<=>", TokenKind::Iff, None),
    ("<->", TokenKind::Iff, None),
    ("==>", TokenKind::Implies, Some("write `=>`")),
    ("-->", TokenKind::Implies, Some("write `=>`")),
    ("===", TokenKind::Iff, Some("write `<=>` for \"both or neither\"")),
    ("!==", TokenKind::Iff, Some("write `!(a <=> b)` for \"exactly one of them\"")),
    ("=>", TokenKind::Implies, None),
    ("->", TokenKind::Implies, None),
    ("&&", TokenKind::And, Some("write a single `&`")),
    ("/\\", TokenKind::And, Some("write `&`")),
    ("||", TokenKind::Or, Some("write a single `|`")),
    ("\\/", TokenKind::Or, Some("write `|`")),
    ("==", TokenKind::Iff, Some("write `<=>` for \"both or neither\"")),
    ("!=", TokenKind::Iff, Some("write `!(a <=> b)` for \"exactly one of them\"")),
    ("<=", TokenKind::Implies, Some("write the implication from left to right: `b => a`")),
    ("<-", TokenKind::Implies, Some("write the implication from left to right: `b => a`")),
    ("!", TokenKind::Not, None),
    ("¬", TokenKind::Not, None),
    ("~", TokenKind::Not, Some("write `!`")),
    ("&", TokenKind::And, None),
    ("∧", TokenKind::And, None),
    ("⋀", TokenKind::And, None),
    ("*", TokenKind::And, Some("write `&`")),
    ("|", TokenKind::Or, None),
    ("∨", TokenKind::Or, None),
    ("⋁", TokenKind::Or, None),
    ("+", TokenKind::Or, Some("write `|`")),
    (":=", TokenKind::Colon, Some("write `: ` after the rule's name")),
    ("^", TokenKind::Iff, Some("write `!(a <=> b)` for \"exactly one of them\"")),
    ("⊕", TokenKind::Iff, Some("write `!(a <=> b)` for \"exactly one of them\"")),
    ("⇒", TokenKind::Implies, None),
    ("→", TokenKind::Implies, None),
    ("⟹", TokenKind::Implies, None),
    ("⟶", TokenKind::Implies, None),
    ("⇔", TokenKind::Iff, None),
    ("↔", TokenKind::Iff, None),
    ("⟺", TokenKind::Iff, None),
    ("⟷", TokenKind::Iff, None),
    ("≡", TokenKind::Iff, None),
    ("(", TokenKind::Open, None),
    (")", TokenKind::Close, None),
    ("[", TokenKind::OpenBracket, None),
    ("]", TokenKind::CloseBracket, None),
    (":", TokenKind::Colon, None),
    ("=", TokenKind::Equals, None),
    (",", TokenKind::Comma, None),
];

/// Reads one line that starts at byte `offset` of its source. `lossy` sources had invalid bytes, which became U+FFFD and
/// were reported.
pub(crate) fn lex(source: SourceId, offset: u32, line: &str, lossy: bool, diagnostics: &mut Diagnostics) -> Line {
    let mut lexer =
        Lexer { source, offset, line, lossy, at: 0, tokens: Vec::new(), in_list: false, damaged: false, diagnostics };
    let comment = lexer.run();
    Line { tokens: lexer.tokens, comment, damaged: lexer.damaged }
}

struct Lexer<'a> {
    source: SourceId,
    offset: u32,
    line: &'a str,
    lossy: bool,
    at: usize,
    tokens: Vec<Token>,
    /// Between the brackets of an attribute list.
    in_list: bool,
    /// Something unreadable has just been passed.
    damaged: bool,
    diagnostics: &'a mut Diagnostics,
}

impl Lexer<'_> {
    /// Reads to the end of the line; returns the comment.
    fn run(&mut self) -> Option<String> {
        while let Some(c) = self.line[self.at..].chars().next() {
            match c {
                '#' => return Some(self.line[self.at..].trim_end().to_owned()),
                ' ' | '\t' => self.at += 1,
                '"' => self.quoted(),
                _ if self.value_length() > 0 => {
                    let length = self.value_length();
                    self.push(TokenKind::Name, self.line[self.at..self.at + length].to_owned(), length);
                }
                _ => match bare_name_length(&self.line[self.at..]) {
                    0 => self.symbol(c),
                    length => self.word(length),
                },
            }
        }
        None
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { source: self.source, start: self.offset + start as u32, end: self.offset + end as u32 }
    }

    /// Adds a token that ends where the lexer now goes on.
    fn push(&mut self, kind: TokenKind, name: String, length: usize) {
        let span = self.span(self.at, self.at + length);
        self.in_list = kind == TokenKind::OpenBracket || (self.in_list && kind != TokenKind::CloseBracket);
        self.tokens.push(Token { kind, span, name, damaged: std::mem::take(&mut self.damaged) });
        self.at += length;
    }

    /// Length of an attribute's value, which may hold what a name may not (`-1`, `.5`, `99%`), so that it is judged whole.
    fn value_length(&self) -> usize {
        if !self.in_list || self.tokens.last().is_none_or(|token| token.kind != TokenKind::Equals) {
            return 0;
        }
        let rest = &self.line[self.at..];
        let ends = |&(at, c): &(usize, char)| match c {
            ':' => rest[at + 1..].chars().next().is_none_or(char::is_whitespace),
            c => c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')' | '"' | '\'' | '#' | ';'),
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
        rest[..end].trim_end_matches(',').len()
    }

    fn word(&mut self, length: usize) {
        let rest = &self.line[self.at..];
        let word = &rest[..length];
        if let Some(Reserved::Operator(kind)) = reserved(word) {
            return self.push(kind, String::new(), length);
        }
        let Some(spaced) = spaced_arguments(&rest[length..]) else {
            return self.push(TokenKind::Name, word.to_owned(), length);
        };
        let text = &rest[..length + spaced];
        let name: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let span = self.span(self.at, self.at + text.len());
        self.diagnostics.push(
            Diagnostic::new(
                Code::SpaceInName,
                span,
                format!("white space inside the parentheses of the name `{text}`"),
            )
            .hint(format!("write `{name}`, or quote the name if the space belongs to it: `\"{text}\"`")),
        );
        self.push(TokenKind::Name, name, text.len());
    }

    fn symbol(&mut self, c: char) {
        let rest = &self.line[self.at..];
        // Comparing first bytes first: most symbols fail there.
        let matches = |text: &str| text.as_bytes()[0] == rest.as_bytes()[0] && rest.starts_with(text);
        let Some(&(text, kind, hint)) = SYMBOLS.iter().find(|(text, ..)| matches(text)) else {
            return self.unexpected(c);
        };
        // At the start of a line it is a list mark, and the parser says what a line starts with.
        if let Some(hint) = hint.filter(|_| !self.tokens.is_empty() || kind == TokenKind::Not) {
            let span = self.span(self.at, self.at + text.len());
            let message = format!("`{text}` is not an operator of the rule language");
            self.diagnostics.push(Diagnostic::new(Code::ForeignOperator, span, message).hint(hint));
        }
        self.push(kind, String::new(), text.len());
    }

    /// A run of the same unreadable character is one finding.
    fn unexpected(&mut self, c: char) {
        if self.in_list && c == ';' {
            return self.push(TokenKind::Comma, String::new(), 1);
        }
        if let Some(length) = self.foreign_quote(c) {
            let name = self.line[self.at..self.at + length].trim_matches(|c| closing_quote(c).is_some()).to_owned();
            let hint = format!("quote with plain double quotes: `\"{name}\"`");
            self.unexpected_character(c, length, Some(hint));
            return self.push(TokenKind::Quoted, name, length);
        }
        let rest = &self.line[self.at..];
        let length = rest.find(|other| other != c).unwrap_or(rest.len());
        let more = !rest[length..].trim_start().is_empty();
        let (hint, rest_is_readable) = match c {
            _ if self.after_include() => {
                (Some("write the path in double quotes: `include \"more.rules\"`".to_owned()), false)
            }
            '/' if length == 2 => (Some("a comment starts with `#`".to_owned()), false),
            ';' if more => (Some("one rule a line: start the next rule on a line of its own".to_owned()), false),
            ';' => (Some("a rule ends with its line; nothing is needed after it".to_owned()), true),
            '\r' => (Some("end lines with a line feed, or with carriage return and line feed".to_owned()), false),
            c => (character_hint(c, self.tokens.is_empty()), true),
        };
        self.unexpected_character(c, length, hint);
        self.damaged = true;
        self.at = if rest_is_readable { self.at + length } else { self.line.len() };
    }

    fn after_include(&self) -> bool {
        matches!(&self.tokens[..], [first] if first.kind == TokenKind::Name && first.name == "include")
    }

    fn unexpected_character(&mut self, c: char, length: usize, hint: Option<String>) {
        // Invalid bytes have been reported.
        if self.lossy && c == char::REPLACEMENT_CHARACTER {
            return;
        }
        let shown = match c {
            '`' => "backtick".to_owned(),
            c if c.is_control() || c.is_whitespace() || !c.is_ascii() => {
                format!("character `{c}` (U+{:04X})", c as u32)
            }
            c => format!("character `{c}`"),
        };
        let span = self.span(self.at, self.at + length);
        let mut diagnostic = Diagnostic::new(Code::UnexpectedCharacter, span, format!("unexpected {shown}"));
        diagnostic.hint = hint;
        self.diagnostics.push(diagnostic);
    }

    /// Length of a name in the quotes of another language. Inside a word (`driver's`) a quote opens nothing.
    fn foreign_quote(&self, c: char) -> Option<usize> {
        let closing = closing_quote(c)?;
        let inside_word = self.line[..self.at].ends_with(is_name_character);
        let rest = &self.line[self.at + c.len_utf8()..];
        // A bounded look ahead: a line of opening quotes must not cost its square.
        let (length, closed) = rest.char_indices().take(200).find(|(_, c)| closing.contains(c))?;
        (length > 0 && !inside_word).then_some(c.len_utf8() + length + closed.len_utf8())
    }

    fn quoted(&mut self) {
        let rest = &self.line[self.at..];
        let mut name = String::new();
        let mut chars = rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => return self.close_quote(name, at + 1),
                '\\' => match unescape(&rest[at..]) {
                    Some((unescaped, length)) => {
                        name.push(unescaped);
                        chars.by_ref().take(length - 1).for_each(drop);
                    }
                    None => self.bad_escape(at),
                },
                c => name.push(c),
            }
        }
        let span = self.span(self.at, self.line.len());
        let hint = if rest.contains("\\\"") {
            "close it with `\"`; after a backslash it is a part of the name"
        } else {
            "close it with `\"` on the same line"
        };
        self.diagnostics
            .push(Diagnostic::new(Code::UnterminatedQuote, span, "this quoted name is not closed").hint(hint));
        self.push(TokenKind::Quoted, name, rest.len());
        self.damaged = true;
    }

    fn close_quote(&mut self, name: String, length: usize) {
        if name.is_empty() {
            let span = self.span(self.at, self.at + length);
            let hint = if self.after_include() { "write a path between them" } else { "write a name between them" };
            let message = "there is nothing between these quotes";
            self.diagnostics.push(Diagnostic::new(Code::EmptyName, span, message).hint(hint));
        }
        self.push(TokenKind::Quoted, name, length);
    }

    fn bad_escape(&mut self, at: usize) {
        let start = self.at + at;
        let escape = &self.line[start..];
        let unicode = escape.starts_with("\\u{").then(|| escape.find(['}', '"'])).flatten();
        let length = match unicode {
            Some(end) if escape[end..].starts_with('}') => end + 1,
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(length, _)| length),
        };
        let shown = &escape[..length];
        let span = self.span(start, start + length);
        let hint = if self.after_include() {
            "write `/` between folders, or `\\\\` for a backslash"
        } else if shown.starts_with("\\u") {
            "write a character's number in hexadecimal digits and braces: `\\u{e9}` for `é`"
        } else {
            "the escapes are `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t` and `\\u{...}`; write `\\\\` for a backslash"
        };
        self.diagnostics.push(
            Diagnostic::new(Code::BadEscape, span, format!("unknown escape `{shown}` in a quoted name")).hint(hint),
        );
    }
}

/// The characters that close a quote of another language.
fn closing_quote(open: char) -> Option<&'static [char]> {
    match open {
        '\'' => Some(&['\'']),
        '`' => Some(&['`', '\'']),
        '“' | '”' | '„' => Some(&['”', '“']),
        '‘' | '’' | '‚' => Some(&['’', '‘']),
        '«' => Some(&['»']),
        '»' => Some(&['«']),
        _ => None,
    }
}

/// What to write instead of an unreadable character.
fn character_hint(c: char, first: bool) -> Option<String> {
    let hint = match c {
        '-' | '•' if first => "a line starts with the rule's name: `name: formula`",
        '{' | '}' => "group with parentheses",
        '<' | '>' | '≤' | '≥' => "concepts are true or false; there is nothing to compare",
        '≠' => "write `!(a <=> b)` for \"exactly one of them\"",
        '–' | '—' | '−' | '‐' | '‑' => "write a plain `-`",
        '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => "remove it; it cannot be seen",
        '！'..='～' => {
            let plain = char::from_u32(c as u32 - ('！' as u32 - '!' as u32))?;
            return Some(format!("write a plain `{plain}`"));
        }
        c if closing_quote(c).is_some() => "a name with such a character needs double quotes",
        c if c.is_whitespace() => "write a plain space",
        c if c.is_control() => "remove it; it cannot be seen",
        c if c.is_ascii_punctuation() => "a name with such a character needs double quotes",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The character an escape stands for and the escape's length in characters.
fn unescape(text: &str) -> Option<(char, usize)> {
    let simple = |c| Some((c, 2));
    match text[1..].chars().next()? {
        '"' => simple('"'),
        '\\' => simple('\\'),
        'n' => simple('\n'),
        'r' => simple('\r'),
        't' => simple('\t'),
        'u' => {
            let digits = text[2..].strip_prefix('{')?;
            let digits = &digits[..digits.bytes().take(7).position(|byte| byte == b'}')?];
            let valid = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let c = valid.then(|| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)).flatten()?;
            Some((c, digits.len() + 4))
        }
        _ => None,
    }
}

/// Length in bytes of the bare name at the start of `text`; 0 if there is none. Arguments in parentheses belong to the name
/// when they follow it directly and hold neither white space nor further parentheses: `collide(shape=sphere,color=red)`.
fn bare_name_length(text: &str) -> usize {
    let mut end = word_length(text);
    if end == 0 || reserved(&text[..end]).is_some() {
        return end;
    }
    loop {
        let arguments = argument_length(&text[end..], |_| false);
        if arguments == 0 {
            return end;
        }
        end += arguments;
        end += continuation_length(&text[end..]);
    }
}

/// Length of `(a,b)` at the start of `text` when it also holds spaces, as in `collide(sphere, red)` or `enter( cube )`.
fn spaced_arguments(text: &str) -> Option<usize> {
    let length = argument_length(text, |c| c == ' ');
    let inside = text.get(1..length.checked_sub(1)?)?.trim();
    // `a(b c)` is more likely a missing operator.
    let arguments = inside.contains([',', '=']) || !inside.contains(' ');
    (arguments && !inside.is_empty()).then_some(length)
}

fn argument_length(text: &str, also: impl Fn(char) -> bool) -> usize {
    let Some(inside) = text.strip_prefix('(') else { return 0 };
    let allowed = |c: char| is_name_character(c) || matches!(c, ',' | '=' | ':' | '-') || also(c);
    match inside.find(|c| !allowed(c)) {
        Some(end) if end > 0 && inside[end..].starts_with(')') => end + 2,
        _ => 0,
    }
}

/// A word starts with a letter, a digit or `_`.
fn word_length(text: &str) -> usize {
    match text.chars().next() {
        Some(c) if c.is_alphanumeric() || c == '_' => continuation_length(text),
        _ => 0,
    }
}

/// `->` wins over `-` in a name, and a `:` before white space ends a rule's name.
fn continuation_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let ends = |&(at, c): &(usize, char)| match c {
        '-' => matches!(bytes.get(at + 1), Some(b'>')) || bytes[at..].starts_with(b"-->"),
        ':' => text[at + 1..].chars().next().is_none_or(char::is_whitespace),
        c => !is_name_character(c),
    };
    text.char_indices().find(ends).map_or(text.len(), |(at, _)| at)
}

fn is_name_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/')
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
        (tokens.into_iter().map(|token| (token.kind, token.name)).collect(), codes)
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

    #[test]
    fn bare_means_that_the_whole_text_is_one_name() {
        for text in ["", "a b", "a:", "not", "True", "a-", "-a", "f(", "f(a b)", "a->b", "\"", "a#"] {
            assert_eq!(is_bare_name(text), matches!(text, "a-"), "{text:?}");
        }
    }
}
