//! Gates: the small networks that stand for the inner nodes of rules, over plain slices of numbers.
//!
//! [`product`] is the one inner loop; [`pack`] says where operands lie in a gate's input; [`gate`] holds the weights and
//! [`pass`] runs them forwards and backwards; [`draw`] makes chimeras and their exact targets, [`graft`] samples with other
//! concepts by what these add to z ([`effects`], and [`trust`] whether to believe them); [`ground`] is what gates are taught on
//! and [`train`] teaches one gate, [`evaluate`] runs all gates of a rule set over samples, and [`audit`] asks a trained gate
//! what it has learned.
//!
//! This crate knows neither files nor tensors of a framework, reads no clock and prints nothing, and compiles in seconds.
//! The convolution of the leaf bank uses its product loop, too.

pub mod adam;
pub mod audit;
pub mod cone;
pub mod draw;
pub mod effects;
pub mod evaluate;
pub mod gate;
pub mod graft;
pub mod ground;
pub mod linear;
pub mod normal;
pub mod pack;
pub mod pass;
pub mod product;
pub mod train;
pub mod trust;
