//! Names in quotes: the language's own double quotes with their escapes, and the quotes of other languages, which are
//! reported and read.

use std::borrow::Cow;

use super::names::is_name_character;
use super::{Lexer, TokenKind};
use crate::diagnostic::Code;

/// How far ahead a `\u{...}` is looked at for its end, so that many broken ones on a line take no more than linear time.
const UNICODE_ESCAPE_CHARACTERS: usize = 24;

/// A bounded look ahead for a closing quote: a line of opening quotes must not cost its square.
const FOREIGN_QUOTE_CHARACTERS: usize = 200;

impl<'a> Lexer<'a, '_> {
    /// Reads a name in double quotes up to its end, or to the end of the line when it has none.
    pub(super) fn quoted(&mut self) {
        let rest = self.rest();
        let mut name = String::new();
        let mut at = 1;
        while let Some(length) = rest[at..].find(['"', '\\']) {
            name.push_str(&rest[at..at + length]);
            at += length;
            if rest[at..].starts_with('"') {
                return self.close_quote(name, at + 1);
            }
            let (c, length) = unescape(&rest[at..]).map_or((None, 1), |(c, length)| (Some(c), length));
            if c.is_none() {
                self.bad_escape(self.at + at);
            }
            name.extend(c);
            at += length;
        }
        name.push_str(&rest[at..]);
        self.unterminated(name);
    }

    fn close_quote(&mut self, name: String, length: usize) {
        if name.is_empty() {
            let hint = if self.after_include() { "write a path between them" } else { "write a name between them" };
            self.report(Code::EmptyName, length, "there is nothing between these quotes", hint);
        }
        self.push(TokenKind::Quoted, Cow::Owned(name), length);
    }

    fn unterminated(&mut self, name: String) {
        let rest = self.rest();
        let hint = if rest.contains("\\\"") {
            "close it with `\"`; after a backslash it is a part of the name"
        } else {
            "close it with `\"` on the same line"
        };
        self.report(Code::UnterminatedQuote, rest.len(), "this quoted name is not closed", hint);
        self.push(TokenKind::Quoted, Cow::Owned(name), rest.len());
        self.damaged = true;
    }

    fn bad_escape(&mut self, start: usize) {
        let escape = &self.line[start..];
        let unicode = escape.starts_with("\\u{");
        let end = escape.char_indices().take(UNICODE_ESCAPE_CHARACTERS).find(|(_, c)| matches!(c, '}' | '"'));
        let length = match end {
            Some((end, '}')) if unicode => end + 1,
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(length, _)| length),
        };
        let shown = &escape[..length];
        let hint = if self.after_include() {
            "write `/` between folders, or `\\\\` for a backslash"
        } else if shown.starts_with("\\u") {
            "write a character's number in hexadecimal digits and braces: `\\u{e9}` for `é`"
        } else {
            "the escapes are `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t` and `\\u{...}`; write `\\\\` for a backslash"
        };
        let message = format!("unknown escape `{shown}` in a quoted name");
        self.report_at(Code::BadEscape, start, length, message, Some(hint.to_owned()));
    }

    /// The name in the quotes of another language that starts here, and its length with them. Inside a word (`driver's`) a
    /// quote opens nothing.
    pub(super) fn foreign_quote(&self, c: char) -> Option<(&'a str, usize)> {
        let closing = closing_quotes(c)?;
        if self.line[..self.at].ends_with(is_name_character) {
            return None;
        }
        let rest = self.rest();
        let inside = &rest[c.len_utf8()..];
        let (end, closed) = inside.char_indices().take(FOREIGN_QUOTE_CHARACTERS).find(|(_, c)| closing.contains(c))?;
        let length = c.len_utf8() + end + closed.len_utf8();
        (end > 0).then(|| (rest[..length].trim_matches(|c| closing_quotes(c).is_some()), length))
    }
}

/// The characters that close a quote of another language.
pub(super) fn closing_quotes(open: char) -> Option<&'static [char]> {
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

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn unescape(text: &str) -> Option<(char, usize)> {
    let c = match text[1..].chars().next()? {
        c @ ('"' | '\\') => c,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unescape_number(&text[2..]).map(|(c, digits)| (c, digits + "\\u{}".len())),
        _ => return None,
    };
    Some((c, 2))
}

/// The character of a hexadecimal number in braces, and the number of its digits.
fn unescape_number(text: &str) -> Option<(char, usize)> {
    let digits = text.strip_prefix('{')?;
    let digits = &digits[..digits.bytes().take(7).position(|byte| byte == b'}')?];
    // The standard library would also read a sign.
    let valid = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u32::from_str_radix(digits, 16).ok().filter(|_| valid)?;
    Some((char::from_u32(number)?, digits.len()))
}
