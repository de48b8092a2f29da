//! One hash-consed DAG for all rules: the same sub-formula is one node, whichever rules use it. Negation is a bit on the
//! edge, never a node. A node's children have smaller ids.

use std::cmp::Ordering;
use std::fmt;
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::{HashSet, HashTable};

use crate::printer::{self, Expression, Shape};
use crate::syntax::Op;
use crate::syntax::{MAX_DEPTH, MAX_OPERANDS};
use crate::vocabulary::{ConceptId, Vocabulary};

/// A node of the DAG.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A reference to a node with its polarity, packed into one word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge(u32);

impl Edge {
    /// The node itself (`negated = false`) or its negation.
    #[must_use]
    pub fn new(node: NodeId, negated: bool) -> Self {
        Self(node.0 << 1 | u32::from(negated))
    }

    /// The node referred to.
    #[must_use]
    pub fn node(self) -> NodeId {
        NodeId(self.0 >> 1)
    }

    /// Whether the reference negates.
    #[must_use]
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The reference with its polarity flipped if `flip`.
    #[must_use]
    pub fn negate_if(self, flip: bool) -> Self {
        Self(self.0 ^ u32::from(flip))
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_negated() { "!" } else { "" }, self.node().0)
    }
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node<'a> {
    /// A concept.
    Leaf(ConceptId),
    /// An operator over operands, in the order in which a gate takes them.
    Gate(Op, &'a [Edge]),
}

/// A node as it is stored: operands lie in one list for all nodes.
#[derive(Clone, Copy, Debug)]
struct Record {
    kind: Kind,
    level: u32,
    /// First operand.
    start: u32,
    /// Number of operands.
    arity: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Leaf(ConceptId),
    Gate(Op),
}

/// Why a node cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// IMPLIES takes exactly two operands.
    #[error("IMPLIES takes 2 operands, got {0}")]
    ImpliesArity(usize),
    /// More operands than a gate may have.
    #[error("a gate has at most {MAX_OPERANDS} operands, got {0}")]
    TooWide(usize),
    /// More levels than a formula may have.
    #[error("a formula has at most {MAX_DEPTH} levels")]
    TooDeep,
    /// The operators of the paper are constants without operands, and IFF already with one.
    #[error("{op} needs at least 2 operands, got {arity}", op = .op.name())]
    TooFew {
        /// The operator.
        op: Op,
        /// How many it got.
        arity: usize,
    },
}

/// The nodes of a rule set and the concepts of its leaves.
#[derive(Clone, Debug, Default)]
pub struct Dag {
    vocabulary: Vocabulary,
    nodes: Vec<Record>,
    operands: Vec<Edge>,
    /// Ids with the hash of their node, which a growing table would else have to compute anew. 32 bits of it, since the
    /// table's size is what large rule sets wait for.
    index: HashTable<(u32, NodeId)>,
    hasher: RandomState,
}

impl Dag {
    /// An empty DAG over a vocabulary.
    #[must_use]
    pub fn new(vocabulary: Vocabulary) -> Self {
        Self { vocabulary, ..Self::default() }
    }

    /// The concepts.
    #[must_use]
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// The concept of this name; an open vocabulary takes it in.
    pub fn resolve(&mut self, name: &str) -> Option<ConceptId> {
        self.vocabulary.resolve(name)
    }

    /// The node of a concept.
    pub fn leaf(&mut self, concept: ConceptId) -> Edge {
        self.intern(Node::Leaf(concept), 0)
    }

    /// The node of an operator over operands. Operands of commutative operators are put in canonical order, which depends on
    /// the formula alone, not on what else is in the DAG.
    pub fn gate(&mut self, op: Op, mut operands: Vec<Edge>) -> Result<Edge, GateError> {
        match operands.len() {
            2 => {}
            arity if op == Op::Implies => return Err(GateError::ImpliesArity(arity)),
            arity if arity < 2 => return Err(GateError::TooFew { op, arity }),
            arity if arity > MAX_OPERANDS => return Err(GateError::TooWide(arity)),
            _ => {}
        }
        self.sort_operands(op, &mut operands);
        let level = operands.iter().map(|edge| self.level(edge.node())).max().unwrap_or(0) + 1;
        if level as usize > MAX_DEPTH {
            return Err(GateError::TooDeep);
        }
        Ok(self.intern(Node::Gate(op, &operands), level))
    }

    /// The node of a concept, if there is one.
    #[must_use]
    pub(crate) fn find_leaf(&self, concept: ConceptId) -> Option<Edge> {
        self.find(Node::Leaf(concept))
    }

    fn find(&self, node: Node<'_>) -> Option<Edge> {
        self.find_hashed(self.hash(node), node)
    }

    fn find_hashed(&self, hash: u32, node: Node<'_>) -> Option<Edge> {
        let same = |&(other, id): &(u32, NodeId)| other == hash && self.node(id) == node;
        self.index.find(spread(hash), same).map(|&(_, id)| Edge::new(id, false))
    }

    fn hash(&self, node: Node<'_>) -> u32 {
        (self.hasher.hash_one(node) >> 32) as u32
    }

    fn sort_operands(&self, op: Op, operands: &mut [Edge]) {
        if op.is_commutative() {
            operands.sort_by(|&a, &b| self.canonical_order(a, b));
        }
    }

    /// The one place where nodes are made: equal nodes are the same node.
    fn intern(&mut self, node: Node<'_>, level: u32) -> Edge {
        let hash = self.hash(node);
        if let Some(edge) = self.find_hashed(hash, node) {
            return edge;
        }
        let id = NodeId(self.nodes.len() as u32);
        let start = self.operands.len() as u32;
        let (kind, operands) = match node {
            Node::Leaf(concept) => (Kind::Leaf(concept), &[][..]),
            Node::Gate(op, operands) => (Kind::Gate(op), operands),
        };
        self.operands.extend_from_slice(operands);
        self.nodes.push(Record { kind, level, start, arity: operands.len() as u32 });
        self.index.insert_unique(spread(hash), (hash, id), |&(hash, _)| spread(hash));
        Edge::new(id, false)
    }

    /// A total order that two DAGs with the same sub-formulas agree on: leaves by name, then gates by level, operator, arity
    /// and operands; a node before its negation.
    #[must_use]
    pub(crate) fn canonical_order(&self, a: Edge, b: Edge) -> Ordering {
        self.order_nodes(a.node(), b.node()).then(a.is_negated().cmp(&b.is_negated()))
    }

    // Equal operands are the same node, so only the first difference is descended into: depth times width at most.
    fn order_nodes(&self, a: NodeId, b: NodeId) -> Ordering {
        if a == b {
            return Ordering::Equal;
        }
        match (self.node(a), self.node(b)) {
            (Node::Leaf(x), Node::Leaf(y)) => self.vocabulary.name(x).cmp(self.vocabulary.name(y)),
            (Node::Leaf(_), Node::Gate(..)) => Ordering::Less,
            (Node::Gate(..), Node::Leaf(_)) => Ordering::Greater,
            (Node::Gate(op_a, operands_a), Node::Gate(op_b, operands_b)) => self
                .level(a)
                .cmp(&self.level(b))
                .then(op_a.cmp(&op_b))
                .then(operands_a.len().cmp(&operands_b.len()))
                .then_with(|| {
                    let pairs = operands_a.iter().zip(operands_b);
                    let different = pairs.into_iter().find(|(x, y)| x != y);
                    different.map_or(Ordering::Equal, |(&x, &y)| self.canonical_order(x, y))
                }),
        }
    }

    /// Number of nodes, leaves included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// A node's content.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Node<'_> {
        let Record { kind, start, arity, .. } = self.nodes[id.index()];
        match kind {
            Kind::Leaf(concept) => Node::Leaf(concept),
            Kind::Gate(op) => Node::Gate(op, &self.operands[start as usize..][..arity as usize]),
        }
    }

    /// A node's operands; none for a leaf.
    #[must_use]
    pub fn operands(&self, id: NodeId) -> &[Edge] {
        match self.node(id) {
            Node::Leaf(_) => &[],
            Node::Gate(_, operands) => operands,
        }
    }

    /// The longest way from a leaf: 0 for leaves. Gates of one level do not depend on each other.
    #[must_use]
    pub fn level(&self, id: NodeId) -> u32 {
        self.nodes[id.index()].level
    }

    /// All nodes, children before parents.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The inner nodes, children before parents.
    pub fn gates(&self) -> impl Iterator<Item = (NodeId, Op, &[Edge])> {
        self.ids().filter_map(|id| match self.node(id) {
            Node::Leaf(_) => None,
            Node::Gate(op, operands) => Some((id, op, operands)),
        })
    }

    /// The nodes that the given references need, themselves included, children before parents.
    #[must_use]
    pub fn cone(&self, roots: &[Edge]) -> Vec<NodeId> {
        let mut seen: HashSet<NodeId, RandomState> = HashSet::default();
        let mut needed: Vec<NodeId> = Vec::new();
        let mut pending: Vec<NodeId> = roots.iter().map(|root| root.node()).collect();
        while let Some(id) = pending.pop() {
            if seen.insert(id) {
                needed.push(id);
                pending.extend(self.operands(id).iter().map(|edge| edge.node()));
            }
        }
        // Children have smaller ids than their parents.
        needed.sort_unstable();
        needed
    }

    /// A reference as formula text, operands in canonical order. Shared nodes are written out at each use: for what a person
    /// wrote or asked to see, not as a key of nodes in general, which can be exponentially longer than the DAG.
    #[must_use]
    pub fn text(&self, edge: Edge) -> String {
        printer::to_text((self, edge))
    }
}

/// A hash of 32 bits over 64, of which the table uses the highest and the lowest.
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<'a> Expression<'a> for (&'a Dag, Edge) {
    fn is_negated(self) -> bool {
        self.1.is_negated()
    }

    fn shape(self) -> Shape<'a, Self> {
        let (dag, edge) = self;
        match dag.node(edge.node()) {
            Node::Leaf(concept) => Shape::Concept(dag.vocabulary.name(concept)),
            Node::Gate(op, operands) => Shape::Apply(op, operands.iter().map(|&operand| (dag, operand)).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dag_of(names: &[&str]) -> (Dag, Vec<Edge>) {
        let mut dag = Dag::new(Vocabulary::open());
        let leaves = names.iter().filter_map(|name| dag.resolve(name)).collect::<Vec<_>>();
        let edges = leaves.into_iter().map(|concept| dag.leaf(concept)).collect();
        (dag, edges)
    }

    #[test]
    fn equal_formulas_are_one_node_in_any_operand_order() {
        let (mut dag, leaves) = dag_of(&["b", "a", "c"]);
        let [b, a, c] = leaves[..] else { panic!("three leaves") };
        let ab = dag.gate(Op::And, vec![a, b]).unwrap();
        assert_eq!(dag.gate(Op::And, vec![b, a]).unwrap(), ab);
        assert_eq!(dag.operands(ab.node()), [a, b], "by name, not by id");
        assert_ne!(dag.gate(Op::Implies, vec![a, b]).unwrap(), dag.gate(Op::Implies, vec![b, a]).unwrap());
        assert_ne!(dag.gate(Op::And, vec![a, b.negate_if(true)]).unwrap(), ab);
        let nested = dag.gate(Op::And, vec![c, ab]).unwrap();
        assert_ne!(nested, dag.gate(Op::And, vec![a, b, c]).unwrap(), "nested ANDs are not flattened");
        assert_eq!(dag.text(nested.negate_if(true)), "!(c & (a & b))");
        assert_eq!(dag.level(nested.node()), 2);
    }

    #[test]
    fn canonical_order_does_not_depend_on_what_else_is_there() {
        let build = |names: &[&str], swapped: bool| {
            let (mut dag, _) = dag_of(names);
            let mut pair = |op, x, y| {
                let operands =
                    vec![x, y].into_iter().map(|n: &str| dag.resolve(n).map(|c| dag.leaf(c)).unwrap()).collect();
                dag.gate(op, operands).unwrap()
            };
            let (first, second) = if swapped {
                let second = pair(Op::Or, "d", "c");
                (pair(Op::Or, "b", "a"), second)
            } else {
                (pair(Op::Or, "a", "b"), pair(Op::Or, "c", "d"))
            };
            let root = dag.gate(Op::Iff, vec![second, first.negate_if(true)]).unwrap();
            dag.text(root)
        };
        assert_eq!(build(&["a", "b", "c", "d"], false), build(&["z", "d", "c", "b", "a"], true));
    }

    #[test]
    fn gates_need_operands() {
        let (mut dag, leaves) = dag_of(&["a"]);
        assert_eq!(dag.gate(Op::And, vec![]), Err(GateError::TooFew { op: Op::And, arity: 0 }));
        assert_eq!(dag.gate(Op::Iff, vec![leaves[0]]), Err(GateError::TooFew { op: Op::Iff, arity: 1 }));
        assert_eq!(dag.gate(Op::Implies, vec![leaves[0]; 3]), Err(GateError::ImpliesArity(3)));
    }

    #[test]
    fn a_cone_is_what_a_root_needs() {
        let (mut dag, leaves) = dag_of(&["a", "b", "c"]);
        let ab = dag.gate(Op::And, vec![leaves[0], leaves[1]]).unwrap();
        let other = dag.gate(Op::Or, vec![ab, leaves[2]]).unwrap();
        assert_eq!(dag.cone(&[ab]), [leaves[0].node(), leaves[1].node(), ab.node()]);
        assert_eq!(dag.cone(&[other]).len(), 5);
        assert_eq!([ab, other].map(|edge| dag.level(edge.node())), [1, 2]);
    }
}
