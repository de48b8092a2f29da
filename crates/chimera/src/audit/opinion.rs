//! What z says of a row's labels to somebody who has not seen them: a head for each concept, fitted without the row.
//!
//! The leaf bank has learned the labels of train rows, wrong ones included, and would defend them. So train rows are dealt to
//! five parts, and each is judged by heads that were fitted to the other four (as in confident learning). Calibration rows are
//! judged by all five together. One line a concept, fitted to what the heads say of rows that they have not seen, makes
//! probabilities of their log-odds.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::FitRows;
use chimera_data::error::Result;
use chimera_data::metric::columns::ScoreTable;
use chimera_data::parallel::in_parallel;
use chimera_leaf::calibrate::{Calibration, Method};
use chimera_logic::bits::TruthTable;

use super::logistic::{Head, Lesson};
use crate::baseline::{FOLDS, parts_of};
use crate::eval::truth::labels_of;

/// A concept that fewer train rows show, or fewer do not, is one of which nothing can be told.
pub const FEWEST_LABELS: usize = 10;

/// No opinion is surer than this: a finite number of rows tells no more.
const SUREST: f64 = 0.9999;

/// The z of a row.
pub(super) type Z<'a> = dyn Fn(usize) -> &'a [f32] + Sync + 'a;

/// Opinions on some concepts of some rows.
#[derive(Clone, Debug)]
pub(super) struct Opinions {
    /// Where each row stands.
    places: BTreeMap<usize, usize>,
    /// The place of each column of the dataset among the concepts; `None` where nothing can be told.
    concepts: BTreeMap<usize, Option<usize>>,
    /// Rows x concepts.
    values: Vec<f64>,
}

impl Opinions {
    /// Opinions on columns of a dataset, for train rows, which are learned from, and for `others`. All of them have a z.
    pub(super) fn of(
        dataset: &Dataset,
        columns: &[usize],
        (train, others): (&FitRows, &[usize]),
        z: &Z<'_>,
        threads: NonZeroUsize,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<Self> {
        let parts = parts_of(dataset, train.numbers(), z);
        let rows: Vec<usize> = train.numbers().iter().chain(others).copied().collect();
        let (numbers, width) = scaled(z, &rows, train.len());
        let table = dataset.table();
        let known = |column: usize, value: bool| {
            train.numbers().iter().filter(|&&row| table.labels.get(row, column) == Some(value)).count()
        };
        let can_tell = |column: usize| known(column, true).min(known(column, false)) >= FEWEST_LABELS;
        let told: Vec<usize> = columns.iter().copied().filter(|&column| can_tell(column)).collect();
        let done = AtomicUsize::new(0);
        let logits = in_parallel(threads, told.len() * FOLDS, |piece| {
            let (column, part) = (told[piece / FOLDS], piece % FOLDS);
            let learned = train.numbers().iter().enumerate().filter(|(_, row)| parts[row] != part);
            let labelled = learned.filter_map(|(place, &row)| Some((place, table.labels.get(row, column)?)));
            let head = Head::fit(&Lesson { numbers: &numbers, width, rows: labelled.collect() });
            let own = |place: usize| place >= train.len() || parts[&rows[place]] == part;
            let logit = |place: usize| own(place).then(|| head.logit(&numbers[place * width..][..width]));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, told.len() * FOLDS);
            Ok((0..rows.len()).map(logit).collect::<Vec<Option<f32>>>())
        })?;
        // Own parts have one answer, rows that nobody has learned from five.
        let mean = |concept: usize, place: usize| {
            let found = logits[concept * FOLDS..][..FOLDS].iter().filter_map(|logits| logits[place]);
            let (sum, count) = found.fold((0.0, 0), |(sum, count), logit| (sum + logit, count + 1));
            sum / count.max(1) as f32
        };
        let logits: Vec<f32> = (0..rows.len())
            .flat_map(|place| (0..told.len()).map(move |concept| (place, concept)))
            .map(|(place, concept)| mean(concept, place))
            .collect();
        let names: Vec<String> = told.iter().map(|&column| table.concepts[column].clone()).collect();
        let labels: TruthTable = labels_of(dataset, &(0..table.ids.len()).collect::<Vec<_>>(), &names);
        let seen = ScoreTable::new(&logits[..train.len() * told.len()], train.len(), &names)?;
        let calibration = Calibration::fit(seen, &labels, train, threads)?;
        let probability = |(at, &logit): (usize, &f32)| {
            calibration.probability(Method::Platt, at % told.len().max(1), logit).clamp(1.0 - SUREST, SUREST)
        };
        let place_of = |column: usize| told.iter().position(|other| *other == column);
        Ok(Self {
            places: rows.iter().enumerate().map(|(place, &row)| (row, place)).collect(),
            concepts: columns.iter().map(|&column| (column, place_of(column))).collect(),
            values: logits.iter().enumerate().map(probability).collect(),
        })
    }

    /// The probability that a row shows a concept, a column of the dataset; `None` where nothing can be told.
    pub(super) fn get(&self, row: usize, column: usize) -> Option<f64> {
        let (place, concept) = (self.places.get(&row)?, self.concepts.get(&column).copied().flatten()?);
        let told = self.values.len() / self.places.len().max(1);
        Some(self.values[place * told + concept])
    }

    /// Columns of which nothing can be told.
    pub(super) fn untold(&self) -> impl Iterator<Item = usize> {
        self.concepts.iter().filter(|(_, place)| place.is_none()).map(|(column, _)| *column)
    }
}

/// z of some rows side by side, each number less its mean, over its deviation, both of the first `train` rows; and how many
/// numbers a row has.
fn scaled(z: &Z<'_>, rows: &[usize], train: usize) -> (Vec<f32>, usize) {
    let width = rows.first().map_or(0, |&row| z(row).len());
    let count = train.max(1) as f64;
    let mut means = vec![0.0; width];
    for &row in &rows[..train] {
        means.iter_mut().zip(z(row)).for_each(|(mean, number)| *mean += f64::from(*number) / count);
    }
    let mut squares = vec![0.0; width];
    for &row in &rows[..train] {
        for ((square, number), mean) in squares.iter_mut().zip(z(row)).zip(&means) {
            *square += (f64::from(*number) - mean).powi(2) / count;
        }
    }
    // What is the same everywhere says nothing; differences that small are those of rounding.
    let scale = |(square, mean): (&f64, &f64)| {
        if square.sqrt() > 1e-6 * (1.0 + mean.abs()) { 1.0 / square.sqrt() } else { 0.0 }
    };
    let scales: Vec<f64> = squares.iter().zip(&means).map(scale).collect();
    let of_row = |&row: &usize| {
        let numbers = z(row).iter().zip(means.iter().zip(&scales));
        numbers.map(|(number, (mean, scale))| ((f64::from(*number) - mean) * scale) as f32)
    };
    (rows.iter().flat_map(of_row).collect(), width)
}
