//! Import of Open Images from what is damaged, doubled or named twice: counted and listed, or refused.

use chimera_data::import::*;

use crate::import_openimages::{HEADER, NAMES, TRAIN, TREE, import, place, row};
use crate::support::import_place::{PNG, told};

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
        "3 rows of boxes were left out, since their classes have no name: train-annotations-bbox.csv, /m/root: 1, \
         without a name, train-annotations-bbox.csv, /m/ship: 2, without a name",
        "7 rows of boxes were left out, since they cannot be used",
        &format!("train-annotations-bbox.csv, line 4: {range} 0.2, 0.1, 0.1, 0.2"),
        &format!("line 7: {range} 0.1, 0.2, nan, 0.2"),
        &format!("line 8: {range} 0.1, 0.2, , "),
        "line 9: expected an ImageID, got ``",
        &format!("line 13: {range} 0.1, 0.2, 0.3, 0.3"),
        "1 row of boxes came before, with the same class and place: train-annotations-bbox.csv, line 3: it came before",
        "9 pictures without a box that can be used are no samples: b, t1, ",
    ] {
        assert!(notes.contains(expected), "{expected}\n{notes}");
    }
    let refused = |import: &OpenImagesImport| import_openimages(import, &place.path("no")).unwrap_err().to_string();
    let strict = refused(&OpenImagesImport { strict: true, ..import(&place) });
    assert!(
        strict.contains("expected 13 rows of boxes in `")
            && strict
                .contains("got 11 that cannot\n  train-annotations-bbox.csv, /m/root: 1, without a name\n  train-"),
        "{strict}"
    );
    // All that was found, in one go.
    assert_eq!(
        strict.lines().filter(|line| line.starts_with("  train-annotations-bbox.csv, ")).count(),
        10,
        "{strict}"
    );
    // Missing pictures are counted, or refused.
    std::fs::remove_file(place.path("oi/train/k.jpg")).unwrap();
    let notes = told(&import_openimages(&import(&place), &place.path("fewer")).unwrap().notes);
    assert!(notes.contains("1 medium that is not there (its sample stays, without it): train/k.jpg"), "{notes}");
    std::fs::remove_file(place.path("oi/train/a.jpg")).unwrap();
    let none = refused(&import(&place));
    assert!(
        none.contains("got nothing at 2 of 2 paths") && none.contains("hint: pictures are `<split>/<ImageID>.jpg`"),
        "{none}"
    );
    // Nothing that can be used, and columns that are not there.
    place.write("oi/train-annotations-bbox.csv", format!("{HEADER}\na,x,/m/ship,1,0,1,0,1\n"));
    assert!(refused(&import(&place)).contains("got 1 that cannot: train-annotations-bbox.csv, /m/ship: 1"));
    place.write("oi/train-annotations-bbox.csv", HEADER);
    assert!(refused(&import(&place)).contains("expected samples in `"));
    std::fs::write(&boxes, "ImageID,LabelName,XMin\n").unwrap();
    assert!(refused(&import(&place)).contains("expected a column `XMax` in the first line of `"));
    assert!(refused(&OpenImagesImport { top: 0, ..import(&place) }).contains("got `--top 0`"));
}

/// Whatever is said of rows names the file that they are in, also where two are called alike.
#[test]
fn rows_of_several_files_are_told_apart() {
    let place = place(&[("train", TRAIN), ("validation", &[("v1", "car")])]);
    let row = |id: &str, class: &str| format!("{id},x,/m/{class},1,0,1,0,1,0,0,0,0,0\n");
    place.write("a/more.csv", format!("{HEADER}\n{}{}", row("t1", "car"), row("t1", "ship")));
    place.write("b/more.csv", format!("{HEADER}\n{}{}{}", row("v1", "ship"), row("v1", "boat"), row("v1", "car")));
    let named = |text: &str| BoxFile::parse(&text.replace("DIR", place.path("").to_str().unwrap()));
    let lone = vec![named("DIRoi/train-annotations-bbox.csv"), named("val=DIRb/more.csv")];
    let notes = told(
        &import_openimages(&OpenImagesImport { boxes: lone, ..import(&place) }, &place.path("lone")).unwrap().notes,
    );
    assert!(notes.contains("have no name: more.csv, /m/boat: 1, without a name, more.csv, /m/ship: 1"), "{notes}");
    let boxes = vec![named("train=DIRa/more.csv"), named("val=DIRb/more.csv")];
    let several = OpenImagesImport { boxes, ..import(&place) };
    let notes = told(&import_openimages(&several, &place.path("ds")).unwrap().notes);
    for expected in ["a/more.csv, /m/ship: 1", "b/more.csv, /m/boat: 1", "b/more.csv, /m/ship: 1"] {
        assert!(notes.contains(expected), "{notes}");
    }
    let strict =
        import_openimages(&OpenImagesImport { strict: true, ..several.clone() }, &place.path("no")).unwrap_err();
    let (strict, at) = (strict.to_string(), |name: &str| place.path(name).display().to_string());
    let expected = format!("expected 5 rows of boxes in `{}`, `{}` that can", at("a/more.csv"), at("b/more.csv"));
    assert!(strict.contains(&expected) && strict.contains("a/more.csv, /m/ship: 1"), "{strict}");
    // Rows that no file has are looked for in the folder of all of them.
    ["a", "b"].iter().for_each(|folder| drop(place.write(&format!("{folder}/more.csv"), HEADER)));
    let error = import_openimages(&several, &place.path("no")).unwrap_err().to_string();
    assert!(error.contains(&format!("expected samples in `{}`", at("").trim_end_matches('/'))), "{error}");
}

#[test]
fn a_picture_in_two_splits_is_a_leak() {
    let place = place(&[("train", TRAIN), ("validation", &[("t2", "car")])]);
    let error = import_openimages(&import(&place), &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("expected a picture in one split, got `t2` of `train` in `"), "{error}");
    assert!(error.contains("train-annotations-bbox.csv`, and of `validation` in `"), "{error}");
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
