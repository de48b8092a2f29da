//! Labels of 41,000 pictures from 300,000 rows of boxes of Open Images, with the real classes and hierarchy: ours against pandas
//! doing the same joins, side by side.
//!
//!     cargo bench -p chimera-data --bench openimages -- --data DIR --python "$PWD/.venv/bin/python"
//!
//! DIR holds `class-descriptions-boxable.csv` and `bbox_labels_600_hierarchy.json`; boxes are drawn here.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use chimera_data::import::{BoxFile, OPENIMAGES_TOP, OpenImagesImport, SplitRule, label_openimages};
use chimera_data::split::Split;
use chimera_data::table::LabelTable;

const ROWS: usize = 300_000;
const PICTURES: usize = 41_000;
const TIMES: usize = 5;

fn main() {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let arguments: Vec<String> = std::env::args().collect();
    let named =
        |name: &str| arguments.iter().position(|argument| argument == name).and_then(|at| arguments.get(at + 1));
    let (Some(data), Some(python)) = (named("--data"), named("--python")) else {
        println!("skipped: give Open Images' classes and a Python that has pandas: -- --data DIR --python PATH");
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let [names, tree] =
        ["class-descriptions-boxable.csv", "bbox_labels_600_hierarchy.json"].map(|name| Path::new(data).join(name));
    let boxes = folder.path().join("train-annotations-bbox.csv");
    fs::write(&boxes, drawn(&names)).expect("boxes");
    let import = OpenImagesImport {
        boxes: vec![BoxFile { split: Some("train".to_owned()), path: boxes.clone() }],
        classes: Some(names.clone()),
        hierarchy: Some(tree.clone()),
        images: Some(folder.path().to_owned()),
        ..OpenImagesImport::default()
    };
    // All pictures are for training, so that both sides count the same.
    let mut import = import;
    import.options.split = SplitRule::Shares(vec![(Split::Train, 1.0)]);
    let (mut ours, mut theirs, mut counts) = (Duration::MAX, Duration::MAX, Vec::new());
    for _ in 0..TIMES {
        let started = Instant::now();
        let (table, _) = label_openimages(&import).expect("labels");
        ours = ours.min(started.elapsed());
        counts = vec![trues(&table), beyond(&table)];
        let answer = pandas(python, &[&boxes, &names, &tree]);
        let mut words = answer.split_whitespace();
        theirs = theirs.min(Duration::from_secs_f64(words.next().and_then(|word| word.parse().ok()).expect("seconds")));
        let others: Vec<usize> = words.map(|word| word.parse().expect("a count")).collect();
        assert_eq!(counts, others, "both give the same labels");
    }
    let megabytes = fs::metadata(&boxes).expect("boxes").len() as f64 / 1e6;
    println!("{ROWS} rows of boxes ({megabytes:.0} MB), {PICTURES} pictures, {OPENIMAGES_TOP} concepts:");
    println!("  {} labels are true, {} ancestors are beyond the vocabulary", counts[0], counts[1]);
    println!("  ours {ours:.2?}, pandas {theirs:.2?}: {:.1} times faster", theirs.as_secs_f64() / ours.as_secs_f64());
}

/// Boxes as in the official files: rows of a picture follow each other, and few classes have most of them.
fn drawn(names: &Path) -> String {
    let names = fs::read_to_string(names).expect("names of classes");
    let ids: Vec<&str> = names.lines().filter_map(|line| line.split(',').next()).collect();
    let mut random = fastrand::Rng::with_seed(123);
    let mut text = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside\n"
        .to_owned();
    for row in 0..ROWS {
        let picture = row * PICTURES / ROWS;
        let class = ids[((ids.len() as f64).powf(random.f64()) as usize - 1).min(ids.len() - 1)];
        let mut side = || {
            let (one, other) = (random.f64() * 0.8, random.f64() * 0.19 + 0.01);
            (one, one + other)
        };
        let ((left, right), (top, bottom)) = (side(), side());
        let flag = random.u8(0..2);
        let _ =
            writeln!(text, "{picture:016x},xclick,{class},1,{left:.6},{right:.6},{top:.6},{bottom:.6},{flag},0,0,0,0");
    }
    text
}

fn trues(table: &LabelTable) -> usize {
    (0..table.concepts.len()).map(|column| table.labels.counts(column).holds as usize).sum()
}

fn beyond(table: &LabelTable) -> usize {
    table.oov_ancestors.iter().flatten().map(Vec::len).sum()
}

/// Runs the Python side and returns what it prints.
fn pandas(python: &str, files: &[&PathBuf; 3]) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/openimages_pandas.py");
    let mut command = Command::new(python);
    command.arg(script).args(files).args([OPENIMAGES_TOP.to_string(), "1".to_owned()]);
    let output = command.output().expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
