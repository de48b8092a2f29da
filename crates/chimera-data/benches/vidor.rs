//! Labels of annotations as large as VidOR's, which `import vidor` reads in parallel, against Python's json doing the same one after
//! another; and the memory that this takes at its peak. Annotations are made from a seed: about a megabyte each, as many
//! as `--files` says (400 by default, which are 400 MB on the disk for as long as the benchmark runs).
//!
//!     cargo bench -p chimera-data --bench vidor -- --python "$PWD/.venv/bin/python"

#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints its result or stops")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use chimera_data::import::{VidorImport, VidorVideos, import_vidor};

const TIMES: usize = 3;
const CATEGORIES: usize = 80;
const PREDICATES: usize = 50;

fn main() {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is a program of its own")]
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| arguments.iter().position(|word| word == name).and_then(|at| arguments.get(at + 1));
    let Some(python) = after("--python") else {
        println!("skipped: give a Python: -- --python PATH");
        return;
    };
    let files: usize = after("--files").map_or(400, |word| word.parse().expect("a number of files"));
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("vidor");
    let bytes: usize = (0..files).map(|number| write_annotation(&source, number)).sum();

    let import = VidorImport::new(source.clone(), VidorVideos::LabelsOnly);
    let before = status("VmRSS");
    let (mut ours, mut theirs, mut ones, mut their_ones) = (Duration::MAX, Duration::MAX, 0, 0);
    for time in 0..TIMES {
        let started = Instant::now();
        let imported = import_vidor(&import, &folder.path().join(format!("ds{time}"))).expect("a dataset");
        ours = ours.min(started.elapsed());
        let table = imported.dataset.table();
        ones = (0..table.concepts.len()).map(|concept| table.labels.counts(concept).holds).sum();
        let answer = python_labels(python, &source);
        let mut words = answer.split_whitespace();
        let seconds: f64 = words.next().and_then(|word| word.parse().ok()).expect("seconds");
        their_ones = words.next().and_then(|word| word.parse().ok()).expect("a count");
        theirs = theirs.min(Duration::from_secs_f64(seconds));
    }
    assert_eq!(ones, their_ones, "both give the same labels");
    let rate = files as f64 / ours.as_secs_f64();
    println!("{files} annotations of {:.2} MB each, {ones} positive labels:", megabytes(bytes as f64) / files as f64);
    println!(
        "  ours {ours:.2?}, {rate:.0} files a second, {:.0} MB a second",
        megabytes(bytes as f64) / ours.as_secs_f64()
    );
    println!("  json of Python {theirs:.2?}: ours is {:.1} times faster", theirs.as_secs_f64() / ours.as_secs_f64());
    println!("  7,000 files, as VidOR has to train from, at this rate: {:.0} s", 7000.0 / rate);
    println!("  memory at the peak: {:.0} MB more than before", megabytes(status("VmHWM") - before));
}

/// Writes one annotation; its bytes.
fn write_annotation(folder: &Path, number: usize) -> usize {
    let mut random = fastrand::Rng::with_seed(number as u64);
    let (frames, tracks) = (random.usize(600..3000), random.usize(4..14));
    let mut text = format!(
        "{{\"version\": \"VERSION 1.0\", \"video_id\": \"{number}\", \"frame_count\": {frames}, \"fps\": 29.97, "
    );
    let _ = write!(text, "\"width\": 640, \"height\": 360, \"subject/objects\": [");
    let category = |random: &mut fastrand::Rng| (random.f64().powi(3) * CATEGORIES as f64) as usize;
    for tid in 0..tracks {
        let comma = if tid > 0 { ", " } else { "" };
        let _ = write!(text, "{comma}{{\"tid\": {tid}, \"category\": \"category_{}\"}}", category(&mut random));
    }
    text.push_str("], \"trajectories\": [");
    let spans: Vec<(usize, usize)> = (0..tracks)
        .map(|_| {
            let begin = random.usize(0..frames / 2);
            (begin, random.usize(begin + frames / 4..frames))
        })
        .collect();
    for frame in 0..frames {
        text.push_str(if frame > 0 { ", [" } else { "[" });
        let there = spans.iter().enumerate().filter(|(tid, (begin, end))| *tid == 0 || (*begin..*end).contains(&frame));
        for (place, (tid, _)) in there.enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            let (x, y) = (random.u32(0..300), random.u32(0..200));
            let _ = write!(
                text,
                "{comma}{{\"bbox\": {{\"xmin\": {x}, \"ymin\": {y}, \"xmax\": {}, \"ymax\": {}}}, \"tid\": {tid}, \
                 \"generated\": 1, \"tracker\": \"mosse\"}}",
                x + 40,
                y + 90
            );
        }
        text.push(']');
    }
    text.push_str("], \"relation_instances\": [");
    for relation in 0..random.usize(5..60) {
        let comma = if relation > 0 { ", " } else { "" };
        let begin = random.usize(0..frames);
        let (subject, object) = (random.usize(0..tracks), random.usize(0..tracks));
        let predicate = (random.f64().powi(3) * PREDICATES as f64) as usize;
        let end = random.usize(begin + 1..=frames);
        let _ = write!(
            text,
            "{comma}{{\"subject_tid\": {subject}, \"object_tid\": {object}, \"predicate\": \"predicate_{predicate}\", \
             \"begin_fid\": {begin}, \"end_fid\": {end}}}"
        );
    }
    text.push_str("]}");
    let split = if number.is_multiple_of(8) { "validation" } else { "training" };
    let path = folder.join(format!("annotations/{split}/{:04}/{number}.json", number % 10));
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, &text).expect("space on the disk");
    text.len()
}

/// Runs the Python side and returns what it prints.
fn python_labels(python: &str, source: &Path) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/vidor_json.py");
    let output = Command::new(python).arg(script).arg(source).output().expect("the Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Bytes that the system counts for this process under a name.
fn status(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a line");
    1024.0 * line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number")
}

fn megabytes(bytes: f64) -> f64 {
    bytes / 1e6
}
