//! A rule that may be chosen, what it is ranked by, and a list that keeps the best of any number of them.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::evidence::Evidence;
use super::options::Rank;
use super::shape::Shape;
use super::stats::clopper_pearson;

/// A rule with what speaks for it on the rows that were searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) shape: Shape,
    /// Rows that it applies to.
    pub(super) support: u64,
    /// What it is ranked by, more is better.
    pub(super) score: f64,
    /// Probability that chance does as well.
    pub(super) p: f64,
    /// The same with all other tests taken into account.
    pub(super) adjusted: f64,
}

/// What a rule is ranked by.
pub(super) fn score(rank: Rank, evidence: &Evidence) -> f64 {
    match rank {
        Rank::Bound => clopper_pearson(evidence.kept, evidence.support).low,
        Rank::Lift => evidence.lift.unwrap_or(0.0),
    }
}

impl Candidate {
    pub(super) fn new(shape: Shape, rank: Rank, evidence: &Evidence, p: f64) -> Self {
        Self { shape, support: evidence.support, score: score(rank, evidence), p, adjusted: 1.0 }
    }

    /// The better one first; of equals the one that is the less likely by chance. The rest is told apart by concepts, so that the
    /// order never depends on threads.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let better = other.score.total_cmp(&self.score).then(other.support.cmp(&self.support));
        better.then(self.p.total_cmp(&other.p)).then(self.shape.cmp(&other.shape))
    }
}

/// A candidate in a heap: the worst is the greatest.
struct Ranked(Candidate);

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.order(&other.0)
    }
}

/// The best of any number of candidates, whatever the order in which they come.
pub(super) struct Best {
    limit: usize,
    heap: BinaryHeap<Ranked>,
    /// Candidates for which there was no room.
    pub(super) dropped: u64,
}

impl Best {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new(), dropped: 0 }
    }

    pub(super) fn extend(&mut self, candidates: impl IntoIterator<Item = Candidate>) {
        for candidate in candidates {
            self.heap.push(Ranked(candidate));
            if self.heap.len() > self.limit {
                self.heap.pop();
                self.dropped += 1;
            }
        }
    }

    /// The best first.
    pub(super) fn into_sorted(self) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = self.heap.into_iter().map(|ranked| ranked.0).collect();
        candidates.sort_by(Candidate::order);
        candidates
    }
}

/// Sorts by rank, for lists that are at hand.
pub(super) fn sort(candidates: &mut [Candidate]) {
    candidates.sort_by(Candidate::order);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Literal;

    #[test]
    fn the_best_are_kept_whatever_their_order() {
        let mut random = fastrand::Rng::with_seed(2);
        let candidate = |random: &mut fastrand::Rng| Candidate {
            shape: Shape::Pair(random.usize(..5), Literal::holds(random.usize(5..9))),
            support: random.u64(..3),
            score: f64::from(random.u8(..4)),
            p: f64::from(random.u8(..3)),
            adjusted: 1.0,
        };
        for limit in [1, 7, 1000] {
            let mut all: Vec<Candidate> = (0..200).map(|_| candidate(&mut random)).collect();
            let mut expected = all.clone();
            sort(&mut expected);
            expected.truncate(limit);
            for _ in 0..3 {
                random.shuffle(&mut all);
                let mut best = Best::new(limit);
                all.chunks(30).for_each(|piece| best.extend(piece.iter().copied()));
                assert_eq!(best.dropped, 200_u64.saturating_sub(limit as u64));
                assert_eq!(best.into_sorted(), expected);
            }
        }
    }
}
