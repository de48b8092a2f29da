//! Rules with two conditions: `a & b => c` and `a & b => !c`. Each pair of concepts that goes together often enough is counted
//! against all others, the most common pairs first.

use std::cmp::Reverse;

use super::Search;
use super::compounds::{BATCH, Partial};
use crate::shape::{Literal, Shape, sorted};

impl Search<'_> {
    /// Those whose conditions are the `piece`th concept and one of the half of all concepts that follows it in a circle, so that
    /// each pair has its turn once.
    pub(super) fn with_two_conditions(&self, piece: usize, mine: &mut Partial<'_>) {
        let (count, first) = (self.active.len(), self.active[piece]);
        // Each third concept can be demanded or forbidden.
        let each = 2 * (count as u64 - 2);
        let opposite = |step: usize| 2 * step == count && piece >= step;
        let partners = (1..=count / 2).filter(|&step| !opposite(step)).map(|step| self.active[(piece + step) % count]);
        let mut pairs = Vec::new();
        for second in partners {
            mine.fate.considered += each;
            match self.pairs.both(first, second) {
                both if both < self.least => mine.fate.rare += each,
                both => pairs.push((Reverse(both), sorted([first, second]))),
            }
        }
        pairs.sort_unstable();
        for batch in pairs.chunks(BATCH) {
            if !mine.goes_on() {
                mine.fate.unsearched += each * batch.len() as u64;
                continue;
            }
            let batch: Vec<[usize; 2]> = batch.iter().map(|&(_, pair)| pair).collect();
            let all = self.with_all(&batch, self.active);
            let known = self.with_known(&batch, self.active);
            mine.spend(batch.len() * count, self.words());
            for (at, &pair) in batch.iter().enumerate() {
                for (place, &third) in self.active.iter().enumerate().filter(|(_, third)| !pair.contains(third)) {
                    let known = known.as_ref().map(|known| known.at(at, place));
                    self.demanding(pair, third, all.at(at, place), known, mine);
                }
            }
            mine.flush_if_full();
        }
    }

    /// A third concept demanded, and forbidden. `all` rows have all three; on `known` rows with the pair the third is known, or on
    /// all of them.
    fn demanding(&self, pair: [usize; 2], third: usize, all: u64, known: Option<u64>, mine: &mut Partial<'_>) {
        let support = known.unwrap_or_else(|| self.pairs.both(pair[0], pair[1]));
        for negated in [false, true] {
            let demand = Literal { concept: third, negated };
            let share = all as f64 / support as f64;
            let fits =
                if negated { share <= self.options.confidence_neg } else { share >= self.options.confidence_pos };
            if support < self.least {
                mine.fate.rare += 1;
            } else if !fits {
                mine.fate.broken += 1;
            } else if pair.iter().any(|&given| self.pair_is_confident(given, demand)) {
                mine.fate.simpler += 1;
            } else {
                self.weigh(Shape::And(pair, demand), all, mine);
            }
        }
    }
}
