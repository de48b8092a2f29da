//! What a mined rule can look like: seven patterns over concepts by number.

use std::fmt;

use chimera_logic::attributes::Family;
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::printer::quote_name;
use chimera_logic::syntax::Op;
use chimera_logic::vocabulary::ConceptId;
use serde::{Deserialize, Serialize};

/// The patterns, in the order in which they take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// `a <=> b`
    Iff,
    /// `(a => b) & (b => c)`
    Chain,
    /// `a => b & c`
    Both,
    /// `a & b => c`
    And,
    /// `a => b | c`
    Or,
    /// `a => b`
    Implies,
    /// `a => !b`
    Excludes,
}

impl Pattern {
    /// All of them.
    pub const ALL: [Self; 7] = [Self::Iff, Self::Chain, Self::Both, Self::And, Self::Or, Self::Implies, Self::Excludes];

    /// As it is written on the command line and in mined files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Iff => "iff",
            Self::Chain => "chain",
            Self::Both => "both",
            Self::And => "and",
            Self::Or => "or",
            Self::Implies => "implies",
            Self::Excludes => "excludes",
        }
    }

    /// What its rules say, as a heading.
    #[must_use]
    pub fn heading(self) -> &'static str {
        match self {
            Self::Iff => "both or neither",
            Self::Chain => "one brings the next",
            Self::Both => "one demands two things",
            Self::And => "two together demand a third",
            Self::Or => "one demands either of two",
            Self::Implies => "one never without the other",
            Self::Excludes => "never both",
        }
    }

    /// The family that reports count it under.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::Iff => Family::Other,
            Self::Chain => Family::Chain,
            Self::Both | Self::And | Self::Or => Family::Compound,
            Self::Implies | Self::Excludes => Family::Simple,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A concept by number, or its absence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Literal {
    /// The concept's column.
    pub concept: usize,
    /// Whether it must not hold.
    pub negated: bool,
}

impl Literal {
    /// The concept itself.
    #[must_use]
    pub fn holds(concept: usize) -> Self {
        Self { concept, negated: false }
    }

    /// Its absence.
    #[must_use]
    pub fn fails(concept: usize) -> Self {
        Self { concept, negated: true }
    }
}

/// A rule over concepts by number. Where the order of two has no meaning, the smaller number comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// `a <=> b`
    Iff([usize; 2]),
    /// `(a => b) & (b => c)`; what the last link says may be negated.
    Chain(usize, usize, Literal),
    /// `a => b & c`, either of which may be negated.
    Both(usize, [Literal; 2]),
    /// `a & b => c`, which may be negated.
    And([usize; 2], Literal),
    /// `a => b | c`
    Or(usize, [usize; 2]),
    /// `a => b`, which may be negated.
    Pair(usize, Literal),
}

/// On which side of an implication a literal stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// What a rule supposes.
    If,
    /// What it demands.
    Then,
}

impl Shape {
    /// Its pattern.
    #[must_use]
    pub fn pattern(self) -> Pattern {
        match self {
            Self::Iff(_) => Pattern::Iff,
            Self::Chain(..) => Pattern::Chain,
            Self::Both(..) => Pattern::Both,
            Self::And(..) => Pattern::And,
            Self::Or(..) => Pattern::Or,
            Self::Pair(_, Literal { negated: false, .. }) => Pattern::Implies,
            Self::Pair(_, Literal { negated: true, .. }) => Pattern::Excludes,
        }
    }

    /// The two pairs that say together what it says; `None` where no two do.
    #[must_use]
    pub fn parts(self) -> Option<[Self; 2]> {
        match self {
            Self::Iff([a, b]) => Some([Self::Pair(a, Literal::holds(b)), Self::Pair(b, Literal::holds(a))]),
            Self::Chain(a, b, c) => Some([Self::Pair(a, Literal::holds(b)), Self::Pair(b, c)]),
            Self::Both(a, demands) => Some(demands.map(|demand| Self::Pair(a, demand))),
            Self::And(..) | Self::Or(..) | Self::Pair(..) => None,
        }
    }

    /// Whether another shape says the same: `a => !b` and `b => !a`.
    #[must_use]
    pub(crate) fn says_same(self, other: Self) -> bool {
        let turned = match other {
            Self::Pair(a, b) if b.negated => Self::Pair(b.concept, Literal::fails(a)),
            other => other,
        };
        self == other || self == turned
    }

    /// Every literal with the side on which it stands.
    #[must_use]
    pub fn sides(self) -> Vec<(Literal, Side)> {
        let (given, then) = (|concept| (Literal::holds(concept), Side::If), |literal| (literal, Side::Then));
        match self {
            Self::Iff([a, b]) => {
                vec![given(a), given(b), then(Literal::holds(a)), then(Literal::holds(b))]
            }
            Self::Chain(a, b, c) => vec![given(a), given(b), then(Literal::holds(b)), then(c)],
            Self::Both(a, [b, c]) => vec![given(a), then(b), then(c)],
            Self::And([a, b], c) => vec![given(a), given(b), then(c)],
            Self::Or(a, [b, c]) => vec![given(a), then(Literal::holds(b)), then(Literal::holds(c))],
            Self::Pair(a, b) => vec![given(a), then(b)],
        }
    }

    /// The concepts that it is about, each once.
    #[must_use]
    pub fn concepts(self) -> Vec<usize> {
        let mut concepts: Vec<usize> = self.sides().into_iter().map(|(literal, _)| literal.concept).collect();
        concepts.sort_unstable();
        concepts.dedup();
        concepts
    }

    /// The formula, as rules are written.
    #[must_use]
    pub fn formula(self, concepts: &[String]) -> String {
        let name = |concept: usize| quote_name(&concepts[concept]);
        let text = |literal: Literal| format!("{}{}", if literal.negated { "!" } else { "" }, name(literal.concept));
        match self {
            Self::Iff([a, b]) => format!("{} <=> {}", name(a), name(b)),
            Self::Chain(a, b, c) => format!("({} => {}) & ({} => {})", name(a), name(b), name(b), text(c)),
            Self::Both(a, [b, c]) => format!("{} => {} & {}", name(a), text(b), text(c)),
            Self::And([a, b], c) => format!("{} & {} => {}", name(a), name(b), text(c)),
            Self::Or(a, [b, c]) => format!("{} => {} | {}", name(a), name(b), name(c)),
            Self::Pair(a, b) => format!("{} => {}", name(a), text(b)),
        }
    }

    /// The words of its name.
    #[must_use]
    pub fn words(self, concepts: &[String]) -> String {
        // What stands before a colon says what kind of concept it is, which its name mostly says as well.
        let name = |concept: usize| {
            let name = concepts[concept].as_str();
            name.split_once(':').map_or(name, |(_, rest)| rest)
        };
        let with = |literal: Literal| {
            format!("{} {}", if literal.negated { "without" } else { "with" }, name(literal.concept))
        };
        match self {
            Self::Iff([a, b]) => format!("{} iff {}", name(a), name(b)),
            Self::Chain(a, b, c) => format!("{} with {} {}", name(a), name(b), with(c)),
            Self::Both(a, [b, c]) => format!("{} {} and {}", name(a), with(b), with(c)),
            Self::And([a, b], c) => format!("{} and {} {}", name(a), name(b), with(c)),
            Self::Or(a, [b, c]) => format!("{} with {} or {}", name(a), name(b), name(c)),
            Self::Pair(a, b) => format!("{} {}", name(a), with(b)),
        }
    }

    /// The formula in a DAG whose vocabulary has the concepts under the same numbers.
    pub fn edge(self, dag: &mut Dag) -> Option<Edge> {
        let literal =
            |dag: &mut Dag, literal: Literal| dag.leaf(ConceptId(literal.concept as u32)).negate_if(literal.negated);
        let plain = |dag: &mut Dag, concept: usize| literal(dag, Literal::holds(concept));
        let (op, operands) = match self {
            Self::Iff([a, b]) => (Op::Iff, vec![plain(dag, a), plain(dag, b)]),
            Self::Chain(a, b, c) => {
                let links = [Self::Pair(a, Literal::holds(b)), Self::Pair(b, c)];
                (Op::And, links.into_iter().map(|link| link.edge(dag)).collect::<Option<_>>()?)
            }
            Self::Both(a, [b, c]) => {
                let demands = vec![literal(dag, b), literal(dag, c)];
                (Op::Implies, vec![plain(dag, a), dag.gate(Op::And, demands).ok()?])
            }
            Self::And([a, b], c) => {
                let given = vec![plain(dag, a), plain(dag, b)];
                (Op::Implies, vec![dag.gate(Op::And, given).ok()?, literal(dag, c)])
            }
            Self::Or(a, [b, c]) => {
                let demands = vec![plain(dag, b), plain(dag, c)];
                (Op::Implies, vec![plain(dag, a), dag.gate(Op::Or, demands).ok()?])
            }
            Self::Pair(a, b) => (Op::Implies, vec![plain(dag, a), literal(dag, b)]),
        };
        dag.gate(op, operands).ok()
    }

    /// The shape of a formula that could have been mined; `None` for all others.
    #[must_use]
    pub fn of(dag: &Dag, edge: Edge) -> Option<Self> {
        let literal = |edge: Edge| match dag.node(edge.node()) {
            Node::Leaf(concept) => Some(Literal { concept: concept.index(), negated: edge.is_negated() }),
            Node::Gate(..) => None,
        };
        let plain = |edge: Edge| literal(edge).filter(|literal| !literal.negated).map(|literal| literal.concept);
        let gate = |edge: Edge, wanted: Op| match dag.node(edge.node()) {
            Node::Gate(op, &[one, other]) if op == wanted && !edge.is_negated() => Some([one, other]),
            _ => None,
        };
        let shape = if let Some([given, demanded]) = gate(edge, Op::Implies) {
            match (plain(given), literal(demanded)) {
                (Some(a), Some(b)) => Self::Pair(a, b),
                (Some(a), None) => match (gate(demanded, Op::And), gate(demanded, Op::Or)) {
                    (Some([b, c]), _) => Self::Both(a, sorted([literal(b)?, literal(c)?])),
                    (_, Some([b, c])) => Self::Or(a, sorted([plain(b)?, plain(c)?])),
                    _ => return None,
                },
                (None, Some(c)) => {
                    let [a, b] = gate(given, Op::And)?;
                    Self::And(sorted([plain(a)?, plain(b)?]), c)
                }
                _ => return None,
            }
        } else if let Some([a, b]) = gate(edge, Op::Iff) {
            Self::Iff(sorted([plain(a)?, plain(b)?]))
        } else {
            let [one, other] = gate(edge, Op::And)?.map(|link| Self::of(dag, link));
            match (one?, other?) {
                (Self::Pair(a, b), Self::Pair(start, c)) if b == Literal::holds(start) => Self::Chain(a, start, c),
                (Self::Pair(start, c), Self::Pair(a, b)) if b == Literal::holds(start) => Self::Chain(a, start, c),
                _ => return None,
            }
        };
        let distinct = shape.concepts().len()
            == match shape.pattern() {
                Pattern::Iff | Pattern::Implies | Pattern::Excludes => 2,
                Pattern::Chain | Pattern::Both | Pattern::And | Pattern::Or => 3,
            };
        distinct.then_some(shape)
    }
}

/// Two in ascending order.
pub(super) fn sorted<T: Ord>([one, other]: [T; 2]) -> [T; 2] {
    if other < one { [other, one] } else { [one, other] }
}

#[cfg(test)]
mod tests;
