//! What the tests and benchmarks share: random rules as text, random labels, and the slowest possible evaluation of a formula,
//! written straight from the definitions and used as the oracle.

#![allow(dead_code, reason = "each test uses a part of it")]

use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::load::{Loaded, load_text};
use chimera_logic::syntax::{Body, Formula, Op};
use chimera_logic::vocabulary::Vocabulary;
use fastrand::Rng;

/// Names `c0`, `c1`, ...
pub(crate) fn concept_names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("c{index}")).collect()
}

/// A formula of at most `depth` operators on a path, fully parenthesised.
pub(crate) fn random_formula(rng: &mut Rng, concepts: usize, depth: usize, widest: usize) -> String {
    let not = if rng.u8(0..4) == 0 { "!" } else { "" };
    if depth == 0 || rng.u8(0..6) == 0 {
        return format!("{not}c{}", rng.usize(0..concepts));
    }
    let op = Op::ALL[rng.usize(0..4)];
    let arity = if op == Op::Implies { 2 } else { rng.usize(2..=widest) };
    let operands: Vec<_> = (0..arity).map(|_| random_formula(rng, concepts, depth - 1, widest)).collect();
    format!("{not}({})", operands.join(&format!(" {} ", op.symbol())))
}

/// A rule file of random formulas.
pub(crate) fn random_rules(rng: &mut Rng, rules: usize, concepts: usize, depth: usize, widest: usize) -> String {
    (0..rules).map(|rule| format!("r{rule}: {}\n", random_formula(rng, concepts, depth, widest))).collect()
}

/// Loads rules over exactly the concepts `c0 .. c{count-1}`, so that concept ids are column numbers.
pub(crate) fn load_closed(text: &str, concepts: usize) -> Loaded {
    let loaded = load_text("test.rules", text, Vocabulary::closed(concept_names(concepts), "the test"));
    assert_eq!(loaded.diagnostics.errors(), 0, "{:?}", loaded.diagnostics.kept());
    loaded
}

/// Random labels; a cell is unknown with the given probability.
pub(crate) fn random_labels(rng: &mut Rng, rows: usize, concepts: usize, unknown: f64) -> TruthTable {
    let value = BitTable::from_fn(rows, concepts, |_, _| rng.bool());
    if unknown == 0.0 {
        return TruthTable::complete(value);
    }
    TruthTable::partial(value, BitTable::from_fn(rows, concepts, |_, _| rng.f64() >= unknown))
}

/// Kleene's truth tables: unknown unless the known operands settle it.
pub(crate) fn kleene(op: Op, operands: &[Option<bool>]) -> Option<bool> {
    let (mut trues, mut falses, mut unknowns) = (0, 0, 0);
    for operand in operands {
        match operand {
            Some(true) => trues += 1,
            Some(false) => falses += 1,
            None => unknowns += 1,
        }
    }
    match op {
        Op::And if falses > 0 => Some(false),
        Op::And if unknowns > 0 => None,
        Op::And => Some(true),
        Op::Or if trues > 0 => Some(true),
        Op::Or if unknowns > 0 => None,
        Op::Or => Some(false),
        Op::Iff if trues > 0 && falses > 0 => Some(false),
        Op::Iff if unknowns > 0 => None,
        Op::Iff => Some(true),
        Op::Implies => match (operands[0], operands[1]) {
            (Some(false), _) | (_, Some(true)) => Some(true),
            (Some(true), Some(false)) => Some(false),
            _ => None,
        },
    }
}

/// The truth of a formula as written.
pub(crate) fn formula_truth(formula: &Formula, label: &dyn Fn(&str) -> Option<bool>) -> Option<bool> {
    let body = match &formula.body {
        Body::Concept(name, _) => label(name),
        Body::Apply(op, operands) => {
            let operands: Vec<_> = operands.iter().map(|operand| formula_truth(operand, label)).collect();
            kleene(*op, &operands)
        }
    };
    body.map(|value| value != formula.negated)
}

/// The truth of a reference into the DAG.
pub(crate) fn edge_truth(dag: &Dag, edge: Edge, label: &dyn Fn(usize) -> Option<bool>) -> Option<bool> {
    let node = match dag.node(edge.node()) {
        Node::Leaf(concept) => label(concept.index()),
        Node::Gate(op, operands) => {
            let operands: Vec<_> = operands.iter().map(|&operand| edge_truth(dag, operand, label)).collect();
            kleene(op, &operands)
        }
    };
    node.map(|value| value != edge.is_negated())
}
