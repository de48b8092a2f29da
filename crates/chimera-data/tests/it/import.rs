//! Importers: small files of each kind, good and bad, and the real MNIST where `CHIMERA_DATA` names it.

use std::fs;
use std::io::Write;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::manifest::Kind;
use chimera_data::dataset::summary::summarise;
use chimera_data::import::*;
use chimera_data::split::Split;
use chimera_data::table::{CellRule, ColumnNames, TableOptions};

use crate::support::import_place::{PNG, Place, told};

fn sizes(dataset: &Dataset) -> [usize; 4] {
    Split::ALL.map(|split| dataset.splits().iter().filter(|other| **other == split).count())
}

#[test]
fn tables_become_datasets() {
    let place = Place::new();
    let table = place.write("t.csv", "id,split,red,blue\na,Train,1,0\nb,val,,1\nc,train,0,0\n");
    let imported =
        import_table(&TableImport { table: table.clone(), ..TableImport::default() }, &place.path("ds")).unwrap();
    assert_eq!(told(&imported.notes), "1 row of the split `val` counts as test: nothing is fitted on it: ");
    let dataset = Dataset::open(&place.path("ds")).unwrap();
    assert_eq!((dataset.manifest().kind, dataset.manifest().name.as_str()), (Kind::Labels, "ds"));
    assert_eq!(sizes(&dataset), [1, 1, 1, 0]);
    assert_eq!(dataset.splits()[1], Split::Test);
    let provenance = &dataset.manifest().provenance;
    assert_eq!((provenance.importer.as_str(), provenance.sources[0].file.as_str()), ("table", "t.csv"));
    assert_eq!(provenance.sources[0].blake3, blake3::hash(&fs::read(table).unwrap()).to_hex().to_string());

    let table = place.write("s.csv", "name,red,blue,note\na,1,0,x\nb,-1,0,y\n");
    let names = ColumnNames { id: "name".to_owned(), ..ColumnNames::default() };
    let reading = TableOptions { cells: CellRule::Signed, names, ignored: vec!["note".to_owned()] };
    let import = TableImport { table, reading, ..TableImport::default() };
    let dataset = import_table(&import, &place.path("signed")).unwrap().dataset;
    let cells: Vec<_> = (0..2).flat_map(|row| [0, 1].map(|column| dataset.table().labels.get(row, column))).collect();
    assert_eq!(cells, [Some(true), None, Some(false), None]);
    let options: Vec<(&str, &str)> =
        dataset.manifest().provenance.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    // The source said nothing about splits, so these shares were applied.
    let expected = [("id-column", "name"), ("ignore", "note"), ("split", "train=0.8,test=0.2"), ("unknown", "0")];
    assert_eq!(options, expected);
}

#[test]
fn splits_by_shares_keep_groups_and_limits_keep_shares() {
    let place = Place::new();
    let rows: String = (0..1000).map(|row| format!("s{row},p{},{}\n", row / 4, row % 2)).collect();
    let table = place.write("t.csv", format!("id,patient,red\n{rows}"));
    let names = ColumnNames { group: "patient".to_owned(), ..ColumnNames::default() };
    let reading = TableOptions { names, ..TableOptions::default() };
    let mut import = TableImport { table, reading, ..TableImport::default() };
    let imported = import_table(&import, &place.path("a")).unwrap();
    // Four fifths to train, of which a tenth to calibration, four rows a group.
    assert_eq!(sizes(&imported.dataset), [720, 80, 200, 0]);
    assert!(imported.notes[0].message.contains("train=0.8,test=0.2"), "{:?}", imported.notes);
    import.options.split = SplitRule::Shares(vec![(Split::Train, 0.5), (Split::Calibration, 0.2), (Split::Test, 0.3)]);
    assert_eq!(sizes(&import_table(&import, &place.path("b")).unwrap().dataset), [500, 200, 300, 0]);
    import.options.limit = Some(100);
    let limited = import_table(&import, &place.path("c")).unwrap().dataset;
    assert_eq!(sizes(&limited), [50, 20, 30, 0]);
    assert_eq!(limited.table().groups.as_ref().unwrap().len(), 100);
    let ids = |name: &str| Dataset::open(&place.path(name)).unwrap().table().ids.clone();
    import_table(&import, &place.path("d")).unwrap();
    assert_eq!(ids("c"), ids("d"));
    import.options.seed = 7;
    import_table(&import, &place.path("e")).unwrap();
    assert_ne!(ids("c"), ids("e"));
    for (shares, expected) in [
        (vec![(Split::Train, 0.0)], "got train=0"),
        (vec![(Split::Train, f64::NAN)], "got train=NaN"),
        (vec![(Split::Train, 0.5), (Split::Train, 0.5)], "`train` twice"),
        (vec![], "got none"),
        (vec![(Split::Train, 8.0), (Split::Test, 2.0)], "sum to 1, got train=8,test=2, which sum to 10"),
        (vec![(Split::Train, 0.7), (Split::Test, 0.299)], "sum to 1"),
        (vec![(Split::Test, 1.0)], "expected a share of train to learn from, got test=1"),
    ] {
        import.options.split = SplitRule::Shares(shares);
        let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let table = place.write("one.csv", "id,group,red\na,g,1\nb,g,0\n");
    let mut import = TableImport { table, ..TableImport::default() };
    let alone = import_table(&import, &place.path("alone")).unwrap();
    assert_eq!(sizes(&alone.dataset), [2, 0, 0, 0]);
    assert!(alone.notes[1].message.contains("too few samples or groups for the split `test`"), "{:?}", alone.notes);
    import.options.split = SplitRule::Shares(vec![(Split::Train, 0.5), (Split::Test, 0.5)]);
    let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
    assert!(error.starts_with("expected rows for the split `test`"), "{error}");
    place.assert_no_dataset();
}

#[test]
fn media_are_found_counted_and_kept_inside_their_root() {
    let place = Place::new();
    for name in ["a.png", "sub/b.jpg"] {
        place.write(&format!("media/{name}"), PNG);
    }
    let absolute = place.path("media/a.png");
    let text = format!(
        "id,media,split,red\na,{},train,1\nb,sub/b.jpg,train,0\nc,gone.png,test,0\nd,,test,1\n",
        absolute.display()
    );
    let table = place.write("t.csv", &text);
    let mut import = TableImport { table, media_root: Some(place.path("media")), ..TableImport::default() };
    let imported = import_table(&import, &place.path("ok")).unwrap();
    let told: Vec<(usize, &[String])> = imported.notes.iter().map(|note| (note.count, &note.listed[..])).collect();
    assert_eq!(told, [(1, &["gone.png".to_owned()][..]), (1, &["d".to_owned()][..])]);
    let dataset = Dataset::open(&place.path("ok")).unwrap();
    assert_eq!((dataset.manifest().kind, dataset.manifest().media_root.as_deref()), (Kind::Image, Some("../media")));
    assert!(dataset.media_path(0).unwrap().exists() && dataset.media_path(1).unwrap().exists());
    // Dataset and media can be moved together.
    let moved = Place::new();
    fs::rename(place.path("ok"), moved.path("ok")).unwrap();
    fs::rename(place.path("media"), moved.path("media")).unwrap();
    assert!(Dataset::open(&moved.path("ok")).unwrap().media_path(0).unwrap().exists());
    fs::rename(moved.path("media"), place.path("media")).unwrap();

    import.strict = true;
    let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("got nothing at 1 of 3 paths, `gone.png` the first"), "{error}");
    import.strict = false;
    import.media_root = Some(place.path("nowhere"));
    assert!(import_table(&import, &place.path("ds")).unwrap_err().to_string().contains("no such file or folder"));
    place.write("empty/x", "");
    import.table = place.write("far.csv", "id,media,red\na,a.png,1\n");
    import.media_root = Some(place.path("empty"));
    let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("check `--media-root`"), "{error}");
    for (text, expected) in [
        ("id,red\na,1\n", "expected a column `media`"),
        ("id,media,red\na,a.png,1\nb,a.mp4,0\n", "got both: `a.png` and `a.mp4`"),
        ("id,media,red\na,a.png,1\nb,../t.csv,0\n", "expected a path inside the media root, got `../t.csv`"),
    ] {
        place.write("media/a.mp4", "\0\0\0\x20ftypisom");
        let (table, media_root) = (place.write("bad.csv", text), Some(place.path("media")));
        let import = TableImport { table, media_root, ..TableImport::default() };
        let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    place.assert_no_dataset();
}

#[test]
fn bad_tables_and_folders_leave_nothing() {
    let place = Place::new();
    for (text, expected) in [
        ("id,red\na,yes\n", "got `yes`"),
        (
            "id,split,red\na,train,1\nb,,1\n",
            "line 3: expected a split (train, calibration, test or oracle; val is test), got an empty cell",
        ),
        ("id,split,group,red\na,train,g,1\nb,test,g,1\n", "expected group `g` in one split"),
        ("id,red\n", "expected samples in"),
    ] {
        let table = place.write("bad.csv", text);
        let error = import_table(&TableImport { table, ..TableImport::default() }, &place.path("ds")).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    place.assert_no_dataset();
    let table = place.write("t.csv", "id,split,red\na,train,1\nb,train,0\n");
    let import = TableImport { table, ..TableImport::default() };
    import_table(&import, &place.path("twice")).unwrap();
    let error = import_table(&import, &place.path("twice")).unwrap_err().to_string();
    assert!(error.starts_with("expected an empty or new folder"), "{error}");
}

fn idx(shape: &[u32], data: &[u8]) -> Vec<u8> {
    let lengths = shape.iter().flat_map(|length| length.to_be_bytes());
    [0, 0, 8, shape.len() as u8].into_iter().chain(lengths).chain(data.iter().copied()).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Twenty training pictures of 3 by 2 and four test pictures, whose pixels tell their number.
fn write_mnist(place: &Place) {
    let pixels = |count: u8| -> Vec<u8> {
        (0..count).flat_map(|picture| (0..6).map(move |pixel| picture * 10 + pixel)).collect()
    };
    let digits = |count: u8| -> Vec<u8> { (0..count).map(|picture| picture % 10).collect() };
    place.write("mnist/train-images-idx3-ubyte.gz", gzip(&idx(&[20, 2, 3], &pixels(20))));
    place.write("mnist/train-labels-idx1-ubyte", idx(&[20], &digits(20)));
    place.write("mnist/t10k-images.idx3-ubyte", idx(&[4, 2, 3], &pixels(4)));
    place.write("mnist/t10k-labels-idx1-ubyte.gz", gzip(&idx(&[4], &digits(4))));
}

#[test]
fn mnist_becomes_pictures_and_digits() {
    let place = Place::new();
    write_mnist(&place);
    let import = MnistImport { folder: place.path("mnist"), options: ImportOptions::default() };
    let dataset = import_mnist(&import, &place.path("ds")).unwrap().dataset;
    assert_eq!(sizes(&dataset), [18, 2, 4, 0]);
    assert_eq!(dataset.manifest().size, Some([3, 2]));
    assert_eq!(dataset.table().concepts[7], "digit_7");
    let row = dataset.table().ids.iter().position(|id| id == "train-00013").unwrap();
    let shown: Vec<usize> = (0..10).filter(|&digit| dataset.table().labels.get(row, digit) == Some(true)).collect();
    assert_eq!(shown, [3]);
    let picture = image::open(dataset.media_path(row).unwrap()).unwrap();
    assert_eq!((picture.width(), picture.height()), (3, 2));
    assert_eq!(picture.into_luma8().into_raw(), [130, 131, 132, 133, 134, 135]);
    let mut small = import.clone();
    small.options.limit = Some(12);
    let dataset = import_mnist(&small, &place.path("small")).unwrap().dataset;
    assert_eq!(sizes(&dataset), [9, 1, 2, 0]);
    assert!((0..12).all(|row| dataset.media_path(row).unwrap().exists()));
}

#[test]
fn bad_idx_files_are_named() {
    let place = Place::new();
    let bad = |name: &str, bytes: &[u8], expected: &str| {
        write_mnist(&place);
        place.write(name, bytes);
        let import = MnistImport { folder: place.path("mnist"), options: ImportOptions::default() };
        let error = import_mnist(&import, &place.path("ds")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        place.assert_no_dataset();
    };
    bad("mnist/train-labels-idx1-ubyte", &idx(&[19], &[0; 19]), "expected 20 labels");
    bad("mnist/train-labels-idx1-ubyte", &idx(&[20], &[10; 20]), "expected digits in");
    bad("mnist/train-labels-idx1-ubyte", &idx(&[20], &[0; 19]), "expected the bytes of [20], got 19 bytes");
    bad("mnist/train-labels-idx1-ubyte", &idx(&[20, 1, 1], &[0; 20]), "expected bytes in 1 dimensions");
    bad("mnist/train-labels-idx1-ubyte", b"", "too short");
    bad("mnist/train-labels-idx1-ubyte", &idx(&[u32::MAX], &[]), "expected the bytes of [4294967295], got 0 bytes");
    bad("mnist/train-images-idx3-ubyte", &idx(&[20, 3, 3], &[0; 180]), "differ in size");
    fs::remove_file(place.path("mnist/train-images-idx3-ubyte")).unwrap();
    bad("mnist/train-images-idx3-ubyte.gz", &gzip(&[0; 100])[..20], "train-images-idx3-ubyte.gz");
    bad("mnist/train-images-idx3-ubyte.gz", &gzip(&idx(&[u32::MAX; 3], &[])), "beyond all memory");
    bad("mnist/train-images-idx3-ubyte.gz", &gzip(&idx(&[60_000, 999, 28], &[])), "compressed ones can hold");
    let nothing = || gzip(&idx(&[20, 0, 3], &[]));
    place.write("mnist/t10k-images.idx3-ubyte", idx(&[4, 0, 3], &[]));
    place.write("mnist/train-images-idx3-ubyte.gz", nothing());
    let import = MnistImport { folder: place.path("mnist"), options: ImportOptions::default() };
    let error = import_mnist(&import, &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("got sides of 3 and 0"), "{error}");
    let import = MnistImport { folder: place.path("nowhere"), options: ImportOptions::default() };
    assert!(import_mnist(&import, &place.path("ds")).unwrap_err().to_string().starts_with("expected `train-images"));
}

#[test]
fn the_real_mnist() {
    #[expect(clippy::disallowed_methods, reason = "real data is where the user says, and only tests look for it")]
    let folder = std::env::var_os("CHIMERA_DATA").map(|data| Path::new(&data).join("mnist"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        println!("skipped: CHIMERA_DATA does not name a folder with `mnist`");
        return;
    };
    let place = Place::new();
    let options = ImportOptions { limit: Some(700), ..ImportOptions::default() };
    let dataset = import_mnist(&MnistImport { folder, options }, &place.path("ds")).unwrap().dataset;
    // 600 of 60,000 to learn from, a tenth of them to calibrate with, 100 of 10,000 to test on.
    assert_eq!(sizes(&dataset), [540, 60, 100, 0]);
    assert!(
        (0..700).all(|row| (0..10).filter(|&digit| dataset.table().labels.get(row, digit) == Some(true)).count() == 1)
    );
    let summary = summarise(&dataset, 3).unwrap();
    assert!(summary.concepts.iter().all(|concept| concept.positives > 30), "{:?}", summary.concepts);
    assert!(summary.pairs.iter().all(|pair| pair.both == 0 && pair.phi < 0.0), "digits exclude each other");
}

#[test]
fn media_are_looked_at_before_anything_is_made_of_them() {
    let place = Place::new();
    place.write("media/a.png", PNG);
    place.write("media/empty.png", "");
    place.write("media/page.jpg", "<!DOCTYPE html>");
    fs::create_dir(place.path("media/folder.png")).unwrap();
    let names = ["a.png", "empty.png", "page.jpg", "folder.png", "gone.png"];
    let text = names.iter().fold("file,red\n".to_owned(), |text, name| text + &format!("{name},1\n"));
    let names = ColumnNames { id: "file".to_owned(), media: "file".to_owned(), ..ColumnNames::default() };
    let reading = TableOptions { names, ..TableOptions::default() };
    let (table, media_root) = (place.write("t.csv", text), Some(place.path("media")));
    let mut import = TableImport { table, media_root, reading, ..TableImport::default() };
    let imported = import_table(&import, &place.path("ok")).unwrap();
    let notes = told(&imported.notes);
    let unusable = "3 media that cannot be used (their samples stay, without them): empty.png: it is empty, page.jpg: it does not begin like a picture, \
                    folder.png: it is an empty folder";
    assert!(
        notes.contains(unusable)
            && notes.contains("1 medium that is not there (its sample stays, without it): gone.png"),
        "{notes}"
    );
    import.strict = true;
    let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("got nothing at 1 of 5 paths"), "{error}");
    place.write("media/gone.png", PNG);
    let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
    assert!(error.contains("got what cannot be used at 3 of 5 paths, `empty.png: it is empty` the first"), "{error}");
    place.assert_no_dataset();
}

#[test]
fn options_about_media_need_media() {
    let place = Place::new();
    place.write("media/a.png", PNG);
    let table = place.write("t.csv", "id,media,red\na,a.png,1\nb,a.png,0\n");
    let none = || TableImport { table: table.clone(), ..TableImport::default() };
    let said = [
        (TableImport { kind: Some(Kind::Video), ..none() }, "--kind"),
        (TableImport { frames: Some(8), ..none() }, "--frames"),
        (TableImport { size: Some([8, 8]), ..none() }, "--size"),
        (TableImport { strict: true, ..none() }, "--strict"),
    ];
    for (import, option) in said {
        let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
        assert!(error.starts_with(&format!("expected `--media-root` beside `{option}`, got none\nhint: ")), "{error}");
    }
    let media_root = Some(place.path("media"));
    let error = import_table(&TableImport { frames: Some(8), media_root, ..none() }, &place.path("ds")).unwrap_err();
    assert!(error.to_string().contains("expected videos in"), "{error}");
    place.assert_no_dataset();
}
