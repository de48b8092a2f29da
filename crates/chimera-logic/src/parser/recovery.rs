//! What is wrong where a formula breaks off, and where to read on. One mistake is one finding: a run of words, the `then` of
//! an `if`, or a second parenthesis that is not closed either goes without saying.

use super::Parser;
use super::formula::starts_operand;
use crate::diagnostic::Code;
use crate::lexer::{Token, TokenKind};
use crate::span::Span;

/// How many words of a run a hint repeats.
const SHOWN_WORDS: usize = 8;

impl Parser<'_, '_> {
    /// Reports a token that a formula cannot go on with, and reads on behind it.
    pub(super) fn recover(&mut self, kind: TokenKind, depth: usize) {
        if starts_operand(kind) {
            return self.missing_operator(kind, depth);
        }
        if self.binary_operator().is_some() {
            // Only after something that was reported: a sound chain takes its operators.
            self.at += 1;
            self.chain(0, depth);
            return;
        }
        self.unexpected(kind);
        self.read_on(depth);
    }

    /// Past something that was reported, on to the next operand if one follows.
    fn read_on(&mut self, depth: usize) {
        let skipped = self.peek();
        self.at += 1;
        if skipped == Some(TokenKind::OpenBracket) {
            let close = self.rest().iter().position(|token| token.kind == TokenKind::CloseBracket);
            self.at += close.map_or(self.rest().len(), |close| close + 1);
        } else if self.peek().is_some_and(starts_operand) {
            self.chain(0, depth);
        }
    }

    pub(super) fn unexpected(&mut self, kind: TokenKind) {
        let (shown, hint) = match kind {
            TokenKind::Close => {
                let hint = "remove it, or add `(` where the group starts";
                return self.report(Code::UnmatchedParenthesis, self.here(), "this parenthesis was never opened", hint);
            }
            TokenKind::Equals => {
                ("=", "write `<=>` for \"both or neither\"; `=` is allowed inside a name's parentheses")
            }
            TokenKind::Colon => (":", "one rule a line: start the next rule on a line of its own"),
            TokenKind::Comma => (",", "write `&` for \"and\", `|` for \"or\""),
            TokenKind::CloseBracket => ("]", "group with parentheses"),
            _ => ("[", "attributes stand between the name and the colon; group with parentheses"),
        };
        self.report(Code::UnexpectedToken, self.here(), format!("unexpected `{shown}` in a formula"), hint);
    }

    pub(super) fn unclosed(&mut self, open: Span) {
        if !std::mem::replace(&mut self.unclosed_reported, true) {
            let hint = "add `)` where the group ends; a rule ends with its line";
            self.report(Code::UnclosedParenthesis, open, "this parenthesis is not closed", hint);
        }
    }

    /// Neither a name nor a group stands where an operand should.
    pub(super) fn missing_operand(&mut self, depth: usize) {
        let after_open = self.previous_token().is_some_and(|token| token.kind == TokenKind::Open);
        match self.peek() {
            None if after_open => {}
            // The expression that they stand in reports them.
            Some(TokenKind::Close) if depth == 0 => {}
            Some(kind) if is_foreign_to_formulas(kind) => {}
            _ if self.prefix_operator() => {}
            kind => self.lone_operator(kind),
        }
    }

    fn lone_operator(&mut self, kind: Option<TokenKind>) {
        let (span, message) = match kind {
            None if self.at > 0 => (self.previous(), "expected an operand after this"),
            None => (self.here(), "expected an operand after this"),
            Some(_) => (self.here(), "expected an operand before this"),
        };
        let hint = if self.peek_second() == Some(TokenKind::Open) {
            "operators stand between their operands: `a & b`"
        } else if kind.is_none() {
            "a rule ends with its line; an operand is a concept, `!` and an operand, or a group in parentheses"
        } else {
            "an operand is a concept, `!` and an operand, or a group in parentheses"
        };
        self.report(Code::MissingOperand, span, message, hint);
    }

    /// An operand follows another one. Reports it, once for a run of words, and reads on.
    fn missing_operator(&mut self, kind: TokenKind, depth: usize) {
        let operand_follows = if let Some((token, hint)) = self.token().and_then(foreign_word) {
            self.foreign_word(token, hint);
            self.at += 1;
            self.peek().is_some_and(starts_operand)
        } else if let Some((token, hint)) = self.previous_token().and_then(foreign_word) {
            self.foreign_word(token, hint);
            !self.skip_call()
        } else if kind == TokenKind::Not && !self.peek_second().is_some_and(starts_operand) {
            return self.late_negation(depth);
        } else if kind == TokenKind::Open && (self.loose_arguments() || self.formula_arguments()) {
            false
        } else {
            self.side_by_side();
            true
        };
        if operand_follows {
            self.chain(0, depth);
        }
    }

    /// `a !`: a negation after its operand.
    fn late_negation(&mut self, depth: usize) {
        let hint = "`!` stands before what it negates";
        self.report(Code::MissingOperand, self.here(), "expected an operand after this", hint);
        self.read_on(depth);
    }

    fn side_by_side(&mut self) {
        if self.peek_second() == Some(TokenKind::Colon) {
            let hint = "one rule a line: start the next rule on a line of its own";
            self.report(Code::UnexpectedToken, self.here(), "another rule starts here", hint);
            self.at += 2;
        } else {
            self.words_side_by_side();
        }
    }

    /// `Land vehicle`: one finding for the whole run of names, and its last name is what the formula goes on with.
    fn words_side_by_side(&mut self) {
        let is_name = |token: &Token| token.kind == TokenKind::Name && foreign_word(token).is_none();
        let first = self.at.saturating_sub(1);
        let length = self.tokens[first..].iter().take_while(|token| is_name(token)).count();
        let [start, .., last] = &self.tokens[first..first + length] else {
            let hint = "put `&`, `|`, `=>` or `<=>` before it";
            return self.report(Code::MissingOperator, self.here(), "expected an operator before this operand", hint);
        };
        let run = &self.tokens[first..first + length];
        if !run.iter().any(|token| token.damaged) {
            let names: Vec<_> = run.iter().take(SHOWN_WORDS).map(|token| &*token.name).collect();
            let hint = format!(
                "put `&`, `|`, `=>` or `<=>` between them; a name with spaces needs double quotes: `\"{}\"`",
                names.join(" ")
            );
            let span = start.span.to(last.span);
            self.report(Code::MissingOperator, span, "expected an operator between these names", hint);
        }
        self.at = first + length - 1;
    }

    /// A word that is an operator elsewhere. The `then` of a reported `if` goes without saying, as does `neither`'s `nor`.
    fn foreign_word(&mut self, token: &Token, hint: &str) {
        let is = |word: &str| token.name.eq_ignore_ascii_case(word);
        if self.if_reported && (is("then") || is("nor")) {
            return;
        }
        self.if_reported |= is("if") || is("neither");
        let message = format!("`{}` is not an operator of the rule language", token.name);
        self.report(Code::ForeignOperator, token.span, message, hint);
    }
}

fn is_foreign_to_formulas(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Equals | TokenKind::Colon | TokenKind::Comma | TokenKind::OpenBracket | TokenKind::CloseBracket
    )
}

/// A word that other languages have as an operator, with what to write instead.
fn foreign_word<'a>(token: &'a Token<'a>) -> Option<(&'a Token<'a>, &'static str)> {
    const WORDS: [(&[&str], &str); 6] = [
        (&["if", "then"], "write `a => b` for \"if a then b\""),
        (&["implies", "requires"], "write `a => b` for \"a implies b\""),
        (&["iff", "equals", "equiv"], "write `a <=> b` for \"both or neither\""),
        (&["xor"], "write `!(a <=> b)` for \"exactly one of them\""),
        (&["neither", "nor"], "write `!a & !b` for \"neither of them\""),
        (&["unless"], "write `!b => a` for \"a unless b\""),
    ];
    let is_name = token.kind == TokenKind::Name;
    let known = |words: &[&str]| words.iter().any(|word| token.name.eq_ignore_ascii_case(word));
    WORDS.iter().find(|(words, _)| is_name && known(words)).map(|&(_, hint)| (token, hint))
}
