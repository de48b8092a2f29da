//! Gates on disk and in a model: a small network for every inner node of the rules, trained on chimeras of encoded samples.
//!
//! What a gate is called: [`config`] has every choice, [`key`] names a gate by everything that decides its weights, [`plan`] lists the gates that rules need, [`naming`] computes keys from
//! formulas. Where it lies: [`stored`] is one gate as a file, [`cache`] the folder of them, [`shelf`] the places where a gate is looked for before it is trained. How it is trained: [`material`] is
//! what a run is given, [`lesson`] what its gates learn from, [`levels`] trains what is missing, level by level, [`train_grafts`] and [`train_heads`] do so for grafts, [`stage`] is all of it, [`trained`]
//! what comes out and [`report`] what became of each gate. How a model has it: [`section`] is the part of the manifest, [`loaded`] finds each gate by its key, [`rules`] and [`grafts`] are
//! ready to run, [`heads`] are gates for single concepts, [`effects`] is what concepts add to z, if that can be [trusted](trust). The numbers themselves are the business of [`chimera_gate`].

pub mod cache;
pub mod calibration_rows;
pub mod config;
pub mod effects;
pub mod grafts;
pub mod heads;
pub mod key;
pub(crate) mod leaf_file;
pub mod lesson;
mod levels;
pub mod loaded;
pub mod material;
pub(crate) mod named;
pub mod naming;
pub(crate) mod plan;
pub mod report;
pub mod rules;
pub mod section;
pub(crate) mod shelf;
pub(crate) mod slices;
pub mod stage;
pub mod stored;
pub(crate) mod teacher;
mod train_grafts;
pub(crate) mod train_heads;
pub mod trained;
pub mod trust;
