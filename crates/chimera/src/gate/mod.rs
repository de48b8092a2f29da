//! The second stage of `train`: gates for every inner node of the rules, taught on chimeras of encoded samples.
//!
//! [`config`] has every choice, [`plan`] lists the gates that rules need, [`key`] names each by everything that decides its
//! weights, [`stored`] is one gate as a file and [`cache`] the folder of them, [`stage`] teaches what is missing, level by
//! level, [`report`] says what became of each, and [`rules`] has
//! them ready to run. The numbers themselves are the business of [`chimera_gate`].

pub mod cache;
pub mod config;
pub mod key;
mod plan;
pub mod report;
pub mod rules;
pub mod stage;
pub mod stored;
