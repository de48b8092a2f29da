//! Importers: small files of each kind, good and bad, and the real MNIST where `CHIMERA_DATA` names it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use chimera::data::dataset::Dataset;
use chimera::data::features::FeatureSource;
use chimera::data::import::*;
use chimera::data::manifest::Kind;
use chimera::data::split::Split;
use chimera::data::summary::summarise;
use chimera::data::table::{CellRule, ColumnNames, TableOptions};
use tempfile::TempDir;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), content).unwrap();
        self.path(name)
    }

    /// Nothing but what the test wrote: no dataset, no temporary folder.
    fn assert_no_dataset(&self) {
        let left = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<String> = left.filter(|name| name.starts_with(".chimera") || name == "ds").collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn sizes(dataset: &Dataset) -> [usize; 4] {
    Split::ALL.map(|split| dataset.splits().iter().filter(|other| **other == split).count())
}

#[test]
fn tables_become_datasets() {
    let place = Place::new();
    let table = place.write("t.csv", "id,split,red,blue\na,Train,1,0\nb,val,,1\nc,train,0,0\n");
    let imported =
        import_table(&TableImport { table: table.clone(), ..TableImport::default() }, &place.path("ds")).unwrap();
    assert_eq!(imported.notes, []);
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
    assert_eq!(dataset.manifest().provenance.options["unknown"], "0");
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
    import.options.split = SplitRule::Shares(vec![(Split::Train, 5.0), (Split::Calibration, 2.0), (Split::Test, 3.0)]);
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
    import.options.split = SplitRule::Shares(vec![(Split::Train, 1.0), (Split::Test, 1.0)]);
    let error = import_table(&import, &place.path("ds")).unwrap_err().to_string();
    assert!(error.starts_with("expected rows for the split `test`"), "{error}");
    place.assert_no_dataset();
}

#[test]
fn media_are_found_counted_and_kept_inside_their_root() {
    let place = Place::new();
    for name in ["a.png", "sub/b.jpg"] {
        place.write(&format!("media/{name}"), "x");
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
        place.write("media/a.mp4", "x");
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
            "row 2: expected a split (train, calibration, test or oracle; val is test), got an empty cell",
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

/// A `.npy` file of single floats.
fn npy(rows: usize, width: usize, values: &[f32]) -> Vec<u8> {
    npy_bytes(
        "<f4",
        &format!("({rows}, {width})"),
        &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>(),
    )
}

fn npy_bytes(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes(), data].concat()
}

fn npz(arrays: &[(&str, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in arrays {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        writer.start_file(format!("{name}.npy"), options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Imports three samples with a file of features.
fn with_features(place: &Place, name: &str, bytes: &[u8], array: Option<&str>) -> Result<Imported, String> {
    let table = place.write("t.csv", "id,split,red\na,train,1\nb,train,0\nc,test,1\n");
    let features = FeatureSource { path: place.write(name, bytes), array: array.map(str::to_owned) };
    let import = FeaturesImport { table: TableImport { table, ..TableImport::default() }, features };
    let out = place.path("ds");
    let _ = fs::remove_dir_all(&out);
    import_features(&import, &out).map_err(|error| error.to_string())
}

const VALUES: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, -6.5];

#[test]
fn features_of_every_format_are_the_same() {
    let place = Place::new();
    let whole = npy(3, 2, &VALUES);
    let reversed = npy(3, 2, &[5.0, -6.5, 3.0, 4.0, 1.0, 2.0]);
    let ids = npy_bytes("|S1", "(3,)", b"cba");
    let tensor = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let single = tensor(&VALUES);
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F32, vec![3, 2], &single).unwrap();
    let tensors = safetensors::serialize([("embeddings", view)], None).unwrap();
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("z.npy", whole.clone()),
        ("z.npz", npz(&[("features", whole.clone())], zip::CompressionMethod::Stored)),
        ("z.npz", npz(&[("clip", reversed.clone()), ("ids", ids)], zip::CompressionMethod::Deflated)),
        ("z.safetensors", tensors),
    ];
    for (name, bytes) in files {
        let imported = with_features(&place, name, &bytes, None).unwrap();
        assert_eq!(imported.dataset.manifest().kind, Kind::Features);
        let features = Dataset::open(&place.path("ds")).unwrap().features().unwrap().unwrap();
        assert_eq!((features.rows(), features.width(), features.values()), (3, 2, &VALUES[..]), "{name}");
        assert_eq!(summarise(&imported.dataset, 5).unwrap().feature_width, Some(2));
    }
    // Several matrices: by a known name, or the one that is asked for.
    let two = npz(&[("other", reversed), ("z", whole)], zip::CompressionMethod::Deflated);
    assert_eq!(
        with_features(&place, "z.npz", &two, None).unwrap().dataset.features().unwrap().unwrap().values()[0],
        1.0
    );
    let other = with_features(&place, "z.npz", &two, Some("other")).unwrap();
    assert_eq!(other.dataset.features().unwrap().unwrap().values()[0], 5.0);
}

#[test]
fn features_from_parquet_by_id_with_strangers_counted() {
    use arrow_array::{ArrayRef, Float32Array, Float64Array, ListArray, RecordBatch, StringArray, types::Float32Type};
    use std::sync::Arc;
    let bytes = |columns: Vec<(&str, ArrayRef)>| {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let mut writer = parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        bytes
    };
    let ids = || -> ArrayRef { Arc::new(StringArray::from(vec!["c", "x", "a", "b"])) };
    let columns = bytes(vec![
        ("f0", Arc::new(Float64Array::from(vec![5.0, 0.0, 1.0, 3.0]))),
        ("id", ids()),
        ("f1", Arc::new(Float32Array::from(vec![-6.5, 0.0, 2.0, 4.0]))),
    ]);
    let list = |row: [f32; 2]| Some(row.map(Some).to_vec());
    let rows = vec![list([5.0, -6.5]), list([0.0, 0.0]), list([1.0, 2.0]), list([3.0, 4.0])];
    let lists =
        bytes(vec![("id", ids()), ("embedding", Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(rows)))]);
    let place = Place::new();
    for file in [columns, lists] {
        let imported = with_features(&place, "z.parquet", &file, None).unwrap();
        assert_eq!(imported.notes[0].count, 1, "{:?}", imported.notes);
        assert_eq!(imported.dataset.features().unwrap().unwrap().values(), VALUES);
    }
}

#[test]
fn bad_features_are_refused_with_their_place() {
    let place = Place::new();
    let bad = |name: &str, bytes: &[u8], array: Option<&str>, expected: &str| {
        let error = with_features(&place, name, bytes, array).unwrap_err();
        assert!(error.contains(expected), "{error}");
        place.assert_no_dataset();
    };
    let mut values = VALUES;
    (values[3], values[4]) = (f32::NAN, f32::INFINITY);
    bad(
        "z.npy",
        &npy(3, 2, &values),
        None,
        "2 numbers are not finite\n  row 2, column 2: expected a finite number, got `NaN`\n  row 3, column 1:",
    );
    let huge = [1.0, 2.0, 3.0, 4.0, 5.0, 1e300f64].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    bad("z.npy", &npy_bytes("<f8", "(3, 2)", &huge), None, "row 3, column 2: expected a finite number, got `inf`");
    bad("z.npy", &npy(2, 3, &VALUES), None, "expected 3 rows of features");
    bad("z.npy", &npy_bytes("<f4", "(3, 2, 1)", &[0; 24]), None, "got the shape [3, 2, 1]");
    bad("z.npy", &npy_bytes("|O", "(3, 2)", b"pickle"), None, "expected one matrix of floats");
    bad("z.npy", b"id,red\n", None, "cannot read `");
    bad("z.txt", b"", None, "expected features ending in");
    bad("z.npz", b"PK", None, "as NumPy's archive");
    bad("z.safetensors", b"xx", None, "as safetensors");
    let two = npz(&[("p", npy(3, 2, &VALUES)), ("q", npy(3, 2, &VALUES))], zip::CompressionMethod::Stored);
    bad("z.npz", &two, None, "got `p`, `q`\nhint: name the array to take with `--array`");
    bad("z.npz", &two, Some("r"), "expected floats named `r`");
    let ids = |ids: &[u8]| {
        npz(
            &[("z", npy(3, 2, &VALUES)), ("ids", npy_bytes("|S1", &format!("({},)", ids.len()), ids))],
            zip::CompressionMethod::Stored,
        )
    };
    bad("z.npz", &ids(b"abx"), None, "got none of `c`");
    bad("z.npz", &ids(b"aab"), None, "got `a` on rows 1 and 2");
    bad("z.npz", &ids(b"ab"), None, "expected 3 ids for 3 rows");
}

#[test]
fn features_stay_with_their_samples() {
    let place = Place::new();
    let table =
        place.write("t.csv", (0..100).fold("id,red\n".to_owned(), |text, row| text + &format!("s{row},{}\n", row % 2)));
    // Wide enough that the file is much longer than its header.
    let values: Vec<f32> = (0..100 * 300).map(|at| (at / 300) as f32).collect();
    let features = FeatureSource { path: place.write("z.npy", npy(100, 300, &values)), array: None };
    let mut import = FeaturesImport { table: TableImport { table, ..TableImport::default() }, features };
    import.table.options.limit = Some(20);
    let dataset = import_features(&import, &place.path("ds")).unwrap().dataset;
    let features = dataset.features().unwrap().unwrap();
    for (row, id) in dataset.table().ids.iter().enumerate() {
        assert_eq!(format!("s{}", features.row(row)[0]), *id);
    }
    // A table that is changed afterwards, or a file that is cut off, is noticed on opening.
    let stored = place.path("ds/features.safetensors");
    let bytes = fs::read(&stored).unwrap();
    fs::write(&stored, &bytes[..bytes.len() - 1]).unwrap();
    assert!(Dataset::open(&place.path("ds")).unwrap_err().to_string().contains("cut off"));
    fs::write(&stored, bytes).unwrap();
    fs::remove_file(place.path("ds/samples.parquet")).unwrap();
    let mut ids: Vec<&str> = dataset.table().ids.iter().collect();
    ids.swap(0, 1);
    place.write("ds/samples.csv", ids.iter().fold("id,red\n".to_owned(), |text, id| text + &format!("{id},1\n")));
    assert!(
        Dataset::open(&place.path("ds")).unwrap_err().to_string().contains("the table was changed after the import")
    );
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
    bad("mnist/train-images-idx3-ubyte", &idx(&[20, 3, 3], &[0; 180]), "differ in size");
    fs::remove_file(place.path("mnist/train-images-idx3-ubyte")).unwrap();
    bad("mnist/train-images-idx3-ubyte.gz", &gzip(&[0; 100])[..20], "train-images-idx3-ubyte.gz");
    let import = MnistImport { folder: place.path("nowhere"), options: ImportOptions::default() };
    assert!(import_mnist(&import, &place.path("ds")).unwrap_err().to_string().starts_with("expected `train-images"));
}

#[test]
fn the_real_mnist() {
    #[expect(clippy::disallowed_methods, reason = "real data is where the user says, and only tests look for it")]
    let Some(data) = std::env::var_os("CHIMERA_DATA") else { return };
    let folder = Path::new(&data).join("mnist");
    if !folder.is_dir() {
        return;
    }
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
        place.write(&format!("coco/{name}"), "x");
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
    let shown =
        |row: usize| (0..3).map(|column| dataset.table().labels.get(row, column).unwrap()).collect::<Vec<bool>>();
    assert_eq!([0, 1, 2, 3].map(shown), [[false, true, false], [true, false, false], [false; 3], [false, false, true]]);
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
    place.write("coco/9.jpg", "x");
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
