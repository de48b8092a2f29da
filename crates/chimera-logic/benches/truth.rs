//! Truth of 1,000 random rules (depth up to 4, 300 concepts) over 1,000,000 rows, one thread, side by side with a plain
//! recursive evaluation sample by sample and, with `-- --python PATH` to a Python that has numpy, with the same DAG on numpy's
//! boolean arrays. Prints ratios and checks that all three agree.
//!
//!     cargo bench -p chimera-logic --bench truth -- --python "$PWD/.venv/bin/python"

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a benchmark prints its result or stops"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::Op;
use chimera_logic::truth::Program;
use support::{load_closed, random_rules};

const RULES: usize = 1000;
const CONCEPTS: usize = 300;
const ROWS: usize = 1_000_000;
/// The plain way is linear in rows; it is timed on fewer of them.
const PLAIN_ROWS: usize = 20_000;

fn main() {
    let mut rng = fastrand::Rng::with_seed(1);
    let rule_set = load_closed(&random_rules(&mut rng, RULES, CONCEPTS, 4, 3), CONCEPTS).rule_set;
    let labels = TruthTable::complete(random_bits(&mut rng));
    let sharing = rule_set.sharing();
    println!(
        "{RULES} rules, {} gates ({} unshared), {CONCEPTS} concepts, {ROWS} rows",
        sharing.gates, sharing.gates_unshared
    );

    let (holds, ours) = best_of(5, || bit_parallel(&rule_set, &labels));
    let program = Program::compile(&rule_set.dag, &rule_set.roots());
    let megabytes = |bytes: usize| bytes as f64 / 1e6;
    println!(
        "bit-parallel: {:.1} ms; memory: labels {:.1} MB + rule columns {:.1} MB + live nodes {:.2} MB",
        ours.as_secs_f64() * 1e3,
        megabytes(ROWS / 8 * CONCEPTS),
        megabytes(ROWS / 8 * RULES),
        megabytes(program.live_bytes()),
    );

    let samples: Vec<Vec<bool>> =
        (0..PLAIN_ROWS).map(|row| (0..CONCEPTS).map(|concept| labels.value().get(row, concept)).collect()).collect();
    let (plain_holds, plain) = best_of(1, || plain(&rule_set, &samples));
    let few = BitTable::from_fn(PLAIN_ROWS, CONCEPTS, |row, concept| labels.value().get(row, concept));
    assert_eq!(bit_parallel(&rule_set, &TruthTable::complete(few)), plain_holds, "plain evaluation disagrees");
    let plain = plain.as_secs_f64() * (ROWS as f64 / PLAIN_ROWS as f64);
    println!(
        "plain recursion: {:.1} ms for all rows; ratio {:.0}x (target 100x)",
        plain * 1e3,
        plain / ours.as_secs_f64()
    );

    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().position(|argument| argument == "--python").and_then(|at| arguments.get(at + 1)) {
        None => println!("numpy: not measured (pass `--python PATH`)"),
        Some(python) => {
            let (numpy_holds, numpy) = numpy(python, &rule_set, labels.value());
            assert_eq!(numpy_holds, holds, "numpy disagrees");
            println!("numpy: {:.1} ms; ratio {:.1}x (target 8x)", numpy * 1e3, numpy / ours.as_secs_f64());
        }
    }
}

fn random_bits(rng: &mut fastrand::Rng) -> BitTable {
    let mut table = BitTable::zeros(ROWS, CONCEPTS);
    let mask = table.tail_mask();
    for column in 0..CONCEPTS {
        let words = table.column_mut(column);
        words.iter_mut().for_each(|word| *word = rng.u64(..));
        words[ROWS.div_ceil(64) - 1] &= mask;
    }
    table
}

fn best_of<T>(times: usize, mut work: impl FnMut() -> T) -> (T, Duration) {
    let mut run = || {
        let start = Instant::now();
        let result = black_box(work());
        (result, start.elapsed())
    };
    let first = run();
    (1..times).fold(first, |best, _| {
        let next = run();
        if next.1 < best.1 { next } else { best }
    })
}

/// Rows on which each rule holds.
fn bit_parallel(rule_set: &RuleSet, labels: &TruthTable) -> Vec<u64> {
    let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(labels);
    (0..truth.columns()).map(|column| truth.value().count_ones(column)).collect()
}

fn plain(rule_set: &RuleSet, samples: &[Vec<bool>]) -> Vec<u64> {
    let mut holds = vec![0; rule_set.rules.len()];
    for sample in samples {
        for (count, rule) in holds.iter_mut().zip(&rule_set.rules) {
            *count += u64::from(plain_truth(&rule_set.dag, rule.root, sample));
        }
    }
    holds
}

/// What one writes first: recursion over the formula, short-cutting where the operator allows.
fn plain_truth(dag: &Dag, edge: Edge, sample: &[bool]) -> bool {
    let value = match dag.node(edge.node()) {
        Node::Leaf(concept) => sample[concept.index()],
        Node::Gate(op, operands) => {
            let mut values = operands.iter().map(|&operand| plain_truth(dag, operand, sample));
            match op {
                Op::And => values.all(|value| value),
                Op::Or => values.any(|value| value),
                Op::Implies => !plain_truth(dag, operands[0], sample) || plain_truth(dag, operands[1], sample),
                Op::Iff => {
                    let first = plain_truth(dag, operands[0], sample);
                    values.all(|value| value == first)
                }
            }
        }
    };
    value != edge.is_negated()
}

/// Runs the script beside this file: the DAG as JSON on its first line, then the label bits.
fn numpy(python: &str, rule_set: &RuleSet, labels: &BitTable) -> (Vec<u64>, f64) {
    let dag = &rule_set.dag;
    let edge = |edge: &Edge| (edge.node().index(), edge.is_negated());
    let nodes: Vec<_> = dag
        .ids()
        .map(|id| match dag.node(id) {
            Node::Leaf(concept) => serde_json::json!({ "leaf": concept.index() }),
            Node::Gate(op, operands) => {
                serde_json::json!({ "op": op.code(), "operands": operands.iter().map(edge).collect::<Vec<_>>() })
            }
        })
        .collect();
    let roots: Vec<_> = rule_set.rules.iter().map(|rule| edge(&rule.root)).collect();
    let header = serde_json::json!({ "nodes": nodes, "roots": roots, "rows": ROWS, "concepts": CONCEPTS });
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/truth_numpy.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the given Python starts");
    let mut input = child.stdin.take().expect("a pipe was asked for");
    writeln!(input, "{header}").expect("the script reads its input");
    for column in 0..CONCEPTS {
        let bytes: Vec<u8> = labels.column(column).iter().flat_map(|word| word.to_le_bytes()).collect();
        input.write_all(&bytes).expect("the script reads its input");
    }
    drop(input);
    let output = child.wait_with_output().expect("the script ends");
    assert!(output.status.success(), "the script failed");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("the script answers in JSON");
    let holds = answer["holds"].as_array().expect("counts").iter().filter_map(serde_json::Value::as_u64).collect();
    (holds, answer["seconds"].as_f64().expect("a time"))
}
