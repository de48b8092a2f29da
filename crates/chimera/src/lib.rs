//! Logical anomaly detection: data, learning, scoring and reports over the rules of [`chimera_logic`].
//!
//! So far: [`data`] reads tables of labels into bit columns, [`mod@file`] writes results so that nothing is ever left
//! half written, and [`error`] says what went wrong, whose fault it is and what to do.
//!
//! The library never prints, reads the environment, or exits.

pub mod data;
pub mod error;
pub mod file;
pub mod media;
mod parallel;
