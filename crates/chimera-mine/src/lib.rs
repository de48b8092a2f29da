//! Rules from labels: what train rows say about which concepts go together, with statistics, on clean splits.
//!
//! [`search`] goes through all pairs and triples of concepts by counts of bits ([`popcount`], [`pairs`], [`evidence`]);
//! [`stats`] tells rules from chance, [`judge`] and [`confirm`] ask rows that the search did not see, [`packages`] joins pairs into larger rules,
//! [`select`] chooses rules that say different things. [`record`] keeps which rows were seen, so that they
//! are recognised where they are to be evaluated; [`explain`] shows what speaks for a rule.

mod candidate;
mod confirm;
pub mod contingency;
pub mod evidence;
pub mod explain;
mod funnel;
mod judge;
mod mining;
pub mod options;
mod outcome;
mod packages;
pub mod pairs;
mod parts;
mod popcount;
pub mod record;
pub mod rounding;
mod search;
mod select;
pub mod shape;
pub mod stats;
mod text;
mod varying;

pub use funnel::{Fate, Funnel, Removed};
pub use mining::mine;
pub use outcome::{Constant, Elsewhere, LeftOut, Meant, MinedRule, Mining};
pub use text::is_as_written;
