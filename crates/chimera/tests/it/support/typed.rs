//! Formulas as somebody types them: drawn at random, spelled in many ways, and read back by a small parser of our own. Nothing of
//! the product's parser, graph or loading is used, so that a mistake there cannot be in here as well.

use std::collections::BTreeSet;
use std::fmt::Write;

use fastrand::Rng;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Iff,
    Implies,
    Or,
    And,
}

use Operator::{And, Iff, Implies, Or};

impl Operator {
    /// From the weakest binding on.
    const ALL: [Self; 4] = [Iff, Implies, Or, And];

    fn spellings(self) -> &'static [&'static str] {
        match self {
            Iff => &["<=>", "<->", "⇔", "↔"],
            Implies => &["=>", "->", "⇒", "→"],
            Or => &["|", "or", "∨"],
            And => &["&", "and", "∧"],
        }
    }

    pub(crate) fn is_commutative(self) -> bool {
        self != Implies
    }

    fn holds(self, values: &[bool]) -> bool {
        match self {
            Iff => values.iter().all(|value| *value == values[0]),
            Implies => !values[0] || values[1],
            Or => values.contains(&true),
            And => !values.contains(&false),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Name(String),
    Not(Box<Typed>),
    Apply(Operator, Vec<Typed>),
}

impl Typed {
    /// A formula of at most so many levels of operators.
    pub(crate) fn random(depth: usize, names: &[&str], random: &mut Rng) -> Self {
        let formula = if depth == 0 || random.u8(..8) == 0 {
            Self::Name(names[random.usize(..names.len())].to_owned())
        } else {
            let operator = Operator::ALL[random.usize(..4)];
            let arity = if operator == Implies { 2 } else { 2 + usize::from(random.u8(..4) == 0) };
            let mut operands: Vec<Self> = (0..arity).map(|_| Self::random(depth - 1, names, random)).collect();
            // A part that occurs again.
            if random.u8(..4) == 0 {
                operands[arity - 1] = operands[0].clone();
            }
            Self::Apply(operator, operands)
        };
        if random.u8(..4) == 0 { Self::Not(Box::new(formula)) } else { formula }
    }

    /// Another spelling of the same: operands that may change places do, negations come twice.
    pub(crate) fn shuffled(&self, random: &mut Rng) -> Self {
        let same = match self {
            Self::Name(name) => Self::Name(name.clone()),
            Self::Not(formula) => Self::Not(Box::new(formula.shuffled(random))),
            Self::Apply(operator, operands) => {
                let mut operands: Vec<Self> = operands.iter().map(|operand| operand.shuffled(random)).collect();
                if operator.is_commutative() {
                    random.shuffle(&mut operands);
                }
                Self::Apply(*operator, operands)
            }
        };
        if random.u8(..8) == 0 { Self::Not(Box::new(Self::Not(Box::new(same)))) } else { same }
    }

    /// As text, with any spelling of the operators and more parentheses than it takes.
    pub(crate) fn text(&self, random: &mut Rng) -> String {
        let mut text = match self {
            Self::Name(name) if name.contains(' ') => format!("\"{name}\""),
            Self::Name(name) => name.clone(),
            Self::Not(formula) => {
                let not = ["!", "not ", "¬"][random.usize(..3)];
                format!("{not}({})", formula.text(random))
            }
            Self::Apply(operator, operands) => {
                let spelling = operator.spellings()[random.usize(..operator.spellings().len())];
                let mut text = String::new();
                for (number, operand) in operands.iter().enumerate() {
                    if number > 0 {
                        let _ = write!(text, " {spelling} ");
                    }
                    match operand {
                        Self::Apply(..) => _ = write!(text, "({})", operand.text(random)),
                        _ => text += &operand.text(random),
                    }
                }
                text
            }
        };
        if random.u8(..6) == 0 {
            text = format!("({text})");
        }
        text
    }

    /// The formula without negations around it, and whether these negate it.
    pub(crate) fn bare(&self) -> (&Self, bool) {
        match self {
            Self::Not(formula) => {
                let (bare, negated) = formula.bare();
                (bare, !negated)
            }
            _ => (self, false),
        }
    }

    /// One text for all spellings.
    pub(crate) fn normal(&self) -> String {
        let (bare, negated) = self.bare();
        let not = if negated { "!" } else { "" };
        match bare {
            Self::Apply(operator, operands) => {
                let mut operands: Vec<String> = operands.iter().map(Self::normal).collect();
                if operator.is_commutative() {
                    operands.sort();
                }
                format!("{not}{operator:?}({})", operands.join(", "))
            }
            Self::Name(name) => format!("{not}{name}"),
            Self::Not(_) => String::new(),
        }
    }

    /// The concepts in it.
    pub(crate) fn names(&self) -> BTreeSet<&str> {
        match self {
            Self::Name(name) => BTreeSet::from([name.as_str()]),
            Self::Not(formula) => formula.names(),
            Self::Apply(_, operands) => operands.iter().flat_map(Self::names).collect(),
        }
    }

    pub(crate) fn holds(&self, value: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::Name(name) => value(name),
            Self::Not(formula) => !formula.holds(value),
            Self::Apply(operator, operands) => {
                operator.holds(&operands.iter().map(|operand| operand.holds(value)).collect::<Vec<_>>())
            }
        }
    }

    /// Reads a formula as the product prints it.
    pub(crate) fn read(text: &str) -> Self {
        let mut rest = text;
        let formula = Self::level(&mut rest, 0);
        assert_eq!(rest.trim(), "", "{text}");
        formula
    }

    fn level(rest: &mut &str, level: usize) -> Self {
        let Some(&operator) = Operator::ALL.get(level) else { return Self::single(rest) };
        let mut operands = vec![Self::level(rest, level + 1)];
        while let Some(after) = rest.trim_start().strip_prefix(operator.spellings()[0]) {
            *rest = after;
            operands.push(Self::level(rest, level + 1));
        }
        if operands.len() == 1 { operands.remove(0) } else { Self::Apply(operator, operands) }
    }

    fn single(rest: &mut &str) -> Self {
        *rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('!') {
            *rest = after;
            return Self::Not(Box::new(Self::single(rest)));
        }
        if let Some(after) = rest.strip_prefix('(') {
            *rest = after;
            let formula = Self::level(rest, 0);
            *rest = rest.trim_start().strip_prefix(')').unwrap();
            return formula;
        }
        let (name, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None => rest.split_at(rest.find([' ', ')']).unwrap_or(rest.len())),
        };
        *rest = after;
        Self::Name(name.to_owned())
    }
}

#[test]
fn what_is_read_is_what_was_printed() {
    let read = Typed::read("!(\"Land vehicle\" & b) | (a => !b) | c <=> d");
    assert_eq!(read.normal(), "Iff(Or(!And(Land vehicle, b), Implies(a, !b), c), d)");
    let name = |name: &str| Typed::Name(name.to_owned());
    let typed = Typed::Apply(And, vec![name("b"), Typed::Not(Box::new(Typed::Not(Box::new(name("a")))))]);
    assert_eq!(typed.normal(), Typed::read("a & b").normal());
    assert!(typed.holds(&|_| true) && !typed.holds(&|name| name == "a"));
}
