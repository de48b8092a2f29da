//! The second stage of `train`: gates for every inner node of the rules, taught on chimeras of encoded samples.
//!
//! [`config`] has every choice, [`plan`] lists the gates that rules need, [`key`] names each by everything that decides its
//! weights, [`stored`] is one gate as a file and [`cache`] the folder of them, [`lesson`] is what gates of a run are taught with,
//! [`shelf`] where they are looked for first, [`stage`] teaches what is missing, level by level, [`report`] says what became of
//! each. [`naming`] computes keys from formulas, [`section`] is what a manifest says of gates, [`loaded`] finds each by its key, and
//! [`rules`] has them ready to run. [`effects`] is what concepts add to z, [`heads`] are gates for single concepts, and
//! [`grafts`] is what a model is taught with both, if they can be [trusted](trust). The numbers themselves are the business of [`chimera_gate`].

pub mod cache;
pub mod config;
pub mod effects;
pub mod grafts;
pub mod heads;
pub mod key;
pub(crate) mod leaf_file;
pub mod lesson;
pub mod loaded;
pub(crate) mod named;
pub mod naming;
pub(crate) mod plan;
pub mod report;
pub mod rules;
pub mod section;
pub(crate) mod shelf;
pub mod stage;
pub mod stored;
pub(crate) mod teacher;
pub mod trust;
