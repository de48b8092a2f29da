//! Metrics of ranks: by hand, against scikit-learn, against definitions read off all pairs and thresholds, and what
//! they must not depend on.

use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::metric::columns::{Positive, ScoreTable, rank_columns};
use chimera_data::metric::label_bits::LabelBits;
use chimera_data::metric::ranking::{RankMetrics, Ranking};
use chimera_logic::bits::{BitTable, TruthTable};

fn metrics(scores: &[f32], labels: &[bool]) -> RankMetrics {
    Ranking::new(scores, labels).unwrap().metrics()
}

fn close(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() < 1e-12,
        (found, expected) => found == expected,
    }
}

fn assert_metrics(found: RankMetrics, auroc: Option<f64>, average_precision: Option<f64>, fpr: Option<f64>) {
    assert!(close(found.auroc, auroc), "auroc {found:?}, expected {auroc:?}");
    assert!(close(found.average_precision, average_precision), "{found:?}, expected {average_precision:?}");
    assert!(close(found.fpr_at_95_tpr, fpr), "fpr {found:?}, expected {fpr:?}");
}

#[test]
fn small_cases_by_hand() {
    // + - + -: three of four pairs in order; precision 1 and 2/3; all positives are reached after one of two negatives.
    let found = metrics(&[4.0, 3.0, 2.0, 1.0], &[true, false, true, false]);
    assert_metrics(found, Some(3.0 / 4.0), Some((1.0 + 2.0 / 3.0) / 2.0), Some(0.5));
    assert_eq!((found.positives, found.negatives), (2, 2));
    // One positive tied with one of three negatives, one negative above: half a pair and one whole; 1 of 3 called.
    let found = metrics(&[0.5, 0.5, 0.9, 0.1], &[true, false, false, false]);
    assert_metrics(found, Some(1.5 / 3.0), Some(1.0 / 3.0), Some(2.0 / 3.0));
    // All tied: chance; the precision is the prevalence; every negative is called.
    assert_metrics(metrics(&[7.0; 5], &[true, true, false, false, false]), Some(0.5), Some(0.4), Some(1.0));
    // Both zeros are one score.
    assert_metrics(metrics(&[0.0, -0.0], &[true, false]), Some(0.5), Some(0.5), Some(1.0));
    // 19 of 20 positives are exactly 95 %: the last one, below the negative, is not needed.
    let scores: Vec<f32> = (0..21).map(|rank| -(rank as f32)).collect();
    let labels: Vec<bool> = (0..21).map(|rank| rank != 19).collect();
    assert_metrics(metrics(&scores, &labels), Some(19.0 / 20.0), Some((19.0 + 20.0 / 21.0) / 20.0), Some(0.0));
    // Infinities are scores like any other.
    assert_metrics(metrics(&[f32::INFINITY, f32::NEG_INFINITY], &[true, false]), Some(1.0), Some(1.0), Some(0.0));
}

#[test]
fn the_undefined_is_none_and_what_is_no_number_is_refused() {
    for labels in [&[][..], &[true; 3], &[false; 3]] {
        let found = metrics(&[1.0, 2.0, 3.0][..labels.len()], labels);
        assert_metrics(found, None, None, None);
        assert_eq!(found.positives + found.negatives, labels.len() as u64);
    }
    let error = Ranking::new(&[1.0, f32::NAN], &[true, false]).unwrap_err();
    assert_eq!(error.to_string(), "expected numbers as scores, got NaN in row 1");
    let error = Ranking::new(&[1.0], &[true, false]).unwrap_err();
    assert_eq!(error.to_string(), "expected a score for each of 2 labels, got 1");
    let error = Ranking::new(&[1.0], &[true]).unwrap().resampled(&[1, 1]).unwrap_err();
    assert_eq!(error.to_string(), "expected a count for each of 1 rows, got 2");
    let error = Ranking::new(&[1.0], &[true]).unwrap().resampled(&[u32::MAX]).unwrap_err();
    assert_eq!(error.to_string(), "expected fewer than 2147483648 draws, got 4294967295");
}

#[test]
fn accuracy_counts_the_threshold_itself_as_positive() {
    let ranking = Ranking::new(&[0.9, 0.5, 0.5, 0.1], &[true, true, false, false]).unwrap();
    let expected = [(0.5, 3.0), (0.6, 3.0), (0.05, 2.0), (f32::INFINITY, 2.0), (0.9, 3.0), (f32::NEG_INFINITY, 2.0)];
    for (threshold, right) in expected {
        assert_eq!(ranking.accuracy(threshold), Some(right / 4.0), "threshold {threshold}");
    }
    assert_eq!(ranking.accuracy(f32::NAN), None);
    assert_eq!(Ranking::new(&[], &[]).unwrap().accuracy(0.0), None);
    assert_eq!(Ranking::new(&[-0.0], &[true]).unwrap().accuracy(0.0), Some(1.0));
}

#[test]
fn values_of_scikit_learn() {
    #[expect(clippy::disallowed_methods, reason = "a test asks where the real data are")]
    let Some(data) = std::env::var_os("CHIMERA_DATA") else {
        eprintln!("skipped: CHIMERA_DATA is not set");
        return;
    };
    let text = std::fs::read_to_string(Path::new(&data).join("metrics.json")).unwrap();
    let file: serde_json::Value = serde_json::from_str(&text).unwrap();
    let cases = file["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 7);
    for case in cases {
        let scores: Vec<f32> =
            case["scores"].as_array().unwrap().iter().map(|score| score.as_f64().unwrap() as f32).collect();
        let labels: Vec<bool> =
            case["labels"].as_array().unwrap().iter().map(|label| label.as_u64().unwrap() == 1).collect();
        let value = |name: &str| case[name].as_f64();
        let found = metrics(&scores, &labels);
        assert_metrics(found, value("auroc"), value("average_precision"), value("fpr_at_95_tpr"));
    }
}

/// Rows as an oracle sees them: score, label, how often drawn.
type Drawn = (f32, bool, u32);

/// Metrics read off their definitions, from all pairs and all thresholds.
fn oracle(rows: &[Drawn]) -> (Option<f64>, Option<f64>, Option<f64>) {
    let of = |label: bool| rows.iter().filter(move |row| row.1 == label);
    let count = |label: bool, threshold: f32| {
        of(label).filter(|row| row.0 >= threshold).map(|row| f64::from(row.2)).sum::<f64>()
    };
    let (positives, negatives) = (count(true, f32::NEG_INFINITY), count(false, f32::NEG_INFINITY));
    if positives == 0.0 || negatives == 0.0 {
        return (None, None, None);
    }
    let pair = |high: &Drawn, low: &Drawn| {
        let order = if high.0 > low.0 { 1.0 } else { f64::from(u8::from(high.0 == low.0)) / 2.0 };
        order * f64::from(high.2) * f64::from(low.2)
    };
    let pairs: f64 = of(true).map(|high| of(false).map(|low| pair(high, low)).sum::<f64>()).sum();
    let mut thresholds: Vec<f32> = rows.iter().map(|row| row.0).collect();
    thresholds.sort_by(|a, b| b.total_cmp(a));
    thresholds.dedup_by(|a, b| a == b);
    let (mut recall, mut area, mut fpr) = (0.0, 0.0, None);
    for threshold in thresholds {
        let (hits, misses) = (count(true, threshold), count(false, threshold));
        if hits > 0.0 {
            area += (hits / positives - recall) * hits / (hits + misses);
        }
        recall = hits / positives;
        if fpr.is_none() && recall >= 0.95 {
            fpr = Some(misses / negatives);
        }
    }
    (Some(pairs / (positives * negatives)), Some(area), fpr)
}

/// Scores with many ties or few, of any size, both zeros among them.
fn random_rows(random: &mut fastrand::Rng, rows: usize) -> (Vec<f32>, Vec<bool>) {
    let (levels, share) = ([2, 5, 40, 100_000][random.usize(..4)], random.f64());
    let scores = (0..rows).map(|_| match random.i32(-levels..=levels) {
        0 if random.bool() => -0.0,
        level => level as f32 / 8.0,
    });
    let scores = scores.collect();
    (scores, (0..rows).map(|_| random.f64() < share).collect())
}

#[test]
fn metrics_equal_their_definitions() {
    let mut random = fastrand::Rng::with_seed(17);
    for round in 0..600 {
        let rows = if round % 100 == 99 { 700 } else { random.usize(..60) };
        let (scores, labels) = random_rows(&mut random, rows);
        let ranking = Ranking::new(&scores, &labels).unwrap();
        let all: Vec<Drawn> = scores.iter().zip(&labels).map(|(&score, &label)| (score, label, 1)).collect();
        let (auroc, average_precision, fpr) = oracle(&all);
        assert_metrics(ranking.metrics(), auroc, average_precision, fpr);
        // Resampled rows: as if each stood there as often as it was drawn.
        let counts: Vec<u32> = (0..rows).map(|_| random.u32(..4)).collect();
        let drawn: Vec<Drawn> = all.iter().zip(&counts).map(|(row, &count)| (row.0, row.1, count)).collect();
        let (auroc, average_precision, fpr) = oracle(&drawn);
        assert_metrics(ranking.resampled(&counts).unwrap(), auroc, average_precision, fpr);
        assert_eq!(ranking.resampled(&vec![1; rows]).unwrap(), ranking.metrics());
        let right = all.iter().filter(|row| (row.0 >= 0.25) == row.1).count();
        assert_eq!(ranking.accuracy(0.25), (rows > 0).then(|| right as f64 / rows as f64));
    }
}

#[test]
fn only_order_matters_and_exchanged_labels_turn_auroc_round() {
    let mut random = fastrand::Rng::with_seed(23);
    for _ in 0..200 {
        let rows = random.usize(2..900);
        let (scores, labels) = random_rows(&mut random, rows);
        let found = metrics(&scores, &labels);
        // Exact in f32 for these scores, so that ties stay ties and no new ones arise.
        let moved: Vec<f32> = scores.iter().map(|score| score * 4.0 + 1.0).collect();
        assert_eq!(metrics(&moved, &labels), found);
        let cubed: Vec<f32> = scores.iter().map(|score| score.powi(3)).collect();
        assert_eq!(metrics(&cubed, &labels), found);
        let mut order: Vec<usize> = (0..rows).collect();
        random.shuffle(&mut order);
        let (mixed_scores, mixed_labels): (Vec<f32>, Vec<bool>) =
            order.iter().map(|&row| (scores[row], labels[row])).unzip();
        assert_eq!(metrics(&mixed_scores, &mixed_labels), found);
        let exchanged: Vec<bool> = labels.iter().map(|label| !label).collect();
        let turned = metrics(&scores, &exchanged);
        assert!(close(turned.auroc, found.auroc.map(|auroc| 1.0 - auroc)));
        let negated: Vec<f32> = scores.iter().map(|score| -score).collect();
        assert!(close(metrics(&negated, &exchanged).auroc, found.auroc));
    }
}

#[test]
fn columns_skip_the_unknown_on_any_number_of_threads() {
    let mut random = fastrand::Rng::with_seed(29);
    for (rows, columns) in [(0, 3), (70, 0), (1, 1), (130, 37), (1000, 16)] {
        let names: Vec<String> = (0..columns).map(|column| format!("concept {column}")).collect();
        let mut scores: Vec<f32> = (0..rows * columns).map(|_| random.i32(-30..30) as f32).collect();
        let value = BitTable::from_fn(rows, columns, |_, _| random.bool());
        let known = BitTable::from_fn(rows, columns, |_, _| random.u8(..4) > 0);
        let labels = TruthTable::partial(value, known);
        // A score without a known label may be anything.
        for (cell, score) in scores.iter_mut().enumerate() {
            if labels.get(cell / columns, cell % columns).is_none() {
                *score = f32::NAN;
            }
        }
        let table = ScoreTable::new(&scores, rows, &names).unwrap();
        for (threads, positive) in [(1, Positive::Holds), (3, Positive::Holds), (8, Positive::Fails)] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let measured =
                rank_columns(table, &labels, positive, threads, |column, ranking| Ok((column, ranking.metrics())));
            let measured = measured.unwrap();
            assert_eq!(measured.len(), columns);
            for (column, (number, found)) in measured.into_iter().enumerate() {
                let cells =
                    (0..rows).filter_map(|row| Some((scores[row * columns + column], labels.get(row, column)?)));
                let (column_scores, column_labels): (Vec<f32>, Vec<bool>) =
                    cells.map(|(score, label)| (score, label == (positive == Positive::Holds))).unzip();
                assert_eq!((number, found), (column, metrics(&column_scores, &column_labels)));
            }
        }
    }
}

#[test]
fn wrong_columns_are_refused_by_name() {
    let names = ["a", "b"].map(str::to_owned);
    let labels = TruthTable::complete(BitTable::from_fn(2, 2, |row, _| row == 0));
    let error = ScoreTable::new(&[0.0; 3], 2, &names).unwrap_err();
    assert_eq!(error.to_string(), "expected 2 rows of 2 scores, got 3 scores");
    let ranked = |scores: &[f32], rows, labels: &TruthTable| {
        let table = ScoreTable::new(scores, rows, &names).unwrap();
        rank_columns(table, labels, Positive::Holds, NonZeroUsize::MIN, |_, _| Ok(())).unwrap_err().to_string()
    };
    let message = "expected numbers as scores of `b`, got NaN in row 1";
    assert_eq!(ranked(&[0.0, 0.0, 0.0, f32::NAN], 2, &labels), message);
    assert_eq!(ranked(&[0.0; 2], 1, &labels), "expected a score for each of 2 labels, got 1");
    let wide = TruthTable::complete(BitTable::zeros(2, 3));
    assert_eq!(ranked(&[0.0; 4], 2, &wide), "expected scores for 3 columns of labels, got 2");
    let bits = LabelBits::of(&labels, 0);
    assert_eq!(Ranking::of_bits(&[0.0], bits).unwrap_err().to_string(), "expected a score for each of 2 labels, got 1");
    let found = Ranking::of_bits(&[3.0, 1.0], bits.negated()).unwrap();
    assert_eq!((found.metrics().auroc, found.positives(), found.negatives()), (Some(0.0), 1, 1));
}

#[test]
fn double_precision_keeps_apart_what_single_precision_cannot() {
    // 1 - 1e-12 and 1 - 2e-12 are one number in f32.
    let scores = [Some(1.0 - 1e-12), Some(1.0 - 2e-12), None, Some(0.5), Some(0.5)];
    let labels = [Some(true), Some(false), Some(true), Some(false), None];
    let ranking = Ranking::of_doubles(&scores, &labels).unwrap();
    assert_metrics(ranking.metrics(), Some(1.0), Some(1.0), Some(0.0));
    assert_eq!((ranking.rows(), ranking.positives(), ranking.negatives()), (5, 1, 2));
    assert_eq!(ranking.roc(), [(0.0, 0.0), (0.0, 1.0), (0.5, 1.0), (1.0, 1.0)]);
    let mut random = fastrand::Rng::with_seed(31);
    for _ in 0..200 {
        let rows = random.usize(..80);
        let (scores, labels) = random_rows(&mut random, rows);
        let doubles: Vec<Option<f64>> = scores.iter().map(|&score| Some(f64::from(score))).collect();
        let known: Vec<Option<bool>> = labels.iter().copied().map(Some).collect();
        let found = Ranking::of_doubles(&doubles, &known).unwrap();
        assert_eq!(found.metrics(), metrics(&scores, &labels));
        // The area below the curve, by trapezoids, is the AUROC.
        let area: f64 = found.roc().windows(2).map(|two| (two[1].0 - two[0].0) * (two[0].1 + two[1].1) / 2.0).sum();
        assert!((area - found.metrics().auroc.unwrap_or(0.0)).abs() < 1e-9);
    }
    assert!(Ranking::of_doubles(&[Some(f64::NAN)], &[Some(true)]).is_err());
}
