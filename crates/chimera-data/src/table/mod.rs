//! Tables of labels: read from CSV, TSV, Parquet and JSON lines straight into bit columns, and written.
//!
//! [`labels`] is the table and [`mod@read`] finds the reader for a file; [`names`] keeps many ids in little memory.

mod cell;
pub(crate) mod columns;
mod csv_table;
mod extras;
pub(crate) mod fingerprint;
mod header;
mod json_table;
mod label_columns;
pub mod labels;
pub mod names;
mod parquet_bits;
pub mod parquet_file;
mod parquet_labels;
mod parquet_table;
pub mod read;
mod records;
mod sample_ids;
pub(crate) mod writer;

pub use self::cell::CellRule;
pub use self::columns::{ColumnNames, TableOptions};
pub use self::labels::LabelTable;
pub(crate) use self::parquet_table::each_text;
