//! Which frames of a video stand for it. Importers whose labels depend on frames and the decoder that shows them to the
//! encoder must agree, so this is the only place that says it.

use std::num::{NonZeroU64, NonZeroUsize};
use std::ops::RangeInclusive;

use crate::error::{Error, Result};

/// How many frames can be taken of a video.
pub const FRAMES_TAKEN: RangeInclusive<usize> = 1..=1 << 12;

/// What is taken of every medium: so many frames, each of this size. A picture is one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameShape {
    /// Frames (T).
    pub frames: NonZeroUsize,
    /// Rows of pixels.
    pub height: NonZeroUsize,
    /// Pixels a row.
    pub width: NonZeroUsize,
}

impl FrameShape {
    /// A shape of positive numbers whose bytes can be counted.
    ///
    /// # Errors
    /// [`Error::Input`] for a zero or for more bytes than memory can address.
    pub fn new(frames: usize, height: usize, width: usize) -> Result<Self> {
        let bytes = [height, width, 3].into_iter().try_fold(frames, usize::checked_mul);
        let addressable = bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok());
        match (NonZeroUsize::new(frames), NonZeroUsize::new(height), NonZeroUsize::new(width)) {
            (Some(frames), Some(height), Some(width)) if addressable => Ok(Self { frames, height, width }),
            _ => Err(Error::input(
                format!("{frames} frames of {height} x {width} pixels cannot be prepared"),
                Some("frames, height and width are at least 1; the default is 8 frames of 224 x 224".to_owned()),
            )),
        }
    }

    /// Bytes of one frame: height x width x 3.
    #[must_use]
    pub fn frame_bytes(self) -> usize {
        self.height.get() * self.width.get() * 3
    }

    /// Bytes of all frames.
    #[must_use]
    pub fn bytes(self) -> usize {
        self.frames.get() * self.frame_bytes()
    }
}

/// The frame that stands at `position` (from 0) of `wanted`: floor((position + 0.5) available / wanted). The middle of
/// each of `wanted` equal parts; a video shorter than `wanted` repeats frames. A position past the end gives the last
/// frame.
#[must_use]
pub(crate) fn frame_index(position: usize, wanted: NonZeroUsize, available: NonZeroU64) -> u64 {
    // In whole numbers: ((2 position + 1) available) / (2 wanted), exact where floats would round.
    let product = (2 * position as u128 + 1) * u128::from(available.get());
    let index = product / (2 * wanted.get() as u128);
    u64::try_from(index).unwrap_or(u64::MAX).min(available.get() - 1)
}

/// The frames that stand for a video of `available` frames, in order.
///
/// # Errors
/// [`Error::Input`] where there is no frame, or none is wanted.
pub fn frame_indices(available: u64, wanted: usize) -> Result<Vec<u64>> {
    let (Some(frames), Some(parts)) = (NonZeroU64::new(available), NonZeroUsize::new(wanted)) else {
        return Err(Error::input(format!("cannot take {wanted} frames of a video of {available} frames"), None));
    };
    Ok((0..wanted).map(|position| frame_index(position, parts, frames)).collect())
}

/// Whether `kept` frames that were chosen of `all` as [`frame_indices`] does show the same moments as all do when `taken` are
/// taken of them.
#[must_use]
pub fn shows_taken(all: u64, kept: u64, taken: usize) -> bool {
    let parts = usize::try_from(kept).ok().and_then(NonZeroUsize::new);
    let (Some(parts), Some(taken)) = (parts, NonZeroUsize::new(taken)) else { return false };
    let (Some(kept), Some(all)) = (NonZeroU64::new(kept), NonZeroU64::new(all)) else { return false };
    let is_same = |position: usize| {
        let inside = usize::try_from(frame_index(position, taken, kept));
        inside.is_ok_and(|inside| frame_index(inside, parts, all) == frame_index(position, taken, all))
    };
    kept <= all && (0..taken.get()).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_frames_show_the_moments_of_all() {
        let shows =
            |all: u64, taken: usize| (1..=all + 1).filter(|kept| shows_taken(all, *kept, taken)).collect::<Vec<_>>();
        // A middle of 8 parts is a middle of each odd number of parts of a part; of six, the fourth begins there.
        assert_eq!(shows(64, 8), [8, 24, 40, 48, 56, 64]);
        assert_eq!(shows(8, 8), [8]);
        assert!(shows(20, 8).contains(&8) && !shows_taken(20, 10, 8), "10 of 20 show 3 and 7 for 3 and 6");
        assert!(!shows_taken(0, 0, 8) && !shows_taken(8, 0, 8) && !shows_taken(8, 8, 0));
    }

    #[test]
    fn frames_are_the_middles_of_equal_parts() {
        // 128 / 8 = 16 a part, middle at 8.
        assert_eq!(frame_indices(128, 8).unwrap(), [8, 24, 40, 56, 72, 88, 104, 120]);
        // Python: [int((i + 0.5) * 10 / 4) for i in range(4)]
        assert_eq!(frame_indices(10, 4).unwrap(), [1, 3, 6, 8]);
        assert_eq!(frame_indices(7, 1).unwrap(), [3]);
    }

    #[test]
    fn short_videos_repeat_frames() {
        assert_eq!(frame_indices(3, 8).unwrap(), [0, 0, 0, 1, 1, 2, 2, 2]);
        assert_eq!(frame_indices(1, 3).unwrap(), [0, 0, 0]);
        assert_eq!(frame_indices(5, 5).unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn indices_stay_inside_in_order_and_symmetric() {
        for available in 1..60 {
            for wanted in 1..40 {
                let indices = frame_indices(available, wanted).unwrap();
                assert!(indices.is_sorted() && indices.iter().all(|index| *index < available));
                let scalar: Vec<u64> =
                    (0..wanted).map(|i| ((i as f64 + 0.5) * available as f64 / wanted as f64).floor() as u64).collect();
                // Floats agree except where the true value is whole and rounding falls below it.
                for (exact, rounded) in indices.iter().zip(scalar) {
                    assert!(*exact == rounded || *exact == rounded + 1);
                }
            }
        }
        assert_eq!(frame_indices(u64::MAX, 2).unwrap(), [u64::MAX / 4, u64::MAX / 4 * 3 + 2]);
    }

    #[test]
    fn nothing_of_nothing_is_an_error() {
        assert!(frame_indices(0, 8).is_err());
        assert!(frame_indices(8, 0).is_err());
        assert!(FrameShape::new(0, 1, 1).is_err());
        assert!(FrameShape::new(usize::MAX, 2, 1).is_err());
        assert_eq!(FrameShape::new(8, 2, 3).unwrap().bytes(), 144);
    }
}
