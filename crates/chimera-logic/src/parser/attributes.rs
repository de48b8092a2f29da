//! The list in brackets between a rule's name and its colon: `[severity=high weight=2]`.

use super::Parser;
use crate::attributes::{AttributeError, Attributes};
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::{Token, TokenKind};
use crate::vocabulary::nearest;

impl Parser<'_, '_> {
    /// `[name=value ...]`, or nothing. `None` when something in it is wrong.
    pub(super) fn attributes(&mut self) -> Option<Attributes> {
        let mut attributes = Attributes::default();
        if self.peek() != Some(TokenKind::OpenBracket) {
            return Some(attributes);
        }
        let mut sound = self.attribute_list(&mut attributes);
        if self.peek() == Some(TokenKind::OpenBracket) {
            let hint = "put all attributes into one: `[severity=high weight=2]`";
            self.report(Code::MalformedAttributes, self.here(), "a rule has one attribute list", hint);
            sound = false;
        }
        while self.peek() == Some(TokenKind::OpenBracket) {
            self.attribute_list(&mut attributes);
        }
        sound.then_some(attributes)
    }

    fn attribute_list(&mut self, attributes: &mut Attributes) -> bool {
        let open = self.here();
        self.at += 1;
        let find = |kind| self.rest().iter().position(|token| token.kind == kind);
        let close = find(TokenKind::CloseBracket);
        let end = self.at + close.or_else(|| find(TokenKind::Colon)).unwrap_or(self.rest().len());
        let closed = close.is_some();
        let mut sound = closed;
        while self.at < end {
            if self.peek() == Some(TokenKind::Name) {
                sound &= self.attribute(attributes, end);
            } else {
                sound = false;
                self.no_attribute(closed);
                self.skip_to_attribute(end);
            }
        }
        if !closed {
            let hint = "write `name [severity=high weight=2]: formula`";
            self.report(Code::MalformedAttributes, open, "this attribute list is not closed", hint);
        }
        self.accept(TokenKind::CloseBracket);
        sound
    }

    fn no_attribute(&mut self, closed: bool) {
        let message = match self.peek() {
            // A parenthesis that closes the list is part of that mistake.
            Some(TokenKind::Close) if !closed => return,
            Some(TokenKind::Comma) => "attributes are separated by spaces alone",
            _ => "expected an attribute such as `weight=2`",
        };
        self.report(Code::MalformedAttributes, self.here(), message, "write `[severity=high weight=2]`");
    }

    /// `name=value`, in a list that ends before token `end`.
    fn attribute(&mut self, attributes: &mut Attributes, end: usize) -> bool {
        let name = &self.tokens[self.at];
        self.at += 1;
        let value = match &self.tokens[self.at..end] {
            [Token { kind: TokenKind::Equals, .. }, value, ..] if is_value(value) => value,
            rest => {
                self.missing_value(name, rest);
                self.skip_to_attribute(end);
                return false;
            }
        };
        self.at += 2;
        let Err(error) = attributes.set(&name.name, &value.name) else { return true };
        if matches!(error, AttributeError::Value(_)) {
            self.skip_to_attribute(end);
        }
        self.push(refused_attribute(name, value, &error));
        false
    }

    fn missing_value(&mut self, name: &Token, rest: &[Token]) {
        let value = match rest {
            [Token { kind: TokenKind::Colon, .. }, Token { kind: TokenKind::Name, name, .. }, ..] => name,
            _ => "...",
        };
        let message = format!("attribute `{}` has no value", name.name);
        self.report(Code::MalformedAttributes, name.span, message, format!("write `{}={value}`", name.name));
    }

    /// After a mistake in a list that ends before token `end`: on to the next attribute.
    fn skip_to_attribute(&mut self, end: usize) {
        let starts = |pair: &[Token]| pair[0].kind == TokenKind::Name && pair[1].kind == TokenKind::Equals;
        let next = self.tokens[self.at..end].windows(2).position(starts);
        self.at = next.map_or(end, |next| self.at + next);
    }
}

fn is_value(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Name | TokenKind::Quoted)
}

/// Why an attribute that could be read cannot be set.
fn refused_attribute(name: &Token, value: &Token, error: &AttributeError) -> Diagnostic {
    let Token { name, span, .. } = name;
    match error {
        AttributeError::Unknown => {
            let hint = match nearest(name, Attributes::NAMES) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the attributes are {}", Attributes::NAMES.join(", ")),
            };
            Diagnostic::new(Code::UnknownAttribute, *span, format!("unknown attribute `{name}`")).hint(hint)
        }
        AttributeError::Duplicate => {
            let message = format!("attribute `{name}` is given twice");
            Diagnostic::new(Code::DuplicateAttribute, *span, message).hint("keep one of them")
        }
        AttributeError::Value(expected) => {
            let message = format!("`{name}` is {expected}, got `{}`", value.name);
            Diagnostic::new(Code::BadAttributeValue, value.span, message)
        }
    }
}
