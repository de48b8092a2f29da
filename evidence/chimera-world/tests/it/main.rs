//! The tests of worlds, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, says what it skips, and is told where real data is"
)]

mod figures;
mod files;
mod labels;
mod mp4;
mod openimages;
mod vidor;
