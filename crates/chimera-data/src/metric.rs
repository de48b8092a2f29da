//! How good scores are: ranks against labels, probabilities against frequencies, and tables of both.
//!
//! Everything works on slices, skips unknown labels, and says `None` where a number is not defined: a concept without
//! positives or without negatives has no AUROC, and certainly not one of 0.5.

pub mod bootstrap;
pub mod columns;
pub mod label_bits;
pub mod leaf_table;
mod pairs;
mod radix;
pub mod ranking;
pub mod reliability;

use serde::Serialize;

/// A mean over concepts or rules of which some have no value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MacroMean {
    /// The mean of the defined ones, `None` where there are none.
    pub mean: Option<f64>,
    /// How many are defined.
    pub defined: usize,
    /// How many are not, and so are no part of the mean.
    pub undefined: usize,
}

impl MacroMean {
    /// The mean of those that are defined.
    pub fn of(values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let (mut sum, mut defined, mut undefined) = (0.0, 0, 0);
        for value in values {
            match value {
                Some(value) => (sum, defined) = (sum + value, defined + 1),
                None => undefined += 1,
            }
        }
        Self { mean: (defined > 0).then(|| sum / defined as f64), defined, undefined }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_leaves_out_what_is_undefined_and_counts_it() {
        let mean = MacroMean::of([Some(0.25), None, Some(0.75), None, None]);
        assert_eq!(mean, MacroMean { mean: Some(0.5), defined: 2, undefined: 3 });
        assert_eq!(MacroMean::of([None]), MacroMean { mean: None, defined: 0, undefined: 1 });
        assert_eq!(MacroMean::of([]).mean, None);
    }
}
