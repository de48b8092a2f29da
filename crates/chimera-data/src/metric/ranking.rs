//! Rows ranked by score: sorted once, then every metric of ranks is one pass, also for resampled rows.
//!
//! Rows of equal score are one step of every curve, so nothing depends on the order of rows. Definitions are those of
//! scikit-learn (`roc_auc_score`, `average_precision_score`, `roc_curve`), but for one: without negatives it gives an
//! average precision of 1, which says nothing about the scores and is undefined here.

use serde::Serialize;

use super::label_bits::LabelBits;
use super::pairs::Steps;
use super::radix::{ascending, sort_by_upper_half};
use crate::error::{Error, Result};

/// The number of a row and its label share a half word; counts of pairs fit a word.
const MOST_ROWS: u64 = 1 << 31;

/// Rows with known labels, highest score first.
///
/// # Examples
///
/// ```
/// use chimera_data::metric::ranking::Ranking;
///
/// // How badly five samples break a rule, and whether they do.
/// let scores = [0.9, 0.2, 0.7, 0.2, 0.1];
/// let broken = [true, false, false, true, false];
/// let metrics = Ranking::new(&scores, &broken)?.metrics();
///
/// // Of six pairs of one that breaks it and one that does not, 4 are in order and one is a tie: (4 + 0.5) / 6.
/// assert_eq!(metrics.auroc, Some(0.75));
/// // Where nothing breaks the rule there is nothing to measure.
/// assert_eq!(Ranking::new(&scores, &[false; 5])?.metrics().auroc, None);
/// # Ok::<(), chimera_data::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ranking {
    /// Upper half: a word that falls as the score rises. Lower half: the row, then its label in the lowest bit.
    items: Vec<u64>,
    /// Rows that scores were given for, those with unknown labels included.
    rows: usize,
    positives: u64,
}

/// What the ranks of positives among negatives say. All are `None` without positives or without negatives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RankMetrics {
    /// How probably a positive scores above a negative; a tie is half.
    pub auroc: Option<f64>,
    /// The mean over positives of the precision at their scores.
    pub average_precision: Option<f64>,
    /// Of negatives, the share at or above the highest threshold that at least 95 % of positives reach.
    pub fpr_at_95_tpr: Option<f64>,
    /// Known positives.
    pub positives: u64,
    /// Known negatives.
    pub negatives: u64,
}

impl Ranking {
    /// Ranks rows that all have a label.
    ///
    /// For a score that is one minus a small probability give the negated probability instead: the order is the same,
    /// but near one `f32` has few numbers and would make ties.
    ///
    /// # Errors
    /// A score that is NaN, or other than one score a row.
    pub fn new(scores: &[f32], labels: &[bool]) -> Result<Self> {
        check_lengths(scores.len(), labels.len())?;
        let mut items = Items::new(scores);
        labels.iter().enumerate().for_each(|(row, &positive)| items.add(row, positive));
        items.ranked().map_err(not_a_number)
    }

    /// Ranks the rows of a column that have a known label; the others may have any score.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_bits(scores: &[f32], labels: LabelBits<'_>) -> Result<Self> {
        check_lengths(scores.len(), labels.rows())?;
        Self::of_checked(scores, labels).map_err(not_a_number)
    }

    /// Ranks as many rows as there are labels, or gives the first row whose score is NaN.
    pub(super) fn of_checked(scores: &[f32], labels: LabelBits<'_>) -> std::result::Result<Self, usize> {
        let mut items = Items::new(scores);
        labels.for_each(|row, positive| items.add(row, positive));
        items.ranked()
    }

    /// Ranks rows by scores of double precision, in which probabilities near 0 or 1 are still apart. Rows without a score or
    /// with an unknown label are left out.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_doubles(scores: &[Option<f64>], labels: &[Option<bool>]) -> Result<Self> {
        check_lengths(scores.len(), labels.len())?;
        let mut order: Vec<(f64, usize, bool)> = Vec::with_capacity(scores.len());
        for (row, (score, label)) in scores.iter().zip(labels).enumerate() {
            if let (Some(score), Some(label)) = (*score, *label) {
                if score.is_nan() {
                    return Err(not_a_number(row));
                }
                // Adding zero makes the negative zero positive: both are one score.
                order.push((score + 0.0, row, label));
            }
        }
        order.sort_unstable_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let (mut items, mut place) = (Vec::with_capacity(order.len()), 0_u64);
        for (at, &(score, row, positive)) in order.iter().enumerate() {
            place += u64::from(at > 0 && score < order[at - 1].0);
            items.push(place << 32 | (row as u64) << 1 | u64::from(positive));
        }
        let positives = order.iter().filter(|(.., positive)| *positive).count() as u64;
        Ok(Self { items, rows: scores.len(), positives })
    }

    /// Rows that it was made of, those left out included.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rows with a positive label.
    #[must_use]
    pub fn positives(&self) -> u64 {
        self.positives
    }

    /// Rows with a negative label.
    #[must_use]
    pub fn negatives(&self) -> u64 {
        self.items.len() as u64 - self.positives
    }

    /// All metrics of the rows as they are.
    #[must_use]
    pub fn metrics(&self) -> RankMetrics {
        self.sweep(self.positives, self.negatives(), |_| 1)
    }

    /// All metrics of rows drawn with replacement, without sorting again: `counts` says how often each row is drawn,
    /// also those with unknown labels, whose count is ignored.
    ///
    /// # Errors
    /// Other than one count a row, or too many draws.
    pub fn resampled(&self, counts: &[u32]) -> Result<RankMetrics> {
        if counts.len() != self.rows {
            let message = format!("expected a count for each of {} rows, got {}", self.rows, counts.len());
            return Err(Error::input(message, None));
        }
        let weight = |row: usize| u64::from(counts[row]);
        let (mut positives, mut all) = (0, 0);
        for &item in &self.items {
            all += weight(row(item));
            positives += weight(row(item)) * u64::from(is_positive(item));
        }
        if all >= MOST_ROWS {
            return Err(Error::input(format!("expected fewer than {MOST_ROWS} draws, got {all}"), None));
        }
        Ok(self.sweep(positives, all - positives, weight))
    }

    /// Its rows, each with its label.
    pub(super) fn labels(&self) -> impl Iterator<Item = (usize, bool)> {
        self.items.iter().map(|&item| (row(item), is_positive(item)))
    }

    /// The same in steps, for draws of several times the rows.
    pub(super) fn steps(&self) -> Steps {
        let mut steps = Steps::default();
        for tie in self.items.chunk_by(|first, second| first >> 32 == second >> 32) {
            steps.add(tie.iter().map(|&item| (item as u32 >> 1, is_positive(item))));
        }
        steps
    }

    /// The curve of false and true alarms as the threshold falls, from (0, 0) to (1, 1), a point a step; empty where there is
    /// no positive, or nothing else.
    #[must_use]
    pub fn roc(&self) -> Vec<(f64, f64)> {
        let (positives, negatives) = (self.positives as f64, self.negatives() as f64);
        if self.positives == 0 || self.negatives() == 0 {
            return Vec::new();
        }
        let (mut hits, mut misses, mut points) = (0, 0, vec![(0.0, 0.0)]);
        for tie in self.items.chunk_by(|first, second| first >> 32 == second >> 32) {
            let found = tie.iter().filter(|item| is_positive(**item)).count();
            (hits, misses) = (hits + found, misses + tie.len() - found);
            points.push((misses as f64 / negatives, hits as f64 / positives));
        }
        points
    }

    /// One pass from the highest score down, tie by tie.
    fn sweep(&self, positives: u64, negatives: u64, weight: impl Fn(usize) -> u64) -> RankMetrics {
        if positives == 0 || negatives == 0 {
            let (auroc, average_precision, fpr_at_95_tpr) = (None, None, None);
            return RankMetrics { auroc, average_precision, fpr_at_95_tpr, positives, negatives };
        }
        let (mut true_positives, mut false_positives) = (0, 0);
        let (mut twice_pairs, mut precision_sum, mut at_95) = (0, 0.0, None);
        for tie in self.items.chunk_by(|first, second| first >> 32 == second >> 32) {
            let (mut hits, mut misses) = (0, 0);
            for &item in tie {
                let times = weight(row(item));
                let hit = times * u64::from(is_positive(item));
                (hits, misses) = (hits + hit, misses + times - hit);
            }
            twice_pairs += misses * (2 * true_positives + hits);
            (true_positives, false_positives) = (true_positives + hits, false_positives + misses);
            if hits > 0 {
                precision_sum += hits as f64 * (true_positives as f64 / (true_positives + false_positives) as f64);
                if at_95.is_none() && 20 * true_positives >= 19 * positives {
                    at_95 = Some(false_positives as f64 / negatives as f64);
                }
            }
        }
        RankMetrics {
            auroc: Some(twice_pairs as f64 / (2 * positives * negatives) as f64),
            average_precision: Some(precision_sum / positives as f64),
            fpr_at_95_tpr: at_95,
            positives,
            negatives,
        }
    }

    /// The share of rows that are positive where the score is at least `threshold` and negative elsewhere; `None`
    /// without rows or where the threshold is NaN.
    #[must_use]
    pub fn accuracy(&self, threshold: f32) -> Option<f64> {
        if self.items.is_empty() || threshold.is_nan() {
            return None;
        }
        let last = u64::from(!ascending(threshold));
        let called = self.items.partition_point(|item| item >> 32 <= last);
        let hits = self.items[..called].iter().filter(|item| is_positive(**item)).count() as u64;
        let rejected = self.negatives() - (called as u64 - hits);
        Some((hits + rejected) as f64 / self.items.len() as f64)
    }
}

/// Rows on their way into a ranking.
struct Items<'a> {
    scores: &'a [f32],
    items: Vec<u64>,
    positives: u64,
    first_nan: Option<usize>,
}

impl<'a> Items<'a> {
    fn new(scores: &'a [f32]) -> Self {
        Self { scores, items: Vec::with_capacity(scores.len()), positives: 0, first_nan: None }
    }

    #[inline]
    fn add(&mut self, row: usize, positive: bool) {
        let score = self.scores[row];
        if score.is_nan() && self.first_nan.is_none() {
            self.first_nan = Some(row);
        }
        self.positives += u64::from(positive);
        self.items.push(u64::from(!ascending(score)) << 32 | (row as u64) << 1 | u64::from(positive));
    }

    fn ranked(mut self) -> std::result::Result<Ranking, usize> {
        match self.first_nan {
            Some(row) => Err(row),
            None => {
                sort_by_upper_half(&mut self.items);
                Ok(Ranking { items: self.items, rows: self.scores.len(), positives: self.positives })
            }
        }
    }
}

fn row(item: u64) -> usize {
    (item as u32 >> 1) as usize
}

fn is_positive(item: u64) -> bool {
    item & 1 == 1
}

/// As many scores as labels, and not too many.
pub(super) fn check_lengths(scores: usize, labels: usize) -> Result<()> {
    if scores != labels {
        return Err(Error::input(format!("expected a score for each of {labels} labels, got {scores}"), None));
    }
    if scores as u64 >= MOST_ROWS {
        return Err(Error::input(format!("expected fewer than {MOST_ROWS} rows, got {scores}"), None));
    }
    Ok(())
}

fn not_a_number(row: usize) -> Error {
    Error::input(format!("expected numbers as scores, got NaN in row {row}"), None)
}
