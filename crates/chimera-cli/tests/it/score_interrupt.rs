//! Ctrl-C while `score` is at work: a whole file of whole rows, or none.

use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::trained::{import, trained};
use crate::support::{Ran, Sandbox};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const ROWS: usize = 300_000;
/// Longer than any of this takes anywhere.
const LONGEST: Duration = Duration::from_secs(120);

fn unfinished(sandbox: &Sandbox) -> Vec<String> {
    sandbox.files().into_iter().filter(|name| name.starts_with(".chimera-")).collect()
}

/// A command at work, once the first rows are written.
fn at_work(sandbox: &Sandbox, out: &str) -> Child {
    let words = format!("score model big --cache none --threads 1 -o {out}");
    let child = sandbox.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    let has_rows = || {
        let sizes =
            unfinished(sandbox).into_iter().map(|name| fs::metadata(sandbox.path(&name)).map(|file| file.len()));
        sizes.flatten().any(|size| size > 0)
    };
    while !has_rows() {
        assert!(began.elapsed() < LONGEST, "no row was written");
        sleep(Duration::from_millis(1));
    }
    child
}

/// Sends signals, one right after the other.
fn send(child: &Child, signals: &[&str]) {
    let id = child.id();
    let script: Vec<String> = signals.iter().map(|signal| format!("kill -{signal} {id}")).collect();
    assert!(Command::new("sh").args(["-c", &script.join(" && ")]).status().unwrap().success());
}

/// What the command left, if it ended in time.
fn ended(mut child: Child) -> Ran {
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > LONGEST {
            child.kill().unwrap();
            panic!("the command did not end");
        }
        sleep(Duration::from_millis(5));
    }
    Ran::from(child.wait_with_output().unwrap())
}

/// The number of samples that an interrupted command says it has scored.
fn said(ran: &Ran, out: &str) -> usize {
    assert_eq!((ran.code, ran.out.as_str()), (130, ""), "{}", ran.err);
    let (_, rest) = ran.err.split_once("interrupted: ").unwrap();
    let (number, rest) = rest.split_once(" of 300,000 samples scored; ").unwrap();
    assert_eq!(rest.trim_end(), format!("`{out}` holds those"));
    number.replace(',', "").parse().unwrap()
}

#[test]
fn the_first_interrupt_leaves_whole_rows_and_the_second_nothing() {
    let sandbox = trained();
    import(&sandbox, "big", ROWS);
    let is_whole = |text: &str| text.ends_with('\n') && text.lines().all(|line| line.matches(',').count() == 10);

    // Older content stays until the new file is whole.
    sandbox.write("s.csv", "old");
    let child = at_work(&sandbox, "s.csv");
    assert_eq!(sandbox.read("s.csv"), "old");
    send(&child, &["INT"]);
    let count = said(&ended(child), "s.csv");
    assert!(count > 0 && count < ROWS, "{count}");
    let text = sandbox.read("s.csv");
    assert_eq!(text.lines().count() - 1, count);
    assert!(is_whole(&text));

    // A file with a footer is as whole.
    let child = at_work(&sandbox, "s.parquet");
    send(&child, &["TERM"]);
    let count = said(&ended(child), "s.parquet");
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(sandbox.path("s.parquet")).unwrap()).unwrap();
    let read: usize = reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(read, count);
    assert!(count > 0 && count < ROWS, "{count}");

    // Two at once: the second may still come too late, but what there is is whole.
    let child = at_work(&sandbox, "twice.csv");
    send(&child, &["INT", "TERM"]);
    let ran = ended(child);
    assert_eq!(ran.code, 130, "{}", ran.err);
    if sandbox.path("twice.csv").exists() {
        assert!(is_whole(&sandbox.read("twice.csv")));
    }
    assert!(unfinished(&sandbox).is_empty(), "{:?}", unfinished(&sandbox));
}

/// A reader that has stopped reading keeps the command in the middle of a block: only the second interrupt can end it.
#[test]
fn the_second_interrupt_does_not_wait() {
    let sandbox = trained();
    import(&sandbox, "big", 20_000);
    let mut command = sandbox.command("score model big --cache none");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Once something is there, much more than the pipe holds is on its way.
    let mut first = [0];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut first).unwrap();
    sleep(Duration::from_millis(500));
    send(&child, &["INT"]);
    sleep(Duration::from_millis(500));
    assert!(child.try_wait().unwrap().is_none(), "one interrupt lets the block at hand be written");
    send(&child, &["INT"]);
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(began.elapsed() < LONGEST, "the command did not end");
        sleep(Duration::from_millis(5));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
