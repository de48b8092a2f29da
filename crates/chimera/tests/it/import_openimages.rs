//! Import of Open Images: the real files against counts made by pandas, and everything that can be wrong with files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::support::import_place::{PNG, Place, told};
use chimera::data::dataset::Dataset;
use chimera::data::hierarchy::Hierarchy;
use chimera::data::import::*;
use chimera::data::split::Split;

const HEADER: &str =
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside";

/// Vehicle > Land vehicle > (Car > Taxi, Bicycle with the part Wheel); Bicycle also stands under Toy.
const TREE: &str = r#"{"LabelName": "/m/root", "Subcategory": [
  {"LabelName": "/m/vehicle", "Subcategory": [{"LabelName": "/m/land", "Subcategory": [
    {"LabelName": "/m/car", "Subcategory": [{"LabelName": "/m/taxi"}]},
    {"LabelName": "/m/bicycle", "Part": [{"LabelName": "/m/wheel"}]}]}]},
  {"LabelName": "/m/toy", "Subcategory": [{"LabelName": "/m/bicycle", "Part": [{"LabelName": "/m/wheel"}]}]},
  {"LabelName": "/m/wheel"}, {"LabelName": "/m/person"}]}"#;

const NAMES: &str = "/m/vehicle,Vehicle\n/m/land,Land vehicle\n/m/car,Car\n/m/taxi,Taxi\n/m/bicycle,Bicycle\n/m/toy,Toy\n\
    /m/wheel,Wheel\n/m/person,Person\n";

/// A folder with the files and a picture for each row of boxes, by split.
fn place(boxes: &[(&str, &[(&str, &str)])]) -> Place {
    let place = Place::new();
    place.write("oi/class-descriptions-boxable.csv", NAMES);
    place.write("oi/bbox_labels_600_hierarchy.json", TREE);
    for (split, rows) in boxes {
        let mut text = format!("{HEADER}\n");
        for (number, (id, class)) in rows.iter().enumerate() {
            place.write(&format!("oi/{split}/{id}.jpg"), PNG);
            text += &format!("{id},xclick,/m/{class},1,0.{number:03},0.9,0.1,0.9,0,0,0,0,0\n");
        }
        place.write(&format!("oi/{split}-annotations-bbox.csv"), text);
    }
    place
}

fn import(place: &Place) -> OpenImagesImport {
    OpenImagesImport { folder: Some(place.path("oi")), ..OpenImagesImport::default() }
}

/// A row of labels by the names of concepts: 1, 0, and ? where unknown.
fn row(dataset: &Dataset, id: &str) -> BTreeMap<String, char> {
    let table = dataset.table();
    let row = table.ids.iter().position(|other| other == id).unwrap();
    let sign = |column: usize| match table.labels.get(row, column) {
        Some(true) => '1',
        Some(false) => '0',
        None => '?',
    };
    table.concepts.iter().enumerate().map(|(column, name)| (name.clone(), sign(column))).collect()
}

fn ancestors(dataset: &Dataset, id: &str) -> Vec<String> {
    let row = dataset.table().ids.iter().position(|other| other == id).unwrap();
    dataset.table().oov_ancestors.as_ref().unwrap()[row].clone()
}

const TRAIN: &[(&str, &str)] = &[
    ("t1", "car"),
    ("t1", "car"),
    ("t2", "car"),
    ("t3", "land"),
    ("t4", "land"),
    ("t5", "vehicle"),
    ("t6", "vehicle"),
    ("t7", "bicycle"),
    ("t8", "person"),
];

#[test]
fn common_classes_become_concepts_and_labels_are_closed_upwards() {
    let test: &[(&str, &str)] =
        &[("v1", "taxi"), ("v2", "bicycle"), ("v2", "car"), ("v3", "taxi"), ("v3", "land"), ("v4", "wheel")];
    let place = place(&[("train", TRAIN), ("validation", test)]);
    // Car, Land vehicle and Vehicle are on two train pictures each (a second box of one picture does not count), and go by id;
    // bicycles and persons are on one each and go by id, too.
    let imported = import_openimages(&OpenImagesImport { top: 4, ..import(&place) }, &place.path("ds")).unwrap();
    let dataset = &imported.dataset;
    assert_eq!(dataset.table().concepts, ["Car", "Land vehicle", "Vehicle", "Bicycle"]);
    let labels = |id: &str| row(dataset, id).into_values().collect::<String>();
    // By name: Bicycle, Car, Land vehicle, Vehicle.
    for (id, expected) in
        [("t1", "0111"), ("t3", "0011"), ("t5", "0001"), ("t7", "1011"), ("t8", "0000"), ("v2", "1111")]
    {
        assert_eq!(labels(id), expected, "{id}");
    }
    // A taxi is no concept, so the boxes say nothing of cars: that is told apart from there being none. Wheels are parts.
    assert_eq!(
        (labels("v1").as_str(), ancestors(dataset, "v1")),
        ("0000", vec!["Car".into(), "Land vehicle".into(), "Vehicle".into()])
    );
    assert_eq!((labels("v3").as_str(), ancestors(dataset, "v3")), ("0011", vec!["Car".to_owned()]));
    assert_eq!((labels("v4").as_str(), ancestors(dataset, "v4")), ("0000", Vec::new()));
    let listed = std::fs::read_to_string(place.path("ds").join(OOV_CLASSES)).unwrap();
    assert_eq!(listed, "class,name,pictures,ancestors\n/m/taxi,Taxi,2,Car|Land vehicle|Vehicle\n");
    let hierarchy = Hierarchy::read(&place.path("ds")).unwrap();
    assert!(hierarchy.closed);
    let bicycle = &hierarchy.classes()[hierarchy.number("Bicycle").unwrap()];
    let above: Vec<&str> = bicycle.is_a.iter().map(|&class| hierarchy.classes()[class].name.as_str()).collect();
    assert_eq!((above, bicycle.id.as_deref()), (vec!["Land vehicle", "Toy"], Some("/m/bicycle")));
    // The folder as it is read back, splits and pictures where they belong.
    let read = Dataset::open(&place.path("ds")).unwrap();
    assert_eq!(read.table().oov_ancestors, dataset.table().oov_ancestors);
    let splits = |split: Split| read.splits().iter().filter(|other| **other == split).count();
    assert_eq!((splits(Split::Train) + splits(Split::Calibration), splits(Split::Test)), (8, 4));
    assert!(read.media_path(0).unwrap().is_file());
    let notes = told(&imported.notes);
    assert!(notes.contains("4 rows of the split `validation` count as test"), "{notes}");
    assert!(notes.contains("2 classes stand at several places of the hierarchy"), "{notes}");
    let options = &read.manifest().provenance.options;
    assert_eq!((options["top"].as_str(), options["split"].as_str()), ("4", "source"));
}

#[test]
fn pictures_of_one_split_are_dealt() {
    let ids: Vec<String> = (0..40).map(|number| format!("p{number}")).collect();
    let rows: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "person")).collect();
    let alone = place(&[("validation", &rows)]);
    let test = |import: &OpenImagesImport, name: &str| {
        let imported = import_openimages(import, &alone.path(name)).unwrap();
        let splits = imported.dataset.splits().iter();
        let ids = imported.dataset.table().ids.iter().zip(splits).filter(|(_, split)| **split == Split::Test);
        (ids.map(|(id, _)| id.to_owned()).collect::<BTreeSet<_>>(), told(&imported.notes))
    };
    let (dealt, notes) = test(&import(&alone), "a");
    assert_eq!(dealt.len(), 4);
    assert!(notes.contains("pictures of one split alone are dealt: train=0.9,test=0.1 with seed 123"), "{notes}");
    assert_eq!(test(&OpenImagesImport { val_train_frac: Some(0.75), ..import(&alone) }, "b").0.len(), 10);
    let mut other = import(&alone);
    other.options.seed = 7;
    assert_ne!(test(&other, "c").0, dealt, "another seed deals otherwise");
    let refused = |import: &OpenImagesImport| import_openimages(import, &alone.path("ds")).unwrap_err().to_string();
    for share in [0.0, 1.0, f64::NAN] {
        let error = refused(&OpenImagesImport { val_train_frac: Some(share), ..import(&alone) });
        assert!(error.contains("expected a share between 0 and 1, got"), "{error}");
    }
    // A share that no picture falls to is told by its name, whichever side it leaves empty.
    for (share, split) in [(0.001, "train"), (0.999, "test")] {
        let error = refused(&OpenImagesImport { val_train_frac: Some(share), ..import(&alone) });
        assert!(error.contains(&format!("expected rows for the split `{split}` in `")), "{error}");
        assert!(error.contains("got none of 40 by train=0") && error.contains("with `--val-train-frac`"), "{error}");
    }
    let mut shares = OpenImagesImport { val_train_frac: Some(0.5), ..import(&alone) };
    shares.options.split = SplitRule::Shares(vec![(Split::Train, 1.0)]);
    assert!(refused(&shares).contains("expected `--split` or `--val-train-frac`, got both"));
    let several = place(&[("train", TRAIN), ("validation", &[("v", "car")])]);
    let error =
        import_openimages(&OpenImagesImport { val_train_frac: Some(0.5), ..import(&several) }, &several.path("ds"));
    assert!(error.unwrap_err().to_string().contains("got train, validation"));
    let no_train = place(&[("validation", &[("v", "car")]), ("test", &[("t", "car")])]);
    let error = import_openimages(&import(&no_train), &no_train.path("ds")).unwrap_err().to_string();
    assert!(error.contains("expected boxes of train pictures among several files, got test, validation"), "{error}");
}

#[test]
fn an_open_world_knows_what_was_verified() {
    let place = place(&[("train", TRAIN), ("test", &[("v1", "taxi"), ("v2", "car"), ("v3", "person")])]);
    let labels = "ImageID,Source,LabelName,Confidence\nv1,verification,/m/vehicle,0\nv1,verification,/m/person,0\n\
        v2,verification,/m/vehicle,0\nv2,verification,/m/bicycle,0\nv3,verification,/m/land,0\n\
        v3,crowdsource-verification,/m/bicycle,1\nv3,verification,/m/person,1\nt8,verification,/m/vehicle,0\n\
        gone,verification,/m/car,0\nt1,verification,/m/ship,0\nt1,machine,/m/person,0.7\n";
    place.write("oi/train-annotations-human-imagelabels-boxable.csv", labels);
    let wanted = OpenImagesImport { open_world: true, top: 5, ..import(&place) };
    let imported = import_openimages(&wanted, &place.path("ds")).unwrap();
    let dataset = &imported.dataset;
    assert_eq!(dataset.table().concepts, ["Car", "Land vehicle", "Vehicle", "Bicycle", "Person"]);
    let labels = |id: &str| row(dataset, id).into_values().collect::<String>();
    // By name: Bicycle, Car, Land vehicle, Person, Vehicle.
    assert_eq!(labels("t1"), "?11?1", "boxes alone");
    assert_eq!(labels("t8"), "00010", "no vehicle, so none of its kinds");
    // A box of a taxi speaks against `no vehicle`, although taxis are no concept; nothing but the person is settled.
    assert_eq!((labels("v1").as_str(), ancestors(dataset, "v1").len()), ("???0?", 3));
    assert_eq!(labels("v2"), "011?1", "a box wins over `no vehicle`; `no bicycle` stands");
    // Somebody saw a bicycle, so `no land vehicle` is not believed, yet without a box nothing is shown for sure.
    assert_eq!(labels("v3"), "???1?");
    let notes = told(&imported.notes);
    let expected = "3 verified absences were not believed, since a box or another answer shows the class: v1: Vehicle, \
        v2: Vehicle, v3: Land vehicle";
    assert!(notes.contains(expected), "{notes}");
    assert!(notes.contains("1 picture has verified labels but no boxes: it is no sample: gone"), "{notes}");
    assert!(
        notes.contains("2 rows of verified labels were left out") && notes.contains("line 11: expected a class"),
        "{notes}"
    );
    let refused = |import: &OpenImagesImport| import_openimages(import, &place.path("no")).unwrap_err().to_string();
    let strict = refused(&OpenImagesImport { strict: true, ..wanted.clone() });
    assert!(strict.contains("expected rows of verified labels that can be used, got 2 that cannot"), "{strict}");
    let closed = OpenImagesImport { image_labels: vec![place.path("x.csv")], ..import(&place) };
    assert!(refused(&closed).ends_with("hint: add `--open-world`"));
    std::fs::remove_file(place.path("oi/train-annotations-human-imagelabels-boxable.csv")).unwrap();
    assert!(refused(&wanted).contains("expected `train-annotations-human-imagelabels-boxable.csv` in `"));
}

#[test]
fn files_can_be_named_one_by_one() {
    let place = place(&[("train", TRAIN)]);
    let folder = |name: &str| place.path("oi").join(name);
    std::fs::rename(folder("train-annotations-bbox.csv"), place.path("boxes.csv")).unwrap();
    std::fs::rename(folder("class-descriptions-boxable.csv"), place.path("names.csv")).unwrap();
    std::fs::rename(folder("bbox_labels_600_hierarchy.json"), place.path("tree.json")).unwrap();
    std::fs::rename(folder("train"), place.path("photos")).unwrap();
    let named = OpenImagesImport {
        boxes: vec![BoxFile { split: Some("train".to_owned()), path: place.path("boxes.csv") }],
        classes: Some(place.path("names.csv")),
        hierarchy: Some(place.path("tree.json")),
        images: Some(place.path("photos")),
        ..OpenImagesImport::default()
    };
    let imported = import_openimages(&named, &place.path("ds")).unwrap();
    assert_eq!(imported.dataset.table().media.as_ref().unwrap()[0], "t1.jpg");
    let missing = |import: OpenImagesImport| import_openimages(&import, &place.path("no")).unwrap_err().to_string();
    assert!(missing(OpenImagesImport { images: None, ..named.clone() }).contains("or `--images`, got neither"));
    let oi = Some(place.path("oi"));
    let error = missing(OpenImagesImport { folder: oi.clone(), classes: None, ..named.clone() });
    assert!(
        error.contains("expected `class-descriptions-boxable.csv` in `") && error.contains("with `--classes`"),
        "{error}"
    );
    let error = missing(OpenImagesImport { folder: oi, boxes: Vec::new(), ..named.clone() });
    assert!(error.contains("expected `<split>-annotations-bbox.csv` in `"), "{error}");
    assert!(
        error.contains("hint: such as `validation-annotations-bbox.csv`: give the folder that holds it"),
        "{error}"
    );
    let boxes = vec![BoxFile { split: None, path: place.path("boxes.csv") }];
    assert!(missing(OpenImagesImport { boxes, ..named }).contains("hint: say which it is: `--boxes train="));
    let both = self::place(&[("train", TRAIN), ("oidv6-train", TRAIN)]);
    let error = import_openimages(&import(&both), &both.path("ds")).unwrap_err().to_string();
    assert!(error.contains("got both `oidv6-train-annotations-bbox.csv` and `train-annotations-bbox.csv`"), "{error}");
    both.assert_no_dataset();
}

/// Rows that cannot be used, by what is said of them.
#[test]
fn bad_rows_are_left_out_and_listed() {
    let place = place(&[("train", TRAIN)]);
    let rows = "a,x,/m/car,1,0.1,0.2,0.1,0.2\na,x,/m/car,1,0.1,0.2,0.1,0.2\nb,x,/m/car,1,0.2,0.1,0.1,0.2\n\
        c,x,/m/car,1,-0.1,0.2,0.1,0.2\nd,x,/m/car,1,0.1,1.2,0.1,0.2\ne,x,/m/car,1,0.1,0.2,nan,0.2\nf,x,/m/car,1,0.1,0.2\n\
        ,x,/m/car,1,0.1,0.2,0.1,0.2\ng,x,/m/ship,1,0.1,0.2,0.1,0.2\nh,x,/m/ship,1,0.1,0.2,0.1,0.2\ni,x,/m/root,1,0,1,0,1\n\
        j,x,/m/car,1,0.1,0.2,0.3,0.3\nk,x,/m/car,1,0,1,0,1\n";
    let boxes = place.write("oi/train-annotations-bbox.csv", format!("{}\n{rows}", &HEADER[..55]));
    ["a", "b", "k"].iter().for_each(|id| _ = place.write(&format!("oi/train/{id}.jpg"), PNG));
    let imported = import_openimages(&import(&place), &place.path("ds")).unwrap();
    assert_eq!(imported.dataset.table().ids, ["a", "k"]);
    let notes = told(&imported.notes);
    let range = "expected 0 <= XMin < XMax <= 1 and 0 <= YMin < YMax <= 1, got";
    for expected in [
        "3 rows of boxes were left out, since their classes have no name: /m/root: 1, /m/ship: 2",
        "7 rows of boxes were left out, since they cannot be used",
        &format!("train-annotations-bbox.csv, line 4: {range} 0.2, 0.1, 0.1, 0.2"),
        &format!("line 7: {range} 0.1, 0.2, nan, 0.2"),
        &format!("line 8: {range} 0.1, 0.2, , "),
        "line 9: expected an ImageID, got ``",
        &format!("line 13: {range} 0.1, 0.2, 0.3, 0.3"),
        "1 row of boxes came before, with the same class and place: train-annotations-bbox.csv, line 3",
        "9 pictures without a box that can be used are no samples: b, t1, ",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
    let refused = |import: &OpenImagesImport| import_openimages(import, &place.path("no")).unwrap_err().to_string();
    let strict = refused(&OpenImagesImport { strict: true, ..import(&place) });
    assert!(
        strict.contains("expected 13 rows of boxes in `") && strict.contains("got 3 that cannot: /m/root: 1"),
        "{strict}"
    );
    // Missing pictures are counted, or refused.
    std::fs::remove_file(place.path("oi/train/k.jpg")).unwrap();
    let notes = told(&import_openimages(&import(&place), &place.path("fewer")).unwrap().notes);
    assert!(notes.contains("1 medium that is not there: train/k.jpg"), "{notes}");
    std::fs::remove_file(place.path("oi/train/a.jpg")).unwrap();
    let none = refused(&import(&place));
    assert!(
        none.contains("got nothing at 2 of 2 paths") && none.contains("hint: pictures are `<split>/<ImageID>.jpg`"),
        "{none}"
    );
    // Nothing that can be used, and columns that are not there.
    place.write("oi/train-annotations-bbox.csv", format!("{HEADER}\na,x,/m/ship,1,0,1,0,1\n"));
    assert!(refused(&import(&place)).contains("got 1 that cannot: /m/ship: 1"));
    place.write("oi/train-annotations-bbox.csv", HEADER);
    assert!(refused(&import(&place)).contains("expected samples in `"));
    std::fs::write(&boxes, "ImageID,LabelName,XMin\n").unwrap();
    assert!(refused(&import(&place)).contains("expected a column `XMax` in the first line of `"));
    assert!(refused(&OpenImagesImport { top: 0, ..import(&place) }).contains("got `--top 0`"));
}

#[test]
fn a_picture_in_two_splits_is_a_leak() {
    let place = place(&[("train", TRAIN), ("validation", &[("t2", "car")])]);
    let error = import_openimages(&import(&place), &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("expected a picture in one split, got `t2` of `train` again in `"), "{error}");
    place.assert_no_dataset();
}

#[test]
fn classes_that_cannot_be_right_are_named() {
    let place = place(&[("train", TRAIN)]);
    let refused = |names: &str, tree: &str| {
        place.write("oi/class-descriptions-boxable.csv", names);
        place.write("oi/bbox_labels_600_hierarchy.json", tree);
        import_openimages(&import(&place), &place.path("ds")).unwrap_err().to_string()
    };
    let branch = |label: &str, below: &str| format!(r#"{{"LabelName": "{label}", "Subcategory": [{below}]}}"#);
    let circle = branch("/m/root", &branch("/m/car", &branch("/m/taxi", &branch("/m/car", ""))));
    for (names, tree, expected) in [
        (NAMES, circle.as_str(), "expected no class above itself in `"),
        (NAMES, circle.as_str(), "got Car below Taxi below Car"),
        (NAMES, r#"{"LabelName": "/m/wheel", "Part": [{"LabelName": "/m/wheel"}]}"#, "got Wheel below Wheel"),
        (NAMES, "{", "cannot read `"),
        (NAMES, r#"{"Subcategory": []}"#, "missing field `LabelName`"),
        (NAMES, r#"{"LabelName": "Car"}"#, "expected ids of classes in `"),
        ("/m/car,Car\n/m/car,Taxi\n", TREE, "on line 2 of `"),
        ("/m/car,Car\n/m/car,Taxi\n", TREE, "got `/m/car` again, as on line 1"),
        ("/m/car\n", TREE, "expected an id and a name on line 1"),
        ("/m/car,Car,Auto\n", TREE, "got `/m/car,Car,Auto`"),
        ("", TREE, "expected names of classes in `"),
        ("/m/car,id\n", TREE, "a name that is not reserved"),
    ] {
        let error = refused(names, tree);
        assert!(error.contains(expected), "{expected}\n{error}");
        place.assert_no_dataset();
    }
    // What can be lived with is told.
    let names =
        format!("LabelName,DisplayName\n{NAMES}/m/crane1,Crane\n/m/crane2,Crane\n").replace("/m/taxi,Taxi\n", "");
    place.write("oi/class-descriptions-boxable.csv", names);
    place.write("oi/bbox_labels_600_hierarchy.json", TREE);
    place
        .write("oi/train-annotations-bbox.csv", format!("{HEADER}\nt1,x,/m/crane2,1,0,1,0,1\nt2,x,/m/car,1,0,1,0,1\n"));
    let imported = import_openimages(&OpenImagesImport { top: 2, ..import(&place) }, &place.path("ds")).unwrap();
    assert_eq!(imported.dataset.table().concepts, ["Car", "Crane (/m/crane2)"]);
    let notes = told(&imported.notes);
    for expected in [
        "2 classes share a name: their ids are added to it: Crane (/m/crane1), Crane (/m/crane2)",
        "1 class of the hierarchy has no name: rows that show it cannot be used: /m/taxi",
        "2 classes have no place in the hierarchy",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
}

/// The files of Open Images that are at hand; tests say that they skip without.
fn real() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "where real files lie is said by the environment")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|folder| Path::new(&folder).join("openimages"));
    let folder = folder.filter(|folder| folder.join("validation-annotations-bbox.csv").exists());
    if folder.is_none() {
        println!("skipped: no Open Images files under CHIMERA_DATA");
    }
    folder
}

/// Counts by pandas, from validation-annotations-bbox.csv as `b`:
///
///     len(b), b.ImageID.nunique()                                                    905, 239
///     b.drop_duplicates(["ImageID", "LabelName"]).LabelName.value_counts()           as below, of all pictures
#[test]
fn real_boxes_have_the_counts_of_pandas() {
    let Some(folder) = real() else { return };
    let place = Place::new();
    let real = OpenImagesImport { folder: Some(folder), strict: true, ..OpenImagesImport::default() };
    let imported = import_openimages(&real, &place.path("ds")).unwrap();
    let table = imported.dataset.table();
    assert_eq!(table.ids.len(), 239);
    let count = |column: usize| (table.concepts[column].as_str(), table.labels.counts(column).holds);
    let counts: BTreeMap<&str, u64> = (0..table.concepts.len()).map(count).collect();
    let expected = BTreeMap::from([("Person", 88), ("Boat", 56), ("Apple", 45), ("Bicycle", 45), ("Bird", 40)]);
    assert_eq!(counts, expected, "none of the five is above another, so closure adds nothing");
    let notes = told(&imported.notes);
    // 240 photos lie there: [f[:-4] for f in os.listdir("validation") if f[:-4] not in set(b.ImageID)] has one.
    assert!(notes.contains("1 picture without a box that can be used is no sample"), "{notes}");
    assert!(notes.contains("190 classes stand at several places of the hierarchy"), "{notes}");
    assert!(notes.contains("train pictures show 5 classes, which all became concepts"), "{notes}");
    let test = imported.dataset.splits().iter().filter(|split| **split == Split::Test).count();
    assert_eq!(test, 24, "a tenth of 239");
    assert!(table.oov_ancestors.as_ref().unwrap().iter().all(Vec::is_empty), "no class of the file is above another");
}

/// Counts by a plain walk over the JSON in Python: 601 names and the nameless root; 647 different pairs of a class and its
/// `Subcategory`, 38 of one and its `Part`, 1,521 pairs of a class and one above it by `Subcategory` alone.
#[test]
fn every_class_of_the_real_hierarchy_reaches_the_root() {
    let Some(folder) = real() else { return };
    let place = Place::new();
    let real = OpenImagesImport { folder: Some(folder), ..OpenImagesImport::default() };
    import_openimages(&real, &place.path("ds")).unwrap();
    let hierarchy = Hierarchy::read(&place.path("ds")).unwrap();
    let (classes, ancestors) = (hierarchy.classes(), hierarchy.ancestors());
    let root = hierarchy.number("/m/0bl9f").unwrap();
    assert_eq!(classes.len(), 602);
    assert!((0..classes.len()).all(|class| class == root || ancestors[class].contains(&root)));
    assert_eq!(classes.iter().map(|class| class.is_a.len()).sum::<usize>(), 647);
    assert_eq!(classes.iter().map(|class| class.part_of.len()).sum::<usize>(), 38);
    assert_eq!(ancestors.iter().map(BTreeSet::len).sum::<usize>(), 1521);
    // Ancestors of ancestors are ancestors: nothing is added by going up again.
    assert!(ancestors.iter().all(|above| above.iter().all(|&class| ancestors[class].is_subset(above))));
    let names = |class: &str| -> BTreeSet<&str> {
        let above = &ancestors[hierarchy.number(class).unwrap()];
        above.iter().map(|&class| classes[class].name.as_str()).collect()
    };
    assert_eq!(names("Tank"), BTreeSet::from(["Weapon", "Land vehicle", "Vehicle", "/m/0bl9f"]));
    assert_eq!(names("Human hand"), BTreeSet::from(["/m/0bl9f"]), "a hand is a part of a body, not a kind of it");
}

#[test]
fn hidden_files_quotes_and_clashing_names_do_no_harm() {
    let place = place(&[("train", TRAIN), ("validation", &[("v1", "taxi")])]);
    // What macOS leaves beside files on some disks.
    place.write("oi/._train-annotations-bbox.csv", "\u{1}\u{2}");
    // A stray quote spoils its own row and none after it.
    let rows = "q1,\"xclick,/m/nothing,1,0.1,0.9,0.1,0.9,0,0,0,0,0\nq2,xclick,/m/car,1,0.1,0.9,0.1,0.9,0,0,0,0,0\n";
    place.write("oi/test-annotations-bbox.csv", format!("{HEADER}\n{rows}"));
    place.write("oi/test/q2.jpg", PNG);
    let imported = import_openimages(&import(&place), &place.path("ds")).unwrap();
    assert_eq!(row(&imported.dataset, "q2")["Car"], '1');
    // `/m/1` and `/m/2` share a name and get their ids; `/m/3` has the name that comes of that.
    place.write("oi/class-descriptions-boxable.csv", format!("{NAMES}/m/1,Crane\n/m/2,Crane\n/m/3,Crane (/m/1)\n"));
    let error = import_openimages(&import(&place), &place.path("other")).unwrap_err().to_string();
    assert!(error.contains("expected one class called `Crane (/m/1)`") && error.contains("give `/m/3`"), "{error}");
}

#[test]
fn a_split_that_is_for_results_alone_is_not_learned_from() {
    let place = place(&[("test", TRAIN)]);
    let error = import_openimages(&import(&place), &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("got those of test alone\nhint: to deal all pictures anew"), "{error}");
}

#[test]
fn words_for_a_split_are_one_and_lead_to_its_pictures() {
    let place = place(&[("train", TRAIN), ("validation", &[("v1", "car"), ("v2", "person")])]);
    let named = |text: &str| BoxFile::parse(&text.replace("DIR", place.path("oi").to_str().unwrap()));
    let (train, val) = ("DIR/train-annotations-bbox.csv", "DIR/validation-annotations-bbox.csv");
    // The folder `validation` is found although its split was called otherwise.
    let boxes = vec![named(train), named(&format!("val={val}"))];
    let imported = import_openimages(&OpenImagesImport { boxes, ..import(&place) }, &place.path("a")).unwrap();
    let dataset = &imported.dataset;
    assert!((0..dataset.table().ids.len()).all(|row| dataset.media_path(row).unwrap().is_file()));
    assert!(told(&imported.notes).contains("2 rows of the split `validation` count as test"));
    // `train` and `training` are one split: pictures may be in both files, and there is but one split to deal.
    place.write("oi/more.csv", format!("{HEADER}\nt1,x,/m/person,1,0,1,0,1,0,0,0,0,0\n"));
    let boxes = vec![named(train), named("training=DIR/more.csv")];
    let imported = import_openimages(&OpenImagesImport { boxes, ..import(&place) }, &place.path("b")).unwrap();
    assert!(told(&imported.notes).contains("pictures of one split alone are dealt"), "{:?}", imported.notes);
    assert_eq!(row(&imported.dataset, "t1")["Person"], '1');
    // `testing` is as little to learn from as `test`, and a word that is no split is not taken for a file.
    let refused = |text: &str| {
        let import = OpenImagesImport { boxes: vec![named(text)], ..import(&place) };
        import_openimages(&import, &place.path("ds")).unwrap_err().to_string()
    };
    assert!(refused(&format!("testing={val}")).contains("got those of test alone"));
    let error = refused(&format!("foo={val}"));
    assert!(error.contains("before `=` in `--boxes foo=") && error.contains("got `foo`"), "{error}");
    place.assert_no_dataset();
}
