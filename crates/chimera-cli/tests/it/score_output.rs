//! What `score` writes and where: three formats with the same content, JSON for programs, and no file that it should not
//! touch.

use std::fs::{self, File};
use std::process::Stdio;

use crate::support::trained::{import, trained};
use crate::support::{Ran, Sandbox};
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::Value;

fn parquet(sandbox: &Sandbox, name: &str) -> (Vec<RecordBatch>, usize) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(sandbox.path(name)).unwrap()).unwrap();
    let groups = builder.metadata().num_row_groups();
    (builder.build().unwrap().map(Result::unwrap).collect(), groups)
}

fn ok(sandbox: &Sandbox, words: &str) -> Ran {
    let ran = sandbox.run(words);
    assert_eq!(ran.code, 0, "{words}: {}", ran.err);
    ran
}

#[test]
fn formats_say_the_same() {
    let sandbox = trained();
    // A threshold that flags half of the samples, and a rate that leaves the flags of the others unknown.
    let score = "score model ds --cache cache --split test --fpr 0.0001";
    let plain = ok(&sandbox, score).out;
    let mut either: Vec<f64> =
        plain.lines().skip(1).map(|line| line.split(',').nth(5).unwrap().parse().unwrap()).collect();
    either.sort_by(f64::total_cmp);
    let score = format!("{score} --threshold either={}", either[50]);
    // Endings are what they are in any case, and standard output has three names.
    ok(&sandbox, &format!("{score} -o s.CSV"));
    ok(&sandbox, &format!("{score} -o s.JsonL"));
    ok(&sandbox, &format!("{score} -o s.Parquet"));
    let csv = sandbox.read("s.CSV");
    for words in ["", "-o -", "-o /dev/stdout"] {
        assert_eq!(ok(&sandbox, &format!("{score} {words}")).out, csv, "{words}");
    }
    assert_eq!(ok(&sandbox, &format!("{score} --json")).out, sandbox.read("s.JsonL"));

    let (batches, _) = parquet(&sandbox, "s.Parquet");
    let batch = &batches[0];
    let schema = batch.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let numbers = ["rule:watched", "rule:either", "p:watched", "p:either"];
    let last = ["top_rules", "flagged_rules", "severity"];
    let expected = [&["id", "anomaly", "flagged", "error"][..], &numbers, &last].concat();
    assert_eq!(names, expected);
    assert_eq!((batches.len(), batch.num_rows()), (1, 100));
    let objects: Vec<Value> = sandbox.read("s.JsonL").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut lines = csv.lines();
    assert_eq!(lines.next().unwrap().split(',').collect::<Vec<_>>(), expected);
    let flags = batch.column(2).as_boolean();
    assert_eq!((flags.true_count(), flags.null_count()), (49, 51), "{either:?}");
    for (row, (line, object)) in lines.zip(&objects).enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(
            (cells[0], batch.column(0).as_string::<i32>().value(row)),
            (object["id"].as_str().unwrap(), cells[0])
        );
        let flag = flags.is_valid(row).then(|| flags.value(row));
        assert_eq!((cells[2], object["flagged"].as_bool()), (if flag == Some(true) { "1" } else { "" }, flag));
        assert!(batch.column(3).is_null(row) && cells[3].is_empty() && object["error"].is_null());
        for (column, name) in expected.iter().enumerate().filter(|(column, _)| ![0, 2, 3, 8, 9, 10].contains(column)) {
            let number = batch.column(column).as_primitive::<Float64Type>();
            assert!(number.is_valid(row));
            // The shortest text that gives the number back, so equal means the same bits.
            assert_eq!(cells[column].parse(), Ok(number.value(row)), "{name}");
            assert_eq!(object[*name].as_f64(), Some(number.value(row)), "{name}");
        }
        let top = batch.column(8).as_list::<i32>().value(row);
        let top: Vec<&str> = top.as_string::<i32>().iter().map(Option::unwrap).collect();
        assert_eq!((top.join("|"), top.len()), (cells[8].to_owned(), 2));
        assert_eq!(object["top_rules"], serde_json::json!(top));
    }
    assert_eq!(objects.len(), 100);
}

#[test]
fn many_rows_come_in_row_groups_of_a_bounded_size() {
    let sandbox = trained();
    import(&sandbox, "big", 140_000);
    let ran = ok(&sandbox, "score model big --cache cache --method indep -o s.parquet --json");
    let (batches, groups) = parquet(&sandbox, "s.parquet");
    assert_eq!((batches.iter().map(RecordBatch::num_rows).sum::<usize>(), groups), (140_000, 2));
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((summary["samples"].as_u64(), summary["of"].as_u64()), (Some(140_000), Some(140_000)));
    // Whoever has seen enough of the rows ends the command without a word of complaint.
    let mut child = sandbox
        .command("score model big --cache cache --fpr 0.1 -q")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn a_summary_tells_programs_what_the_words_tell_people() {
    let sandbox = trained();
    let ran = ok(&sandbox, "score model ds --cache none --fpr 0.1 --agg noisy-or --method indep-cal -o s.csv --json");
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let flagged = sandbox.read("s.csv").lines().filter(|line| line.split(',').nth(2) == Some("1")).count();
    assert_eq!(summary["flagged"], flagged);
    assert!(ran.err.contains(&format!("400 samples scored, {flagged} flagged above ")), "{}", ran.err);
    assert_eq!((&summary["samples"], &summary["left_out"]), (&400.into(), &Value::Array(Vec::new())));
    assert_eq!((summary["method"].as_str(), summary["aggregation"].as_str()), (Some("indep-cal"), Some("noisy-or")));
    assert!(summary["threshold"].as_f64().is_some_and(|limit| limit > 0.0 && limit <= 1.0), "{summary}");
    assert_eq!(summary["interrupted"], false);
    for part in ["decode", "encode", "logic", "all"] {
        assert!(summary["seconds"][part].as_f64().is_some_and(|seconds| seconds >= 0.0), "{part}");
    }
    assert!(ran.err.contains(" s to decode, ") && ran.err.contains(" s to encode, "), "{}", ran.err);
    assert!(ran.err.contains(" s for the logic, ") && ran.err.contains(" s in all"), "{}", ran.err);
}

#[test]
fn features_that_are_no_numbers_have_a_row_that_says_so() {
    let sandbox = trained();
    let path = sandbox.path("ds/features.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    // The last sample's last number.
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    for cache in ["cache", "none"] {
        let ran = sandbox.run(&format!("score model ds --cache {cache} --fpr 0.1 -o s.csv --json"));
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert!(ran.err.contains("  s000399: expected finite features, got `NaN`\n"), "{}", ran.err);
        let summary: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((&summary["samples"], &summary["left_out"][0]["id"]), (&399.into(), &"s000399".into()));
        let rows = sandbox.read("s.csv");
        assert_eq!(rows.lines().count(), 401);
        assert!(
            rows.lines().last().unwrap().starts_with("s000399,,,\"expected finite features, got `NaN`\",,"),
            "{rows}"
        );
    }
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let sandbox = trained();
    sandbox.write("old.csv", "old");
    fs::create_dir(sandbox.path("folder.csv")).unwrap();
    let before = sandbox.files();
    for (out, expected) in [
        ("model/scores.csv", "lies in `model`, which the command reads"),
        ("model/leaves.csv", "lies in `model`, which the command reads"),
        ("ds/samples.parquet", "lies in `ds`, which the command reads"),
        ("ds/../ds/samples.csv", "lies in `ds`, which the command reads"),
        ("no/such/folder/s.csv", "the folder does not exist; create it first"),
        ("folder.csv", "it is a folder"),
        ("scores", "`.csv`, `.jsonl` or `.parquet`"),
    ] {
        let ran = sandbox.run(&format!("score model ds --cache cache -o {out}"));
        assert_eq!(ran.code, 2, "{out}");
        assert!(ran.err.contains(expected), "{out}: {}", ran.err);
    }
    // An error leaves what was there.
    assert_eq!(sandbox.run("score model ds --split oracle -o old.csv").code, 2);
    assert_eq!((sandbox.read("old.csv"), sandbox.files()), ("old".to_owned(), before));
}

#[test]
fn caches_are_read_and_never_written() {
    let sandbox = trained();
    let list = || {
        let mut found = Vec::new();
        let mut folders = vec![sandbox.path("cache")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path.clone(), fs::metadata(&path).unwrap().modified().unwrap()));
            }
        }
        found.sort();
        found
    };
    let before = list();
    let kept = ok(&sandbox, "score model ds --cache cache");
    assert!(kept.err.contains("(400 were encoded before)"), "{}", kept.err);
    // A cache that holds nothing of these samples is left as it is.
    import(&sandbox, "other", 100);
    assert!(!ok(&sandbox, "score model other --cache cache").err.contains("encoded before"));
    assert_eq!(list(), before);
    // A damaged one is no reason to fail, and is left to those who write it.
    for (path, _) in before.iter().filter(|(path, _)| path.extension().is_some_and(|ending| ending == "encoded")) {
        let mut bytes = fs::read(path).unwrap();
        bytes[0] ^= 1;
        fs::write(path, bytes).unwrap();
    }
    let ran = ok(&sandbox, "score model ds --cache cache");
    assert!(!ran.err.contains("encoded before"), "{}", ran.err);
    assert_eq!((ran.out, list().len()), (kept.out, before.len()));
}
