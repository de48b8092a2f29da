//! Rules over three concepts: `a & b => c`, `a & b => !c` and `a => b | c`. Both come from the same counts: how often three
//! concepts hold together. What counts of pairs rule out is never counted: rows with `a & b` are no more than those with
//! either, and `a => b | c` needs enough rows with `b` and with `c`.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use chimera_logic::bits::words_for;

use super::{Found, Search};
use crate::error::Result;
use crate::mine::candidate::{Best, Candidate};
use crate::mine::evidence::{Evidence, of_triple};
use crate::mine::funnel::Fate;
use crate::mine::popcount::add_common;
use crate::mine::shape::{Literal, Pattern, Shape, sorted};
use crate::parallel::in_parallel;

/// Pairs that are counted against all third concepts at a time.
const BATCH: usize = 8;

/// Candidates that a thread collects before it looks which of them are among the best.
const PENDING: usize = 4096;

/// What one thread has of one kind.
#[derive(Default)]
struct Partial {
    fate: Fate,
    pending: Vec<Candidate>,
    meant: Vec<Shape>,
}

/// What all threads have of one kind.
struct Total {
    fate: Fate,
    best: Best,
    meant: Vec<Shape>,
}

/// Both kinds, in this order: with two conditions, with two choices.
struct Kinds<T> {
    and: T,
    or: T,
}

impl Search<'_> {
    /// All rules over three concepts: with two conditions, and with two choices.
    ///
    /// # Errors
    /// None of its own.
    pub(in crate::mine) fn compounds(
        &self,
        threads: NonZeroUsize,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<[Found; 2]> {
        let limit = self.options.max_candidates;
        let none = || Total { fate: Fate::default(), best: Best::new(limit), meant: Vec::new() };
        let totals = Mutex::new(Kinds { and: none(), or: none() });
        let done = AtomicUsize::new(0);
        let wanted = self.options.wants(Pattern::And) || self.options.wants(Pattern::Or);
        let pieces = if wanted { self.active.len() } else { 0 };
        in_parallel(threads, pieces, |piece| {
            let mut mine = Kinds { and: Partial::default(), or: Partial::default() };
            let flush = |mine: &mut Kinds<Partial>| {
                let mut totals = totals.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let Kinds { and, or } = &mut *totals;
                for (partial, total) in [(&mut mine.and, and), (&mut mine.or, or)] {
                    total.fate.add(std::mem::take(&mut partial.fate));
                    total.best.extend(partial.pending.drain(..));
                    total.meant.append(&mut partial.meant);
                }
            };
            self.starting_at(piece, &mut mine, &flush);
            flush(&mut mine);
            progress(1 + done.fetch_add(1, Ordering::Relaxed), pieces);
            Ok(())
        })?;
        let totals = totals.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok([totals.and, totals.or].map(|Total { mut fate, best, mut meant }| {
            fate.crowded_out = best.dropped;
            meant.sort();
            Found { candidates: best.into_sorted(), meant, fate }
        }))
    }

    /// All triples whose first two concepts are the `piece`th and a later one.
    fn starting_at(&self, piece: usize, mine: &mut Kinds<Partial>, flush: &dyn Fn(&mut Kinds<Partial>)) {
        let first = self.active[piece];
        let jobs: Vec<Job> = self.active[piece + 1..].iter().map(|&second| self.job(first, second, mine)).collect();
        let needed: Vec<&Job> = jobs.iter().filter(|job| job.and || !job.or.is_empty()).collect();
        for batch in needed.chunks(BATCH) {
            let thirds: Vec<usize> = self
                .active
                .iter()
                .copied()
                .filter(|third| batch.iter().any(|job| job.and || job.or.binary_search(third).is_ok()))
                .collect();
            let counts = self.count(batch, &thirds);
            for (at, job) in batch.iter().enumerate() {
                for (place, &third) in thirds.iter().enumerate() {
                    let counts = counts.at(at, place);
                    if job.and && !job.pair.contains(&third) {
                        self.with_two_conditions(job.pair, third, counts, &mut mine.and);
                    }
                    if job.or.binary_search(&third).is_ok() {
                        self.with_two_choices(job.pair, third, counts, &mut mine.or);
                    }
                }
            }
            if mine.and.pending.len() + mine.or.pending.len() > PENDING {
                flush(mine);
            }
        }
    }

    /// What is to be counted for two concepts, by what counts of pairs say; the rest is settled at once.
    fn job(&self, one: usize, other: usize, mine: &mut Kinds<Partial>) -> Job {
        let others = self.active.len() as u64 - 2;
        let and = self.options.wants(Pattern::And) && {
            let fate = &mut mine.and.fate;
            // Each third concept can be demanded or forbidden.
            fate.considered += 2 * others;
            let common = self.pairs.both(one, other) >= self.least;
            fate.rare += if common { 0 } else { 2 * others };
            common
        };
        let mut or = Vec::new();
        if self.options.wants(Pattern::Or) {
            for &given in self.active.iter().filter(|&&given| given != one && given != other) {
                let fate = &mut mine.or.fate;
                fate.considered += 1;
                let together = (self.pairs.both(given, one) + self.pairs.both(given, other)) as f64;
                // Where something is unknown, the rows that count may be fewer than those with the antecedent.
                let rows = if self.pairs.is_complete() { self.pairs.ones(given) } else { self.least };
                if self.pairs.ones(given) < self.least {
                    fate.rare += 1;
                } else if [one, other].iter().any(|&demand| self.pair_is_confident(given, Literal::holds(demand))) {
                    fate.simpler += 1;
                } else if together < self.options.confidence_pos * rows as f64 {
                    fate.broken += 1;
                } else {
                    or.push(given);
                }
            }
        }
        Job { pair: [one, other], and, or }
    }

    /// How often each pair of a batch holds together with each third concept, and what else unknown labels ask for.
    fn count(&self, batch: &[&Job], thirds: &[usize]) -> Counted {
        let (value, words) = (self.labels.value(), words_for(self.labels.rows()));
        let columns: Vec<&[u64]> = thirds.iter().map(|&third| value.column(third)).collect();
        let joined = |join: &dyn Fn([usize; 2], usize) -> u64| -> Vec<Vec<u64>> {
            batch.iter().map(|job| (0..words).map(|word| join(job.pair, word)).collect()).collect()
        };
        let product = |lefts: &[Vec<u64>], rights: &[&[u64]]| {
            let lefts: Vec<&[u64]> = lefts.iter().map(Vec::as_slice).collect();
            let mut counts = vec![0; lefts.len() * rights.len()];
            add_common(&lefts, rights, &mut counts);
            counts
        };
        let both = joined(&|[a, b], word| value.column(a)[word] & value.column(b)[word]);
        let unknown = self.labels.known().map(|known| {
            let seen: Vec<&[u64]> = thirds.iter().map(|&third| known.column(third)).collect();
            let fails = |concept: usize, word: usize| known.column(concept)[word] & !value.column(concept)[word];
            let neither = joined(&|[a, b], word| fails(a, word) & fails(b, word));
            [product(&both, &seen), product(&neither, &columns)]
        });
        Counted { thirds: thirds.len(), all: product(&both, &columns), unknown }
    }

    /// `a & b => c` and `a & b => !c`.
    fn with_two_conditions(&self, pair: [usize; 2], third: usize, counts: Triple, mine: &mut Partial) {
        let support = counts.known.unwrap_or_else(|| self.pairs.both(pair[0], pair[1]));
        for negated in [false, true] {
            let demand = Literal { concept: third, negated };
            let share = counts.all as f64 / support as f64;
            let fits =
                if negated { share <= self.options.confidence_neg } else { share >= self.options.confidence_pos };
            if support < self.least {
                mine.fate.rare += 1;
            } else if !fits {
                mine.fate.broken += 1;
            } else if pair.iter().any(|&given| self.pair_is_confident(given, demand)) {
                mine.fate.simpler += 1;
            } else {
                self.weigh(Shape::And(sorted(pair), demand), counts.all, mine);
            }
        }
    }

    /// `a => b | c`.
    fn with_two_choices(&self, pair: [usize; 2], given: usize, counts: Triple, mine: &mut Partial) {
        let kept = self.pairs.both(given, pair[0]) + self.pairs.both(given, pair[1]) - counts.all;
        let support = counts.neither.map_or_else(|| self.pairs.ones(given), |neither| kept + neither);
        if support < self.least {
            mine.fate.rare += 1;
        } else if (kept as f64 / support as f64) < self.options.confidence_pos {
            mine.fate.broken += 1;
        } else if self.drops_definitions() && self.promises.either(given, pair).is_some() {
            mine.fate.meant += 1;
            mine.meant.push(Shape::Or(given, sorted(pair)));
        } else {
            self.weigh(Shape::Or(given, sorted(pair)), counts.all, mine);
        }
    }

    /// Takes a rule in unless chance would do as well.
    fn weigh(&self, shape: Shape, all_three: u64, mine: &mut Partial) {
        let counted = if self.pairs.is_complete() { of_triple(shape, &self.pairs, all_three) } else { None };
        let evidence = counted.unwrap_or_else(|| Evidence::of(shape, self.labels));
        match evidence.p_below(self.options.fdr) {
            Some(p) => mine.pending.push(Candidate::new(shape, self.options.rank, &evidence, p)),
            None => mine.fate.chance += 1,
        }
    }
}

/// Two concepts and what is asked about them: whether as conditions, and for which antecedents as choices (in ascending order).
struct Job {
    pair: [usize; 2],
    and: bool,
    or: Vec<usize>,
}

/// Counts of a batch of pairs with third concepts.
struct Counted {
    thirds: usize,
    all: Vec<u64>,
    /// Where labels are unknown: rows with the pair on which the third is known, and with the third on which the pair is known
    /// to be absent.
    unknown: Option<[Vec<u64>; 2]>,
}

/// The counts of three concepts.
#[derive(Clone, Copy)]
struct Triple {
    /// Rows with all three.
    all: u64,
    /// Rows with the pair on which the third is known; `None` for all of them.
    known: Option<u64>,
    /// Rows with the third and neither of the pair; `None` for all but those with one of them.
    neither: Option<u64>,
}

impl Counted {
    fn at(&self, pair: usize, third: usize) -> Triple {
        let at = pair * self.thirds + third;
        let unknown = |which: usize| self.unknown.as_ref().map(|unknown| unknown[which][at]);
        Triple { all: self.all[at], known: unknown(0), neither: unknown(1) }
    }
}
