//! `train --rules`, `add` and `cache` as a user meets them: what is taught once, what survives kills, damage and company.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use crate::support::Sandbox;
use serde_json::Value;

const ROWS: usize = 400;

/// A dataset `ds` of features: four concepts with three numbers each. `d` is never true.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let mut random = fastrand::Rng::with_seed(4);
    let mut table = String::from("id,split,a,b,c,d\n");
    let mut values: Vec<u8> = Vec::new();
    for number in 0..ROWS {
        // b holds wherever a does.
        let a = random.bool();
        let labels = [a, a || random.bool(), random.bool(), false];
        for at in 0..12 {
            let value = f32::from(u8::from(labels[at / 3])) + 0.3 * random.f32();
            values.extend(value.to_le_bytes());
        }
        let [a, b, c, d] = labels.map(u8::from);
        let split = if number % 4 == 0 { "test" } else { "train" };
        table += &format!("s{number:03},{split},{a},{b},{c},{d}\n");
    }
    sandbox.write_npy("z.npy", 12, &values);
    sandbox.write("labels.csv", table);
    let ran = sandbox.run("import features labels.csv --features z.npy --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    sandbox.write("one.rules", "first: a & c => b\nsecond: a => b | c\n");
    sandbox.write("two.rules", "second: a => b | c\nthird: (a => b) & (c | !a)\n");
    sandbox
}

fn words(rules: &str, out: &str, cache: &str) -> String {
    format!("train ds --rules {rules} --out {out} --cache {cache} --features 16 --hidden 16 --epochs 1 --gate-batch 32")
}

fn json(sandbox: &Sandbox, words: &str) -> Value {
    let ran = sandbox.run(&format!("{words} --json"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// How many gates were trained and found, from `gates.json` of a model.
fn counts(sandbox: &Sandbox, model: &str) -> [usize; 3] {
    let report: Value = serde_json::from_str(&sandbox.read(&format!("{model}/gates.json"))).unwrap();
    let states = report["gates"].as_array().unwrap().iter().map(|gate| gate["state"].as_str().unwrap());
    states.fold([0; 3], |mut counts, state| {
        counts[match state {
            "trained" | "replaced" => 0,
            "cached" => 1,
            _ => 2,
        }] += 1;
        counts
    })
}

fn gates(sandbox: &Sandbox, model: &str) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(sandbox.path(&format!("{model}/gates"))).unwrap();
    let file = |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(&path).unwrap());
    entries.map(|entry| file(entry.unwrap().path())).collect()
}

/// The files of a model's own gates, without those that were taught on grafts beside them.
fn own_names(sandbox: &Sandbox, model: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(&sandbox.read(&format!("{model}/gates.json"))).unwrap();
    let keys = report["gates"].as_array().unwrap().iter().map(|gate| gate["key"].as_str().unwrap());
    keys.map(|key| format!("{key}.safetensors")).collect()
}

/// Whether a file of a model's folder of gates is one; features of leaves and normal samples lie there, too.
fn is_gate(name: &str) -> bool {
    !["features-", "calibration-", "effects-"].iter().any(|other| name.starts_with(other))
}

/// Files of gates in a cache.
fn cached(sandbox: &Sandbox, cache: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in std::fs::read_dir(sandbox.path(&format!("{cache}/gates"))).unwrap() {
        files.extend(std::fs::read_dir(folder.unwrap().path()).unwrap().map(|file| file.unwrap().path()));
    }
    files.sort();
    files
}

#[test]
fn gates_are_taught_once_and_are_the_same_whatever_is_beside_them() {
    let sandbox = sandbox();
    let ran = sandbox.run(&words("one.rules", "one", "cache"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(
        ran.err.contains("level 1 of 2: 2 gates, 2 taught (") && ran.err.contains("level 2 of 2: 2 "),
        "{}",
        ran.err
    );
    assert!(ran.out.contains("gates: 4 trained, 0 from cache or model, 0 skipped; 0 of "), "{}", ran.out);
    assert!(ran.out.contains("right  worst  moves"), "{}", ran.out);
    assert_eq!(sandbox.read("one/rules.rules"), "first: a & c => b\nsecond: a => b | c\n");

    // Another file shares two of its five gates with the first.
    assert_eq!(sandbox.run(&words("two.rules", "two", "cache")).code, 0);
    assert_eq!(counts(&sandbox, "two"), [3, 2, 0]);
    // Taught apart, on one thread, with the rules the other way round: the same bytes.
    sandbox.write("turned.rules", "third: (!a | c) & (a => b)\nsecond: a => c | b\n");
    assert_eq!(sandbox.run(&format!("{} --threads 1", words("turned.rules", "apart", "other"))).code, 0);
    assert_eq!(counts(&sandbox, "apart"), [5, 0, 0]);
    assert_eq!(gates(&sandbox, "two"), gates(&sandbox, "apart"));

    // New rules in an old model: only what is missing is taught, also where the cache is gone.
    std::fs::remove_dir_all(sandbox.path("cache/gates")).unwrap();
    let added = json(&sandbox, "add one two.rules --data ds --cache cache");
    assert_eq!(added["rules"].as_array().unwrap().len(), 3);
    assert_eq!(counts(&sandbox, "one"), [3, 4, 0]);
    let (one, two) = (gates(&sandbox, "one"), gates(&sandbox, "two"));
    assert!(two.iter().all(|(name, bytes)| !is_gate(name) || one.get(name) == Some(bytes)));
    let retrained = sandbox.run(&format!("{} --retrain", words("two.rules", "again", "cache")));
    assert_eq!(retrained.code, 0, "{}", retrained.err);
    assert_eq!(counts(&sandbox, "again"), [5, 0, 0]);
    assert_eq!(gates(&sandbox, "again"), two);

    // Another recipe, seed or label gives other names.
    for change in ["--gate-rate 0.002", "--seed 5", "--negatives both", "--leaf-features concept", "--chimeras node"] {
        let ran = sandbox.run(&format!("{} {change} --restart", words("one.rules", "changed", "cache")));
        assert_eq!(ran.code, 0, "{change}: {}", ran.err);
        let changed = gates(&sandbox, "changed");
        // Gates taught on grafts know nothing of chimeras and of samples as they are.
        let grafts = !["--negatives both", "--chimeras node"].contains(&change);
        let names = own_names(&sandbox, "one").into_iter().chain(one.keys().filter(|_| grafts).cloned());
        let names: Vec<String> = names.filter(|name| is_gate(name)).collect();
        assert!(names.len() >= 7 && names.iter().all(|name| !changed.contains_key(name)), "{change}");
    }
    let ran = sandbox.run("add one two.rules --data labels.csv --cache cache");
    assert_eq!(ran.code, 2, "{}", ran.err);
}

/// A gate of the third level needs everything below it, whatever other rules there are.
#[test]
fn deep_rules_learn_and_are_the_same_beside_others() {
    let sandbox = sandbox();
    sandbox.write("deep.rules", "deep: ((a & c) => b) & ((!a | c) => (a | (b & !c)))\n");
    sandbox.write(
        "beside.rules",
        "other: ((a | c) & (b | (a & c))) => (a & c)\ndeep: ((a & c) => b) & ((!a | c) => (a | (b & !c)))\n",
    );
    let long = |rules: &str, out: &str| {
        format!("{} --gate-epochs 40 --gate-rate 0.003", words(rules, out, &format!("{out}-cache")))
    };
    assert_eq!(sandbox.run(&long("deep.rules", "deep")).code, 0);
    assert_eq!(sandbox.run(&long("beside.rules", "beside")).code, 0);
    let (deep, beside) = (gates(&sandbox, "deep"), gates(&sandbox, "beside"));
    assert!(deep.len() < beside.len());
    assert!(deep.iter().all(|(name, bytes)| !is_gate(name) || beside.get(name) == Some(bytes)));
    let report: Value = serde_json::from_str(&sandbox.read("beside/gates.json")).unwrap();
    for gate in report["gates"].as_array().unwrap() {
        let answers = gate["audit"]["answers"].as_array().unwrap();
        let share = |answer: &Value| answer["right"].as_f64().unwrap() / answer["shown"].as_f64().unwrap();
        let mean = answers.iter().map(share).sum::<f64>() / answers.len() as f64;
        assert!(mean > 0.9, "level {}: {mean} for {}", gate["level"], gate["formula"]);
    }
    assert!(report["gates"].as_array().unwrap().iter().any(|gate| gate["level"] == 4));
}

/// Rules are added to a model one process at a time, and only on the data and with the options that it knows.
#[test]
fn adding_to_other_data_or_to_an_edited_model_is_refused() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&words("one.rules", "one", "cache")).code, 0);
    let manifest = sandbox.read("one/manifest.json");
    sandbox.write("one/manifest.json", manifest.replace("\"negatives\": \"chimera\"", "\"negatives\": \"same\""));
    let ran = sandbox.run("add one two.rules --data ds --cache cache");
    assert!(ran.code == 2 && ran.err.contains("was changed by hand"), "{}", ran.err);
    sandbox.write("one/manifest.json", manifest);
    let labels = sandbox.read("labels.csv");
    sandbox.write("labels.csv", labels.replacen(",train,1,", ",train,0,", 1));
    assert_eq!(sandbox.run("import features labels.csv --features z.npy --out other").code, 0);
    let ran = sandbox.run("add one two.rules --data other --cache cache");
    assert!(ran.code == 2 && ran.err.contains("with other labels"), "{}", ran.err);
    let folder = std::fs::File::open(sandbox.path("one")).unwrap();
    folder.lock().unwrap();
    let ran = sandbox.run("add one two.rules --data ds --cache cache");
    assert!(ran.code == 2 && ran.err.contains("another process"), "{}", ran.err);
}

#[test]
fn kills_at_any_moment_change_nothing() {
    let sandbox = sandbox();
    let long = |out: &str| format!("{} --gate-epochs 400", words("two.rules", out, &format!("{out}-cache")));
    assert_eq!(sandbox.run(&long("whole")).code, 0);
    let mut random = fastrand::Rng::with_seed(1);
    let done = || match sandbox.path("killed-cache/gates").exists() {
        true => cached(&sandbox, "killed-cache").len(),
        false => 0,
    };
    let mut while_teaching = 0;
    for round in 0..10 {
        let mut child = sandbox.command(&long("killed")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Half of the kills at any moment, half just after a gate was done.
        let before = done();
        let until = std::time::Instant::now() + Duration::from_millis(random.u64(5..300));
        while (round % 2 == 1 && done() == before) || (round % 2 == 0 && std::time::Instant::now() < until) {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        while_teaching += usize::from((1..13).contains(&done()) && !sandbox.path("killed/manifest.json").exists());
    }
    assert!(while_teaching > 0, "no kill came while gates were taught");
    let ran = sandbox.run(&long("killed"));
    // A run may have come to its end before its kill; then the model is whole.
    assert!(ran.code == 0 || ran.err.contains("holds a model"), "{}", ran.err);
    for name in ["rules.rules", "gates.json", "manifest.json"] {
        assert!(sandbox.path(&format!("killed/{name}")).exists(), "{name}");
    }
    assert!(!sandbox.path("killed/checkpoint.safetensors").exists());
    assert_eq!(gates(&sandbox, "whole"), gates(&sandbox, "killed"));
    let verified = sandbox.run("cache verify --cache killed-cache");
    assert_eq!(verified.code, 0, "{}", verified.err);
    assert!(verified.out.starts_with("13 gates, ") && verified.out.ends_with(" read, 0 damaged\n"), "{}", verified.out);
}

#[test]
fn several_processes_share_a_cache() {
    let sandbox = sandbox();
    for (number, rules) in ["one", "two", "one", "two"].iter().enumerate() {
        assert_eq!(
            sandbox.run(&words(&format!("{rules}.rules"), &format!("alone{number}"), &format!("c{number}"))).code,
            0
        );
    }
    let children: Vec<_> = ["one", "two", "one", "two"]
        .iter()
        .enumerate()
        .map(|(number, rules)| {
            let words = words(&format!("{rules}.rules"), &format!("together{number}"), "shared");
            sandbox.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for number in 0..4 {
        assert_eq!(gates(&sandbox, &format!("alone{number}")), gates(&sandbox, &format!("together{number}")));
    }
    assert_eq!(sandbox.run("cache verify --cache shared").out, "17 gates, 7 files of z read, 0 damaged\n");
}

#[test]
fn damage_is_found_set_aside_and_mended() {
    let sandbox = sandbox();
    assert_eq!(sandbox.run(&words("one.rules", "one", "cache")).code, 0);
    let files = cached(&sandbox, "cache");
    // Four gates, as many taught on grafts, and three heads.
    assert_eq!(files.len(), 11);
    let mut bytes = std::fs::read(&files[0]).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 0x40;
    std::fs::write(&files[0], bytes).unwrap();
    std::fs::write(&files[1], b"nothing of a gate").unwrap();
    let listed = sandbox.run("cache ls --cache cache");
    assert!(
        ["gate, chimera ", "gate, graft ", "head, graft "].iter().all(|what| listed.out.contains(what)),
        "{}",
        listed.out
    );
    assert!(listed.out.contains("damaged: its content was changed"), "{}", listed.out);
    let verified = sandbox.run("cache verify --cache cache");
    assert_eq!(verified.code, 1);
    assert!(verified.out.ends_with("11 gates, 7 files of z read, 2 damaged\n"), "{}", verified.out);

    let ran = sandbox.run(&words("one.rules", "mended", "cache"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("a damaged gate in the cache (its content was changed) is taught again"), "{}", ran.err);
    let report: Value = serde_json::from_str(&sandbox.read("mended/gates.json")).unwrap();
    let replaced = |gates: &Value| gates.as_array().unwrap().iter().filter(|gate| gate["state"] == "replaced").count();
    let of_heads = report["grafts"]["heads"]["replaced"].as_u64().unwrap() as usize;
    assert_eq!(replaced(&report["gates"]) + replaced(&report["grafts"]["gates"]["gates"]) + of_heads, 2);
    assert_eq!(gates(&sandbox, "one"), gates(&sandbox, "mended"));
    assert_eq!(sandbox.run("cache verify --cache cache").code, 0);
    let removed = sandbox.run("cache gc --cache cache").out;
    assert!(removed.starts_with("removed 0 gates and 2 damaged or left files, "), "{removed}");
    let kept = sandbox.run("cache gc --cache cache --unused-for 0 --keep mended");
    assert!(kept.out.starts_with("removed 0 gates"), "{}", kept.out);
    let all = sandbox.run("cache gc --cache cache --unused-for 0 --dry-run");
    assert!(all.out.starts_with("would remove 11 gates"), "{}", all.out);
    assert_eq!(cached(&sandbox, "cache").len(), 11);
}

#[test]
fn a_cache_that_cannot_be_written_is_no_reason_to_stop() {
    let sandbox = sandbox();
    // A file where the folder should be: what a full or read-only disk looks like, also to root.
    sandbox.write("cache/gates", "in the way");
    let ran = sandbox.run(&words("one.rules", "one", "cache"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(ran.err.matches("gates are not kept in the cache: ").count(), 1, "{}", ran.err);
    assert_eq!(counts(&sandbox, "one"), [4, 0, 0]);
}

#[test]
fn what_cannot_be_taught_is_named_and_the_rest_is_taught() {
    let sandbox = sandbox();
    sandbox.write("some.rules", "good: a => b\nnever: d => a\nabove: (d & a) => c\nliteral: !c\n");
    let ran = sandbox.run(&words("some.rules", "some", "cache"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("gates: 1 trained, 0 from cache or model, 3 skipped"), "{}", ran.out);
    let words_of = |text: &str| ran.out.lines().find(|line| line.contains(text)).unwrap_or_default().trim().to_owned();
    let reason = "no chimera makes it false: an operand of it never differs in training";
    assert_eq!(words_of("`d => a`"), format!("`d => a` (never): {reason}"));
    assert_eq!(words_of("`a & d => c`"), "`a & d => c` (above): it needs the gate of `a & d`, which was not taught");
    assert!(words_of("literal").ends_with("one literal: its score is the concept's"), "{}", ran.out);
    let report: Value = serde_json::from_str(&sandbox.read("some/gates.json")).unwrap();
    assert_eq!(report["rules"][0]["skipped"], Value::Null);
    assert!(report["rules"][2]["skipped"].as_str().unwrap().contains("`a & d`"), "{report}");
    let configurations = report["gates"].as_array().unwrap().iter().find(|gate| gate["formula"] == "d => a").unwrap();
    let can = |at: usize| configurations["configurations"][at]["can_be_supplied"].as_bool().unwrap();
    assert_eq!([0, 1, 2, 3].map(can), [true, true, false, false]);

    sandbox.write("bad.rules", "r: a => nothing\n");
    let ran = sandbox.run(&words("bad.rules", "bad", "cache"));
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("`nothing`") && !sandbox.path("bad").exists(), "{}", ran.err);
    sandbox.write("empty.rules", "# none\n");
    let ran = sandbox.run(&words("empty.rules", "bad", "cache"));
    assert!(ran.code == 2 && ran.err.contains("expected rules in `empty.rules`, got none"), "{}", ran.err);
}
