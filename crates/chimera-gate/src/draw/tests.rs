//! Chimeras against the plain meaning of formulas.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::load::load_text;
use chimera_logic::vocabulary::Vocabulary;

use super::*;
use crate::ground::Ground;

struct Nothing;

impl crate::cone::Features for Nothing {
    fn of(&self, _: usize) -> &[f32] {
        &[]
    }
}

fn dag_of(formula: &str) -> (Dag, Edge) {
    let loaded = load_text(
        "t",
        &format!("r: {formula}"),
        Vocabulary::closed(["a", "b", "c", "d"].map(str::to_owned), "the test"),
    );
    let root = loaded.rule_set.rules[0].root;
    (loaded.rule_set.dag, root)
}

/// The truth of a node when each spot has the labels of its own sample, by plain recursion over the unfolded formula.
fn plain_truth(dag: &Dag, node: NodeId, rows: &[u32], spot: &mut usize, labels: &TruthTable) -> Option<bool> {
    match dag.node(node) {
        Node::Leaf(concept) => {
            *spot += 1;
            labels.get(rows[*spot - 1] as usize, concept.index())
        }
        Node::Gate(op, operands) => {
            let values: Vec<_> = operands
                .iter()
                .map(|edge| plain_truth(dag, edge.node(), rows, spot, labels).map(|value| value != edge.is_negated()))
                .collect();
            // What every way to fill in the unknown values agrees on.
            let unknown: Vec<usize> = (0..values.len()).filter(|&at| values[at].is_none()).collect();
            let results: Vec<bool> = (0..1_usize << unknown.len())
                .map(|code| {
                    let filled: Vec<bool> = values
                        .iter()
                        .enumerate()
                        .map(|(at, value)| {
                            let filled = |&place: &usize| code >> place & 1 == 1;
                            value.unwrap_or_else(|| unknown.iter().position(|&u| u == at).as_ref().is_some_and(filled))
                        })
                        .collect();
                    chimera_logic::truth::hard_op(op, &filled)
                })
                .collect();
            results.iter().all(|result| *result == results[0]).then_some(results[0])
        }
    }
}

const FORMULAS: [&str; 9] = [
    "a & b",
    "!a | b | !c",
    "a => !b",
    "a <=> b <=> !c",
    "(a => b) & (b => c)",
    "!(a & b) => (c | !d)",
    "a <=> !a",
    "(a | b) & (a | b | c) & !(c <=> d)",
    "((a & b) | c) <=> (d => (a & b))",
];

/// A fifth of the labels unknown; one of four concepts rare.
fn labels(rows: usize) -> TruthTable {
    let mut random = fastrand::Rng::with_seed(7);
    let value = BitTable::from_fn(rows, 4, |_, column| if column == 1 { random.u8(..20) == 0 } else { random.bool() });
    let known = BitTable::from_fn(rows, 4, |_, _| random.u8(..5) != 0);
    TruthTable::partial(value, known)
}

#[test]
fn targets_are_the_exact_truth_of_the_drawn_labels_and_samples_differ() {
    let labels = labels(300);
    let groups: Arc<[u32]> = (0..300).map(|row| row / 2).collect();
    for formula in FORMULAS {
        let (dag, root) = dag_of(formula);
        for with_groups in [false, true] {
            let groups = with_groups.then(|| groups.clone());
            let ground =
                Ground::new(&dag, &[root], &labels, (&Nothing, 0), groups, |_| crate::cone::LeafFeature::Shared);
            let cone = ground.cone(root.node(), &|_| None).unwrap();
            for depth in [Depth::Node, Depth::Deep] {
                let drawing = ground.drawing(&cone, depth);
                let mut random = fastrand::Rng::with_seed(1);
                let (mut shifted, mut stratified) = (Batch::default(), Batch::default());
                let rows: Vec<u32> = (0..64).map(|at| at * 4 % 300).collect();
                drawing.shift(&ground.population, &rows, &mut random, &mut shifted);
                let made =
                    (0..200).filter(|_| drawing.stratified(&ground.population, None, &mut random, &mut stratified));
                assert!(made.count() > 190, "{formula}");
                assert_eq!(shifted.len(), 64);
                assert_eq!(shifted.rows[0], rows, "part 0 keeps its sample");
                for (batch, shift) in [(&shifted, true), (&stratified, false)] {
                    let mut seen = [0; 2];
                    for at in 0..batch.len() {
                        let rows: Vec<u32> = batch.rows.iter().map(|rows| rows[at]).collect();
                        let samples: Vec<u32> = match depth {
                            Depth::Deep => rows.clone(),
                            Depth::Node => cone.operands.iter().map(|operand| rows[operand.spots().start]).collect(),
                        };
                        let apart = |one: &u32, other: &u32| ground.population.differ(*one, *other);
                        let all_apart =
                            (1..samples.len()).all(|at| samples[..at].iter().all(|one| apart(one, &samples[at])));
                        let expected = plain_truth(&dag, root.node(), &rows, &mut 0, &labels);
                        assert!(all_apart || shift && with_groups, "{formula}: {samples:?}");
                        assert_eq!(batch.targets[at], expected.filter(|_| all_apart), "{formula} {rows:?}");
                        expected.inspect(|truth| seen[usize::from(*truth)] += 1);
                    }
                    if !shift {
                        // Half of each, as far as both can be drawn; six deviations of a fair coin.
                        let [fails, holds] = drawing.can();
                        assert!(fails && holds, "{formula}");
                        assert!(seen[0] > 57 && seen[1] > 57 && seen[0] + seen[1] == batch.len(), "{formula} {seen:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_configuration_that_can_be_supplied_is_and_no_other() {
    // b implies a on every sample, c is always true.
    let table = BitTable::from_fn(90, 4, |row, column| [row % 3 > 0, row % 3 > 1, true, true][column]);
    let labels = TruthTable::complete(table);
    let shown = |formula: &str, depth: Depth| {
        let (dag, root) = dag_of(formula);
        let ground = Ground::new(&dag, &[root], &labels, (&Nothing, 0), None, |_| crate::cone::LeafFeature::Shared);
        let cone = ground.cone(root.node(), &|_| None).unwrap();
        let drawing = ground.drawing(&cone, depth);
        let (mut random, mut batch) = (fastrand::Rng::with_seed(1), Batch::default());
        (0..400).for_each(|_| {
            drawing.stratified(&ground.population, None, &mut random, &mut batch);
        });
        let mut shown = Configurations::default();
        shown.count(&batch);
        (drawing.can(), shown.0.into_keys().map(|key| key.into_iter().map(u8::from).collect::<Vec<_>>()).collect())
    };
    let all: Vec<Vec<u8>> = vec![vec![0, 0], vec![0, 1], vec![1, 0], vec![1, 1]];
    assert_eq!(shown("b => a", Depth::Node), ([true; 2], all.clone()));
    assert_eq!(shown("a | c", Depth::Deep), ([false, true], vec![vec![0, 1], vec![1, 1]]));
    assert_eq!(shown("a & !c", Depth::Deep), ([true, false], vec![vec![0, 0], vec![1, 0]]));
    // On every sample both implications hold: whole samples cannot make one false, single leaves can.
    assert_eq!(shown("(b => a) & (a => c)", Depth::Node), ([false, true], vec![vec![1, 1]]));
    assert_eq!(shown("(b => a) & (a => b)", Depth::Deep), ([true; 2], all));
    // Wide gates meet all but one operand true as often as few.
    let (can, configurations) = shown("a & b & !a & !b & c", Depth::Deep);
    assert_eq!(can, [true; 2]);
    let true_counts: Vec<u8> = configurations.iter().map(|values| values.iter().sum()).collect();
    assert!((1..=5).all(|count| true_counts.contains(&count)), "{true_counts:?}");
}

#[test]
fn few_samples_are_not_used_twice() {
    // One single sample has both concepts.
    let labels = TruthTable::complete(BitTable::from_fn(10, 4, |row, _| row == 3));
    let (dag, root) = dag_of("a & b");
    let ground = Ground::new(&dag, &[root], &labels, (&Nothing, 0), None, |_| crate::cone::LeafFeature::Shared);
    let cone = ground.cone(root.node(), &|_| None).unwrap();
    let drawing = ground.drawing(&cone, Depth::Deep);
    let (mut random, mut batch) = (fastrand::Rng::with_seed(1), Batch::default());
    assert!(!drawing.stratified(&ground.population, Some(&[true, true]), &mut random, &mut batch));
    assert!(batch.is_empty());
    assert!(drawing.stratified(&ground.population, Some(&[true, false]), &mut random, &mut batch));
    drawing.shift(&ground.population, &[1], &mut random, &mut batch);
    assert_eq!(batch.len(), 1, "a batch smaller than the arity gives nothing");
}
