//! Whether grafts can be trusted for a rule, known without any sample that breaks it. Where they cannot, `neural` asks independent
//! events.

use std::collections::BTreeMap;

use chimera_gate::effects::Design;
use chimera_gate::trust::LeftOut;
use chimera_logic::bits::TruthTable;
use chimera_logic::rules::RuleSet;
use serde::{Deserialize, Serialize};

use super::heads::concepts_of;

/// Of what effects explain of samples, they must explain this share of configurations that they have not seen. In worlds whose
/// concepts add up it is .85 to 1.1, in worlds of classes with looks of their own .3 to .5 (`docs/quality.md`).
pub const LEAST_RATIO: f64 = 0.75;

/// So much of z must be explained at all.
pub const LEAST_EXPLAINED: f64 = 0.02;

/// So much of a concept's labels must not be told by other labels.
pub const LEAST_APART: f64 = 0.05;

/// What is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// The share of z that labels explain, on samples that were left out.
    pub samples: Option<f64>,
    /// The same where samples that agree in some concepts of the rules were left out together.
    pub configurations: Option<f64>,
    /// For each concept how much of its labels others do not tell, from 0 to 1.
    pub apart: BTreeMap<String, f64>,
}

impl Trust {
    pub(super) fn new(left_out: Option<LeftOut>, labels: &TruthTable, concepts: &[String]) -> Self {
        let apart = Design::new(labels).map(|design| design.apart()).unwrap_or_default();
        Self {
            samples: left_out.map(|left_out| left_out.samples),
            configurations: left_out.map(|left_out| left_out.configurations),
            apart: concepts.iter().cloned().zip(apart).collect(),
        }
    }

    /// Why grafts cannot be trusted for any rule; `None` where they can.
    #[must_use]
    pub fn distrust(&self) -> Option<String> {
        let (Some(samples), Some(configurations)) = (self.samples, self.configurations) else {
            return Some(
                "nothing tells what concepts add to z: none that rules speak of differs and is seen in z".to_owned(),
            );
        };
        if samples < LEAST_EXPLAINED {
            return Some(format!("concepts explain next to nothing of z ({samples:.3})"));
        }
        (LeftOut { samples, configurations }.ratio() < LEAST_RATIO).then(|| {
            format!(
                "what concepts add to z explains {samples:.2} of it, but only {configurations:.2} of samples whose \
                 configurations were left out"
            )
        })
    }

    /// Why grafts cannot be trusted for a rule; `None` where they can.
    #[must_use]
    pub fn distrust_of(&self, rule_set: &RuleSet, rule: usize) -> Option<String> {
        self.distrust().or_else(|| {
            let mut concepts = concepts_of(rule_set, rule).map(|concept| rule_set.dag.vocabulary().name(concept));
            let told = |concept: &&str| self.apart.get(*concept).is_none_or(|apart| *apart < LEAST_APART);
            let concept = concepts.find(told)?;
            Some(format!(
                "`{concept}` never differs in training, or other labels tell it almost wholly: nobody knows what it adds to z \
                 by itself"
            ))
        })
    }
}
