//! Rules with their gates, ready to run.

use std::ops::Range;
use std::sync::Arc;

use chimera_data::error::{Error, Result};
use chimera_gate::cone::Features;
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::Gate;
use chimera_logic::dag::Node;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::ConceptId;

use super::naming::ConceptFeatures;
use super::plan::{Plan, Planned};
use super::trained::GateStage;

/// Where a rule's truth comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A gate, by its place among the logits.
    Gate(usize),
    /// The rule is one literal.
    Literal(ConceptId),
    /// A gate that the rule needs was not trained.
    Missing,
}

/// Rules with their gates.
#[derive(Debug)]
pub struct RuleGates {
    /// The rules.
    pub rule_set: RuleSet,
    /// Where each rule's truth comes from; its negation is on the rule's root.
    pub roots: Vec<Root>,
    evaluator: Evaluator,
}

/// The gate of a node; `None` where it was not trained.
type GateOf<'a> = dyn FnMut(&Planned) -> Result<Option<Arc<Gate>>> + 'a;

impl RuleGates {
    /// Puts together the gates that rules need, each found by its key. A gate that lacks an operand is left out.
    pub(super) fn assemble(
        rule_set: RuleSet,
        plan: &Plan,
        (leaves, width): (&ConceptFeatures, usize),
        gate_of: &mut GateOf<'_>,
    ) -> Result<Self> {
        let dag = &rule_set.dag;
        let mut placed: Vec<PlacedGate> = Vec::new();
        let mut place_of: Vec<Option<usize>> = vec![None; plan.gates.len()];
        for (number, planned) in plan.gates.iter().enumerate() {
            let Some(gate) = gate_of(planned)? else { continue };
            let source = |node| match dag.node(node) {
                Node::Leaf(concept) => {
                    Some(Source::Leaf(leaves.get(dag.vocabulary().name(concept)).cloned().unwrap_or_default()))
                }
                Node::Gate(..) => Some(Source::Node(place_of[plan.place(node, planned.filter)?]?)),
            };
            let operands: Option<Vec<(Source, bool)>> =
                dag.operands(planned.node).iter().map(|edge| Some((source(edge.node())?, edge.is_negated()))).collect();
            if let Some(operands) = operands {
                place_of[number] = Some(placed.len());
                placed.push(PlacedGate { gate, operands });
            }
        }
        let roots = rule_set.rules.iter().zip(&plan.roots).map(|(rule, root)| match dag.node(rule.root.node()) {
            Node::Leaf(concept) => Root::Literal(concept),
            Node::Gate(..) => root.and_then(|root| place_of[root]).map_or(Root::Missing, Root::Gate),
        });
        let roots = roots.collect();
        Self::of_roots(rule_set, &placed, roots, width)
    }

    /// Gates that a stage has in memory.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub fn of_stage(stage: &GateStage, rule_set: &RuleSet, width: usize) -> Result<Self> {
        let mut gate_of = |planned: &Planned| Ok(stage.in_memory.get(&planned.key.hash).cloned());
        Self::assemble(rule_set.clone(), &stage.plan, (&stage.leaf_features, width), &mut gate_of)
    }

    /// Rules without any gate.
    ///
    /// # Errors
    /// Never in practice.
    pub(crate) fn none(rule_set: RuleSet, width: usize) -> Result<Self> {
        let roots = vec![Root::Missing; rule_set.rules.len()];
        Self::of_roots(rule_set, &[], roots, width)
    }

    /// Gates that read z alone, each at the root of a rule.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(crate) fn of_roots(rule_set: RuleSet, gates: &[PlacedGate], roots: Vec<Root>, width: usize) -> Result<Self> {
        let evaluator = Evaluator::new(width, gates)
            .ok_or_else(|| Error::input("cannot use the gates of the rules: sizes do not fit".to_owned(), None))?;
        Ok(Self { rule_set, roots, evaluator })
    }

    /// Gates that are run for each sample.
    #[must_use]
    pub fn len(&self) -> usize {
        self.evaluator.len()
    }

    /// Whether there is no gate.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.evaluator.is_empty()
    }

    /// The logits of all gates for some samples, row by row. Those of a sample are the same bits whatever is beside it.
    #[must_use]
    pub fn logits(&self, features: &impl Features, rows: Range<usize>) -> Vec<f32> {
        let mut out = vec![0.0; rows.len() * self.len()];
        self.evaluator.run(features, rows, &mut out);
        out
    }
}
