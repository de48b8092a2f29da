//! The tests of the leaf bank from outside, in one binary: each binary links all of burn, in time and in disk.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test fails by panicking and says what it skips"
)]

mod support;

mod calibration;
mod encoded;
mod flipped_bits;
mod leaf;
mod resume;
mod stream;
