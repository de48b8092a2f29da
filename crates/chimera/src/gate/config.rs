//! Every choice about gates.

pub use chimera_gate::draw::{Choice, Depth};
use chimera_gate::train::Recipe;
pub use chimera_gate::train::{Arithmetic, Negatives};
use serde::{Deserialize, Serialize};

use chimera_data::dataset::assign::DEFAULT_SEED;
use chimera_data::error::{Error, Result};

/// What a leaf gives its gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeafFeatures {
    /// z, centred and brought to one scale by the train rows; the same for every concept.
    #[default]
    Standard,
    /// z as it is (the paper's).
    Shared,
    /// Standard z, each number weighted by what the concept's head gives for it.
    Concept,
}

/// Every choice about gates. Names are those of options and of the configuration file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GateConfig {
    /// What a leaf gives its gate.
    pub leaf_features: LeafFeatures,
    /// Numbers between the layers of a gate (H).
    pub hidden: usize,
    /// What a gate learns from.
    pub negatives: Negatives,
    /// Whether gates and heads are taught on grafts, too: the methods `graft` and `neural`.
    pub grafts: bool,
    /// Whether samples are taken as they are only where the rule is known to hold.
    pub strict: bool,
    /// Where one sample of a chimera ends and another begins.
    pub chimeras: Depth,
    /// How samples are found for chimeras.
    pub sampler: Choice,
    /// Whether train rows that break a rule are left out.
    pub nominal_only: bool,
    /// Passes over the train rows, for each level.
    pub gate_epochs: usize,
    /// Chimeras a step.
    pub gate_batch: usize,
    /// Adam's learning rate.
    pub gate_rate: f64,
    /// The share of a weight that is added to its gradient.
    pub gate_weight_decay: f64,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// Who computes; set by the device that gates are taught on.
    #[serde(skip_serializing_if = "Arithmetic::is_default")]
    pub arithmetic: Arithmetic,
}

impl Default for GateConfig {
    fn default() -> Self {
        let recipe = Recipe::default();
        Self {
            leaf_features: LeafFeatures::default(),
            hidden: recipe.hidden,
            negatives: recipe.negatives,
            grafts: true,
            strict: false,
            chimeras: recipe.chimeras,
            sampler: recipe.sampler,
            nominal_only: false,
            gate_epochs: recipe.epochs,
            gate_batch: recipe.batch,
            gate_rate: recipe.rate,
            gate_weight_decay: recipe.weight_decay,
            seed: DEFAULT_SEED,
            arithmetic: Arithmetic::default(),
        }
    }
}

impl GateConfig {
    /// The choices of the paper's experiments.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            leaf_features: LeafFeatures::Shared,
            grafts: false,
            chimeras: Depth::Node,
            sampler: Choice::Shift,
            ..Self::default()
        }
    }

    /// The choices for gates and heads that are taught on grafts beside those of a model.
    #[must_use]
    pub(crate) fn for_grafts(&self) -> Self {
        Self { negatives: Negatives::Graft, strict: false, grafts: false, ..self.clone() }
    }

    /// How each gate is taught. Where no chimeras are drawn, how they would be is no part of it.
    #[must_use]
    pub fn recipe(&self) -> Recipe {
        let drawn = self.negatives.has_chimeras();
        Recipe {
            hidden: self.hidden,
            negatives: self.negatives,
            chimeras: if drawn { self.chimeras } else { Depth::default() },
            sampler: if drawn { self.sampler } else { Choice::default() },
            epochs: self.gate_epochs,
            batch: self.gate_batch,
            rate: self.gate_rate,
            weight_decay: self.gate_weight_decay,
            arithmetic: self.arithmetic,
        }
    }

    /// Checks every number, and choices that do not go together.
    ///
    /// # Errors
    /// [`Error::Input`] with the option's name, its range and what was got.
    pub fn check(&self) -> Result<()> {
        let refuse = |name: &str, range: &str, got: String| {
            Err(Error::input(format!("expected `{name}` {range}, got `{got}`"), None))
        };
        let counts = [
            ("hidden", self.hidden, 1 << 14),
            ("gate-epochs", self.gate_epochs, 100_000),
            ("gate-batch", self.gate_batch, 1 << 16),
        ];
        for (name, number, most) in counts {
            if number == 0 || number > most {
                return refuse(name, &format!("from 1 to {most}"), number.to_string());
            }
        }
        if !(self.gate_rate > 0.0 && self.gate_rate <= 1.0) {
            return refuse("gate-rate", "above 0, at most 1", self.gate_rate.to_string());
        }
        if !(0.0..=1.0).contains(&self.gate_weight_decay) {
            return refuse("gate-weight-decay", "from 0 to 1", self.gate_weight_decay.to_string());
        }
        if self.strict && !self.negatives.has_samples() {
            let message = "`strict` is about samples taken as they are, and these `negatives` take none";
            let hint = "add `--negatives both` or `--negatives same`, or leave it out";
            return Err(Error::input(message.to_owned(), Some(hint.to_owned())));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_pairs_that_make_no_sense_are_named() {
        let refused = |change: &dyn Fn(&mut GateConfig)| {
            let mut config = GateConfig::default();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert_eq!(refused(&|config| config.hidden = 0), "expected `hidden` from 1 to 16384, got `0`");
        assert_eq!(refused(&|c| c.gate_rate = f64::NAN), "expected `gate-rate` above 0, at most 1, got `NaN`");
        assert!(refused(&|config| config.strict = true).contains("hint: add `--negatives both`"));
        GateConfig::default().check().unwrap();
        GateConfig::paper().check().unwrap();
        // The paper's method is gates taught on chimeras of whole operands, and nothing beside them.
        let paper = GateConfig::paper();
        assert_eq!((paper.negatives, paper.chimeras, paper.grafts), (Negatives::Chimera, Depth::Node, false));
    }
}
