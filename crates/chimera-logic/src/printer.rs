//! Formulas and files back to text. The canonical spelling: ASCII operators, single spaces, parentheses only where they are
//! needed or where a reader would hesitate; the author's order of operands and every comment stay.

use std::fmt::{self, Write};

use crate::attributes::Attributes;
use crate::lexer::{is_bare_name, is_invisible};
use crate::syntax::{Body, FileLine, Formula, Op, RuleLine, Statement};

/// A name as it must be written: bare when it can be, else in double quotes.
#[must_use]
pub fn quote_name(name: &str) -> String {
    if is_bare_name(name) { name.to_owned() } else { quote(name) }
}

fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_invisible(c) || c == char::REPLACEMENT_CHARACTER => {
                let _ = write!(quoted, "\\u{{{:x}}}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Anything that reads as a formula: what the author wrote, or a reference into the DAG.
pub(crate) trait Expression<'a>: Copy {
    fn is_negated(self) -> bool;
    fn shape(self) -> Shape<'a, Self>;
}

/// An expression without its negation.
pub(crate) enum Shape<'a, E> {
    Concept(&'a str),
    Apply(Op, Vec<E>),
}

impl<'a> Expression<'a> for &'a Formula {
    fn is_negated(self) -> bool {
        self.negated
    }

    fn shape(self) -> Shape<'a, Self> {
        match &self.body {
            Body::Concept(name, _) => Shape::Concept(name),
            Body::Apply(op, operands) => Shape::Apply(*op, operands.iter().collect()),
        }
    }
}

/// The text of a formula.
pub(crate) fn to_text<'a>(expression: impl Expression<'a>) -> String {
    let mut text = String::new();
    write_expression(expression, None, &mut text);
    text
}

fn write_expression<'a>(expression: impl Expression<'a>, parent: Option<Op>, text: &mut String) {
    let negated = expression.is_negated();
    if negated {
        text.push('!');
    }
    match expression.shape() {
        Shape::Concept(name) => text.push_str(&quote_name(name)),
        Shape::Apply(op, operands) => {
            let group = negated || parent.is_some_and(|parent| needs_parentheses(parent, op));
            if group {
                text.push('(');
            }
            for (position, operand) in operands.into_iter().enumerate() {
                if position > 0 {
                    text.push(' ');
                    text.push_str(op.symbol());
                    text.push(' ');
                }
                write_expression(operand, Some(op), text);
            }
            if group {
                text.push(')');
            }
        }
    }
}

/// Whether an operand must stand in parentheses under `parent`. Same operators nest (`(a & b) & c` is not `a & b & c`), and
/// `&` under `|` or `=>` under `<=>` would be read right only by those who remember the precedence.
fn needs_parentheses(parent: Op, operand: Op) -> bool {
    match parent {
        Op::And | Op::Or => true,
        Op::Implies | Op::Iff => matches!(operand, Op::Implies | Op::Iff),
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_text(self))
    }
}

impl fmt::Display for RuleLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&rule_text(&self.name, &self.attributes, &self.formula.to_string()))
    }
}

pub(crate) fn rule_text(name: &str, attributes: &Attributes, formula: &str) -> String {
    let given: Vec<_> = attributes.given().into_iter().map(|(name, text)| format!("{name}={text}")).collect();
    let brackets = if given.is_empty() { String::new() } else { format!(" [{}]", given.join(" ")) };
    format!("{}{brackets}: {formula}", quote_name(name))
}

/// A whole file in canonical spelling. Runs of blank lines become one, blank lines at both ends go. `None` if a line is
/// broken: a file with errors is never rewritten.
#[must_use]
pub fn format_file(lines: &[FileLine]) -> Option<String> {
    let mut text = String::new();
    let mut blank_pending = false;
    for line in lines {
        let statement = match &line.statement {
            Statement::Broken => return None,
            Statement::Blank => String::new(),
            Statement::Rule(rule) => rule.to_string(),
            Statement::Include(include) => format!("include {}", quote(&include.path)),
        };
        let comment = line.comment.as_deref().unwrap_or_default();
        if statement.is_empty() && comment.is_empty() {
            blank_pending = !text.is_empty();
            continue;
        }
        if std::mem::take(&mut blank_pending) {
            text.push('\n');
        }
        let gap = if statement.is_empty() || comment.is_empty() { "" } else { "  " };
        let _ = writeln!(text, "{statement}{gap}{comment}");
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_cannot_be_seen_are_escaped() {
        assert_eq!(quote_name("red\u{200b} ball"), r#""red\u{200b} ball""#);
        assert_eq!(quote_name("\u{202e}llab"), r#""\u{202e}llab""#);
        assert_eq!(quote_name("a\u{feff}\u{2066}\u{1b}\t"), r#""a\u{feff}\u{2066}\u{1b}\t""#);
        assert_eq!(quote_name("Land vehicle, é日"), r#""Land vehicle, é日""#);
    }
}
