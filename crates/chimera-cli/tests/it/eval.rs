//! `eval`, its files and its page, `compare`, and the card of a model.

use std::collections::BTreeMap;
use std::fs;

use crate::support::Sandbox;
use crate::support::trained::{import, trained};

/// A small model with a report of some methods at two seeds.
fn reported() -> Sandbox {
    let sandbox = trained();
    let ran = sandbox.run("eval model ds -o report --cache cache --methods indep-cal,wmc,sem,chimera,neural --seeds 2");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("2 rules on 100 test rows of ds: "), "{}", ran.out);
    sandbox
}

/// Lines of `rules.csv`, cells by column.
fn rules(sandbox: &Sandbox, report: &str) -> Vec<BTreeMap<String, String>> {
    let text = sandbox.read(&format!("{report}/rules.csv"));
    let mut lines = text.lines();
    let head = lines.next().unwrap();
    assert_eq!(head, "rule,family,method,score,seed,auroc,auroc_lo,auroc_hi,ap,fpr95,positives,negatives");
    let names: Vec<&str> = head.split(',').collect();
    lines
        .map(|line| names.iter().map(|name| (*name).to_owned()).zip(line.split(',').map(str::to_owned)).collect())
        .collect()
}

/// What stands in an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    tag.split_once(&format!("{name}=\"")).unwrap().1.split('"').next().unwrap()
}

#[test]
fn a_report_has_the_files_of_the_contract_and_says_one_thing_everywhere() {
    let sandbox = reported();
    let lines = rules(&sandbox, "report");
    // Two rules, five methods, raw and gated, two seeds.
    assert_eq!(lines.len(), 2 * 5 * 2 * 2);
    let either = lines.iter().filter(|line| line["rule"] == "either");
    assert!(either.clone().count() == 20 && either.into_iter().all(|line| line["family"] == "other"));
    assert_eq!(
        sandbox.read("report/leaves.csv").lines().next().unwrap(),
        "concept,auroc,ap,accuracy,prevalence,positives"
    );
    let summary: serde_json::Value = serde_json::from_str(&sandbox.read("report/summary.json")).unwrap();
    assert_eq!((&summary["rows"], &summary["seeds"]), (&100.into(), &serde_json::json!([123, 124])));
    assert_eq!(summary["main"], "neural");
    for method in ["indep-cal", "wmc", "sem", "chimera", "neural"] {
        let of = &summary["methods"][method];
        let mean = |score: &str, column: &str| {
            let values: Vec<f64> = lines
                .iter()
                .filter(|line| line["method"] == method && line["score"] == score)
                .map(|line| line[column].parse().unwrap())
                .collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        for (column, key) in [("auroc", "auroc"), ("ap", "ap"), ("fpr95", "fpr95")] {
            assert!(
                (of["all"][key]["mean"].as_f64().unwrap() - mean("raw", column)).abs() < 1e-12,
                "{method} {column}"
            );
        }
        assert!((of["gated"]["auroc"]["mean"].as_f64().unwrap() - mean("gated", "auroc")).abs() < 1e-12);
        assert_eq!((&of["all"]["rules"], &of["all"]["undefined"]), (&2.into(), &0.into()));
        for way in ["min", "max", "mean", "geo", "noisy-or", "learned-supervised"] {
            assert!(of["consistency_anomaly"][way]["auroc"]["mean"].is_f64(), "{method} {way}");
        }
        // Ten normal calibration rows are too few to fit anything to, which is said.
        assert!(of["consistency_anomaly"]["learned"].is_null());
        assert_eq!(of["against_indep_cal"].is_null(), method == "indep-cal");
    }
    assert!(summary["words"][0].as_str().unwrap().contains("learned"), "{}", summary["words"]);
    // Seeds do not matter where nothing is taught, and do where something is.
    let std = |method: &str| summary["methods"][method]["all"]["auroc"]["std"].as_f64().unwrap();
    assert!(std("wmc") == 0.0 && std("chimera") > 0.0);

    let page = sandbox.read("report/report.html");
    page_says(&page, &lines);
    for outside in ["<script", "src=", "@import", "https:"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.replace("http://www.w3.org/2000/svg", "").matches("http:").count() == 0);
    assert!(page.contains("not human judgements") && page.contains("<meta name=\"viewport\""));
    let plots = fs::read_dir(sandbox.path("report/plots")).unwrap().count();
    assert!(plots >= 2 + 2 + 4, "{plots}");
}

/// The numbers of the page are those of `rules.csv`, in the mean over seeds.
fn page_says(page: &str, lines: &[BTreeMap<String, String>]) {
    let mean = |rule: &str, method: &str| {
        let found =
            lines.iter().filter(|line| line["rule"] == rule && line["method"] == method && line["score"] == "raw");
        let values: Vec<f64> = found.map(|line| line["auroc"].parse().unwrap()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let mut cells = 0;
    for row in page.split("<tr>").filter(|row| row.contains("data-all=")) {
        let rule = attribute(row, "data-all");
        for tag in row.split("<td ").filter(|tag| tag.contains("data-method=")) {
            let (method, auroc): (&str, f64) =
                (attribute(tag, "data-method"), attribute(tag, "data-auroc").parse().unwrap());
            assert!((auroc - mean(rule, method)).abs() < 1e-12, "{rule} {method}");
            assert!(tag.contains(&format!(">{auroc:.3}<")), "{tag}");
            let [low, high] = ["data-lo", "data-hi"].map(|end| attribute(tag, end).parse::<f64>().unwrap());
            assert!(low <= auroc + 0.05 && auroc - 0.05 <= high, "{low} {auroc} {high}");
            if ["indep-cal", "wmc"].contains(&method) {
                let line = lines
                    .iter()
                    .find(|line| line["rule"] == rule && line["method"] == method && line["score"] == "raw");
                let line = line.unwrap();
                assert_eq!(
                    (attribute(tag, "data-lo"), attribute(tag, "data-hi")),
                    (&*line["auroc_lo"], &*line["auroc_hi"])
                );
            }
            cells += 1;
        }
    }
    assert_eq!(cells, 2 * 5);
    for tag in page.split("<td data-rule=").skip(1) {
        let rule = tag.split('"').nth(1).unwrap();
        let auroc: f64 = attribute(tag, "data-auroc").parse().unwrap();
        assert!((auroc - mean(rule, "neural")).abs() < 1e-12, "{rule}");
    }
}

#[test]
fn the_same_question_has_the_same_answer_to_the_byte() {
    let sandbox = reported();
    let words = "--cache cache --methods indep-cal,wmc,sem,chimera,neural --seeds 2";
    assert_eq!(sandbox.run(&format!("eval model ds -o again {words} --threads 1")).code, 0);
    // In another cache everything is taught anew.
    assert_eq!(
        sandbox.run(&format!("eval model ds -o anew {} --threads 3", words.replace("cache cache", "cache other"))).code,
        0
    );
    let without_times = |page: String| {
        let (before, rest) = page.split_once("<!-- times -->").unwrap();
        format!("{before}{}", rest.split_once("<!-- /times -->").unwrap().1)
    };
    for other in ["again", "anew"] {
        for name in ["rules.csv", "leaves.csv", "summary.json", "resamples.safetensors"] {
            let [one, two] =
                ["report", other].map(|report| fs::read(sandbox.path(&format!("{report}/{name}"))).unwrap());
            assert!(one == two, "{other}/{name}");
        }
        let [one, two] = ["report", other].map(|report| without_times(sandbox.read(&format!("{report}/report.html"))));
        assert!(one == two, "{other}/report.html");
    }
    // Nothing went into the model.
    let before = fs::read(sandbox.path("model/manifest.json")).unwrap();
    let ran = sandbox.run("eval model ds -o third --cache cache --methods wmc,mono-n,oracle");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("oracle *") && !ran.out.contains("wmc *"), "{}", ran.out);
    assert!(ran.out.contains("* `oracle` was trained on violations (cross-fitted on these"), "{}", ran.out);
    // It is called an upper bound exactly where no other method has a greater mean.
    let mean = |method: &str| {
        let line = ran.out.lines().find(|line| line.trim_start().starts_with(method)).unwrap();
        let number = line.split_whitespace().find(|word| word.starts_with("0.") || word.starts_with("1.")).unwrap();
        number.parse::<f64>().unwrap()
    };
    let is_bound = mean("oracle *") >= mean("wmc").max(mean("mono-n"));
    let words = if is_bound { "; it is an upper bound here" } else { "; it is no upper bound here: `" };
    assert!(ran.out.contains(words), "{}", ran.out);
    // Without a split for it, the oracle learns from the rows that are measured, which is said.
    let summary: serde_json::Value = serde_json::from_str(&sandbox.read("third/summary.json")).unwrap();
    assert_eq!(summary["methods"]["oracle"]["seen_violations"], "cross-fitted");
    assert_eq!((&summary["learned_supervised_on"], &summary["own_rows"]), (&"cross-fitted".into(), &true.into()));
    let page = sandbox.read("third/report.html");
    assert_eq!(page.matches("cross-fitted on these test rows").count(), 3);
    assert!(before == fs::read(sandbox.path("model/manifest.json")).unwrap());
}

#[test]
fn reports_are_compared_and_regressions_found() {
    let sandbox = reported();
    let ran = sandbox.run("compare report report");
    assert!(ran.code == 0 && ran.out.contains("mean") && ran.err.contains("no regression"), "{}{}", ran.out, ran.err);
    // What never saw a violation says that none is there.
    let ran = sandbox.run("compare report report --method indep-cal --with sem --json");
    let found: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &found["is_paired"]), (1, &true.into()), "{}", ran.out);
    let lines = rules(&sandbox, "report");
    for one in found["differences"].as_array().unwrap().iter().filter(|one| one["rule"].is_string()) {
        let auroc = |method: &str| {
            let of_rule = lines.iter().filter(|line| line["rule"] == one["rule"].as_str().unwrap());
            let values: Vec<f64> = of_rule
                .filter(|line| line["method"] == method && line["score"] == "raw")
                .map(|line| line["auroc"].parse().unwrap())
                .collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        assert!((one["difference"].as_f64().unwrap() - (auroc("sem") - auroc("indep-cal"))).abs() < 1e-9);
    }
    assert_eq!(sandbox.run("compare report report --method indep-cal --with sem --tolerance 1").code, 0);
    let ran = sandbox.run("compare report ds");
    assert!(
        ran.code == 2 && ran.err.contains("expected a report, got `ds` without `resamples.safetensors`"),
        "{}",
        ran.err
    );
    let ran = sandbox.run("compare report report --method oracle");
    let expected = "got `oracle`, which it does not have\nhint: choose with `--method` and `--with`; it has indep-cal, wmc, sem, chimera, neural";
    assert!(ran.code == 2 && ran.err.contains(expected), "{}", ran.err);

    // Reports that speak of other methods first, at other seeds.
    let ran = sandbox.run("eval model ds -o alone --cache cache --methods wmc");
    assert!(ran.code == 0 && !ran.out.contains("against") && !ran.out.contains('*'), "{}", ran.out);
    assert!(!sandbox.read("alone/report.html").contains("against indep-cal"));
    let ran = sandbox.run("compare report alone");
    assert!(
        ran.err.contains("`neural` is compared with `wmc`") && ran.err.contains("`--method` compares one"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("the reports are of different seeds (123, 124 and 123)"), "{}", ran.err);
    let ran = sandbox.run("compare report alone --method wmc");
    assert!(ran.code == 0 && !ran.err.contains("is compared with"), "{}", ran.err);

    // A number that was changed is not believed.
    let path = sandbox.path("alone/resamples.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 4;
    bytes[last..].copy_from_slice(&0.123_f32.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let ran = sandbox.run("compare report alone --method wmc");
    assert!(ran.code == 2 && ran.err.contains("the file was changed or damaged"), "{}", ran.err);
}

#[test]
fn what_cannot_be_measured_is_said_and_the_rest_is_measured() {
    let sandbox = trained();
    let ran = sandbox.run("eval model ds -o model --cache cache --methods wmc");
    assert!(ran.code == 2 && ran.err.contains("expected an empty or new folder, got `model`"), "{}", ran.err);
    let ran = sandbox.run("eval model ds -o ds/report --cache cache --methods wmc");
    assert!(ran.code == 2 && ran.err.contains("lies in `ds`, which the command reads"), "{}", ran.err);

    // Rows of another dataset: what is taught on the training data cannot be there without them.
    import(&sandbox, "other", 80);
    let rename = |name: &str, to: &str, change: &dyn Fn(&str) -> String| {
        let lines: String = sandbox.read(&format!("{name}.csv")).lines().map(|line| change(line) + "\n").collect();
        sandbox.write(&format!("{to}.csv"), lines);
        let ran = sandbox.run(&format!("import features {to}.csv --features {name}.npy --out {to}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    };
    let words = "--cache cache --methods wmc,sem,neural";
    let ran = sandbox.run(&format!("eval model other -o far {words} --seeds 2"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("`sem` is not there: it is taught on the data that the model was trained on"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("there is one seed"), "{}", ran.err);
    assert!(rules(&sandbox, "far").iter().all(|line| line["method"] != "sem" && line["seed"] == "123"));
    assert!(sandbox.read("far/report.html").contains("What is not in this report"));
    let ran = sandbox.run(&format!("eval model other -o near {words} --data ds"));
    assert!(ran.code == 0 && rules(&sandbox, "near").iter().any(|line| line["method"] == "sem"), "{}", ran.err);
    let ran = sandbox.run(&format!("eval model other -o wrong {words} --data other"));
    assert!(ran.code == 2 && ran.err.contains("expected the data that the model was trained on"), "{}", ran.err);

    // What would do nothing is refused, and what was not done is not reported.
    let ran = sandbox.run(&format!("eval model ds -o wrong {words} --data other"));
    assert!(ran.code == 2 && ran.err.contains("expected the data that the model was trained on"), "{}", ran.err);
    let ran = sandbox.run(&format!("eval model ds -o wrong {words} --refit-leaf"));
    assert!(ran.code == 2 && ran.err.contains("expected more than one seed"), "{}", ran.err);
    let ran = sandbox.run(&format!("eval model ds -o wrong {words} --seeds 2 --refit-leaf --weights ds.npy"));
    assert!(ran.code == 2 && ran.err.contains("did not start from any, got `ds.npy`"), "{}", ran.err);
    let ran = sandbox.run("eval model other -o refit --cache cache --methods wmc --seeds 2 --refit-leaf");
    assert!(ran.code == 0 && ran.err.contains("there is one seed"), "{}", ran.err);
    let summary: serde_json::Value = serde_json::from_str(&sandbox.read("refit/summary.json")).unwrap();
    assert_eq!(summary["refit_leaf"], false);

    // Rows that trained the model come back as test rows.
    rename("ds", "cheat", &|line| line.replace(",train,", ",test,"));
    let ran = sandbox.run("eval model cheat -o cheated --cache cache --methods wmc");
    assert!(
        ran.code == 2 && ran.err.contains("300 of 400 test rows of `cheat` trained the model: `s000001`"),
        "{}",
        ran.err
    );
    // Under other ids they may be others with the same features, which is said.
    rename("ds", "renamed", &|line| line.replace(",train,", ",test,").replace("s0", "r0"));
    let ran = sandbox.run("eval model renamed -o again --cache cache --methods wmc");
    let alike = "300 of 400 test rows look exactly like rows that trained the model: `r000001`";
    assert!(ran.code == 0 && ran.err.contains(alike), "{}", ran.err);
    assert!(sandbox.read("again/summary.json").contains(alike));
    // Nor do they pass where the model's record of them was emptied or is gone.
    let record = fs::read(sandbox.path("model/seen.bin")).unwrap();
    fs::write(sandbox.path("model/seen.bin"), "").unwrap();
    let ran = sandbox.run("eval model cheat -o cheated --cache cache --methods wmc");
    assert!(ran.code == 2 && ran.err.contains("seen.bin` as it was trained, got other content"), "{}", ran.err);
    fs::remove_file(sandbox.path("model/seen.bin")).unwrap();
    let ran = sandbox.run("eval model cheat -o cheated --cache cache --methods wmc");
    assert!(ran.code == 2 && ran.err.contains("seen.bin"), "{}", ran.err);
    fs::write(sandbox.path("model/seen.bin"), record).unwrap();
    // Rows without any concept of the rules, and with one of two.
    rename("other", "foreign", &|line| line.replace("a,b", "x,y"));
    let ran = sandbox.run("eval model foreign -o foreigner --cache cache --methods wmc");
    assert!(ran.code == 2 && ran.err.contains("do not belong together"), "{}", ran.err);
    rename("other", "half", &|line| line.replace("a,b", "a,y"));
    let ran = sandbox.run("eval model half -o halved --cache cache --methods wmc");
    assert!(ran.code == 0 && ran.err.contains("the dataset has no labels of `b`"), "{}", ran.err);

    // One row, which has no AUROC.
    let row = std::cell::Cell::new(0);
    rename("other", "one", &|line| {
        row.set(row.get() + usize::from(line.contains(",test,")));
        if row.get() == 1 { line.to_owned() } else { line.replace(",test,", ",train,") }
    });
    let ran = sandbox.run("eval model one -o lonely --cache cache --methods wmc,indep-cal");
    assert!(ran.code == 0, "{}", ran.err);
    assert!(rules(&sandbox, "lonely").iter().all(|line| line["auroc"].is_empty() && line["auroc_lo"].is_empty()));
    let summary: serde_json::Value = serde_json::from_str(&sandbox.read("lonely/summary.json")).unwrap();
    assert!(summary["methods"]["wmc"]["all"]["auroc"]["mean"].is_null());
    assert_eq!(summary["methods"]["wmc"]["all"]["undefined"], 2);
    assert!(sandbox.read("lonely/report.html").contains("Nothing can be said about 2 rules"));
}

#[test]
fn a_model_has_a_card_and_other_rules_can_be_measured() {
    let sandbox = trained();
    let card = sandbox.read("model/card.md");
    for expected in ["# A model of ds", "watched: a => b", "| split test | 100 rows |", "## Limits"] {
        assert!(card.contains(expected), "{expected}: {card}");
    }
    // The card says of concepts what `leaves.csv` does.
    for line in sandbox.read("model/leaves.csv").lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let auroc: f64 = cells[1].parse().unwrap();
        assert!(card.contains(&format!("| {} | {auroc:.3} |", cells[0])), "{line}: {card}");
    }
    sandbox.write("more.rules", "third: b => a\n");
    assert_eq!(sandbox.run("add model more.rules --data ds --cache cache").code, 0);
    assert!(sandbox.read("model/card.md").contains("third: b => a"));
    sandbox.write("other.rules", "same: a => b\nunheard: a & b => a\n");
    let ran = sandbox.run("eval model ds -o report --cache cache --rules other.rules --methods wmc,chimera,neural");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let reason =
        "`chimera` is not there: neither the model nor the cache has gates for these parts of the rules: `a & b`";
    assert!(ran.err.contains(reason) && ran.err.contains("; `chimera add` teaches them"), "{}", ran.err);
    // What cannot be asked is not announced.
    assert!(ran.err.contains("wmc at seed 123") && !ran.err.contains("chimera at seed 123"), "{}", ran.err);
    let page = sandbox.read("report/report.html");
    assert!(page.contains("is asked about 2 rules that were given beside it, on 100 test rows"));
    sandbox.write("unknown.rules", "r: a => z\n");
    let ran = sandbox.run("eval model ds -o no --cache cache --rules unknown.rules");
    assert!(ran.code == 2 && ran.err.contains("not among the concepts of the model"), "{}", ran.err);
    assert!(rules(&sandbox, "report").iter().any(|line| line["rule"] == "same" && line["method"] == "neural"));
    let ran = sandbox.run("eval model ds -o refit --cache cache --methods wmc,chimera --seeds 2 --refit-leaf");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let summary: serde_json::Value = serde_json::from_str(&sandbox.read("refit/summary.json")).unwrap();
    assert!(summary["methods"]["wmc"]["all"]["auroc"]["std"].as_f64().is_some_and(|std| std >= 0.0));
    assert_eq!(summary["refit_leaf"], true);
}

#[test]
fn a_model_without_rules_can_be_asked_about_others() {
    let sandbox = Sandbox::new();
    import(&sandbox, "ds", 400);
    sandbox.write("my.rules", "watched: a => b\n");
    let ran = sandbox.run("train ds --out model --cache cache --features 8 --epochs 2");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = sandbox.run("eval model ds -o no --cache cache");
    assert!(ran.code == 2 && ran.err.contains("expected a model with rules"), "{}", ran.err);
    let ran = sandbox.run("eval model ds -o report --cache cache --rules my.rules --seeds 2");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for method in ["indep", "indep-cal", "wmc"] {
        assert!(rules(&sandbox, "report").iter().any(|line| line["method"] == method && !line["auroc"].is_empty()));
    }
    assert!(ran.err.contains("there is one seed: the model has no gates"), "{}", ran.err);
    for reason in ["`neural` is not there: expected a model with rules", "`sem` is not there: `sem` is taught as"] {
        let line = ran.err.lines().find(|line| line.contains(reason)).unwrap_or_else(|| panic!("{}", ran.err));
        assert!(line.contains("`chimera add`"), "{line}");
    }
    let summary: serde_json::Value = serde_json::from_str(&sandbox.read("report/summary.json")).unwrap();
    assert_eq!((&summary["main"], &summary["other_rules"]), (&"indep-cal".into(), &true.into()));
}

#[test]
fn rows_that_selected_rules_are_refused_whatever_way_the_rules_came() {
    let sandbox = Sandbox::new();
    let done = |words: &str| {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.err);
    };
    let commands = || -> Vec<String> {
        let manifest: serde_json::Value = serde_json::from_str(&sandbox.read("model/manifest.json")).unwrap();
        let mined = manifest["gates"]["mined"].as_array().cloned().unwrap_or_default();
        mined.iter().map(|record| record["command"].as_str().unwrap().to_owned()).collect()
    };
    import(&sandbox, "ds", 400);
    done("mine ds -o mined.rules");
    // By an include, too.
    sandbox.write("around.rules", "include \"mined.rules\"\n");
    done(
        "train ds --rules around.rules --out model --cache cache --features 8 --hidden 8 --epochs 2 --gate-epochs 1 --grafts=false",
    );
    assert_eq!(commands(), ["chimera mine ds"]);
    done("eval model ds -o report --cache cache --methods wmc");

    // Train and test exchanged: 270 rows were mined, 30 of the 300 that are test rows now were for calibration.
    let table = sandbox.read("ds.csv");
    let exchanged = table.replace(",train,", ",other,").replace(",test,", ",train,").replace(",other,", ",test,");
    sandbox.write("exchanged.csv", exchanged);
    done("import features exchanged.csv --features ds.npy --out exchanged");
    let refused = "at least 64 of 300 test rows of `exchanged` selected the rules: mined by `chimera mine ds`";
    for rules in ["", "--rules mined.rules", "--rules around.rules", "--rules model/rules.rules"] {
        let ran = sandbox.run(&format!("eval model exchanged -o no --cache cache --methods wmc {rules}"));
        assert!(ran.code == 2 && ran.err.contains(refused), "{rules}: {}", ran.err);
        assert!(ran.err.contains("hint: rules that were chosen on these rows look better on them"), "{}", ran.err);
    }
    // Rules that nobody mined are not to blame; the model is.
    sandbox.write("hand.rules", "either: a | b\n");
    let ran = sandbox.run("eval model exchanged -o no --cache cache --methods wmc --rules hand.rules");
    assert!(ran.code == 2 && ran.err.contains("trained the model") && !ran.err.contains("selected"), "{}", ran.err);
    assert!(!sandbox.path("no").exists());

    // Rules that are added come with their records, each once; those of rules that are gone go with them.
    done("add model hand.rules --data ds --cache cache");
    done("add model mined.rules --data ds --cache cache");
    assert_eq!(commands(), ["chimera mine ds"]);
    let text = sandbox.read("mined.rules");
    let names: Vec<&str> = text.lines().filter_map(|line| line.split([' ', ':']).next()).collect();
    let names = names.into_iter().filter(|name| !name.is_empty() && *name != "#");
    let other: String = names.chain(["either"]).map(|name| format!("{name}: b => a\n")).collect();
    sandbox.write("other.rules", other);
    done("add model other.rules --data ds --cache cache");
    assert_eq!(commands(), [""; 0]);

    // Nobody can tell which rows selected rules whose record was changed.
    sandbox.write("damaged.rules", text.replace("# rows = 270", "# rows = 2"));
    sandbox.write("around-damaged.rules", "include \"damaged.rules\"\n");
    for words in [
        "eval model ds -o no --cache cache --methods wmc --rules damaged.rules",
        "eval model ds -o no --cache cache --methods wmc --rules around-damaged.rules",
        "train ds --rules damaged.rules --out no --cache cache",
        "add model damaged.rules --data ds --cache cache",
        "rules show damaged.rules --graph",
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        for part in
            ["error[E050]: this record of how rules were mined is not as `chimera mine` wrote it", "damaged.rules:3:1"]
        {
            assert!(ran.err.contains(part), "{words}: {}", ran.err);
        }
    }
    assert!(!sandbox.path("no").exists());
    assert_eq!(commands(), [""; 0]);
}

/// Rows and columns in another order are the same data. A model of the one is at home on the other, and a model with another seed
/// that was kept for the one, whose numbers stand in the order of its concepts, is not taken for the other.
#[test]
fn the_same_data_in_another_order_is_the_same_data() {
    let sandbox = trained();
    let text = sandbox.read("ds.csv");
    let turned = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        [cells[0], cells[1], cells[3], cells[2]].join(",")
    };
    let mut turned: Vec<String> = text.lines().skip(1).map(turned).collect();
    turned.reverse();
    sandbox.write("turned.csv", format!("id,split,b,a\n{}\n", turned.join("\n")));
    let values = fs::read(sandbox.path("ds.npy")).unwrap();
    let values = &values[values.len() - 400 * 16..];
    let values: Vec<u8> = values.chunks(16).rev().flatten().copied().collect();
    sandbox.write_npy("turned.npy", 4, &values);
    let ran = sandbox.run("import features turned.csv --features turned.npy --out turned");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let train =
        "train turned --rules my.rules --out other --cache cache --features 8 --hidden 8 --epochs 2 --gate-epochs 1";
    assert_eq!(sandbox.run(train).code, 0);
    let aurocs = |of: &str, name: &str| -> BTreeMap<[String; 4], String> {
        let ran = sandbox
            .run(&format!("eval {of} -o {name} --cache cache --methods wmc,chimera,indep-cal --seeds 2 --refit-leaf"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        let summary: serde_json::Value = serde_json::from_str(&sandbox.read(&format!("{name}/summary.json"))).unwrap();
        assert_eq!(summary["own_rows"], true, "{of}");
        let key =
            |line: &BTreeMap<String, String>| ["rule", "method", "score", "seed"].map(|column| line[column].clone());
        rules(&sandbox, name).iter().map(|line| (key(line), line["auroc"].clone())).collect()
    };
    let as_it_was = aurocs("model ds", "one");
    assert_eq!(as_it_was, aurocs("model turned", "two"));
    assert_eq!(fs::read_dir(sandbox.path("cache/replicas")).unwrap().count(), 1);
    let other = aurocs("other turned", "three");
    assert_eq!(other, aurocs("other ds", "four"));
    assert_eq!(fs::read_dir(sandbox.path("cache/replicas")).unwrap().count(), 2);
}
