//! Flags: unknown is not "no", inputs that cannot be scored have rows and an exit code, and `explain` says what `score` says.

use std::fs;

use serde_json::Value;

use crate::support::trained::{import, trained};
use crate::support::{Ran, Sandbox};

fn objects(ran: &Ran) -> Vec<Value> {
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The model of 400 rows keeps fewer than 19 normal ones for thresholds: no rate up to 5 % can be promised.
#[test]
fn an_alarm_that_cannot_go_off_is_empty_and_says_why_with_q_too() {
    let sandbox = trained();
    let score = "score model ds --cache cache --split test -q";
    let csv = sandbox.run(score);
    assert_eq!(csv.code, 0, "{}", csv.err);
    let reason = "a false-alarm rate of 0.01 needs 99 normal calibration rows, and the model has ";
    assert!(csv.err.starts_with(&format!("warning: `flagged` is empty: {reason}")), "{}", csv.err);
    assert!(csv.err.contains("hint: `--fpr 0."), "{}", csv.err);
    assert_eq!(csv.out.lines().count(), 101);
    for line in csv.out.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(!cells[1].is_empty() && cells[2].is_empty() && cells[3].is_empty(), "{line}");
    }
    let json = sandbox.run(&format!("{score} --json"));
    assert!(objects(&json).iter().all(|object| object["flagged"].is_null() && object["anomaly"].is_f64()));
    let summary = sandbox.run(&format!("{score} -o s.parquet --json"));
    let summary: Value = serde_json::from_str(&summary.out).unwrap();
    assert_eq!(
        [&summary["flagged"], &summary["unknown"], &summary["threshold"]],
        [&0.into(), &100.into(), &Value::Null]
    );
    assert!(summary["no_promise"].as_str().unwrap().starts_with(reason), "{summary}");
    // Whoever waits for flags is told that there cannot be any.
    let waits = sandbox.run(&format!("{score} --fail-on flagged -o none.csv"));
    assert_eq!(waits.code, 2);
    assert!(waits.err.contains(&format!("`--fail-on flagged` has no answer: {reason}")), "{}", waits.err);
    assert!(!sandbox.path("none.csv").exists());
    // The rate of the hint can be promised.
    let rate = csv.err.split("`--fpr ").nth(1).unwrap().split('`').next().unwrap();
    let known = sandbox.run(&format!("{score} --fpr {rate} --json"));
    assert!(
        known.err.is_empty() && objects(&known).iter().all(|object| object["flagged"].is_boolean()),
        "{}",
        known.err
    );

    let told = sandbox.run("explain model ds --id s000000 --cache cache");
    assert!(told.out.contains(&format!("s000000: flagged or not is unknown, {reason}")), "{}", told.out);
    let told = sandbox.run("explain model ds --id s000000 --cache cache --json -o why.html");
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!([&told["flagged"], &told["threshold"]], [&Value::Null; 2]);
    let page = sandbox.read("why.html");
    assert!(page.contains("Flagged or not is unknown") && !page.contains("Not flagged"));
}

#[test]
fn with_few_normal_rows_the_smallest_rate_that_they_can_promise_is_the_default() {
    let sandbox = Sandbox::new();
    import(&sandbox, "ds", 1400);
    // With `either`, many calibration rows would break a rule.
    sandbox.write("my.rules", "watched: a => b\n");
    let train =
        "train ds --rules my.rules --out model --cache cache --features 8 --hidden 8 --epochs 2 --gate-epochs 1";
    assert_eq!(sandbox.run(train).code, 0);
    let score = "score model ds --cache cache --split test -o s.csv --json";
    let ran = sandbox.run(score);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let rows = summary["normal_rows"].as_u64().unwrap();
    assert!((19..99).contains(&rows), "{rows}");
    let rate = summary["fpr"].as_f64().unwrap();
    // The smallest rate is 1 / (rows + 1); two digits of it are used.
    let least = 1.0 / (rows + 1) as f64;
    assert!(rate >= least && rate < least * 1.1, "{rate} {least}");
    assert!(ran.err.contains(&format!("the smallest that they can, {rate}, is used")), "{}", ran.err);
    assert!(summary["threshold"].is_f64() && summary["unknown"] == 0);
    // Other programs read the same from the model.
    let thresholds: Value = serde_json::from_str(&sandbox.read("model/thresholds.json")).unwrap();
    assert_eq!([&thresholds["fpr"], &thresholds["global"]], [&summary["fpr"], &summary["threshold"]]);
    // A rate that was typed is never another one.
    let typed = sandbox.run(&format!("{score} --fpr 0.01"));
    let typed: Value = serde_json::from_str(&typed.out).unwrap();
    assert_eq!([&typed["fpr"], &typed["threshold"], &typed["flagged"]], [&0.01.into(), &Value::Null, &0.into()]);
}

#[test]
fn exit_codes_say_what_came_of_it() {
    let sandbox = trained();
    let score = "score model ds --cache cache --split test -q --fpr 0.1";
    let code = |words: &str| sandbox.run(&format!("{score} {words}")).code;
    let [all, none] = [
        "--flag per-rule --threshold either=0 --threshold watched=0",
        "--flag per-rule --threshold either=0.9999999 --threshold watched=0.9999999",
    ];
    assert_eq!([code(all), code(none)], [0, 0]);
    assert_eq!([code(&format!("{all} --fail-on flagged")), code(&format!("{none} --fail-on flagged"))], [4, 0]);
    assert_eq!(code(&format!("{all} --fail-on flagged --fpr 2")), 2);
    assert_eq!(code("--fail-on nothing"), 2);

    // A sample that cannot be scored: 3, also where others are flagged.
    let path = sandbox.path("ds/features.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let end = bytes.len();
    bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let score = "score model ds --cache none --fpr 0.1 -q --json";
    for words in [all.to_owned(), format!("{all} --fail-on flagged"), format!("{none} --fail-on flagged")] {
        let ran = sandbox.run(&format!("{score} {words}"));
        assert_eq!(ran.code, 3, "{}", ran.err);
        assert_eq!(ran.err, "warning: 1 of 400 inputs could not be read; the column `error` says why\n");
        let rows = objects(&ran);
        let bad: Vec<&Value> = rows.iter().filter(|row| !row["error"].is_null()).collect();
        assert_eq!((rows.len(), bad.len(), &bad[0]["id"]), (400, 1, &"s000399".into()));
        assert!(
            bad[0]["flagged"].is_null() && bad[0]["anomaly"].is_null() && bad[0]["top_rules"] == Value::Array(vec![])
        );
        assert_eq!(bad[0]["error"], "expected finite features, got `NaN`");
    }
    // Verdicts on such a sample can be reviewed: it has no score, and that is said.
    assert_eq!(sandbox.run(&format!("score model ds --cache none --fpr 0.1 -q -o s.csv {all}")).code, 3);
    sandbox.write("verdicts.csv", "id,rule,verdict\ns000399,watched,real\ns000000,watched,real\n");
    let ran = sandbox.run("review model verdicts.csv --scores s.csv");
    assert!(ran.code == 0 && ran.err.contains("1 verdict left out: nothing could be scored there"), "{}", ran.err);
}

/// `| head` changes no exit code that somebody waits for, and none that is known when the reader leaves.
#[test]
fn a_reader_that_leaves_takes_no_exit_code_along() {
    let sandbox = trained();
    let code = |words: &str| {
        let ran = sandbox.run_unheard(&format!("score model ds --fpr 0.1 -q {words}"));
        assert!(!ran.err.contains("error:"), "{words}: {}", ran.err);
        ran.code
    };
    let [all, none] = [
        "--flag per-rule --threshold either=0 --threshold watched=0",
        "--flag per-rule --threshold either=0.9999999 --threshold watched=0.9999999",
    ];
    for json in ["", "--json"] {
        let score = format!("--cache cache {json}");
        assert_eq!(code(&format!("{score} {all} --fail-on flagged")), 4);
        assert_eq!(code(&format!("{score} {none} --fail-on flagged")), 0);
        assert_eq!(code(&format!("{score} {all}")), 0);
    }
    assert_eq!(code(&format!("--cache cache {all} --fail-on flagged -o s.csv --json")), 4);

    // Inputs that cannot be scored, all but the last hundred: rows and summary are longer than any buffer.
    let path = sandbox.path("ds/features.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let [start, end] = [400, 100].map(|rows| bytes.len() - rows * 4 * 4);
    bytes[start..end].chunks_exact_mut(4).for_each(|number| number.copy_from_slice(&f32::NAN.to_le_bytes()));
    fs::write(&path, bytes).unwrap();
    for words in [all.to_owned(), format!("{all} --fail-on flagged"), "-o s.csv --json".to_owned()] {
        assert_eq!(code(&format!("--cache none {words}")), 3, "{words}");
    }
    assert_eq!(sandbox.read("s.csv").lines().count(), 401);
}

/// Whatever options decide flags, `explain` says of a sample what `score` says, with the rules in the same order.
#[test]
fn explain_flags_what_score_flags_for_the_same_rules_in_the_same_order() {
    let sandbox = trained();
    let mut flagged = [0; 2];
    for words in [
        "--fpr 0.1",
        "--fpr 0.3 --flag per-rule",
        "--fpr 0.3 --flag bh --agg mean",
        "--fpr 0.2 --agg learned --tau 0.3",
        "--fpr 0.1 --threshold either=0.5",
        "--fpr 0.5 --flag per-rule --threshold watched=0.2 --min-severity medium",
    ] {
        let rows = objects(&sandbox.run(&format!("score model ds --cache cache --split test --json {words}")));
        for row in rows.iter().step_by(17) {
            let id = row["id"].as_str().unwrap();
            let ran = sandbox.run(&format!("explain model ds --id {id} --cache cache --json {words}"));
            assert_eq!(ran.code, 0, "{}", ran.err);
            let told: Value = serde_json::from_str(&ran.out).unwrap();
            assert_eq!([&told["anomaly"], &told["flagged"]], [&row["anomaly"], &row["flagged"]], "{words} {id}");
            let standings = told["standings"].as_array().unwrap();
            let names: Vec<&Value> = standings.iter().map(|standing| &standing["rule"]).collect();
            assert_eq!(names, row["top_rules"].as_array().unwrap().iter().collect::<Vec<_>>(), "{words} {id}");
            let red = standings.iter().filter(|standing| standing["flagged"] == true).count();
            assert_eq!(red > 0, row["flagged"] == true, "{words} {id}: {told}");
            for rule in row["flagged_rules"].as_array().unwrap() {
                let standing = standings.iter().find(|standing| standing["rule"] == *rule).unwrap();
                assert_eq!(standing["flagged"], true, "{words} {id}");
            }
            flagged[usize::from(row["flagged"] == true)] += 1;
        }
    }
    assert!(flagged.iter().all(|count| *count > 5), "{flagged:?}");
}

/// A rule with a threshold that was given is judged by it alone: it does not flag samples by way of the anomaly, either.
#[test]
fn a_given_threshold_silences_a_rule_and_a_threshold_that_nothing_exceeds_is_said() {
    let sandbox = trained();
    let score = "score model ds --cache cache --split test --fpr 0.3 --json";
    let flagged = |options: &str| -> Vec<Value> { objects(&sandbox.run(&format!("{score} {options}"))) };
    let plain = flagged("");
    let count = |rows: &[Value], rule: &str| {
        rows.iter().filter(|row| row["flagged"] == true && row["top_rules"][0] == rule).count()
    };
    let [watched, either] = ["watched", "either"].map(|rule| count(&plain, rule));
    assert!(watched > 0 && either > 0, "{watched} {either}");
    let silenced = flagged("--threshold watched=1 --min-severity low");
    assert_eq!(count(&silenced, "watched"), 0);
    for (one, other) in plain.iter().zip(&silenced) {
        assert_eq!((&one["id"], &one["rule:watched"]), (&other["id"], &other["rule:watched"]));
        // What is left of the anomaly is the other rule.
        assert_eq!(other["anomaly"], other["rule:either"]);
    }
    // The page and the console of `explain` say the same.
    let id = plain.iter().find(|row| row["flagged"] == true).unwrap()["id"].as_str().unwrap().to_owned();
    let told = sandbox.run(&format!("explain model ds --id {id} --cache cache --fpr 0.3 --threshold watched=1 --json"));
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let row = silenced.iter().find(|row| row["id"] == id.as_str()).unwrap();
    assert_eq!([&told["flagged"], &told["anomaly"]], [&row["flagged"], &row["anomaly"]]);

    // Both rules with thresholds that no score exceeds: there is nothing to wait for.
    let deaf = "--threshold watched=1 --threshold either=1";
    let ran = sandbox.run(&format!("{score} {deaf} -q"));
    assert!(
        ran.code == 0 && ran.err.starts_with("warning: ") && ran.err.contains("nothing can be flagged"),
        "{}",
        ran.err
    );
    assert!(objects(&ran).iter().all(|row| row["flagged"] == false));
    let ran = sandbox.run(&format!("{score} {deaf} --fail-on flagged"));
    assert!(ran.code == 2 && ran.err.contains("`--fail-on flagged` has no answer"), "{}", ran.err);
}
