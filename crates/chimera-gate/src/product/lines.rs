//! Floats that begin where a line of the cache begins: a bundle of lanes is then one line, never halves of two.

#![allow(unsafe_code, reason = "lines of floats are seen as floats")]

use std::ops::{Deref, DerefMut};

use super::lanes::LANES;

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

/// Whole lines of [`LANES`] floats.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lines(Vec<Line>);

impl Lines {
    /// So many floats, all zero, rounded up to whole lines.
    pub(crate) fn zeros(count: usize) -> Self {
        Self(vec![Line([0.0; LANES]); count.div_ceil(LANES)])
    }

    /// Puts numbers behind those that are there, filled up with zeros to whole lines.
    pub(crate) fn extend(&mut self, numbers: &[f32]) {
        self.0.extend(numbers.chunks(LANES).map(|numbers| {
            let mut line = Line([0.0; LANES]);
            line.0[..numbers.len()].copy_from_slice(numbers);
            line
        }));
    }
}

impl Deref for Lines {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        // SAFETY: a line is its floats and nothing else, and lines lie one after the other.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * LANES) }
    }
}

impl DerefMut for Lines {
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * LANES) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_begin_with_a_line() {
        for count in [1, 16, 17, 100_000] {
            let mut lines = Lines::zeros(count);
            assert_eq!(lines.len(), count.next_multiple_of(LANES));
            assert_eq!(lines.as_ptr().align_offset(64), 0);
            lines[count - 1] = 1.0;
            lines.extend(&[2.0; 17]);
            assert_eq!(lines.len(), count.next_multiple_of(LANES) + 2 * LANES);
            assert_eq!(lines.clone().iter().sum::<f32>(), 35.0);
        }
    }
}
