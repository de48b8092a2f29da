//! Probabilities against frequencies: of the rows that were given about 0.8, do eight of ten hold? The bins are kept
//! for a plot, and their mean distance is the expected calibration error (ECE).

use std::num::NonZeroUsize;

use serde::Serialize;

use super::radix::{ascending, sort_by_upper_half};
use crate::error::{Error, Result};

/// The usual number of bins.
pub const BINS: NonZeroUsize = NonZeroUsize::new(15).unwrap();

/// Rows with like probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// The lowest probability of the bin.
    pub lower: f64,
    /// The highest. Bins of equal width contain it only where it is 1.
    pub upper: f64,
    /// Rows in it.
    pub count: u64,
    /// Their mean probability; `None` without rows.
    pub mean_probability: Option<f64>,
    /// How many of them are positive, as a share; `None` without rows.
    pub frequency: Option<f64>,
}

/// All bins and what they come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reliability {
    /// The bins, ascending.
    pub bins: Vec<ReliabilityBin>,
    /// Mean distance of probability and frequency over bins, weighted by rows; `None` without rows.
    pub error: Option<f64>,
}

impl Reliability {
    /// Bins of equal width: the interval from 0 to 1 in equal parts, empty ones included. A probability on an edge
    /// belongs to the bin above.
    ///
    /// # Errors
    /// A probability outside of 0 to 1.
    pub fn equal_width(cells: impl IntoIterator<Item = (f32, bool)>, bins: NonZeroUsize) -> Result<Self> {
        let mut sums = WidthSums::new(bins);
        for (probability, positive) in cells {
            sums.add(checked(probability)?, positive);
        }
        Ok(sums.reliability())
    }

    /// Bins of equal mass: about as many rows in each. Rows of one probability stay in one bin, so there may be fewer
    /// bins than asked for.
    ///
    /// # Errors
    /// A probability outside of 0 to 1.
    pub fn equal_mass(cells: impl IntoIterator<Item = (f32, bool)>, bins: NonZeroUsize) -> Result<Self> {
        let item =
            |(probability, positive)| Ok(u64::from(ascending(checked(probability)?)) << 32 | u64::from(positive));
        let mut items = cells.into_iter().map(item).collect::<Result<Vec<u64>>>()?;
        sort_by_upper_half(&mut items);
        // The sign bit is set for what is not negative; the rest are the bits of the number.
        let probability = |item: u64| f64::from(f32::from_bits((item >> 32) as u32 & !(1 << 31)));
        let (mut found, mut start) = (Vec::new(), 0);
        for bin in 1..=bins.get() {
            let mut end = items.len() * bin / bins.get();
            if end <= start {
                continue;
            }
            while end < items.len() && items[end] >> 32 == items[end - 1] >> 32 {
                end += 1;
            }
            let mut sums = Sums::default();
            items[start..end].iter().for_each(|&item| sums.add(probability(item), item & 1 == 1));
            found.push(sums.bin(probability(items[start]), probability(items[end - 1])));
            start = end;
        }
        Ok(Self::of_bins(found))
    }

    fn of_bins(bins: Vec<ReliabilityBin>) -> Self {
        let rows: u64 = bins.iter().map(|bin| bin.count).sum();
        let distance = |bin: &ReliabilityBin| Some(bin.count as f64 * (bin.mean_probability? - bin.frequency?).abs());
        let error = (rows > 0).then(|| bins.iter().filter_map(distance).sum::<f64>() / rows as f64);
        Self { bins, error }
    }
}

fn checked(probability: f32) -> Result<f32> {
    if (0.0..=1.0).contains(&probability) {
        return Ok(probability);
    }
    Err(Error::input(format!("expected a probability from 0 to 1, got {probability}"), None))
}

/// A bin that is being filled.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    positives: u64,
    probability: f64,
}

impl Sums {
    fn add(&mut self, probability: f64, positive: bool) {
        self.count += 1;
        self.positives += u64::from(positive);
        self.probability += probability;
    }

    fn bin(&self, lower: f64, upper: f64) -> ReliabilityBin {
        let mean = |sum: f64| (self.count > 0).then(|| sum / self.count as f64);
        let (mean_probability, frequency) = (mean(self.probability), mean(self.positives as f64));
        ReliabilityBin { lower, upper, count: self.count, mean_probability, frequency }
    }
}

/// Bins of equal width that are being filled, in parts that are put together in the end.
#[derive(Clone, Debug)]
pub struct WidthSums(Vec<Sums>);

impl WidthSums {
    /// Empty bins.
    #[must_use]
    pub fn new(bins: NonZeroUsize) -> Self {
        Self(vec![Sums::default(); bins.get()])
    }

    /// Adds a row; the probability is from 0 to 1.
    #[inline]
    pub fn add(&mut self, probability: f32, positive: bool) {
        let last = self.0.len() - 1;
        let bin = (f64::from(probability) * self.0.len() as f64) as usize;
        self.0[bin.min(last)].add(f64::from(probability), positive);
    }

    /// Adds the rows of another with as many bins.
    pub fn merge(&mut self, other: &Self) {
        for (sums, other) in self.0.iter_mut().zip(&other.0) {
            sums.count += other.count;
            sums.positives += other.positives;
            sums.probability += other.probability;
        }
    }

    /// What is in the bins.
    #[must_use]
    pub fn reliability(&self) -> Reliability {
        let edge = |bin: usize| bin as f64 / self.0.len() as f64;
        let bins = self.0.iter().enumerate().map(|(bin, sums)| sums.bin(edge(bin), edge(bin + 1)));
        Reliability::of_bins(bins.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(count: usize) -> NonZeroUsize {
        NonZeroUsize::new(count).unwrap()
    }

    fn close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}, expected {expected}");
    }

    /// Powers of two, so that `f32` holds them exactly.
    const CELLS: [(f32, bool); 8] = [
        (0.125, false),
        (0.125, true),
        (0.25, false),
        (0.5, true),
        (0.5, false),
        (0.75, true),
        (0.75, true),
        (1.0, true),
    ];

    #[test]
    fn bins_of_equal_width_by_hand() {
        let found = Reliability::equal_width(CELLS, bins(4)).unwrap();
        assert_eq!(found.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [2, 1, 2, 3]);
        assert_eq!((found.bins[2].lower, found.bins[2].upper), (0.5, 0.75));
        close(found.bins[3].mean_probability, 2.5 / 3.0);
        close(found.bins[3].frequency, 1.0);
        // 2 |0.125 - 0.5| + 1 |0.25 - 0| + 2 |0.5 - 0.5| + 3 |2.5 / 3 - 1|, over 8 rows
        close(found.error, (0.75 + 0.25 + 0.0 + 0.5) / 8.0);
        let empty = Reliability::equal_width(CELLS, bins(16)).unwrap();
        assert_eq!((empty.bins[0].count, empty.bins[0].frequency, empty.bins.len()), (0, None, 16));
    }

    #[test]
    fn bins_of_equal_mass_by_hand() {
        // Cut after ranks 2, 4, 6, 8; the second and third cut fall into ties and move behind them: 2, 5, 7, 8.
        let found = Reliability::equal_mass(CELLS, bins(4)).unwrap();
        assert_eq!(found.bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [2, 3, 2, 1]);
        assert_eq!((found.bins[1].lower, found.bins[1].upper), (0.25, 0.5));
        // 2 |0.125 - 0.5| + |1.25 - 1| + |1.5 - 2| + |1 - 1|, over 8 rows
        close(found.error, (0.75 + 0.25 + 0.5 + 0.0) / 8.0);
        let one = Reliability::equal_mass([(0.5, true); 9], bins(4)).unwrap();
        assert_eq!((one.bins.len(), one.error), (1, Some(0.5)));
    }

    #[test]
    fn order_does_not_matter_and_calibrated_rows_have_no_error() {
        let mut random = fastrand::Rng::with_seed(8);
        // In each of 20 levels the share of positives is the probability itself.
        let mut cells: Vec<(f32, bool)> =
            (0..20 * 64).map(|row| (row / 64 * 3 % 64, row % 64)).map(|(p, row)| (p as f32 / 64.0, row < p)).collect();
        for _ in 0..5 {
            random.shuffle(&mut cells);
            close(Reliability::equal_width(cells.iter().copied(), BINS).unwrap().error, 0.0);
            close(Reliability::equal_mass(cells.iter().copied(), BINS).unwrap().error, 0.0);
        }
        // All shifted by 1/64: every bin is off by that.
        cells.iter_mut().for_each(|cell| cell.0 += 1.0 / 64.0);
        close(Reliability::equal_width(cells.iter().copied(), BINS).unwrap().error, 1.0 / 64.0);
        close(Reliability::equal_mass(cells.iter().copied(), BINS).unwrap().error, 1.0 / 64.0);
    }

    #[test]
    fn parts_make_the_whole_and_nothing_makes_nothing() {
        let (mut all, mut left, mut right) = (WidthSums::new(BINS), WidthSums::new(BINS), WidthSums::new(BINS));
        for (row, (probability, positive)) in CELLS.into_iter().enumerate() {
            all.add(probability, positive);
            if row < 3 { &mut left } else { &mut right }.add(probability, positive);
        }
        left.merge(&right);
        assert_eq!(left.reliability(), all.reliability());
        assert_eq!(Reliability::equal_width([], BINS).unwrap().error, None);
        assert_eq!(Reliability::equal_mass([], BINS).unwrap().error, None);
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for wrong in [-0.1, 1.1, f32::NAN, f32::INFINITY] {
            let message = format!("expected a probability from 0 to 1, got {wrong}");
            assert_eq!(Reliability::equal_width([(wrong, true)], BINS).unwrap_err().to_string(), message);
            assert_eq!(Reliability::equal_mass([(wrong, true)], BINS).unwrap_err().to_string(), message);
        }
        assert_eq!(Reliability::equal_mass([(-0.0, false)], BINS).unwrap().error, Some(0.0));
    }
}
