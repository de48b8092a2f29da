//! Scores of samples: how likely each rule is ([`method`]), how badly it is broken ([`violation`]), one number a sample
//! ([`aggregate`]), and where normal ends ([`threshold`]). [`engine`] puts them together; every command asks it, so the same
//! sample has the same scores everywhere.

pub mod aggregate;
pub mod engine;
pub mod method;
pub mod nominal;
pub mod threshold;
pub mod violation;
