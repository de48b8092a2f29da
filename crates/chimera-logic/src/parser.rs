//! Tokens of a line to a statement. The parser reads on after every mistake, so that one run shows them all, and it returns
//! [`Statement::Broken`] for a line that holds one. Depth and width of formulas are bounded, so nothing after it can
//! overflow a stack.

use crate::attributes::{AttributeError, Attributes};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::lexer::{self, Line, Reserved, Token, TokenKind};
use crate::span::{SourceId, SourceMap, Span};
use crate::syntax::{Body, FileLine, Formula, IncludeLine, Op, RuleLine, Statement};
use crate::vocabulary::nearest;

/// How deep parentheses and implications may nest. A gate network of this depth is far beyond what can be trained.
pub const MAX_DEPTH: usize = 200;

/// How many operands one operator may have; a gate has as many inputs as operands times features.
pub const MAX_OPERANDS: usize = 1024;

/// Parses every line of a source.
pub fn parse_source(sources: &SourceMap, id: SourceId, diagnostics: &mut Diagnostics) -> Vec<FileLine> {
    let source = sources.get(id);
    let lossy = source.is_lossy();
    let mut lines: Vec<_> = source
        .lines()
        .map(|(offset, text)| {
            // A byte order mark is no part of the first name.
            let (offset, text) = match text.strip_prefix('\u{feff}') {
                Some(rest) if offset == 0 => (3, rest),
                _ => (offset, text),
            };
            parse_line(id, offset, text, lossy, diagnostics)
        })
        .collect();
    // What follows the last line end is a line only if something stands there.
    if lines.last().is_some_and(|line| line.statement == Statement::Blank && line.comment.is_none()) {
        lines.pop();
    }
    lines
}

fn parse_line(source: SourceId, offset: u32, text: &str, lossy: bool, diagnostics: &mut Diagnostics) -> FileLine {
    let errors = diagnostics.errors();
    let Line { tokens, comment } = lexer::lex(source, offset, text, lossy, diagnostics);
    let end = Span { source, start: offset + text.len() as u32, end: offset + text.len() as u32 };
    // Where the rule's text ends, which is before its comment.
    let end = tokens.last().map_or(end, |token| Span { source, start: token.span.end, end: token.span.end });
    let mut parser = Parser { tokens: &tokens, at: 0, end, unclosed_reported: false, diagnostics };
    let statement = parser.statement();
    let clean = diagnostics.errors() == errors && !tokens.iter().any(|token| token.kind == TokenKind::Error);
    FileLine { statement: statement.filter(|_| clean).unwrap_or(Statement::Broken), comment }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    end: Span,
    unclosed_reported: bool,
    diagnostics: &'a mut Diagnostics,
}

impl Parser<'_> {
    fn peek(&self) -> Option<TokenKind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn next(&mut self) -> Option<&Token> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn accept(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == Some(kind);
        self.at += usize::from(found);
        found
    }

    /// The place of the next token, or the end of the rule.
    fn here(&self) -> Span {
        self.tokens.get(self.at).map_or(self.end, |token| token.span)
    }

    fn previous(&self) -> Span {
        self.at.checked_sub(1).map_or(self.end, |at| self.tokens[at].span)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn statement(&mut self) -> Option<Statement> {
        let Some(first) = self.tokens.first() else { return Some(Statement::Blank) };
        let rule_follows =
            matches!(self.tokens.get(1).map(|token| token.kind), Some(TokenKind::Colon | TokenKind::OpenBracket));
        if first.kind == TokenKind::Name && first.name == "include" && !rule_follows {
            return self.include().map(Statement::Include);
        }
        self.rule().map(Statement::Rule)
    }

    fn include(&mut self) -> Option<IncludeLine> {
        self.at = 1;
        if let [_, Token { kind: TokenKind::Quoted, name, span }] = self.tokens {
            return Some(IncludeLine { path: name.clone(), span: *span });
        }
        let span = self.tokens.get(1).map_or(self.end, |token| token.span.to(self.end));
        self.report(
            Diagnostic::new(Code::MalformedInclude, span, "`include` takes one path in double quotes")
                .hint("write `include \"more.rules\"`; for a rule of this name, `include: ...`"),
        );
        None
    }

    fn rule(&mut self) -> Option<RuleLine> {
        let name = self.rule_name();
        let attributes = self.attributes();
        if !self.accept(TokenKind::Colon) && name.is_some() {
            self.missing_colon();
            self.peek()?;
        }
        if self.peek().is_none() {
            self.report(
                Diagnostic::new(Code::EmptyFormula, self.here(), "this rule has no formula")
                    .hint("write what must hold after the name: `name: a => b`"),
            );
            return None;
        }
        let formula = self.expression(None, 0);
        let (name, name_span) = name?;
        Some(RuleLine { name, name_span, attributes: attributes?, formula: formula? })
    }

    /// The name in front of the colon. Where it is missing, the rest of the line is still read as a formula.
    fn rule_name(&mut self) -> Option<(String, Span)> {
        let colon = self.tokens.iter().position(|token| token.kind == TokenKind::Colon);
        let bracket = self.tokens.iter().position(|token| token.kind == TokenKind::OpenBracket);
        let head = colon.into_iter().chain(bracket).min();
        match (self.tokens.first()?, head) {
            (Token { kind: TokenKind::Name | TokenKind::Quoted, name, span }, None | Some(1)) => {
                let named = (name.clone(), *span);
                if head.is_some() || self.looks_like_name_and_formula() {
                    self.at = 1;
                    return Some(named);
                }
                self.missing_rule_name(*span);
                None
            }
            (first, Some(head)) if head > 0 => {
                let span = first.span.to(self.tokens[head - 1].span);
                let mut diagnostic = Diagnostic::new(Code::MissingRuleName, span, "a rule starts with its name");
                let words = self.tokens[..head].iter().all(|token| token.kind == TokenKind::Name);
                diagnostic.hint = Some(if words {
                    let name: Vec<_> = self.tokens[..head].iter().map(|token| token.name.as_str()).collect();
                    format!("a name of several words needs double quotes: `\"{}\": ...`", name.join(" "))
                } else if head == 1 && matches!(first.kind, TokenKind::Not | TokenKind::And | TokenKind::Or) {
                    "`not`, `and` and `or` are operators; as a name they need double quotes".to_owned()
                } else {
                    "names with other characters than letters, digits and `_ : - . /` need double quotes".to_owned()
                });
                self.at = head;
                self.report(diagnostic);
                None
            }
            (first, _) => {
                let span = first.span;
                self.missing_rule_name(span);
                None
            }
        }
    }

    /// Without a colon, `name formula` is a rule whose colon is missing; `a => b` is a formula whose name is missing.
    fn looks_like_name_and_formula(&self) -> bool {
        match self.tokens.get(1).map(|token| token.kind) {
            None => true,
            Some(kind) => starts_operand(kind),
        }
    }

    fn missing_rule_name(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::MissingRuleName, span, "a rule starts with its name")
                .label("expected a name and `: ` before the formula")
                .hint("write `name: formula`; the name ends at the first `:` followed by white space"),
        );
    }

    fn missing_colon(&mut self) {
        let previous = self.previous();
        let span = Span { start: previous.end, ..previous };
        self.report(
            Diagnostic::new(Code::MissingColon, span, "expected `: ` after the rule's name")
                .hint("write `name: formula`"),
        );
    }

    /// `[name=value ...]`, or nothing. `None` when something in it is wrong.
    fn attributes(&mut self) -> Option<Attributes> {
        let mut attributes = Attributes::default();
        if self.peek() != Some(TokenKind::OpenBracket) {
            return Some(attributes);
        }
        let open = self.here();
        self.at += 1;
        let mut sound = true;
        loop {
            match self.peek() {
                Some(TokenKind::CloseBracket) => break self.at += 1,
                None | Some(TokenKind::Colon) => {
                    sound = false;
                    self.report(
                        Diagnostic::new(Code::MalformedAttributes, open, "this attribute list is not closed")
                            .hint("write `name [severity=high weight=2]: formula`"),
                    );
                    break;
                }
                Some(TokenKind::Name) => sound &= self.attribute(&mut attributes),
                Some(_) => {
                    sound = false;
                    let span = self.here();
                    self.report(
                        Diagnostic::new(Code::MalformedAttributes, span, "expected an attribute such as `weight=2`")
                            .hint("attributes are separated by spaces: `[severity=high weight=2]`"),
                    );
                    self.skip_to_attribute();
                }
            }
        }
        sound.then_some(attributes)
    }

    fn attribute(&mut self, attributes: &mut Attributes) -> bool {
        let (name, span) = (self.tokens[self.at].name.clone(), self.here());
        self.at += 1;
        let value = match &self.tokens[self.at..] {
            [equals, value, ..]
                if equals.kind == TokenKind::Equals && matches!(value.kind, TokenKind::Name | TokenKind::Quoted) =>
            {
                (value.name.clone(), value.span)
            }
            _ => {
                self.report(
                    Diagnostic::new(Code::MalformedAttributes, span, format!("attribute `{name}` has no value"))
                        .hint(format!("write `{name}=...`")),
                );
                self.skip_to_attribute();
                return false;
            }
        };
        self.at += 2;
        let diagnostic = match attributes.set(&name, &value.0) {
            Ok(()) => return true,
            Err(AttributeError::Unknown) => {
                let hint = match nearest(&name, Attributes::NAMES) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the attributes are {}", Attributes::NAMES.join(", ")),
                };
                Diagnostic::new(Code::UnknownAttribute, span, format!("unknown attribute `{name}`")).hint(hint)
            }
            Err(AttributeError::Duplicate) => {
                Diagnostic::new(Code::DuplicateAttribute, span, format!("attribute `{name}` is given twice"))
            }
            Err(AttributeError::Value(expected)) => {
                let message = format!("`{name}` is {expected}, got `{}`", value.0);
                Diagnostic::new(Code::BadAttributeValue, value.1, message)
            }
        };
        self.report(diagnostic);
        false
    }

    /// After a mistake in a list: on to the next thing that can start or end an attribute.
    fn skip_to_attribute(&mut self) {
        while let Some(kind) = self.peek() {
            let starts = kind == TokenKind::Name
                && self.tokens.get(self.at + 1).is_some_and(|token| token.kind == TokenKind::Equals);
            if starts || matches!(kind, TokenKind::CloseBracket | TokenKind::Colon) {
                return;
            }
            self.at += 1;
        }
    }

    /// A formula up to the closing parenthesis of `open`, or to the end of the rule. Whatever else stands between is
    /// reported and read on.
    fn expression(&mut self, open: Option<Span>, depth: usize) -> Option<Formula> {
        let mut formula = self.chain(0, depth);
        loop {
            let span = self.here();
            match self.peek() {
                None => {
                    if let Some(open) = open {
                        self.unclosed(open);
                    }
                    return formula;
                }
                Some(TokenKind::Close) if open.is_some() => {
                    self.at += 1;
                    return formula;
                }
                Some(TokenKind::Close) => {
                    self.report(
                        Diagnostic::new(Code::UnmatchedParenthesis, span, "this parenthesis was never opened")
                            .hint("remove it, or add `(` where the group starts"),
                    );
                    self.at += usize::from(self.binary_operator_at(self.at + 1).is_some());
                    self.read_on(depth);
                }
                Some(kind) if starts_operand(kind) => {
                    self.missing_operator(span);
                    self.chain(0, depth);
                }
                Some(TokenKind::Error) => self.read_on(depth),
                Some(kind) => {
                    self.unexpected(kind, span);
                    self.read_on(depth);
                }
            }
            formula = None;
        }
    }

    /// Past something that was reported, on to the next operand if one follows.
    fn read_on(&mut self, depth: usize) {
        let skipped = self.peek();
        self.at += 1;
        if skipped == Some(TokenKind::OpenBracket) {
            while self.peek().is_some_and(|kind| kind != TokenKind::CloseBracket) {
                self.at += 1;
            }
            self.accept(TokenKind::CloseBracket);
        } else if self.peek().is_some_and(starts_operand) {
            self.chain(0, depth);
        }
    }

    fn unclosed(&mut self, open: Span) {
        if !std::mem::replace(&mut self.unclosed_reported, true) {
            self.report(
                Diagnostic::new(Code::UnclosedParenthesis, open, "this parenthesis is not closed")
                    .hint("add `)` where the group ends; a rule ends with its line"),
            );
        }
    }

    fn missing_operator(&mut self, span: Span) {
        let words: Vec<_> = [self.at.checked_sub(1), Some(self.at)]
            .into_iter()
            .flatten()
            .filter_map(|at| self.tokens.get(at))
            .map(|token| token.name.to_ascii_lowercase())
            .collect();
        let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
        let hint = if has(&["implies", "then", "if", "requires"]) {
            "write `a => b` for \"a implies b\""
        } else if has(&["iff", "equals", "equiv"]) {
            "write `a <=> b` for \"both or neither\""
        } else if has(&["xor"]) {
            "write `!(a <=> b)` for \"exactly one of them\""
        } else {
            "put `&`, `|`, `=>` or `<=>` between them; a name with spaces needs double quotes"
        };
        self.report(
            Diagnostic::new(Code::MissingOperator, span, "expected an operator before this operand").hint(hint),
        );
    }

    fn unexpected(&mut self, kind: TokenKind, span: Span) {
        let (shown, hint) = match kind {
            TokenKind::Equals => {
                ("=", "write `<=>` for \"both or neither\"; `=` is allowed inside a name's parentheses")
            }
            TokenKind::Colon => (":", "one rule a line: start the next rule on a line of its own"),
            TokenKind::Comma => (",", "write `&` for \"and\", `|` for \"or\""),
            TokenKind::CloseBracket => ("]", "group with parentheses"),
            _ => ("[", "attributes stand between the name and the colon; group with parentheses"),
        };
        self.report(
            Diagnostic::new(Code::UnexpectedToken, span, format!("unexpected `{shown}` in a formula")).hint(hint),
        );
    }

    fn binary_operator(&self) -> Option<Op> {
        self.binary_operator_at(self.at)
    }

    fn binary_operator_at(&self, at: usize) -> Option<Op> {
        match self.tokens.get(at)?.kind {
            TokenKind::And => Some(Op::And),
            TokenKind::Or => Some(Op::Or),
            TokenKind::Implies => Some(Op::Implies),
            TokenKind::Iff => Some(Op::Iff),
            _ => None,
        }
    }

    /// Operands joined by the operator of one level of precedence (0 is the weakest). `None` if any of it is broken.
    fn chain(&mut self, level: usize, depth: usize) -> Option<Formula> {
        let Some(&op) = Op::ALL.get(level) else { return self.operand(depth) };
        let first = self.chain(level + 1, depth);
        if self.binary_operator() != Some(op) {
            return first;
        }
        let start = first.as_ref().map_or(self.here(), |formula| formula.span);
        let mut sound = first.is_some();
        let mut operands: Vec<_> = first.into_iter().collect();
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
        let span = start.to(self.previous());
        if op == Op::Implies {
            return self.implications(operands, count, span).filter(|_| sound);
        }
        if count > MAX_OPERANDS {
            let message = format!("{} with {count} operands; at most {MAX_OPERANDS} are allowed", op.name());
            self.report(
                Diagnostic::new(Code::TooManyOperands, span, message).hint("group the operands with parentheses"),
            );
            return None;
        }
        if !sound {
            return None;
        }
        self.apply(op, operands, span)
    }

    /// An operator over its operands, unless that is nested too deep.
    fn apply(&mut self, op: Op, operands: Vec<Formula>, span: Span) -> Option<Formula> {
        let depth = operands.iter().map(|operand| operand.depth).max().unwrap_or(0) + 1;
        if depth > MAX_DEPTH {
            self.too_deep(span);
            return None;
        }
        Some(Formula { negated: false, body: Body::Apply(op, operands), span, depth })
    }

    /// `a => b => c` is `a => (b => c)`.
    fn implications(&mut self, mut operands: Vec<Formula>, count: usize, span: Span) -> Option<Formula> {
        if count > MAX_DEPTH {
            self.too_deep(span);
            return None;
        }
        if count > 2 {
            self.report(
                Diagnostic::new(Code::ImplicationChain, span, "a chain of `=>` without parentheses")
                    .label("read as `a => (b => c)`")
                    .hint("write `(a => b) & (b => c)` if each step must hold, or parentheses if this is meant"),
            );
        }
        let mut formula = operands.pop()?;
        while let Some(antecedent) = operands.pop() {
            let span = antecedent.span.to(formula.span);
            formula = self.apply(Op::Implies, vec![antecedent, formula], span)?;
        }
        Some(formula)
    }

    fn too_deep(&mut self, span: Span) {
        let message = format!("this formula is nested deeper than {MAX_DEPTH} levels");
        self.report(Diagnostic::new(Code::TooDeep, span, message).hint("name parts of it as rules of their own"));
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
        let span = self.here();
        match self.peek() {
            Some(TokenKind::Open) if depth >= MAX_DEPTH => {
                self.too_deep(span);
                self.at = self.tokens.len();
                self.unclosed_reported = true;
                None
            }
            Some(TokenKind::Open) => {
                self.at += 1;
                if self.accept(TokenKind::Close) {
                    let span = span.to(self.previous());
                    self.report(Diagnostic::new(Code::MissingOperand, span, "these parentheses are empty"));
                    return None;
                }
                self.expression(Some(span), depth + 1)
            }
            Some(TokenKind::Name) => {
                let name = self.next()?.name.clone();
                if lexer::reserved(&name) == Some(Reserved::Constant) {
                    self.report(
                        Diagnostic::new(
                            Code::Constant,
                            span,
                            format!("`{name}` is a constant, and formulas have none"),
                        )
                        .hint(format!("remove it; for a concept of this name, write `\"{name}\"`")),
                    );
                    return None;
                }
                Some(Formula { negated: false, body: Body::Concept(name), span, depth: 0 })
            }
            Some(TokenKind::Quoted) => {
                let name = self.next()?.name.clone();
                Some(Formula { negated: false, body: Body::Concept(name), span, depth: 0 })
            }
            Some(TokenKind::Error) => {
                self.at += 1;
                None
            }
            _ => {
                self.missing_operand();
                None
            }
        }
    }

    fn missing_operand(&mut self) {
        let (operator, here) = (self.previous(), self.here());
        let at_end = self.peek().is_none();
        let span = if self.at == 0 || !at_end { here } else { operator };
        let message = if at_end { "expected an operand after this" } else { "expected an operand before this" };
        self.report(
            Diagnostic::new(Code::MissingOperand, span, message)
                .hint("an operand is a concept, `!` and an operand, or a group in parentheses"),
        );
    }
}

fn starts_operand(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Name | TokenKind::Quoted | TokenKind::Open | TokenKind::Not)
}
