//! The gates that rules need, each once, lower ones first.
//!
//! A node is one gate for all rules, unless `strict` leaves out samples on which a rule does not hold: then the rule has
//! gates of its own, taught on what is left.

use std::collections::BTreeMap;

use chimera_data::error::{Error, Result};
use chimera_gate::gate::Shape;
use chimera_logic::dag::{Node, NodeId};
use chimera_logic::rules::RuleSet;

use super::key::{Common, Key};

/// A gate that is needed.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) node: NodeId,
    /// The rule whose samples it is taught on; `None` for all samples.
    pub(crate) filter: Option<usize>,
    pub(crate) key: Key,
    /// The longest way from a leaf.
    pub(crate) level: u32,
    /// The highest level of a gate that has this one below it; its own where none has.
    pub(crate) read_until: u32,
    /// The rules that need it.
    pub(crate) rules: Vec<usize>,
}

/// All gates, and the one at the root of each rule; a rule that is one literal has none.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) gates: Vec<Planned>,
    pub(crate) roots: Vec<Option<usize>>,
    places: BTreeMap<(NodeId, Option<usize>), usize>,
}

/// The key of a node below another, which must have been named before.
fn named(keys: &[Option<Key>], node: NodeId) -> Result<&Key> {
    let unnamed =
        || Error::input("a part of a rule comes before what is below it: this is a defect of chimera".to_owned(), None);
    keys[node.index()].as_ref().ok_or_else(unnamed)
}

impl Plan {
    /// Lists what rules need. `filters` says for each rule the first rule of the same formula if samples are left out for it;
    /// `leaf` gives keys of leaves.
    pub(crate) fn new(
        rule_set: &RuleSet,
        filters: &[Option<usize>],
        common: &Common<'_>,
        shape: &impl Fn(usize) -> Shape,
        leaf: &impl Fn(NodeId) -> Result<Key>,
    ) -> Result<Self> {
        let dag = &rule_set.dag;
        // Keys without any filter come first: filters are named by them.
        let mut keys: Vec<Option<Key>> = vec![None; dag.len()];
        for node in dag.cone(&rule_set.roots()) {
            let key = match dag.node(node) {
                Node::Leaf(_) => leaf(node)?,
                Node::Gate(op, operands) => {
                    let below = operands.iter().map(|edge| Ok((named(&keys, edge.node())?, edge.is_negated())));
                    common.gate(op, &below.collect::<Result<Vec<_>>>()?, shape(operands.len()), None)?
                }
            };
            keys[node.index()] = Some(key);
        }
        let mut plan = Self { gates: Vec::new(), roots: Vec::new(), places: BTreeMap::new() };
        for (number, rule) in rule_set.rules.iter().enumerate() {
            let filter = filters[number];
            for node in dag.cone(&[rule.root]) {
                let Node::Gate(op, operands) = dag.node(node) else { continue };
                if let Some(place) = plan.place(node, filter) {
                    plan.gates[place].rules.push(number);
                    continue;
                }
                let children: Vec<Option<usize>> =
                    operands.iter().map(|edge| plan.place(edge.node(), filter)).collect();
                let root = filter.map(|_| Ok::<_, Error>((named(&keys, rule.root.node())?, rule.root.is_negated())));
                let below = operands.iter().zip(&children).map(|(edge, child)| {
                    let key = match child {
                        Some(child) => &plan.gates[*child].key,
                        None => named(&keys, edge.node())?,
                    };
                    Ok((key, edge.is_negated()))
                });
                let below = below.collect::<Result<Vec<(&Key, bool)>>>()?;
                let key = common.gate(op, &below, shape(operands.len()), root.transpose()?)?;
                let level = dag.level(node);
                plan.places.insert((node, filter), plan.gates.len());
                plan.gates.push(Planned { node, filter, key, level, read_until: level, rules: vec![number] });
            }
            plan.roots.push(plan.place(rule.root.node(), filter));
        }
        plan.note_readers(rule_set);
        Ok(plan)
    }

    /// A gate is read as long as any gate above it is taught, however far above: chimeras go through everything below.
    fn note_readers(&mut self, rule_set: &RuleSet) {
        for place in (0..self.gates.len()).rev() {
            let (node, filter, read_until) =
                (self.gates[place].node, self.gates[place].filter, self.gates[place].read_until);
            for edge in rule_set.dag.operands(node) {
                if let Some(child) = self.place(edge.node(), filter) {
                    let until = &mut self.gates[child].read_until;
                    *until = read_until.max(*until);
                }
            }
        }
    }

    /// Where the gate of a node is listed; `None` for a leaf. Everything below a gate has the same filter.
    pub(crate) fn place(&self, node: NodeId, filter: Option<usize>) -> Option<usize> {
        self.places.get(&(node, filter)).copied()
    }

    /// Places of gates by level, the lowest first.
    pub(crate) fn levels(&self) -> Vec<Vec<usize>> {
        let deepest = self.gates.iter().map(|gate| gate.level).max().unwrap_or(0) as usize;
        let mut levels = vec![Vec::new(); deepest];
        for (place, gate) in self.gates.iter().enumerate() {
            levels[gate.level as usize - 1].push(place);
        }
        levels
    }
}
