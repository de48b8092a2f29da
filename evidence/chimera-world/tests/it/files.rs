//! The files of worlds: the real ones' schema, the same bytes from the same seed, and no trace of a violation but itself.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use chimera_data::clevr::annotation::Annotation;
use chimera_data::clevr::clip::Clip;
use chimera_data::clevr::concept::Concept;
use chimera_data::clevr::scenes::{SceneFile, SceneObject};
use chimera_data::media::picture::Size;
use chimera_data::metric::ranking::Ranking;
use chimera_world::clevr::write_clevr;
use chimera_world::clevrer::{Footage, write_clevrer};
use chimera_world::order::Order;
use chimera_world::presets;
use chimera_world::wish::HouseRules;
use serde_json::Value;

pub(crate) fn order(train: usize, test: usize) -> Order {
    Order {
        size: Size::new(96, 64).unwrap(),
        train,
        test,
        oracle: 4,
        violations: 0.3,
        together: 0.3,
        seed: 5,
        threads: NonZeroUsize::new(2).unwrap(),
    }
}

fn rules(moving: bool) -> HouseRules {
    HouseRules::new(presets::rules(if moving { presets::CLEVRER } else { presets::CLEVR }), moving).unwrap()
}

pub(crate) fn eight() -> Footage {
    Footage::Frames(NonZeroUsize::new(8).unwrap())
}

/// All files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The paths of all keys in a JSON value, with the kind of what they lead to; lists have one `[]` for all.
pub(crate) fn schema(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(list) => {
            // Numbers that stand for places keep their positions.
            let is_tuple = list.len() == 3 && list.iter().all(Value::is_number);
            for (at, item) in list.iter().enumerate() {
                schema(item, &if is_tuple { format!("{path}[{at}]") } else { format!("{path}[]") }, found);
            }
            "list"
        }
        Value::Object(object) => {
            object.iter().for_each(|(key, value)| schema(value, &format!("{path}.{key}"), found));
            "object"
        }
    };
    found.insert(format!("{path}: {kind}"));
}

fn schema_of(files: &[PathBuf]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for file in files {
        schema(&serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap(), "", &mut found);
    }
    // Lists of numbers of objects are tuples only by chance.
    found.retain(|line| !line.starts_with(".scenes[].relationships.") || !line.contains("integer"));
    found
}

const SCENES: [&str; 31] = [
    ": object",
    ".info: object",
    ".info.date: string",
    ".info.license: string",
    ".info.split: string",
    ".info.version: string",
    ".scenes: list",
    ".scenes[]: object",
    ".scenes[].directions: object",
    ".scenes[].image_filename: string",
    ".scenes[].image_index: integer",
    ".scenes[].objects: list",
    ".scenes[].objects[]: object",
    ".scenes[].objects[].3d_coords: list",
    ".scenes[].objects[].3d_coords[0]: float",
    ".scenes[].objects[].color: string",
    ".scenes[].objects[].material: string",
    ".scenes[].objects[].pixel_coords: list",
    ".scenes[].objects[].pixel_coords[0]: integer",
    ".scenes[].objects[].pixel_coords[1]: integer",
    ".scenes[].objects[].pixel_coords[2]: float",
    ".scenes[].objects[].rotation: float",
    ".scenes[].objects[].shape: string",
    ".scenes[].objects[].size: string",
    ".scenes[].relationships: object",
    ".scenes[].relationships.behind: list",
    ".scenes[].relationships.front: list",
    ".scenes[].relationships.left: list",
    ".scenes[].relationships.right: list",
    ".scenes[].split: string",
    ".scenes[].directions.above[2]: float",
];

const ANNOTATION: [&str; 27] = [
    ": object",
    ".collision: list",
    ".collision[]: object",
    ".collision[].frame_id: integer",
    ".collision[].location: list",
    ".collision[].object_ids: list",
    ".collision[].object_ids[]: integer",
    ".motion_trajectory: list",
    ".motion_trajectory[]: object",
    ".motion_trajectory[].frame_id: integer",
    ".motion_trajectory[].objects: list",
    ".motion_trajectory[].objects[]: object",
    ".motion_trajectory[].objects[].angular_velocity: list",
    ".motion_trajectory[].objects[].inside_camera_view: bool",
    ".motion_trajectory[].objects[].location: list",
    ".motion_trajectory[].objects[].location[0]: float",
    ".motion_trajectory[].objects[].object_id: integer",
    ".motion_trajectory[].objects[].orientation: list",
    ".motion_trajectory[].objects[].velocity: list",
    ".object_property: list",
    ".object_property[]: object",
    ".object_property[].color: string",
    ".object_property[].material: string",
    ".object_property[].object_id: integer",
    ".object_property[].shape: string",
    ".scene_index: integer",
    ".video_filename: string",
];

/// One test for real and simulated files: all of these, and nothing that the other lacks.
#[test]
fn files_have_the_schema_of_the_real_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (stills, clips) = (folder.path().join("clevr"), folder.path().join("clevrer"));
    write_clevr(&stills, &order(6, 6), &rules(false), &|_, _| {}).unwrap();
    write_clevrer(&clips, &order(3, 3), &eight(), &rules(true), &|_, _| {}).unwrap();
    let json = |folder: &Path| -> Vec<PathBuf> {
        files(folder).into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
    };
    let (scenes, annotations) = (schema_of(&json(&stills)), schema_of(&json(&clips)));
    SCENES.iter().for_each(|line| assert!(scenes.contains(*line), "simulated scenes lack {line}"));
    ANNOTATION.iter().for_each(|line| assert!(annotations.contains(*line), "simulated annotations lack {line}"));
    for path in [
        "images/train/CLEVR_train_000000.png",
        "images/test/CLEVR_test_000005.png",
        "scenes/CLEVR_oracle_scenes.json",
        "rules.rules",
    ] {
        assert!(stills.join(path).is_file(), "{path}");
    }
    for path in [
        "annotation_train/annotation_00000-01000/annotation_00002.json",
        "annotation_test/annotation_01000-02000/annotation_01000.json",
        "video_test/video_01000-02000/video_01002/frame_00008.png",
        "video_oracle/video_02000-03000/video_02003/frame_00120.png",
    ] {
        assert!(clips.join(path).is_file(), "{path}");
    }
    let Some(data) = std::env::var_os("CHIMERA_DATA").map(PathBuf::from) else {
        eprintln!("CHIMERA_DATA is not set: real files were skipped");
        return;
    };
    let (real_scenes, real_annotations) =
        (schema_of(&json(&data.join("clevr/scenes"))), schema_of(&json(&data.join("clevrer"))));
    assert_eq!(real_scenes, scenes);
    assert_eq!(real_annotations, annotations);
}

#[test]
fn a_seed_decides_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, seed: u64, threads: usize| {
        let order = Order { seed, threads: NonZeroUsize::new(threads).unwrap(), ..order(5, 5) };
        let (stills, clips) = (folder.path().join(format!("{name}-s")), folder.path().join(format!("{name}-c")));
        write_clevr(&stills, &order, &rules(false), &|_, _| {}).unwrap();
        write_clevrer(&clips, &Order { test: 2, oracle: 0, ..order }, &eight(), &rules(true), &|_, _| {}).unwrap();
        let mut content: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for root in [stills, clips] {
            let read = |path: PathBuf| (path.strip_prefix(&root).unwrap().to_owned(), fs::read(path).unwrap());
            content.extend(files(&root).into_iter().map(read));
        }
        content
    };
    let one = write("one", 5, 1);
    assert!(one == write("two", 5, 2), "threads change something");
    assert!(one != write("three", 6, 2), "a seed changes nothing");
}

/// Rows of a column: what it says of scenes that break a rule and of those that do not.
pub(crate) struct Traces {
    broken: Vec<bool>,
    columns: Vec<(&'static str, Vec<f32>)>,
}

impl Traces {
    pub(crate) fn new(names: [&'static str; 3]) -> Self {
        Self { broken: Vec::new(), columns: names.map(|name| (name, Vec::new())).into() }
    }

    pub(crate) fn add(&mut self, broken: bool, numbers: [f64; 3]) {
        self.broken.push(broken);
        self.columns.iter_mut().zip(numbers).for_each(|((_, column), number)| column.push(number as f32));
    }

    pub(crate) fn check(&self) {
        let share = self.broken.iter().filter(|broken| **broken).count() as f64 / self.broken.len() as f64;
        assert!((share - 0.3).abs() < 0.002, "{share}");
        for (name, column) in &self.columns {
            let auroc = Ranking::new(column, &self.broken).unwrap().metrics().auroc.unwrap();
            eprintln!("{name}: AUROC {auroc:.3}");
            assert!((0.45..=0.55).contains(&auroc), "{name} tells a violation: {auroc:.3}");
        }
    }
}

/// The mean byte of pictures.
pub(crate) fn brightness(paths: &[PathBuf]) -> f64 {
    let reader = chimera_data::media::image::ImageReader::default();
    let mean = |path: &PathBuf| {
        let picture = reader.read(path, Size::new(96, 64).unwrap()).unwrap();
        picture.pixels().iter().map(|byte| f64::from(*byte)).sum::<f64>() / picture.pixels().len() as f64
    };
    paths.iter().map(mean).sum::<f64>() / paths.len() as f64
}

pub(crate) fn bytes(paths: &[PathBuf]) -> f64 {
    paths.iter().map(|path| fs::metadata(path).unwrap().len() as f64).sum()
}

/// How many test scenes are looked at: chance alone moves an AUROC by .03 with 500 and by .01 with 3,000.
pub(crate) fn test_scenes(usual: usize) -> usize {
    std::env::var("CHIMERA_TRACE_SCENES").map_or(usual, |count| count.parse().unwrap())
}

#[test]
fn a_violation_of_stills_leaves_no_other_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (out, rules) = (folder.path().join("clevr"), rules(false));
    write_clevr(&out, &order(300, test_scenes(1500)), &rules, &|_, _| {}).unwrap();
    let scenes = |split: &str| -> SceneFile {
        serde_json::from_slice(&fs::read(out.join(format!("scenes/CLEVR_{split}_scenes.json"))).unwrap()).unwrap()
    };
    let labels = |looks: &[_]| -> Vec<bool> {
        rules.concepts().iter().map(|concept: &Concept| concept.in_scene(looks).unwrap()).collect()
    };
    let broken = |scene: &chimera_data::clevr::scenes::Scene| {
        rules.broken(&labels(&scene.objects.iter().map(SceneObject::look).collect::<Vec<_>>()))
    };
    assert!(scenes("train").scenes.iter().all(|scene| broken(scene).is_empty()), "train breaks a rule");
    let mut traces = Traces::new(["objects", "brightness", "bytes"]);
    let mut of_rule = vec![0; rules.len()];
    for scene in scenes("test").scenes {
        let path = [out.join("images/test").join(&scene.image_filename)];
        let broken = broken(&scene);
        broken.iter().for_each(|rule| of_rule[*rule] += 1);
        traces.add(!broken.is_empty(), [scene.objects.len() as f64, brightness(&path), bytes(&path)]);
    }
    assert!(of_rule.iter().all(|count| *count >= 40), "{of_rule:?}");
    traces.check();
}

#[test]
fn a_violation_of_clips_leaves_no_other_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (out, rules) = (folder.path().join("clevrer"), rules(true));
    let order = Order { size: Size::new(48, 32).unwrap(), ..order(60, test_scenes(500)) };
    write_clevrer(&out, &order, &eight(), &rules, &|_, _| {}).unwrap();
    let broken = |path: &Path| {
        let annotation: Annotation = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let clip = Clip::of(&annotation).unwrap();
        let labels: Vec<bool> = rules.concepts().iter().map(|concept| concept.in_clip(&clip)).collect();
        (rules.broken(&labels), clip.things.len())
    };
    assert!(files(&out.join("annotation_train")).iter().all(|path| broken(path).0.is_empty()), "train breaks a rule");
    let mut traces = Traces::new(["objects", "brightness", "bytes"]);
    let mut of_rule = vec![0; rules.len()];
    for path in files(&out.join("annotation_test")) {
        let (broken, objects) = broken(&path);
        broken.iter().for_each(|rule| of_rule[*rule] += 1);
        let frames = path.to_str().unwrap().replace("annotation", "video").replace(".json", "");
        let frames = files(Path::new(&frames));
        assert_eq!(frames.len(), 8);
        traces.add(!broken.is_empty(), [objects as f64, brightness(&frames), bytes(&frames)]);
    }
    assert!(of_rule.iter().all(|count| *count >= 15), "{of_rule:?}");
    traces.check();
}

#[test]
fn impossible_orders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |order: &Order, text: &str| {
        let rules = HouseRules::new(presets::rules(text), false);
        let wrote = rules.and_then(|rules| write_clevr(&folder.path().join("out"), order, &rules, &|_, _| {}));
        assert!(!folder.path().join("out").exists(), "something is left");
        wrote.unwrap_err().to_string()
    };
    let fine = order(2, 2);
    let one = |order: Order| refused(&order, "a: red_any => blue_any\n");
    assert!(one(Order { violations: 1.5, ..fine.clone() }).contains("violations from 0 to 1, got 1.5"));
    assert!(one(Order { together: f64::NAN, ..fine.clone() }).contains("`together` from 0 to 1, got `NaN`"));
    assert!(one(Order { train: 0, ..fine.clone() }).contains("scenes to learn from, got none"));
    assert!(one(Order { size: Size::new(8, 8).unwrap(), ..fine.clone() }).contains("16 to 4096 pixels"));
    assert!(refused(&fine, "a: red_any => big_any\n").contains("big"));
    assert!(refused(&fine, "a: enter(red) => exit(red)\n").contains("the event `enter(red)`"));
    let many = one(Order { oracle: usize::MAX, ..fine.clone() });
    assert!(many.contains("at most 1000000 scenes of oracle"), "{many}");
    let never = refused(&fine, "never: red_any | !red_any\n");
    assert!(never.contains("breaks the rule `never`, got none"), "{never}");
    let always = refused(&fine, "other: red_any => metal_any\nalways: red_any & !red_any\n");
    assert!(always.contains("keep all rules, got none"), "{always}");
    assert!(always.contains("whatever comes by chance breaks `always`") && !always.contains("other"), "{always}");
}
