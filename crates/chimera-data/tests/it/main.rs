//! The tests of datasets, media and metrics from outside, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod support;

mod clevr_concepts;
mod dataset;
mod frame_folder;
mod images;
mod import;
mod import_clevr;
mod import_clevrer;
mod import_coco;
mod import_features;
mod import_openimages;
mod import_openimages_bad;
mod import_openimages_real;
mod import_vidor;
mod import_vidor_bad;
mod import_vidor_rules;
mod label_round_trip;
mod label_table;
mod metrics;
mod prepared;
mod structure;
mod video;
