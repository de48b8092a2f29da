//! What came of one epoch of training: a line of the log, and a part of a checkpoint.

use serde::{Deserialize, Serialize};

use super::held_out::HeldOut;

/// What came of an epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Its number, from 1.
    pub epoch: usize,
    /// Mean loss over the known labels of the train rows while they were learned from; with `pos_weight`, as weighted there.
    pub loss: f64,
    /// The learning rate of its last step.
    pub rate: f64,
    /// What held-out rows say; `None` where there are none.
    pub held_out: Option<HeldOut>,
    /// How long it took, held-out rows included.
    pub seconds: f64,
    /// Samples learned from a second.
    pub samples_per_second: f64,
}
