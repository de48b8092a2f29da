//! Logical anomaly detection: models of rules over concepts, and what they say of samples.
//!
//! [`train`] makes a [`model`] of a dataset and rules: a leaf bank ([`chimera_leaf`]) and a [`gate`] for every inner node, beside the [`baseline`]s that they are compared with. [`score`] scores
//! samples, [`explain`] says why, [`eval`] measures every method and [`report`] shows it. [`audit`] asks whether labels are wrong, [`review`] takes a person's verdicts, [`card`] describes a
//! model, [`seen`] knows its rows, and [`cache`] cleans up what is kept for all models.
//!
//! The library never prints, reads the environment, or exits.

pub mod audit;
pub mod baseline;
pub mod cache;
pub mod card;
pub mod eval;
pub mod explain;
pub mod gate;
pub mod model;
pub mod report;
pub mod review;
pub mod score;
pub mod seen;
pub mod train;
