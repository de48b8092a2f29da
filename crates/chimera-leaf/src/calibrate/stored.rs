//! What was read from a file before it is believed.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{Calibration, HIGHEST, LOWEST, Platt, Temperature};

/// The fields of a [`Calibration`], not checked yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    temperature: Temperature,
    platt: Vec<Platt>,
}

impl TryFrom<Stored> for Calibration {
    type Error = String;

    fn try_from(Stored { temperature, platt }: Stored) -> Result<Self, String> {
        if !(LOWEST..=HIGHEST).contains(&temperature.value) {
            let value = temperature.value;
            return Err(format!("expected a temperature from {LOWEST} to {HIGHEST}, got {value}"));
        }
        let mut concepts = BTreeSet::new();
        for line in &platt {
            let Platt { concept, slope, intercept, .. } = line;
            // Numbers beyond the range of `f32` are read as infinite.
            if !slope.is_finite() || !intercept.is_finite() {
                return Err(format!("expected a finite line for `{concept}`, got {slope} and {intercept}"));
            }
            if !concepts.insert(concept) {
                return Err(format!("expected every concept once, got `{concept}` again"));
            }
        }
        Ok(Self { temperature, platt })
    }
}
