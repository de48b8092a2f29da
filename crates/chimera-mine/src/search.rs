//! The search: all pairs of concepts, then all triples, over the rows that may be searched.

mod choices;
mod compounds;
mod conditions;
mod triples;

use std::num::NonZeroUsize;

use chimera_data::dataset::promises::Promises;
use chimera_data::error::Result;
use chimera_logic::bits::TruthTable;

use self::compounds::EFFORT;
use super::candidate::{Best, Candidate};
use super::evidence::Evidence;
use super::funnel::Fate;
use super::options::{Definitions, MineOptions};
use super::pairs::PairCounts;
use super::shape::{Literal, Pattern, Shape};

/// Candidates of one kind, the best first, and what became of the others.
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    /// Rules that labels can never break, in order.
    pub(super) meant: Vec<Shape>,
    pub(super) fate: Fate,
}

/// What is searched.
pub(super) struct Search<'a> {
    labels: &'a TruthTable,
    options: &'a MineOptions,
    promises: &'a Promises,
    /// Concepts that vary on these rows.
    active: &'a [usize],
    /// Rows that a rule must apply to.
    least: u64,
    pairs: PairCounts,
    /// What rules over three concepts may cost.
    effort: u64,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        labels: &'a TruthTable,
        options: &'a MineOptions,
        promises: &'a Promises,
        active: &'a [usize],
        least: u64,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let pairs = PairCounts::count(labels, active, threads)?;
        Ok(Self { labels, options, promises, active, least, pairs, effort: EFFORT })
    }

    /// Whether a rule over two concepts is confident enough, on however many rows.
    fn pair_is_confident(&self, a: usize, b: Literal) -> bool {
        let (both, left) = (self.pairs.both(a, b.concept), self.pairs.left(a, b.concept));
        let share = both as f64 / left as f64;
        // Without rows the share is no number, and nothing is confident.
        if b.negated { share <= self.options.confidence_neg } else { share >= self.options.confidence_pos }
    }

    fn drops_definitions(&self) -> bool {
        self.options.definitions == Definitions::Drop
    }

    /// Which demands of pairs are needed: `b`, and `!b`.
    fn signs(&self) -> impl Iterator<Item = bool> + use<> {
        let wanted = |patterns: &[Pattern]| patterns.iter().any(|&pattern| self.options.wants(pattern));
        let plain = wanted(&[Pattern::Implies, Pattern::Iff, Pattern::Chain, Pattern::Both]);
        let negated = wanted(&[Pattern::Excludes, Pattern::Chain, Pattern::Both]);
        [(plain, false), (negated, true)].into_iter().filter(|(wanted, _)| *wanted).map(|(_, negated)| negated)
    }

    /// All rules over two concepts.
    pub(super) fn pairs(&self) -> Found {
        let (mut fate, mut best) = (Fate::default(), Best::new(self.options.max_candidates));
        let mut meant = Vec::new();
        for &a in self.active {
            for &b in self.active.iter().filter(|&&b| b != a) {
                for negated in self.signs() {
                    let shape = Shape::Pair(a, Literal { concept: b, negated });
                    match self.pair(shape, a, b, negated, &mut fate) {
                        Verdict::Candidate(candidate) => best.extend([candidate]),
                        Verdict::Meant => meant.push(shape),
                        Verdict::Out => {}
                    }
                }
            }
        }
        fate.crowded_out = best.dropped;
        Found { candidates: best.into_sorted(), meant, fate }
    }

    fn pair(&self, shape: Shape, a: usize, b: usize, negated: bool, fate: &mut Fate) -> Verdict {
        fate.considered += 1;
        if self.pairs.left(a, b) < self.least {
            fate.rare += 1;
            return Verdict::Out;
        }
        if !self.pair_is_confident(a, Literal { concept: b, negated }) {
            fate.broken += 1;
            return Verdict::Out;
        }
        if !negated && self.drops_definitions() && self.promises.get(a, b).is_some() {
            fate.meant += 1;
            return Verdict::Meant;
        }
        let evidence = Evidence::of_pair(self.pairs.table(a, b).negate_right_if(negated));
        match evidence.p_below(self.options.fdr) {
            Some(p) => Verdict::Candidate(Candidate::new(shape, self.options.rank, &evidence, p)),
            None => {
                fate.chance += 1;
                Verdict::Out
            }
        }
    }
}

enum Verdict {
    Candidate(Candidate),
    Meant,
    Out,
}

#[cfg(test)]
mod tests;
