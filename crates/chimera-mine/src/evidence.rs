//! What rows say about a rule: how many it applies to, how many keep it, and the tables that tell it from chance. Counted from
//! bit columns with unknown labels, 64 rows at a time, by Kleene's logic.

use chimera_logic::bits::{TruthTable, words_for};

use super::contingency::Contingency;
use super::pairs::PairCounts;
use super::shape::{Literal, Shape};
use super::stats::fisher_greater;

/// What some rows say about a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Rows that it applies to, and of which it is known whether they keep it: its antecedent holds; of a chain, that of one
    /// link at least; of an IFF, one of its sides.
    pub support: u64,
    /// Of these, rows that keep it.
    pub kept: u64,
    /// How much more often it is kept there than by chance; of a chain, for its weaker link.
    pub lift: Option<f64>,
    /// The tables that must each be no chance. The first ones say that sides go together at all; those of compounds also that no
    /// part can be spared: `a & b => c` must hold better where `b` does, among rows with `a`, and the other way round, and each
    /// of `b` and `c` must add something to `a => b | c`.
    pub tests: Vec<Contingency>,
}

impl Evidence {
    /// The share of rows that keep it among those that it applies to; `None` where it applies to none.
    #[must_use]
    pub fn confidence(&self) -> Option<f64> {
        (self.support > 0).then(|| self.kept as f64 / self.support as f64)
    }

    /// Probability that chance alone does as well, in the test that speaks least for the rule.
    #[must_use]
    pub fn p(&self) -> f64 {
        self.tests.iter().map(|&table| fisher_greater(table)).fold(0.0, f64::max)
    }

    /// The same where it is at most `limit`, else nothing; most candidates fail a test early.
    pub(super) fn p_below(&self, limit: f64) -> Option<f64> {
        self.tests.iter().rev().try_fold(0.0_f64, |largest, &table| {
            let p = fisher_greater(table);
            (p <= limit).then_some(largest.max(p))
        })
    }

    /// The same from counts of pairs, for a rule over two concepts.
    pub(super) fn of_pair(table: Contingency) -> Self {
        Self { support: table.left(), kept: table.both, lift: table.lift(), tests: vec![table] }
    }

    /// Counts over all rows of a table.
    #[must_use]
    pub fn of(shape: Shape, labels: &TruthTable) -> Self {
        let mut counts = Counts::default();
        for word in 0..words_for(labels.rows()) {
            counts.add(&terms(shape, &Word { labels, word }));
        }
        counts.into_evidence(shape)
    }
}

/// 64 rows of three-valued truth; what is in neither is unknown.
#[derive(Clone, Copy)]
struct Trits {
    yes: u64,
    no: u64,
}

impl Trits {
    const TRUE: Self = Self { yes: u64::MAX, no: 0 };

    fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }

    fn and(self, other: Self) -> Self {
        Self { yes: self.yes & other.yes, no: self.no | other.no }
    }

    fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }

    fn implies(self, other: Self) -> Self {
        self.not().or(other)
    }
}

/// One word of all columns.
struct Word<'a> {
    labels: &'a TruthTable,
    word: usize,
}

impl Word<'_> {
    fn get(&self, literal: Literal) -> Trits {
        let value = self.labels.value();
        let last = self.word + 1 == words_for(value.rows());
        let all = if last { value.tail_mask() } else { u64::MAX };
        let known = self.labels.known().map_or(all, |known| known.column(literal.concept)[self.word]);
        let yes = value.column(literal.concept)[self.word];
        let trits = Trits { yes, no: known & !yes };
        if literal.negated { trits.not() } else { trits }
    }
}

/// A table to be counted where a condition holds.
#[derive(Clone, Copy)]
struct Test {
    condition: Trits,
    left: Trits,
    right: Trits,
}

impl Test {
    /// Counts nothing.
    const NONE: Self = {
        let nowhere = Trits { yes: 0, no: 0 };
        Self { condition: nowhere, left: nowhere, right: nowhere }
    };
}

/// What is counted of a rule.
struct Terms {
    /// Where the rule applies.
    applies: Trits,
    /// Whether it is kept.
    kept: Trits,
    /// The sides whose table gives the lift, where that is not the first test.
    sides: Option<[Trits; 2]>,
    /// As many as its pattern has; the rest counts nothing.
    tests: [Test; 3],
}

/// How many tests a rule must pass.
fn tests_of(shape: Shape) -> usize {
    match shape {
        Shape::Pair(..) | Shape::Iff(_) => 1,
        Shape::Chain(..) | Shape::Both(..) => 2,
        Shape::And(..) | Shape::Or(..) => 3,
    }
}

fn terms(shape: Shape, word: &Word<'_>) -> Terms {
    let literal = |literal| word.get(literal);
    let plain = |concept| word.get(Literal::holds(concept));
    let test = |left, right| Test { condition: Trits::TRUE, left, right };
    match shape {
        Shape::Pair(a, b) => {
            let (a, b) = (plain(a), literal(b));
            Terms { applies: a, kept: b, sides: None, tests: [test(a, b), Test::NONE, Test::NONE] }
        }
        Shape::Iff(pair) => {
            let [a, b] = pair.map(plain);
            let kept = a.implies(b).and(b.implies(a));
            Terms { applies: a.or(b), kept, sides: None, tests: [test(a, b), Test::NONE, Test::NONE] }
        }
        Shape::Chain(a, b, c) => {
            let (a, b, c) = (plain(a), plain(b), literal(c));
            let kept = a.implies(b).and(b.implies(c));
            Terms { applies: a.or(b), kept, sides: None, tests: [test(a, b), test(b, c), Test::NONE] }
        }
        Shape::Both(a, demands) => {
            let (a, [b, c]) = (plain(a), demands.map(literal));
            let tests = [test(a, b), test(a, c), Test::NONE];
            Terms { applies: a, kept: b.and(c), sides: Some([a, b.and(c)]), tests }
        }
        Shape::And(given, c) => {
            let ([a, b], c) = (given.map(plain), literal(c));
            let (without_b, without_a) =
                (Test { condition: a, left: b, right: c }, Test { condition: b, left: a, right: c });
            Terms { applies: a.and(b), kept: c, sides: None, tests: [test(a.and(b), c), without_b, without_a] }
        }
        Shape::Or(a, demands) => {
            let (a, [b, c]) = (plain(a), demands.map(plain));
            let without_c = Test { condition: b.not(), left: a, right: c };
            let without_b = Test { condition: c.not(), left: a, right: b };
            Terms { applies: a, kept: b.or(c), sides: None, tests: [test(a, b.or(c)), without_c, without_b] }
        }
    }
}

/// Sums over words.
#[derive(Default)]
struct Counts {
    support: u64,
    kept: u64,
    sides: Option<Contingency>,
    tests: [Contingency; 3],
}

impl Counts {
    fn add(&mut self, terms: &Terms) {
        let applies = terms.applies.yes;
        self.support += u64::from((applies & (terms.kept.yes | terms.kept.no)).count_ones());
        self.kept += u64::from((applies & terms.kept.yes).count_ones());
        if let Some([left, right]) = terms.sides {
            add(self.sides.get_or_insert_default(), &Test { condition: Trits::TRUE, left, right });
        }
        self.tests.iter_mut().zip(&terms.tests).for_each(|(table, test)| add(table, test));
    }

    fn into_evidence(self, shape: Shape) -> Evidence {
        let lift = match (shape, self.sides) {
            (_, Some(sides)) => sides.lift(),
            (Shape::Chain(..), _) => self.tests[0].lift().zip(self.tests[1].lift()).map(|(one, other)| one.min(other)),
            _ => self.tests[0].lift(),
        };
        Evidence { support: self.support, kept: self.kept, lift, tests: self.tests[..tests_of(shape)].to_vec() }
    }
}

fn add(table: &mut Contingency, test: &Test) {
    let Test { condition, left, right } = test;
    let count = |left: u64, right: u64| u64::from((condition.yes & left & right).count_ones());
    table.both += count(left.yes, right.yes);
    table.left_only += count(left.yes, right.no);
    table.right_only += count(left.no, right.yes);
    table.neither += count(left.no, right.no);
}

/// What fully known labels say about a rule over three concepts, from counts of pairs and of the triple alone: no row is looked
/// at again.
pub(super) fn of_triple(shape: Shape, pairs: &PairCounts, all_three: u64) -> Option<Evidence> {
    // `part[i][j]` etc. would be eight cells; with inclusion and exclusion the counts below give all that is needed.
    let (given, demanded) = match shape {
        Shape::And([a, b], c) => ([a, b], c),
        Shape::Or(a, [b, c]) => ([b, c], Literal::holds(a)),
        _ => return None,
    };
    let ([x, y], z) = (given, demanded.concept);
    let cells = Cells::of(pairs, [x, y, z], all_three);
    Some(match shape {
        Shape::And(_, c) => {
            let negated = c.negated;
            // Rows with x and y against z; then with x alone fixed, y against z; then with y fixed, x against z.
            let main = cells.table(|[x, y, z]| Some((x && y, z != negated)));
            let tests = vec![
                main,
                cells.table(|[x, y, z]| x.then_some((y, z != negated))),
                cells.table(|[x, y, z]| y.then_some((x, z != negated))),
            ];
            Evidence { support: main.left(), kept: main.both, lift: main.lift(), tests }
        }
        _ => {
            let main = cells.table(|[x, y, z]| Some((z, x || y)));
            let tests = vec![
                main,
                cells.table(|[x, y, z]| (!x).then_some((z, y))),
                cells.table(|[x, y, z]| (!y).then_some((z, x))),
            ];
            Evidence { support: main.left(), kept: main.both, lift: main.lift(), tests }
        }
    })
}

/// Rows by the truth of three concepts.
struct Cells([u64; 8]);

impl Cells {
    fn of(pairs: &PairCounts, [x, y, z]: [usize; 3], all: u64) -> Self {
        let (xy, xz, yz) = (pairs.both(x, y) - all, pairs.both(x, z) - all, pairs.both(y, z) - all);
        let (x_only, y_only) = (pairs.ones(x) - all - xy - xz, pairs.ones(y) - all - xy - yz);
        let z_only = pairs.ones(z) - all - xz - yz;
        let none = pairs.rows() - all - xy - xz - yz - x_only - y_only - z_only;
        // The lowest bit of a cell's number is x, the highest z.
        Self([none, x_only, y_only, xy, z_only, xz, yz, all])
    }

    fn table(&self, sides: impl Fn([bool; 3]) -> Option<(bool, bool)>) -> Contingency {
        let mut table = Contingency::default();
        for (cell, rows) in self.0.into_iter().enumerate() {
            match sides([0, 1, 2].map(|bit| cell >> bit & 1 == 1)) {
                Some((true, true)) => table.both += rows,
                Some((true, false)) => table.left_only += rows,
                Some((false, true)) => table.right_only += rows,
                Some((false, false)) => table.neither += rows,
                None => {}
            }
        }
        table
    }
}

#[cfg(test)]
mod tests;
