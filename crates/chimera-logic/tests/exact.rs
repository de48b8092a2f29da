//! Exact reasoning against brute force: thousands of random formulas of up to 12 concepts, each compared with its whole
//! truth table (made by the bit-parallel evaluation, which has its own oracle).

#![allow(clippy::unwrap_used, reason = "a test may panic, in its helpers too")]

use chimera_logic::bdd::count::Circuit;
use chimera_logic::bdd::repair::{CERTAIN_COST, flip_cost, likelier_value};
use chimera_logic::bdd::{Diagram, Diagrams, Limits, TooLarge};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge};
use chimera_logic::prob::{Independent, Probabilities};
use chimera_logic::syntax::Op;
use chimera_logic::syntax::{MAX_DEPTH, MAX_OPERANDS};
use chimera_logic::truth::Program;
use chimera_logic::vocabulary::{ConceptId, Vocabulary};
use fastrand::Rng;

fn dag_of(concepts: usize) -> (Dag, Vec<Edge>) {
    let names = (0..concepts).map(|i| format!("c{i:03}"));
    let mut dag = Dag::new(Vocabulary::closed(names, "a test"));
    let leaves = (0..concepts).map(|i| dag.leaf(ConceptId(i as u32))).collect();
    (dag, leaves)
}

/// A random formula; with `once`, every concept is used at most once (the pool of leaves runs dry).
fn random_formula(random: &mut Rng, dag: &mut Dag, leaves: &mut Vec<Edge>, depth: usize, once: bool) -> Edge {
    let negate = random.bool();
    if depth == 0 || random.u8(..8) == 0 || (once && leaves.len() < 5) {
        let at = random.usize(..leaves.len());
        let leaf = if once && leaves.len() > 1 { leaves.swap_remove(at) } else { leaves[at] };
        return leaf.negate_if(negate);
    }
    let op = Op::ALL[random.usize(..4)];
    let arity = if op == Op::Implies { 2 } else { random.usize(2..5) };
    let operands = (0..arity).map(|_| random_formula(random, dag, leaves, depth - 1, once)).collect();
    dag.gate(op, operands).unwrap().negate_if(negate)
}

/// The truth of a formula under every assignment; bit `c` of the row is the value of concept `c`.
fn truth(dag: &Dag, roots: &[Edge]) -> TruthTable {
    let concepts = dag.vocabulary().len();
    let labels = BitTable::from_fn(1 << concepts, concepts, |row, concept| row >> concept & 1 == 1);
    Program::compile(dag, roots).evaluate(&TruthTable::complete(labels))
}

fn compile(dag: &Dag, roots: &[Edge]) -> (Circuit, Vec<Diagram>) {
    let mut diagrams = Diagrams::new(dag, roots, Limits::default());
    let functions: Vec<_> = roots.iter().map(|&root| diagrams.compile(root).unwrap()).collect();
    (diagrams.circuit(&functions), functions)
}

/// The probability of each assignment.
fn weights(p: &[f64]) -> Vec<f64> {
    let weight = |row: usize, (concept, p): (usize, &f64)| if row >> concept & 1 == 1 { *p } else { 1.0 - p };
    (0..1 << p.len()).map(|row| p.iter().enumerate().map(|factor| weight(row, factor)).product()).collect()
}

fn probabilities_of_each_kind(random: &mut Rng, concepts: usize) -> [Vec<f64>; 2] {
    let smooth = (0..concepts).map(|_| random.f64()).collect();
    // Few values, certainties among them: many ties.
    let coarse = (0..concepts).map(|_| [0.0, 0.2, 0.5, 0.8, 1.0][random.usize(..5)]).collect();
    [smooth, coarse]
}

#[test]
fn counts_equal_the_sum_over_all_assignments() {
    for seed in 0..3000 {
        let mut random = Rng::with_seed(seed);
        let concepts = 1 + seed as usize % 12;
        let (mut dag, mut leaves) = dag_of(concepts);
        let depth = random.usize(..5);
        let root = random_formula(&mut random, &mut dag, &mut leaves, depth, false);
        let truth = truth(&dag, &[root]);
        let (circuit, _) = compile(&dag, &[root]);
        for p in probabilities_of_each_kind(&mut random, concepts) {
            let expected: f64 =
                weights(&p).iter().enumerate().filter(|&(row, _)| truth.value().get(row, 0)).map(|(_, w)| w).sum();
            let got = circuit.evaluate(&Probabilities::of_sample(&p).unwrap())[0];
            assert!((got - expected).abs() < 1e-12, "seed {seed}, {}: {got}, not {expected}", dag.text(root));
            assert!((0.0..=1.0).contains(&got));
        }
    }
}

#[test]
fn worlds_and_repairs_are_the_best_of_all() {
    for seed in 0..3000 {
        let mut random = Rng::with_seed(seed + 10_000);
        let concepts = 1 + seed as usize % 10;
        let (mut dag, mut leaves) = dag_of(concepts);
        let depth = random.usize(..5);
        let root = random_formula(&mut random, &mut dag, &mut leaves, depth, false);
        let truth = truth(&dag, &[root]);
        let (circuit, functions) = compile(&dag, &[root]);
        for p in probabilities_of_each_kind(&mut random, concepts) {
            let table = Probabilities::of_sample(&p).unwrap();
            let start = (0..concepts).map(|c| usize::from(likelier_value(p[c])) << c).sum::<usize>();
            let flips_to = |row: usize| (0..concepts).filter(move |c| (row ^ start) >> c & 1 == 1);
            let cost_of = |row: usize| flips_to(row).map(|c| flip_cost(p[c])).sum::<f64>();
            let worlds: Vec<usize> = (0..1 << concepts).filter(|&row| truth.value().get(row, 0)).collect();
            let cheapest = worlds.iter().map(|&row| cost_of(row)).reduce(f64::min);
            let repair = circuit.repair(0, &table, 0);
            let world = circuit.most_probable(0, &table, 0);
            let (Some(cheapest), Some(repair), Some(world)) = (cheapest, &repair, &world) else {
                assert_eq!((worlds.len(), repair, world), (0, None, None), "seed {seed}");
                assert!(functions[0].is_false());
                continue;
            };
            // Sums of up to 10 certain costs are right to about 1e-9.
            assert!((repair.cost - cheapest).abs() < 1e-6, "seed {seed}: {} against {cheapest}", repair.cost);
            let best = worlds
                .iter()
                .filter(|&&row| cost_of(row) < cheapest + 1e-6)
                .map(|&row| flips_to(row).collect::<Vec<_>>())
                .min_by(|a, b| a.len().cmp(&b.len()).then(a.cmp(b)));
            let flips: Vec<usize> = repair.flips.iter().map(|flip| flip.concept.index()).collect();
            assert_eq!(Some(flips), best, "seed {seed}, {}, {p:?}", dag.text(root));
            assert!(repair.flips.iter().all(|flip| flip.value != likelier_value(p[flip.concept.index()])));

            let row = world.values.iter().fold(start, |row, (concept, value)| {
                row & !(1 << concept.index()) | usize::from(*value) << concept.index()
            });
            assert!(truth.value().get(row, 0), "seed {seed}: the world satisfies the formula");
            let weights = weights(&p);
            let most = worlds.iter().map(|&row| weights[row]).fold(0.0, f64::max);
            let rest = (0..concepts).filter(|c| world.values.iter().all(|(concept, _)| concept.index() != *c));
            let got = world.log_probability.exp() * rest.map(|c| p[c].max(1.0 - p[c])).product::<f64>();
            assert!((got - most).abs() <= 1e-12 * most.max(1e-300), "seed {seed}: {got:e} against {most:e}");
        }
    }
}

#[test]
fn entailment_is_what_the_truth_table_says() {
    for seed in 0..2000 {
        let mut random = Rng::with_seed(seed + 20_000);
        let concepts = 1 + seed as usize % 8;
        let (mut dag, mut leaves) = dag_of(concepts);
        let roots: Vec<Edge> = (0..4)
            .map(|_| {
                let depth = random.usize(..4);
                random_formula(&mut random, &mut dag, &mut leaves, depth, false)
            })
            .collect();
        let truth = truth(&dag, &roots);
        let mut diagrams = Diagrams::new(&dag, &roots, Limits::default());
        let functions: Vec<_> = roots.iter().map(|&root| diagrams.compile(root).unwrap()).collect();
        let column = |at: usize| truth.value().column(at);
        let rows = 1_u64 << concepts;
        for (a, &f) in functions.iter().enumerate() {
            assert_eq!(f.is_true(), truth.value().count_ones(a) == rows);
            assert_eq!(f.is_false(), truth.value().count_ones(a) == 0);
            let matters = |c: usize| (0..1 << concepts).any(|row| truth.get(row, a) != truth.get(row ^ 1 << c, a));
            let support: Vec<_> = (0..concepts).filter(|&c| matters(c)).map(|c| ConceptId(c as u32)).collect();
            assert_eq!(diagrams.support(f), support, "seed {seed}");
            for (b, &g) in functions.iter().enumerate() {
                let pairs = || column(a).iter().zip(column(b));
                assert_eq!(diagrams.equivalent(f, g), pairs().all(|(x, y)| x == y), "seed {seed}");
                assert_eq!(diagrams.implies(f, g), Ok(pairs().all(|(x, y)| x & !y == 0)), "seed {seed}");
                assert_eq!(diagrams.intersects(f, g), Ok(pairs().any(|(x, y)| x & y != 0)), "seed {seed}");
                let both = diagrams.and(f, g).unwrap();
                assert_eq!(both.is_false(), !pairs().any(|(x, y)| x & y != 0));
            }
        }
        let all = diagrams.all(&functions).unwrap();
        let holding = (0..1 << concepts).filter(|&row| (0..4).all(|at| truth.value().get(row, at))).count();
        let half = vec![0.5; concepts];
        let share = diagrams.circuit(&[all]).evaluate(&Probabilities::of_sample(&half).unwrap())[0];
        // Sums of multiples of 2^-8 are exact.
        assert_eq!(share * rows as f64, holding as f64, "seed {seed}");
    }
}

#[test]
fn independent_events_are_exact_where_no_concept_repeats() {
    let mut gates = 0;
    for seed in 0..1000 {
        let mut random = Rng::with_seed(seed + 30_000);
        let (mut dag, leaves) = dag_of(80);
        let root = random_formula(&mut random, &mut dag, &mut leaves.clone(), 3, true);
        gates += dag.gates().count();
        let (circuit, _) = compile(&dag, &[root]);
        let p: Vec<f64> = (0..80).map(|_| random.f64()).collect();
        let table = Probabilities::of_sample(&p).unwrap();
        let (exact, independent) =
            (circuit.evaluate(&table)[0], Independent::compile(&dag, &[root]).evaluate(&table)[0]);
        assert!((exact - independent).abs() < 1e-12, "seed {seed}: {exact} and {independent}: {}", dag.text(root));
    }
    assert!(gates > 3000, "the formulas are not trivial: {gates} gates");
}

#[test]
fn hard_labels_are_repaired_with_the_fewest_flips() {
    let (mut dag, leaves) = dag_of(5);
    // Three of the labels are wrong for the conjunction; one flip does for the disjunction, and the first is taken.
    let all = dag.gate(Op::And, leaves.clone()).unwrap();
    let any = dag.gate(Op::Or, leaves[..3].to_vec()).unwrap();
    let (circuit, _) = compile(&dag, &[all, any]);
    let p = [0.0, 0.0, 0.0, 1.0, 1.0];
    let table = Probabilities::of_sample(&p).unwrap();
    let flips = |function| {
        let repair = circuit.repair(function, &table, 0).unwrap();
        assert_eq!(repair.cost, repair.flips.len() as f64 * CERTAIN_COST);
        repair.flips.into_iter().map(|flip| (flip.concept.0, flip.value)).collect::<Vec<_>>()
    };
    assert_eq!(flips(0), [(0, true), (1, true), (2, true)]);
    assert_eq!(flips(1), [(0, true)]);
    assert_eq!(circuit.most_probable(0, &table, 0).unwrap().log_probability, f64::NEG_INFINITY);
}

/// Trees of IFFs over 60 concepts in random shapes, and the equivalence of two of them.
#[test]
fn parity_of_60_concepts_is_small() {
    let (mut dag, leaves) = dag_of(60);
    let mut random = Rng::with_seed(1);
    let mut parity = |mut operands: Vec<Edge>| {
        while operands.len() > 1 {
            let [a, b] = [0; 2].map(|_| operands.swap_remove(random.usize(..operands.len())));
            operands.push(dag.gate(Op::Iff, vec![a, b.negate_if(random.bool())]).unwrap());
        }
        operands[0]
    };
    let (first, second) = (parity(leaves.clone()), parity(leaves.iter().rev().copied().collect()));
    let both = dag.gate(Op::Iff, vec![first, second]).unwrap();
    let (circuit, functions) = compile(&dag, &[first, both]);
    // Two nodes a concept, but one for the topmost: the parity so far is all that matters.
    assert_eq!(circuit.len(), 119);
    assert!(functions[1].is_true() || functions[1].is_false());
    let p: Vec<f64> = (0..60).map(|i| f64::from(i) / 60.0).collect();
    let table = Probabilities::of_sample(&p).unwrap();
    // P(even) - P(odd) is the product of 1 - 2p, and p = 1/2 is among them.
    assert!((circuit.evaluate(&table)[0] - 0.5).abs() < 1e-15);
}

/// `x_k`, where k is the number of concepts that hold: exponential in every order (Bryant 1991).
#[test]
fn hidden_weighted_bit_ends_in_an_answer() {
    const CONCEPTS: usize = 60;
    let (mut dag, leaves) = dag_of(CONCEPTS);
    let mut gate = |op, operands: Vec<Option<Edge>>| {
        let operands: Vec<Edge> = operands.into_iter().flatten().collect();
        if operands.len() == 1 { operands[0] } else { dag.gate(op, operands).unwrap() }
    };
    // exactly[k]: k of the concepts so far hold.
    let mut exactly: Vec<Edge> = vec![leaves[0].negate_if(true), leaves[0]];
    for &leaf in &leaves[1..] {
        let with = |gate: &mut dyn FnMut(Op, Vec<Option<Edge>>) -> Edge, k: usize, exactly: &[Edge]| {
            let stays = exactly.get(k).map(|&e| gate(Op::And, vec![Some(leaf.negate_if(true)), Some(e)]));
            let grows = k.checked_sub(1).map(|k| gate(Op::And, vec![Some(leaf), Some(exactly[k])]));
            gate(Op::Or, vec![stays, grows])
        };
        exactly = (0..=exactly.len()).map(|k| with(&mut gate, k, &exactly)).collect();
    }
    let bits = (1..=CONCEPTS).map(|k| Some(gate(Op::And, vec![Some(exactly[k]), Some(leaves[k - 1])]))).collect();
    let root = gate(Op::Or, bits);
    let mut diagrams = Diagrams::new(&dag, &[root], Limits { call: 1 << 14, total: 1 << 20 });
    assert_eq!(diagrams.compile(root), Err(TooLarge { limit: 1 << 14 }));
    assert_eq!(diagrams.nodes(), 1);
    assert_eq!(diagrams.compile(exactly[2]).map(|f| diagrams.support(f).len()), Ok(60));
}

#[test]
fn random_clauses_of_60_concepts_end_in_an_answer() {
    let (mut dag, leaves) = dag_of(60);
    let mut random = Rng::with_seed(2);
    let clauses: Vec<Edge> = (0..200)
        .map(|_| {
            let literals = (0..3).map(|_| leaves[random.usize(..60)].negate_if(random.bool())).collect();
            dag.gate(Op::Or, literals).unwrap()
        })
        .collect();
    let mut diagrams = Diagrams::new(&dag, &clauses, Limits::default());
    let functions: Vec<_> = clauses.iter().map(|&clause| diagrams.compile(clause).unwrap()).collect();
    let before = diagrams.nodes();
    assert_eq!(diagrams.all(&functions), Err(TooLarge { limit: Limits::default().call }));
    assert_eq!(diagrams.nodes(), before);
}

#[test]
fn formulas_as_wide_and_deep_as_they_may_be() {
    const CONCEPTS: usize = MAX_OPERANDS;
    let (mut dag, leaves) = dag_of(CONCEPTS);
    let wide = dag.gate(Op::Or, leaves.clone()).unwrap();
    let mut deep = leaves[0];
    for &leaf in &leaves[1..=MAX_DEPTH] {
        deep = dag.gate(Op::Implies, vec![deep, leaf]).unwrap();
    }
    let mut diagrams = Diagrams::new(&dag, &[wide], Limits::default());
    let wide = diagrams.compile(wide).unwrap();
    assert_eq!(diagrams.support(wide).len(), CONCEPTS);
    let p = vec![1e-5; CONCEPTS];
    let got = diagrams.circuit(&[wide]).evaluate(&Probabilities::of_sample(&p).unwrap())[0];
    // 1 - (1 - p)^n
    let expected = 1.0 - (1.0 - 1e-5_f64).powi(CONCEPTS as i32);
    assert!((got - expected).abs() < 1e-9, "{got} {expected}");
    let mut diagrams = Diagrams::new(&dag, &[deep], Limits::default());
    assert_eq!(diagrams.compile(deep).map(|f| diagrams.support(f).len()), Ok(MAX_DEPTH + 1));
}

/// Two functions of different concepts, each 2^8 nodes wide at the same place of the order, that contradict each other
/// in the last concept: a walk over both sees 2^16 pairs and makes no node.
#[test]
fn work_that_makes_no_nodes_is_limited_too() {
    let (mut dag, leaves) = dag_of(33);
    let mut wide = |offset: usize, negated: bool| {
        let pairs = (offset..offset + 8).map(|i| dag.gate(Op::And, vec![leaves[i], leaves[i + 16]]).unwrap()).collect();
        let any = dag.gate(Op::Or, pairs).unwrap();
        dag.gate(Op::And, vec![any, leaves[32].negate_if(negated)]).unwrap()
    };
    let roots = [wide(0, false), wide(8, true)];
    let disjoint = |call: usize| {
        let order = (0..33).map(ConceptId);
        let mut diagrams = Diagrams::with_order(&dag, order, Limits { call, total: 1 << 20 });
        let [f, g] = roots.map(|root| diagrams.compile(root).unwrap());
        (diagrams.intersects(f, g), diagrams.and(f, g))
    };
    let error = TooLarge { limit: 1 << 11 };
    assert_eq!(disjoint(1 << 11), (Err(error), Err(error)));
    assert_eq!(disjoint(1 << 16), (Ok(false), Ok(Diagram::FALSE)));
}
