//! Import of CLEVR: labels, splits, and every kind of bad input.

use std::path::{Path, PathBuf};

use chimera_data::clevr::scenes::SceneFile;
use chimera_data::dataset::Dataset;
use chimera_data::import::{
    ClevrImport, ConceptChoice, ConceptOptions, ImportOptions, Imported, RuleConcepts, SplitRule, import_clevr,
};
use chimera_data::split::Split;

use crate::support::import_place::{PNG, Place, told};
use crate::support::solids::{scene, scenes};
use serde_json::{Value, json};

/// Two scenes of train, one of val and one of the oracle, with their pictures.
fn place() -> Place {
    let place = Place::new();
    let train = [
        scene("CLEVR_train_000000.png", &["large blue rubber sphere", "small gray metal cube"]),
        scene("CLEVR_train_000001.png", &["small red rubber cylinder"]),
    ];
    place.write("clevr/scenes/CLEVR_train_scenes.json", scenes(&train));
    place.write(
        "clevr/scenes/CLEVR_val_scenes.json",
        scenes(&[scene("CLEVR_val_000000.png", &["large gray metal cylinder", "small green rubber cube"])]),
    );
    place.write("clevr/scenes/CLEVR_oracle_scenes.json", scenes(&[scene("CLEVR_oracle_000000.png", &[])]));
    for name in ["train/CLEVR_train_000000", "train/CLEVR_train_000001", "val/CLEVR_val_000000"] {
        place.write(&format!("clevr/images/{name}.png"), PNG);
    }
    place.write("clevr/images/oracle/CLEVR_oracle_000000.png", PNG);
    place
}

fn concepts(text: &str) -> ConceptOptions {
    ConceptOptions { choices: ConceptChoice::parse_list(text), ..ConceptOptions::default() }
}

fn source(place: &Place) -> ClevrImport {
    ClevrImport { folder: place.path("clevr"), ..ClevrImport::default() }
}

fn import(place: &Place, import: &ClevrImport) -> Imported {
    import_clevr(import, &place.path("ds")).unwrap()
}

fn refused(place: &Place, import: &ClevrImport) -> String {
    let message = import_clevr(import, &place.path("ds")).unwrap_err().to_string();
    place.assert_no_dataset();
    message
}

/// The concepts of a sample that hold.
fn held(dataset: &Dataset, id: &str) -> Vec<String> {
    let table = dataset.table();
    let row = table.ids.iter().position(|other| other == id).unwrap();
    let columns = (0..table.concepts.len()).filter(|&column| table.labels.get(row, column) == Some(true));
    columns.map(|column| table.concepts[column].clone()).collect()
}

#[test]
fn scenes_become_samples_of_their_splits() {
    let place = place();
    let imported = import(&place, &source(&place));
    let dataset = &imported.dataset;
    assert_eq!(
        dataset.table().concepts,
        ["blue_sphere", "green_cube", "metal_any", "gray_cyl", "red_any", "yellow_cube"]
    );
    let ids = ["CLEVR_train_000000", "CLEVR_train_000001", "CLEVR_oracle_000000", "CLEVR_val_000000"];
    assert_eq!(dataset.table().ids, ids);
    assert_eq!(held(dataset, ids[0]), ["blue_sphere", "metal_any"]);
    assert_eq!(held(dataset, ids[1]), ["red_any"]);
    assert_eq!(held(dataset, ids[2]), [""; 0]);
    assert_eq!(held(dataset, ids[3]), ["green_cube", "metal_any", "gray_cyl"]);
    assert_eq!(dataset.splits()[2..], [Split::Oracle, Split::Test]);
    assert_eq!(dataset.table().media.as_ref().unwrap()[3], "val/CLEVR_val_000000.png");
    assert!(told(&imported.notes).contains("1 row of the split `val` counts as test"), "{}", told(&imported.notes));
    assert_eq!(dataset.manifest().provenance.sources.len(), 3);
    assert_eq!(dataset.manifest().provenance.options["concepts"], "preset");
}

#[test]
fn a_train_file_alone_is_dealt() {
    let place = Place::new();
    let names: Vec<String> = (0..20).map(|number| format!("CLEVR_train_{number:06}.png")).collect();
    let all: Vec<Value> = names.iter().map(|name| scene(name, &["small cyan metal cube"])).collect();
    place.write("clevr/scenes/CLEVR_train_scenes.json", scenes(&all));
    names.iter().take(19).for_each(|name| drop(place.write(&format!("clevr/images/train/{name}"), PNG)));
    let imported = import(&place, &source(&place));
    let notes = told(&imported.notes);
    assert!(notes.contains("the source has samples of train alone, which are dealt: train=0.8,test=0.2"), "{notes}");
    assert!(
        notes.contains("1 medium that is not there (its sample stays, without it): train/CLEVR_train_000019.png"),
        "{notes}"
    );
    assert!(notes.contains("5 concepts hold in no sample: blue_sphere, green_cube, gray_cyl"), "{notes}");
    assert!(imported.dataset.splits().contains(&Split::Test));
    let strict = ClevrImport { strict: true, ..source(&place) };
    let error = import_clevr(&strict, &place.path("strict")).unwrap_err().to_string();
    assert!(error.contains("got nothing at 1 of 20 paths") && error.contains("not unpacked"), "{error}");
    let few = ImportOptions { limit: Some(5), ..ImportOptions::default() };
    let few = import_clevr(&ClevrImport { options: few, ..source(&place) }, &place.path("few")).unwrap();
    assert!((5..8).contains(&few.dataset.table().ids.len()));
}

#[test]
fn concepts_are_what_was_asked_for() {
    let place = place();
    let named = |text: &str| {
        let out = place.path(&format!("ds-{}", text.len()));
        let imported = import_clevr(&ClevrImport { concepts: concepts(text), ..source(&place) }, &out).unwrap();
        imported.dataset.table().concepts.clone()
    };
    assert_eq!(named("cube,large_any,cube,color=red"), ["cube", "large_any", "color=red"]);
    // What occurs in the two train scenes, in the order of the dataset's own lists.
    let all = ["gray", "red", "blue", "rubber", "metal", "cube", "sphere", "cylinder", "small", "large"];
    let pairs = ["gray_cube", "red_cylinder", "blue_sphere"];
    assert_eq!(named("all"), [all.as_slice(), &pairs].concat());
    let rules = RuleConcepts { file: PathBuf::from("my.rules"), names: vec!["cube".to_owned(), "red_any".to_owned()] };
    let with_rules = ConceptOptions { rules: Some(rules), ..ConceptOptions::default() };
    let imported = import_clevr(&ClevrImport { concepts: with_rules, ..source(&place) }, &place.path("ruled")).unwrap();
    assert_eq!(imported.dataset.table().concepts.len(), 7, "the preset has `red_any` already");
    for (text, expected) in [
        ("bleu_sphere", "hint: did you mean `blue`?"),
        (
            "collide(red,cube)",
            "expected concepts of pictures, such as `blue_sphere`, got the event `collide(red,cube)`",
        ),
        ("red_blue", "got `color` twice"),
        ("red,", "got nothing"),
    ] {
        let message = refused(&place, &ClevrImport { concepts: concepts(text), ..source(&place) });
        assert!(message.contains(expected), "{message}");
    }
    let rules = RuleConcepts { file: PathBuf::from("my.rules"), names: vec!["obj:baby".to_owned()] };
    let concepts = ConceptOptions { rules: Some(rules), ..ConceptOptions::default() };
    let message = refused(&place, &ClevrImport { concepts, ..source(&place) });
    assert!(message.starts_with("cannot label `obj:baby`, which `my.rules` names: expected words"), "{message}");
}

#[test]
fn a_concept_has_one_name() {
    let place = place();
    let ruled = |text: &str, names: &[&str]| {
        let rules = RuleConcepts {
            file: PathBuf::from("my.rules"),
            names: names.iter().map(|&name| name.to_owned()).collect(),
        };
        let concepts = ConceptOptions { rules: Some(rules), ..concepts(text) };
        ClevrImport { concepts, ..source(&place) }
    };
    // What rules name takes the place of what would mean the same.
    let imported = import_clevr(&ruled("all", &["metal_any", "grey_cube", "purple_any"]), &place.path("all")).unwrap();
    let names = &imported.dataset.table().concepts;
    let at = |name: &str| names.iter().position(|other| other == name);
    assert_eq!((at("metal_any"), at("metal"), at("grey_cube"), at("gray_cube")), (Some(4), None, Some(10), None));
    assert_eq!(names.last().unwrap(), "purple_any");
    let both = import_clevr(&ruled("preset,all", &[]), &place.path("both")).unwrap();
    let names = &both.dataset.table().concepts;
    assert!(names.contains(&"metal_any".to_owned()) && !names.contains(&"metal".to_owned()), "{names:?}");
    let imported = import_clevr(&ruled("preset", &["grey_cylinder"]), &place.path("preset")).unwrap();
    assert_eq!(imported.dataset.table().concepts[3], "grey_cylinder");
    let message = refused(&place, &ruled("red", &["red_any"]));
    assert!(message.contains("expected one name for each concept, got `red` and `red_any`"), "{message}");
    let blank = refused(&place, &ruled("preset", &["red_any "]));
    assert!(
        blank.contains("which `my.rules` names: expected a name without blanks, got `red_any `\nhint: write `red_any`"),
        "{blank}"
    );
}

#[test]
fn all_that_occurs_needs_train() {
    let place = Place::new();
    place.write("clevr/scenes/CLEVR_val_scenes.json", scenes(&[scene("a.png", &["small red metal cube"])]));
    place.write("clevr/images/val/a.png", PNG);
    let message = refused(&place, &ClevrImport { concepts: concepts("all"), ..source(&place) });
    assert!(message.contains("expected a concept at least in the samples of train, got none in 0"), "{message}");
}

#[test]
fn bad_scenes_are_left_out_and_counted() {
    let place = Place::new();
    let good = scene("a.png", &["small red metal cube"]);
    let odd = scene("b.png", &["small pink metal cube"]);
    let bare = json!({"image_filename": "c.png"});
    place.write("clevr/images/train/a.png", PNG);
    place.write("clevr/scenes/CLEVR_train_scenes.json", scenes(&[good.clone(), odd.clone(), bare, json!(3), good]));
    let imported = import(&place, &source(&place));
    assert_eq!(imported.dataset.table().ids, ["a"]);
    let notes = told(&imported.notes);
    assert!(notes.contains("3 samples were left out, since what is said of them cannot be used"), "{notes}");
    assert!(
        notes.contains("CLEVR_train_scenes.json, scene 1: unknown variant `pink`, expected one of `gray`"),
        "{notes}"
    );
    assert!(notes.contains("scene 2: missing field `objects`"), "{notes}");
    assert!(notes.contains("1 sample was left out, since its picture or video came before"), "{notes}");
    assert!(notes.contains("scene 4: train/a.png is in CLEVR_train_scenes.json, scene 0"), "{notes}");
    let strict = ClevrImport { strict: true, ..source(&place) };
    let error = import_clevr(&strict, &place.path("strict")).unwrap_err().to_string();
    assert!(error.contains("got 4 that cannot\n  CLEVR_train_scenes.json, scene 1: unknown variant"), "{error}");
    assert!(error.contains("\n  CLEVR_train_scenes.json, scene 4: train/a.png is in CLEVR_train"), "{error}");
    let place = Place::new();
    place.write("clevr/scenes/CLEVR_train_scenes.json", scenes(&[odd]));
    let message = refused(&place, &source(&place));
    assert!(message.contains("clevr/images`, got no such folder\nhint: media that were not unpacked"), "{message}");
    std::fs::create_dir(place.path("clevr/images")).unwrap();
    assert!(refused(&place, &source(&place)).contains("got 1 that cannot"));
}

#[test]
fn folders_and_files_of_another_kind_are_refused() {
    let place = Place::new();
    place.write("clevr/readme.txt", "x");
    let message = refused(&place, &source(&place));
    assert!(message.contains("hint: give the folder that holds `scenes/CLEVR_<split>_scenes.json`"), "{message}");
    let nowhere = ClevrImport { folder: place.path("nowhere"), ..source(&place) };
    let message = refused(&place, &nowhere);
    assert!(message.starts_with("cannot read `") && message.contains("nowhere`"), "{message}");
    std::fs::create_dir_all(place.path("CLEVR_v1.0/scenes")).unwrap();
    std::fs::create_dir_all(place.path("CLEVR_v1.0/images/train")).unwrap();
    let file = place.write("CLEVR_v1.0/scenes/CLEVR_train_scenes.json", scenes(&[scene("a.png", &[])]));
    let above = place.path("CLEVR_v1.0");
    for inner in [file, above.join("scenes"), above.join("images"), above.join("images/train")] {
        let is_file = inner.is_file();
        let message = refused(&place, &ClevrImport { folder: inner, ..source(&place) });
        let hint = format!("hint: give the folder above, which holds `scenes/` and `images/`: `{}`", above.display());
        assert!(message.contains(&hint) && message.contains("got the file `") == is_file, "{message}");
    }
    place.write("clevr/scenes/CLEVR_trainA_scenes.json", scenes(&[scene("a.png", &[])]));
    let message = refused(&place, &source(&place));
    assert!(message.contains("CLEVR_trainA_scenes.json`, got `trainA`\nhint: to deal all samples anew"), "{message}");
    place.write("clevr/images/trainA/a.png", PNG);
    let shares = SplitRule::Shares(vec![(Split::Train, 1.0)]);
    let dealt = ClevrImport { options: ImportOptions { split: shares, ..ImportOptions::default() }, ..source(&place) };
    assert_eq!(import_clevr(&dealt, &place.path("dealt")).unwrap().dataset.table().ids, ["a"]);
    let place = Place::new();
    place.write("clevr/scenes/CLEVR_train_scenes.json", "{\"scenes\": [");
    assert!(refused(&place, &source(&place)).contains("hint: expected CLEVR's scenes"));
}

#[test]
fn names_that_two_pictures_share_become_paths() {
    let place = Place::new();
    for split in ["train", "val"] {
        place.write(&format!("clevr/scenes/CLEVR_{split}_scenes.json"), scenes(&[scene("0.png", &[])]));
        place.write(&format!("clevr/images/{split}/0.png"), PNG);
    }
    let imported = import(&place, &source(&place));
    assert_eq!(imported.dataset.table().ids, ["train/0.png", "val/0.png"]);
    // And names that differ in their endings alone.
    let place = Place::new();
    place.write("clevr/scenes/CLEVR_train_scenes.json", scenes(&[scene("a.png", &[]), scene("a.jpg", &[])]));
    place.write("clevr/images/train/a.png", PNG);
    place.write("clevr/images/train/a.jpg", PNG);
    assert_eq!(import(&place, &source(&place)).dataset.table().ids, ["train/a.png", "train/a.jpg"]);
}

#[test]
fn the_original_files_are_read() {
    #[expect(clippy::disallowed_methods, reason = "tests use real data where they are told of it")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|data| Path::new(&data).join("clevr"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        eprintln!("skipped: CHIMERA_DATA does not name a folder with `clevr`");
        return;
    };
    let text = std::fs::read_to_string(folder.join("scenes/CLEVR_train_scenes.json")).unwrap();
    let file: SceneFile = serde_json::from_str(&text).unwrap();
    // What is written again is what was read, key by key.
    let mut again = serde_json::to_value(&file).unwrap();
    let mut original: Value = serde_json::from_str(&text).unwrap();
    for value in [&mut again, &mut original] {
        // Columns and rows of pixels are whole numbers there and floats here.
        for scene in value["scenes"].as_array_mut().unwrap() {
            for object in scene["objects"].as_array_mut().unwrap() {
                let pixels = &mut object["pixel_coords"];
                *pixels = json!(pixels.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<_>>());
            }
        }
    }
    assert!(again == original);
    let place = Place::new();
    let imported = import_clevr(&ClevrImport { folder, ..ClevrImport::default() }, &place.path("ds")).unwrap();
    assert_eq!(imported.dataset.table().ids.len(), file.scenes.len());
    // The first scene: blue rubber cube, green metal cylinder, cyan rubber cube, brown metal cylinder, gray rubber cube,
    // brown metal sphere; only `metal_any` of the preset.
    assert_eq!(held(&imported.dataset, "CLEVR_train_000000"), ["metal_any"]);
}
