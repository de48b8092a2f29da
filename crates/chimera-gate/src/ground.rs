//! What gates are taught on: samples with features, and the exact truth of every node on them.

use std::sync::Arc;

use chimera_logic::bits::TruthTable;
use chimera_logic::dag::{Dag, Edge, Node, NodeId};
use chimera_logic::truth::Program;

use crate::cone::{Cone, Features, LeafFeature};
use crate::draw::{Depth, Drawing, Population, Truths};
use crate::gate::{Gate, Shape};
use crate::graft::{Effects, Grafting, Labels};
use crate::train::{Recipe, Task};

/// Samples and truths.
#[derive(Debug)]
pub struct Ground<'a, F> {
    dag: &'a Dag,
    /// The samples' features.
    pub features: &'a F,
    /// Numbers of a feature.
    pub width: usize,
    /// The samples.
    pub population: Population,
    /// By node; nothing where no rule needs it.
    truths: Vec<Arc<Truths>>,
    /// What each leaf gives its gate, by node.
    leaves: Vec<LeafFeature>,
    /// What concepts add to z, for grafts.
    effects: Option<&'a Effects>,
    labels: Labels,
}

impl<'a, F: Features> Ground<'a, F> {
    /// The truths of all nodes that some roots need. `labels` has a row for each sample, a column for each concept.
    ///
    /// # Panics
    /// Where the table has fewer columns than the vocabulary has concepts.
    #[must_use]
    pub fn new(
        dag: &'a Dag,
        roots: &[Edge],
        labels: &TruthTable,
        (features, width): (&'a F, usize),
        groups: Option<Arc<[u32]>>,
        leaf: impl Fn(NodeId) -> LeafFeature,
    ) -> Self {
        let cone = dag.cone(roots);
        let edges: Vec<Edge> = cone.iter().map(|&node| Edge::new(node, false)).collect();
        let table = Program::compile(dag, &edges).evaluate(labels);
        let mut truths = vec![Arc::default(); dag.len()];
        let mut leaves = vec![LeafFeature::Shared; dag.len()];
        for (column, node) in cone.into_iter().enumerate() {
            truths[node.index()] = Arc::new(Truths::of_column(&table, column));
            if let Node::Leaf(_) = dag.node(node) {
                leaves[node.index()] = leaf(node);
            }
        }
        Self {
            dag,
            features,
            width,
            population: Population { rows: labels.rows(), groups },
            truths,
            leaves,
            effects: None,
            labels: Labels::default(),
        }
    }

    /// The same with what concepts add to z, for recipes with grafts. `labels` are those of [`new`](Self::new).
    #[must_use]
    pub fn with_effects(self, effects: &'a Effects, labels: &TruthTable) -> Self {
        Self { effects: Some(effects), labels: Labels::of(labels), ..self }
    }

    /// The truth of a node on every sample.
    #[must_use]
    pub fn truths(&self, node: NodeId) -> &Arc<Truths> {
        &self.truths[node.index()]
    }

    /// A node with the trained gates below it; `None` where it unfolds too far.
    pub fn cone(&self, node: NodeId, gate: &impl Fn(NodeId) -> Option<Arc<Gate>>) -> Option<Cone> {
        Cone::unfold(self.dag, node, &|leaf| self.leaves[leaf.index()].clone(), gate)
    }

    /// How chimeras of a cone are drawn here.
    #[must_use]
    pub fn drawing(&self, cone: &Cone, depth: Depth) -> Drawing {
        Drawing::new(cone, depth, &|node| self.truths(node).clone())
    }

    /// A gate to be taught. `kept` are the samples that may be taken as they are.
    #[must_use]
    pub fn task<'t>(&'t self, cone: &'t Cone, recipe: &'t Recipe, kept: Option<&'t [u32]>, seed: u64) -> Task<'t, F> {
        let truths = |node| self.truths(node).clone();
        Task {
            shape: Shape { arity: cone.operands.len(), features: self.width, hidden: recipe.hidden },
            chimeras: recipe.negatives.has_chimeras().then(|| self.drawing(cone, recipe.chimeras)),
            same: recipe.negatives.has_samples().then(|| Drawing::same(cone, &truths)),
            grafts: self.effects.filter(|_| recipe.negatives.has_grafts()).map(|effects| {
                let concept = |node| match self.dag.node(node) {
                    Node::Leaf(concept) => concept.index(),
                    Node::Gate(..) => 0,
                };
                Grafting::new(cone, effects, &self.labels, concept)
            }),
            features: self.features,
            population: &self.population,
            cone,
            recipe,
            kept,
            seed,
        }
    }

    /// The head of a concept, taught on grafts in which other concepts are drawn anew, too. The cone is a [single](Cone::single) one
    /// of its leaf, the recipe one with grafts.
    #[must_use]
    pub fn head<'t>(&'t self, cone: &'t Cone, recipe: &'t Recipe, seed: u64) -> Task<'t, F> {
        let task = self.task(cone, recipe, None, seed);
        Task { grafts: task.grafts.map(Grafting::with_others_redrawn), ..task }
    }

    /// One gate for all of a node at once, without gates below it: chimeras and targets are those of `cone`, the input is that
    /// of `flat`, which is `cone` [flattened](Cone::flattened).
    #[must_use]
    pub fn monolith<'t>(
        &'t self,
        (cone, flat): (&'t Cone, &'t Cone),
        recipe: &'t Recipe,
        kept: Option<&'t [u32]>,
        seed: u64,
    ) -> Task<'t, F> {
        let shape = Shape { arity: flat.operands.len(), features: self.width, hidden: recipe.hidden };
        Task { cone: flat, shape, ..self.task(cone, recipe, kept, seed) }
    }
}
