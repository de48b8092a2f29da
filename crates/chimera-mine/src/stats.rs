//! The statistics that mining stands on: exact tests, exact bounds, and what many tests at once may claim.

mod discovery;
mod factorial;
mod fisher;
mod interval;

pub use discovery::{Discoveries, false_discoveries};
pub use fisher::fisher_greater;
pub use interval::{binomial_at_most, clopper_pearson};
