//! Data in: tables of labels, one row a sample and one column a concept.

mod cell;
mod csv_table;
mod header;
mod label_columns;
mod parquet_file;
mod parquet_labels;
mod parquet_table;
pub mod problem;
mod records;
mod sample_ids;
pub mod table;
