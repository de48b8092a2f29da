//! `data check --model`: planted label errors are found, and what cannot be audited is said.

use std::collections::BTreeSet;

use crate::support::Sandbox;

const RULES: &str = "watched: a => b\nsafe: c => !d\n";
const WIDTH: usize = 12;

/// Features of four concepts under rules that hold in truth, in which 2 % of the labels are wrong; a model trained on them; and
/// the wrong labels, `id,concept`.
fn planted() -> (Sandbox, BTreeSet<String>) {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(21);
    let (mut table, mut values, mut wrong) = (String::from("id,split,a,b,c,d\n"), Vec::new(), BTreeSet::new());
    let mut row = 0;
    while row < 1500 {
        let truth: [bool; 4] = std::array::from_fn(|at| random.f64() < [0.4, 0.6, 0.4, 0.4][at]);
        if (truth[0] && !truth[1]) || (truth[2] && truth[3]) {
            continue;
        }
        let mut noise = || (0..12).map(|_| random.f32()).sum::<f32>() - 6.0;
        let numbers = (0..WIDTH).map(|at| f32::from(u8::from(truth[at / 3])) + 0.4 * noise());
        values.extend(numbers.flat_map(f32::to_le_bytes));
        let split = ["train", "train", "train", "calibration", "test"][row % 5];
        table += &format!("s{row:04},{split}");
        for (at, name) in ["a", "b", "c", "d"].iter().enumerate() {
            let flipped = split != "test" && random.f64() < 0.02;
            if flipped {
                wrong.insert(format!("s{row:04},{name}"));
            }
            table += if truth[at] != flipped { ",1" } else { ",0" };
        }
        table += "\n";
        row += 1;
    }
    sandbox.write_npy("z.npy", WIDTH, &values);
    sandbox.write("labels.csv", table);
    sandbox.write("my.rules", RULES);
    assert_eq!(sandbox.run("import features labels.csv --features z.npy --out ds").code, 0);
    let ran = sandbox.run("train ds --out model --cache cache --features 16 --epochs 15 --patience 15 --rate 0.01");
    assert_eq!(ran.code, 0, "{}", ran.err);
    (sandbox, wrong)
}

#[test]
fn planted_label_errors_are_found_by_a_trained_model() {
    let (sandbox, wrong) = planted();
    let words = "data check ds --rules my.rules --model model --cache cache";
    let ran = sandbox.run(&format!("{words} -o audit"));
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.contains("rows to learn from that break a rule, by what they probably are:"), "{}", ran.out);
    assert!(ran.out.contains("probable label errors, ") && ran.out.contains("` is probably "), "{}", ran.out);
    assert!(ran.err.contains("audit in `audit/audit.html`"), "{}", ran.err);
    let csv = sandbox.read("audit/audit.csv");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("id,split,rule,verdict,concept,label,opinion,confidence,repair"));
    let lines: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert!(lines.iter().all(|cells| cells.len() == 9 && cells[1] != "test"));
    let keyed = |cells: &Vec<&str>| format!("{},{}", cells[0], cells[4]);
    let named: Vec<bool> = lines
        .iter()
        .filter(|cells| cells[3] == "label error" && !cells[8].is_empty())
        .map(|cells| wrong.contains(&keyed(cells)))
        .collect();
    let all: BTreeSet<(&str, &str)> = lines.iter().map(|cells| (cells[0], cells[2])).collect();
    let right = named.iter().filter(|right| **right).count() as f64;
    let (precision, recall) = (right / named.len() as f64, right / all.len() as f64);
    assert!(all.len() > 20 && precision >= 0.9 && recall >= 0.75, "{} {precision} {recall}", all.len());

    let json: serde_json::Value = serde_json::from_str(&sandbox.run(&format!("{words} --json")).out).unwrap();
    assert_eq!(json["audit"]["suspects"].as_array().unwrap().len(), all.len());
    let counts = &json["audit"]["rules"][0];
    assert_eq!(counts["rule"], "watched");
    assert!(counts["label_errors"].as_u64().unwrap() > 5 && json["findings"].is_array(), "{counts}");
    let page = sandbox.read("audit/audit.html");
    assert_eq!(page.matches("<div class=\"card\" data-verdict=").count(), all.len());
    assert!(!page.contains("<script") && !page.contains("https:") && page.contains("no media"));
    // The same again to the byte, on any number of threads.
    assert_eq!(sandbox.run(&format!("{words} -o again --threads 1")).code, 1);
    assert!(sandbox.read("again/audit.csv") == csv && sandbox.read("again/audit.html") == page);
    // Without a model everything is as it was: warnings, and exit code 0.
    let plain = sandbox.run("data check ds --rules my.rules");
    assert!(plain.code == 0 && !plain.out.contains("probable"), "{}", plain.out);
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.run("data check ds --rules my.rules --json").out).unwrap();
    assert!(json.get("audit").is_none());
    refusals(&sandbox, words);
}

fn refusals(sandbox: &Sandbox, words: &str) {
    let refused = |words: &str| {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}: {}{}", ran.out, ran.err);
        ran.err
    };
    assert!(refused(&format!("{words} -o audit")).contains("expected an empty or new folder, got `audit`"));
    assert!(refused(&format!("{words} -o ds/audit")).contains("lies in `ds`, which the command reads"));
    assert!(refused("data check ds --model model").contains("--rules"));
    assert!(refused("data check ds --rules my.rules -o x").contains("--model"));
    let err = refused("data check ds --rules my.rules --model ds");
    assert!(err.contains("expected a model folder, got `ds` without `manifest.json`"), "{err}");
    // A concept that the model does not know, and features of another length.
    let table = sandbox.read("labels.csv");
    sandbox.write("renamed.csv", table.replacen(",a,", ",helmet,", 1));
    sandbox.write("other.rules", "watched: helmet => b\n");
    assert_eq!(sandbox.run("import features renamed.csv --features z.npy --out renamed").code, 0);
    let err = refused("data check renamed --rules other.rules --model model --cache cache");
    assert!(err.contains("the model in `model` does not know `helmet`, which rules speak of"), "{err}");
    sandbox.write_npy("short.npy", 2, &0.5_f32.to_le_bytes().repeat(2 * (table.lines().count() - 1)));
    assert_eq!(sandbox.run("import features labels.csv --features short.npy --out short").code, 0);
    let err = refused("data check short --rules my.rules --model model --cache cache");
    assert!(err.contains("expected 12 features a sample in `short`, which the model looks at, got 2"), "{err}");
    // Rules that no row breaks, and one whose truth is unknown everywhere.
    sandbox.write("kept.rules", "sure: a | !a & b | !b\n");
    let ran = sandbox.run("data check ds --rules kept.rules --model model --cache cache");
    assert!(ran.code == 0 && ran.out.contains("no row to learn from breaks a rule"), "{}{}", ran.out, ran.err);
    // One that no labels can keep: every row breaks it, and none is judged.
    sandbox.write("never.rules", "never: a & !a\n");
    let ran = sandbox.run("data check ds --rules never.rules --model model --cache cache");
    assert_eq!(ran.code, 1, "{}", ran.err);
    let expected = "rule `never` is left out: no labels can keep it; broken by 1,200 rows\n";
    assert!(ran.out.contains(expected) && ran.out.contains("only rules that are left out"), "{}", ran.out);
}
