//! Gates on NVIDIA GPUs. What `chimera_gate` does a gate a core, this crate does for all gates of a level at once: chimeras and
//! grafts are drawn on the device, products of all gates go in one launch, and nothing comes back before an epoch is done.
//!
//! [`gpu`] finds devices and makes one ready; `compiler` compiles kernels (the files in `kernels/`) with NVIDIA's own compiler
//! when the program runs, and `shelf` keeps them for the next run. [`teach`] teaches gates, [`evaluate`] runs them over samples.
//! [`layout`] says where a gate's numbers lie on a device, and `program` turns what is drawn from into lists that kernels read.
//!
//! Neither driver nor compiler is linked: without them [`gpu::Gpu::open`] says what is missing.

pub mod agreement;
mod compiler;
mod cones;
pub mod error;
pub mod evaluate;
pub mod gpu;
mod grafts;
mod heads;
mod layout;
mod memory;
mod parallel;
mod products;
mod program;
mod rooms;
mod shelf;
pub mod teach;
