//! Rules with two choices: `a => b | c`. Choices are sorted by how often they go with `a`: those that can be enough together are
//! then neighbours, and pairs that cannot are counted without being looked at.

use std::cmp::Reverse;

use super::Search;
use super::compounds::{BATCH, Partial};
use crate::shape::{Literal, Shape, sorted};

/// Ways to choose two of so many.
fn twos(of: usize) -> u64 {
    of as u64 * (of as u64).saturating_sub(1) / 2
}

impl Search<'_> {
    /// Those whose antecedent is the `piece`th concept.
    pub(super) fn with_two_choices(&self, piece: usize, mine: &mut Partial<'_>) {
        let given = self.active[piece];
        let all = twos(self.active.len() - 1);
        mine.fate.considered += all;
        if self.pairs.ones(given) < self.least {
            mine.fate.rare += all;
            return;
        }
        // Choices that are not enough alone, the most common first.
        let mut open: Vec<(Reverse<u64>, usize)> = self
            .active
            .iter()
            .filter(|&&choice| choice != given && !self.pair_is_confident(given, Literal::holds(choice)))
            .map(|&choice| (Reverse(self.pairs.both(given, choice)), choice))
            .collect();
        open.sort_unstable();
        mine.fate.simpler += all - twos(open.len());
        // Where something is unknown, the rows that count may be fewer than those with the antecedent.
        let rows = if self.pairs.is_complete() { self.pairs.ones(given) } else { self.least };
        let needed = self.options.confidence_pos * rows as f64;
        // The end of the choices that can be enough with one of them: the rarer that is, the fewer.
        let end = |one: usize| {
            let Reverse(both) = open[one].0;
            open.partition_point(|(Reverse(other), _)| (both + other) as f64 >= needed).max(one + 1)
        };
        let ends: Vec<usize> = (0..open.len()).map(end).collect();
        let concepts: Vec<usize> = open.iter().map(|&(_, choice)| choice).collect();
        for start in (0..open.len()).step_by(BATCH) {
            let batch = start..open.len().min(start + BATCH);
            let looked_at: usize = batch.clone().map(|one| ends[one] - one - 1).sum();
            let others: usize = batch.clone().map(|one| open.len() - one - 1).sum();
            mine.fate.broken += (others - looked_at) as u64;
            if looked_at == 0 {
                continue;
            }
            if !mine.goes_on() {
                mine.fate.unsearched += looked_at as u64;
                continue;
            }
            let pairs: Vec<[usize; 2]> = batch.clone().map(|one| [given, concepts[one]]).collect();
            let thirds = &concepts[start + 1..ends[start]];
            let all = self.with_all(&pairs, thirds);
            let neither = self.with_first_alone(&pairs, thirds);
            mine.spend(pairs.len() * thirds.len(), self.words());
            for (at, one) in batch.enumerate() {
                for other in one + 1..ends[one] {
                    let place = other - start - 1;
                    let neither = neither.as_ref().map(|neither| neither.at(at, place));
                    self.demanding_either(given, [concepts[one], concepts[other]], all.at(at, place), neither, mine);
                }
            }
            mine.flush_if_full();
        }
    }

    /// One of two concepts demanded. `all` rows have all three; `neither` are known to have the antecedent alone, or all that have
    /// neither choice.
    fn demanding_either(
        &self,
        given: usize,
        choices: [usize; 2],
        all: u64,
        neither: Option<u64>,
        mine: &mut Partial<'_>,
    ) {
        let kept = self.pairs.both(given, choices[0]) + self.pairs.both(given, choices[1]) - all;
        let support = neither.map_or_else(|| self.pairs.ones(given), |neither| kept + neither);
        let shape = Shape::Or(given, sorted(choices));
        if support < self.least {
            mine.fate.rare += 1;
        } else if (kept as f64 / support as f64) < self.options.confidence_pos {
            mine.fate.broken += 1;
        } else if self.drops_definitions() && self.promises.either(given, choices).is_some() {
            mine.fate.meant += 1;
            mine.meant.push(shape);
        } else {
            self.weigh(shape, all, mine);
        }
    }
}
