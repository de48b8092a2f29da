//! Parentheses that another language would read as a call: `AND(a,b)`, `collide (sphere,red)`,
//! `collide(sphere,(red | blue))`. Each is one finding that says what to write, and is passed as a whole.

use super::Parser;
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::{Token, TokenKind};
use crate::printer::quote_name;
use crate::syntax::Op;

/// A bounded look ahead for the end of a call: a line of opening parentheses must not cost its square.
const CALL_TOKENS: usize = 64;

impl Parser<'_, '_> {
    /// `AND(a,b)`: an operator in front of its operands.
    pub(super) fn prefix_operator(&mut self) -> bool {
        let (Some(op), [operator, rest @ ..]) = (self.binary_operator(), self.rest()) else { return false };
        let Some((inside, close)) = call(rest) else { return false };
        let follows_operator =
            self.previous_token().is_some_and(|token| !matches!(token.kind, TokenKind::Colon | TokenKind::Open));
        let next = rest.get(inside.len() + 2).map(|token| token.kind);
        let binds_less = matches!(next, Some(TokenKind::And | TokenKind::Or));
        let formula = infix(op, inside);
        let hint =
            if follows_operator || binds_less { format!("write `({formula})`") } else { format!("write `{formula}`") };
        let message = "an operator stands between its operands, not before them";
        self.report(Code::MissingOperand, operator.span.to(close.span), message, hint);
        self.at += inside.len() + 3;
        true
    }

    /// `collide (sphere,red)` or `collide(sphere,red`: arguments that the lexer did not take as a part of the name.
    pub(super) fn loose_arguments(&mut self) -> bool {
        let (Some(name), [open, rest @ ..]) = (self.previous_token(), self.rest()) else { return false };
        let is_argument = |kind| matches!(kind, TokenKind::Name | TokenKind::Comma | TokenKind::Equals);
        let length = rest.iter().take_while(|token| is_argument(token.kind)).count();
        let (inside, rest) = rest.split_at(length);
        if name.kind != TokenKind::Name || inside.iter().all(|token| token.kind == TokenKind::Name) {
            return false;
        }
        let closed = rest.first().filter(|token| token.kind == TokenKind::Close);
        let diagnostic = match closed {
            Some(close) => {
                let message = "white space before the parentheses of a name";
                Diagnostic::new(Code::SpaceInName, name.span.to(close.span), message)
            }
            None if rest.first().is_some_and(|token| token.kind == TokenKind::Open) => return false,
            None => Diagnostic::new(Code::UnclosedParenthesis, open.span, "the parenthesis of this name is not closed"),
        };
        let arguments: String = inside.iter().map(argument_text).collect();
        self.push(diagnostic.hint(format!("write `{}({arguments})`", name.name)));
        self.at += 1 + length + usize::from(closed.is_some());
        true
    }

    /// `collide(sphere,(red | blue))`: a name whose arguments are formulas.
    pub(super) fn formula_arguments(&mut self) -> bool {
        let Some(name) = self.previous_token().filter(|token| token.kind == TokenKind::Name) else { return false };
        let Some((_, close)) = call(self.rest()) else { return false };
        let message = "the parentheses of a name hold no formula";
        let hint = format!("write a name for each case and join them: `{0}(a,b) | {0}(a,c)`", name.name);
        self.report(Code::UnexpectedToken, name.span.to(close.span), message, hint);
        self.skip_call()
    }

    /// Passes a call whose mistake has been reported.
    pub(super) fn skip_call(&mut self) -> bool {
        let call = call(self.rest());
        self.at += call.map_or(0, |(inside, _)| inside.len() + 2);
        call.is_some()
    }
}

/// The tokens between the `(` that `tokens` starts with and its `)`, and the `)`, if they are near and a comma separates
/// them.
fn call<'t, 'a>(tokens: &'t [Token<'a>]) -> Option<(&'t [Token<'a>], &'t Token<'a>)> {
    let [Token { kind: TokenKind::Open, .. }, inside @ ..] = tokens else { return None };
    let (mut depth, mut separated) = (0, false);
    for (length, token) in inside.iter().take(CALL_TOKENS).enumerate() {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close if depth == 0 => return separated.then_some((&inside[..length], token)),
            TokenKind::Close => depth -= 1,
            TokenKind::Comma => separated |= depth == 0,
            _ => {}
        }
    }
    None
}

/// The operands of a call with the operator between them; an example when they are more than literals.
fn infix(op: Op, inside: &[Token]) -> String {
    let operands: Option<Vec<_>> = inside.split(|token| token.kind == TokenKind::Comma).map(literal_text).collect();
    let operands = operands.unwrap_or_else(|| vec!["a".to_owned(), "b".to_owned()]);
    operands.join(&format!(" {} ", op.symbol()))
}

/// A concept with the `!`s in front of it.
fn literal_text(tokens: &[Token]) -> Option<String> {
    let [negations @ .., concept] = tokens else { return None };
    let is_literal = matches!(concept.kind, TokenKind::Name | TokenKind::Quoted)
        && negations.iter().all(|token| token.kind == TokenKind::Not);
    is_literal.then(|| "!".repeat(negations.len()) + &quote_name(&concept.name))
}

fn argument_text<'t>(token: &'t Token) -> &'t str {
    match token.kind {
        TokenKind::Comma => ",",
        TokenKind::Equals => "=",
        _ => &token.name,
    }
}
