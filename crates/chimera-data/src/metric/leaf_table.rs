//! How well each concept is recognised: one row a concept, their means, as `leaves.csv` and as cells for a console.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::Path;

use chimera_logic::bits::TruthTable;
use serde::Serialize;

use super::MacroMean;
use super::columns::{Positive, ScoreTable, rank_columns};
use crate::error::Result;
use crate::file::write_atomic;

/// The columns of `leaves.csv`.
pub const COLUMNS: [&str; 6] = ["concept", "auroc", "ap", "accuracy", "prevalence", "positives"];

/// One concept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeafRow {
    /// Its name.
    pub concept: String,
    /// Area under the ROC curve.
    pub auroc: Option<f64>,
    /// Average precision.
    pub ap: Option<f64>,
    /// Share of rows on the right side of the threshold.
    pub accuracy: Option<f64>,
    /// Share of known rows that are positive.
    pub prevalence: Option<f64>,
    /// Known positives.
    pub positives: u64,
    /// Rows with a known label.
    pub known: u64,
}

/// Means over the concepts for which a metric is defined.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LeafMeans {
    /// Of AUROC.
    pub auroc: MacroMean,
    /// Of average precision.
    pub ap: MacroMean,
    /// Of accuracy.
    pub accuracy: MacroMean,
    /// Of prevalence.
    pub prevalence: MacroMean,
}

/// All concepts, in the order of the leaf bank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeafTable {
    /// A row a concept.
    pub rows: Vec<LeafRow>,
}

impl LeafTable {
    /// Measures scores against labels. A concept is called present where its score is at least `threshold`: 0.5 for
    /// probabilities, 0 for logits.
    ///
    /// # Errors
    /// Labels of another shape, or a score that is NaN.
    pub fn measure(scores: ScoreTable<'_>, labels: &TruthTable, threshold: f32, threads: NonZeroUsize) -> Result<Self> {
        let rows = rank_columns(scores, labels, Positive::Holds, threads, |column, ranking| {
            let metrics = ranking.metrics();
            let known = metrics.positives + metrics.negatives;
            Ok(LeafRow {
                concept: scores.names()[column].clone(),
                auroc: metrics.auroc,
                ap: metrics.average_precision,
                accuracy: ranking.accuracy(threshold),
                prevalence: (known > 0).then(|| metrics.positives as f64 / known as f64),
                positives: metrics.positives,
                known,
            })
        })?;
        Ok(Self { rows })
    }

    /// Means over concepts.
    #[must_use]
    pub fn means(&self) -> LeafMeans {
        let mean = |metric: fn(&LeafRow) -> Option<f64>| MacroMean::of(self.rows.iter().map(metric));
        LeafMeans {
            auroc: mean(|row| row.auroc),
            ap: mean(|row| row.ap),
            accuracy: mean(|row| row.accuracy),
            prevalence: mean(|row| row.prevalence),
        }
    }

    /// Writes `leaves.csv`: a row a concept, full precision, empty where undefined. Means are no row of it, so that
    /// every row is a concept.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        write_atomic(path, |out| self.csv(out))
    }

    /// The content of `leaves.csv`.
    pub fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(COLUMNS).map_err(csv_error)?;
        for row in &self.rows {
            let [auroc, ap, accuracy, prevalence] = [row.auroc, row.ap, row.accuracy, row.prevalence]
                .map(|value| value.map_or_else(String::new, |value| value.to_string()));
            let positives = row.positives.to_string();
            csv.write_record([&row.concept, &auroc, &ap, &accuracy, &prevalence, &positives]).map_err(csv_error)?;
        }
        csv.flush()
    }

    /// Cells for a console: [`COLUMNS`] and the number of known rows. A row a concept with three decimals, and in the
    /// end the means, with the number of concepts that each is of where that is not all. The undefined is a dash.
    #[must_use]
    pub fn cells(&self) -> Vec<[String; 7]> {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let mean = |mean: MacroMean| match mean.undefined {
            0 => shown(mean.mean),
            _ => format!("{} ({} of {})", shown(mean.mean), mean.defined, mean.defined + mean.undefined),
        };
        let concept = |row: &LeafRow| {
            let metrics = [row.auroc, row.ap, row.accuracy, row.prevalence].map(shown);
            let [auroc, ap, accuracy, prevalence] = metrics;
            [row.concept.clone(), auroc, ap, accuracy, prevalence, row.positives.to_string(), row.known.to_string()]
        };
        let means = self.means();
        let [auroc, ap, accuracy, prevalence] = [means.auroc, means.ap, means.accuracy, means.prevalence].map(mean);
        let sum = |count: fn(&LeafRow) -> u64| self.rows.iter().map(count).sum::<u64>().to_string();
        let (positives, known) = (sum(|row| row.positives), sum(|row| row.known));
        let last = ["mean, sum".to_owned(), auroc, ap, accuracy, prevalence, positives, known];
        self.rows.iter().map(concept).chain([last]).collect()
    }
}

/// The system's words without those of the `csv` crate around them.
fn csv_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use chimera_logic::bits::BitTable;

    use super::*;

    /// Three concepts on four rows: one with an error, one without positives, one of which nothing is known.
    fn table() -> LeafTable {
        let names = ["red, round", "never", "unknown"].map(str::to_owned);
        #[rustfmt::skip]
        let logits = [
            2.0, -1.0, 0.0,
            1.0, -1.0, 0.0,
            0.0, -1.0, 0.0,
            -1.0, 1.0, 0.0,
        ];
        let value = BitTable::from_fn(4, 3, |row, column| column == 0 && [0, 2].contains(&row));
        let known = BitTable::from_fn(4, 3, |row, column| column == 0 || (column == 1 && row > 0));
        let scores = ScoreTable::new(&logits, 4, &names).unwrap();
        LeafTable::measure(scores, &TruthTable::partial(value, known), 0.0, NonZeroUsize::MIN).unwrap()
    }

    #[test]
    fn rows_by_hand() {
        // Ranks + - + -: three of four pairs in order; precision 1 and 2/3 at the positives; one false alarm.
        let expected = [
            (Some(0.75), Some(5.0 / 6.0), Some(0.75), Some(0.5), 2, 4),
            (None, None, Some(2.0 / 3.0), Some(0.0), 0, 3),
            (None, None, None, None, 0, 0),
        ];
        for (row, (auroc, ap, accuracy, prevalence, positives, known)) in table().rows.iter().zip(expected) {
            assert_eq!((row.auroc, row.accuracy, row.prevalence), (auroc, accuracy, prevalence));
            assert!(row.ap == ap || (row.ap.unwrap() - ap.unwrap()).abs() < 1e-15);
            assert_eq!((row.positives, row.known), (positives, known));
        }
        let means = table().means();
        assert_eq!(means.auroc, MacroMean { mean: Some(0.75), defined: 1, undefined: 2 });
        assert_eq!(means.prevalence, MacroMean { mean: Some(0.25), defined: 2, undefined: 1 });
    }

    #[test]
    fn the_file_has_a_row_a_concept_and_the_undefined_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("leaves.csv");
        table().write_csv(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let expected = "concept,auroc,ap,accuracy,prevalence,positives\n\
            \"red, round\",0.75,0.8333333333333333,0.75,0.5,2\n\
            never,,,0.6666666666666666,0,0\n\
            unknown,,,,,0\n";
        assert_eq!(text, expected);
        let full = table().write_csv(Path::new("/dev/full"));
        if cfg!(target_os = "linux") {
            assert_eq!(full.unwrap_err().to_string(), "cannot write `/dev/full`: no space left");
        }
    }

    #[test]
    fn cells_show_means_with_what_they_are_of() {
        let cells = table().cells();
        assert_eq!(cells[0], ["red, round", "0.750", "0.833", "0.750", "0.500", "2", "4"]);
        assert_eq!(cells[2], ["unknown", "-", "-", "-", "-", "0", "0"]);
        let last = ["mean, sum", "0.750 (1 of 3)", "0.833 (1 of 3)", "0.708 (2 of 3)", "0.250 (2 of 3)", "2", "7"];
        assert_eq!(cells[3], last);
    }
}
