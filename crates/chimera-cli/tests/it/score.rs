//! `score` as a user meets it: every method against sums done here, the same scores in any company, the broken rule first.

use std::collections::BTreeMap;

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use crate::support::Sandbox;

const RULES: &str = "watched: a => b\nsafe [tau=0.2]: c => !d\nboth: (a & c) => (b | d)\nnever: a <=> !a\nlit_a: a\nlit_b: b\n\
                     lit_c: c\nlit_d: d\n";

/// Features of four concepts, three numbers each. Train rows break neither `watched` nor `safe`; test rows are anything.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut table = String::from("id,split,a,b,c,d\n");
    let mut values: Vec<u8> = Vec::new();
    let mut row = 0;
    while row < 1200 {
        let labels: [bool; 4] = std::array::from_fn(|_| random.bool());
        let [a, b, c, d] = labels;
        let test = row % 4 == 0;
        if !test && ((a && !b) || (c && d)) {
            continue;
        }
        for at in 0..12 {
            let value = f32::from(u8::from(labels[at / 3])) + 0.3 * random.f32();
            values.extend(value.to_le_bytes());
        }
        let [a, b, c, d] = labels.map(u8::from);
        let split = if test { "test" } else { "train" };
        table += &format!("s{row:04},{split},{a},{b},{c},{d}\n");
        row += 1;
    }
    sandbox.write_npy("z.npy", 12, &values);
    sandbox.write("labels.csv", table);
    sandbox.write("my.rules", RULES);
    assert_eq!(sandbox.run("import features labels.csv --features z.npy --out ds").code, 0);
    let ran = sandbox.run(
        "train ds --rules my.rules --out model --cache cache --features 32 --hidden 32 --epochs 20 --rate 0.003 \
         --patience 20 --gate-epochs 20 --gate-rate 0.003 --gate-weight-decay 0.001",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}

/// Rows by id, cells by column.
fn scores(sandbox: &Sandbox, words: &str) -> BTreeMap<String, BTreeMap<String, String>> {
    let ran = sandbox.run(&format!("score model ds --cache cache {words}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut lines = ran.out.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        let cells = line.split(',').map(str::to_owned);
        let row: BTreeMap<String, String> = names.iter().map(|name| (*name).to_owned()).zip(cells).collect();
        (row["id"].clone(), row)
    };
    lines.map(row).collect()
}

fn number(row: &BTreeMap<String, String>, name: &str) -> f64 {
    row[name].parse().unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
}

#[test]
fn every_method_gives_what_its_formula_says() {
    let sandbox = sandbox();
    let table = scores(&sandbox, "--method indep-cal --split test");
    let calibrated = &table;
    assert_eq!(table.len(), 300);
    for method in ["indep", "indep-cal", "wmc"] {
        for (id, row) in scores(&sandbox, &format!("--method {method} --split test")) {
            let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| number(&row, &format!("p:lit_{name}")));
            near(number(&row, "p:watched"), 1.0 - a * (1.0 - b));
            near(number(&row, "p:safe"), 1.0 - c * d);
            near(number(&row, "p:both"), 1.0 - a * c * (1.0 - b) * (1.0 - d));
            // Independent events cannot see that both sides are the same concept; exact counting can.
            near(number(&row, "p:never"), if method == "wmc" { 0.0 } else { 2.0 * a * (1.0 - a) });
            // Gating is by calibrated antecedents, whatever the method; only `safe` has a tau of its own.
            let cal = |name: &str| number(&calibrated[&id], &format!("p:lit_{name}"));
            near(number(&row, "rule:watched"), cal("a") * (1.0 - number(&row, "p:watched")));
            near(number(&row, "rule:safe"), ((cal("c") - 0.2) / 0.8).max(0.0) * (1.0 - number(&row, "p:safe")));
            near(number(&row, "rule:both"), cal("a") * cal("c") * (1.0 - number(&row, "p:both")));
            near(number(&row, "rule:never"), 1.0 - number(&row, "p:never"));
        }
    }
    // Aggregations of the same scores.
    let columns: Vec<String> = RULES.lines().map(|line| line.split([':', ' ']).next().unwrap().to_owned()).collect();
    for (agg, sum) in [("max", 0), ("min", 1), ("mean", 2), ("geo", 3), ("noisy-or", 4)] {
        for row in scores(&sandbox, &format!("--method indep-cal --split test --agg {agg}")).values() {
            let s: Vec<f64> = columns.iter().map(|name| number(row, &format!("rule:{name}"))).collect();
            let p: Vec<f64> = columns.iter().map(|name| number(row, &format!("p:{name}"))).collect();
            let expected = match sum {
                0 => s.iter().copied().fold(0.0, f64::max),
                1 => 1.0 - p.iter().copied().fold(1.0, f64::min),
                2 => s.iter().sum::<f64>() / s.len() as f64,
                3 => 1.0 - (p.iter().map(|p| p.ln()).sum::<f64>() / p.len() as f64).exp(),
                _ => 1.0 - s.iter().map(|s| 1.0 - s).product::<f64>(),
            };
            near(number(row, "anomaly"), expected);
        }
    }
}

#[test]
fn the_broken_rule_comes_first_and_company_changes_nothing() {
    let sandbox = sandbox();
    // z is the features themselves: each concept has numbers of its own in it.
    sandbox.write("two.rules", "watched: a => b\nsafe: c => !d\n");
    let ran = sandbox.run(
        "train ds --rules two.rules --out two --cache cache --projection false --hidden 32 --epochs 60 --rate 0.03 \
         --patience 60 --gate-epochs 60 --gate-rate 0.003 --gate-weight-decay 0.001",
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let labels = sandbox.read("labels.csv");
    let ran = sandbox.run("score two ds --cache cache --split test --fpr 0.05 -o two.jsonl");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("300 samples scored, ") && ran.err.contains(" s for the logic"), "{}", ran.err);
    let (mut first, mut broken, mut flagged, mut normal) = (0, 0, [0; 2], 0);
    for line in sandbox.read("two.jsonl").lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = row["id"].as_str().unwrap();
        let label = labels.lines().find(|line| line.starts_with(&format!("{id},"))).unwrap();
        let [a, b, c, d]: [bool; 4] =
            label.split(',').skip(2).map(|cell| cell == "1").collect::<Vec<_>>().try_into().unwrap();
        let flag = usize::from(row["flagged"].as_bool().unwrap());
        match (a && !b, c && d) {
            (false, false) => {
                normal += 1;
                flagged[0] += flag;
            }
            (true, true) => {}
            (watched, _) => {
                broken += 1;
                flagged[1] += flag;
                first += usize::from(row["top_rules"][0] == if watched { "watched" } else { "safe" });
            }
        }
    }
    assert!(broken > 80 && first * 10 >= broken * 9, "{first} of {broken}");
    assert!(flagged[1] * 10 >= broken * 8, "{flagged:?} of {broken}");
    // 5 % of normal rows, from about 40 calibration rows: far from exact, but not most of them.
    assert!(flagged[0] * 4 < normal, "{flagged:?} of {normal}");

    // The same bits for a sample among few, among many, and on one thread; encoded now, and by training before.
    let (few, all) = (scores(&sandbox, "--split test --threads 1"), scores(&sandbox, "--threads 2"));
    assert!(few.len() < all.len() && few.iter().all(|(id, row)| all[id] == *row));
    assert!(sandbox.run("score model ds --cache cache").err.contains("(1,200 were encoded before)"));
    for words in ["--threads 1", "--threads 2"] {
        let ran = sandbox.run(&format!("score model ds --cache nothing {words}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(!ran.err.contains("encoded before"), "{}", ran.err);
        assert_eq!(ran.out, sandbox.run("score model ds --cache cache").out, "{words}");
    }
    assert!(!sandbox.path("nothing").exists(), "no cache is written");
}

#[test]
fn pictures_are_scored_where_they_lie() {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut table = String::from("id,media,split,bright,red\n");
    std::fs::create_dir_all(sandbox.path("images/more")).unwrap();
    for number in 0..160 {
        let (bright, red) = (random.bool(), random.bool());
        let grey = if bright { random.u8(140..200) } else { random.u8(20..80) };
        let picture = Picture::filled(Size::new(16, 16).unwrap(), [if red { 255 } else { grey }, grey, grey]);
        let name = if number % 2 == 0 { format!("more/{number}.png") } else { format!("{number}.png") };
        write_png(&sandbox.path(&format!("images/{name}")), &picture).unwrap();
        table += &format!("images/{name},{name},train,{},{}\n", u8::from(bright), u8::from(red));
    }
    sandbox.write("labels.csv", table);
    sandbox.write("r.rules", "r: bright => red\n");
    assert_eq!(sandbox.run("import table labels.csv --media-root images --out ds").code, 0);
    let train = "train ds --rules r.rules --out model --cache cache --size 16 --features 16 --hidden 16 --epochs 2";
    assert_eq!(sandbox.run(train).code, 0);
    let rows = scores(&sandbox, "");
    // Pictures that are decoded and encoded now have the bits of what training kept.
    let kept = sandbox.run("score model ds --cache cache");
    assert!(kept.err.contains("(160 were encoded before)"), "{}", kept.err);
    for threads in [1, 2] {
        let streamed = sandbox.run(&format!("score model ds --cache nothing --threads {threads}"));
        assert_eq!((streamed.code, streamed.out), (0, kept.out.clone()), "{}", streamed.err);
    }
    sandbox.write("images/notes.txt", "no picture");
    sandbox.write("images/broken.png", "no picture either");
    // One row an input, in their order, whatever happened.
    let ran = sandbox.run("score model images --cache cache");
    assert_eq!(ran.code, 3, "{}", ran.err);
    let warning = "warning: 1 of 161 inputs could not be read; the column `error` says why\n";
    assert!(ran.err.contains(&format!("{warning}  images/broken.png: ")), "{}", ran.err);
    assert!(ran.err.contains(", 1 not read; "), "{}", ran.err);
    let ids: Vec<&str> = ran.out.lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert!(ids.len() == 161 && ids.is_sorted(), "{ids:?}");
    for line in ran.out.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] == "images/broken.png" {
            assert!(
                cells[1..3] == ["", ""]
                    && cells[3] == "no image format is recognised"
                    && cells[4..].iter().all(|cell| cell.is_empty()),
                "{line}"
            );
        } else {
            assert!(cells[1] == rows[cells[0]]["anomaly"] && cells[3].is_empty(), "{line}");
        }
    }
    // `-q` keeps that back no more than exit codes do.
    let quiet = sandbox.run("score model images --cache cache -q");
    let notes = "warning: left out 1 file that is neither picture nor video, `images/notes.txt`\n";
    assert_eq!((quiet.code, &quiet.out), (3, &ran.out));
    assert!(quiet.err.starts_with(notes) && quiet.err.ends_with(warning), "{}", quiet.err);
    assert!(!quiet.err.contains("broken.png") && !quiet.err.contains("scored, "), "{}", quiet.err);

    let wrong = |words: &str| {
        let ran = sandbox.run(&format!("score {words} --cache cache"));
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        ran.err
    };
    assert!(wrong("model images --fpr 1.5").contains("expected `--fpr` from 0.000001"));
    assert!(wrong("model images --threshold other=0.5").contains("no rule `other`"));
    assert!(wrong("model images --threshold r=1.5").contains("a score from 0 to 1"));
    assert!(wrong("model nothing").contains("no such file or folder"));
    assert!(wrong("model images -o out.xlsx").contains("`.csv`, `.jsonl` or `.parquet`"));
    assert!(wrong("model ds --split oracle").contains("split `oracle`"));
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    assert!(wrong("model empty").contains("expected pictures in `empty`, got none"));
    assert_eq!(sandbox.run("train ds --out bare --cache cache --size 16 --features 16 --epochs 1").code, 0);
    assert!(wrong("bare images").contains("expected a model with rules"));
}

/// The share of fresh normal rows that is flagged is Beta-binomial: of m = 2,000 with n = 1,000 calibration rows at a = 5 %, 100
/// in the mean with a standard deviation of 16.9 (variance m p q (m + n + 1) / (n + 2)); 3.3 of them either way leave one
/// run in a thousand outside.
#[test]
fn fresh_normal_rows_are_flagged_as_often_as_promised() {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(11);
    let mut table = String::from("id,split,a,b,c\n");
    let mut values: Vec<u8> = Vec::new();
    let splits = [("train", 1000), ("calibration", 2000), ("test", 2000)];
    for (split, rows) in splits {
        let mut row = 0;
        while row < rows {
            let labels: [bool; 3] = std::array::from_fn(|_| random.bool());
            let [a, b, c] = labels;
            if (a && !b) || (b && c) {
                continue;
            }
            for label in labels {
                // Noisy enough that scores of normal rows are anything.
                values.extend((f32::from(u8::from(label)) + 1.2 * random.f32()).to_le_bytes());
            }
            table += &format!("{split}{row:04},{split},{},{},{}\n", u8::from(a), u8::from(b), u8::from(c));
            row += 1;
        }
    }
    sandbox.write_npy("z.npy", 3, &values);
    sandbox.write("labels.csv", table);
    sandbox.write("my.rules", "watched: a => b\nsafe: b => !c\n");
    assert_eq!(sandbox.run("import features labels.csv --features z.npy --out ds").code, 0);
    let ran = sandbox
        .run("train ds --rules my.rules --out model --cache cache --features 16 --hidden 16 --epochs 10 --rate 0.01");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for words in ["", "--agg learned", "--agg noisy-or --method indep-cal", "--method wmc --agg min"] {
        let rows = scores(&sandbox, &format!("--split test --fpr 0.05 {words}"));
        let flagged = rows.values().filter(|row| row["flagged"] == "1").count();
        assert!((44..=156).contains(&flagged), "{words}: {flagged} of {}", rows.len());
    }
    let rows = scores(&sandbox, "--split test --fpr 0.05 --flag per-rule");
    for rule in ["watched", "safe"] {
        let flagged = rows.values().filter(|row| row["flagged_rules"].split('|').any(|name| name == rule)).count();
        assert!((44..=156).contains(&flagged), "{rule}: {flagged}");
    }
}
