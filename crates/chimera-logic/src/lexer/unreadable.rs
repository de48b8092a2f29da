//! Characters that mean nothing in a rule file: one finding for a run of them, with what to write instead, and a decision
//! whether the rest of the line is worth reading.

use std::borrow::Cow;

use super::quotes::closing_quotes;
use super::{Lexer, TokenKind};
use crate::diagnostic::Code;

/// Characters that print nothing, or reorder or steer what follows: control characters, zero width, bidirectional controls.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

impl Lexer<'_, '_> {
    /// Passes a character that starts no token.
    pub(super) fn unexpected(&mut self, c: char) {
        if self.in_list && c == ';' {
            // The parser says how attributes are separated.
            self.push(TokenKind::Comma, Cow::Borrowed(""), 1);
        } else if let Some((name, length)) = self.foreign_quote(c) {
            let hint = format!("quote with plain double quotes: `\"{name}\"`");
            self.unexpected_character(c, length, Some(hint));
            self.push(TokenKind::Quoted, Cow::Borrowed(name), length);
        } else {
            self.unreadable(c);
        }
    }

    /// A run of the same unreadable character is one finding.
    fn unreadable(&mut self, c: char) {
        let rest = self.rest();
        let length = rest.find(|other| other != c).unwrap_or(rest.len());
        let (hint, rest_is_readable) = match c {
            _ if self.after_include() => (Some("write the path in double quotes: `include \"more.rules\"`"), false),
            '/' if length == 2 => (Some("a comment starts with `#`"), false),
            ';' if rest[length..].trim_start().is_empty() => {
                (Some("a rule ends with its line; nothing is needed after it"), true)
            }
            ';' => (Some("one rule a line: start the next rule on a line of its own"), false),
            '\r' => (Some("end lines with a line feed, or with carriage return and line feed"), false),
            _ => (None, true),
        };
        let first = self.tokens.is_empty();
        let hint = hint.map(str::to_owned).or_else(|| character_hint(c, first));
        self.unexpected_character(c, length, hint);
        self.damaged = true;
        self.at = if rest_is_readable { self.at + length } else { self.line.len() };
    }

    fn unexpected_character(&mut self, c: char, length: usize, hint: Option<String>) {
        // Invalid bytes have been reported.
        if self.lossy && c == char::REPLACEMENT_CHARACTER {
            return;
        }
        let message = match c {
            '`' => "unexpected backtick".to_owned(),
            c if c.is_ascii_graphic() => format!("unexpected character `{c}`"),
            c => format!("unexpected character `{c}` (U+{:04X})", c as u32),
        };
        self.report_at(Code::UnexpectedCharacter, self.at, length, message, hint);
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
        '！'..='～' => {
            let plain = char::from_u32(c as u32 - ('！' as u32 - '!' as u32))?;
            return Some(format!("write a plain `{plain}`"));
        }
        c if c.is_whitespace() => "write a plain space",
        c if is_invisible(c) => "remove it; it cannot be seen",
        c if c.is_ascii_punctuation() || closing_quotes(c).is_some() => {
            "a name with such a character needs double quotes"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
