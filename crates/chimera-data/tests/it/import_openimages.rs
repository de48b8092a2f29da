//! Import of Open Images: which classes are concepts, splits, and an open world.

use std::collections::{BTreeMap, BTreeSet};

use chimera_data::dataset::Dataset;
use chimera_data::dataset::hierarchy::Hierarchy;
use chimera_data::import::*;
use chimera_data::split::Split;

use crate::support::import_place::{PNG, Place, told};

pub(crate) const HEADER: &str =
    "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside";

/// Vehicle > Land vehicle > (Car > Taxi, Bicycle with the part Wheel); Bicycle also stands under Toy.
pub(crate) const TREE: &str = r#"{"LabelName": "/m/root", "Subcategory": [
  {"LabelName": "/m/vehicle", "Subcategory": [{"LabelName": "/m/land", "Subcategory": [
    {"LabelName": "/m/car", "Subcategory": [{"LabelName": "/m/taxi"}]},
    {"LabelName": "/m/bicycle", "Part": [{"LabelName": "/m/wheel"}]}]}]},
  {"LabelName": "/m/toy", "Subcategory": [{"LabelName": "/m/bicycle", "Part": [{"LabelName": "/m/wheel"}]}]},
  {"LabelName": "/m/wheel"}, {"LabelName": "/m/person"}]}"#;

pub(crate) const NAMES: &str = "/m/vehicle,Vehicle\n/m/land,Land vehicle\n/m/car,Car\n/m/taxi,Taxi\n/m/bicycle,Bicycle\n/m/toy,Toy\n\
    /m/wheel,Wheel\n/m/person,Person\n";

/// A folder with the files and a picture for each row of boxes, by split.
pub(crate) fn place(boxes: &[(&str, &[(&str, &str)])]) -> Place {
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

pub(crate) fn import(place: &Place) -> OpenImagesImport {
    OpenImagesImport { folder: Some(place.path("oi")), ..OpenImagesImport::default() }
}

/// A row of labels by the names of concepts: 1, 0, and ? where unknown.
pub(crate) fn row(dataset: &Dataset, id: &str) -> BTreeMap<String, char> {
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

pub(crate) const TRAIN: &[(&str, &str)] = &[
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
    let lacking = "2 pictures show kinds of concepts that are no concepts themselves (2 in test): labels do not have what is above";
    assert!(notes.contains(lacking), "{notes}");
    assert!(notes.contains("those that rules name: Taxi, a kind of Car, Land vehicle, Vehicle: 2"), "{notes}");
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

/// What rules name is a concept however rare it is; what has no name is a mistake.
#[test]
fn classes_of_rules_are_concepts() {
    let place = place(&[("train", TRAIN), ("validation", &[("v1", "taxi"), ("v2", "wheel")])]);
    let with = |names: &[&str], out: &str| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        let rules = Some(RuleConcepts { file: "my.rules".into(), names });
        import_openimages(&OpenImagesImport { rules, top: 2, ..import(&place) }, &place.path(out))
    };
    // Cars are a concept already; taxis are on a test picture alone, toys on none but as bicycles, which are no concept.
    let imported = with(&["Taxi", "Car", "Toy"], "ds").unwrap();
    let dataset = &imported.dataset;
    assert_eq!(dataset.table().concepts, ["Car", "Land vehicle", "Taxi", "Toy"]);
    let labels = |id: &str| row(dataset, id).into_values().collect::<String>();
    // By name: Car, Land vehicle, Taxi, Toy. A taxi is a car now that it is a concept.
    assert_eq!(["t1", "t3", "t7", "v1", "v2"].map(labels), ["1100", "0100", "0000", "1110", "0000"]);
    assert_eq!((ancestors(dataset, "v1"), ancestors(dataset, "t7").len()), (Vec::new(), 2));
    assert!(told(&imported.notes).contains("1 concept holds in no sample: Toy"), "{:?}", imported.notes);
    assert_eq!(dataset.manifest().provenance.options["rules"], "Taxi,Car,Toy");
    for (name, expected) in [
        ("Taxy", "in the rules of `my.rules`, got `Taxy`\nhint: did you mean `Taxi`?"),
        ("/m/root", "expected classes of `"),
    ] {
        let error = with(&[name], "no").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
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
