//! Every part of every rule as a rule of its own, so that it is scored as the rules are: by the same method, with the same code.

use std::num::NonZeroUsize;
use std::path::Path;

use chimera_data::error::Result;
use chimera_leaf::device::Device;
use chimera_logic::attributes::Attributes;
use chimera_logic::dag::{Edge, NodeId};
use chimera_logic::rules::{Rule, RuleSet};

use crate::score::engine::Engine;
use crate::score::method::Method;

/// A model whose rules are the parts of another's.
#[derive(Debug)]
pub struct Parts {
    /// It.
    pub engine: Engine,
    /// The part that each of its rules is.
    pub nodes: Vec<NodeId>,
}

impl Parts {
    /// Opens a model again, with all parts of a rule set as rules. `cache` is the folder of gates.
    ///
    /// # Errors
    /// As [`Engine::open`] and [`Engine::with_rules`].
    pub fn open(
        folder: &Path,
        device: &Device,
        rule_set: &RuleSet,
        method: Method,
        (cache, threads): (Option<&Path>, NonZeroUsize),
    ) -> Result<Self> {
        let nodes = rule_set.dag.cone(&rule_set.roots());
        let mut parts = RuleSet::new(rule_set.dag.clone());
        let rule = |node: &NodeId| {
            Rule::made(format!("part {}", node.index()), Attributes::default(), Edge::new(*node, false))
        };
        parts.rules = nodes.iter().map(rule).collect();
        let engine = Engine::open(folder, device, threads)?.with_rules(folder, parts, method, cache)?;
        Ok(Self { engine, nodes })
    }
}
