//! What is ordered of a world, and how scenes of all splits are drawn, on all threads, the same whatever their number.

use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::sync::{Mutex, PoisonError};

use chimera_data::error::{Error, Result};
use chimera_data::media::picture::Size;
use chimera_data::parallel::in_parallel;
use chimera_data::seed::stream;

use crate::draw::{Kind, draw, wishes};
use crate::wish::{HouseRules, Wish};

/// More scenes than this fit no disk.
const MOST_SCENES: usize = 1_000_000;

/// Pixels of a side of a picture.
const SIDE: RangeInclusive<usize> = 16..=4096;

/// What is ordered.
#[derive(Clone, Debug)]
pub struct Order {
    /// Width and height of pictures. Whatever they are, the same part of the world is shown.
    pub size: Size,
    /// Scenes to learn from, none of which breaks a rule.
    pub train: usize,
    /// Scenes to test on.
    pub test: usize,
    /// Scenes with violations to learn from, for a supervised oracle.
    pub oracle: usize,
    /// The share of test and oracle scenes that break a rule, each rule in turn.
    pub violations: f64,
    /// How often an object brings its partner along, from 0 to 1.
    pub together: f64,
    /// Seed of everything.
    pub seed: u64,
    /// Threads to work with; scenes do not depend on it.
    pub threads: NonZeroUsize,
}

/// A split, by the name that files have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) name: &'static str,
    pub(crate) scenes: usize,
    /// Whether a share of it breaks rules.
    pub(crate) breaks: bool,
}

impl Order {
    /// Checks every number.
    ///
    /// # Errors
    /// [`Error::Input`] that names it.
    pub(crate) fn check(&self) -> Result<()> {
        if !(0.0..=1.0).contains(&self.together) {
            return Err(Error::input(format!("expected `together` from 0 to 1, got `{}`", self.together), None));
        }
        picture_size(self.size.width(), self.size.height())?;
        if !(0.0..=1.0).contains(&self.violations) {
            let message = format!("expected a share of violations from 0 to 1, got {}", self.violations);
            return Err(Error::input(message, None));
        }
        if let Some(part) = self.parts().into_iter().find(|part| part.scenes > MOST_SCENES) {
            let message = format!("expected at most {MOST_SCENES} scenes of {}, got {}", part.name, part.scenes);
            return Err(Error::input(message, None));
        }
        if self.train == 0 {
            return Err(Error::input("expected scenes to learn from, got none".to_owned(), None));
        }
        Ok(())
    }

    pub(crate) fn parts(&self) -> [Part; 3] {
        [
            Part { name: "train", scenes: self.train, breaks: false },
            Part { name: "test", scenes: self.test, breaks: true },
            Part { name: "oracle", scenes: self.oracle, breaks: true },
        ]
    }

    /// How many of so many test or oracle scenes break a rule.
    #[must_use]
    pub fn broken_of(&self, scenes: usize) -> usize {
        (scenes as f64 * self.violations).round() as usize
    }

    /// All scenes.
    #[must_use]
    pub fn total(&self) -> usize {
        self.train + self.test + self.oracle
    }
}

/// The size of pictures of a world.
///
/// # Errors
/// A side that is too short to show anything, or too long.
pub fn picture_size(width: usize, height: usize) -> Result<Size> {
    if !SIDE.contains(&width) || !SIDE.contains(&height) {
        let (least, most) = (SIDE.start(), SIDE.end());
        let message = format!("expected pictures of {least} to {most} pixels a side, got {width} x {height}");
        return Err(Error::input(message, None));
    }
    Size::new(width, height)
}

/// Draws the scenes of a split and hands each to `keep`, with its number; what that makes of them comes back in order.
pub(crate) fn draw_part<K: Kind, T: Send>(
    (kind, rules): (&K, &HouseRules<K::Concept>),
    order: &Order,
    part: Part,
    keep: impl Fn(usize, &K::Scene) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let broken = if part.breaks { order.broken_of(part.scenes) } else { 0 };
    let purpose = format!("world {}", part.name);
    let wishes = wishes(&mut stream(order.seed, &purpose, u64::MAX), part.scenes, broken, rules)?;
    let slots = |broken: bool| -> Vec<usize> {
        (0..part.scenes).filter(|&slot| (wishes[slot] != Wish::Kept) == broken).collect()
    };
    // What keeps them is drawn first, as in train; what breaks one is as full of bustle.
    let mut bustles: Vec<K::Bustle> = Vec::new();
    let mut kept: Vec<(usize, T)> = Vec::with_capacity(part.scenes);
    for slots in [slots(false), slots(true)] {
        let models = bustles.clone();
        let drawn = in_parallel(order.threads, slots.len(), |piece| {
            let slot = slots[piece];
            let mut random = stream(order.seed, &purpose, slot as u64);
            let like = (!models.is_empty()).then(|| models[piece % models.len()]);
            let scene = draw(kind, rules, &mut random, wishes[slot], like)?;
            Ok((slot, keep(slot, &scene)?, kind.bustle(&scene)))
        })?;
        for (slot, made, bustle) in drawn {
            bustles.push(bustle);
            kept.push((slot, made));
        }
    }
    kept.sort_unstable_by_key(|(slot, _)| *slot);
    Ok(kept.into_iter().map(|(_, made)| made).collect())
}

/// Counts what is done, over all splits.
pub(crate) struct Count<'a> {
    done: Mutex<usize>,
    total: usize,
    tell: &'a (dyn Fn(usize, usize) + Sync),
}

impl<'a> Count<'a> {
    pub(crate) fn new(total: usize, tell: &'a (dyn Fn(usize, usize) + Sync)) -> Self {
        tell(0, total);
        Self { done: Mutex::new(0), total, tell }
    }

    /// One more is done.
    pub(crate) fn add(&self) {
        // Told under the lock: numbers never step back.
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        (self.tell)(*done, self.total);
    }
}
