//! Scores of samples: how likely each rule is ([`method`]), how badly it is broken ([`violation`]), one number a sample
//! ([`aggregate`], [`learned`]), where normal ends ([`threshold`]) and who is beyond ([`flag`]). [`engine`] and [`ready`] put them together;
//! every command asks it, so the same sample has the same scores everywhere. [`pass`] takes any number of samples through
//! encoder and engine.

pub mod aggregate;
pub mod engine;
pub mod flag;
pub mod learned;
pub mod method;
mod neural;
pub mod pass;
pub mod readable;
pub mod ready;
pub mod samples;
pub mod threshold;
pub mod violation;
