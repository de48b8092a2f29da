//! What is in a picture, before anything has a place: the rules, gates and concepts as items on layers, and the wires
//! between them. Concepts are on layer 0, a gate on its level, the rules above all.

use super::{Figure, Options, label};
use crate::dag::{Dag, Edge, Node, NodeId};
use crate::syntax::Op;

/// Formulas of at most this many characters are written out in tooltips; a shared DAG can spell out to any length.
const TOOLTIP_LENGTH: usize = 300;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Rule,
    Gate(Op),
    Concept,
}

/// Something with a box.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// The node; a rule's root.
    pub(super) node: NodeId,
    pub(super) layer: usize,
    /// The text in the box.
    pub(super) label: String,
    /// The whole story.
    pub(super) tooltip: String,
    pub(super) value: Option<f64>,
    /// Number of wires to operands.
    pub(super) arity: usize,
}

/// A reference from a rule or a gate to an operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// Index of the upper item.
    pub(super) from: usize,
    /// Index of the lower item.
    pub(super) to: usize,
    /// Position among the operands.
    pub(super) operand: usize,
    pub(super) negated: bool,
}

/// Everything that is drawn: the rules in order, then the nodes they need, children before parents.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) items: Vec<Item>,
    pub(super) wires: Vec<Wire>,
}

impl Scene {
    pub(super) fn new(figure: &Figure<'_>, options: &Options<'_>) -> Self {
        let Figure { dag, roots } = figure;
        let edges: Vec<Edge> = roots.iter().map(|root| root.edge).collect();
        let cone = dag.cone(&edges);
        let lengths = formula_lengths(dag, &cone);
        let depth = cone.iter().map(|&id| dag.level(id)).max().unwrap_or(0) as usize;
        let limit = options.label_columns.max(4);
        let value = |edge: Edge| value_of(options.values, edge);

        let mut items = Vec::with_capacity(roots.len() + cone.len());
        for root in roots {
            let name = label::printable(root.name);
            items.push(Item {
                kind: Kind::Rule,
                node: root.edge.node(),
                layer: depth + 1,
                label: label::shorten(&name, limit),
                tooltip: format!("{name}: {}", formula(dag, &lengths, root.edge)),
                value: value(root.edge),
                arity: 1,
            });
        }
        let mut item_of = vec![0; dag.len()];
        for &id in &cone {
            item_of[id.index()] = items.len();
            let edge = Edge::new(id, false);
            let (kind, text) = match dag.node(id) {
                Node::Leaf(concept) => (Kind::Concept, label::printable(dag.vocabulary().name(concept))),
                Node::Gate(op, _) => (Kind::Gate(op), formula(dag, &lengths, edge)),
            };
            items.push(Item {
                kind,
                node: id,
                layer: dag.level(id) as usize,
                label: match kind {
                    Kind::Gate(op) => operator_text(op).to_owned(),
                    _ => label::shorten(&text, limit),
                },
                tooltip: text,
                value: value(edge),
                arity: dag.operands(id).len(),
            });
        }
        let wire = |from: usize, operand: usize, edge: &Edge| Wire {
            from,
            to: item_of[edge.node().index()],
            operand,
            negated: edge.is_negated(),
        };
        let mut wires: Vec<Wire> = edges.iter().enumerate().map(|(rule, edge)| wire(rule, 0, edge)).collect();
        for &id in &cone {
            let from = item_of[id.index()];
            wires.extend(dag.operands(id).iter().enumerate().map(|(operand, edge)| wire(from, operand, edge)));
        }
        Self { items, wires }
    }

    /// Number of layers; 0 when there is nothing to draw.
    pub(super) fn layers(&self) -> usize {
        self.items.iter().map(|item| item.layer + 1).max().unwrap_or(0)
    }

    /// Whether any item has a value.
    pub(super) fn has_values(&self) -> bool {
        self.items.iter().any(|item| item.value.is_some())
    }

    /// The few letters at a wire's upper end that tell the operands apart; none for a rule.
    pub(super) fn port_text(&self, wire: &Wire) -> Option<String> {
        match (self.items[wire.from].kind, wire.operand) {
            (Kind::Gate(Op::Implies), 0) => Some("if".to_owned()),
            (Kind::Gate(Op::Implies), _) => Some("then".to_owned()),
            (Kind::Gate(_), operand) => Some((operand + 1).to_string()),
            (Kind::Rule | Kind::Concept, _) => None,
        }
    }

    /// A sentence on what is drawn.
    pub(super) fn summary(&self) -> String {
        let count = |wanted: fn(Kind) -> bool, noun: &str| {
            let count = self.items.iter().filter(|item| wanted(item.kind)).count();
            format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
        };
        let rules = count(|kind| kind == Kind::Rule, "rule");
        let gates = count(|kind| matches!(kind, Kind::Gate(_)), "gate");
        let concepts = count(|kind| kind == Kind::Concept, "concept");
        format!("{rules} over {concepts} with {gates}")
    }
}

/// An operator's name in its box: words where they are short, else the sign of the rule language.
pub(super) fn operator_text(op: Op) -> &'static str {
    match op {
        Op::And | Op::Or => op.name(),
        Op::Implies | Op::Iff => op.symbol(),
    }
}

fn value_of(values: &[Option<f64>], edge: Edge) -> Option<f64> {
    let value = values.get(edge.node().index()).copied().flatten().filter(|value| !value.is_nan())?.clamp(0.0, 1.0);
    Some(if edge.is_negated() { 1.0 - value } else { value })
}

/// About how long each node's formula would be if written out.
fn formula_lengths(dag: &Dag, cone: &[NodeId]) -> Vec<usize> {
    let mut lengths = vec![0_usize; dag.len()];
    for &id in cone {
        lengths[id.index()] = match dag.node(id) {
            Node::Leaf(concept) => dag.vocabulary().name(concept).chars().count() + 1,
            Node::Gate(_, operands) => operands
                .iter()
                .map(|edge| lengths[edge.node().index()].saturating_add(5))
                .fold(0, usize::saturating_add),
        };
    }
    lengths
}

fn formula(dag: &Dag, lengths: &[usize], edge: Edge) -> String {
    match dag.node(edge.node()) {
        Node::Gate(op, operands) if lengths[edge.node().index()] > TOOLTIP_LENGTH => {
            let not = if edge.is_negated() { "not " } else { "" };
            format!("{not}{} of {} operands", op.name(), operands.len())
        }
        _ => label::printable(&dag.text(edge)),
    }
}
