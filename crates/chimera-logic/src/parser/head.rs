//! What a line starts with: an include, or a rule's name, its attributes and the colon. A missing or wrong name is
//! reported, and the rest of the line is still read as a formula.

use super::Parser;
use super::formula::starts_operand;
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::{self, Token, TokenKind};
use crate::span::Span;
use crate::syntax::{IncludeLine, RuleLine, Statement};

impl Parser<'_, '_> {
    /// The whole line; `None` when something in it is wrong.
    pub(super) fn statement(&mut self) -> Option<Statement> {
        let Some(first) = self.token() else { return (!self.damaged_end).then_some(Statement::Blank) };
        let rule_follows = matches!(self.peek_second(), Some(TokenKind::Colon | TokenKind::OpenBracket));
        if first.kind == TokenKind::Name && !rule_follows {
            if first.name == "include" {
                return self.include().map(Statement::Include);
            }
            if self.foreign_include() {
                return None;
            }
        }
        self.rule().map(Statement::Rule)
    }

    fn include(&mut self) -> Option<IncludeLine> {
        self.at = 1;
        if let [Token { kind: TokenKind::Quoted, name, span, .. }] = self.rest() {
            return Some(IncludeLine { path: name.to_string(), span: *span });
        }
        let span = self.here().to(self.end);
        let hint = "write `include \"more.rules\"`; for a rule of this name, `include: ...`";
        self.report(Code::MalformedInclude, span, "`include` takes one path in double quotes", hint);
        None
    }

    /// `import "path"` and the like.
    fn foreign_include(&mut self) -> bool {
        let [word, Token { kind: TokenKind::Quoted, name: path, .. }] = self.tokens else { return false };
        let found = ["include", "import", "require", "use"].iter().any(|known| word.name.eq_ignore_ascii_case(known));
        if found {
            let message = format!("`{}` is not a statement of the rule language", word.name);
            self.report(Code::MalformedInclude, word.span, message, format!("write `include \"{path}\"`"));
        }
        found
    }

    fn rule(&mut self) -> Option<RuleLine> {
        let name = self.rule_name();
        let attributes = self.attributes();
        if name.is_none() && self.peek().is_none() {
            return None;
        }
        let colon = self.accept(TokenKind::Colon);
        if !colon && name.is_some() && !self.goes_on_without_colon(attributes.is_some()) {
            return None;
        }
        if self.peek().is_none() {
            let hint = "write what must hold after the name: `name: a => b`";
            self.report(Code::EmptyFormula, self.here(), "this rule has no formula", hint);
            return None;
        }
        let formula = self.expression(None, 0);
        let (name, name_span) = name?;
        Some(RuleLine { name, name_span, attributes: attributes?, formula: formula? })
    }

    /// Reports the missing colon and says whether a formula follows all the same.
    fn goes_on_without_colon(&mut self, attributes_are_sound: bool) -> bool {
        // After a list that is not closed nothing more is known.
        if attributes_are_sound || self.peek().is_some() {
            self.missing_colon();
        }
        if self.is_prose() {
            return false;
        }
        self.accept(TokenKind::Equals);
        self.peek().is_some()
    }

    /// The name in front of the colon or the attributes. Where it is missing, the cursor goes to where the rest is read.
    fn rule_name(&mut self) -> Option<(String, Span)> {
        let first = self.token()?;
        let named = match first.kind {
            TokenKind::Name => lexer::reserved(&first.name).is_none(),
            kind => kind == TokenKind::Quoted,
        };
        let ends_head = |token: &Token| matches!(token.kind, TokenKind::Colon | TokenKind::OpenBracket);
        match self.tokens.iter().position(ends_head) {
            Some(1) if named => self.at = 1,
            None if named && self.looks_like_name_and_formula() => self.at = 1,
            Some(head) if head > 0 => {
                self.wrong_rule_name(&self.tokens[..head]);
                self.at = head;
                return None;
            }
            _ => {
                self.missing_rule_name(first);
                return None;
            }
        }
        Some((first.name.to_string(), first.span))
    }

    /// Without a colon, `name formula` is a rule whose colon is missing; `a => b` is a formula whose name is missing.
    fn looks_like_name_and_formula(&self) -> bool {
        self.peek_second().is_none_or(|kind| kind == TokenKind::Equals || starts_operand(kind))
    }

    /// What stands before the colon is no name.
    fn wrong_rule_name(&mut self, before: &[Token]) {
        let ([first, ..], [.., last]) = (before, before) else { return };
        if before.iter().any(|token| token.damaged) {
            return;
        }
        let span = first.span.to(last.span);
        self.report(Code::MissingRuleName, span, "a rule starts with its name", rule_name_hint(before));
    }

    /// The line starts with something that is neither a name nor followed by a colon.
    fn missing_rule_name(&mut self, first: &Token) {
        let reads_on = starts_operand(first.kind) || first.kind == TokenKind::Colon;
        let hint = match first.name.split_once(':') {
            Some((name, rest)) if !name.is_empty() && !rest.is_empty() => {
                format!("write `name: formula`; if `{name}` is the name, put a space after its colon")
            }
            _ if first.kind == TokenKind::OpenBracket => {
                "attributes follow the name: `name [weight=2]: formula`".to_owned()
            }
            _ if reads_on => "write `name: formula`".to_owned(),
            _ => "write `name: formula`; a rule does not go on in the next line".to_owned(),
        };
        self.push(
            Diagnostic::new(Code::MissingRuleName, first.span, "a rule starts with its name")
                .label("expected a name and `: ` before the formula")
                .hint(hint),
        );
        if !reads_on {
            let colon = self.tokens.iter().position(|token| token.kind == TokenKind::Colon);
            self.at = colon.filter(|_| first.kind == TokenKind::OpenBracket).unwrap_or(self.tokens.len());
        }
    }

    fn missing_colon(&mut self) {
        let previous = self.previous();
        let span = Span { start: previous.end, ..previous };
        let hint =
            if self.is_prose() { "write `name: formula`; a comment starts with `#`" } else { "write `name: formula`" };
        self.report(Code::MissingColon, span, "expected `: ` after the rule's name", hint);
    }

    /// Words follow each other where a formula should start.
    fn is_prose(&self) -> bool {
        self.peek() == Some(TokenKind::Name) && self.peek_second() == Some(TokenKind::Name)
    }
}

/// How to write a name instead of the tokens that stand in its place.
fn rule_name_hint(before: &[Token]) -> String {
    let holds = |wanted: TokenKind| before.iter().any(|token| token.kind == wanted);
    let is_word = |kind| matches!(kind, TokenKind::Name | TokenKind::Not | TokenKind::And | TokenKind::Or);
    match before {
        [word] if is_word(word.kind) => {
            "`not`, `and`, `or`, `true` and `false` are never bare names; put it in double quotes".to_owned()
        }
        words if words.iter().all(|token| token.kind == TokenKind::Name) => {
            let name: Vec<_> = words.iter().map(|token| &*token.name).collect();
            format!("a name of several words needs double quotes: `\"{}\": ...`", name.join(" "))
        }
        [name, open, .., close]
            if (name.kind, open.kind, close.kind) == (TokenKind::Name, TokenKind::Open, TokenKind::Close)
                && holds(TokenKind::Equals) =>
        {
            "attributes stand in brackets: `name [weight=2]: formula`".to_owned()
        }
        _ => "names with other characters than letters, digits and `_ : - . /` need double quotes".to_owned(),
    }
}
