//! The paper's graph form of rules, as JSON: `mask`, `x`, `y` for nodes and `src`, `dst`, `neg`, `pos` for edges. Other
//! programs write and read it; a negated root, for which the form has no place, is an AND with one negated operand.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::attributes::{AttributeError, Attributes};
use crate::dag::{Dag, Edge, Node, NodeId};
use crate::load::{Loaded, load_text};
use crate::printer::rule_text;
use crate::rules::{Rule, RuleSet};
use crate::syntax::Op;
use crate::vocabulary::Vocabulary;

/// What an operator with its spaces and an operand's parentheses and negation take, at most.
const OPERATOR_BYTES: u64 = 8;

/// Bytes that the rules of a file may have when they are written out, shared nodes at each use.
const MAX_TEXT_BYTES: u64 = 64 << 20;

/// A file of rule graphs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    /// Concept names; `x` counts them from 1.
    pub concepts: Vec<String>,
    /// One graph a rule.
    pub graphs: Vec<RuleGraph>,
    /// What goes with the rules, such as where they come from: comments without their `#`, a line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One rule as the paper stores it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleGraph {
    /// The rule's name.
    pub rule: String,
    /// The rule's attributes as text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<(String, String)>,
    /// 1 for leaves, 0 for operators.
    pub mask: Vec<u8>,
    /// Concept number of leaves, from 1; 0 for operators.
    pub x: Vec<u32>,
    /// Operator code: 1 IFF, 2 IMPLIES, 3 AND, 4 OR; 0 for leaves.
    pub y: Vec<u8>,
    /// Child of each edge.
    pub src: Vec<usize>,
    /// Parent of each edge.
    pub dst: Vec<usize>,
    /// -1 for edges that negate, else +1; may be left out when no edge does.
    #[serde(default)]
    pub neg: Vec<i8>,
    /// Position of the child among its parent's operands; may be left out when edges stand in that order.
    #[serde(default)]
    pub pos: Vec<u32>,
}

/// Why a graph file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    /// Not JSON, or not of this form.
    #[error("not a rule graph file: {0}")]
    Form(#[from] serde_json::Error),
    /// Concepts that cannot be told apart.
    #[error("not a rule graph file: {0}")]
    Concepts(String),
    /// A graph that is no formula.
    #[error("graph of rule `{rule}`: {problem}")]
    Graph {
        /// The rule.
        rule: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl RuleSet {
    /// All rules in the paper's form. Leaves are written once for each use, as the paper does; operators once.
    #[must_use]
    pub fn to_graphs(&self) -> GraphFile {
        let concepts = self.dag.vocabulary().names().map(str::to_owned).collect();
        let graphs = self.rules.iter().map(|rule| write_graph(&self.dag, rule)).collect();
        GraphFile { concepts, graphs, notes: Vec::new() }
    }
}

/// Reads rules in the paper's form. They are written as rule text first, which findings then point into. All problems are
/// returned, not just the first.
pub fn load_graphs(name: &str, json: &[u8], vocabulary: Vocabulary) -> Result<Loaded, Vec<GraphError>> {
    let file: GraphFile = serde_json::from_slice(json).map_err(|error| vec![error.into()])?;
    let mut vocabulary = vocabulary;
    if vocabulary.origin().is_none() {
        // Concepts keep the numbers that they have in the file, used or not.
        file.concepts.iter().for_each(|name| _ = vocabulary.resolve(name));
    }
    let mut names = BTreeSet::new();
    if let Some((at, name)) = file.concepts.iter().enumerate().find(|(_, name)| !names.insert(name.as_str())) {
        let problem = format!("concept {} has the name `{name}` of an earlier one", at + 1);
        return Err(vec![GraphError::Concepts(problem)]);
    }
    let mut dag = Dag::new(Vocabulary::open());
    let mut text = String::new();
    let mut bytes_left = MAX_TEXT_BYTES;
    let mut problems = Vec::new();
    for (number, graph) in file.graphs.iter().enumerate() {
        let read = read_graph(&file.concepts, graph, &mut dag, &mut bytes_left).and_then(|root| {
            let attributes = read_attributes(&graph.attributes)?;
            if graph.rule.is_empty() {
                return Err("a rule needs a name".to_owned());
            }
            Ok(rule_text(&graph.rule, &attributes, &dag.text(root)) + "\n")
        });
        match read {
            Ok(line) => text.push_str(&line),
            Err(problem) if graph.rule.is_empty() => {
                problems.push(GraphError::Graph { rule: format!("number {}", number + 1), problem });
            }
            Err(problem) => problems.push(GraphError::Graph { rule: graph.rule.clone(), problem }),
        }
    }
    for line in file.notes.iter().flat_map(|note| note.lines()) {
        text.push_str(format!("# {line}").trim_end());
        text.push('\n');
    }
    if problems.is_empty() { Ok(load_text(&format!("{name} as rules"), &text, vocabulary)) } else { Err(problems) }
}

fn read_attributes(given: &[(String, String)]) -> Result<Attributes, String> {
    let mut attributes = Attributes::default();
    for (name, text) in given {
        attributes.set(name, text).map_err(|error| match error {
            AttributeError::Unknown => format!("unknown attribute `{name}`"),
            AttributeError::Duplicate => format!("attribute `{name}` is given twice"),
            AttributeError::Value(expected) => format!("`{name}` is {expected}, got `{text}`"),
        })?;
    }
    Ok(attributes)
}

impl RuleGraph {
    fn add_node(&mut self, mask: u8, x: u32, y: u8) -> usize {
        self.mask.push(mask);
        self.x.push(x);
        self.y.push(y);
        self.mask.len() - 1
    }

    fn add_edge(&mut self, src: usize, dst: usize, negated: bool, pos: usize) {
        self.src.push(src);
        self.dst.push(dst);
        self.neg.push(if negated { -1 } else { 1 });
        self.pos.push(pos as u32);
    }
}

fn write_graph(dag: &Dag, rule: &Rule) -> RuleGraph {
    let attributes = rule.attributes.given().into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
    let mut graph = RuleGraph { rule: rule.name.clone(), attributes, ..RuleGraph::default() };
    let mut written: BTreeMap<NodeId, usize> = BTreeMap::new();
    let child = |graph: &mut RuleGraph, written: &BTreeMap<NodeId, usize>, edge: Edge| match dag.node(edge.node()) {
        Node::Leaf(concept) => Some(graph.add_node(1, concept.0 + 1, 0)),
        Node::Gate(..) => written.get(&edge.node()).copied(),
    };
    for id in dag.cone(&[rule.root]) {
        let Node::Gate(op, operands) = dag.node(id) else { continue };
        // Children first: they have smaller ids, and leaves are made here.
        let children: Vec<_> = operands.iter().map(|&edge| child(&mut graph, &written, edge)).collect();
        let node = graph.add_node(0, 0, op.code());
        for (pos, (edge, source)) in operands.iter().zip(children).enumerate() {
            if let Some(source) = source {
                graph.add_edge(source, node, edge.is_negated(), pos);
            }
        }
        written.insert(id, node);
    }
    let root = child(&mut graph, &written, rule.root);
    if let (true, Some(root)) = (rule.root.is_negated(), root) {
        let node = graph.add_node(0, 0, Op::And.code());
        graph.add_edge(root, node, true, 0);
    }
    graph
}

/// The root of a graph, interned; the error says what is wrong with it.
fn read_graph(concepts: &[String], graph: &RuleGraph, dag: &mut Dag, bytes_left: &mut u64) -> Result<Edge, String> {
    let nodes = graph.mask.len();
    let edges = graph.src.len();
    for (name, length, expected) in [
        ("x", graph.x.len(), nodes),
        ("y", graph.y.len(), nodes),
        ("dst", graph.dst.len(), edges),
        ("neg", graph.neg.len(), if graph.neg.is_empty() { 0 } else { edges }),
        ("pos", graph.pos.len(), if graph.pos.is_empty() { 0 } else { edges }),
    ] {
        if length != expected {
            return Err(format!("`{name}` has {length} entries, expected {expected}"));
        }
    }
    let incoming = incoming_edges(graph)?;
    let order = topological_order(graph, &incoming)?;
    let mut sinks = vec![true; nodes];
    graph.src.iter().for_each(|&src| sinks[src] = false);
    let roots: Vec<_> = (0..nodes).filter(|&node| sinks[node]).collect();
    let [root] = roots[..] else {
        return Err(format!("expected one root (a node with no parent), got {}", roots.len()));
    };

    let mut made: Vec<Option<Edge>> = vec![None; nodes];
    // Length of each node's text, roughly: names, operators and parentheses.
    let mut bytes = vec![0_u64; nodes];
    for node in order {
        let (edge, length) = match graph.mask[node] {
            1 => {
                let leaf = read_leaf(concepts, graph, node, &incoming[node], dag)?;
                (leaf, dag.text(leaf).len() as u64)
            }
            0 => {
                let operands = incoming[node].iter().filter_map(|&(src, negated)| Some(made[src]?.negate_if(negated)));
                let written = incoming[node].iter().map(|&(src, _)| bytes[src].saturating_add(OPERATOR_BYTES));
                (read_gate(graph, node, operands.collect(), dag)?, written.fold(0, u64::saturating_add))
            }
            mask => return Err(format!("`mask` of node {node} is {mask}, expected 0 or 1")),
        };
        made[node] = Some(edge);
        bytes[node] = length;
    }
    *bytes_left = bytes_left.checked_sub(bytes[root]).ok_or_else(|| {
        format!("the rules of this file have more than {} MiB when they are written out", MAX_TEXT_BYTES >> 20)
    })?;
    made[root].ok_or_else(|| "the graph is empty".to_owned())
}

fn read_leaf(
    concepts: &[String],
    graph: &RuleGraph,
    node: usize,
    incoming: &[(usize, bool)],
    dag: &mut Dag,
) -> Result<Edge, String> {
    if !incoming.is_empty() {
        return Err(format!("leaf {node} has operands"));
    }
    if graph.y[node] != 0 {
        return Err(format!("`y` of leaf {node} is {}, expected 0", graph.y[node]));
    }
    let number = graph.x[node] as usize;
    let Some(name) = number.checked_sub(1).and_then(|index| concepts.get(index)) else {
        return Err(format!("`x` of leaf {node} is {number}, expected a concept number from 1 to {}", concepts.len()));
    };
    if name.is_empty() {
        return Err(format!("concept {number} has no name"));
    }
    let concept = dag.resolve(name).ok_or_else(|| format!("unknown concept `{name}`"))?;
    Ok(dag.leaf(concept))
}

fn read_gate(graph: &RuleGraph, node: usize, operands: Vec<Edge>, dag: &mut Dag) -> Result<Edge, String> {
    if graph.x[node] != 0 {
        return Err(format!("`x` of node {node} is {}, expected 0 for an operator", graph.x[node]));
    }
    let code = graph.y[node];
    let Some(op) = Op::from_code(code) else {
        return Err(format!("`y` of node {node} is {code}, expected an operator code from 1 to 4"));
    };
    match (op, &operands[..]) {
        (Op::And | Op::Or, &[only]) => Ok(only),
        _ => dag.gate(op, operands).map_err(|error| format!("node {node}: {error}")),
    }
}

/// The operands of each node, with their negation, in the order of `pos`.
fn incoming_edges(graph: &RuleGraph) -> Result<Vec<Vec<(usize, bool)>>, String> {
    let nodes = graph.mask.len();
    let mut incoming: Vec<Vec<(u32, usize, bool)>> = vec![Vec::new(); nodes];
    for (edge, (&src, &dst)) in graph.src.iter().zip(&graph.dst).enumerate() {
        if src >= nodes || dst >= nodes {
            return Err(format!("edge {edge} goes from {src} to {dst}, but there are {nodes} nodes"));
        }
        let negated = match graph.neg.get(edge) {
            None | Some(1) => false,
            Some(-1) => true,
            Some(other) => return Err(format!("`neg` of edge {edge} is {other}, expected -1 or 1")),
        };
        incoming[dst].push((graph.pos.get(edge).copied().unwrap_or(0), src, negated));
    }
    for (node, operands) in incoming.iter_mut().enumerate() {
        // Stable: without `pos` the edges' own order stays.
        operands.sort_by_key(|&(pos, ..)| pos);
        let ordered = graph.y[node] == Op::Implies.code() && !graph.pos.is_empty();
        if ordered && operands.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("both operands of IMPLIES node {node} have the same `pos`"));
        }
    }
    Ok(incoming
        .into_iter()
        .map(|operands| operands.into_iter().map(|(_, src, negated)| (src, negated)).collect())
        .collect())
}

fn topological_order(graph: &RuleGraph, incoming: &[Vec<(usize, bool)>]) -> Result<Vec<usize>, String> {
    let nodes = incoming.len();
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    graph.src.iter().zip(&graph.dst).for_each(|(&src, &dst)| parents[src].push(dst));
    let mut waiting: Vec<_> = incoming.iter().map(Vec::len).collect();
    let mut order: Vec<_> = (0..nodes).filter(|&node| waiting[node] == 0).collect();
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        for &parent in &parents[node] {
            waiting[parent] -= 1;
            if waiting[parent] == 0 {
                order.push(parent);
            }
        }
    }
    match waiting.iter().position(|&count| count > 0) {
        Some(node) => Err(format!("node {node} lies on a cycle")),
        None => Ok(order),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> (RuleSet, RuleSet) {
        let before = load_text("t", text, Vocabulary::open()).rule_set;
        let json = serde_json::to_vec(&before.to_graphs()).unwrap();
        let after = load_graphs("t", &json, Vocabulary::open()).unwrap();
        assert_eq!(after.diagnostics.errors(), 0);
        (before, after.rule_set)
    }

    #[test]
    fn rules_survive_the_graph_form() {
        let text = "a [weight=2]: x => !y\nb: !(x & y)\nc: x\nd: !x\ne: (x & y) | (x & y & z)\nf: x <=> !x\ng: !(x & y) => z\n";
        let (before, after) = round_trip(text);
        assert_eq!(before.rules.len(), 7);
        for (one, other) in before.rules.iter().zip(&after.rules) {
            assert_eq!(one.name, other.name);
            assert_eq!(one.attributes, other.attributes);
            assert_eq!(before.dag.text(one.root), after.dag.text(other.root));
        }
    }

    #[test]
    fn the_contradiction_of_the_paper_has_two_leaves_and_an_iff() {
        let rule_set = load_text("t", "r: a <=> !a", Vocabulary::open()).rule_set;
        let graph = rule_set.to_graphs().graphs.remove(0);
        assert_eq!((graph.mask, graph.x, graph.y), (vec![1, 1, 0], vec![1, 1, 0], vec![0, 0, 1]));
        assert_eq!((graph.src, graph.dst, graph.neg), (vec![0, 1], vec![2, 2], vec![1, -1]));
    }

    #[test]
    fn a_negated_root_is_a_unary_and() {
        let rule_set = load_text("t", "r: !a", Vocabulary::open()).rule_set;
        let graph = rule_set.to_graphs().graphs.remove(0);
        assert_eq!((graph.mask, graph.y, graph.neg), (vec![1, 0], vec![0, 3], vec![-1]));
    }

    #[test]
    fn broken_graphs_say_what_is_wrong() {
        let problem = |graph: &str| {
            let json = format!(r#"{{"concepts":["a","b"],"graphs":[{{"rule":"r",{graph}}}]}}"#);
            let errors = load_graphs("t", json.as_bytes(), Vocabulary::open()).unwrap_err();
            errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        for (graph, expected) in [
            (r#""mask":[1,0],"x":[1,0],"y":[0,3],"src":[0,1],"dst":[1,1]"#, "cycle"),
            (r#""mask":[1],"x":[3],"y":[0],"src":[],"dst":[]"#, "expected a concept number from 1 to 2"),
            (r#""mask":[1,1],"x":[1,2],"y":[0,0],"src":[],"dst":[]"#, "expected one root"),
            (r#""mask":[1],"x":[1,2],"y":[0],"src":[],"dst":[]"#, "`x` has 2 entries, expected 1"),
            (r#""mask":[1,0],"x":[1,0],"y":[0,2],"src":[0],"dst":[1]"#, "IMPLIES takes 2 operands, got 1"),
            (r#""mask":[1,0],"x":[1,0],"y":[0,1],"src":[0],"dst":[1]"#, "IFF needs at least 2 operands"),
            (r#""mask":[1,0],"x":[1,0],"y":[0,9],"src":[0],"dst":[1]"#, "operator code from 1 to 4"),
            (r#""mask":[1,0],"x":[1,0],"y":[0,3],"src":[0],"dst":[7]"#, "there are 2 nodes"),
            (r#""mask":[],"x":[],"y":[],"src":[],"dst":[]"#, "expected one root"),
            (r#""mask":[1,1],"x":[1,2],"y":[0,0],"src":[0],"dst":[1]"#, "leaf 1 has operands"),
            (r#""mask":[1,1,0],"x":[1,2,0],"y":[0,0,2],"src":[0,1],"dst":[2,2],"pos":[1,1]"#, "same `pos`"),
            (r#""mask":[1,1,0],"x":[1,2,0],"y":[0,0,2],"src":[0,1],"dst":[2,2],"neg":[0,1]"#, "expected -1 or 1"),
            (r#""mask":1"#, "not a rule graph file"),
        ] {
            let text = problem(graph);
            assert!(text.contains(expected), "{graph}: {text}");
        }
    }

    #[test]
    fn notes_are_comments_and_never_rules() {
        let rules = load_text("t", "r: a => b", Vocabulary::open()).rule_set;
        let notes = ["where it", "", "comes\nfrom: a => a"].map(str::to_owned).to_vec();
        let json = serde_json::to_vec(&GraphFile { notes, ..rules.to_graphs() }).unwrap();
        let loaded = load_graphs("t", &json, Vocabulary::open()).unwrap();
        assert_eq!(loaded.rule_set.rules.len(), 1);
        let (_, text) = loaded.sources.entries().next().unwrap();
        assert_eq!(text.text(), "r: a => b\n# where it\n# comes\n# from: a => a\n");
    }

    #[test]
    fn a_graph_that_explodes_when_written_out_is_refused() {
        let levels = 100;
        let mut graph = RuleGraph { rule: "r".to_owned(), ..RuleGraph::default() };
        graph.add_node(1, 1, 0);
        for level in 0..levels {
            let node = graph.add_node(0, 0, 3);
            graph.add_edge(level, node, false, 0);
            graph.add_edge(level, node, true, 1);
        }
        let json =
            serde_json::to_vec(&GraphFile { concepts: vec!["a".to_owned()], graphs: vec![graph], notes: Vec::new() })
                .unwrap();
        let errors = load_graphs("t", &json, Vocabulary::open()).unwrap_err();
        assert!(errors[0].to_string().contains("when they are written out"), "{errors:?}");
    }
}
