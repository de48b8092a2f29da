//! The nearest world in which a formula holds: the cheapest set of concepts to flip, which is also the most probable
//! world.
//!
//! The likeliest world takes each concept as it is more probable. Flipping a concept multiplies a world's probability
//! by the odds against the flip, so the cost of a flip is the logarithm of these odds, `|ln(p / (1 - p))|`: the
//! cheapest repair and the most probable world in which the formula holds are one problem, solved by one pass over the
//! decisions.

use crate::bdd::count::{Circuit, FALSE, TRUE, Target};
use crate::prob::Probabilities;
use crate::vocabulary::ConceptId;

/// The cost of flipping a concept whose probability is exactly 0 or 1. Finite, so that hard labels can be repaired
/// (then the repair with the fewest flips wins), and dearer than flipping a thousand concepts of any other probability,
/// which cost at most 745 each.
pub const CERTAIN_COST: f64 = 1e6;

/// Costs are compared as multiples of this, so that their sums do not depend on the order of adding and ties are ties.
const COST_UNIT: f64 = 1.0 / (1_u64 << 40) as f64;

/// The cost of taking a concept against its probability: `|ln(p / (1 - p))|`, and [`CERTAIN_COST`] for 0 and 1.
#[must_use]
pub fn flip_cost(p: f64) -> f64 {
    let odds = p.ln() - (-p).ln_1p();
    if odds.is_finite() { odds.abs() } else { CERTAIN_COST }
}

/// The value that a concept has before any repair.
#[must_use]
pub fn likelier_value(p: f64) -> bool {
    p >= 0.5
}

/// One concept to change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flip {
    /// The concept.
    pub concept: ConceptId,
    /// Its new value.
    pub value: bool,
    /// What the flip costs.
    pub cost: f64,
}

/// The cheapest way to make a formula hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The concepts to change, in the order of the vocabulary; none where the formula holds already.
    pub flips: Vec<Flip>,
    /// The sum of their costs.
    pub cost: f64,
}

/// The most probable world in which a formula holds.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// The concepts on which the formula depends, in the order of the vocabulary, with their values. All other concepts
    /// take their likelier value.
    pub values: Vec<(ConceptId, bool)>,
    /// Natural logarithm of the probability of these values together; minus infinity for a world that cannot be.
    pub log_probability: f64,
}

/// The best way from a decision to true: fewest cost units, then fewest flips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Price {
    units: u128,
    flips: usize,
}

/// The chosen branch of each decision, with its price; `None` where true cannot be reached.
struct Choices<'a> {
    circuit: &'a Circuit,
    probabilities: &'a Probabilities<'a>,
    row: usize,
    best: Vec<Option<(Price, bool)>>,
}

impl Circuit {
    /// The cheapest set of flips that makes a function hold on a row, starting from [`likelier_value`]; `None` if it
    /// never holds. Of equally cheap sets, one with the fewest flips; of these, the first in the order of the
    /// vocabulary.
    ///
    /// # Panics
    ///
    /// If there is no such function or row, or the table lacks the column of a concept.
    #[must_use]
    pub fn repair(&self, function: usize, probabilities: &Probabilities<'_>, row: usize) -> Option<Repair> {
        let root = self.roots[function];
        let choices = Choices::make(self, root, probabilities, row)?;
        let flip = |(concept, value)| Flip { concept, value, cost: flip_cost(probabilities.get(row, concept)) };
        let flips: Vec<Flip> = choices.flips(root).into_iter().map(flip).collect();
        Some(Repair { cost: flips.iter().map(|flip| flip.cost).sum(), flips })
    }

    /// The most probable world in which a function holds on a row; `None` if it never holds. Ties as in
    /// [`repair`](Self::repair).
    ///
    /// # Panics
    ///
    /// If there is no such function or row, or the table lacks the column of a concept.
    #[must_use]
    pub fn most_probable(&self, function: usize, probabilities: &Probabilities<'_>, row: usize) -> Option<World> {
        let root = self.roots[function];
        let choices = Choices::make(self, root, probabilities, row)?;
        let flips = choices.flips(root);
        let mut concepts: Vec<ConceptId> = self.reachable(root).map(|at| self.decisions[at].concept).collect();
        concepts.sort_unstable();
        concepts.dedup();
        let value = |concept| {
            let flipped = flips.binary_search_by_key(&concept, |&(concept, _)| concept).is_ok();
            (concept, likelier_value(probabilities.get(row, concept)) != flipped)
        };
        let values: Vec<_> = concepts.into_iter().map(value).collect();
        let log = |&(concept, value): &(ConceptId, bool)| {
            let p = probabilities.get(row, concept);
            if value { p.ln() } else { (-p).ln_1p() }
        };
        Some(World { log_probability: values.iter().map(log).sum(), values })
    }

    /// The decisions under a root, children first.
    fn reachable(&self, root: Target) -> impl Iterator<Item = usize> + use<> {
        let mut needed = vec![false; root + 1];
        needed[root] = true;
        for target in (TRUE + 1..=root).rev().filter(|_| root > TRUE) {
            if needed[target] {
                let decision = self.decisions[target - TRUE - 1];
                needed[decision.low] = true;
                needed[decision.high] = true;
            }
        }
        (TRUE + 1..root + 1).filter(move |&target| needed[target]).map(|target| target - TRUE - 1)
    }
}

impl<'a> Choices<'a> {
    fn make(circuit: &'a Circuit, root: Target, probabilities: &'a Probabilities<'a>, row: usize) -> Option<Self> {
        let mut best = vec![None; root.max(TRUE) + 1];
        best[TRUE] = Some((Price { units: 0, flips: 0 }, true));
        let mut choices = Self { circuit, probabilities, row, best };
        for at in circuit.reachable(root) {
            choices.best[at + TRUE + 1] = choices.choose(at);
        }
        (root != FALSE).then_some(choices)
    }

    fn choose(&self, at: usize) -> Option<(Price, bool)> {
        let decision = self.circuit.decisions[at];
        let p = self.probabilities.get(self.row, decision.concept);
        let price = |value: bool| {
            let (below, _) = self.best[if value { decision.high } else { decision.low }]?;
            let flipped = value != likelier_value(p);
            let units = if flipped { (flip_cost(p) / COST_UNIT).round() as u128 } else { 0 };
            Some(Price { units: below.units + units, flips: below.flips + usize::from(flipped) })
        };
        match (price(false), price(true)) {
            (Some(low), Some(high)) if low == high => {
                // The smaller of two sets of flips of one size stays the smaller when both grow by the same flips
                // above, so the choice can be made here.
                let with = |value| {
                    let mut flips = self.flips(if value { decision.high } else { decision.low });
                    if value != likelier_value(p) {
                        flips.push((decision.concept, value));
                        flips.sort_unstable();
                    }
                    flips.into_iter().map(|(concept, _)| concept).collect::<Vec<_>>()
                };
                Some((low, with(true) < with(false)))
            }
            (Some(low), Some(high)) => Some(if low < high { (low, false) } else { (high, true) }),
            (low, high) => low.map(|price| (price, false)).or(high.map(|price| (price, true))),
        }
    }

    /// The flips on the best way from a target to true, in the order of the vocabulary.
    fn flips(&self, mut target: Target) -> Vec<(ConceptId, bool)> {
        let mut flips = Vec::new();
        while let (Some(at), Some((_, value))) = (target.checked_sub(TRUE + 1), self.best[target]) {
            let decision = self.circuit.decisions[at];
            if value != likelier_value(self.probabilities.get(self.row, decision.concept)) {
                flips.push((decision.concept, value));
            }
            target = if value { decision.high } else { decision.low };
        }
        flips.sort_unstable();
        flips
    }
}
