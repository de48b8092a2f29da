//! Data in: any source becomes a dataset folder ([`import`]), and everything else reads that folder ([`dataset`]).
//!
//! [`table`] reads labels straight into bit columns; [`split`], [`assign`] and [`rows`] say what a sample is for;
//! [`features`] are ready-made vectors; [`fingerprint`] names content; [`summary`] and [`check`] tell what a folder holds
//! and what is wrong with it.

pub mod assign;
mod cell;
pub mod check;
pub mod clevr;
mod columns;
mod csv_table;
pub mod dataset;
mod deflated;
pub mod draft;
mod extras;
pub mod features;
pub mod fingerprint;
mod header;
pub mod hierarchy;
pub mod import;
mod json_table;
mod label_columns;
pub mod loose;
pub mod manifest;
pub mod media;
pub mod names;
mod parquet_bits;
pub(crate) mod parquet_file;
mod parquet_labels;
mod parquet_table;
pub mod problem;
pub mod promises;
mod records;
pub mod rows;
pub(crate) mod rule_names;
mod sample_ids;
pub mod split;
pub mod structure;
pub mod summary;
pub mod table;
mod table_writer;
pub mod vidor;
