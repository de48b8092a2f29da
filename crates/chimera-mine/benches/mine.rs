//! Mining against what one would write in Python, side by side: how often 600 concepts go together on 1,000,000 rows against
//! numpy's `Y.T @ Y` in float32, and all rules over three of 240 concepts on 7,000 rows against mlxtend's itemsets and rules.
//!
//!     cargo bench -p chimera-mine --bench mine -- --python "$PWD/.venv/bin/python"
//!
//! The Python needs numpy, pandas and mlxtend. Counts are compared, all of them.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints its result or stops"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chimera_data::dataset::Dataset;
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_mine::options::MineOptions;
use chimera_mine::pairs::PairCounts;
use chimera_mine::shape::Shape;
use chimera_mine::{Mining, mine};

const CONCEPTS: usize = 600;
const ROWS: usize = 1_000_000;
const COMPOUND_CONCEPTS: usize = 240;
const COMPOUND_ROWS: usize = 7_000;
const TIMES: usize = 5;
/// Fewer, since mlxtend takes its time. Both sides are run as often, and the best run counts.
const COMPOUND_TIMES: usize = 2;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let named =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let Some(python) = named("--python") else {
        println!("skipped: give a Python that has numpy, pandas and mlxtend: -- --python PATH");
        return;
    };
    let threads = std::thread::available_parallelism().expect("a number of cores");
    let folder = tempfile::tempdir().expect("a folder");
    pairs(python, folder.path(), threads);
    compounds(python, folder.path(), threads);
}

/// All pairs of concepts.
fn pairs(python: &str, folder: &Path, threads: NonZeroUsize) {
    let mut random = fastrand::Rng::with_seed(1);
    let mut bits = BitTable::zeros(ROWS, CONCEPTS);
    for column in 0..CONCEPTS {
        // Half, a quarter or an eighth of the rows.
        let mask = bits.tail_mask();
        let words = bits.column_mut(column);
        let mut word = || (0..=column % 3).fold(u64::MAX, |word, _| word & random.u64(..));
        words.iter_mut().for_each(|to| *to = word());
        *words.last_mut().expect("rows") &= mask;
    }
    let file = folder.join("bits");
    let bytes: Vec<u8> =
        (0..CONCEPTS).flat_map(|column| bits.column(column).iter().flat_map(|word| word.to_le_bytes())).collect();
    fs::write(&file, bytes).expect("bits");
    let labels = TruthTable::complete(bits);
    let columns: Vec<usize> = (0..CONCEPTS).collect();
    let (mut ours, mut counts) = (Duration::MAX, None);
    for _ in 0..TIMES {
        let started = Instant::now();
        counts = Some(PairCounts::count(&labels, &columns, threads).expect("counts"));
        ours = ours.min(started.elapsed());
    }
    let counts = counts.expect("counts");
    let out = folder.join("counts");
    let words = [ROWS, CONCEPTS, TIMES, threads.get()].map(|number| number.to_string());
    let answer = run(
        python,
        threads,
        &["pairs", &file.to_string_lossy(), &out.to_string_lossy(), &words[0], &words[1], &words[2]],
    );
    let theirs: f64 = answer.trim().parse().expect("seconds");
    let theirs_counts: Vec<u32> = fs::read(&out)
        .expect("counts of numpy")
        .as_chunks::<4>()
        .0
        .iter()
        .map(|bytes| u32::from_le_bytes(*bytes))
        .collect();
    assert_eq!(theirs_counts.len(), CONCEPTS * CONCEPTS);
    for (at, &count) in theirs_counts.iter().enumerate() {
        assert_eq!(counts.both(at / CONCEPTS, at % CONCEPTS), u64::from(count), "pair {at}");
    }
    let ratio = theirs / ours.as_secs_f64();
    println!(
        "pairs of {CONCEPTS} concepts on {ROWS} rows, {threads} threads: ours {ours:.3?}, numpy {theirs:.3} s: {ratio:.1} times faster (target 4)"
    );
}

/// All rules over three concepts.
fn compounds(python: &str, folder: &Path, threads: NonZeroUsize) {
    let table = folder.join("ds");
    fs::create_dir_all(&table).expect("a folder");
    fs::write(table.join("samples.csv"), drawn()).expect("samples");
    fs::write(table.join("dataset.toml"), "name = 'drawn'\nkind = 'labels'\n").expect("a manifest");
    let dataset = Dataset::open(&table).expect("a dataset");
    let options = MineOptions { holdout: 0.0, max_rules: 200, ..MineOptions::default() };
    let (mut ours, mut mined) = (Duration::MAX, None);
    for _ in 0..COMPOUND_TIMES {
        let started = Instant::now();
        mined = Some(mine(&dataset, &options, "", threads, &|_, _| {}).expect("rules"));
        ours = ours.min(started.elapsed());
    }
    let mined = mined.expect("rules");
    let file = table.join("samples.csv").to_string_lossy().into_owned();
    let answer = run(python, threads, &["compounds", &file, "0.05", "0.995", &COMPOUND_TIMES.to_string()]);
    let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
    let seconds = ["apriori", "fpgrowth"].map(|name| answer[name].as_f64().expect("seconds"));
    let compared = compare(&mined, &answer["rules"]);
    let theirs = seconds[0].min(seconds[1]);
    let ratio = theirs / ours.as_secs_f64();
    let [apriori, fpgrowth] = seconds;
    println!(
        "rules over 3 of {COMPOUND_CONCEPTS} concepts on {COMPOUND_ROWS} rows, {threads} threads: ours {ours:.3?} with all tests, mlxtend {apriori:.1} s (apriori), {fpgrowth:.1} s (fpgrowth): {ratio:.0} times faster (target 20); {compared} rules compared"
    );
}

/// Labels as of videos: few concepts are common, and some go with two others.
fn drawn() -> String {
    let mut random = fastrand::Rng::with_seed(2);
    let names: Vec<String> = (0..COMPOUND_CONCEPTS).map(|concept| format!("c{concept}")).collect();
    let mut text = format!("id,split,{}\n", names.join(","));
    for row in 0..COMPOUND_ROWS {
        let mut cells: Vec<bool> =
            (0..COMPOUND_CONCEPTS).map(|concept| random.f64() < 0.6 / (1.0 + concept as f64 / 25.0)).collect();
        for third in (40..COMPOUND_CONCEPTS).step_by(10) {
            cells[third] |= cells[third % 17] && cells[17 + third % 13];
        }
        let split = if row == 0 { "calibration" } else { "train" };
        let _ = write!(text, "s{row},{split}");
        cells.iter().for_each(|&cell| text.push_str(if cell { ",1" } else { ",0" }));
        text.push('\n');
    }
    text
}

/// Every rule of ours with two conditions is one of theirs, with the same counts.
fn compare(mined: &Mining, theirs: &serde_json::Value) -> usize {
    let theirs: BTreeMap<[u64; 3], [u64; 2]> = theirs
        .as_array()
        .expect("a list of rules")
        .iter()
        .map(|rule| [0, 1, 2, 3, 4].map(|at| rule[at].as_u64().expect("a number")))
        .map(|[a, b, c, support, kept]| ([a, b, c], [support, kept]))
        .collect();
    let mut compared = 0;
    for rule in &mined.rules {
        if let Shape::And([a, b], demand) = rule.shape
            && !demand.negated
        {
            let key = [a, b, demand.concept].map(|concept| concept as u64);
            assert_eq!(theirs.get(&key), Some(&[rule.support, rule.kept]), "{}", rule.formula);
            compared += 1;
        }
    }
    assert!(compared > 0, "no rule to compare");
    compared
}

fn run(python: &str, threads: NonZeroUsize, words: &[&str]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/mine_numpy.py");
    let mut command = Command::new(python);
    for variable in ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(variable, threads.to_string());
    }
    let output = command.arg(script).args(words).output().expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
