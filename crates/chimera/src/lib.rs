//! Logical anomaly detection: data, learning, scoring and reports over the rules of [`chimera_logic`].
//!
//! So far: [`data`] reads tables of labels into bit columns, [`leaf`] keeps what an encoder says about samples and makes
//! probabilities of it, [`gate`] teaches the inner nodes of rules, [`score`] scores samples by them, [`mine`] finds rules in labels, [`metric`] measures scores, [`eval`] asks every method and [`report`] shows the answer, [`mod@file`] writes results so that nothing is ever left half written,
//! and [`error`] says what went wrong, whose fault it is and what to do.
//!
//! The library never prints, reads the environment, or exits.

pub mod audit;
pub mod baseline;
pub mod cache;
pub mod card;
mod chunks;
pub mod data;
pub mod error;
pub mod eval;
pub mod explain;
pub mod file;
pub mod gate;
pub mod leaf;
pub mod media;
pub mod metric;
pub mod mine;
pub mod model;
pub mod new_folder;
pub mod parallel;
pub mod report;
pub mod review;
pub mod score;
pub mod seed;
pub mod selftest;
pub mod teach;
pub mod toml_file;
