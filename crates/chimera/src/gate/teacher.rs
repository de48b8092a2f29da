//! Teaching gates that do not need each other, side by side.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chimera_data::error::Result;
use chimera_gate::cone::Features;
use chimera_gate::gate::Gate;
use chimera_gate::train::{Problem, Recipe};

use super::material::{GateEvent, Place};
use super::report::{Counts, Origin};
use super::shelf::{Got, Shelf, Ticks, Wanted};

/// Teaches what shelves do not have.
pub(crate) struct Teacher<'a> {
    shelf: Shelf<'a>,
    events: &'a (dyn Fn(GateEvent<'_>) + Sync),
}

/// A gate, or why there is none.
pub(crate) type Answer = std::result::Result<Arc<Gate>, Problem>;

/// Counts steps of many gates, and tells who shows them.
pub(crate) struct StepProgress<'a> {
    done: AtomicUsize,
    total: AtomicUsize,
    steps: usize,
    events: &'a (dyn Fn(GateEvent<'_>) + Sync),
}

impl<'a> StepProgress<'a> {
    /// For so many gates of so many steps each.
    pub(crate) fn new(gates: usize, steps: usize, events: &'a (dyn Fn(GateEvent<'_>) + Sync)) -> Self {
        Self { done: AtomicUsize::new(0), total: AtomicUsize::new(gates * steps), steps, events }
    }

    /// So many steps are done.
    pub(crate) fn done(&self, by: usize) {
        let (done, total) = (self.done.fetch_add(by, Ordering::Relaxed) + by, self.total.load(Ordering::Relaxed));
        (self.events)(GateEvent::Steps { done: done.min(total), total });
    }

    /// A gate needs no steps.
    pub(crate) fn untaught(&self) {
        self.total.fetch_sub(self.steps, Ordering::Relaxed);
    }
}

impl<'a> Teacher<'a> {
    pub(crate) fn new(place: Place<'a>, events: &'a (dyn Fn(GateEvent<'_>) + Sync)) -> Self {
        Self { shelf: Shelf::new(place, events), events }
    }

    /// Gets gates of so many steps each.
    pub(crate) fn all<F: Features>(&self, wanted: &[Wanted<'_, F>], steps: usize) -> Result<(Vec<Answer>, Counts)> {
        let progress = StepProgress::new(wanted.len(), steps, self.events);
        let ticks = Ticks { steps: &|by| progress.done(by), untaught: &|| progress.untaught() };
        let results = self.shelf.get(wanted, &ticks)?;
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
