//! Rules over three concepts, on all threads, in bounded time: each concept has the same share of the effort, whatever the
//! threads, and what is left when it is spent is counted, not looked at.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use chimera_data::error::Result;
use chimera_data::parallel::in_parallel;

use super::{Found, Search};
use crate::candidate::{Best, Candidate};
use crate::evidence::{Evidence, of_triple};
use crate::funnel::Fate;
use crate::shape::{Pattern, Shape};

/// All effort, in words of 64 rows that are counted: at most some ten minutes of one core.
pub(super) const EFFORT: u64 = 1 << 40;

/// What it takes to look at a triple, beside counting it, and to hold a candidate against chance.
const LOOK: u64 = 32;
const WEIGH: u64 = 1 << 13;

/// Pairs that are counted against all third concepts at a time.
pub(super) const BATCH: usize = 8;

/// Candidates that a thread collects before it looks which of them are among the best.
const PENDING: usize = 4096;

/// What one thread has of one kind, and what it may still spend.
pub(super) struct Partial<'a> {
    pub(super) fate: Fate,
    pub(super) meant: Vec<Shape>,
    pending: Vec<Candidate>,
    left: u64,
    total: &'a Mutex<Total>,
}

/// What all threads have of one kind.
struct Total {
    fate: Fate,
    best: Best,
    meant: Vec<Shape>,
}

impl<'a> Partial<'a> {
    fn new(left: u64, total: &'a Mutex<Total>) -> Self {
        Self { fate: Fate::default(), meant: Vec::new(), pending: Vec::new(), left, total }
    }

    /// Whether there is effort left to look at more.
    pub(super) fn goes_on(&self) -> bool {
        self.left > 0
    }

    /// Counting so many triples took so many words each.
    pub(super) fn spend(&mut self, triples: usize, words: usize) {
        self.left = self.left.saturating_sub(triples as u64 * (words as u64 + LOOK));
    }

    /// Hands over what was collected, where that is much.
    pub(super) fn flush_if_full(&mut self) {
        if self.pending.len() > PENDING {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let mut total = self.total.lock().unwrap_or_else(PoisonError::into_inner);
        total.fate.add(std::mem::take(&mut self.fate));
        total.best.extend(self.pending.drain(..));
        total.meant.append(&mut self.meant);
    }
}

impl Search<'_> {
    /// All rules over three concepts: with two conditions, and with two choices.
    ///
    /// # Errors
    /// None of its own.
    pub(crate) fn compounds(
        &self,
        threads: NonZeroUsize,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<[Found; 2]> {
        let limit = self.options.max_candidates;
        let none = || Mutex::new(Total { fate: Fate::default(), best: Best::new(limit), meant: Vec::new() });
        let (and, or, done) = (none(), none(), AtomicUsize::new(0));
        let wanted = [Pattern::And, Pattern::Or].map(|pattern| self.options.wants(pattern));
        let kinds = wanted.into_iter().filter(|wanted| *wanted).count();
        let pieces = if kinds > 0 { self.active.len() } else { 0 };
        let share = self.effort / (pieces * kinds).max(1) as u64;
        in_parallel(threads, pieces, |piece| {
            let mut mine = [&and, &or].map(|total| Partial::new(share, total));
            let [with_conditions, with_choices] = &mut mine;
            if wanted[0] {
                self.with_two_conditions(piece, with_conditions);
            }
            if wanted[1] {
                self.with_two_choices(piece, with_choices);
            }
            mine.iter_mut().for_each(Partial::flush);
            progress(1 + done.fetch_add(1, Ordering::Relaxed), pieces);
            Ok(())
        })?;
        Ok([and, or].map(|total| {
            let Total { mut fate, best, mut meant } = total.into_inner().unwrap_or_else(PoisonError::into_inner);
            fate.crowded_out = best.dropped;
            meant.sort();
            Found { candidates: best.into_sorted(), meant, fate }
        }))
    }

    /// Takes a rule in unless chance would do as well.
    pub(super) fn weigh(&self, shape: Shape, all_three: u64, mine: &mut Partial<'_>) {
        let counted = if self.pairs.is_complete() { of_triple(shape, &self.pairs, all_three) } else { None };
        let evidence = counted.unwrap_or_else(|| Evidence::of(shape, self.labels));
        mine.left = mine.left.saturating_sub(WEIGH);
        match evidence.p_below(self.options.fdr) {
            Some(p) => mine.pending.push(Candidate::new(shape, self.options.rank, &evidence, p)),
            None => mine.fate.chance += 1,
        }
    }
}
