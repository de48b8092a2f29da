//! Gates learn rules that are never broken in training, and detect samples that break them; what cannot be learned is not.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use chimera_gate::audit::Audit;
use chimera_gate::cone::{LeafFeature, Moments};
use chimera_gate::draw::{Choice, Depth};
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::ground::Ground;
use chimera_gate::pass::probability;
use chimera_gate::train::{Negatives, Problem, Recipe, Taught};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge, NodeId};
use chimera_logic::load::load_text;
use chimera_logic::truth::holds;
use chimera_logic::vocabulary::Vocabulary;

const WIDTH: usize = 24;
const CONCEPTS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Samples of five concepts, each with numbers of its own in the feature, and noise.
struct World {
    labels: Vec<[bool; 5]>,
    z: Vec<f32>,
}

impl World {
    /// Samples whose labels pass a test.
    fn new(count: usize, seed: u64, pass: impl Fn(&[bool; 5]) -> bool) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = Self { labels: Vec::new(), z: Vec::new() };
        while world.labels.len() < count {
            let labels = std::array::from_fn(|_| random.bool());
            if pass(&labels) {
                // Four numbers a concept, and four that say nothing.
                for at in 0..WIDTH {
                    let there = labels.get(at / 4).is_some_and(|there| *there);
                    world.z.push(f32::from(u8::from(there)) + 0.2 * (random.f32() - 0.5));
                }
                world.labels.push(labels);
            }
        }
        world
    }

    fn table(&self) -> TruthTable {
        TruthTable::complete(BitTable::from_fn(self.labels.len(), 5, |row, column| self.labels[row][column]))
    }

    /// z centred and brought to one scale, by samples like those of training.
    fn leaf(pass: impl Fn(&[bool; 5]) -> bool) -> LeafFeature {
        let mut moments = Moments::new(WIDTH);
        let world = Self::new(500, 1, pass);
        world.z.chunks_exact(WIDTH).for_each(|z| moments.add(z));
        moments.standard()
    }

    fn features(&self) -> (&[f32], usize) {
        (&self.z, WIDTH)
    }
}

struct Rule {
    dag: Dag,
    root: Edge,
    leaf: LeafFeature,
}

impl Rule {
    fn new(formula: &str) -> Self {
        let vocabulary = Vocabulary::closed(CONCEPTS.map(str::to_owned), "the test");
        let loaded = load_text("t", &format!("r: {formula}"), vocabulary);
        assert_eq!(loaded.rule_set.rules.len(), 1, "{formula}");
        let (root, dag) = (loaded.rule_set.rules[0].root, loaded.rule_set.dag);
        let mut rule = Self { root, dag, leaf: LeafFeature::Shared };
        rule.leaf = World::leaf(|labels| rule.holds(labels));
        rule
    }

    fn holds(&self, labels: &[bool; 5]) -> bool {
        holds(&self.dag, self.root, &|concept| labels[concept.index()])
    }

    /// All gates, the lowest first, each taught on its own.
    fn teach(&self, world: &World, labels: &TruthTable, recipe: &Recipe) -> Result<Vec<(NodeId, Taught)>, Problem> {
        let features = world.features();
        let ground = Ground::new(&self.dag, &[self.root], labels, (&features, WIDTH), None, |_| self.leaf.clone());
        let mut taught: Vec<(NodeId, Taught)> = Vec::new();
        let mut gates: Vec<Option<Arc<Gate>>> = vec![None; self.dag.len()];
        for (node, ..) in self.dag.gates() {
            let cone = ground.cone(node, &|node| gates[node.index()].clone()).unwrap();
            let result = ground.task(&cone, recipe, None, node.index() as u64).teach(&|| {})?;
            gates[node.index()] = Some(Arc::new(result.gate.clone()));
            taught.push((node, result));
        }
        Ok(taught)
    }

    /// The probability of the root for each sample.
    fn probabilities(&self, taught: &[(NodeId, Taught)], world: &World) -> Vec<f32> {
        let place = |node: NodeId| taught.iter().position(|(other, _)| *other == node);
        let placed: Vec<PlacedGate> = taught
            .iter()
            .map(|(node, taught)| {
                let operands = self.dag.operands(*node).iter().map(|edge| {
                    let source = place(edge.node()).map_or(Source::Leaf(self.leaf.clone()), Source::Node);
                    (source, edge.is_negated())
                });
                PlacedGate { gate: Arc::new(taught.gate.clone()), operands: operands.collect() }
            })
            .collect();
        let evaluator = Evaluator::new(WIDTH, &placed).unwrap();
        let mut logits = vec![0.0; world.labels.len() * evaluator.len()];
        evaluator.run(&world.features(), 0..world.labels.len(), &mut logits);
        let root = place(self.root.node()).unwrap();
        let logits = logits.chunks_exact(evaluator.len()).map(|logits| logits[root]);
        logits.map(|logit| probability(if self.root.is_negated() { -logit } else { logit })).collect()
    }

    /// How well the root tells samples that break the rule from samples that do not.
    fn auroc(&self, taught: &[(NodeId, Taught)]) -> f64 {
        let world = World::new(600, 5, |_| true);
        let scores = self.probabilities(taught, &world);
        let (mut won, mut pairs) = (0.0, 0.0);
        for (_, low) in scores.iter().enumerate().filter(|(row, _)| !self.holds(&world.labels[*row])) {
            for (_, high) in scores.iter().enumerate().filter(|(row, _)| self.holds(&world.labels[*row])) {
                pairs += 1.0;
                won += if low < high {
                    1.0
                } else if low == high {
                    0.5
                } else {
                    0.0
                };
            }
        }
        assert!(pairs > 0.0);
        won / pairs
    }
}

/// Where two concepts never occur together, each is evidence against the other in training; features that are centred and a
/// little weight decay keep gates from relying on it.
fn recipe() -> Recipe {
    Recipe { hidden: 64, epochs: 8, rate: 3e-3, weight_decay: 1e-3, ..Recipe::default() }
}

/// Every connective that chimeras can supply, every pattern of negations of two operands, and wider gates.
fn formulas() -> Vec<String> {
    let mut formulas = Vec::new();
    for op in ["|", "=>", "<=>"] {
        for (left, right) in [("", ""), ("!", ""), ("", "!"), ("!", "!")] {
            formulas.push(format!("{left}a {op} {right}b"));
        }
    }
    let wider = [
        "a | b | !c",
        "!a | b | c | !d",
        "a <=> b <=> c",
        "a <=> !b <=> c <=> d",
        "(a & b) => c",
        "(a & !b & c) => d",
        "(a & b & c & d) => e",
        "a => (b & c)",
        "!(a & b)",
        "!(a & b & !c)",
    ];
    formulas.extend(wider.map(str::to_owned));
    formulas
}

#[test]
fn violations_that_never_occur_in_training_are_detected() {
    for formula in formulas() {
        let rule = Rule::new(&formula);
        let world = World::new(2000, 3, |labels| rule.holds(labels));
        for sampler in [Choice::Stratified, Choice::Shift] {
            let recipe = Recipe { sampler, ..recipe() };
            let taught = rule.teach(&world, &world.table(), &recipe).unwrap();
            let auroc = rule.auroc(&taught);
            assert!(auroc > 0.99, "{formula} {sampler:?}: {auroc}");
        }
    }
}

/// Without centring, a gate learns that concepts that exclude each other are evidence against each other, and misses the
/// samples that have both.
#[test]
fn centred_features_keep_concepts_apart_that_exclude_each_other() {
    let mut rule = Rule::new("!a | !b");
    let world = World::new(2000, 3, |labels| rule.holds(labels));
    let recipe = Recipe { hidden: 256, weight_decay: 0.0, ..recipe() };
    let centred = rule.auroc(&rule.teach(&world, &world.table(), &recipe).unwrap());
    rule.leaf = LeafFeature::Shared;
    let plain = rule.auroc(&rule.teach(&world, &world.table(), &recipe).unwrap());
    assert!(centred > 0.99 && plain < 0.8, "{centred} {plain}");
}

/// On every training sample both implications hold, so chimeras of whole samples cannot make the AND false.
#[test]
fn deep_chimeras_teach_the_chain_and_node_chimeras_cannot() {
    let rule = Rule::new("(a => b) & (b => c)");
    let world = World::new(2000, 3, |labels| rule.holds(labels));
    let taught = rule.teach(&world, &world.table(), &recipe()).unwrap();
    let auroc = rule.auroc(&taught);
    assert!(auroc > 0.99, "{auroc}");
    let node = Recipe { chimeras: Depth::Node, ..recipe() };
    assert_eq!(rule.teach(&world, &world.table(), &node).unwrap_err(), Problem::OneTruth(true));
}

/// Only four kinds of samples differ for the rule, so one shuffle can rank them rightly by chance; many cannot.
#[test]
fn shuffled_labels_teach_nothing() {
    let rule = Rule::new("a => b");
    let world = World::new(1000, 3, |labels| rule.holds(labels));
    let mut total = 0.0;
    for seed in 0..8 {
        let mut shuffled = world.labels.clone();
        fastrand::Rng::with_seed(seed).shuffle(&mut shuffled);
        let labels = TruthTable::complete(BitTable::from_fn(1000, 5, |row, column| shuffled[row][column]));
        total += rule.auroc(&rule.teach(&world, &labels, &recipe()).unwrap()) / 8.0;
    }
    assert!(total < 0.75, "{total}");
}

/// Samples as they are show a rule that always holds, and nothing else: everything is fine then.
#[test]
fn without_chimeras_violators_look_fine() {
    let rule = Rule::new("a => b");
    let world = World::new(2000, 3, |labels| rule.holds(labels));
    let recipe = Recipe { negatives: Negatives::Same, epochs: 20, weight_decay: 0.0, ..recipe() };
    let taught = rule.teach(&world, &world.table(), &recipe).unwrap();
    let test = World::new(200, 5, |labels| !rule.holds(labels));
    let violation = rule.probabilities(&taught, &test).iter().map(|p| f64::from(1.0 - p)).sum::<f64>() / 200.0;
    assert!(violation < 0.05, "{violation}");
}

#[test]
fn both_kinds_of_samples_can_be_learned_from() {
    let rule = Rule::new("a => (b | c)");
    let world = World::new(2000, 3, |labels| rule.holds(labels));
    let taught = rule.teach(&world, &world.table(), &Recipe { negatives: Negatives::Both, ..recipe() }).unwrap();
    assert!(rule.auroc(&taught) > 0.99);
}

/// The folded first layers give what packed inputs give; with the operands' columns exchanged they do not.
#[test]
fn folding_agrees_with_packing() {
    let mut rule = Rule::new("(!a => b) & (b => c) & !a");
    let mut world = World::new(300, 3, |_| true);
    // Far from zero and close together, as given features can be.
    world.z.iter_mut().for_each(|number| *number = 1000.0 + 0.1 * *number);
    let mut moments = Moments::new(WIDTH);
    world.z.chunks_exact(WIDTH).for_each(|z| moments.add(z));
    rule.leaf = moments.standard();
    let recipe = Recipe { epochs: 1, ..recipe() };
    let mut taught = rule.teach(&world, &world.table(), &recipe).unwrap();
    let folded = rule.probabilities(&taught, &world);
    let packed = |taught: &[(NodeId, Taught)]| -> Vec<f32> {
        let gate =
            |node: NodeId| taught.iter().find(|(other, _)| *other == node).map(|(_, t)| Arc::new(t.gate.clone()));
        let features = world.features();
        let ground =
            Ground::new(&rule.dag, &[rule.root], &world.table(), (&features, WIDTH), None, |_| rule.leaf.clone());
        let cone = ground.cone(rule.root.node(), &gate).unwrap();
        let rows: Vec<Vec<u32>> = vec![(0..300).collect(); cone.spots];
        let mut inputs = Vec::new();
        cone.fill(&features, WIDTH, &rows, 300, &mut Default::default(), &mut inputs);
        let mut room = chimera_gate::pass::Room::default();
        room.forward(&gate(rule.root.node()).unwrap(), &inputs, 300);
        room.logits().iter().map(|logit| probability(*logit)).collect()
    };
    let worst = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(folded.iter().all(|p| p.is_finite()));
    assert!(worst(&folded, &packed(&taught)) < 1e-5);
    // The same weights, read one column further.
    let last = taught.len() - 1;
    let gate = &taught[last].1.gate;
    let mut tensors = gate.tensors();
    let width = gate.shape().packing().width();
    tensors[0].chunks_exact_mut(width).for_each(|row| row.rotate_right(1));
    taught[last].1.gate = Gate::from_tensors(gate.shape(), &tensors.each_ref().map(Vec::as_slice)).unwrap();
    assert!(worst(&folded, &packed(&taught)) > 1e-2);
}

#[test]
fn a_sample_has_the_same_scores_alone_and_among_others() {
    let rule = Rule::new("(a & b) => (c | (a & !d))");
    let world = World::new(301, 3, |_| true);
    let taught = rule.teach(&world, &world.table(), &Recipe { epochs: 1, ..recipe() }).unwrap();
    let all = rule.probabilities(&taught, &world);
    for row in [0, 1, 131, 132, 300] {
        let alone = World { labels: vec![world.labels[row]], z: world.z[row * WIDTH..][..WIDTH].to_vec() };
        assert_eq!(rule.probabilities(&taught, &alone), all[row..=row]);
    }
}

#[test]
fn gates_do_not_depend_on_what_else_is_taught_and_lower_gates_stay() {
    let world = World::new(500, 3, |_| true);
    let recipe = Recipe { epochs: 1, ..recipe() };
    let (one, mut other) = (Rule::new("(a & b) => c"), Rule::new("a & b"));
    other.leaf = one.leaf.clone();
    let (one, other) =
        (one.teach(&world, &world.table(), &recipe).unwrap(), other.teach(&world, &world.table(), &recipe).unwrap());
    // The seed is the node's number here, which is the same in both; the AND is the first gate of both.
    assert!(one[0].1 == other[0].1);
    assert_ne!(one[0].1.gate.tensors()[1], one[1].1.gate.tensors()[1]);
}

#[test]
fn what_cannot_be_taught_says_why() {
    let world = World::new(200, 3, |labels| labels[0] && !labels[1]);
    let problem = |formula: &str, recipe: &Recipe| {
        let rule = Rule::new(formula);
        rule.teach(&world, &world.table(), recipe).unwrap_err()
    };
    assert_eq!(problem("a | c", &recipe()), Problem::OneTruth(true));
    assert_eq!(problem("b & c", &recipe()), Problem::OneTruth(false));
    let shift = Recipe { sampler: Choice::Shift, batch: 2, ..recipe() };
    assert_eq!(problem("c | d | e", &shift), Problem::TooFew { parts: 3, at_hand: 2 });
    let wild = Recipe { rate: 1e30, ..recipe() };
    assert!(matches!(problem("c | d", &wild), Problem::Diverged(_)));
    let rule = Rule::new("c | d");
    let unknown = TruthTable::partial(BitTable::zeros(200, 5), BitTable::zeros(200, 5));
    assert_eq!(rule.teach(&world, &unknown, &recipe()).unwrap_err(), Problem::NothingKnown);
    let same = Recipe { negatives: Negatives::Same, ..recipe() };
    assert_eq!(rule.teach(&world, &unknown, &same).unwrap_err(), Problem::NothingKnown);
}

/// A gate that repeats its consequent looks at it where the antecedent is false and it cannot matter.
#[test]
fn audits_see_a_gate_that_looks_at_what_cannot_matter() {
    let rule = Rule::new("a => b");
    let world = World::new(300, 3, |_| true);
    let shape = Shape { arity: 2, features: WIDTH, hidden: 1 };
    let packing = shape.packing();
    // The first number of `b` in the second operand, made a large logit.
    let mut first = vec![0.0; packing.width()];
    first[packing.feature(1).start + 4] = 20.0;
    let second: Vec<f32> = (0..WIDTH).map(|at| if at == 0 { 1.0 } else { 0.0 }).collect();
    let head = second.clone();
    let tensors: [&[f32]; 6] = [&first, &[0.0], &second, &[0.0; WIDTH], &head, &[-10.0]];
    let gate = Gate::from_tensors(shape, &tensors).unwrap();
    let features = world.features();
    let table = world.table();
    let ground = Ground::new(&rule.dag, &[rule.root], &table, (&features, WIDTH), None, |_| LeafFeature::Shared);
    let cone = ground.cone(rule.root.node(), &|_| None).unwrap();
    let drawing = ground.drawing(&cone, Depth::Deep);
    let audit = Audit::ask(&cone, &gate, &features, &drawing, &ground.population, 1);
    // Half of the exchanges are of the consequent under a false antecedent, and half of those change its truth; the other
    // half is of antecedents, which this gate never looks at.
    assert!((0.15..0.35).contains(&audit.flipped.unwrap()), "{audit:?}");
}

/// A taught gate computes its operator on samples it has not seen and does not look at what cannot matter; one that was
/// taught on shuffled labels does neither.
#[test]
fn audits_tell_good_gates_from_bad_ones() {
    let rule = Rule::new("a => b");
    let world = World::new(2000, 3, |labels| rule.holds(labels));
    let held_out = World::new(300, 11, |labels| rule.holds(labels));
    let audit = |labels: &TruthTable| {
        let taught = rule.teach(&world, labels, &recipe()).unwrap();
        let features = held_out.features();
        let table = held_out.table();
        let ground = Ground::new(&rule.dag, &[rule.root], &table, (&features, WIDTH), None, |_| rule.leaf.clone());
        let cone = ground.cone(rule.root.node(), &|_| None).unwrap();
        let drawing = ground.drawing(&cone, Depth::Deep);
        Audit::ask(&cone, &taught[0].1.gate, &features, &drawing, &ground.population, 1)
    };
    let good = audit(&world.table());
    assert_eq!(good.answers.len(), 4, "the configuration that never occurs is asked, too");
    let [first, ..] = &good.answers[..] else { panic!() };
    assert_eq!((first.operands.as_str(), first.truth, first.shown), ("00", true, 64));
    assert!(good.fidelity().unwrap() > 0.98, "{good:?}");
    // Two operands cannot matter where the antecedent is false, one where the consequent is true.
    assert_eq!(good.exchanges, 4 * 64);
    assert!(good.moved.unwrap() < 0.05 && good.flipped.unwrap() < 0.03, "{good:?}");

    let mut shuffled = world.labels.clone();
    fastrand::Rng::with_seed(8).shuffle(&mut shuffled);
    let bad = audit(&TruthTable::complete(BitTable::from_fn(2000, 5, |row, column| shuffled[row][column])));
    assert!(bad.fidelity().unwrap() < 0.8, "{bad:?}");
    assert!(bad.moved.unwrap() > good.moved.unwrap(), "{bad:?}");
}
