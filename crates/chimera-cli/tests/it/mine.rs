//! `chimera mine` as people use it: a file that checks clean, a table, explanations, and words where nothing can be mined.

use crate::support::Sandbox;

/// 800 samples in which `helmet` goes with `person` but for one train sample, and `rain` excludes `dust`; every fifth is for
/// tests, and three of those break the first rule, and every fifth for calibration.
fn site() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(12);
    let mut table = String::from("id,split,person,helmet,rain,dust,crane\n");
    for row in 0..800 {
        let [person, rain, crane] = [random.bool(), random.u8(..) < 90, random.bool()];
        let broken = row == 1 || [5, 10, 15].contains(&row);
        let (person, helmet) = (person || broken, (person || random.u8(..) < 40) && !broken);
        let dust = !rain && random.u8(..) < 200;
        let split = ["test", "train", "train", "calibration", "train"][row % 5];
        let cells = [person, helmet, rain, dust, crane].map(|cell| if cell { "1" } else { "0" });
        table += &format!("s{row:04},{split},{}\n", cells.join(","));
    }
    sandbox.write("site.csv", table);
    let ran = sandbox.run("import table site.csv --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox
}

#[test]
fn a_mined_file_checks_clean_and_its_table_says_what_speaks_for_it() {
    let sandbox = site();
    let ran = sandbox.run("mine ds -o mined.rules --confidence-pos 0.99");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.ends_with("wrote 2 rules to `mined.rules`\n"), "{}", ran.err);
    for words in ["person => helmet", "rain => !dust", "broken in test", "1 of 2 rules can be evaluated on test"] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    let text = sandbox.read("mined.rules");
    assert!(text.contains("# command = \"chimera mine ds --confidence-pos 0.99\"\n"), "{text}");
    assert!(text.contains("person_with_helmet [family=simple support="), "{text}");
    let checked = sandbox.run("rules check mined.rules");
    assert_eq!((checked.code, checked.err.as_str()), (0, ""), "{}", checked.out);
    assert!(checked.out.contains("no findings"), "{}", checked.out);
    // With data, only what one row that breaks a rule and none that break the other make of it.
    let checked = sandbox.run("rules check mined.rules --data ds --json");
    assert_eq!(checked.code, 0, "{}", checked.out);
    let report: serde_json::Value = serde_json::from_str(&checked.out).unwrap();
    let codes: Vec<&str> =
        report["diagnostics"].as_array().unwrap().iter().map(|f| f["code"].as_str().unwrap()).collect();
    assert!(codes.iter().all(|code| ["W112", "W113"].contains(code)), "{codes:?}");
    // The canonical spelling already, and it stays so; the record survives.
    assert_eq!(sandbox.run("rules fmt mined.rules --check").code, 0);
    let records = chimera_mine::record::read_records("mined.rules", &text).unwrap();
    assert_eq!((records.len(), records[0].dataset.as_str()), (1, "ds"));
    // Without a file the rules are the result; threads change no byte.
    let printed = sandbox.run("mine ds --confidence-pos 0.99 --threads 3");
    assert_eq!(printed.out, text);
    assert!(printed.err.contains("rain => !dust"), "{}", printed.err);
}

#[test]
fn what_somebody_has_changed_is_not_written_over() {
    let sandbox = site();
    let mine = "mine ds -o mined.rules --confidence-pos 0.99";
    assert_eq!(sandbox.run(mine).code, 0);
    let text = sandbox.read("mined.rules");
    // As it was written, nothing is lost with it, whatever the options.
    assert_eq!(sandbox.run("mine ds -o mined.rules --confidence-pos 0.98").code, 0);
    assert_ne!(sandbox.read("mined.rules"), text);
    for edited in [
        text.replace("person_with_helmet", "hard_hats"),
        text.lines().filter(|line| !line.contains("rain")).map(|line| format!("{line}\n")).collect(),
        format!("{text}own: crane => person\n"),
        "own: crane => person\n".to_owned(),
        String::new(),
    ] {
        sandbox.write("mined.rules", edited.clone());
        let ran = sandbox.run(mine);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{edited}");
        let expected =
            "`mined.rules` is not as `chimera mine` wrote it, so it may be somebody's work; it is left as it is";
        assert!(ran.err.contains(expected), "{}", ran.err);
        assert_eq!(sandbox.read("mined.rules"), edited);
    }
}

#[test]
fn a_record_survives_what_people_do_to_rules_and_is_checked() {
    let sandbox = site();
    assert_eq!(sandbox.run("mine ds -o mined.rules --confidence-pos 0.99").code, 0);
    let text = sandbox.read("mined.rules");
    let expected = chimera_mine::record::read_records("mined.rules", &text).unwrap();
    let records = |text: &str| chimera_mine::record::read_records("t", text).unwrap();
    // Rules are deleted and added, and the file is formatted.
    let fewer: String =
        text.lines().filter(|line| !line.starts_with("person_with")).map(|line| format!("{line}\n")).collect();
    sandbox.write("edited.rules", format!("own:   crane=>person   # mine\n{fewer}# mine, too\nlast:   a=>b\n"));
    assert_eq!(sandbox.run("rules fmt edited.rules --write").code, 0);
    let formatted = sandbox.read("edited.rules");
    assert!(formatted.contains("last: a => b") && !formatted.contains("person_with"), "{formatted}");
    assert_eq!(records(&formatted), expected);
    assert_eq!(sandbox.run("rules check edited.rules").code, 0);
    // Through the graph form and back.
    let graph = sandbox.run("rules show edited.rules --graph");
    assert_eq!(graph.code, 0, "{}", graph.err);
    sandbox.write("edited.json", graph.out);
    let back = sandbox.run("rules fmt edited.json");
    assert_eq!((back.code, records(&back.out)), (0, expected), "{}", back.err);
    // A changed record is a finding of its own, with its place, beside all others.
    let (before, list) = formatted.split_once("# rows = [\n").unwrap();
    let (_, after) = list.split_once("# ]\n").unwrap();
    sandbox.write("damaged.rules", format!("{before}# rows = [\n# ]\n{after}"));
    let checked = sandbox.run("rules check damaged.rules --json");
    assert_eq!(checked.code, 1, "{}", checked.err);
    let report: serde_json::Value = serde_json::from_str(&checked.out).unwrap();
    let findings = report["diagnostics"].as_array().unwrap();
    let changed = findings.iter().find(|finding| finding["code"] == "E050").unwrap_or_else(|| panic!("{findings:?}"));
    let line = formatted.lines().position(|line| line == "# [[mined]]").unwrap() as u64 + 1;
    assert_eq!((changed["line"].as_u64(), changed["file"].as_str()), (Some(line), Some("damaged.rules")));
    assert!(changed["hint"].as_str().unwrap().contains("or mine again"), "{changed}");
}

#[test]
fn one_violation_in_many_rows_is_seen() {
    let sandbox = Sandbox::new();
    let mut table = String::from("id,split,a,b\n0,calibration,0,0\n1,train,1,0\n");
    (2..20_002).for_each(|row| table += &format!("{row},train,1,1\n"));
    (20_002..20_500).for_each(|row| table += &format!("{row},train,0,0\n"));
    sandbox.write("many.csv", table);
    assert_eq!(sandbox.run("import table many.csv --out ds").code, 0);
    let ran = sandbox.run("mine ds --families implies --holdout 0 -o many.rules");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut explain = sandbox.command("mine ds --families implies --holdout 0 --explain");
    let why: crate::support::Ran = explain.arg("a => b").output().unwrap().into();
    for (text, start) in [(&ran.out, "a => b"), (&why.out, "train ")] {
        // 20,000 of 20,001 rows: 0.99995, and not 1.
        let line = text.lines().find(|line| line.trim_start().starts_with(start) && line.contains("20,001"));
        let words: Vec<&str> = line.unwrap_or_else(|| panic!("{text}")).split_whitespace().collect();
        assert!(words.contains(&"0.9999"), "{words:?}");
    }
    assert!(sandbox.read("many.rules").contains("support=20001 confidence=0.9999 "));
}

#[test]
fn machines_get_all_of_it() {
    let sandbox = site();
    let ran = sandbox.run("mine ds --confidence-pos 0.99 --json -q");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let rules = report["rules"].as_array().unwrap();
    assert_eq!(rules.len(), 2);
    let helmet = rules.iter().find(|rule| rule["formula"] == "person => helmet").unwrap();
    assert_eq!(helmet["support"].as_u64().unwrap() - helmet["kept"].as_u64().unwrap(), 1);
    let test = &report["elsewhere"][0];
    assert_eq!((test["split"].as_str(), test["rules"][0]["fails"].as_u64()), (Some("test"), Some(3)));
    assert!(report["candidates"]["pairs"]["considered"].as_u64().unwrap() > 0);
    // The record, and concepts that never vary.
    assert_eq!(report["record"]["command"], "chimera mine ds --confidence-pos 0.99");
    assert_eq!((report["record"]["rows"].as_u64(), report["gave_up"].as_bool()), (Some(480), Some(false)));
    assert_eq!(report["constant"], serde_json::json!([]));
    let table = sandbox.read("site.csv");
    let sunny = |line: &str| format!("{line},{}\n", if line.starts_with("id") { "sun" } else { "1" });
    sandbox.write("sunny.csv", table.lines().map(sunny).collect::<String>());
    assert_eq!(sandbox.run("import table sunny.csv --out sunny").code, 0);
    // Where no rule passes, there is all the rest.
    let ran = sandbox.run("mine sunny --support 700 --json");
    assert!(ran.code == 1 && ran.err.contains("no rule passes"), "{}", ran.err);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["rules"], serde_json::json!([]));
    assert_eq!(report["constant"], serde_json::json!([{"concept": "sun", "what": "is always true"}]));
    assert_eq!(report["record"]["options"]["support"], 700);
    assert!(report["candidates"]["pairs"]["rare"].as_u64().unwrap() > 0);
}

#[test]
fn a_rule_is_explained_with_its_samples() {
    let sandbox = site();
    let ran = sandbox.run("mine ds --confidence-pos 0.99 --explain person_with_helmet");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.starts_with("person => helmet\n\ntrain rows, `person` by `helmet`:\n"), "{}", ran.out);
    assert!(ran.out.ends_with("it is mined, as `person_with_helmet`\n"), "{}", ran.out);
    // The two p-values have names of their own, and the table has the second one's.
    assert!(
        ran.out.contains("p of these rows") && ran.out.contains("\nadjusted p, with all other tests"),
        "{}",
        ran.out
    );
    let table = sandbox.run("mine ds --confidence-pos 0.99 -o mined.rules");
    assert!(table.out.lines().nth(1).unwrap().contains("adjusted p"), "{}", table.out);
    let mut command = sandbox.command("mine ds --explain");
    let misspelt: crate::support::Ran = command.arg("persn => helmet").output().unwrap().into();
    assert_eq!(misspelt.code, 2);
    assert!(misspelt.err.contains("unknown concept `persn`\nhint: did you mean `person`?"), "{}", misspelt.err);
    let mut command = sandbox.command("mine ds --explain");
    let ran: crate::support::Ran = command.arg("crane => helmet").output().unwrap().into();
    assert!(ran.out.contains("it is not mined: 0."), "{}", ran.out);
    // Labels have no pictures.
    let mut command = sandbox.command("mine ds --sheet why.png --explain");
    let ran: crate::support::Ran = command.arg("crane => helmet").output().unwrap().into();
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("expected a dataset with media"), "{}", ran.err);
}

#[cfg(feature = "evidence")]
#[test]
fn samples_that_keep_and_break_a_rule_are_on_the_sheet() {
    let sandbox = Sandbox::new();
    let world = "world clevr --out w --size 48x32 --train 160 --test 0 --oracle 0 --no-rules --together 0.9";
    assert_eq!(sandbox.run(world).code, 0);
    let ran = sandbox.run("import clevr w --concepts all --split train=0.9,calibration=0.1 --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let mut command = sandbox.command("mine ds --sheet why.png --samples 10 --explain");
    let ran: crate::support::Ran = command.arg("large => metal").output().unwrap().into();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("10 samples in `why.png`: ") && ran.err.contains(" break it; "), "{}", ran.err);
    assert!(std::fs::read(sandbox.path("why.png")).unwrap().starts_with(b"\x89PNG"));
    // Two rows of five or six samples, with a title above them: the rule, and how many break it.
    let height = |file: &str| {
        let png = std::fs::read(sandbox.path(file)).unwrap();
        u32::from_be_bytes(png[20..24].try_into().unwrap())
    };
    assert_eq!(sandbox.run("data show ds --sheet plain.png --samples 10").code, 0);
    assert_eq!(height("why.png"), height("plain.png") + 2 * 12 + 10);
    let mut command = sandbox.command("mine ds --sheet kept.png --samples 4 --definitions keep --explain");
    let ran: crate::support::Ran = command.arg("red_cube => red").output().unwrap().into();
    assert!(ran.code == 0 && ran.err.contains("4 samples in `kept.png`: no train sample breaks it"), "{}", ran.err);
}

#[test]
fn what_became_of_all_candidates_adds_up() {
    let sandbox = site();
    let number = |word: &str| word.replace(',', "").parse::<u64>().unwrap_or_else(|_| panic!("{word}"));
    let unasked = "passed, but make no rule of the families that are asked for (`--families`)";
    for (options, expected) in [
        ("--support 700", "(`--support`)"),
        ("--fdr 1e-300", "may be chance"),
        ("--families iff --confidence-pos 0.99", unasked),
        ("--families chain --confidence-pos 0.99", unasked),
        ("--families both --confidence-pos 0.99", unasked),
        ("--families and,or --confidence-pos 0.99", "say less than a simpler rule"),
    ] {
        let ran = sandbox.run(&format!("mine ds -q -o none.rules {options}"));
        assert!(ran.code == 1 && ran.err.contains(expected), "{options}: {}", ran.err);
        // What is left says the same in comments, holds no rule, and gives way to the next run.
        let text = sandbox.read("none.rules");
        assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')) && text.contains(expected), "{text}");
        assert!(text.contains("# no rule passes; what excluded how many candidates:"), "{text}");
        let (_, told) = ran.err.split_once("no rule passes: of ").unwrap();
        let considered = number(told.split_whitespace().next().unwrap());
        let lines = told.lines().skip(1).take_while(|line| line.starts_with("  "));
        let sum: u64 = lines.map(|line| number(line.split_whitespace().next().unwrap())).sum();
        assert_eq!(sum, considered, "{options}: {}", ran.err);
    }
}

#[test]
fn where_nothing_can_be_mined_it_is_said_why() {
    let sandbox = site();
    for (words, expected) in [
        // The hint is about what removed most.
        ("mine ds --support 700", "\nhint: a smaller `--support`"),
        ("mine ds --families iff", "\nhint: a smaller `--confidence-pos` lets in"),
        ("mine ds --families iff --confidence-pos 0.99", "\nhint: rules over two concepts passed: add `implies`"),
        ("mine ds --support 700", "no rule passes: of "),
        ("mine ds --support 700", "apply to less than 700 rows (`--support`)"),
        ("mine ds --families iff", "are broken too often"),
        ("mine ds --fdr 1e-300", "may be chance"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 1, "{words}: {}", ran.out);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
    }
    assert_eq!(sandbox.run("mine ds --support 700 -o none.rules").code, 1);
    let ran = sandbox.run("rules check none.rules --data ds");
    assert!(ran.err.contains("no rules") || ran.out.contains("0 rules"), "{}{}", ran.out, ran.err);
    for (words, expected) in [
        ("mine ds --support -1", "invalid value '-1' for '--support <SHARE|ROWS>': expected a share such as 0.05"),
        ("mine ds --fdr -1", "expected `--fdr` above 0 and below 1, got -1"),
        ("mine ds --max-rules -1", "invalid value '-1' for '--max-rules <N>': expected a number of 1 at least"),
        ("mine ds --support 1.5", "expected a share such as 0.05, or a number of rows such as 200"),
        ("mine ds --confidence-pos 2", "expected `--confidence-pos` above 0.5, and at most 1, got 2"),
        ("mine ds --families some", "possible values: iff, chain, both, and, or, implies, excludes"),
        ("mine ds --explain sand", "expected a mined rule or a formula, got `sand`"),
        ("mine ds -o mined.csv", "mined.csv"),
        ("mine ds -o ds/mined.rules", "which the command reads"),
        ("mine nowhere", "nowhere"),
    ] {
        let ran = sandbox.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.out);
        assert!(ran.err.contains(expected), "{words}: {}", ran.err);
    }
    let crowded = sandbox.run("mine ds --confidence-pos 0.6 --confidence-neg 0.4 --max-candidates 1 -o few.rules");
    assert!(crowded.err.contains("were dropped for better ones while searching"), "{}", crowded.err);
    sandbox.write("one.csv", "id,split,a\n1,train,1\n2,train,0\n3,train,1\n4,calibration,0\n");
    assert_eq!(sandbox.run("import table one.csv --out one").code, 0);
    let ran = sandbox.run("mine one");
    assert!(ran.code == 2 && ran.err.contains("expected two concepts at least that vary"), "{}", ran.err);
}
