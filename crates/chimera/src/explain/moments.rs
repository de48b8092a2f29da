//! When a rule is seen to be broken: a video as if it had stopped at each frame, and without each.

use std::num::NonZeroUsize;

use super::evidence::{Broken, Told, ask};
use super::look::Look;
use super::told::WhenTold;
use crate::error::Result;
use crate::score::ready::Ready;

/// What a video says frame by frame.
pub(super) struct Moments {
    now: Told,
    so_far: Told,
    without: Told,
}

impl Moments {
    pub(super) fn of(ready: &Ready<'_>, look: &Look<'_>, threads: NonZeroUsize) -> Result<Self> {
        let count = look.frame_count();
        let so_far: Vec<Vec<usize>> =
            (0..count).map(|last| (0..count).map(|frame| frame.min(last)).collect()).collect();
        let without = |gone: usize| {
            let instead = if gone == 0 { 1 } else { gone - 1 };
            (0..count).map(|frame| if frame == gone { instead } else { frame }).collect()
        };
        let without: Vec<Vec<usize>> = (0..count).map(without).collect();
        let ask = |variants: &[Vec<usize>]| ask(ready, &look.rearranged(variants)?, threads);
        Ok(Self { now: ask(&[(0..count).collect()])?, so_far: ask(&so_far)?, without: ask(&without)? })
    }

    pub(super) fn told(&self, rule: usize) -> WhenTold {
        let of = |told: &Told| told.scores.iter().map(|scores| scores.s[rule].unwrap_or_default()).collect();
        WhenTold { so_far: of(&self.so_far), without: of(&self.without) }
    }

    /// The frames without which a rule is broken least, in their order.
    pub(super) fn busiest(&self, broken: &Broken, count: usize) -> Vec<usize> {
        let mut frames: Vec<(f64, usize)> = broken.lost(&self.now, &self.without).into_iter().zip(0..).collect();
        frames.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut frames: Vec<usize> = frames.into_iter().take(count).map(|(_, frame)| frame).collect();
        frames.sort_unstable();
        frames
    }
}
