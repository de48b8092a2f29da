//! Rule probabilities by the independent-events formulas of the paper, and the checked table of concept probabilities
//! that they and the exact count ([`count`](crate::bdd::count)) read.
//!
//! Each node is computed from its operands alone as if these were independent. That is exact where no concept occurs
//! twice under a node, and wrong elsewhere: `A <=> !A` gets `2p(1-p)` and not 0.

use std::ops::Range;

use crate::dag::{Dag, Edge};
use crate::steps::{Event, Operand, Place, Schedule};
use crate::syntax::Op;
use crate::vocabulary::ConceptId;

/// Rows done at once, so that the values of all live nodes stay in the cache.
pub(crate) const BLOCK: usize = 256;

/// Why a table of probabilities is refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ProbabilityError {
    /// The number of values is not concepts times rows.
    #[error("expected {concepts} concepts x {rows} rows of probabilities, got {got} values")]
    Shape {
        /// Columns asked for.
        concepts: usize,
        /// Rows asked for.
        rows: usize,
        /// Number of values given.
        got: usize,
    },
    /// A value is no probability.
    #[error("the probability of concept number {} in row {row} is {value}, expected 0 to 1", .concept.index())]
    OutOfRange {
        /// The concept.
        concept: ConceptId,
        /// The row.
        row: usize,
        /// The value, possibly NaN.
        value: f64,
    },
}

/// Concept probabilities of one or many samples, checked once.
///
/// # Shapes
///
/// `values` is `[concepts x rows]`, concept-major: a concept's probabilities of all rows stand side by side. One sample
/// is a table of one row, whose values are in the order of the vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Probabilities<'a> {
    values: &'a [f64],
    concepts: usize,
    rows: usize,
}

impl<'a> Probabilities<'a> {
    /// A table over `[concepts x rows]` values; each must lie between 0 and 1.
    pub fn new(values: &'a [f64], concepts: usize, rows: usize) -> Result<Self, ProbabilityError> {
        if concepts.checked_mul(rows) != Some(values.len()) {
            return Err(ProbabilityError::Shape { concepts, rows, got: values.len() });
        }
        match values.iter().position(|value| !(0.0..=1.0).contains(value)) {
            None => Ok(Self { values, concepts, rows }),
            Some(at) => {
                let concept = ConceptId((at / rows) as u32);
                Err(ProbabilityError::OutOfRange { concept, row: at % rows, value: values[at] })
            }
        }
    }

    /// The table of one sample: a value for each concept.
    pub fn of_sample(values: &'a [f64]) -> Result<Self, ProbabilityError> {
        Self::new(values, values.len(), 1)
    }

    /// Number of concepts.
    #[must_use]
    pub fn concepts(&self) -> usize {
        self.concepts
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// A concept's probabilities, a value for each row.
    #[must_use]
    pub fn column(&self, concept: ConceptId) -> &'a [f64] {
        &self.values[concept.index() * self.rows..][..self.rows]
    }

    /// One probability.
    #[must_use]
    pub fn get(&self, row: usize, concept: ConceptId) -> f64 {
        self.column(concept)[row]
    }
}

/// The independent-events formulas of some references into a DAG, as a list of steps.
///
/// # Examples
///
/// Where a concept occurs twice, exact counting ([`Diagrams`](crate::bdd::Diagrams)) gives another answer:
///
/// ```
/// use chimera_logic::bdd::{Diagrams, Limits};
/// use chimera_logic::load::load_text;
/// use chimera_logic::prob::{Independent, Probabilities};
/// use chimera_logic::vocabulary::Vocabulary;
///
/// let columns = ["bicycle", "helmet"].map(str::to_owned);
/// let text = "worn: bicycle => helmet\nnever: helmet <=> !helmet\n";
/// let rules = load_text("my.rules", text, Vocabulary::closed(columns, "an example")).rule_set;
/// let sample = Probabilities::of_sample(&[0.5, 0.25])?;
///
/// // 1 - 0.5 * (1 - 0.25), and 2 * 0.25 * (1 - 0.25) as if both sides were independent.
/// assert_eq!(Independent::compile(&rules.dag, &rules.roots()).evaluate(&sample), [0.625, 0.375]);
///
/// let mut diagrams = Diagrams::new(&rules.dag, &rules.roots(), Limits::default());
/// let both = [diagrams.compile(rules.rules[0].root)?, diagrams.compile(rules.rules[1].root)?];
/// assert_eq!(diagrams.circuit(&both).evaluate(&sample), [0.625, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Independent {
    schedule: Schedule,
}

impl Independent {
    /// Compiles the evaluation of the given references. Every shared node is computed once.
    #[must_use]
    pub fn compile(dag: &Dag, roots: &[Edge]) -> Self {
        Self { schedule: Schedule::compile(dag, roots) }
    }

    /// The probability of each reference on each row.
    ///
    /// # Shapes
    ///
    /// `[concepts x rows]` -> `[references x rows]`, a reference's values of all rows side by side.
    ///
    /// # Panics
    ///
    /// If the table has fewer columns than the vocabulary has concepts.
    #[must_use]
    pub fn evaluate(&self, probabilities: &Probabilities<'_>) -> Vec<f64> {
        let schedule = &self.schedule;
        let enough = schedule.concepts <= probabilities.concepts();
        assert!(enough, "the table has a column for each concept of the vocabulary");
        let rows = probabilities.rows();
        let mut result = vec![0.0; schedule.columns * rows];
        let mut slots = vec![Vec::new(); schedule.slots];
        let mut none_hold = Vec::new();
        for start in (0..rows).step_by(BLOCK) {
            let window = start..(start + BLOCK).min(rows);
            for event in &schedule.events {
                match event {
                    Event::Gate { op, operands, slot } => {
                        let mut target = std::mem::take(&mut slots[*slot]);
                        let read = |operand: &Operand| read(probabilities, &slots, operand.place, &window);
                        apply(*op, schedule.operands(operands), read, &mut target, &mut none_hold, window.len());
                        slots[*slot] = target;
                    }
                    Event::Output { operand, column } => {
                        let target = &mut result[column * rows..][window.clone()];
                        target.copy_from_slice(read(probabilities, &slots, operand.place, &window));
                        if operand.negated {
                            target.iter_mut().for_each(|value| *value = 1.0 - *value);
                        }
                    }
                }
            }
        }
        result
    }
}

fn read<'a>(
    probabilities: &'a Probabilities<'_>,
    slots: &'a [Vec<f64>],
    place: Place,
    window: &Range<usize>,
) -> &'a [f64] {
    match place {
        Place::Concept(concept) => &probabilities.column(concept)[window.clone()],
        Place::Slot(slot) => &slots[slot],
    }
}

/// One operator over a block of rows. All of them are products of operands or of their complements.
fn apply<'v>(
    op: Op,
    operands: &[Operand],
    read: impl Fn(&Operand) -> &'v [f64],
    target: &mut Vec<f64>,
    none_hold: &mut Vec<f64>,
    rows: usize,
) {
    let product = |target: &mut Vec<f64>, complement: &dyn Fn(usize) -> bool| {
        target.clear();
        target.resize(rows, 1.0);
        for (position, operand) in operands.iter().enumerate() {
            let factors = target.iter_mut().zip(read(operand));
            if operand.negated != complement(position) {
                factors.for_each(|(to, value)| *to *= 1.0 - value);
            } else {
                factors.for_each(|(to, value)| *to *= value);
            }
        }
    };
    match op {
        Op::And => product(target, &|_| false),
        // 1 - prod(1 - p)
        Op::Or => product(target, &|_| true),
        // 1 - a (1 - b)
        Op::Implies => product(target, &|position| position == 1),
        Op::Iff => {
            product(target, &|_| false);
            product(none_hold, &|_| true);
            target.iter_mut().zip(none_hold).for_each(|(to, none)| *to += *none);
        }
    }
    if matches!(op, Op::Or | Op::Implies) {
        target.iter_mut().for_each(|value| *value = 1.0 - *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_text;
    use crate::vocabulary::Vocabulary;

    fn independent(formula: &str, values: &[f64]) -> f64 {
        let names = ["a", "b", "c"].map(str::to_owned);
        let rule_set = load_text("t", &format!("r: {formula}"), Vocabulary::closed(names, "a test")).rule_set;
        let program = Independent::compile(&rule_set.dag, &rule_set.roots());
        program.evaluate(&Probabilities::of_sample(values).unwrap())[0]
    }

    #[test]
    fn single_operators_are_the_paper_s_closed_forms() {
        let (a, b, c) = (0.3, 0.8, 0.45);
        for (formula, expected) in [
            ("a", a),
            ("!a", 1.0 - a),
            ("a & b", a * b),
            ("a | b", a + b - a * b),
            ("a => b", 1.0 - a * (1.0 - b)),
            ("b => a", 1.0 - b * (1.0 - a)),
            ("a <=> b", a * b + (1.0 - a) * (1.0 - b)),
            ("a <=> !b", a * (1.0 - b) + (1.0 - a) * b),
            ("!(a & !b)", 1.0 - a * (1.0 - b)),
            ("a & b & c", a * b * c),
            ("a | b | !c", 1.0 - (1.0 - a) * (1.0 - b) * c),
            ("a <=> b <=> c", a * b * c + (1.0 - a) * (1.0 - b) * (1.0 - c)),
            ("(a | b) => c", 1.0 - (a + b - a * b) * (1.0 - c)),
            // Where a concept occurs twice, the formulas are not the probability.
            ("a <=> !a", 2.0 * a * (1.0 - a)),
            ("a & a", a * a),
        ] {
            let got = independent(formula, &[a, b, c]);
            assert!((got - expected).abs() < 1e-15, "{formula}: {got}, not {expected}");
        }
    }

    #[test]
    fn a_batch_is_its_samples() {
        let rule_set = load_text(
            "t",
            "r: (a | b) => c\ns: !((a | b) <=> (b & c) <=> !a)\nt: a\nu: !b\nv: a | b",
            Vocabulary::closed(["a", "b", "c"].map(str::to_owned), "a test"),
        )
        .rule_set;
        let program = Independent::compile(&rule_set.dag, &rule_set.roots());
        for rows in [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK + 17] {
            let mut random = fastrand::Rng::with_seed(7);
            let values: Vec<f64> = (0..3 * rows).map(|_| random.f64()).collect();
            let batch = program.evaluate(&Probabilities::new(&values, 3, rows).unwrap());
            for row in 0..rows {
                let sample: Vec<f64> = (0..3).map(|concept| values[concept * rows + row]).collect();
                let single = program.evaluate(&Probabilities::of_sample(&sample).unwrap());
                assert_eq!(single, (0..5).map(|root| batch[root * rows + row]).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for wrong in [-0.1, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY] {
            let error = Probabilities::new(&[0.0, 1.0, 0.5, wrong], 2, 2).unwrap_err();
            let ProbabilityError::OutOfRange { concept, row, value } = error else { panic!("{error}") };
            assert_eq!((concept, row, value.to_bits()), (ConceptId(1), 1, wrong.to_bits()));
        }
        let error = Probabilities::new(&[0.5; 5], 2, 3).unwrap_err();
        assert_eq!(error, ProbabilityError::Shape { concepts: 2, rows: 3, got: 5 });
        assert_eq!(error.to_string(), "expected 2 concepts x 3 rows of probabilities, got 5 values");
        assert!(Probabilities::new(&[], usize::MAX, 2).is_err());
        assert!(Probabilities::new(&[], 3, 0).is_ok());
    }
}
