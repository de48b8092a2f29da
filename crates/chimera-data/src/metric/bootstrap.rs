//! How far a number would move with other samples: rows are drawn again, with replacement, a thousand times, and what lies
//! between the outer twentieths is the interval of 95 %. All rankings see the same draws, so differences are paired.
//!
//! Rows of one group (a scene, a patient) say the same thing more than once, so groups are drawn as a whole.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::pairs::{Counts, Steps, TOGETHER};
use super::ranking::Ranking;
use crate::error::{Error, Result};
use crate::parallel::in_parallel;
use crate::seed::stream;

/// How often rows are drawn again.
pub const RESAMPLES: usize = 1000;

/// The share outside of an interval, on either side.
const OUTSIDE: f64 = 0.025;

/// Of fewer defined resamples than this share, no interval is read off.
const ENOUGH: f64 = 0.5;

/// Draws of rows: which rows there are, what stays together, and the seed.
#[derive(Clone, Debug)]
pub struct Draws {
    /// What each row is a part of; every row by itself where there are no groups.
    units: Vec<u32>,
    count: usize,
    seed: u64,
}

impl Draws {
    /// Draws of single rows.
    #[must_use]
    pub fn of_rows(rows: usize, seed: u64) -> Self {
        Self { units: (0..rows as u32).collect(), count: rows, seed }
    }

    /// Draws of groups. Rows without one, by an empty name, stand by themselves.
    #[must_use]
    pub fn of_groups<'a>(groups: impl IntoIterator<Item = &'a str>, seed: u64) -> Self {
        let (mut units, mut count, mut known) = (Vec::new(), 0, BTreeMap::new());
        for group in groups {
            let unit = if group.is_empty() { count } else { *known.entry(group).or_insert(count) };
            count = count.max(unit + 1);
            units.push(unit);
        }
        Self { units, count: count as usize, seed }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.units.len()
    }

    /// How often each row is in each of some resamples, the first of which is `first`.
    fn counts(&self, first: usize) -> Vec<Counts> {
        let mut drawn = vec![[0; TOGETHER]; self.count];
        (0..TOGETHER).for_each(|lane| {
            let mut random = stream(self.seed, "bootstrap", (first + lane) as u64);
            (0..self.count).for_each(|_| drawn[random.usize(..self.count)][lane] += 1);
        });
        if self.count == self.units.len() {
            return drawn;
        }
        self.units.iter().map(|&unit| drawn[unit as usize]).collect()
    }

    /// Whether drawing again can tell how far a ranking would move: its rows of either kind are of more than one unit.
    #[must_use]
    pub fn tell(&self, ranking: &Ranking) -> bool {
        let (mut first, mut several) = ([None; 2], [false; 2]);
        for (row, positive) in ranking.labels() {
            let (unit, kind) = (self.units[row], usize::from(positive));
            several[kind] |= *first[kind].get_or_insert(unit) != unit;
        }
        several == [true; 2]
    }

    /// The AUROC of every ranking on each resample, `[ranking][resample]`; NaN where a resample has no positive, or nothing
    /// else.
    ///
    /// # Errors
    /// A ranking of other rows.
    pub fn aurocs(&self, rankings: &[&Ranking], resamples: usize, threads: NonZeroUsize) -> Result<Vec<Vec<f32>>> {
        if let Some(other) = rankings.iter().find(|ranking| ranking.rows() != self.rows()) {
            let message = format!("expected rankings of {} rows, got one of {}", self.rows(), other.rows());
            return Err(Error::input(message, None));
        }
        let rankings: Vec<Steps> = rankings.iter().map(|ranking| ranking.steps()).collect();
        let blocks = in_parallel(threads, resamples.div_ceil(TOGETHER), |block| {
            let counts = self.counts(block * TOGETHER);
            Ok(rankings.iter().map(|ranking| ranking.aurocs(&counts)).collect::<Vec<_>>())
        })?;
        let of_ranking = |at: usize| blocks.iter().flat_map(|aurocs| aurocs[at]).take(resamples).collect();
        Ok((0..rankings.len()).map(of_ranking).collect())
    }
}

/// Where 95 % of resamples lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Reads it off resamples, of which those that are NaN are undefined; `None` where too many of them are.
    #[must_use]
    pub fn of(resamples: &[f32]) -> Option<Self> {
        let mut defined: Vec<f32> = resamples.iter().copied().filter(|value| !value.is_nan()).collect();
        if defined.is_empty() || (defined.len() as f64) < ENOUGH * resamples.len() as f64 {
            return None;
        }
        defined.sort_unstable_by(f32::total_cmp);
        let outside = (defined.len() as f64 * OUTSIDE) as usize;
        Some(Self { low: f64::from(defined[outside]), high: f64::from(defined[defined.len() - 1 - outside]) })
    }
}

/// The mean over columns on each resample, without those that are undefined there.
#[must_use]
pub fn mean_of(columns: &[&[f32]]) -> Vec<f32> {
    let resamples = columns.iter().map(|column| column.len()).min().unwrap_or(0);
    let mean = |resample: usize| {
        let defined = columns.iter().map(|column| f64::from(column[resample])).filter(|value| !value.is_nan());
        let (sum, count) = defined.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        (sum / count) as f32
    };
    (0..resamples).map(mean).collect()
}

/// By how much one is larger than another on each resample.
#[must_use]
pub fn difference_of(one: &[f32], other: &[f32]) -> Vec<f32> {
    one.iter().zip(other).map(|(one, other)| one - other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

    /// Scores of a normal distribution, by Box and Muller.
    fn normal(random: &mut fastrand::Rng) -> f64 {
        (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (std::f64::consts::TAU * random.f64()).cos()
    }

    /// Positives are 1 above negatives: the true AUROC is the normal distribution function at 1 / sqrt(2), 0.7602.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        const TRUTH: f64 = 0.760_249_938_906_524;
        let mut random = fastrand::Rng::with_seed(5);
        let (trials, mut held, mut width) = (300, 0, 0.0);
        for trial in 0..trials {
            let labels: Vec<bool> = (0..160).map(|row| row < 50).collect();
            let scores: Vec<f32> =
                labels.iter().map(|&one| (normal(&mut random) + f64::from(u8::from(one))) as f32).collect();
            let ranking = Ranking::new(&scores, &labels).unwrap();
            let again = Draws::of_rows(160, trial).aurocs(&[&ranking], 400, THREADS).unwrap();
            let found = Interval::of(&again[0]).unwrap();
            held += usize::from((found.low..=found.high).contains(&TRUTH));
            width += (found.high - found.low) / f64::from(trials as u32);
        }
        // 95 % of 300 are 285; three deviations of a binomial distribution are 11, and percentiles are a little short.
        assert!((267..=297).contains(&held), "{held} of {trials}");
        // Hanley and McNeil's standard error for 50 and 110 samples is 0.0433: four of it, less a little.
        assert!((0.13..0.19).contains(&width), "{width}");
    }

    #[test]
    fn permuted_labels_are_chance() {
        let mut random = fastrand::Rng::with_seed(11);
        let scores: Vec<f32> = (0..400).map(|_| random.f32()).collect();
        let mut labels: Vec<bool> = (0..400).map(|row| row % 4 == 0).collect();
        let mut held = 0;
        for trial in 0..40 {
            random.shuffle(&mut labels);
            let ranking = Ranking::new(&scores, &labels).unwrap();
            let again = Draws::of_rows(400, trial).aurocs(&[&ranking], 300, THREADS).unwrap();
            let found = Interval::of(&again[0]).unwrap();
            held += usize::from((found.low..=found.high).contains(&0.5));
        }
        assert!(held >= 34, "{held} of 40");
    }

    #[test]
    fn draws_are_the_same_for_all_and_at_any_number_of_threads() {
        let mut random = fastrand::Rng::with_seed(3);
        let labels: Vec<bool> = (0..100).map(|_| random.bool()).collect();
        let scores: Vec<f32> = (0..100).map(|_| random.u8(..20).into()).collect();
        let (ranking, turned) = (Ranking::new(&scores, &labels).unwrap(), {
            let scores: Vec<f32> = scores.iter().map(|score| -score).collect();
            Ranking::new(&scores, &labels).unwrap()
        });
        let draws = Draws::of_rows(100, 7);
        let again = draws.aurocs(&[&ranking, &turned], 50, THREADS).unwrap();
        // What is best for one is worst for the other, resample by resample.
        assert!(again[0].iter().zip(&again[1]).all(|(one, other)| (one + other - 1.0).abs() < 1e-6));
        assert_eq!(again, draws.aurocs(&[&ranking, &turned], 50, NonZeroUsize::MIN).unwrap());
        for (resample, auroc) in again[0].iter().enumerate() {
            let counted = ranking.resampled(&counts_of(&draws, resample)).unwrap().auroc.unwrap();
            assert!((counted - f64::from(*auroc)).abs() < 1e-6);
        }
        let other = Ranking::new(&[1.0], &[true]).unwrap();
        let error = draws.aurocs(&[&other], 1, THREADS).unwrap_err();
        assert_eq!(error.to_string(), "expected rankings of 100 rows, got one of 1");
    }

    /// How often each row is in one resample.
    fn counts_of(draws: &Draws, resample: usize) -> Vec<u32> {
        let (first, lane) = (resample - resample % TOGETHER, resample % TOGETHER);
        draws.counts(first).iter().map(|counts| counts[lane]).collect()
    }

    /// Scores with many ties and with none, few positives and many, rows in groups and unknown ones: the same as rows counted one
    /// after the other.
    #[test]
    fn several_resamples_at_once_are_each_by_itself() {
        let mut random = fastrand::Rng::with_seed(19);
        for (levels, share) in [(3, 0.5), (40, 0.1), (1_000_000, 0.5), (1_000_000, 0.03), (1, 0.5), (12, 1.0)] {
            let rows = 150;
            let labels: Vec<Option<bool>> =
                (0..rows).map(|_| (random.u8(..10) > 0).then(|| random.f64() < share)).collect();
            let scores: Vec<Option<f64>> = (0..rows).map(|_| Some(f64::from(random.u32(..levels)))).collect();
            let ranking = Ranking::of_doubles(&scores, &labels).unwrap();
            let groups: Vec<String> = (0..rows).map(|_| random.u8(..30).to_string()).collect();
            for draws in [Draws::of_rows(rows, 4), Draws::of_groups(groups.iter().map(String::as_str), 4)] {
                let again = draws.aurocs(&[&ranking], TOGETHER + 3, THREADS).unwrap();
                assert_eq!(again[0].len(), TOGETHER + 3);
                for (resample, auroc) in again[0].iter().enumerate() {
                    let expected = ranking.resampled(&counts_of(&draws, resample)).unwrap().auroc;
                    let expected = expected.map_or(f32::NAN, |auroc| auroc as f32);
                    assert_eq!(auroc.to_bits() & 0x7fff_ffff, expected.to_bits() & 0x7fff_ffff, "{levels} {share}");
                }
            }
        }
    }

    #[test]
    fn one_group_of_a_kind_has_no_spread() {
        let ranking = Ranking::new(&[0.9, 0.8, 0.1, 0.2], &[true, true, false, false]).unwrap();
        let tell = |groups: [&str; 4]| Draws::of_groups(groups, 1).tell(&ranking);
        assert!(Draws::of_rows(4, 1).tell(&ranking) && tell(["a", "b", "a", "b"]) && tell(["", "", "c", "d"]));
        assert!(!tell(["a", "a", "c", "d"]) && !tell(["a", "b", "c", "c"]) && !tell(["a", "a", "a", "a"]));
    }

    #[test]
    fn groups_are_drawn_as_a_whole() {
        let draws = Draws::of_groups(["a", "", "a", "b", "", "a"], 1);
        assert_eq!((draws.units.clone(), draws.count), (vec![0, 1, 0, 2, 3, 0], 4));
        for resample in 0..20 {
            let counts = counts_of(&draws, resample);
            assert!(counts[0] == counts[2] && counts[0] == counts[5]);
            assert_eq!(counts[0] + counts[1] + counts[3] + counts[4], 4);
        }
    }

    #[test]
    fn intervals_and_means_by_hand() {
        let hundred: Vec<f32> = (0..100).map(|value| value as f32).collect();
        assert_eq!(Interval::of(&hundred), Some(Interval { low: 2.0, high: 97.0 }));
        let some: Vec<f32> = (0..100).map(|value| if value < 49 { value as f32 } else { f32::NAN }).collect();
        assert_eq!((Interval::of(&some), Interval::of(&[])), (None, None));
        let means = mean_of(&[&[0.5, f32::NAN, f32::NAN], &[1.0, 0.25, f32::NAN]]);
        assert_eq!(means[..2], [0.75, 0.25]);
        assert!(means[2].is_nan() && mean_of(&[]).is_empty());
        assert_eq!(difference_of(&[0.5], &[0.25]), [0.25]);
    }
}
