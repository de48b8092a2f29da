//! Everything that names the gates of a run or of a model, so that the key of any gate is computed from its formula alone, with
//! the data at hand or without.

use std::collections::BTreeMap;

use chimera_data::error::{Error, Result};
use chimera_gate::cone::LeafFeature;
use chimera_gate::gate::{ARCHITECTURE, Shape};
use chimera_gate::train::Recipe;
use chimera_logic::dag::{Dag, Node, NodeId};
use chimera_logic::rules::RuleSet;
use serde::{Deserialize, Serialize};

use super::key::{Common, Key, effects_text, recipe_text};
use super::plan::Plan;

/// Raised when heads are trained in another way.
const HEADS: u32 = 1;

/// What a model remembers of the rows and labels that its gates were trained on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// The fingerprint of the rows and of their z.
    pub rows: String,
    /// The fingerprint of each concept's labels on these rows.
    pub labels: BTreeMap<String, String>,
    /// The fingerprint of what concepts add to z, where gates are trained on grafts.
    pub effects: Option<String>,
}

/// Features of leaves by concept; z itself where a concept has none.
pub(crate) type ConceptFeatures = BTreeMap<String, LeafFeature>;

/// Names for gates of one encoder and one set of train rows.
#[derive(Clone, Debug)]
pub(crate) struct Naming {
    /// The hash of the encoder's fingerprint.
    encoder: String,
    /// Numbers of a feature.
    width: usize,
    /// The fingerprint of the rows and of their z.
    rows: String,
    effects: Option<String>,
    leaves: BTreeMap<String, Key>,
}

impl Naming {
    pub(crate) fn new(lineage: &Lineage, features: &ConceptFeatures, encoder: &str, width: usize) -> Self {
        let leaf = |(concept, labels): (&String, &String)| {
            let feature = features.get(concept).cloned().unwrap_or_default();
            (concept.clone(), Key::leaf(concept, labels, encoder, &feature))
        };
        Self {
            encoder: encoder.to_owned(),
            width,
            rows: lineage.rows.clone(),
            effects: lineage.effects.clone(),
            leaves: lineage.labels.iter().map(leaf).collect(),
        }
    }

    /// The key of a leaf.
    fn leaf(&self, dag: &Dag, node: NodeId) -> Result<&Key> {
        let name = match dag.node(node) {
            Node::Leaf(concept) => dag.vocabulary().name(concept),
            Node::Gate(..) => "",
        };
        self.concept(name)
    }

    fn concept(&self, name: &str) -> Result<&Key> {
        self.leaves.get(name).ok_or_else(|| {
            let message = format!("nothing names the labels of `{name}` that gates were trained on");
            Error::input(
                message,
                Some("rules of a model are about the concepts of the data that it was trained on".to_owned()),
            )
        })
    }

    /// Everything that names a gate beside what it computes: sizes, recipe, seed, encoder and rows.
    pub(crate) fn names(&self, recipe: &Recipe, seed: u64, rows: &str) -> Result<String> {
        let recipe = recipe_text(recipe)?;
        let Self { encoder, width, .. } = self;
        Ok(format!(
            "architecture {ARCHITECTURE} features {width}\nencoder {encoder}\nrecipe {recipe}\nseed {seed}\nrows {rows}\n"
        ))
    }

    /// The same for what is trained on all train rows.
    pub(crate) fn own_names(&self, recipe: &Recipe, seed: u64) -> Result<String> {
        self.names(recipe, seed, &self.rows)
    }

    /// The key of a concept's head.
    pub(crate) fn head(&self, concept: &str, recipe: &Recipe, seed: u64) -> Result<Key> {
        let effects = self.effects_of(recipe).map(effects_text).unwrap_or_default();
        let (leaf, names) = (&self.concept(concept)?.hash, self.own_names(recipe, seed)?);
        Ok(Key::of(format!("chimera head {HEADS}\nleaf {leaf}\nhidden {}\n{names}{effects}", recipe.hidden)))
    }

    fn effects_of(&self, recipe: &Recipe) -> Option<&str> {
        self.effects.as_deref().filter(|_| recipe.negatives.has_grafts())
    }

    /// The gates that rules need, with their keys. `filters` as in [`Plan::new`].
    pub(crate) fn plan(
        &self,
        rule_set: &RuleSet,
        filters: &[Option<usize>],
        recipe: &Recipe,
        seed: u64,
    ) -> Result<Plan> {
        let Self { encoder, width, rows, .. } = self;
        let common = Common { encoder, recipe, seed, rows, effects: self.effects_of(recipe) };
        let shape = |arity| Shape { arity, features: *width, hidden: recipe.hidden };
        Plan::new(rule_set, filters, &common, &shape, &|node| self.leaf(&rule_set.dag, node).cloned())
    }

    /// The sizes of a gate with so many operands.
    pub(crate) fn shape(&self, arity: usize, recipe: &Recipe) -> Shape {
        Shape { arity, features: self.width, hidden: recipe.hidden }
    }
}
