//! Formulas: operators by precedence, negations, names and groups, within the limits of depth and width. A broken part makes
//! the whole `None`; what is wrong is said where it is met.

use super::Parser;
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::{self, Reserved, Token, TokenKind};
use crate::span::Span;
use crate::syntax::{Body, Formula, Op};
use crate::syntax::{MAX_DEPTH, MAX_OPERANDS};

impl Parser<'_, '_> {
    /// A formula up to the closing parenthesis of `open`, or to the end of the rule. Whatever else stands between is
    /// reported and read on.
    pub(super) fn expression(&mut self, open: Option<Span>, depth: usize) -> Option<Formula> {
        let mut formula = self.chain(0, depth);
        loop {
            match (self.peek(), open) {
                (None, None) => return formula,
                (None, Some(open)) => {
                    self.unclosed(open);
                    return formula;
                }
                (Some(TokenKind::Close), Some(_)) => {
                    self.at += 1;
                    return formula;
                }
                (Some(kind @ TokenKind::CloseBracket), Some(_)) => {
                    self.unexpected(kind);
                    self.at += 1;
                    return None;
                }
                (Some(kind), _) => self.recover(kind, depth),
            }
            formula = None;
        }
    }

    /// Operands joined by the operator of one level of precedence (0 is the weakest). `None` if any of it is broken.
    pub(super) fn chain(&mut self, level: usize, depth: usize) -> Option<Formula> {
        let Some(&op) = Op::ALL.get(level) else { return self.operand(depth) };
        let start = self.here();
        let first = self.chain(level + 1, depth);
        if self.binary_operator() != Some(op) {
            return first;
        }
        let (operands, count) = self.operands(op, first, level, depth);
        let span = start.to(self.previous());
        match op {
            Op::Implies => self.implications(operands?, count, span),
            _ if count > MAX_OPERANDS => {
                let message = format!("`{}` with {count} operands; at most {MAX_OPERANDS} are allowed", op.symbol());
                self.report(Code::TooManyOperands, span, message, "group the operands with parentheses");
                None
            }
            _ => self.apply(op, operands?, span),
        }
    }

    /// The operands after `first` and their number; those above the limit are read and dropped.
    fn operands(
        &mut self,
        op: Op,
        first: Option<Formula>,
        level: usize,
        depth: usize,
    ) -> (Option<Vec<Formula>>, usize) {
        let mut sound = first.is_some();
        let mut operands = Vec::with_capacity(2);
        operands.extend(first);
        let mut count = 1;
        while self.binary_operator() == Some(op) {
            self.at += 1;
            let operand = self.chain(level + 1, depth);
            sound &= operand.is_some();
            count += 1;
            if count <= MAX_OPERANDS {
                operands.extend(operand);
            }
        }
        (sound.then_some(operands), count)
    }

    /// An operator over its operands, unless that is nested too deep.
    fn apply(&mut self, op: Op, operands: Vec<Formula>, span: Span) -> Option<Formula> {
        let depth = operands.iter().map(|operand| operand.depth).max().unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            return self.too_deep(span);
        }
        Some(Formula { negated: false, body: Body::Apply(op, operands), span, depth })
    }

    /// `a => b => c` is `a => (b => c)`.
    fn implications(&mut self, mut operands: Vec<Formula>, count: usize, span: Span) -> Option<Formula> {
        if count > MAX_DEPTH {
            return self.too_deep(span);
        }
        if count > 2 {
            let words: Vec<String> = match &operands[..] {
                [a, b, c] if operands.iter().all(|operand| operand.depth == 0) => {
                    [a, b, c].map(ToString::to_string).to_vec()
                }
                _ => ["a", "b", "c"].map(str::to_owned).to_vec(),
            };
            let [a, b, c] = &words[..] else { return None };
            self.push(
                Diagnostic::new(Code::ImplicationChain, span, "a chain of `=>` without parentheses")
                    .label(format!("read as `{a} => ({b} => {c})`"))
                    .hint(format!(
                        "write `({a} => {b}) & ({b} => {c})` if each step must hold, or parentheses if this is meant"
                    )),
            );
        }
        while operands.len() > 2 {
            let last_two = operands.split_off(operands.len() - 2);
            operands.push(self.implication(last_two)?);
        }
        self.implication(operands)
    }

    fn implication(&mut self, operands: Vec<Formula>) -> Option<Formula> {
        let [antecedent, consequent] = &operands[..] else { return None };
        let span = antecedent.span.to(consequent.span);
        self.apply(Op::Implies, operands, span)
    }

    fn too_deep(&mut self, span: Span) -> Option<Formula> {
        let message = format!("this formula is nested deeper than {MAX_DEPTH} levels");
        self.report(Code::TooDeep, span, message, "split it into several rules");
        None
    }

    /// A name or a group, with the `!`s in front of it.
    fn operand(&mut self, depth: usize) -> Option<Formula> {
        let start = self.here();
        let mut negated = false;
        while self.accept(TokenKind::Not) {
            negated = !negated;
        }
        let formula = self.primary(depth)?;
        let span = start.to(self.previous());
        Some(Formula { negated: formula.negated ^ negated, span, ..formula })
    }

    fn primary(&mut self, depth: usize) -> Option<Formula> {
        match self.token() {
            Some(token) if token.kind == TokenKind::Open => self.group(token.span, depth),
            Some(token) if matches!(token.kind, TokenKind::Name | TokenKind::Quoted) => self.concept(token),
            _ => {
                self.missing_operand(depth);
                None
            }
        }
    }

    fn concept(&mut self, token: &Token) -> Option<Formula> {
        let &Token { kind, ref name, span, .. } = token;
        self.at += 1;
        if kind == TokenKind::Name && lexer::reserved(name) == Some(Reserved::Constant) {
            let message = format!("`{name}` is a constant, and formulas have none");
            let hint = format!("remove it; for a concept of this name, write `\"{name}\"`");
            self.report(Code::Constant, span, message, hint);
            return None;
        }
        Some(Formula { negated: false, body: Body::Concept(name.to_string(), span), span, depth: 0 })
    }

    fn group(&mut self, open: Span, depth: usize) -> Option<Formula> {
        if depth >= MAX_DEPTH {
            self.too_deep(open);
            self.at = self.tokens.len();
            self.unclosed_reported = true;
            return None;
        }
        self.at += 1;
        if self.accept(TokenKind::Close) {
            let span = open.to(self.previous());
            let hint = "put a formula between them, or remove them";
            self.report(Code::MissingOperand, span, "these parentheses are empty", hint);
            return None;
        }
        self.expression(Some(open), depth + 1)
    }

    pub(super) fn binary_operator(&self) -> Option<Op> {
        match self.peek()? {
            TokenKind::And => Some(Op::And),
            TokenKind::Or => Some(Op::Or),
            TokenKind::Implies => Some(Op::Implies),
            TokenKind::Iff => Some(Op::Iff),
            _ => None,
        }
    }
}

pub(super) fn starts_operand(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Name | TokenKind::Quoted | TokenKind::Open | TokenKind::Not)
}
