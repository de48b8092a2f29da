//! Import of features: every format, ids in all their forms, and files that lie about their size.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::manifest::Kind;
use chimera_data::dataset::summary::summarise;
use chimera_data::features::FeatureSource;
use chimera_data::import::*;
use chimera_data::table::ColumnNames;

use crate::support::import_place::{PNG, Place, told};
use crate::support::parquet_files::parquet_bytes;
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, ListArray, StringArray};
use parquet::file::properties::WriterProperties;
use zip::CompressionMethod::{Deflated, Stored};

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
        ("z.npz", npz(&[("features", whole.clone())], Stored)),
        ("z.npz", npz(&[("clip", reversed.clone()), ("ids", ids)], Deflated)),
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
    let two = npz(&[("other", reversed), ("z", whole)], Deflated);
    assert_eq!(
        with_features(&place, "z.npz", &two, None).unwrap().dataset.features().unwrap().unwrap().values()[0],
        1.0
    );
    let other = with_features(&place, "z.npz", &two, Some("other")).unwrap();
    assert_eq!(other.dataset.features().unwrap().unwrap().values()[0], 5.0);
}

#[test]
fn features_from_parquet_by_id_with_strangers_counted() {
    let bytes = |columns: Vec<(&str, ArrayRef)>| parquet_bytes(columns, WriterProperties::default());
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
        let notes =
            "0 feature rows matched by id: \n1 row of features belongs to a sample that the table does not have: ";
        assert_eq!(told(&imported.notes), notes);
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
    bad("z.npy", &npy_bytes("<f4", "(3, 2, 1)", &[0; 24]), None, "shape [3, 2, 1]");
    bad("z.npy", &npy_bytes("|O", "(3, 2)", b"pickle"), None, "expected one matrix of numbers");
    bad("z.npy", &npy_bytes("<c8", "(3, 2)", &[0; 48]), None, "`z` (type `<c8`, shape [3, 2])");
    bad("z.npy", b"id,red\n", None, "cannot read `");
    bad("z.txt", b"", None, "expected features ending in");
    bad("z.npz", b"PK", None, "as NumPy's archive");
    bad("z.safetensors", b"xx", None, "as safetensors");
    let two = npz(&[("p", npy(3, 2, &VALUES)), ("q", npy(3, 2, &VALUES))], Stored);
    bad(
        "z.npz",
        &two,
        None,
        "`p` (type `<f4`, shape [3, 2]), `q` (type `<f4`, shape [3, 2])\nhint: name the array to take with `--array`",
    );
    bad("z.npz", &two, Some("r"), "expected one matrix of numbers named `r`");
    let ids = |ids: &[u8]| {
        npz(&[("z", npy(3, 2, &VALUES)), ("ids", npy_bytes("|S1", &format!("({},)", ids.len()), ids))], Stored)
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

/// The first import that follows is by order; all others by an array or column of ids in another order.
#[test]
fn ids_are_found_whatever_they_are_called() {
    let place = Place::new();
    let reversed = || npy(3, 2, &[5.0, -6.5, 3.0, 4.0, 1.0, 2.0]);
    let strings = |texts: [&str; 3]| -> ArrayRef { Arc::new(StringArray::from(texts.to_vec())) };
    let numbers = |values: [f32; 3]| -> ArrayRef { Arc::new(Float32Array::from(values.to_vec())) };
    let points: Vec<u8> = ['c', 'b', 'a'].iter().flat_map(|&c| (c as u32).to_be_bytes()).collect();
    let columns = |id: &str| {
        let columns =
            vec![("x", numbers([5.0, 3.0, 1.0])), (id, strings(["c", "b", "a"])), ("y", numbers([-6.5, 4.0, 2.0]))];
        parquet_bytes(columns, WriterProperties::default())
    };
    let by_order = with_features(&place, "z.npy", &npy(3, 2, &VALUES), None).unwrap();
    assert_eq!(told(&by_order.notes), "0 feature rows matched by order: ");
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("z.npz", npz(&[("z", reversed()), ("ids", npy_bytes(">U1", "(3,)", &points))], Deflated)),
        ("z.npz", npz(&[("id", npy_bytes("|S1", "(3,)", b"cba")), ("z", reversed())], Stored)),
        ("z.parquet", columns("id")),
        ("z.parquet", columns("ids")),
        ("z.parquet", columns("__index_level_0__")),
    ];
    for (name, bytes) in files {
        let imported = with_features(&place, name, &bytes, None).unwrap();
        assert_eq!(told(&imported.notes), "0 feature rows matched by id: ");
        assert_eq!(imported.dataset.features().unwrap().unwrap().values(), VALUES, "{name}");
    }
    // The name that the table's ids have counts in the features' file too, and there before `ids`.
    let table = place.write("t.csv", "file,split,red\na,train,1\nb,train,0\nc,test,1\n");
    let wrong = npy_bytes("|S1", "(3,)", b"abc");
    let ids = npy_bytes("|S1", "(3,)", b"cba");
    for (name, bytes) in
        [("z.npz", npz(&[("ids", wrong), ("file", ids), ("z", reversed())], Stored)), ("z.parquet", columns("file"))]
    {
        let features = FeatureSource { path: place.write(name, bytes), array: None };
        let mut import =
            FeaturesImport { table: TableImport { table: table.clone(), ..TableImport::default() }, features };
        import.table.reading.names = ColumnNames { id: "file".to_owned(), ..ColumnNames::default() };
        let out = place.path(&format!("{name}-ds"));
        let dataset = import_features(&import, &out).unwrap().dataset;
        assert_eq!(dataset.features().unwrap().unwrap().values(), VALUES, "{name}");
    }
}

#[test]
fn what_could_be_ids_is_refused_with_its_type() {
    let place = Place::new();
    let z = || npy(3, 2, &VALUES);
    let floats: Vec<u8> = [1.0f64, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let ids: [(&str, Vec<u8>); 4] = [
        ("type `|O`", npy_bytes("|O", "(3,)", b"pickled")),
        ("type `<f8`", npy_bytes("<f8", "(3,)", &floats)),
        ("shape [3, 1]", npy_bytes("|S1", "(3, 1)", b"abc")),
        ("type `<U4611686018427387904`", npy_bytes("<U4611686018427387904", "(3,)", b"")),
    ];
    for (expected, ids) in ids {
        let error = with_features(&place, "z.npz", &npz(&[("z", z()), ("ids", ids)], Stored), None).unwrap_err();
        assert!(error.contains("expected ids as one list") && error.contains(expected), "{error}");
    }
    let numbers: ArrayRef = Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["c", "b", "a"]));
    for (id, column, expected) in
        [("id", Arc::clone(&numbers), "the column `id` of `"), ("name", names, "got the column `name` of strings")]
    {
        let bytes = parquet_bytes(vec![("x", Arc::clone(&numbers)), (id, column)], WriterProperties::default());
        let error = with_features(&place, "z.parquet", &bytes, None).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    place.assert_no_dataset();
}

#[test]
fn columns_of_parquet_are_taken_or_told() {
    let place = Place::new();
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let bytes = |columns: Vec<(&str, ArrayRef)>| parquet_bytes(columns, WriterProperties::default());
    let scalars = bytes(vec![
        ("id", Arc::clone(&ids)),
        ("x", Arc::new(Int64Array::from(vec![1, -3, 5]))),
        ("y", Arc::new(Float64Array::from(vec![2.0, 4.0, -6.5]))),
        ("lit", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("caption", Arc::clone(&ids)),
    ]);
    let imported = with_features(&place, "z.parquet", &scalars, None).unwrap();
    let values = [1.0, 2.0, 1.0, -3.0, 4.0, 0.0, 5.0, -6.5, 1.0];
    assert_eq!(imported.dataset.features().unwrap().unwrap().values(), values);
    let notes = "0 feature rows matched by id: \n\
                 1 array or column of the features' file that is not used: caption\n\
                 2 arrays or columns of integers or booleans became 32-bit floats: x, lit";
    assert_eq!(told(&imported.notes), notes);

    let rows = |first: i32| (0..3).map(move |row| Some(vec![Some(first + 2 * row), Some(first + 2 * row + 1)]));
    let lists = bytes(vec![
        ("clip", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(rows(1)))),
        ("dino", Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(rows(11)))),
    ]);
    let error = with_features(&place, "z.parquet", &lists, None).unwrap_err();
    assert!(error.contains("`clip` (`") && error.contains("`dino` (`") && error.contains("--array"), "{error}");
    let imported = with_features(&place, "z.parquet", &lists, Some("dino")).unwrap();
    assert_eq!(imported.dataset.features().unwrap().unwrap().values(), [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]);
    assert_eq!(imported.dataset.manifest().provenance.options["array"], "dino");
    assert!(told(&imported.notes).contains("is not used: clip"), "{:?}", imported.notes);
}

#[test]
fn integers_become_floats_in_every_format() {
    let place = Place::new();
    let integers: Vec<u8> = [1i32, 2, 3, 4, 5, -6].iter().flat_map(|value| value.to_le_bytes()).collect();
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::I32, vec![3, 2], &integers).unwrap();
    let array = npy_bytes("<i4", "(3, 2)", &integers);
    for (name, bytes) in [
        ("z.npy", array.clone()),
        ("z.npz", npz(&[("z", array)], Deflated)),
        ("z.safetensors", safetensors::serialize([("z", view)], None).unwrap()),
    ] {
        let imported = with_features(&place, name, &bytes, None).unwrap();
        assert_eq!(imported.dataset.features().unwrap().unwrap().values(), [1.0, 2.0, 3.0, 4.0, 5.0, -6.0], "{name}");
        assert!(told(&imported.notes).contains("became 32-bit floats: z"), "{name}");
    }
    let halves = [0u8; 6];
    let view = safetensors::tensor::TensorView::new(safetensors::Dtype::F8_E4M3, vec![3, 2], &halves).unwrap();
    let bytes = safetensors::serialize([("z", view)], None).unwrap();
    let error = with_features(&place, "z.safetensors", &bytes, None).unwrap_err();
    assert!(error.contains("type `F8_E4M3`"), "{error}");
}

/// Files of a few bytes that claim to hold terabytes, and arrays that nobody asked for.
#[test]
fn claims_that_a_file_cannot_hold_are_refused_and_only_what_is_taken_is_decoded() {
    let place = Place::new();
    let huge = npy_bytes("<f4", "(3, 99999999999)", &[]);
    let error = with_features(&place, "z.npy", &huge, None).unwrap_err();
    assert!(error.contains("expected 1200000000"), "{error}");
    for method in [Stored, Deflated] {
        let error = with_features(&place, "z.npz", &npz(&[("z", huge.clone())], method), None).unwrap_err();
        assert!(error.contains("array `z`: expected 1200000000"), "{error}");
    }
    // Sizes that the archive states (in two places) made to agree with a header that lies: 3 x 100,000 x 4 bytes.
    let lie = npy_bytes("<f4", "(3, 100000)", &[]);
    let (honest, stated) = ((lie.len() as u32).to_le_bytes(), (lie.len() as u32 + 1_200_000).to_le_bytes());
    for (method, expected) in [(Stored, "bytes in a file of"), (Deflated, "compressed ones can hold")] {
        let mut bytes = npz(&[("z", lie.clone())], method);
        for at in 0..bytes.len() - honest.len() {
            if bytes[at..].starts_with(&honest) {
                bytes[at..at + 4].copy_from_slice(&stated);
            }
        }
        let error = with_features(&place, "z.npz", &bytes, None).unwrap_err();
        assert!(error.contains("array `z`: it claims 12000") && error.contains(expected), "{error}");
    }
    // `other` has a header and no elements; it is listed, never read.
    let beside = npz(&[("z", npy(3, 2, &VALUES)), ("other", npy_bytes("<i8", "(3, 99999999999)", &[]))], Stored);
    let imported = with_features(&place, "z.npz", &beside, None).unwrap();
    assert!(told(&imported.notes).contains("is not used: other"), "{:?}", imported.notes);
}

#[test]
fn features_know_what_their_media_are() {
    let place = Place::new();
    place.write("media/a.mp4", "\0\0\0\x20ftypisom");
    place.write("media/a.png", PNG);
    let import = |media: &str, kind: Option<Kind>| {
        let table = place.write("t.csv", format!("id,media,split,red\na,{media},train,1\nb,{media},train,0\n"));
        let media_root = Some(place.path("media"));
        let table = TableImport { table, media_root, kind, ..TableImport::default() };
        let features = FeatureSource { path: place.write("z.npy", npy(2, 1, &[1.0, 2.0])), array: None };
        let _ = fs::remove_dir_all(place.path("ds"));
        import_features(&FeaturesImport { table, features }, &place.path("ds")).unwrap();
        let dataset = Dataset::open(&place.path("ds")).unwrap();
        assert_eq!(dataset.manifest().kind, Kind::Features);
        dataset.manifest().kind_of_media()
    };
    assert_eq!(import("a.mp4", None), Some(Kind::Video));
    assert_eq!(import("a.png", None), Some(Kind::Image));
    assert_eq!(import("a.png", Some(Kind::Video)), Some(Kind::Video));
}
