//! Tokens of a line to a statement. The parser reads on after every mistake, so that one run shows them all, and it returns
//! [`Statement::Broken`] for a line that holds one. Depth and width of formulas are bounded, so nothing after it can
//! overflow a stack.

use crate::attributes::{AttributeError, Attributes};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::lexer::{self, Line, Reserved, Token, TokenKind};
use crate::span::{Source, SourceId, Span};
use crate::syntax::{Body, FileLine, Formula, IncludeLine, Op, RuleLine, Statement};
use crate::vocabulary::nearest;

/// How deep parentheses and implications may nest. A gate network of this depth is far beyond what can be trained.
pub const MAX_DEPTH: usize = 200;

/// How many operands one operator may have; a gate has as many inputs as operands times features.
pub const MAX_OPERANDS: usize = 1024;

/// Parses the line of a source that starts at byte `offset`.
pub(crate) fn parse_line(id: SourceId, source: &Source, offset: u32, text: &str, diagnostics: &mut Diagnostics) -> FileLine {
    let lossy = source.is_lossy();
    // A byte order mark is no part of the first name.
    let (offset, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) if offset == 0 => (3, rest),
        _ => (offset, text),
    };
    let (errors, kept) = (diagnostics.errors(), diagnostics.kept().len());
    let Line { tokens, comment, damaged } = lexer::lex(id, offset, text, lossy, diagnostics);
    // Where the rule's text ends, which is before its comment.
    let end = tokens.last().map_or(offset + text.len() as u32, |token| token.span.end);
    let end = Span { source: id, start: end, end };
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        end,
        damaged_end: damaged,
        unclosed_reported: false,
        if_reported: false,
        diagnostics,
    };
    let statement = if tokens.is_empty() && damaged { None } else { parser.statement() };
    diagnostics.sort_from(kept);
    // Invalid bytes are reported for the whole file; a line that lost some, if only in its comment, must not be rewritten.
    let lost = lossy && text.contains(char::REPLACEMENT_CHARACTER);
    let clean = diagnostics.errors() == errors && !lost;
    FileLine { statement: statement.filter(|_| clean).unwrap_or(Statement::Broken), comment }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    end: Span,
    /// Whether something unreadable stands at the end.
    damaged_end: bool,
    unclosed_reported: bool,
    if_reported: bool,
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

    /// Adds a finding about the place that has been reached; not where something unreadable has been reported, since nobody
    /// knows what was meant there.
    fn report(&mut self, diagnostic: Diagnostic) {
        let damaged = self.tokens.get(self.at).map_or(self.damaged_end, |token| token.damaged);
        if !damaged {
            self.diagnostics.push(diagnostic);
        }
    }

    fn statement(&mut self) -> Option<Statement> {
        let Some(first) = self.tokens.first() else { return Some(Statement::Blank) };
        let rule_follows =
            matches!(self.tokens.get(1).map(|token| token.kind), Some(TokenKind::Colon | TokenKind::OpenBracket));
        if first.kind == TokenKind::Name && !rule_follows {
            if first.name == "include" {
                return self.include().map(Statement::Include);
            }
            if let [word, Token { kind: TokenKind::Quoted, name: path, .. }] = self.tokens
                && ["include", "import", "require", "use"].contains(&word.name.to_ascii_lowercase().as_str())
            {
                let message = format!("`{}` is not a statement of the rule language", word.name);
                let hint = format!("write `include \"{path}\"`");
                self.report(Diagnostic::new(Code::MalformedInclude, word.span, message).hint(hint));
                return None;
            }
        }
        self.rule().map(Statement::Rule)
    }

    fn include(&mut self) -> Option<IncludeLine> {
        self.at = 1;
        if let [_, Token { kind: TokenKind::Quoted, name, span, .. }] = self.tokens {
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
        if name.is_none() && self.peek().is_none() {
            return None;
        }
        if !self.accept(TokenKind::Colon) && name.is_some() {
            // After a list that is not closed nothing more is known.
            if attributes.is_some() || self.peek().is_some() {
                self.missing_colon();
            }
            if self.is_prose() {
                return None;
            }
            self.accept(TokenKind::Equals);
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
        let first = self.tokens.first()?;
        let named = match first.kind {
            TokenKind::Name => lexer::reserved(&first.name).is_none(),
            kind => kind == TokenKind::Quoted,
        };
        match head {
            Some(1) if named => self.at = 1,
            None if named && self.looks_like_name_and_formula() => self.at = 1,
            Some(head) if head > 0 => {
                if !self.tokens[..head].iter().any(|token| token.damaged) {
                    self.wrong_rule_name(head);
                }
                self.at = head;
                return None;
            }
            _ => {
                self.missing_rule_name(first, colon);
                return None;
            }
        }
        Some((first.name.clone(), first.span))
    }

    /// Without a colon, `name formula` is a rule whose colon is missing; `a => b` is a formula whose name is missing.
    fn looks_like_name_and_formula(&self) -> bool {
        match self.tokens.get(1).map(|token| token.kind) {
            None | Some(TokenKind::Equals) => true,
            Some(kind) => starts_operand(kind),
        }
    }

    /// What stands before the colon is no name.
    fn wrong_rule_name(&mut self, head: usize) {
        let before = &self.tokens[..head];
        let (Some(first), Some(last)) = (before.first(), before.last()) else { return };
        let kinds: Vec<_> = before.iter().map(|token| token.kind).collect();
        let is_word = |kind| matches!(kind, TokenKind::Name | TokenKind::Not | TokenKind::And | TokenKind::Or);
        let hint = if head == 1 && is_word(first.kind) {
            "`not`, `and`, `or`, `true` and `false` are never bare names; put it in double quotes".to_owned()
        } else if kinds.iter().all(|&kind| kind == TokenKind::Name) {
            let name: Vec<_> = before.iter().map(|token| token.name.as_str()).collect();
            format!("a name of several words needs double quotes: `\"{}\": ...`", name.join(" "))
        } else if let [TokenKind::Name, TokenKind::Open, .., TokenKind::Close] = kinds[..]
            && kinds.contains(&TokenKind::Equals)
        {
            "attributes stand in brackets: `name [weight=2]: formula`".to_owned()
        } else {
            "names with other characters than letters, digits and `_ : - . /` need double quotes".to_owned()
        };
        let span = first.span.to(last.span);
        self.report(Diagnostic::new(Code::MissingRuleName, span, "a rule starts with its name").hint(hint));
    }

    /// The line starts with something that is neither a name nor followed by a colon.
    fn missing_rule_name(&mut self, first: &Token, colon: Option<usize>) {
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
        self.report(
            Diagnostic::new(Code::MissingRuleName, first.span, "a rule starts with its name")
                .label("expected a name and `: ` before the formula")
                .hint(hint),
        );
        if !reads_on {
            self.at = colon.filter(|_| first.kind == TokenKind::OpenBracket).unwrap_or(self.tokens.len());
        }
    }

    fn missing_colon(&mut self) {
        let previous = self.previous();
        let span = Span { start: previous.end, ..previous };
        let hint =
            if self.is_prose() { "write `name: formula`; a comment starts with `#`" } else { "write `name: formula`" };
        self.report(Diagnostic::new(Code::MissingColon, span, "expected `: ` after the rule's name").hint(hint));
    }

    /// Words follow each other where a formula should start.
    fn is_prose(&self) -> bool {
        matches!(&self.tokens[self.at..], [a, b, ..] if a.kind == TokenKind::Name && b.kind == TokenKind::Name)
    }

    /// `[name=value ...]`, or nothing. `None` when something in it is wrong.
    fn attributes(&mut self) -> Option<Attributes> {
        let mut attributes = Attributes::default();
        let mut sound = true;
        let mut lists = 0;
        while self.peek() == Some(TokenKind::OpenBracket) {
            if lists == 1 {
                sound = false;
                self.report(
                    Diagnostic::new(Code::MalformedAttributes, self.here(), "a rule has one attribute list")
                        .hint("put all attributes into one: `[severity=high weight=2]`"),
                );
            }
            lists += 1;
            sound &= self.attribute_list(&mut attributes);
        }
        sound.then_some(attributes)
    }

    fn attribute_list(&mut self, attributes: &mut Attributes) -> bool {
        let open = self.here();
        self.at += 1;
        let close = self.tokens[self.at..].iter().position(|token| token.kind == TokenKind::CloseBracket);
        let colon = self.tokens[self.at..].iter().position(|token| token.kind == TokenKind::Colon);
        let end = self.at + close.or(colon).unwrap_or(self.tokens.len() - self.at);
        let mut sound = true;
        while self.at < end {
            if self.peek() == Some(TokenKind::Name) {
                sound &= self.attribute(attributes, end);
                continue;
            }
            let message = match self.peek() {
                Some(TokenKind::Comma) => "attributes are separated by spaces alone",
                _ => "expected an attribute such as `weight=2`",
            };
            // A parenthesis that closes the list is part of that mistake.
            if close.is_some() || self.peek() != Some(TokenKind::Close) {
                self.report(
                    Diagnostic::new(Code::MalformedAttributes, self.here(), message)
                        .hint("write `[severity=high weight=2]`"),
                );
            }
            sound = false;
            self.skip_to_attribute(end);
        }
        if close.is_none() {
            sound = false;
            self.report(
                Diagnostic::new(Code::MalformedAttributes, open, "this attribute list is not closed")
                    .hint("write `name [severity=high weight=2]: formula`"),
            );
        }
        self.accept(TokenKind::CloseBracket);
        sound
    }

    fn attribute(&mut self, attributes: &mut Attributes, end: usize) -> bool {
        let (name, span) = (self.tokens[self.at].name.clone(), self.here());
        self.at += 1;
        let value = match &self.tokens[self.at..end] {
            [equals, value, ..]
                if equals.kind == TokenKind::Equals && matches!(value.kind, TokenKind::Name | TokenKind::Quoted) =>
            {
                (value.name.clone(), value.span)
            }
            rest => {
                let value = match rest {
                    [Token { kind: TokenKind::Colon, .. }, value, ..] if value.kind == TokenKind::Name => &value.name,
                    _ => "...",
                };
                let hint = format!("write `{name}={value}`");
                self.report(
                    Diagnostic::new(Code::MalformedAttributes, span, format!("attribute `{name}` has no value"))
                        .hint(hint),
                );
                self.skip_to_attribute(end);
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
                    .hint("keep one of them")
            }
            Err(AttributeError::Value(expected)) => {
                let message = format!("`{name}` is {expected}, got `{}`", value.0);
                self.skip_to_attribute(end);
                Diagnostic::new(Code::BadAttributeValue, value.1, message)
            }
        };
        self.report(diagnostic);
        false
    }

    /// After a mistake in a list that ends before token `end`: on to the next attribute.
    fn skip_to_attribute(&mut self, end: usize) {
        let starts = |pair: &[Token]| pair[0].kind == TokenKind::Name && pair[1].kind == TokenKind::Equals;
        let next = self.tokens[self.at..end].windows(2).position(starts);
        self.at = next.map_or(end, |next| self.at + next);
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
                    self.read_on(depth);
                }
                Some(kind) if starts_operand(kind) => self.missing_operator(kind, depth),
                // Only after something that was reported: a sound chain takes its operators.
                Some(_) if self.binary_operator().is_some() => {
                    self.at += 1;
                    self.chain(0, depth);
                }
                Some(TokenKind::CloseBracket) if open.is_some() => {
                    self.unexpected(TokenKind::CloseBracket, span);
                    self.at += 1;
                    return None;
                }
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

    /// An operand follows another one. Reports it, once for a run of words, and reads on.
    fn missing_operator(&mut self, kind: TokenKind, depth: usize) {
        let span = self.here();
        if let Some(token) = self.tokens.get(self.at).filter(|token| word_operator(token).is_some()) {
            self.foreign_word(token);
            self.at += 1;
            if !self.peek().is_some_and(starts_operand) {
                return;
            }
        } else if let Some(token) = self.at.checked_sub(1).and_then(|at| self.tokens.get(at))
            && word_operator(token).is_some()
        {
            self.foreign_word(token);
        } else if kind == TokenKind::Not
            && !self.tokens.get(self.at + 1).is_some_and(|token| starts_operand(token.kind))
        {
            self.report(
                Diagnostic::new(Code::MissingOperand, span, "expected an operand after this")
                    .hint("`!` stands before what it negates"),
            );
            return self.read_on(depth);
        } else if kind == TokenKind::Open && self.loose_arguments() {
            return;
        } else if self.tokens.get(self.at + 1).is_some_and(|token| token.kind == TokenKind::Colon) {
            self.report(
                Diagnostic::new(Code::UnexpectedToken, span, "another rule starts here")
                    .hint("one rule a line: start the next rule on a line of its own"),
            );
            self.at += 2;
        } else {
            self.words_side_by_side(span);
        }
        self.chain(0, depth);
    }

    /// `collide (sphere,red)` or `collide(sphere,red`: arguments that the lexer did not take as a part of the name.
    fn loose_arguments(&mut self) -> bool {
        let Some([name, open, rest @ ..]) = self.at.checked_sub(1).map(|at| &self.tokens[at..]) else { return false };
        let is_argument = |kind| matches!(kind, TokenKind::Name | TokenKind::Comma | TokenKind::Equals);
        let length = rest.iter().take_while(|token| is_argument(token.kind)).count();
        let (inside, rest) = rest.split_at(length);
        if name.kind != TokenKind::Name || inside.iter().all(|token| token.kind == TokenKind::Name) {
            return false;
        }
        let texts = inside.iter().map(|token| match token.kind {
            TokenKind::Comma => ",",
            TokenKind::Equals => "=",
            _ => &token.name,
        });
        let hint = format!("write `{}({})`", name.name, texts.collect::<String>());
        let closed = rest.first().filter(|token| token.kind == TokenKind::Close);
        let diagnostic = match closed {
            Some(close) => {
                let message = "white space before the parentheses of a name";
                Diagnostic::new(Code::SpaceInName, name.span.to(close.span), message)
            }
            None if rest.first().is_some_and(|token| token.kind == TokenKind::Open) => return false,
            None => Diagnostic::new(Code::UnclosedParenthesis, open.span, "the parenthesis of this name is not closed"),
        };
        self.report(diagnostic.hint(hint));
        self.at += 1 + length + usize::from(closed.is_some());
        true
    }

    /// `Land vehicle`: one finding for the whole run of names, and its last name is what the formula goes on with.
    fn words_side_by_side(&mut self, span: Span) {
        let is_name = |token: &Token| token.kind == TokenKind::Name && word_operator(token).is_none();
        let first = self.at.saturating_sub(1);
        let length = self.tokens[first..].iter().take_while(|token| is_name(token)).count();
        if length < 2 {
            return self.report(
                Diagnostic::new(Code::MissingOperator, span, "expected an operator before this operand")
                    .hint("put `&`, `|`, `=>` or `<=>` before it"),
            );
        }
        let run = &self.tokens[first..first + length];
        let names: Vec<_> = run.iter().take(8).map(|token| token.name.as_str()).collect();
        let hint = format!(
            "put `&`, `|`, `=>` or `<=>` between them; a name with spaces needs double quotes: `\"{}\"`",
            names.join(" ")
        );
        let span = run[0].span.to(run[length - 1].span);
        if !run.iter().any(|token| token.damaged) {
            self.report(
                Diagnostic::new(Code::MissingOperator, span, "expected an operator between these names").hint(hint),
            );
        }
        self.at = first + length - 1;
    }

    /// A word that is an operator elsewhere. The `then` of a reported `if` goes without saying, as does `neither`'s `nor`.
    fn foreign_word(&mut self, token: &Token) {
        let word = token.name.to_ascii_lowercase();
        if matches!(word.as_str(), "then" | "nor") && self.if_reported {
            return;
        }
        self.if_reported |= matches!(word.as_str(), "if" | "neither");
        let message = format!("`{}` is not an operator of the rule language", token.name);
        let hint = word_operator(token).unwrap_or_default();
        self.report(Diagnostic::new(Code::ForeignOperator, token.span, message).hint(hint));
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
        match self.peek()? {
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
        let start = self.here();
        let first = self.chain(level + 1, depth);
        if self.binary_operator() != Some(op) {
            return first;
        }
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
            return if sound { self.implications(operands, count, span) } else { None };
        }
        if count > MAX_OPERANDS {
            let message = format!("`{}` with {count} operands; at most {MAX_OPERANDS} are allowed", op.symbol());
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
        self.report(Diagnostic::new(Code::TooDeep, span, message).hint("split it into several rules"));
    }

    /// A name or a group, with the `!`s in front of it.
    fn operand(&mut self, depth: usize) -> Option<Formula> {
        let start = self.here();
        let mut negated = false;
        while self.accept(TokenKind::Not) {
            negated = !negated;
        }
        let formula = self.primary(depth)?;
        // A concept's place is its name, so that findings about it underline nothing else.
        let span = if formula.depth == 0 { formula.span } else { start.to(self.previous()) };
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
                    self.report(
                        Diagnostic::new(Code::MissingOperand, span, "these parentheses are empty")
                            .hint("put a formula between them, or remove them"),
                    );
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
            // These are reported by the expression that they stand in.
            Some(
                TokenKind::Equals
                | TokenKind::Colon
                | TokenKind::Comma
                | TokenKind::OpenBracket
                | TokenKind::CloseBracket,
            ) => None,
            Some(TokenKind::Close) if depth == 0 => None,
            None if self.at.checked_sub(1).is_some_and(|at| self.tokens[at].kind == TokenKind::Open) => None,
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
        let hint = if self.tokens.get(self.at + 1).is_some_and(|token| token.kind == TokenKind::Open) {
            "operators stand between their operands: `a & b`"
        } else {
            "an operand is a concept, `!` and an operand, or a group in parentheses"
        };
        self.report(Diagnostic::new(Code::MissingOperand, span, message).hint(hint));
    }
}

fn starts_operand(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Name | TokenKind::Quoted | TokenKind::Open | TokenKind::Not)
}

/// What to write instead of a word that other languages have as an operator.
fn word_operator(token: &Token) -> Option<&'static str> {
    if token.kind != TokenKind::Name {
        return None;
    }
    match token.name.to_ascii_lowercase().as_str() {
        "if" | "then" => Some("write `a => b` for \"if a then b\""),
        "implies" | "requires" => Some("write `a => b` for \"a implies b\""),
        "iff" | "equals" | "equiv" => Some("write `a <=> b` for \"both or neither\""),
        "xor" => Some("write `!(a <=> b)` for \"exactly one of them\""),
        "neither" | "nor" => Some("write `!a & !b` for \"neither of them\""),
        "unless" => Some("write `!b => a` for \"a unless b\""),
        _ => None,
    }
}
