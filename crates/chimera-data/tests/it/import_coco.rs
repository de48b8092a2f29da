//! Import of COCO: categories, numbers and folders of several files, official ones and exports.

use chimera_data::dataset::Dataset;
use chimera_data::import::*;
use chimera_data::split::Split;

use crate::support::import_place::{PNG, Place, told};

fn sizes(dataset: &Dataset) -> [usize; 4] {
    Split::ALL.map(|split| dataset.splits().iter().filter(|other| **other == split).count())
}

const COCO: &str = r#"{"info": {}, "images": [
    {"id": 9, "file_name": "9.jpg", "width": 4, "height": 4}, {"id": 4, "file_name": "4.jpg"}, {"id": 5, "file_name": "5.jpg"}],
  "annotations": [
    {"id": 1, "image_id": 9, "category_id": 18, "segmentation": [[1, 2]], "iscrowd": 0},
    {"id": 2, "image_id": 9, "category_id": 18, "iscrowd": 0}, {"id": 3, "image_id": 4, "category_id": 3, "iscrowd": 1},
    {"id": 4, "image_id": 77, "category_id": 3}, {"id": 5, "image_id": 4, "category_id": 99}],
  "categories": [{"id": 3, "name": "traffic light", "supercategory": "outdoor"}, {"id": 18, "name": "dog"}, {"id": 20, "name": "cat"}]}"#;

#[test]
fn coco_says_what_is_there_at_least_once() {
    let place = Place::new();
    for name in ["train2017/9.jpg", "train2017/4.jpg", "train2017/5.jpg", "val2017/1.jpg"] {
        place.write(&format!("coco/{name}"), PNG);
    }
    let instances = place.write("coco/annotations/instances_train2017.json", COCO);
    let test = r#"{"images": [{"id": 1, "file_name": "1.jpg"}], "annotations": [{"image_id": 1, "category_id": 1}],
        "categories": [{"id": 1, "name": "cat"}]}"#;
    let test = Some(place.write("coco/annotations/instances_val2017.json", test));
    let import = CocoImport { instances, test, media_root: place.path("coco"), ..CocoImport::default() };
    let imported = import_coco(&import, &place.path("ds")).unwrap();
    let dataset = &imported.dataset;
    assert_eq!((imported.notes[0].count, &imported.notes[0].listed[..]), (2, &["4".to_owned(), "5".to_owned()][..]));
    assert_eq!(dataset.table().concepts, ["traffic light", "dog", "cat"]);
    assert_eq!(dataset.table().ids, ["9", "4", "5", "1"]);
    let shown = |row: usize| [0, 1, 2].map(|column| dataset.table().labels.get(row, column));
    let (yes, no) = (Some(true), Some(false));
    // The test file looks for cats alone.
    assert_eq!([0, 1, 2, 3].map(shown), [[no, yes, no], [yes, no, no], [no; 3], [None, None, yes]]);
    let note = &imported.notes[1];
    assert!(note.message.contains("is unknown") && note.listed == ["traffic light", "dog"], "{note:?}");
    assert_eq!(dataset.splits()[3], Split::Test);
    assert_eq!(dataset.table().media.as_ref().unwrap()[3], "val2017/1.jpg");
    assert!(dataset.media_path(0).unwrap().exists());
    // One file alone is dealt to train and test.
    let alone = import_coco(&CocoImport { test: None, ..import }, &place.path("alone")).unwrap().dataset;
    assert_eq!(sizes(&alone), [1, 1, 1, 0]);
}

#[test]
fn bad_instances_are_named() {
    let place = Place::new();
    place.write("coco/9.jpg", PNG);
    for (text, expected) in [
        ("{", "cannot read `"),
        ("{\"images\": []}", "missing field `annotations`"),
        (
            &COCO.replace("\"id\": 4, \"file_name\": \"4.jpg\"", "\"id\": 9, \"file_name\": \"4.jpg\""),
            "got number 9 (`4.jpg`) again",
        ),
        (&COCO.replace("\"id\": 18, \"name\"", "\"id\": 3, \"name\""), "got number 3 again"),
        (&COCO.replace("\"name\": \"dog\"", "\"name\": \"split\""), "a name that is not reserved"),
    ] {
        let instances = place.write("i.json", text);
        let import = CocoImport { instances, media_root: place.path("coco"), ..CocoImport::default() };
        let error = import_coco(&import, &place.path("ds")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        place.assert_no_dataset();
    }
}

fn instances(images: &[(u64, &str)], annotations: &[(u64, u64)], categories: &[(u64, &str)]) -> String {
    let images: Vec<String> =
        images.iter().map(|(id, name)| format!("{{\"id\": {id}, \"file_name\": \"{name}\"}}")).collect();
    let shown = annotations.iter().map(|(image, what)| format!("{{\"image_id\": {image}, \"category_id\": {what}}}"));
    let categories: Vec<String> =
        categories.iter().map(|(id, name)| format!("{{\"id\": {id}, \"name\": \"{name}\"}}")).collect();
    let [images, shown, categories] = [images, shown.collect(), categories].map(|parts| parts.join(", "));
    format!("{{\"images\": [{images}], \"annotations\": [{shown}], \"categories\": [{categories}]}}")
}

/// Roboflow: each split in a folder of its own with pictures and annotations, numbers from 0 in each.
#[test]
fn numbers_that_mean_other_pictures_in_the_other_file_are_told_apart() {
    let place = Place::new();
    for name in ["train/a.jpg", "train/b.jpg", "valid/c.jpg", "valid/a.jpg"] {
        place.write(&format!("export/{name}"), PNG);
    }
    let categories = [(1, "dog"), (2, "cat")];
    // In the second file picture 5 is not there: it must not be looked for in the first one.
    let train = instances(&[(0, "a.jpg"), (5, "b.jpg")], &[(0, 1)], &categories);
    let test = instances(&[(0, "c.jpg"), (1, "a.jpg")], &[(0, 2), (5, 2)], &categories);
    let import = CocoImport {
        instances: place.write("export/train/_annotations.coco.json", train),
        test: Some(place.write("export/valid/_annotations.coco.json", test)),
        media_root: place.path("export"),
        ..CocoImport::default()
    };
    let imported = import_coco(&import, &place.path("ds")).unwrap();
    let table = imported.dataset.table();
    assert_eq!(table.ids, ["train-0", "train-5", "test-0", "test-1"]);
    assert_eq!(table.media.as_ref().unwrap(), &["train/a.jpg", "train/b.jpg", "valid/c.jpg", "valid/a.jpg"]);
    let shown = |row: usize| [0, 1].map(|column| table.labels.get(row, column).unwrap());
    assert_eq!([0, 1, 2, 3].map(shown), [[true, false], [false, false], [false, true], [false, false]]);
    let notes = told(&imported.notes);
    assert!(notes.contains("1 number stands for different pictures in both files") && notes.contains(": 0"), "{notes}");
    assert!(notes.contains("1 annotation of an unknown picture or category"), "{notes}");
    // The same picture in both files is a leak.
    let twice = CocoImport { test: Some(import.instances.clone()), ..import };
    let error = import_coco(&twice, &place.path("twice")).unwrap_err().to_string();
    assert!(error.contains("got number 0 (`train/a.jpg`) again"), "{error}");
}

#[test]
fn categories_of_one_name_are_one_concept() {
    let place = Place::new();
    ["a.jpg", "b.jpg", "c.jpg"].iter().for_each(|name| {
        place.write(&format!("images/{name}"), PNG);
    });
    let text = instances(
        &[(1, "a.jpg"), (2, "b.jpg"), (3, "c.jpg")],
        &[(1, 7), (2, 8)],
        &[(7, "dog"), (8, " dog"), (9, "cat")],
    );
    let import = CocoImport {
        instances: place.write("i.json", text),
        media_root: place.path("images"),
        ..CocoImport::default()
    };
    let imported = import_coco(&import, &place.path("ds")).unwrap();
    let table = imported.dataset.table();
    assert_eq!(table.concepts, ["dog", "cat"]);
    assert_eq!([0, 1, 2].map(|row| table.labels.get(row, 0)), [Some(true), Some(true), Some(false)]);
    assert!(
        told(&imported.notes).contains("shares the name of another, and became one concept with it:  dog"),
        "{:?}",
        imported.notes
    );
}
