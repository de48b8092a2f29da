//! Import of CLEVRER: events, pairs of events, videos and frame folders, and every kind of bad input.

use std::path::Path;

use chimera_data::clevr::annotation::Annotation;
use chimera_data::dataset::Dataset;
use chimera_data::dataset::manifest::Kind;
use chimera_data::import::{ClevrerImport, ConceptChoice, ConceptOptions, Imported, import_clevrer};
use chimera_data::split::Split;

use crate::support::import_place::{PNG, Place, told};
use crate::support::solids::annotation;
use serde_json::{Value, json};

const MP4: &[u8] = b"\0\0\0\x20ftypisom";

fn write(place: &Place, split: &str, number: u32, annotation: &Value) {
    let name = format!("clevrer/annotation_{split}/annotation_00000-01000/annotation_{number:05}.json");
    place.write(&name, annotation.to_string());
}

fn concepts(text: &str) -> ConceptOptions {
    ConceptOptions { choices: ConceptChoice::parse_list(text), ..ConceptOptions::default() }
}

fn source(place: &Place, text: &str) -> ClevrerImport {
    ClevrerImport { folder: place.path("clevrer"), concepts: concepts(text), ..ClevrerImport::default() }
}

fn import(place: &Place, import: &ClevrerImport) -> Imported {
    import_clevrer(import, &place.path("ds")).unwrap()
}

fn refused(place: &Place, import: &ClevrerImport) -> String {
    let message = import_clevrer(import, &place.path("ds")).unwrap_err().to_string();
    place.assert_no_dataset();
    message
}

/// Each concept with whether it holds in a sample.
fn labels(dataset: &Dataset, id: &str) -> Vec<(String, bool)> {
    let table = dataset.table();
    let row = table.ids.iter().position(|other| other == id).unwrap();
    let label = |(column, name): (usize, &String)| (name.clone(), table.labels.get(row, column).unwrap());
    table.concepts.iter().enumerate().map(label).collect()
}

/// Two clips of eight frames to train from, one to validate with; a video file, a folder of frames, and nothing.
fn place() -> Place {
    let place = Place::new();
    let first = [("red metal cube", 2, 7), ("blue rubber sphere", 0, 5), ("gray rubber cylinder", 0, 7)];
    write(&place, "train", 0, &annotation("video_00000.mp4", 8, &first, &[([0, 1], 3), ([1, 2], 4)]));
    let second = [("red rubber cube", 0, 7), ("cyan metal sphere", 0, 7)];
    write(&place, "train", 1, &annotation("video_00001.mp4", 8, &second, &[([1, 0], 6)]));
    let third = second.map(|(words, first, _)| (words, first, 127));
    write(&place, "validation", 2, &annotation("video_00002.mp4", 128, &third, &[]));
    place.write("clevrer/video_train/video_00000-01000/video_00000.mp4", MP4);
    for number in 0..8 {
        place.write(&format!("clevrer/video_train/video_00000-01000/video_00001/frame_{number:03}.png"), PNG);
    }
    place.write("clevrer/video_validation/video_00000-01000/video_00007.mp4", MP4);
    place
}

#[test]
fn annotations_become_samples_with_files_or_folders_for_videos() {
    let place = place();
    let events = "cube,enter(cube),exit(sphere),collide(red,sphere),collide_before_half(red,sphere),\
                  collide_before_half(blue, gray),entered_then_collided(cube,sphere),entered_then_collided(blue,gray)";
    let imported = import(&place, &source(&place, events));
    let dataset = &imported.dataset;
    assert_eq!(dataset.table().ids, ["video_00000", "video_00001", "video_00002"]);
    assert_eq!((dataset.manifest().kind, dataset.splits()[2]), (Kind::Video, Split::Test));
    let folder = "video_00000-01000";
    assert_eq!(
        dataset.table().media.as_ref().unwrap(),
        &[
            format!("video_train/{folder}/video_00000.mp4"),
            format!("video_train/{folder}/video_00001"),
            format!("video_validation/{folder}/video_00002.mp4")
        ]
    );
    let held = |id: &str| labels(dataset, id).into_iter().map(|(_, holds)| u8::from(holds)).collect::<Vec<_>>();
    // The cube comes at 2 and meets the sphere at 3 of 8; the sphere goes at 5 and meets the cylinder at 4, which is half.
    assert_eq!(held("video_00000"), [1, 1, 1, 1, 1, 0, 1, 0]);
    // All are there all the time; they meet at 6 of 8.
    assert_eq!(held("video_00001"), [1, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(held("video_00002"), [1, 0, 0, 0, 0, 0, 0, 0]);
    let notes = told(&imported.notes);
    assert!(
        notes.contains("1 medium that is not there (its sample stays, without it): video_validation/video_00000-01000/video_00002.mp4"),
        "{notes}"
    );
    assert!(notes.contains("2 videos have another number of frames than CLEVRER's 128"), "{notes}");
    assert!(notes.contains("1 video without an annotation was left out: video_validation/video_0"), "{notes}");
    assert!(notes.contains("2 concepts hold in no sample: collide_before_half(blue,gray), entered_then_"), "{notes}");
    let [annotations] = dataset.manifest().provenance.sources.as_slice() else { panic!("one source") };
    assert_eq!(annotations.file, "3 annotations: the hash of their hashes, in the order of their paths");
    let hashes = ["train/annotation_00000-01000/annotation_00000", "train/annotation_00000-01000/annotation_00001"];
    let mut hasher = blake3::Hasher::new();
    for name in hashes.into_iter().chain(["validation/annotation_00000-01000/annotation_00002"]) {
        let bytes = std::fs::read(place.path(&format!("clevrer/annotation_{name}.json"))).unwrap();
        hasher.update(blake3::hash(&bytes).as_bytes());
    }
    assert_eq!(annotations.blake3, hasher.finalize().to_hex().to_string());
    let strict = ClevrerImport { strict: true, ..source(&place, events) };
    assert!(import_clevrer(&strict, &place.path("strict")).unwrap_err().to_string().contains("1 of 3 paths"));
}

/// Frames that were lost, and a video beside the folder of its frames, are told and refused.
#[test]
fn videos_in_part_and_in_two_forms_are_told() {
    let place = place();
    let folder = "video_train/video_00000-01000";
    let notes = |name: &str| told(&import_clevrer(&source(&place, "cube"), &place.path(name)).unwrap().notes);
    let strict = || {
        let import = ClevrerImport { strict: true, ..source(&place, "cube") };
        import_clevrer(&import, &place.path("strict")).unwrap_err().to_string()
    };
    assert!(!notes("whole").contains("may be missing"));
    std::fs::remove_file(place.path(&format!("clevrer/{folder}/video_00001/frame_005.png"))).unwrap();
    let expected = "1 folder of frames that are neither all of the video nor, by the numbers in their names, evenly spread over it: \
                    some may be missing";
    assert!(notes("lost").contains(&format!("{expected}: {folder}/video_00001: 7 of 8 frames")), "{}", notes("told"));
    let message = strict();
    assert!(message.starts_with("expected folders of all frames of a video, or"), "{message}");
    assert!(message.contains(&format!("got 1 otherwise: {folder}/video_00001: 7 of 8 frames\nhint: ")), "{message}");
    place.write(&format!("clevrer/{folder}/video_00001.mp4"), MP4);
    // The file is taken, so nothing is missing.
    let (both, message) = (notes("both"), strict());
    let expected = format!("video_00001: {folder}/video_00001.mp4, not {folder}/video_00001");
    let told = "1 annotation has several videos of its name: the first is taken";
    assert!(both.contains(&format!("{told}: {expected}")) && !both.contains("may be missing"), "{both}");
    assert!(message.starts_with("expected one video of each annotation in `"), "{message}");
    assert!(message.contains(&format!("got 1 otherwise: {expected}\nhint: ")), "{message}");
}

#[test]
fn pairs_of_events_are_those_that_collide_most_in_train() {
    let place = place();
    let two = ConceptOptions { max_event_pairs: Some(2), ..concepts("red") };
    let imported = import(&place, &ClevrerImport { concepts: two, ..source(&place, "") });
    // Train has red x sphere in both; blue x cube, blue x cylinder, gray x sphere and cube x cyan once each: the first by name.
    assert_eq!(
        imported.dataset.table().concepts,
        [
            "red",
            "collide(red,sphere)",
            "collide_before_half(red,sphere)",
            "entered_then_collided(red,sphere)",
            "collide(blue,cube)",
            "collide_before_half(blue,cube)",
            "entered_then_collided(blue,cube)",
            "enter(blue)",
            "exit(blue)",
            "enter(cube)",
            "exit(cube)",
            "enter(red)",
            "exit(red)",
            "enter(sphere)",
            "exit(sphere)"
        ]
    );
    let count = |options: ConceptOptions, name: &str| {
        let import = ClevrerImport { concepts: options, ..source(&place, "") };
        import_clevrer(&import, &place.path(name)).unwrap().dataset.table().concepts.len()
    };
    assert_eq!(count(concepts("red"), "listed"), 1, "a list asks for what it names");
    // Five pairs collide: three events each, and enter and exit of blue, cube, cyan, cylinder, gray, red, sphere.
    assert_eq!(count(ConceptOptions::default(), "preset"), 6 + 5 * 3 + 7 * 2);
    let none = ConceptOptions { max_event_pairs: Some(0), ..ConceptOptions::default() };
    assert_eq!(count(none, "none"), 6);
}

/// Something that makes an annotation wrong.
type Change = fn(&mut Value);

#[test]
fn bad_annotations_are_left_out_and_counted() {
    let cases: [(&str, Change); 9] = [
        ("missing field `collision`", |all| drop(all.as_object_mut().unwrap().remove("collision"))),
        ("missing field `inside_camera_view`", |all| {
            drop(all["motion_trajectory"][1]["objects"][0].as_object_mut().unwrap().remove("inside_camera_view"));
        }),
        ("unknown variant `pink`", |all| all["object_property"][0]["color"] = json!("pink")),
        ("in `motion_trajectory`, got 9 at frame 1", |all| {
            all["motion_trajectory"][1]["objects"][0]["object_id"] = json!(9);
        }),
        ("in `collision`, got 9 at frame 3", |all| all["collision"][0]["object_ids"] = json!([0, 9])),
        ("expected collisions before frame 8, the number of all, got one at 8", |all| {
            all["collision"][0]["frame_id"] = json!(8);
        }),
        ("expected frame 4 next in `motion_trajectory`, got `frame_id` 5", |all| {
            drop(all["motion_trajectory"].as_array_mut().unwrap().remove(4));
        }),
        ("expected frames in `motion_trajectory`, got none", |all| all["motion_trajectory"] = json!([])),
        ("in `video_filename`, got `../x.mp4`", |all| all["video_filename"] = json!("../x.mp4")),
    ];
    let things = [("red metal cube", 2, 7), ("blue rubber sphere", 0, 5)];
    let good = |number: u32| annotation(&format!("video_{number:05}.mp4"), 8, &things, &[([0, 1], 3)]);
    let place = Place::new();
    write(&place, "train", 0, &good(0));
    place.write("clevrer/video_train/video_00000-01000/video_00000.mp4", MP4);
    for (number, (_, spoil)) in (1..).zip(&cases) {
        let mut bad = good(number);
        spoil(&mut bad);
        write(&place, "train", number, &bad);
        place.write(&format!("clevrer/video_train/video_00000-01000/video_{number:05}.mp4"), MP4);
    }
    place.write("clevrer/annotation_train/annotation_00000-01000/annotation_00500.json", "{\"scene_index\": 1");
    let again = "clevrer/annotation_train/annotation_01000-02000/annotation_01000.json";
    place.write(again, good(0).to_string());
    let imported = import(&place, &source(&place, "cube"));
    assert_eq!(imported.dataset.table().ids, ["video_00000"]);
    let notes = told(&imported.notes);
    assert!(notes.contains("10 samples were left out, since what is said of them cannot be used"), "{notes}");
    for (number, (expected, _)) in (1..).zip(&cases) {
        let line = imported.notes.iter().flat_map(|note| &note.listed);
        let line = line.clone().find(|line| line.contains(&format!("annotation_{number:05}.json"))).unwrap();
        assert!(line.starts_with("annotation_train/annotation_00000-01000/") && line.contains(expected), "{line}");
    }
    assert!(notes.contains("annotation_00500.json: EOF while parsing"), "{notes}");
    assert!(notes.contains("1 sample was left out, since its picture or video came before"), "{notes}");
    assert!(notes.contains("annotation_01000.json: video_00000 is in annotation_train/"), "{notes}");
    assert!(!notes.contains("without an annotation"), "{notes}");
    let strict = ClevrerImport { strict: true, ..source(&place, "cube") };
    let error = import_clevrer(&strict, &place.path("strict")).unwrap_err().to_string();
    assert!(
        error.contains("got 11 that cannot\n  annotation_train/annotation_00000-01000/annotation_00001"),
        "{error}"
    );
}

#[test]
fn folders_and_concepts_of_another_kind_are_refused() {
    let place = Place::new();
    place.write("clevrer/annotations/annotation_00000.json", "{}");
    let message = refused(&place, &source(&place, "cube"));
    assert!(message.contains("hint: give the folder that holds `annotation_<split>/annotation_AAAAA-"), "{message}");
    let none = ClevrerImport { folder: place.path("gone"), ..ClevrerImport::default() };
    assert!(refused(&place, &none).contains("no such file or folder"));
    let sized = refused(&place, &source(&place, "collide(large_any,cube)"));
    assert!(sized.contains("got `large` in `collide(large_any,cube)`\nhint: all objects of CLEVRER have one size"));
    assert!(refused(&place, &source(&place, "colide(red,cube)")).contains("did you mean `collide`?"));
    place.write("clevrer/annotation_train/annotation_00000-01000/annotation_00000.json", "[]");
    for inner in ["clevrer/annotation_train", "clevrer/annotation_train/annotation_00000-01000"] {
        let message = refused(&place, &ClevrerImport { folder: place.path(inner), ..ClevrerImport::default() });
        let hint =
            format!("hint: give the folder above, which holds the videos, too: `{}`", place.path("clevrer").display());
        assert!(message.contains(&hint), "{message}");
    }
    assert!(refused(&place, &source(&place, "cube")).contains("got 1 that cannot"));
}

/// What three original annotations say, by hand. All have 128 frames, so half is at 64.
const BY_HAND: [(&str, &[(&str, bool)]); 3] = [
    // 0 blue rubber sphere, seen 9 to 73; 1 gray rubber sphere, always; 2 cyan metal cube, from 9; 3 purple rubber sphere, 4 blue
    // metal sphere, 5 yellow rubber cylinder, always. 0 and 1 collide at 19, 1 and 2 at 39, 1 and 3 at 71.
    (
        "video_00000",
        &[
            ("blue_sphere", true),
            ("gray_cyl", false),
            ("enter(blue)", true),                         // 0, at 9
            ("enter(cube)", true),                         // 2, at 9
            ("enter(blue_metal_sphere)", false),           // 4 is there at 0
            ("exit(sphere)", true),                        // 0, after 73
            ("exit(cube)", false),                         // 2 stays to 127
            ("collide(blue,gray)", true),                  // 0 and 1
            ("collide(cube,gray)", true),                  // 2 and 1
            ("collide(blue,cube)", false),                 // 0 and 2 each meet 1, not each other
            ("collide_before_half(blue,gray)", true),      // 19
            ("collide_before_half(gray,purple)", false),   // 71
            ("entered_then_collided(blue,gray)", true),    // 0 at 9, before 19
            ("entered_then_collided(gray,purple)", false), // both from the start
        ],
    ),
    // 0 gray rubber cube, from 12; 1 yellow metal sphere, 0 to 124; 2 yellow rubber cylinder, from 60; 3 cyan rubber sphere, from
    // 35; 4 green rubber sphere, always. 0 and 1 collide at 30, 0 and 2 at 100.
    (
        "video_04000",
        &[
            ("blue_sphere", false),
            ("gray_cyl", false),
            ("enter(gray)", true),                           // 0, at 12
            ("enter(yellow)", true),                         // 2, at 60
            ("enter(yellow_sphere)", false),                 // 1 is there at 0
            ("exit(yellow)", true),                          // 1, after 124
            ("exit(yellow_cyl)", false),                     // 2 stays
            ("collide(cube,yellow)", true),                  // 0 with 1 and with 2
            ("collide(cyan,any)", false),                    // 3 meets nobody
            ("collide_before_half(cube,yellow)", true),      // 30
            ("collide_before_half(cube,cylinder)", false),   // 100
            ("entered_then_collided(cube,cylinder)", true),  // 12 and 60, before 100
            ("entered_then_collided(metal_any,gray)", true), // 0 at 12, before 30
            ("entered_then_collided(green,any)", false),     // 4 meets nobody
        ],
    ),
    // 0 yellow rubber sphere, 18 to 95; 1 gray metal cube, always; 2 red rubber cylinder, always; 3 yellow rubber cylinder, from 6.
    // 0 and 1 collide at 34, 1 and 2 at 43.
    (
        "video_08000",
        &[
            ("red_any", true),
            ("rubber_sphere", true),
            ("enter(yellow_cyl)", true),                  // 3, at 6
            ("enter(red)", false),                        // 2 is there at 0
            ("exit(sphere)", true),                       // 0, after 95
            ("exit(cylinder)", false),                    // 2 and 3 stay
            ("collide(cube,sphere)", true),               // 1 and 0
            ("collide(red,sphere)", false),               // 2 and 0 each meet 1
            ("collide_before_half(cube,red)", true),      // 43
            ("collide_before_half(red,yellow)", false),   // they never meet
            ("entered_then_collided(cube,yellow)", true), // 0 at 18, before 34
            ("entered_then_collided(cube,red)", false),   // both from the start
        ],
    ),
];

#[test]
fn the_original_files_are_read() {
    #[expect(clippy::disallowed_methods, reason = "tests use real data where they are told of it")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|data| Path::new(&data).join("clevrer"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        eprintln!("skipped: CHIMERA_DATA does not name a folder with `clevrer`");
        return;
    };
    let text = std::fs::read_to_string(folder.join("annotation_train/annotation_00000-01000/annotation_00000.json"));
    let (text, place) = (text.unwrap(), Place::new());
    let whole: Annotation = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_value(&whole).unwrap(), serde_json::from_str::<Value>(&text).unwrap());
    let names = BY_HAND.iter().flat_map(|(_, labels)| labels.iter().map(|(name, _)| *name));
    let concepts = concepts(&names.collect::<Vec<_>>().join(","));
    let imported = import_clevrer(
        &ClevrerImport { folder: folder.clone(), concepts, ..ClevrerImport::default() },
        &place.path("ds"),
    );
    let imported = imported.unwrap();
    for (id, expected) in BY_HAND {
        let labels = labels(&imported.dataset, id);
        for (name, holds) in expected {
            assert!(labels.contains(&((*name).to_owned(), *holds)), "{name} of {id} should be {holds}");
        }
    }
    let notes = told(&imported.notes);
    assert!(!notes.contains("another number of frames") && !notes.contains("left out, since"), "{notes}");
}
