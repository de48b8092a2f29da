//! The largest of each two by two results, kept in place of the four: a quarter of the activations to write and to
//! read.
//!
//! At an odd edge the last row or column stands alone. Beside each number goes which of the four it was, so that its
//! gradient finds the way back; of equal ones it is the first.

use chimera_gate::product::LANES;

/// Rows of channels-last pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rows {
    /// Pixels of a row before pooling.
    pub width: usize,
    /// Floats of a pixel.
    pub channels: usize,
}

impl Rows {
    /// Pools `top` and `bottom`, which are the same row at an odd edge.
    pub(super) fn largest(self, top: &[f32], bottom: &[f32], into: &mut [f32], winners: &mut [u8]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[target_feature(enable = "avx2")]
            fn wide(rows: Rows, top: &[f32], bottom: &[f32], into: &mut [f32], winners: &mut [u8]) {
                rows.largest_anywhere(top, bottom, into, winners);
            }
            // SAFETY: the instructions were asked for.
            #[allow(unsafe_code, reason = "the same safe code, compiled for wider registers")]
            return unsafe { wide(self, top, bottom, into, winners) };
        }
        self.largest_anywhere(top, bottom, into, winners);
    }

    #[inline(always)]
    fn largest_anywhere(self, top: &[f32], bottom: &[f32], into: &mut [f32], winners: &mut [u8]) {
        let Self { width, channels } = self;
        let pixels = into.chunks_exact_mut(channels).zip(winners.chunks_exact_mut(channels)).enumerate();
        for (x, (into, winners)) in pixels {
            let (left, right) = (2 * x * channels, (2 * x + 1).min(width - 1) * channels);
            let four = [&top[left..], &top[right..], &bottom[left..], &bottom[right..]].map(|row| &row[..channels]);
            for channel in 0..channels {
                let (mut largest, mut winner) = (four[0][channel], 0);
                for (at, pixels) in (1_u8..).zip(&four[1..]) {
                    let value = pixels[channel];
                    // The first of the largest wins; what is no number wins over all. At an odd edge a pixel meets itself, and
                    // stays the winner.
                    let wins = value > largest || (value.is_nan() && !largest.is_nan());
                    winner = if wins { at } else { winner };
                    largest = if wins { value } else { largest };
                }
                into[channel] = largest;
                winners[channel] = winner;
            }
        }
    }

    /// Hands a pooled row's gradient back to the pixels that won at `place` (0 above, 2 below) or beside it; all other
    /// floats become zero. A pixel takes `step` floats.
    pub(super) fn spread(self, gradient: &[f32], winners: &[u8], place: u8, step: usize, into: &mut [f32]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            #[target_feature(enable = "avx2")]
            fn wide(rows: Rows, gradient: &[f32], winners: &[u8], place: u8, step: usize, into: &mut [f32]) {
                rows.spread_anywhere(gradient, winners, place, step, into);
            }
            // SAFETY: the instructions were asked for.
            #[allow(unsafe_code, reason = "the same safe code, compiled for wider registers")]
            return unsafe { wide(self, gradient, winners, place, step, into) };
        }
        self.spread_anywhere(gradient, winners, place, step, into);
    }

    #[inline(always)]
    fn spread_anywhere(self, gradient: &[f32], winners: &[u8], place: u8, step: usize, into: &mut [f32]) {
        let pooled = gradient.chunks_exact(self.channels).zip(winners.chunks_exact(self.channels));
        for (pair, (gradient, winners)) in into.chunks_mut(2 * step).zip(pooled) {
            for (place, pixel) in (place..).zip(pair.chunks_exact_mut(step)) {
                let (pixel, padding) = pixel.split_at_mut(self.channels);
                padding.fill(0.0);
                // Bundles of a known size and masks in place of branches become vector instructions.
                let (values, last_values) = pixel.as_chunks_mut::<LANES>();
                let (gradients, last_gradients) = gradient.as_chunks::<LANES>();
                let (places, last_places) = winners.as_chunks::<LANES>();
                for ((values, gradients), places) in values.iter_mut().zip(gradients).zip(places) {
                    for lane in 0..LANES {
                        let mask = u32::from(places[lane] == place).wrapping_neg();
                        values[lane] = f32::from_bits(gradients[lane].to_bits() & mask);
                    }
                }
                for ((value, gradient), winner) in last_values.iter_mut().zip(last_gradients).zip(last_places) {
                    *value = if *winner == place { *gradient } else { 0.0 };
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_kept_and_gets_the_gradient() {
        let rows = Rows { width: 3, channels: 1 };
        let (top, bottom) = ([1.0, 5.0, 2.0], [7.0, 7.0, 3.0]);
        let (mut into, mut winners) = ([0.0; 2], [9; 2]);
        rows.largest(&top, &bottom, &mut into, &mut winners);
        // Two sevens: the first of them. The last column is alone, so the second of its pair never wins.
        assert_eq!((into, winners), ([7.0, 3.0], [2, 2]));
        let (mut up, mut down) = ([1.0; 3], [1.0; 3]);
        rows.spread(&[0.5, 0.25], &winners, 0, 1, &mut up);
        rows.spread(&[0.5, 0.25], &winners, 2, 1, &mut down);
        assert_eq!((up, down), ([0.0; 3], [0.5, 0.0, 0.25]));
        rows.largest(&top, &top, &mut into, &mut winners);
        assert_eq!((into, winners), ([5.0, 2.0], [1, 0]));
    }
}
