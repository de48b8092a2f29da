//! The laboratory: the paper's experiments and the demo, as presets over [worlds](chimera_world) and the [library](chimera).
//!
//! A [`World`](world::World) gives a dataset, a [`Study`](study::Study) teaches a model on it and measures every method, and each
//! [experiment](experiment::Experiment) is a few studies and a page of results beside what the paper says.

pub mod demo;
pub mod digits;
pub mod experiment;
pub mod markdown;
mod published;
pub mod site;
pub mod strips;
pub mod study;
pub mod world;
