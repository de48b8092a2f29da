//! What a dataset holds, in numbers: sizes, splits, how common each concept is, and which concepts go together.

use std::path::PathBuf;

use chimera_logic::bits::TruthTable;
use serde::Serialize;

use crate::dataset::Dataset;
use crate::dataset::fingerprint::Fingerprints;
use crate::dataset::manifest::Kind;
use crate::error::Result;
use crate::split::Split;

/// Of more concepts only the most common ones are paired: the work grows with the square.
const MOST_PAIRED: usize = 1000;

/// Everything that `data show` tells.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// What the dataset is called.
    pub name: String,
    /// What its samples are.
    pub kind: Kind,
    /// Number of samples.
    pub rows: usize,
    /// Samples a split; splits without samples are left out.
    pub splits: Vec<SplitSize>,
    /// The calibration rows by their use: to fit and for thresholds.
    pub calibration_halves: [usize; 2],
    /// Number of named groups; `None` where the table has no groups.
    pub groups: Option<usize>,
    /// Samples with a picture or video.
    pub with_media: usize,
    /// Of those, samples whose picture or video is not there.
    pub missing_media: usize,
    /// Numbers a sample where there are ready-made features.
    pub feature_width: Option<usize>,
    /// The share of cells of which nothing is known; `None` where there are no cells.
    pub unknown_share: Option<f64>,
    /// The concepts in the order of the table.
    pub concepts: Vec<ConceptSummary>,
    /// The pairs of concepts that go together or exclude each other most, the strongest first.
    pub pairs: Vec<Pair>,
    /// Hashes of the content.
    pub fingerprints: Fingerprints,
}

/// A split and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SplitSize {
    /// Which.
    pub split: Split,
    /// How many samples.
    pub rows: usize,
}

/// How common a concept is.
#[derive(Clone, Debug, Serialize)]
pub struct ConceptSummary {
    /// Its name.
    pub concept: String,
    /// Samples that show it.
    pub positives: u64,
    /// Samples that do not.
    pub negatives: u64,
    /// Samples of which that is unknown.
    pub unknown: u64,
    /// Positives among the samples of which it is known; `None` where it is of none.
    pub prevalence: Option<f64>,
}

/// Two concepts that go together, or that exclude each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// Samples that show both.
    pub both: u64,
    /// Samples of which both are known.
    pub known: u64,
    /// Correlation of the two over those, from -1 to 1.
    pub phi: f64,
    /// Samples with both, over what independent concepts would have.
    pub lift: f64,
}

/// Counts everything; `pairs` is how many pairs of concepts to keep.
///
/// # Errors
/// Features that cannot be read.
pub fn summarise(dataset: &Dataset, pairs: usize) -> Result<Summary> {
    let (table, manifest) = (dataset.table(), dataset.manifest());
    let size = |split: Split| dataset.splits().iter().filter(|other| **other == split).count();
    let sizes = Split::ALL.map(|split| SplitSize { split, rows: size(split) });
    let concepts: Vec<ConceptSummary> =
        table.concepts.iter().enumerate().map(|(c, name)| concept(&table.labels, c, name)).collect();
    let unknown: u64 = concepts.iter().map(|concept| concept.unknown).sum();
    let cells = (table.ids.len() * table.concepts.len()) as f64;
    let groups = table.groups.as_ref().map(|groups| {
        let mut names: Vec<&String> = groups.iter().filter(|group| !group.is_empty()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    });
    let media: Vec<PathBuf> = (0..table.ids.len()).filter_map(|row| dataset.media_path(row)).collect();
    Ok(Summary {
        name: manifest.name.clone(),
        kind: manifest.kind,
        rows: table.ids.len(),
        splits: sizes.into_iter().filter(|size| size.rows > 0).collect(),
        calibration_halves: [dataset.fit_half().len(), dataset.threshold_half().len()],
        groups,
        with_media: media.len(),
        missing_media: media.iter().filter(|path| !path.exists()).count(),
        feature_width: dataset.feature_width()?,
        unknown_share: (cells > 0.0).then(|| unknown as f64 / cells),
        pairs: strongest_pairs(&table.labels, &table.concepts, pairs),
        concepts,
        fingerprints: dataset.fingerprints()?,
    })
}

fn concept(labels: &TruthTable, column: usize, name: &str) -> ConceptSummary {
    let counts = labels.counts(column);
    let known = counts.holds + counts.fails;
    ConceptSummary {
        concept: name.to_owned(),
        positives: counts.holds,
        negatives: counts.fails,
        unknown: counts.unknown,
        prevalence: (known > 0).then(|| counts.holds as f64 / known as f64),
    }
}

/// The pairs with the largest absolute correlation. Pairs that cannot be judged, since one concept is constant where both
/// are known, are left out.
#[must_use]
pub(crate) fn strongest_pairs(labels: &TruthTable, names: &[String], most: usize) -> Vec<Pair> {
    let mut columns: Vec<usize> = (0..labels.columns()).filter(|&column| labels.counts(column).holds > 0).collect();
    columns.sort_by_key(|&column| (std::cmp::Reverse(labels.counts(column).holds), column));
    columns.truncate(MOST_PAIRED);
    columns.sort_unstable();
    let mut pairs: Vec<Pair> = Vec::new();
    for (index, &first) in columns.iter().enumerate() {
        for &second in &columns[index + 1..] {
            if let Some(pair) = pair_of(labels, first, second) {
                let (both, known, phi, lift) = pair;
                pairs.push(Pair { first: names[first].clone(), second: names[second].clone(), both, known, phi, lift });
            }
        }
        // The sort keeps the order of the table among equals, so cutting early changes nothing.
        pairs.sort_by(|a, b| b.phi.abs().total_cmp(&a.phi.abs()));
        pairs.truncate(most);
    }
    pairs
}

/// Samples with both, samples with both known, correlation and lift, all from counts of bits.
fn pair_of(labels: &TruthTable, first: usize, second: usize) -> Option<(u64, u64, f64, f64)> {
    let (a, b) = (labels.value().column(first), labels.value().column(second));
    let ones = |words: &mut dyn Iterator<Item = u64>| words.map(|word| u64::from(word.count_ones())).sum::<u64>();
    let both = ones(&mut a.iter().zip(b).map(|(a, b)| a & b));
    let (known, with_a, with_b) = match labels.known() {
        None => (labels.rows() as u64, labels.value().count_ones(first), labels.value().count_ones(second)),
        Some(known) => {
            let (known_a, known_b) = (known.column(first), known.column(second));
            (
                ones(&mut known_a.iter().zip(known_b).map(|(a, b)| a & b)),
                ones(&mut a.iter().zip(known_b).map(|(a, b)| a & b)),
                ones(&mut known_a.iter().zip(b).map(|(a, b)| a & b)),
            )
        }
    };
    let [n, n11, n1, n2] = [known, both, with_a, with_b].map(|count| count as f64);
    let spread = n1 * (n - n1) * n2 * (n - n2);
    (spread > 0.0).then(|| (both, known, (n * n11 - n1 * n2) / spread.sqrt(), n * n11 / (n1 * n2)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chimera_logic::bits::BitTable;

    #[test]
    fn pairs_equal_a_scalar_count() {
        let mut random = fastrand::Rng::with_seed(9);
        for rows in [1, 63, 200] {
            let value = BitTable::from_fn(rows, 4, |_, _| random.bool());
            let known = BitTable::from_fn(rows, 4, |_, _| random.u8(..) < 200);
            for labels in [TruthTable::complete(value.clone()), TruthTable::partial(value, known)] {
                let names: Vec<String> = (0..4).map(|column| column.to_string()).collect();
                for pair in strongest_pairs(&labels, &names, 10) {
                    let (a, b): (usize, usize) = (pair.first.parse().unwrap(), pair.second.parse().unwrap());
                    let cells: Vec<(f64, f64)> = (0..rows)
                        .filter_map(|row| labels.get(row, a).zip(labels.get(row, b)))
                        .map(|(a, b)| (f64::from(u8::from(a)), f64::from(u8::from(b))))
                        .collect();
                    let n = cells.len() as f64;
                    let (mean_a, mean_b) = (
                        cells.iter().map(|cell| cell.0).sum::<f64>() / n,
                        cells.iter().map(|cell| cell.1).sum::<f64>() / n,
                    );
                    // Pearson's correlation of the two columns.
                    let covariance: f64 = cells.iter().map(|(a, b)| (a - mean_a) * (b - mean_b)).sum();
                    let variance = |mean: f64| mean * (1.0 - mean) * n;
                    let phi = covariance / (variance(mean_a) * variance(mean_b)).sqrt();
                    assert!((pair.phi - phi).abs() < 1e-9, "{pair:?} {phi}");
                    assert_eq!(pair.known, cells.len() as u64);
                    assert_eq!(pair.both, cells.iter().filter(|cell| **cell == (1.0, 1.0)).count() as u64);
                }
            }
        }
    }
}
