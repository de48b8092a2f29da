//! Label tables from outside: what is written to CSV and Parquet, in all shapes, is read back cell by cell.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chimera_data::table::LabelTable;

use crate::support::parquet_files::parquet_bytes;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int64Array, LargeStringArray, NullArray,
    StringArray,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

/// Labels to be written in every shape and read back.
struct Sample {
    ids: Vec<String>,
    cells: Vec<Vec<Option<bool>>>,
}

impl Sample {
    fn random(random: &mut fastrand::Rng, rows: usize, columns: usize) -> Self {
        let shares: Vec<u8> = (0..columns).map(|_| random.choice([0, 5, 60]).unwrap()).collect();
        let mut cell = |share: u8| (random.u8(..100) >= share).then(|| random.bool());
        let cells = shares.iter().map(|&share| (0..rows).map(|_| cell(share)).collect()).collect();
        Self { ids: (0..rows).map(|row| format!("{}", row * 3)).collect(), cells }
    }

    fn assert_read_back(&self, path: &Path, what: &str) {
        let table = LabelTable::read(path).unwrap();
        assert_eq!(table.ids.iter().collect::<Vec<_>>(), self.ids, "{what}");
        assert_eq!((table.labels.rows(), table.labels.columns()), (self.ids.len(), self.cells.len()), "{what}");
        for (column, cells) in self.cells.iter().enumerate() {
            for (row, &cell) in cells.iter().enumerate() {
                assert_eq!(table.labels.get(row, column), cell, "{what}: row {row}, column {column}");
            }
        }
        let unknown = self.cells.iter().flatten().any(Option::is_none);
        assert_eq!(table.labels.known().is_some(), unknown, "{what}");
    }

    fn csv(&self, random: &mut fastrand::Rng, delimiter: char) -> String {
        let line_end = random.choice(["\n", "\r\n"]).unwrap();
        let mut text = ["split", "id"].join(&delimiter.to_string());
        (0..self.cells.len()).for_each(|column| text += &format!("{delimiter}c{column}"));
        for (row, id) in self.ids.iter().enumerate() {
            let split = random.choice(["train", "\"test\"", ""]).unwrap();
            text += &format!("{line_end}{split}{delimiter}{id}");
            for cells in &self.cells {
                let words = match cells[row] {
                    Some(true) => ["1", "true", "TRUE", " 1 ", "\"True\""],
                    Some(false) => ["0", "false", "FALSE", " 0 ", "\"False\""],
                    None => ["", "  ", "\"\"", "", ""],
                };
                text += &format!("{delimiter}{}", random.choice(words).unwrap());
            }
        }
        text
    }

    /// The columns in turn as booleans, integers, strings, floats, large strings and a dictionary.
    fn arrays(&self) -> Vec<ArrayRef> {
        fn word(cell: &Option<bool>) -> Option<&'static str> {
            cell.map(|label| if label { "True" } else { "0" })
        }
        let array = |(column, cells): (usize, &Vec<Option<bool>>)| -> ArrayRef {
            match column % 7 {
                0 => Arc::new(BooleanArray::from(cells.clone())),
                1 => Arc::new(cells.iter().map(|cell| cell.map(i8::from)).collect::<Int8Array>()),
                2 => Arc::new(cells.iter().map(|cell| cell.map(i64::from)).collect::<Int64Array>()),
                3 => Arc::new(cells.iter().map(word).collect::<StringArray>()),
                4 => Arc::new(
                    cells.iter().map(|cell| cell.map(|label| f64::from(u8::from(label)))).collect::<Float64Array>(),
                ),
                5 => Arc::new(cells.iter().map(word).collect::<LargeStringArray>()),
                _ => Arc::new(cells.iter().map(word).collect::<DictionaryArray<Int32Type>>()),
            }
        };
        self.cells.iter().enumerate().map(array).collect()
    }
}

#[test]
fn random_tables_are_read_back() {
    let mut random = fastrand::Rng::with_seed(6);
    let folder = tempfile::tempdir().unwrap();
    let (csv, tsv) = (folder.path().join("a.csv"), folder.path().join("a.tsv"));
    let parquet = folder.path().join("a.parquet");
    for rows in [0, 1, 63, 64, 65, 1000] {
        for columns in [1, 7, 15] {
            let sample = Sample::random(&mut random, rows, columns);
            fs::write(&csv, sample.csv(&mut random, ',')).unwrap();
            sample.assert_read_back(&csv, &format!("csv of {rows} rows"));
            fs::write(&tsv, sample.csv(&mut random, '\t')).unwrap();
            sample.assert_read_back(&tsv, &format!("tsv of {rows} rows"));
            for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default())]
            {
                for group in [1 << 20, 100, 7] {
                    let names: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
                    let mut table: Vec<(&str, ArrayRef)> =
                        names.iter().map(String::as_str).zip(sample.arrays()).collect();
                    let ids: ArrayRef = if random.bool() {
                        Arc::new(sample.ids.iter().map(|id| id.parse().ok()).collect::<Int64Array>())
                    } else {
                        Arc::new(sample.ids.iter().map(Some).collect::<StringArray>())
                    };
                    table.insert(random.usize(0..=columns), ("id", ids));
                    let split: ArrayRef = Arc::new(NullArray::new(rows));
                    table.insert(random.usize(0..=columns), ("split", split));
                    let properties = WriterProperties::builder().set_compression(compression);
                    let properties = properties.set_max_row_group_row_count(Some(group)).build();
                    fs::write(&parquet, parquet_bytes(table, properties)).unwrap();
                    sample.assert_read_back(&parquet, &format!("parquet of {rows} rows in groups of {group}"));
                }
            }
        }
    }
}

#[test]
fn rows_beyond_one_batch_are_read_back() {
    let mut random = fastrand::Rng::with_seed(7);
    let sample = Sample::random(&mut random, 20_011, 7);
    let mut table: Vec<(&str, ArrayRef)> =
        ["a", "b", "c", "d", "e", "f", "g"].into_iter().zip(sample.arrays()).collect();
    table.push(("id", Arc::new(sample.ids.iter().map(Some).collect::<StringArray>())));
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(9001)).build();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    fs::write(&path, parquet_bytes(table, properties)).unwrap();
    sample.assert_read_back(&path, "three batches");
}
