//! `import clevr` and `import clevrer` as a user types them: lists with events, rule files, refusals.

use chimera_data::media::picture::{Picture, Size};
use chimera_data::media::png::write_png;

use crate::support::Sandbox;
use serde_json::{Value, json};

/// A clip of four frames in which a red cube comes into view and meets a sphere, as a folder of frames; and a scene.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let motion = |frame: u32| {
        json!({"frame_id": frame, "objects": [
            {"object_id": 0, "inside_camera_view": frame > 0},
            {"object_id": 1, "inside_camera_view": true}]})
    };
    let annotation = json!({
        "scene_index": 0,
        "video_filename": "video_00000.mp4",
        "object_property": [
            {"object_id": 0, "color": "red", "material": "metal", "shape": "cube"},
            {"object_id": 1, "color": "cyan", "material": "rubber", "shape": "sphere"}],
        "motion_trajectory": (0..4).map(motion).collect::<Vec<_>>(),
        "collision": [{"object_ids": [1, 0], "frame_id": 2, "location": [0.0, 0.0, 0.2]}]});
    let scene = json!({"image_filename": "CLEVR_train_000000.png", "objects": [
        {"color": "red", "material": "metal", "shape": "cube", "size": "large"}]});
    let picture = Picture::filled(Size::new(12, 8).unwrap(), [90; 3]);
    let frames = "clevrer/video_train/video_00000-01000/video_00000";
    for folder in ["clevrer/annotation_train/annotation_00000-01000", frames, "clevr/scenes", "clevr/images/train"] {
        std::fs::create_dir_all(sandbox.path(folder)).unwrap();
    }
    sandbox.write("clevrer/annotation_train/annotation_00000-01000/annotation_00000.json", annotation.to_string());
    (0..4).for_each(|frame| write_png(&sandbox.path(&format!("{frames}/{frame}.png")), &picture).unwrap());
    sandbox.write("clevr/scenes/CLEVR_train_scenes.json", json!({"scenes": [scene]}).to_string());
    write_png(&sandbox.path("clevr/images/train/CLEVR_train_000000.png"), &picture).unwrap();
    sandbox.write("my.rules", "late: entered_then_collided(cube,cyan) => enter(red)\n");
    sandbox
}

/// Concepts with the number of samples in which each holds.
fn concepts(sandbox: &Sandbox, folder: &str) -> Vec<(String, u64)> {
    let shown: Value = serde_json::from_str(&sandbox.run(&format!("data show {folder} --json")).out).unwrap();
    let concepts = shown["concepts"].as_array().unwrap().iter();
    let mut concepts: Vec<(String, u64)> = concepts
        .map(|concept| (concept["concept"].as_str().unwrap().to_owned(), concept["positives"].as_u64().unwrap()))
        .collect();
    concepts.sort();
    concepts
}

#[test]
fn names_of_lists_and_rules_become_columns() {
    let sandbox = sandbox();
    let words =
        "import clevrer clevrer --concepts exit(red),collide(red,sphere) --concepts cube --rules my.rules --out ds";
    let ran = sandbox.run(words);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("`ds`: 1 sample of kind video, 5 concepts; train 1"), "{}", ran.err);
    assert!(ran.err.contains("note: 1 video has another number of frames than CLEVRER's 128"), "{}", ran.err);
    let expected = [
        ("collide(red,sphere)", 1),
        ("cube", 1),
        ("enter(red)", 1),
        ("entered_then_collided(cube,cyan)", 1),
        ("exit(red)", 0),
    ];
    assert_eq!(concepts(&sandbox, "ds"), expected.map(|(name, count)| (name.to_owned(), count)));
    let manifest = sandbox.read("ds/dataset.toml");
    assert!(manifest.contains("concepts = \"exit(red),collide(red,sphere),cube\""), "{manifest}");
    // Rules find their columns, and frames need no program.
    assert_eq!(sandbox.run("rules check my.rules --data ds").code, 0);
    assert_eq!(sandbox.run("data show ds --sheet sheet.png").code, 0);
    let ran = sandbox.run("import clevr clevr --concepts all --out pictures");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(concepts(&sandbox, "pictures").len(), 5, "red, metal, cube, large, red_cube");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("bare")).unwrap();
    sandbox.write("odd.rules", "nap: \"obj:baby\" => cube\n");
    for (words, expected) in [
        ("clevrer clevrer --rules odd.rules", "cannot label `obj:baby`, which `odd.rules` names"),
        ("clevr clevr --rules my.rules", "which `my.rules` names: expected concepts of pictures"),
        ("clevr clevr --concepts bleu_cube", "hint: did you mean `blue`?"),
        ("clevrer clevr", "hint: `clevr` looks like CLEVR: `chimera import clevr clevr --out DIR`"),
        ("clevr clevrer", "hint: `clevrer` looks like CLEVRER: `chimera import clevrer clevrer --out DIR`"),
        ("clevr bare", "hint: give the folder that holds `scenes/CLEVR_<split>_scenes.json`"),
        ("clevrer bare", "hint: give the folder that holds `annotation_<split>/"),
    ] {
        let ran = sandbox.run(&format!("import {words} --out none"));
        assert_eq!(ran.code, 2, "{words}");
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    assert!(
        sandbox.run("import clevrer --help").out.contains("entered_then_collided(A,B)  they do, and one of the two")
    );
}
