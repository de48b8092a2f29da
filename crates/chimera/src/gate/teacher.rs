//! Teaching gates that do not need each other, side by side, each on one thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chimera_gate::gate::Gate;
use chimera_gate::train::Recipe;

use super::report::{Counts, Origin};
use super::shelf::{Got, Shelf};
use super::stage::{GateEvent, Place};
use crate::error::Result;
use crate::parallel::in_parallel;

/// Teaches what shelves do not have.
pub(crate) struct Teacher<'a> {
    shelf: Shelf<'a>,
    place: Place<'a>,
    events: &'a (dyn Fn(GateEvent<'_>) + Sync),
}

/// Told after each step, and when a gate needs none.
pub(crate) struct Ticks<'a> {
    pub(crate) step: &'a (dyn Fn() + Sync),
    pub(crate) untaught: &'a (dyn Fn() + Sync),
}

/// A gate, or why there is none.
pub(crate) type Answer = std::result::Result<Arc<Gate>, String>;

impl<'a> Teacher<'a> {
    pub(crate) fn new(place: Place<'a>, events: &'a (dyn Fn(GateEvent<'_>) + Sync)) -> Self {
        Self { shelf: Shelf::new(place, events), place, events }
    }

    /// Gets `count` gates of so many steps each.
    pub(crate) fn all(
        &self,
        count: usize,
        steps: usize,
        get: impl Fn(usize, &Shelf<'_>, &Ticks<'_>) -> Result<std::result::Result<Got, String>> + Sync,
    ) -> Result<(Vec<Answer>, Counts)> {
        let (done, total) = (AtomicUsize::new(0), AtomicUsize::new(count * steps));
        let step = || {
            let (done, total) = (done.fetch_add(1, Ordering::Relaxed) + 1, total.load(Ordering::Relaxed));
            (self.events)(GateEvent::Steps { done: done.min(total), total });
        };
        let untaught = || {
            total.fetch_sub(steps, Ordering::Relaxed);
        };
        let ticks = Ticks { step: &step, untaught: &untaught };
        let results = in_parallel(self.place.threads, count, |at| get(at, &self.shelf, &ticks))?;
        let mut counts = Counts::default();
        let answers = results.into_iter().map(|result| {
            match &result {
                Ok(Got { origin: Origin::Cached, .. }) => counts.cached += 1,
                Ok(got) => {
                    counts.trained += 1;
                    counts.replaced += usize::from(got.origin == Origin::Replaced);
                }
                Err(_) => counts.skipped += 1,
            }
            result.map(|got| got.gate)
        });
        Ok((answers.collect(), counts))
    }
}

/// Steps of a gate over so many rows.
pub(crate) fn steps(recipe: &Recipe, rows: usize) -> usize {
    recipe.epochs * rows.div_ceil(recipe.batch)
}
