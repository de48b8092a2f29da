//! One bit that a disk turned over in the cache: every command gives what it gave before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::support::Sandbox;
use crate::support::bits::{files, flip, parts};
use crate::support::pictures::pictures;
use crate::support::trained::{train, trained};
use serde_json::Value;

/// Runs a command to its end. Gives back what it said.
fn done(sandbox: &Sandbox, words: &str) -> (String, String) {
    let ran = sandbox.run(words);
    assert_eq!(ran.code, 0, "{words}: {}", ran.err);
    (ran.out, ran.err)
}

/// Everything of a model but times, how many gates were taught and how many found, and what is there for people.
fn model(sandbox: &Sandbox, name: &str) -> (BTreeMap<PathBuf, Vec<u8>>, [Value; 2]) {
    let mut files = files(&sandbox.path(name));
    ["train.jsonl", "card.md", "gates.json"].iter().for_each(|name| _ = files.remove(Path::new(name)));
    let mut parsed = |name: &str| -> Value {
        files.remove(Path::new(name)).map_or(Value::Null, |content| serde_json::from_slice(&content).unwrap())
    };
    let (mut manifest, mut thresholds) = (parsed("manifest.json"), parsed("thresholds.json"));
    let mut remove = |path: &str, name: &str| {
        manifest.pointer_mut(path).and_then(Value::as_object_mut).map(|object| object.remove(name).unwrap())
    };
    assert!(
        [("", "seconds"), ("", "seal"), ("/files", "train.jsonl")].iter().all(|(at, name)| remove(at, name).is_some())
    );
    ["seconds", "counts"].iter().for_each(|name| _ = remove("/gates", name));
    // The seal of the manifest, which has times.
    thresholds.as_object_mut().map(|object| object.remove("model").unwrap());
    (files, [manifest, thresholds])
}

#[test]
fn in_frames_they_change_no_model() {
    let sandbox = pictures(40);
    let train = |out: &str| {
        let words = "--cache cache --threads 2 --size 16 --features 16 --batch 16 --epochs 2";
        done(&sandbox, &format!("train ds --out {out} {words}")).1
    };
    train("whole");
    let encoded = files(&sandbox.path("cache/encoded"));
    for (number, (path, content)) in files(&sandbox.path("cache/frames")).iter().step_by(4).take(3).enumerate() {
        std::fs::remove_dir_all(sandbox.path("cache/encoded")).unwrap();
        flip(&sandbox.path("cache/frames").join(path), parts(content)[number], 6);
        let name = format!("again{number}");
        let said = train(&name);
        assert!(said.contains("1 damaged file of decoded frames in the cache, made anew; what was there"), "{said}");
        assert!(model(&sandbox, &name) == model(&sandbox, "whole"), "{name} is another model");
        assert!(files(&sandbox.path("cache/encoded")) == encoded, "{name}: other z");
    }
}

#[test]
fn in_z_and_logits_they_change_no_score_no_report_and_no_model() {
    let sandbox = trained();
    let cache = sandbox.path("cache/encoded");
    let methods = ["chimera", "indep-cal"];
    let score =
        || methods.map(|method| done(&sandbox, &format!("score model ds --cache cache -q --method {method}")).0);
    let eval = |report: &str| {
        let said = done(&sandbox, &format!("eval model ds -o {report} --cache cache --methods indep-cal,chimera")).1;
        let names = ["rules.csv", "leaves.csv", "summary.json", "resamples.safetensors"];
        (names.map(|name| std::fs::read(sandbox.path(&format!("{report}/{name}"))).unwrap()), said)
    };
    let (scores, report, whole) = (score(), eval("report").0, files(&cache));
    assert!(scores[0].lines().count() > 100 && scores[0] != scores[1]);
    // Seven files, each of which begins with a test row: 8 numbers of z and 2 logits. A bit of the exponent of a number is no
    // small thing.
    assert_eq!(whole.len(), 7);
    let damage = |number: usize| {
        for (at, (path, content)) in whole.iter().enumerate() {
            let places = [[8 * 4 + 3, 9 * 4 + 3, 3, 7, 11, 15, 19][at], parts(content)[1], parts(content)[2]];
            flip(&cache.join(path), places[number], 6);
        }
    };
    for number in 0..3 {
        damage(number);
        let damaged = files(&cache);
        assert!(score() == scores, "other scores, {number}");
        assert!(files(&cache) == damaged, "`score` wrote into the cache");
        let (again, said) = eval(&format!("report{number}"));
        assert!(again == report, "another report, {number}");
        let told = "7 damaged files of encoded samples in the cache, made anew; what was there is kept as";
        assert!(said.contains(told), "{said}");
        assert!(whole.iter().all(|(path, content)| files(&cache).get(path) == Some(content)), "other z, {number}");
        damage(number);
        let again = format!("again{number}");
        let said = done(&sandbox, &train(&again)).1;
        assert!(said.contains(told), "{said}");
        assert!(model(&sandbox, &again) == model(&sandbox, "model"), "{again} is another model");
    }
}
