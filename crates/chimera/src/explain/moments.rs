//! When a rule is seen to be broken: a video as if it had stopped at each frame, and without each.

use std::num::NonZeroUsize;

use chimera_data::error::Result;
use chimera_leaf::look::{Encoded, Look};

use super::evidence::{Broken, seen};
use super::told::WhenTold;
use crate::score::ready::Ready;
use crate::score::samples::SampleScores;

/// What a video says frame by frame.
pub(super) struct Moments {
    /// Scores up to each frame, and without each.
    so_far: Vec<SampleScores>,
    without: Vec<SampleScores>,
    /// What is seen of concepts, in calibrated logits: in all frames, and without each.
    seen: Vec<f64>,
    seen_without: Vec<Vec<f64>>,
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
        let without = look.rearranged(&without)?;
        let calibration = &ready.engine().model.calibration;
        Ok(Self {
            so_far: scores(ready, &look.rearranged(&so_far)?, threads)?,
            seen: seen(calibration, &look.as_it_is()?).concat(),
            seen_without: seen(calibration, &without),
            without: scores(ready, &without, threads)?,
        })
    }

    pub(super) fn told(&self, rule: usize) -> WhenTold {
        let of = |scores: &[SampleScores]| scores.iter().map(|scores| scores.s[rule]).collect();
        WhenTold { so_far: of(&self.so_far), without: of(&self.without) }
    }

    /// The frames without which least is seen of what breaks a rule, in their order.
    pub(super) fn busiest(&self, broken: &Broken, count: usize) -> Vec<usize> {
        let mut frames: Vec<(f64, usize)> = broken.lost(&self.seen, &self.seen_without).into_iter().zip(0..).collect();
        frames.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut frames: Vec<usize> = frames.into_iter().take(count).map(|(_, frame)| frame).collect();
        frames.sort_unstable();
        frames
    }
}

/// Scores of variants.
pub(super) fn scores(ready: &Ready<'_>, encoded: &Encoded, threads: NonZeroUsize) -> Result<Vec<SampleScores>> {
    let mut scores = Vec::new();
    ready.score(encoded, threads, &mut |_, of| {
        scores.push(of);
        Ok(())
    })?;
    Ok(scores)
}
