//! The dataset folder, the one form that everything after import reads.
//!
//! [`folder`] opens it, [`manifest`] is its `dataset.toml`, [`draft`] writes it; [`assign`] and [`rows`] say what a sample is for; [`mod@media`] finds
//! pictures and videos; [`fingerprint`] names content; [`summary`] and [`check`] tell what a folder holds and what is wrong with it; [`hierarchy`] is that of its
//! concepts, [`structure`] makes rules of it and [`promises`] says what its importer guarantees.

pub mod assign;
pub mod check;
pub mod draft;
pub mod fingerprint;
pub mod folder;
pub mod hierarchy;
pub mod manifest;
pub mod media;
pub mod promises;
pub mod rows;
pub mod rule_names;
pub mod structure;
pub mod summary;

pub use self::folder::{Dataset, FEATURES, SAMPLES, SAMPLES_TEXT, labels_at};
