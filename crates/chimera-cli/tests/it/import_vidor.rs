//! `import vidor` as a user types it: names in rules, labels alone, refusals.

use crate::support::Sandbox;
use serde_json::{Value, json};

/// Three videos of 8 frames: in two an adult stands before a baby, in one of them the baby before the adult, too.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let annotation = |video: &str, relations: &[[u64; 2]]| {
        let relation = |[subject, object]: &[u64; 2]| json!({"subject_tid": subject, "object_tid": object, "predicate": "in_front_of", "begin_fid": 0, "end_fid": 8});
        json!({"video_id": video, "frame_count": 8,
               "subject/objects": [{"tid": 0, "category": "adult"}, {"tid": 1, "category": "baby"}],
               "trajectories": vec![json!([{"tid": 0, "bbox": {}}]); 8],
               "relation_instances": relations.iter().map(relation).collect::<Vec<_>>()})
    };
    for (name, relations) in [("train/a", &[[0, 1]][..]), ("train/b", &[[0, 1], [1, 0]]), ("val/c", &[])] {
        let path = format!("vidor/annotations/{name}.json");
        std::fs::create_dir_all(sandbox.path(&path).parent().unwrap()).unwrap();
        sandbox.write(&path, annotation(&name[name.len() - 1..], relations).to_string());
    }
    sandbox.write("my.rules", "turn: rel:adult-in_front_of-baby => rel:baby-in_front_of-adult\n");
    sandbox.write("quoted.rules", "turn: \"rel:adult-in_front_of-baby\" => \"rel:baby-in_front_of-adult\"\n");
    sandbox
}

#[test]
fn rules_name_objects_and_relations_with_and_without_quotes() {
    let sandbox = sandbox();
    let ran = sandbox.run("import vidor vidor --labels-only --min-rel-support 1 --out ds");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("`ds`: 3 samples of kind labels, 4 concepts;"), "{}", ran.err);
    let shown: Value = serde_json::from_str(&sandbox.run("data show ds --json").out).unwrap();
    let mut concepts: Vec<(&str, u64)> = shown["concepts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|concept| (concept["concept"].as_str().unwrap(), concept["positives"].as_u64().unwrap()))
        .collect();
    concepts.sort_unstable();
    // The baby has no trajectory, but the relations show that it is there.
    assert_eq!(
        concepts,
        [("obj:adult", 3), ("obj:baby", 2), ("rel:adult-in_front_of-baby", 2), ("rel:baby-in_front_of-adult", 1)]
    );
    let manifest = sandbox.read("ds/dataset.toml");
    assert!(manifest.contains("frames = 8\n") && manifest.contains("min-rel-support = \"1\""), "{manifest}");
    for rules in ["my.rules", "quoted.rules"] {
        let ran = sandbox.run(&format!("data check ds --rules {rules} --json"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(ran.out.contains("\"a\""), "the rule is broken in video a: {}", ran.out);
    }
    // The canonical spelling has no quotes.
    assert_eq!(sandbox.run("rules fmt quoted.rules").out, sandbox.read("my.rules"));
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let sandbox = sandbox();
    for (words, expected) in [
        (
            "vidor vidor",
            "hint: say where they are with `--videos DIR`, or import the labels alone with `--labels-only`",
        ),
        ("vidor vidor --labels-only --videos vidor", "cannot be used with"),
        ("vidor vidor --labels-only --frames 0", "0 is not in 1.."),
        (
            "vidor vidor --labels-only --frames 9 --strict",
            "expected at least 9 frames of each video in `vidor`, got 3 otherwise",
        ),
        ("vidor my.rules --labels-only", "cannot read `my.rules` as a zip archive"),
        ("vidor gone --labels-only", "cannot read `gone`: no such file or folder"),
    ] {
        let ran = sandbox.run(&format!("import {words} --out none"));
        assert_eq!(ran.code, 2, "{words}");
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    assert!(sandbox.run("import vidor --help").out.contains("obj:adult                        the trajectory of an"));
}
