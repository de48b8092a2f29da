//! The largest of three by three pixels, every second one down and across, with a border that never wins.

use chimera_gate::product::widest;
use rayon::prelude::*;

/// Windows over maps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Windows {
    samples: usize,
    size: [usize; 2],
    channels: usize,
}

impl Windows {
    pub(super) fn over([samples, height, width, channels]: [usize; 4]) -> Self {
        Self { samples, size: [height, width], channels }
    }

    fn count(&self) -> [usize; 2] {
        self.size.map(|size| size.div_ceil(2))
    }

    pub(super) fn result_shape(&self) -> [usize; 4] {
        let [height, width] = self.count();
        [self.samples, height, width, self.channels]
    }

    /// The largest of each window, and which of nine it was: of equal ones the first.
    pub(super) fn largest(&self, maps: &[f32]) -> (Vec<f32>, Vec<u8>) {
        let (count, channels) = (self.result_shape().iter().product(), self.channels);
        let [height, width] = self.count();
        let (mut values, mut winners) = (vec![0.0; count], vec![0; count]);
        let row = width * channels;
        values.par_chunks_mut(row).zip(winners.par_chunks_mut(row)).enumerate().for_each(|(at, (values, winners))| {
            let map = &maps[at / height * self.size[0] * self.size[1] * channels..];
            let pixels = values.chunks_exact_mut(channels).zip(winners.chunks_exact_mut(channels));
            widest(
                #[inline(always)]
                || {
                    for (x, (values, winners)) in pixels.enumerate() {
                        values.fill(f32::NEG_INFINITY);
                        for place in 0..9 {
                            if let Some(from) = self.pixel(at % height, x, place) {
                                keep_larger(values, winners, &map[from * channels..][..channels], place);
                            }
                        }
                    }
                },
            );
        });
        (values, winners)
    }

    /// The pixel at a place of a window, where the map has one there.
    #[inline(always)]
    fn pixel(&self, y: usize, x: usize, place: u8) -> Option<usize> {
        let [height, width] = self.size;
        let down = (2 * y + usize::from(place / 3)).checked_sub(1).filter(|down| *down < height)?;
        let across = (2 * x + usize::from(place % 3)).checked_sub(1).filter(|across| *across < width)?;
        Some(down * width + across)
    }

    /// Hands gradients back to the pixels that won.
    pub(super) fn spread(&self, gradient: &[f32], winners: &[u8]) -> Vec<f32> {
        let channels = self.channels;
        let ([height, width], [rows, columns]) = (self.size, self.count());
        let mut to = vec![0.0; self.samples * height * width * channels];
        to.par_chunks_mut(width * channels).enumerate().for_each(|(at, to)| {
            let (sample, y) = (at / height, at % height);
            // A row lies in the windows of one or two rows.
            for row in (y / 2..=y.div_ceil(2)).filter(|row| *row < rows) {
                let windows =
                    (sample * rows + row) * columns * channels..(sample * rows + row + 1) * columns * channels;
                let (gradient, winners) = (&gradient[windows.clone()], &winners[windows]);
                let first = (3 * (y + 1 - 2 * row)) as u8;
                widest(
                    #[inline(always)]
                    || hand_back(to, gradient, winners, first, channels),
                );
            }
        });
        to
    }
}

#[inline(always)]
fn keep_larger(values: &mut [f32], winners: &mut [u8], from: &[f32], place: u8) {
    for ((value, winner), from) in values.iter_mut().zip(winners).zip(from) {
        // What is no number wins, and then nothing is larger.
        let wins = *from > *value || from.is_nan();
        *winner = if wins { place } else { *winner };
        *value = if wins { *from } else { *value };
    }
}

/// Adds the gradients of a row of windows to a row of pixels that begins at the place `first` of them.
#[inline(always)]
fn hand_back(to: &mut [f32], gradient: &[f32], winners: &[u8], first: u8, channels: usize) {
    let windows = gradient.chunks_exact(channels).zip(winners.chunks_exact(channels));
    for (column, (gradient, winners)) in windows.enumerate() {
        for across in 0..3 {
            let Some(x) = (2 * column + usize::from(across)).checked_sub(1) else { continue };
            let Some(pixel) = to.get_mut(x * channels..(x + 1) * channels) else { continue };
            for ((to, gradient), winner) in pixel.iter_mut().zip(gradient).zip(winners) {
                let gradient = *gradient;
                *to += if *winner == first + across { gradient } else { 0.0 };
            }
        }
    }
}
