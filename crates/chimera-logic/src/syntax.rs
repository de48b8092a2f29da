//! What the author wrote, line by line: formulas as trees, rules, includes, comments.

use crate::attributes::Attributes;
use crate::span::Span;

/// How deep parentheses and implications may nest. A gate network of this depth is far beyond what can be trained.
pub const MAX_DEPTH: usize = 200;

/// How many operands one operator may have; a gate has as many inputs as operands times features.
pub const MAX_OPERANDS: usize = 1024;

/// A logical operator of an inner node, with the paper's codes. Negation is no operator: it is a mark on an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// All operands are equal.
    Iff = 1,
    /// The first operand implies the second.
    Implies = 2,
    /// All operands hold.
    And = 3,
    /// At least one operand holds.
    Or = 4,
}

impl Op {
    /// Every operator, weakest binding first.
    pub const ALL: [Self; 4] = [Self::Iff, Self::Implies, Self::Or, Self::And];

    /// The paper's operator code.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The operator with this code.
    #[must_use]
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|op| op.code() == code)
    }

    /// Whether the order of the operands has no meaning.
    #[must_use]
    pub fn is_commutative(self) -> bool {
        self != Self::Implies
    }

    /// The symbol that the printer writes.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Iff => "<=>",
            Self::Implies => "=>",
            Self::And => "&",
            Self::Or => "|",
        }
    }

    /// The name in capitals, as in the paper.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Iff => "IFF",
            Self::Implies => "IMPLIES",
            Self::And => "AND",
            Self::Or => "OR",
        }
    }
}

/// A formula as written. Double negations are gone and superfluous parentheses leave no trace; nothing else is simplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// Whether a `!` stands in front.
    pub negated: bool,
    /// What it applies to.
    pub body: Body,
    /// Where it stands.
    pub span: Span,
    /// Operators on the longest way down to a concept; at most [`MAX_DEPTH`].
    pub depth: usize,
}

/// A formula without its negation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A concept by name, with the place of the name alone.
    Concept(String, Span),
    /// An operator over two or more operands (exactly two for `=>`).
    Apply(Op, Vec<Formula>),
}

/// A rule as written.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleLine {
    /// Its name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// What stands in brackets after the name.
    pub attributes: Attributes,
    /// What must hold.
    pub formula: Formula,
}

/// An `include "path"` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IncludeLine {
    /// The path as written.
    pub path: String,
    /// Where the path stands.
    pub span: Span,
}

/// What a line holds beside its comment.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Nothing.
    Blank,
    /// A rule.
    Rule(RuleLine),
    /// An include.
    Include(IncludeLine),
    /// Something that could not be read and was reported.
    Broken,
}

/// One line of a rule file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileLine {
    /// What it says.
    pub statement: Statement,
    /// Its comment, `#` included.
    pub comment: Option<String>,
}
