//! Worlds of our own: rigid bodies on a table, things before backdrops and figures that walk about, simulated, rendered, and
//! written in the formats of real datasets, so that importers read real and simulated data through the same code.

pub mod brush;
pub mod camera;
pub mod clevr;
pub mod clevrer;
pub mod clip;
pub mod draw;
mod files;
pub mod kinds;
pub mod meanings;
pub mod motion;
mod mp4;
pub mod openimages;
pub mod order;
pub mod paint;
pub mod photo;
pub mod presets;
pub mod render;
mod shade;
pub mod sight;
pub mod solid;
pub mod stage;
pub mod still;
pub mod vidor;
pub mod view;
pub mod wish;
