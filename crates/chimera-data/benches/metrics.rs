//! AUROC, average precision, false-positive rate and accuracy of 300 columns of 100,000 scores, against a plain sort of
//! (score, label) pairs on one thread, and against numpy doing what scikit-learn does; side by side in one run; and the AUROC of 1,000,000 scores against scikit-learn.
//!
//!     cargo bench -p chimera-data --bench metrics
//!     cargo bench -p chimera-data --bench metrics -- --python "$PWD/.venv/bin/python"

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chimera_data::metric::columns::{Positive, ScoreTable, rank_columns};
use chimera_data::metric::label_bits::LabelBits;
use chimera_data::metric::ranking::Ranking;
use chimera_logic::bits::{BitTable, TruthTable};

const ROWS: usize = 100_000;
const COLUMNS: usize = 300;
const TIMES: usize = 3;

/// Scores of one column, against scikit-learn.
const MANY: usize = 1_000_000;

fn main() {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let arguments: Vec<String> = std::env::args().collect();
    let python = arguments.iter().position(|argument| argument == "--python").and_then(|at| arguments.get(at + 1));

    let mut random = fastrand::Rng::with_seed(123);
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("concept {column}")).collect();
    let labels = BitTable::from_fn(ROWS, COLUMNS, |_, column| random.usize(..2 * COLUMNS) <= column);
    let labels = TruthTable::complete(labels);
    let mut scores = vec![0.0; ROWS * COLUMNS];
    for (cell, score) in scores.iter_mut().enumerate() {
        let holds = labels.value().get(cell / COLUMNS, cell % COLUMNS);
        *score = random.f32() + random.f32() + if holds { 0.3 } else { 0.0 };
    }
    let table = ScoreTable::new(&scores, ROWS, &names).expect("a table");
    let threads = std::thread::available_parallelism().expect("a number of threads");
    let on_threads = |threads: NonZeroUsize| {
        let measured = rank_columns(table, &labels, Positive::Holds, threads, |_, ranking| {
            Ok((ranking.metrics(), ranking.accuracy(1.0)))
        });
        measured.expect("metrics").iter().filter_map(|(metrics, _)| metrics.auroc).sum::<f64>()
    };
    let plain = || {
        let mut column = Vec::with_capacity(ROWS);
        let of_column = |number: usize| {
            column.clear();
            column.extend((0..ROWS).map(|row| (scores[row * COLUMNS + number], labels.value().get(row, number))));
            column.sort_by(|first, second| second.0.total_cmp(&first.0));
            sorted_metrics(&column)
        };
        (0..COLUMNS).map(of_column).sum::<f64>()
    };
    let (mut ours, mut alone, mut theirs) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..TIMES {
        let sums = [
            timed(&mut ours, || on_threads(threads)),
            timed(&mut alone, || on_threads(NonZeroUsize::MIN)),
            timed(&mut theirs, plain),
        ];
        assert!(sums.iter().all(|sum| (sum - sums[0]).abs() < 1e-6), "all give the same: {sums:?}");
    }
    println!("{COLUMNS} columns x {ROWS} rows, four metrics each:");
    println!("  a plain sort takes {:.1} times as long on one thread", ratio(theirs, alone));
    println!("  and {:.1} times as long as {threads} threads", ratio(theirs, ours));

    let column: Vec<f32> = (0..ROWS).map(|row| scores[row * COLUMNS]).collect();
    let ranking = Ranking::of_bits(&column, LabelBits::of(&labels, 0)).expect("a ranking");
    let mut counts = vec![0; ROWS];
    (0..ROWS).for_each(|_| counts[random.usize(..ROWS)] += 1);
    let (mut sorting, mut resampling) = (Duration::MAX, Duration::MAX);
    for _ in 0..10 * TIMES {
        timed(&mut sorting, || Ranking::of_bits(&column, LabelBits::of(&labels, 0)).expect("a ranking").metrics());
        timed(&mut resampling, || ranking.resampled(&counts).expect("metrics"));
    }
    println!("  ranking anew takes {:.1} times as long as measuring a resample", ratio(sorting, resampling));

    if let Some(python) = python {
        println!("  numpy takes {:.1} times as long on one thread", numpy(python, &scores, &labels, alone));
        println!("{MANY} scores, AUROC:\n  scikit-learn takes {:.1} times as long", scikit_learn(python, &mut random));
    } else {
        println!("  numpy skipped: give a Python that has it: -- --python PATH");
    }
}

/// Runs something, keeps the shortest time.
fn timed<T>(best: &mut Duration, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = std::hint::black_box(work());
    *best = (*best).min(started.elapsed());
    result
}

fn ratio(long: Duration, short: Duration) -> f64 {
    long.as_secs_f64() / short.as_secs_f64()
}

/// What one would write without this library; gives the AUROC.
fn sorted_metrics(column: &[(f32, bool)]) -> f64 {
    let positives = column.iter().filter(|row| row.1).count() as f64;
    let negatives = column.len() as f64 - positives;
    let (mut hits, mut misses, mut area, mut precision, mut fpr) = (0.0, 0.0, 0.0, 0.0, None);
    for tie in column.chunk_by(|first, second| first.0 == second.0) {
        let found = tie.iter().filter(|row| row.1).count() as f64;
        let wrong = tie.len() as f64 - found;
        area += wrong * (hits + found / 2.0);
        (hits, misses) = (hits + found, misses + wrong);
        precision += found * hits / (hits + misses);
        if fpr.is_none() && hits >= 0.95 * positives {
            fpr = Some(misses / negatives);
        }
    }
    let right = column.iter().filter(|row| (row.0 >= 1.0) == row.1).count();
    std::hint::black_box((precision / positives, fpr, right));
    area / positives / negatives
}

/// How much longer scikit-learn takes for the AUROC of one long column, on one thread as we do.
fn scikit_learn(python: &str, random: &mut fastrand::Rng) -> f64 {
    let labels: Vec<bool> = (0..MANY).map(|_| random.u8(..10) == 0).collect();
    let scores: Vec<f32> = labels.iter().map(|&one| random.f32() + if one { 0.3 } else { 0.0 }).collect();
    let (mut best, mut auroc) = (Duration::MAX, None);
    for _ in 0..2 * TIMES {
        auroc = timed(&mut best, || Ranking::new(&scores, &labels).expect("a ranking").metrics().auroc);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    std::fs::write(folder.path().join("scores"), bytes).expect("a file");
    let bits: Vec<u8> = labels.iter().map(|&label| u8::from(label)).collect();
    std::fs::write(folder.path().join("labels"), bits).expect("a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/metrics_sklearn.py");
    let output = Command::new(python).arg(script).arg(folder.path()).arg((2 * TIMES).to_string()).output();
    let output = output.expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    let numbers: Vec<f64> = answer.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert!((numbers[1] - auroc.expect("an AUROC")).abs() < 1e-9, "both give the same: {numbers:?} {auroc:?}");
    numbers[0] / best.as_secs_f64()
}

/// How much longer numpy takes for the same columns.
fn numpy(python: &str, scores: &[f32], labels: &TruthTable, ours: Duration) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scores");
    let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    std::fs::write(&path, bytes).expect("a file");
    let bits: Vec<u8> =
        (0..ROWS * COLUMNS).map(|cell| u8::from(labels.value().get(cell / COLUMNS, cell % COLUMNS))).collect();
    std::fs::write(folder.path().join("labels"), bits).expect("a file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/metrics_numpy.py");
    let mut command = Command::new(python);
    command.arg(script).arg(folder.path()).args([ROWS, COLUMNS, TIMES].map(|number| number.to_string()));
    let output = command.output().expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer = String::from_utf8_lossy(&output.stdout).into_owned();
    let seconds: f64 = answer.trim().parse().expect("seconds");
    seconds / ours.as_secs_f64()
}
