//! The name of a gate: everything that decides its weights, as readable text, and the hash of that text.
//!
//! The text names the operator, the operands by their own keys, the architecture, the encoder, the recipe, the seed, the rows
//! and, through the leaves, the labels that it reads. Nothing of other rules is in it, so a gate is the same whatever rules
//! it is trained with; a change of anything that matters gives another name.

use std::fmt::Write;

use chimera_gate::cone::LeafFeature;
use chimera_gate::gate::{ARCHITECTURE, Shape};
use chimera_gate::train::Recipe;
use chimera_logic::syntax::Op;

use chimera_data::error::{Error, Result};

/// A key: its text and the hash that is its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// What it says, a fact a line.
    pub text: String,
    /// Blake3 of the text.
    pub hash: String,
}

impl Key {
    /// A text with its hash.
    #[must_use]
    pub fn of(text: String) -> Self {
        let hash = blake3::hash(text.as_bytes()).to_string();
        Self { text, hash }
    }

    /// The start of the hash, enough to tell keys apart.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.hash[..16]
    }

    /// A seed for everything that the gate draws. The text has the user's seed in it.
    #[must_use]
    pub fn seed(&self, purpose: &str) -> u64 {
        let mut hasher = blake3::Hasher::new_derive_key("chimera gate");
        hasher.update(purpose.as_bytes()).update(self.text.as_bytes());
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// The key of a leaf: its concept, the labels on the rows that are learned from, the encoder, and what is made of z.
    #[must_use]
    pub fn leaf(concept: &str, labels: &str, encoder: &str, feature: &LeafFeature) -> Self {
        let feature = feature_text(feature);
        // Names in quotes: one with a line break in it cannot pass for two.
        Self::of(format!(
            "chimera leaf 1\nconcept {concept:?}\nlabels {labels}\nencoder {encoder}\nfeature {feature}\n"
        ))
    }
}

/// Raised when grafts are drawn in another way.
const GRAFTS: u32 = 2;

/// What names effects and the way in which grafts are drawn, in keys of what is taught on them.
pub(crate) fn effects_text(effects: &str) -> String {
    format!("effects {effects}\ngrafts {GRAFTS}\n")
}

/// The recipe of a gate in its key, with the number of the kernels where a GPU teaches it.
///
/// # Errors
/// Never in practice: a recipe that cannot be written as text.
pub(crate) fn recipe_text(recipe: &Recipe) -> Result<String> {
    let failed = |error| Error::input(format!("cannot write the recipe of a gate: {error}"), None);
    let kernels = recipe.arithmetic.kernels().map(|number| format!("\nkernels {number}")).unwrap_or_default();
    Ok(serde_json::to_string(recipe).map_err(failed)? + &kernels)
}

/// What a leaf makes of z, in a word and a hash.
pub(crate) fn feature_text(feature: &LeafFeature) -> String {
    match feature {
        LeafFeature::Shared => "z".to_owned(),
        LeafFeature::Affine { shift, scale } => {
            let mut hasher = blake3::Hasher::new();
            for number in shift.iter().chain(scale.iter()) {
                hasher.update(&number.to_le_bytes());
            }
            format!("affine {}", hasher.finalize())
        }
    }
}

/// What the keys of all gates of a run have in common.
#[derive(Clone, Debug)]
pub(crate) struct Common<'a> {
    /// The hash of the encoder's fingerprint.
    pub encoder: &'a str,
    /// How gates are taught.
    pub recipe: &'a Recipe,
    /// The user's seed.
    pub seed: u64,
    /// The fingerprint of the rows and of their z.
    pub rows: &'a str,
    /// The fingerprint of what concepts add to z, where grafts are taught on.
    pub effects: Option<&'a str>,
}

impl Common<'_> {
    /// The key of a gate. `filter` is the root of the rule that decided which samples it saw as they are, and whether it is
    /// negated, if that left some out.
    ///
    /// # Errors
    /// Never in practice: a recipe that cannot be written as text.
    pub(crate) fn gate(
        &self,
        op: Op,
        operands: &[(&Key, bool)],
        shape: Shape,
        filter: Option<(&Key, bool)>,
    ) -> Result<Key> {
        let recipe = recipe_text(self.recipe)?;
        let mut text = format!("chimera gate 2\nop {}\n", op.name().to_lowercase());
        let not = |negated: bool| if negated { "not " } else { "" };
        for (operand, negated) in operands {
            // Writing to a string does not fail.
            let _ = writeln!(text, "operand {}{}", not(*negated), operand.hash);
        }
        let Shape { features, hidden, .. } = shape;
        let _ = write!(
            text,
            "architecture {ARCHITECTURE} features {features} hidden {hidden}\nencoder {}\nrecipe {recipe}\nseed {}\nrows {}\n",
            self.encoder, self.seed, self.rows
        );
        if let Some(effects) = self.effects {
            text += &effects_text(effects);
        }
        if let Some((root, negated)) = filter {
            let _ = writeln!(text, "filter {}{}", not(negated), root.hash);
        }
        Ok(Key::of(text))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use chimera_gate::train::Arithmetic;

    use super::*;
    use crate::gate::naming::{ConceptFeatures, Lineage, Naming};

    /// The text of a key, word by word. Models of this layout and caches are full of such names: whoever changes one here makes every
    /// model unreadable, and raises the layout of models with it.
    #[test]
    fn what_names_a_gate_is_a_part_of_the_layout_of_models() {
        let recipe = Recipe::default();
        let common = Common { encoder: "e", recipe: &recipe, seed: 7, rows: "r", effects: Some("f") };
        let [a, b] = ["a", "b"].map(|concept| Key::leaf(concept, "l", "e", &LeafFeature::Shared));
        assert_eq!(a.text, "chimera leaf 1\nconcept \"a\"\nlabels l\nencoder e\nfeature z\n");
        let shape = Shape { arity: 2, features: 4, hidden: 8 };
        let gate = common.gate(Op::And, &[(&a, false), (&b, true)], shape, Some((&a, true))).unwrap();
        assert_eq!(
            (gate.text, crate::model::SCHEMA),
            (
                format!(
                    "chimera gate 2\nop and\noperand {}\noperand not {}\narchitecture linear-relu-linear-relu-head/1 features 4 hidden 8\nencoder e\nrecipe {{\"hidden\":256,\"negatives\":\"chimera\",\"chimeras\":\"deep\",\"sampler\":\"stratified\",\"epochs\":2,\"batch\":64,\"rate\":0.001,\"weight-decay\":0.0}}\nseed 7\nrows r\neffects f\ngrafts 2\nfilter not {}\n",
                    a.hash, b.hash, a.hash
                ),
                6
            )
        );
        // Kernels of GPUs have a number of their own, and so have heads.
        let recipe = Recipe { arithmetic: Arithmetic::CudaTf32, ..recipe };
        let text = recipe_text(&recipe).unwrap();
        assert!(text.ends_with("\"arithmetic\":\"cuda-tf32\"}\nkernels 2"), "{text}");
        let lineage =
            Lineage { rows: "r".to_owned(), labels: [("a".to_owned(), "l".to_owned())].into(), effects: None };
        let naming = Naming::new(&lineage, &ConceptFeatures::new(), "e", 4);
        let head = naming.head("a", &Recipe::default(), 7).unwrap();
        assert!(head.text.starts_with(&format!("chimera head 1\nleaf {}\nhidden 256\n", a.hash)), "{}", head.text);
    }
}
