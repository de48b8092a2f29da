//! The tests of the command line, in one binary: they drive the real command in folders of their own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod support;

mod audit;
mod cache;
mod data;
#[cfg(feature = "evidence")]
mod demo;
mod devices;
mod eval;
#[cfg(feature = "evidence")]
mod experiment;
mod explain;
mod flags;
mod flipped_bits;
mod gates;
mod import_openimages;
mod import_solids;
mod import_vidor;
mod methods;
mod mine;
mod odd_names;
mod order;
mod review;
mod rules;
mod score;
mod score_input;
#[cfg(unix)]
mod score_interrupt;
mod score_output;
mod tidy;
mod train;
mod unreadable;
#[cfg(feature = "evidence")]
mod world;
