//! What mining gave: the chosen rules, what was left out and why, and how the rules do on rows that had no say.

use std::collections::BTreeMap;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::promises::Promise;
use chimera_data::dataset::rows::Rows;
use chimera_data::split::Split;
use chimera_logic::attributes::{Attributes, Interval};
use chimera_logic::bits::{TruthCounts, TruthTable};
use chimera_logic::dag::{Dag, Edge};
use chimera_logic::truth::Program;
use serde::Serialize;

use super::funnel::Funnel;
use super::record::MiningRecord;
use super::rounding::{down, up};
use super::shape::{Pattern, Shape};

/// A rule that was chosen.
#[derive(Clone, Debug, Serialize)]
pub struct MinedRule {
    /// Its name, unique.
    pub name: String,
    /// What must hold, as rules are written.
    pub formula: String,
    /// What it looks like.
    pub pattern: Pattern,
    /// Train rows that it applies to.
    pub support: u64,
    /// Of these, rows that keep it.
    pub kept: u64,
    /// Their share.
    pub confidence: f64,
    /// The 95 % interval of the share: lower and upper bound.
    pub interval: [f64; 2],
    /// How much more often it is kept than by chance.
    pub lift: Option<f64>,
    /// Probability that chance does as well, adjusted for all tests.
    pub p_adjusted: f64,
    /// Held-out rows that keep it, of those that it applies to.
    pub held_out: Option<[u64; 2]>,
    /// The rule over concepts by number.
    #[serde(skip)]
    pub shape: Shape,
}

impl MinedRule {
    pub(super) fn attributes(&self) -> Attributes {
        Attributes {
            family: Some(self.pattern.family()),
            support: Some(self.support),
            confidence: Some(down(self.confidence)),
            interval: Some(Interval { low: down(self.interval[0]), high: up(self.interval[1]) }),
            ..Attributes::default()
        }
    }
}

/// A rule that was not chosen, and why.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// What it says.
    pub formula: String,
    /// Why it is not among the chosen.
    pub reason: String,
    /// Probability that chance does as well, adjusted for all tests.
    pub p_adjusted: f64,
    /// The rule over concepts by number.
    #[serde(skip)]
    pub shape: Shape,
}

/// A rule that labels can never break.
#[derive(Clone, Debug, Serialize)]
pub struct Meant {
    /// What it says.
    pub formula: String,
    /// Why.
    pub promise: Promise,
    /// The rule over concepts by number.
    #[serde(skip)]
    pub shape: Shape,
}

/// A concept that no rule can be about, since it never varies on the searched rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Constant {
    /// Its name.
    pub concept: String,
    /// What it is there, to stand behind its name.
    pub what: &'static str,
}

/// How a rule does on rows that had no say in choosing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Elsewhere {
    /// Rows that keep it, that break it, and of which that is unknown.
    #[serde(flatten)]
    pub truth: TruthCounts,
}

/// What mining gave.
#[derive(Clone, Debug)]
pub struct Mining {
    /// The chosen rules: by pattern, then in the order of choice.
    pub rules: Vec<MinedRule>,
    /// Rules that labels can never break.
    pub meant: Vec<Meant>,
    /// Rules that passed all tests and were not chosen, with the reason.
    pub skipped: Vec<LeftOut>,
    /// Concepts that no rule can be about.
    pub constant: Vec<Constant>,
    /// What became of all candidates.
    pub funnel: Funnel,
    /// Rows that were searched, and that were held out.
    pub rows: [usize; 2],
    /// The largest p-values that were discoveries: of pairs, and with two conditions, and with two choices.
    pub(super) largest_p: BTreeMap<Kind, f64>,
    /// Whether there may be more rules: the choice ended, since too many candidates follow from others.
    pub gave_up: bool,
    /// Where the rules come from.
    pub record: MiningRecord,
}

/// What is tested together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Pairs,
    And,
    Or,
}

impl Kind {
    /// What a pattern is tested with: those that are made of pairs need no tests of their own.
    pub(super) fn of(pattern: Pattern) -> Self {
        match pattern {
            Pattern::Implies | Pattern::Excludes | Pattern::Iff | Pattern::Chain | Pattern::Both => Self::Pairs,
            Pattern::And => Self::And,
            Pattern::Or => Self::Or,
        }
    }
}

impl Mining {
    /// How the chosen rules do on another split: where rows break a rule, it can be evaluated there. This has no say in what is
    /// chosen; it looks only now.
    #[must_use]
    pub fn elsewhere(&self, dataset: &Dataset) -> Vec<(Split, Vec<Elsewhere>)> {
        let of = |split: Split| match split {
            Split::Test => Some(self.truth_on(dataset, &dataset.test())),
            Split::Oracle => Some(self.truth_on(dataset, &dataset.oracle())),
            Split::Train | Split::Calibration => None,
        };
        let splits = Split::ALL.into_iter().filter_map(|split| Some((split, of(split)?)));
        splits.filter(|(split, _)| dataset.splits().contains(split)).collect()
    }

    fn truth_on<Purpose>(&self, dataset: &Dataset, rows: &Rows<Purpose>) -> Vec<Elsewhere> {
        let labels = dataset.table().labels.select(rows.numbers());
        let mut dag = Dag::new(dataset.table().vocabulary());
        let edges: Vec<Option<Edge>> = self.rules.iter().map(|rule| rule.shape.edge(&mut dag)).collect();
        counted(&dag, &edges, &labels)
    }
}

/// Counts each formula over rows. One that is none is unknown on all of them, so that counts stay with their rules.
fn counted(dag: &Dag, edges: &[Option<Edge>], labels: &TruthTable) -> Vec<Elsewhere> {
    let roots: Vec<Edge> = edges.iter().flatten().copied().collect();
    let truth = Program::compile(dag, &roots).evaluate(labels);
    let mut columns = 0..roots.len();
    let unknown = TruthCounts { holds: 0, fails: 0, unknown: labels.rows() as u64 };
    let of = |edge: &Option<Edge>| {
        let column = edge.and_then(|_| columns.next());
        Elsewhere { truth: column.map_or(unknown, |column| truth.counts(column)) }
    };
    edges.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use chimera_logic::bits::BitTable;
    use chimera_logic::vocabulary::{ConceptId, Vocabulary};

    use super::*;

    #[test]
    fn counts_stay_with_their_rules() {
        let mut dag = Dag::new(Vocabulary::closed(vec!["a".to_owned(), "b".to_owned()], "test"));
        let [a, b] = [0, 1].map(|concept| dag.leaf(ConceptId(concept)));
        // `a` holds on three of four rows, `b` on one.
        let labels = TruthTable::complete(BitTable::from_fn(4, 2, |row, column| row < [3, 1][column]));
        let counts: Vec<[u64; 3]> = counted(&dag, &[Some(a), None, Some(b)], &labels)
            .iter()
            .map(|Elsewhere { truth }| [truth.holds, truth.fails, truth.unknown])
            .collect();
        assert_eq!(counts, [[3, 1, 0], [0, 0, 4], [1, 3, 0]]);
    }
}
