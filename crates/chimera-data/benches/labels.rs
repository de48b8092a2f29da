//! Reading a Parquet table of 1,000,000 samples and 300 concepts into bit columns, against pandas reading the same file to
//! booleans, side by side; and the memory that reading takes at its peak, in tables of bits.
//!
//!     cargo bench -p chimera-data --bench labels -- --python "$PWD/.venv/bin/python"

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chimera_data::table::LabelTable;

const ROWS: usize = 1_000_000;
const CONCEPTS: usize = 300;
const TIMES: usize = 5;

fn main() {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let arguments: Vec<String> = std::env::args().collect();
    let Some(python) =
        arguments.iter().position(|argument| argument == "--python").and_then(|at| arguments.get(at + 1))
    else {
        println!("skipped: give a Python that has pandas and pyarrow: -- --python PATH");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("labels.parquet");
    pandas(python, "write", &path, &[ROWS, CONCEPTS]);

    let before = anonymous("RssAnon");
    let started = Instant::now();
    let table = LabelTable::read(&path).expect("a table");
    let mut ours = started.elapsed();
    let ones: u64 = (0..CONCEPTS).map(|concept| table.labels.counts(concept).holds).sum();
    let bits = (ROWS * CONCEPTS) as f64 / 8.0;
    // The mapped file is no part of it: the peak of all resident pages, less those that are not anonymous now.
    let kept = anonymous("RssAnon") - before;
    let peak = anonymous("VmHWM") - (anonymous("VmRSS") - anonymous("RssAnon")) - before;
    drop(table);
    let mut theirs = Duration::MAX;
    let mut their_ones = 0;
    for _ in 0..TIMES {
        let answer = pandas(python, "read", &path, &[1]);
        let mut words = answer.split_whitespace();
        let seconds: f64 = words.next().and_then(|word| word.parse().ok()).expect("seconds");
        their_ones = words.next().and_then(|word| word.parse().ok()).expect("a count");
        theirs = theirs.min(Duration::from_secs_f64(seconds));
        let started = Instant::now();
        let table = LabelTable::read(&path).expect("a table");
        ours = ours.min(started.elapsed());
        drop(table);
    }
    assert_eq!(ones, their_ones, "both read the same labels");
    println!(
        "{ROWS} samples x {CONCEPTS} concepts, {:.0} MB of Parquet:",
        megabytes(fs::metadata(&path).expect("a file").len() as f64)
    );
    println!("  ours {ours:.2?}, pandas {theirs:.2?}: {:.1} times faster", theirs.as_secs_f64() / ours.as_secs_f64());
    println!(
        "  anonymous memory: {:.2} tables of bits ({:.1} MB each) at the peak, {:.2} kept",
        peak / bits,
        megabytes(bits),
        kept / bits
    );
}

/// Runs the Python side and returns what it prints.
fn pandas(python: &str, task: &str, path: &Path, numbers: &[usize]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/labels_pandas.py");
    let mut command = Command::new(python);
    command.args([script, task]).arg(path).args(numbers.iter().map(ToString::to_string));
    let output = command.output().expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Bytes that the system counts for this process under a name.
fn anonymous(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a line");
    1024.0 * line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number")
}

fn megabytes(bytes: f64) -> f64 {
    bytes / 1e6
}
