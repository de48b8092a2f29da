//! Label tables from outside: small ones are read whole, and bad input is named with its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chimera_data::dataset::labels_at;
use chimera_data::error::{Error, Fault};
use chimera_data::table::{CellRule, ColumnNames, LabelTable, TableOptions};

use crate::support::parquet_files::parquet_bytes;
use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, StructArray, UInt16Array};
use arrow_schema::{DataType, Field};
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

/// A folder with one file in it.
fn folder_with(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    (folder, path)
}

/// The message about a bad file, with the folder's path taken out.
fn message_about(name: &str, content: impl AsRef<[u8]>) -> String {
    let (folder, path) = folder_with(name, content);
    let error = LabelTable::read(&path).unwrap_err();
    assert_eq!(error.fault(), Fault::Input);
    error.to_string().replace(&format!("{}/", folder.path().display()), "")
}

/// The problems that the message about a bad table lists, without its first line and the hints.
fn problems_in(name: &str, content: impl AsRef<[u8]>) -> Vec<String> {
    let message = message_about(name, content);
    assert!(message.starts_with(&format!("cannot use the labels in `{name}`: ")), "{message}");
    let lines = message.lines().skip(1).filter(|line| !line.starts_with("hint:"));
    lines.map(|line| line.trim_start().to_owned()).collect()
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    parquet_bytes(columns, WriterProperties::default())
}

fn strings(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn booleans(values: &[bool]) -> ArrayRef {
    Arc::new(BooleanArray::from(values.to_vec()))
}

const CELL_HINT: &str = "hint: leave a cell empty where the label is unknown; every column but `id`, `media`, `split`, \
                         `group` and `oov_ancestors` is a concept: `chimera import table --ignore COLUMN` leaves out one that \
                         holds no labels";

#[test]
fn a_small_table_is_read_whole() {
    let text = "\u{feff}red, id ,media,blue sphere,split\r\n1, a ,a.png,FALSE,train\r\n\r\n ,\"b,\nb\",,\" True\",test";
    let (_folder, path) = folder_with("samples.CSV", text);
    let table = LabelTable::read(&path).unwrap();
    assert_eq!(table.ids, ["a", "b,\nb"]);
    assert_eq!(table.media.as_deref().unwrap(), ["a.png", ""]);
    assert_eq!(table.splits.as_deref().unwrap(), ["train", "test"]);
    assert!(table.groups.is_none() && table.oov_ancestors.is_none());
    assert_eq!(table.concepts, ["red", "blue sphere"]);
    assert_eq!(table.path, path);
    let cell = |row, column| table.labels.get(row, column);
    assert_eq!([cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)], [Some(true), Some(false), None, Some(true)]);
    let vocabulary = table.vocabulary();
    assert_eq!(vocabulary.origin(), Some("the columns of `samples.CSV`"));
    assert_eq!(vocabulary.get("blue sphere").unwrap().index(), 1);
}

#[test]
fn tabs_separate_the_cells_of_a_tsv() {
    let (_folder, path) = folder_with("a.tsv", "id\tred\tblue\na,b\t1\t\n\"c\td\"\t\t0\n");
    let table = LabelTable::read(&path).unwrap();
    assert_eq!(table.ids, ["a,b", "c\td"]);
    let cells: Vec<_> = (0..2).flat_map(|row| [table.labels.get(row, 0), table.labels.get(row, 1)]).collect();
    assert_eq!(cells, [Some(true), None, None, Some(false)]);
}

#[test]
fn a_header_alone_is_a_table_of_no_rows() {
    for text in ["id,red", "id,red\n", "id,red\r\n\r\n"] {
        let (_folder, path) = folder_with("a.csv", text);
        let table = LabelTable::read(&path).unwrap();
        assert_eq!((table.ids.len(), table.labels.rows(), table.labels.columns()), (0, 0, 1));
    }
    let (_folder, path) = folder_with("a.parquet", parquet(vec![("id", strings(&[])), ("red", booleans(&[]))]));
    let table = LabelTable::read(&path).unwrap();
    assert_eq!((table.ids.len(), table.labels.rows(), table.labels.columns()), (0, 0, 1));
}

#[test]
fn files_that_are_no_tables() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().display();
    let message = |path: &Path| LabelTable::read(path).unwrap_err().to_string();
    let missing = folder.path().join("missing.csv");
    assert_eq!(message(&missing), format!("cannot read `{shown}/missing.csv`: no such file or folder"));
    assert_eq!(LabelTable::read(&missing).unwrap_err().fault(), Fault::Input);
    assert_eq!(message(folder.path()), format!("expected a label table, got the folder `{shown}`"));
    fs::write(folder.path().join("samples.csv"), "id,red").unwrap();
    let hint = format!("\nhint: give the table inside: `{shown}/samples.csv`");
    assert_eq!(message(folder.path()), format!("expected a label table, got the folder `{shown}`{hint}"));
    for name in ["a.txt", "a", "a.csv.gz"] {
        let expected = format!("expected a label table ending in `.csv`, `.tsv`, `.parquet` or `.jsonl`, got `{name}`");
        assert_eq!(message_about(name, "id,red\n"), expected);
    }
    let empty = "expected a header line with `id` and concepts in `a.csv`, got an empty file";
    for text in ["", "\u{feff}", "\n \r\n"] {
        assert_eq!(message_about("a.csv", text), empty);
    }
}

#[test]
fn bad_headers_are_named() {
    let one = |header: &str| message_about("a.csv", format!("{header}\nx,1\n"));
    let first = "cannot use the labels in `a.csv`: 1 problem\n  line 1: ";
    let no_id = |got: &str, name: &str| {
        format!(
            "expected a column `id`, got {got}\n\
             hint: `chimera import table --id-column {name}` takes the ids from another column"
        )
    };
    let expectations = [
        ("ID,red", &*no_id("`ID`, `red`", "ID")),
        ("image_id,red", &no_id("`image_id`, `red`", "image_id")),
        ("name,red", &no_id("`name`, `red`", "COLUMN")),
        ("a,b,c,d,e,f,g", &no_id("`a`, `b`, `c`, `d`, `e`, and 2 more", "COLUMN")),
        (
            "id;red",
            "expected a column `id`, got `id;red`\nhint: the columns seem to be separated by `;`; separate them by `,`",
        ),
        ("id,red,blue, red", "expected different names, got `red` for columns 2 and 4"),
        ("id,id,red", "expected different names, got `id` for columns 1 and 2"),
        ("id,\"re\nd\"", "expected a name without control characters for column 2, got `re\\nd`"),
        ("id,re\0d", "expected a name without control characters for column 2, got `re\\0d`"),
        (
            "id,media,split",
            "expected a column for each concept, got `id`, `media`, `split`\n\
             hint: add a column of 0 and 1 for each concept, named after it",
        ),
        (
            ",id,red",
            "expected a name for column 1, got none\n\
             hint: name every column; a table written by pandas has a nameless index unless `index=False`",
        ),
    ];
    for (header, expected) in expectations {
        assert_eq!(one(header), format!("{first}{expected}"), "{header:?}");
    }
    // Old line ends make one line of the whole file.
    let message = message_about("a.csv", "id,red\ra,1\r");
    assert!(message.contains("hint: if lines end in `\\r` alone, save the file with `\\n`"), "{message}");
    let message = message_about("a.csv", "id\tred\na\t1\n");
    assert!(message.ends_with("\nhint: the columns seem to be separated by tabs; name the file `.tsv`"), "{message}");
    let message = message_about("a.csv", "\n\nid,red,\n");
    assert!(message.contains("line 3: expected a name for column 3"), "{message}");
}

#[test]
fn all_that_is_wrong_is_told_in_one_message() {
    let text = "id,red,blue\r\n\"a\n1\",yes,1\r\n\r\nb,2,0.5\r\na,0\r\n,1,1\r\nb,1,NaN\r\nc,1,1,1\n";
    let expected = "cannot use the labels in `a.csv`: 8 problems
  line 2, column `red`: expected 0, 1, true, false or an empty cell, got `yes`
  line 5, column `red`: expected 0, 1, true, false or an empty cell, got `2`
  line 5, column `blue`: expected 0, 1, true, false or an empty cell, got `0.5`
  line 6: expected 3 cells as in the header, got 2
  line 7: expected an id, got an empty cell
  line 8: expected a new id, got `b` again, first on line 5
  line 8, column `blue`: expected 0, 1, true, false or an empty cell, got `NaN`
  line 9: expected 3 cells as in the header, got 4
";
    assert_eq!(message_about("a.csv", text), format!("{expected}{CELL_HINT}"));
}

#[test]
fn three_problems_of_a_column_are_listed_and_the_rest_counted() {
    let mut text = "id,red\n".to_owned();
    (0..1000).for_each(|row| text += &format!("{row},{}\n", "long ".repeat(100)));
    let problems = problems_in("a.csv", text);
    assert_eq!(problems.len(), 4);
    let value = "long ".repeat(8);
    assert_eq!(
        problems[2],
        format!("line 4, column `red`: expected 0, 1, true, false or an empty cell, got `{value}…`")
    );
    assert_eq!(problems[3], "column `red`: 997 more");
}

#[test]
fn text_that_cannot_be_split_is_named() {
    let problem = |text: &[u8]| problems_in("a.csv", text);
    assert_eq!(problem(b"id,red\na,1\nb\xe9,1\nc,\xff\n").len(), 2);
    assert_eq!(problem(b"id,red\na,1\nb\xe9,1\n"), ["line 3: expected UTF-8, got the byte 0xe9"]);
    assert_eq!(problem(b"id,r\xe9d\na,1\n"), ["line 1: expected UTF-8, got the byte 0xe9"]);
    assert_eq!(problem(b"\xff\xfei\0d\0"), ["line 1: expected UTF-8, got the byte 0xff"]);
    assert_eq!(problem(b"id,red\na,1\n\"b,1\nc,1\n"), ["line 3: expected a closing quote, got the end of the file"]);
    assert_eq!(
        problem(b"id,red\n\"a\"b,1\nc,2\n"),
        [
            "line 2: expected the end of the cell after its closing quote, got more text",
            "line 3, column `red`: expected 0, 1, true, false or an empty cell, got `2`"
        ]
    );
}

#[test]
fn parquet_that_is_none_or_damaged() {
    let not_parquet = "expected a Parquet file in `a.parquet`, got something else\n\
                       hint: name the file `.csv` or `.tsv` if it is text";
    for bytes in ["", "PA", "id,red\na,1\n"] {
        assert_eq!(message_about("a.parquet", bytes), not_parquet);
    }
    let whole = parquet(vec![("id", strings(&["a", "b"])), ("red", booleans(&[true, false]))]);
    for length in [4, 8, 12, whole.len() / 2, whole.len() - 1] {
        let message = message_about("a.parquet", &whole[..length]);
        assert!(message.starts_with("cannot read `a.parquet` as Parquet: "), "{message}");
        assert!(message.contains("\nhint: the file may be cut off"), "{message}");
    }
}

#[test]
fn damaged_parquet_never_panics() {
    let whole = parquet(vec![
        ("id", strings(&["a", "b", "c"])),
        ("red", booleans(&[true, false, true])),
        ("blue", Arc::new(Int64Array::from(vec![Some(1), None, Some(0)]))),
    ]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..1000 {
        let mut bytes = whole.clone();
        for _ in 0..random.usize(1..4) {
            let at = random.usize(4..bytes.len());
            bytes[at] = random.u8(..);
        }
        if random.u8(..4) == 0 {
            bytes.drain(random.usize(4..bytes.len() - 8)..bytes.len() - 8);
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok(table) = LabelTable::read(&path) {
            assert_eq!(table.ids.len(), table.labels.rows());
        }
    }
}

#[test]
fn parquet_schemas_that_hold_no_labels() {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value([Some("x")]);
    let list: ArrayRef = Arc::new(list.finish());
    let inner: ArrayRef = booleans(&[true]);
    let nested: ArrayRef =
        Arc::new(StructArray::from(vec![(Arc::new(Field::new("x", DataType::Boolean, true)), inner)]));
    let dates: ArrayRef = Arc::new(arrow_array::Date32Array::from(vec![1]));
    let problems = problems_in(
        "a.parquet",
        parquet(vec![
            ("tags", Arc::clone(&list)),
            ("id", strings(&["a"])),
            ("box", nested),
            ("oov_ancestors", Arc::clone(&list)),
            ("day", dates),
            ("red", booleans(&[true])),
        ]),
    );
    let wanted = "expected booleans, integers, floats or strings, got the type";
    assert_eq!(problems.len(), 3);
    assert!(problems[0].starts_with(&format!("schema, column `tags`: {wanted} `List(")), "{}", problems[0]);
    assert!(problems[1].starts_with(&format!("schema, column `box`: {wanted} `Struct(")), "{}", problems[1]);
    assert_eq!(problems[2], format!("schema, column `day`: {wanted} `Date32`"));
    let problems = problems_in("a.parquet", parquet(vec![("ID", strings(&["a"])), ("red", booleans(&[true]))]));
    assert_eq!(problems, ["schema: expected a column `id`, got `ID`, `red`"]);
    let float_ids: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let problems = problems_in("a.parquet", parquet(vec![("id", float_ids), ("red", booleans(&[true]))]));
    assert_eq!(problems, ["schema, column `id`: expected strings or integers, got the type `Float64`"]);
    // Nested columns that are reserved do no harm.
    let (_folder, path) = folder_with(
        "a.parquet",
        parquet(vec![("oov_ancestors", list), ("red", booleans(&[true])), ("id", strings(&["a"]))]),
    );
    assert_eq!(LabelTable::read(&path).unwrap().labels.get(0, 0), Some(true));
}

#[test]
fn parquet_cells_that_are_no_labels() {
    let problems = problems_in(
        "a.parquet",
        parquet(vec![
            ("number", Arc::new(Float64Array::from(vec![Some(0.5), Some(f64::NAN), None, Some(1.0)]))),
            ("word", strings(&["yes", "TRUE", " 0 ", ""])),
            ("id", Arc::new(StringArray::from(vec![Some("a"), None, Some("b"), Some("a")]))),
            ("count", Arc::new(UInt16Array::from(vec![0, 2, 1, 1]))),
        ]),
    );
    let wanted = "expected 0, 1, true, false or an empty cell, got";
    assert_eq!(
        problems,
        [
            format!("row 1, column `number`: {wanted} `0.5`"),
            format!("row 1, column `word`: {wanted} `yes`"),
            "row 2: expected an id, got an empty cell".to_owned(),
            format!("row 2, column `number`: {wanted} `NaN`"),
            format!("row 2, column `count`: {wanted} `2`"),
            "row 4: expected a new id, got `a` again, first on row 1".to_owned(),
        ]
    );
}

#[test]
fn errors_can_be_taken_apart() {
    let (_folder, path) = folder_with("a.csv", "id,red\na,no\n");
    let Error::Table(problems) = LabelTable::read(&path).unwrap_err() else { panic!("expected problems") };
    assert_eq!((problems.path(), problems.total()), (path.as_path(), 1));
    assert_eq!((problems.listed()[0].place, problems.listed()[0].column.as_ref().unwrap().0), (2, 1));
}

#[test]
fn splits_are_words_of_a_closed_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.csv");
    fs::write(&path, "id,split,red\na,train,1\nb,test,0\nc,,1\nd,Training,1\ne,val,0\n").unwrap();
    assert_eq!(labels_at(&path).unwrap().training_rows(), [0, 3]);
    fs::write(&path, "id,split,red\na,train,1\nb,trian,1\n").unwrap();
    let error = labels_at(&path).unwrap_err().to_string();
    assert!(error.contains("line 3: expected train, calibration, test or oracle, got the split `trian`"), "{error}");
}

/// One table in every format: ids, media, split, group, ancestors and labels come out the same.
#[test]
fn all_formats_say_the_same() {
    let csv = "id,media,split,group,oov_ancestors,red,blue\n1,a.png,train,7,Vehicle|Land vehicle,1,0\n2,,test,,,,1\n";
    let tsv = csv.replace(',', "\t");
    let jsonl = "{\"id\":1,\"media\":\"a.png\",\"split\":\"train\",\"group\":7,\
                 \"oov_ancestors\":[\"Vehicle\",\"Land vehicle\"],\"red\":true,\"blue\":0}\n\n\
                 {\"id\":\"2\",\"blue\":\"1\",\"split\":\"test\",\"red\":null}\n";
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value([Some("Vehicle"), Some("Land vehicle")]);
    list.append_null();
    let list: ArrayRef = Arc::new(list.finish());
    let groups: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None]));
    let parquet = parquet(vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("media", Arc::new(StringArray::from(vec![Some("a.png"), None]))),
        ("split", strings(&["train", "test"])),
        ("group", groups),
        ("oov_ancestors", list),
        ("red", Arc::new(BooleanArray::from(vec![Some(true), None]))),
        ("blue", Arc::new(Float64Array::from(vec![0.0, 1.0]))),
    ]);
    let files: [(&str, &[u8]); 4] =
        [("a.csv", csv.as_bytes()), ("a.tsv", tsv.as_bytes()), ("a.jsonl", jsonl.as_bytes()), ("a.parquet", &parquet)];
    for (name, content) in files {
        let (_folder, path) = folder_with(name, content);
        let table = LabelTable::read(&path).unwrap();
        assert_eq!(table.ids, ["1", "2"], "{name}");
        assert_eq!(table.media.as_deref().unwrap(), ["a.png", ""], "{name}");
        assert_eq!(table.splits.as_deref().unwrap(), ["train", "test"], "{name}");
        assert_eq!(table.groups.as_deref().unwrap(), ["7", ""], "{name}");
        let ancestors = table.oov_ancestors.as_deref().unwrap();
        assert_eq!(ancestors, [vec!["Vehicle".to_owned(), "Land vehicle".to_owned()], vec![]], "{name}");
        assert_eq!(table.concepts, ["red", "blue"], "{name}");
        let cells: Vec<_> = (0..2).flat_map(|row| [table.labels.get(row, 0), table.labels.get(row, 1)]).collect();
        assert_eq!(cells, [Some(true), Some(false), None, Some(true)], "{name}");
        let second = table.select(&[1]);
        assert_eq!(second.ids, ["2"]);
        assert_eq!(second.labels.get(0, 0), None);
    }
}

#[test]
fn json_lines_that_are_wrong_are_named() {
    let text = "{\"id\":\"a\",\"red\":\"yes\"}\n{\"id\":\"a\",\"red\":2}\n{\"red\":1}\n{\"id\":\"b\",\"split\":[],\"red\":{}}\n";
    let expected = [
        "line 1, column `red`: expected 0, 1, true, false or an empty cell, got `\"yes\"`",
        "line 2: expected a new id, got `a` again, first on line 1",
        "line 2, column `red`: expected 0, 1, true, false or an empty cell, got `2`",
        "line 3: expected an id, got an empty cell",
        "line 4, column `red`: expected 0, 1, true, false or an empty cell, got `{}`",
        "line 4, column `split`: expected a string or an integer, got `[]`",
    ];
    assert_eq!(problems_in("a.jsonl", text), expected);
    let problems = problems_in("a.jsonl", "{\"id\":1}\n[1]\n{\"id\":2,\"id\":3}\n{\"id\n");
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[1].contains("`id` twice"), "{problems:?}");
    assert!(message_about("a.jsonl", "\n").starts_with("expected an object with `id`"));
}

/// Every number as every format writes it, under both rules. `None` is no label, `Some(None)` an unknown one.
#[test]
fn numbers_mean_the_same_in_every_format() {
    let (yes, no, unknown) = (Some(Some(true)), Some(Some(false)), Some(None));
    // The number, its spellings, and what it means where 0 is false and where 0 is unknown.
    let numbers: [(f64, &[&str], _, _); 6] = [
        (0.0, &["0", "0.0"], no, unknown),
        (-0.0, &["-0", "-0.0"], no, unknown),
        (1.0, &["1", "1.0"], yes, yes),
        (-1.0, &["-1", "-1.0"], None, no),
        (2.0, &["2", "2.0"], None, None),
        (0.5, &["0.5"], None, None),
    ];
    for (number, spellings, zero_one, signed) in numbers {
        let mut files: Vec<(&str, Vec<u8>)> = Vec::new();
        for spelling in spellings {
            files.push(("a.csv", format!("id,red\na, {spelling} \n").into_bytes()));
            files.push(("a.tsv", format!("id\tred\na\t\"{spelling}\"\n").into_bytes()));
            files.push(("a.jsonl", format!("{{\"id\": 1, \"red\": {spelling}}}").into_bytes()));
            files.push(("a.jsonl", format!("{{\"id\": 1, \"red\": \"{spelling}\"}}").into_bytes()));
            files.push(("a.parquet", parquet(vec![("id", strings(&["a"])), ("red", strings(&[spelling]))])));
        }
        let mut arrays: Vec<ArrayRef> = vec![
            Arc::new(Float64Array::from(vec![number])),
            Arc::new(arrow_array::Float32Array::from(vec![number as f32])),
        ];
        if number.fract() == 0.0 {
            arrays.push(Arc::new(arrow_array::Int8Array::from(vec![number as i8])));
            arrays.push(Arc::new(Int64Array::from(vec![number as i64])));
        }
        if number.fract() == 0.0 && number >= 0.0 {
            arrays.push(Arc::new(UInt16Array::from(vec![number as u16])));
        }
        files.extend(arrays.into_iter().map(|red| ("a.parquet", parquet(vec![("id", strings(&["a"])), ("red", red)]))));
        for (name, content) in files {
            let (_folder, path) = folder_with(name, &content);
            for (cells, expected) in [(CellRule::ZeroOne, zero_one), (CellRule::Signed, signed)] {
                let options = TableOptions { cells, ..TableOptions::default() };
                let read = LabelTable::read_with(&path, &options).map(|table| table.labels.get(0, 0));
                let text = String::from_utf8_lossy(&content);
                assert_eq!(read.ok(), expected, "{number} with {cells:?} in {name}: {text}");
            }
        }
    }
    let message = message_about("a.csv", "id,red\na,-1\nb,0\n");
    assert!(message.contains("`chimera import table --unknown 0`"), "{message}");
}

/// One column is the id and the medium, one is left out although its name is ours, in every format.
#[test]
fn columns_are_read_as_the_options_say() {
    let csv = "file,split,red\na.png,1,1\nb.png,2,0\n";
    let jsonl = "\u{feff}{\"file\":\"a.png\",\"split\":1,\"red\":1}\n{\"file\":\"b.png\",\"split\":2,\"red\":0}\n";
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("file", strings(&["a.png", "b.png"])),
        ("split", Arc::new(Int64Array::from(vec![1, 2]))),
        ("red", Arc::new(Int64Array::from(vec![1, 0]))),
    ];
    let names = ColumnNames { id: "file".to_owned(), media: "file".to_owned(), ..ColumnNames::default() };
    let options = TableOptions { names, ignored: vec!["split".to_owned()], ..TableOptions::default() };
    let parquet = parquet(columns);
    let files: [(&str, &[u8]); 3] = [("a.csv", csv.as_bytes()), ("a.jsonl", jsonl.as_bytes()), ("a.parquet", &parquet)];
    for (name, content) in files {
        let (_folder, path) = folder_with(name, content);
        let table = LabelTable::read_with(&path, &options).unwrap();
        assert_eq!(
            (table.ids, table.media.unwrap()),
            (["a.png", "b.png"].into_iter().collect(), vec!["a.png".to_owned(), "b.png".to_owned()]),
            "{name}"
        );
        assert!(table.splits.is_none(), "{name}");
        assert_eq!(table.concepts, ["red"], "{name}");
        assert_eq!([0, 1].map(|row| table.labels.get(row, 0)), [Some(true), Some(false)], "{name}");
    }
}
