//! The leaf bank: pictures, videos or given features to z, and z to one logit a concept.
//!
//! ```text
//! u8 frames -> input -> encoder (a vector a frame) -> pool (a vector a sample) -> projection -> z -> heads -> logits
//! ```

mod activation;
pub mod adam;
pub mod agreement;
pub mod bank;
mod batch;
pub mod calibrate;
mod checkpoint;
pub mod cnn;
pub mod config;
pub mod conv;
#[cfg(feature = "cuda")]
mod cuda;
pub mod device;
pub mod encode;
pub mod encoded;
pub mod encoder;
mod epoch;
pub mod features;
mod fill;
mod geometry;
pub mod held_out;
mod init;
pub mod input;
mod layer;
pub mod learner;
mod linear;
pub mod look;
pub mod loss;
mod maps;
mod mobilenet;
mod parameters;
pub mod pool;
mod resnet;
mod running;
pub mod samples;
pub mod selftest;
pub mod stage;
pub mod stream;
pub mod train;
pub mod vectors;
pub mod weights;
pub mod workload;
