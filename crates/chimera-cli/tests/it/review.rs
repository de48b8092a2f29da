//! `review`: precision of rules and thresholds from verdicts, with nothing changed.

use std::collections::BTreeMap;
use std::fs;

use crate::support::Sandbox;
use crate::support::trained::trained;

/// The content of every file of a folder, by name.
fn content(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(sandbox.path(folder)).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    files.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())).collect()
}

/// Verdicts on all test rows, by what their labels say; and how many there are, and how many of them are real.
fn verdicts(sandbox: &Sandbox) -> (String, [usize; 2]) {
    let labels = sandbox.read("ds.csv");
    let (mut text, mut counts) = (String::from("id,rule,verdict\n"), [0; 2]);
    for line in labels.lines().skip(1) {
        let [id, split, a, b] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        if split == "test" {
            let real = a == "1" && b == "0";
            text += &format!("{id},watched,{}\n", if real { "real" } else { "false alarm" });
            counts = [counts[0] + 1, counts[1] + usize::from(real)];
        }
    }
    (text, counts)
}

#[test]
fn the_same_thresholds_come_from_every_format_and_the_model_stays_as_it_is() {
    let sandbox = trained();
    let (text, [all, real]) = verdicts(&sandbox);
    sandbox.write("verdicts.csv", &text);
    for ending in ["csv", "jsonl", "parquet"] {
        let ran = sandbox.run(&format!("score model ds --split test --cache cache -o scores.{ending}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    let before = [content(&sandbox, "model"), content(&sandbox, "model/gates")];
    let words = "review model verdicts.csv --precision 0.2";
    let said = ["csv", "jsonl", "parquet"].map(|ending| {
        let ran = sandbox.run(&format!("{words} --scores scores.{ending} -o proposals-{ending}.csv"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        ran.out
    });
    assert!(said.iter().all(|out| *out == said[0]), "{said:?}");
    let line = said[0].lines().find(|line| line.starts_with("watched")).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(cells[1..3], [all.to_string().as_str(), &real.to_string()]);
    assert!(said[0].contains("without a verdict: either"), "{}", said[0]);
    let csv = sandbox.read("proposals-csv.csv");
    assert!(csv.starts_with("rule,verdicts,real,precision,precision_lo,precision_hi,threshold,"), "{csv}");
    assert_eq!(csv, sandbox.read("proposals-parquet.csv"));
    // The options can be pasted: what they flag is what was counted above the threshold.
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run(&format!("{words} --scores scores.csv --json")).out).unwrap();
    let sure = &json["reviewed"][0]["sure"];
    let options = said[0].lines().find(|line| line.contains("--threshold")).unwrap().trim();
    assert_eq!(options, format!("--flag per-rule --threshold watched={}", sure["threshold"]));
    let ran = sandbox.run(&format!("score model ds --split test --cache cache --json {options}"));
    let flagged = ran.out.lines().filter(|line| {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["flagged_rules"].as_array().is_some_and(|rules| rules.iter().any(|rule| rule == "watched"))
    });
    assert_eq!(flagged.count() as u64, sure["above"]["verdicts"].as_u64().unwrap());
    assert_eq!(sure["above"]["real"].as_u64().unwrap() + sure["lost"].as_u64().unwrap(), real as u64);
    assert!(before == [content(&sandbox, "model"), content(&sandbox, "model/gates")]);
    refusals(&sandbox, &text);
}

fn refusals(sandbox: &Sandbox, text: &str) {
    let id = text.lines().nth(1).unwrap().split(',').next().unwrap();
    let refused = |verdicts: &str, words: &str| {
        sandbox.write("wrong.csv", verdicts);
        let ran = sandbox.run(&format!("review model wrong.csv --scores scores.csv {words}"));
        assert!(ran.code == 2 && ran.out.is_empty(), "{}{}", ran.out, ran.err);
        ran.err
    };
    let err = refused(&format!("id,rule,verdict\n{id},wached,real\n"), "");
    assert!(err.contains("line 2: the model has no rule `wached`; did you mean `watched`?"), "{err}");
    let err = refused(&format!("id,rule,verdict\n{id},watched,real\nnobody,watched,real\n"), "");
    assert!(err.contains("line 3: `scores.csv` has no sample `nobody`"), "{err}");
    let err = refused(&format!("id,rule,verdict\n{id},watched,real\n{id},watched,0\n"), "");
    assert!(err.contains(&format!("line 3: contradicts line 2 on sample `{id}` and rule `watched`")), "{err}");
    assert!(refused(&format!("id,rule,verdict\n{id},watched,perhaps\n"), "").contains("line 2: expected `real`"));
    assert!(refused("id,rule,verdict\n", "").contains("expected verdicts in `wrong.csv`, got none"));
    assert!(refused(text, "--precision 1.5").contains("expected a precision between 0 and 1"));
    assert!(refused(text, "-o wrong.csv").contains("`wrong.csv` is what the command reads"));
    assert!(refused(text, "-o model/proposals.csv").contains("lies in `model`, which the command reads"));
    assert!(!sandbox.path("model/proposals.csv").exists() && sandbox.read("wrong.csv") == text);
    for out in ["-", "/dev/stdout"] {
        let err = refused(text, &format!("-o {out}"));
        assert!(err.contains(&format!("expected a file for `-o`, got `{out}`")), "{err}");
    }
    // Three verdicts are too few, which is said with the number that it takes: 0.025^(1/36) is the first above 0.9.
    let few: Vec<&str> = text.lines().take(4).collect();
    sandbox.write("few.csv", few.join("\n"));
    let ran = sandbox.run("review model few.csv --scores scores.csv");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.out.contains("3 verdicts cannot make sure of a precision of 0.9: at least 36 are needed"),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("--threshold"), "{}", ran.out);
    // Nobody reviews as many as it takes for this.
    let ran = sandbox.run("review model few.csv --scores scores.csv --precision 0.9999999");
    assert!(ran.out.contains("more than 1,000,000 are needed above a threshold"), "{}", ran.out);
}

#[test]
fn without_scores_each_rule_has_its_precision_and_no_threshold() {
    let sandbox = trained();
    let (text, [all, real]) = verdicts(&sandbox);
    sandbox.write("verdicts.csv", &text);
    let ran = sandbox.run("review model verdicts.csv -o precision.csv");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let cells: Vec<&str> =
        ran.out.lines().find(|line| line.starts_with("watched")).unwrap().split_whitespace().collect();
    let precision = format!("{:.3}", real as f64 / all as f64);
    assert_eq!(cells[1..4], [all.to_string().as_str(), &real.to_string(), &precision]);
    // The interval holds the precision, and there is no threshold.
    let [low, high] = [cells[4], cells[6]].map(|end| end.parse::<f64>().unwrap());
    assert!(low < real as f64 / all as f64 && (real as f64 / all as f64) < high, "{cells:?}");
    assert_eq!(cells[5..], ["to", cells[6], "-", "-", "-"]);
    assert!(ran.out.contains("without a verdict: either") && !ran.out.contains("--threshold"), "{}", ran.out);
    assert!(ran.err.contains("without `--scores` no thresholds are proposed"), "{}", ran.err);
    let csv = sandbox.read("precision.csv");
    let line = csv.lines().nth(1).unwrap();
    assert!(line.starts_with(&format!("watched,{all},{real},")) && line.ends_with(",,,,,,"), "{csv}");
    let ran = sandbox.run("review model verdicts.csv --json");
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["reviewed"][0]["real"].as_u64(), Some(real as u64));
    assert!(json["reviewed"][0].get("sure").is_none(), "{json}");
}
