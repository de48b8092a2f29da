//! Grafts: effects are recovered, a graft without a change is the sample itself, a graft moves what it should and nothing else,
//! and gates taught on grafts find violations that chimeras and samples miss.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;

use chimera_gate::cone::{Cone, LeafFeature, Moments};
use chimera_gate::draw::{Batch, Depth, FlatKind};
use chimera_gate::effects::Design;
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::graft::{Effects, FlatNode, Grafting, Labels};
use chimera_gate::ground::Ground;
use chimera_gate::pass::probability;
use chimera_gate::train::{Negatives, Problem, Recipe};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge, Node};
use chimera_logic::load::load_text;
use chimera_logic::truth::hard_op;
use chimera_logic::vocabulary::Vocabulary;

const WIDTH: usize = 24;

/// Samples of three concepts whose effects overlap in z, with noise; where it is rectified, half of the numbers are zero.
struct World {
    labels: Vec<[bool; 3]>,
    z: Vec<f32>,
}

/// What a concept adds to a number.
fn effect(concept: usize, at: usize) -> f32 {
    let mut random = fastrand::Rng::with_seed((concept * 100 + at) as u64 + 7);
    2.0 * (random.f32() - 0.5)
}

fn normal(random: &mut fastrand::Rng) -> f32 {
    (0..12).map(|_| random.f32()).sum::<f32>() - 6.0
}

impl World {
    fn new(count: usize, seed: u64, rectified: bool, pass: impl Fn(&[bool; 3]) -> bool) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = Self { labels: Vec::new(), z: Vec::new() };
        while world.labels.len() < count {
            let labels: [bool; 3] = std::array::from_fn(|_| random.bool());
            if pass(&labels) {
                for at in 0..WIDTH {
                    let added: f32 = (0..3).filter(|&concept| labels[concept]).map(|concept| effect(concept, at)).sum();
                    let number = added - 0.3 + 0.5 * normal(&mut random);
                    world.z.push(if rectified { number.max(0.0) } else { number });
                }
                world.labels.push(labels);
            }
        }
        world
    }

    fn table(&self) -> TruthTable {
        TruthTable::complete(BitTable::from_fn(self.labels.len(), 3, |row, column| self.labels[row][column]))
    }

    fn features(&self) -> (&[f32], usize) {
        (&self.z, WIDTH)
    }

    fn effects(&self, rectified: bool) -> Effects {
        let design = Design::new(&self.table()).unwrap();
        let parts = [0..10, 10..WIDTH].map(|range| design.fit(&self.features(), range, rectified));
        design.join(&parts, rectified)
    }
}

fn rule(formula: &str) -> (Dag, Edge) {
    let vocabulary = Vocabulary::closed(["a", "b", "c"].map(str::to_owned), "the test");
    let loaded = load_text("t", &format!("r: {formula}"), vocabulary);
    (loaded.rule_set.dag.clone(), loaded.rule_set.rules[0].root)
}

fn concept(dag: &Dag) -> impl Fn(chimera_logic::dag::NodeId) -> usize {
    let numbers: Vec<usize> = dag
        .ids()
        .map(|node| match dag.node(node) {
            Node::Leaf(concept) => concept.index(),
            Node::Gate(..) => usize::MAX,
        })
        .collect();
    move |node| numbers[node.index()]
}

#[test]
fn effects_are_recovered_also_behind_a_relu() {
    // `a` implies `b`, so that they are seen together most of the time.
    let pass = |labels: &[bool; 3]| !labels[0] || labels[1];
    for rectified in [false, true] {
        let world = World::new(4000, 1, rectified, pass);
        let found = world.effects(rectified);
        let error = |found: &Effects| {
            let all = (0..3).flat_map(|concept| (0..WIDTH).map(move |at| (concept, at)));
            let squares: f32 = all.map(|(concept, at)| (found.of(concept)[at] - effect(concept, at)).powi(2)).sum();
            (squares / (3 * WIDTH) as f32).sqrt()
        };
        // Of samples that were never seen, with `a` and without `b`: how much is explained by effects that were fitted to the
        // others, and by effects that were fitted to all. Behind a ReLU, effects on what is never above zero cannot be known,
        // nor do they matter.
        let unseen = World::new(2000, 5, rectified, |labels| labels[0] && !labels[1]);
        let share = |effects: &Effects| effects.explained(&unseen.features(), &unseen.table()).overall.unwrap();
        let knowing = share(&World::new(4000, 6, rectified, |_| true).effects(rectified));
        assert!(share(&found) > knowing - 0.04, "{} {knowing}", share(&found));
        if rectified {
            assert!(share(&world.effects(false)) < share(&found) - 0.02, "means of what is seen are no such thing");
        } else {
            // Effects are 0.58 in size, the noise 0.5: a standard error of 0.02 to 0.03 for 4,000 samples.
            assert!(error(&found) < 0.06, "{}", error(&found));
            assert!(found.spread.iter().all(|spread| (spread - 0.5).abs() < 0.03), "{:?}", found.spread);
        }
        let fresh = World::new(1000, 2, rectified, pass);
        let explained = found.explained(&fresh.features(), &fresh.table());
        assert!(explained.overall.unwrap() > 0.3, "{explained:?}");
        assert!(explained.concepts.iter().all(|share| share.unwrap() > 0.5), "{explained:?}");
        // Labels of other samples explain nothing.
        let other = World::new(1000, 3, rectified, pass).table();
        let wrong = found.explained(&fresh.features(), &other);
        assert!(wrong.overall.unwrap() < 0.0 && wrong.concepts.iter().all(|share| share.unwrap() < 0.3), "{wrong:?}");
    }
}

#[test]
fn a_graft_moves_what_it_should_and_nothing_else() {
    for rectified in [false, true] {
        let world = World::new(2000, 1, rectified, |_| true);
        let (effects, labels) = (world.effects(rectified), Labels::of(&world.table()));
        let (dag, root) = rule("a => b");
        let cone = Cone::unfold(&dag, root.node(), &|_| LeafFeature::Shared, &|_| None).unwrap();
        let grafting = Grafting::new(&cone, &effects, &labels, concept(&dag));
        let (mut random, mut batch, mut grafted) = (fastrand::Rng::with_seed(1), Batch::default(), Vec::new());
        for row in 0..2000 {
            let z = &world.z[row * WIDTH..][..WIDTH];
            assert!(grafting.add((row as u32, z), 5000, &mut grafted, &mut random, &mut batch));
        }
        let (mut same, mut turned, mut sums) = (0, 0, [0.0_f32; WIDTH]);
        for row in 0..2000 {
            let [a, b, _] = world.labels[row];
            let now = [batch.operands[row][0].unwrap(), batch.operands[row][1].unwrap()];
            assert_eq!(batch.targets[row], Some(!now[0] || now[1]));
            assert_eq!(batch.rows[0][row], 5000 + row as u32);
            let (z, graft) = (&world.z[row * WIDTH..][..WIDTH], &grafted[row * WIDTH..][..WIDTH]);
            assert!(!rectified || graft.iter().all(|number| *number >= 0.0));
            if now == [a, b] {
                same += 1;
                assert_eq!(z, graft, "what is not changed stays the same");
            } else if !rectified {
                for at in 0..WIDTH {
                    let sign = |now: bool, was: bool| f32::from(i8::from(now) - i8::from(was));
                    let expected = z[at] + sign(now[0], a) * effects.of(0)[at] + sign(now[1], b) * effects.of(1)[at];
                    assert!((graft[at] - expected).abs() < 1e-5);
                }
            }
            if rectified && now == [true, false] && [a, b] == [false, false] {
                turned += 1;
                (0..WIDTH).for_each(|at| sums[at] += graft[at]);
            }
        }
        let holds = batch.targets.iter().filter(|target| **target == Some(true)).count();
        assert!(same > 200 && (900..1100).contains(&holds), "{same} {holds}");
        if rectified {
            // Samples that got an `a` look like samples that have it.
            let real = World::new(8000, 9, true, |labels| labels[0] && !labels[1]);
            let real_mean = |at: usize| real.z.chunks_exact(WIDTH).map(|z| z[at]).sum::<f32>() / 8000.0;
            let away: f32 =
                (0..WIDTH).map(|at| (sums[at] / turned as f32 - real_mean(at)).abs()).sum::<f32>() / WIDTH as f32;
            assert!(turned > 50 && away < 0.08, "{away} of {turned}");
        }
    }
}

/// Concepts that have numbers of z for themselves: a head reads its own, and a graft of one concept moves that head and no other.
#[test]
fn a_graft_of_a_separable_concept_moves_its_head_alone() {
    let each = WIDTH / 3;
    let mut random = fastrand::Rng::with_seed(6);
    let mut world = World { labels: Vec::new(), z: Vec::new() };
    for _ in 0..4000 {
        let labels: [bool; 3] = std::array::from_fn(|_| random.bool());
        world.z.extend((0..WIDTH).map(|at| f32::from(u8::from(labels[at / each])) + 0.2 * normal(&mut random)));
        world.labels.push(labels);
    }
    let (effects, labels) = (world.effects(false), Labels::of(&world.table()));
    let (dag, root) = rule("a => b");
    let leaf = dag.operands(root.node())[0].node();
    let cone = Cone::single(leaf, LeafFeature::Shared);
    let grafting = Grafting::new(&cone, &effects, &labels, concept(&dag));
    let head = |z: &[f32], concept: usize| z[concept * each..][..each].iter().sum::<f32>() / each as f32;
    let (mut batch, mut grafted, mut moved) = (Batch::default(), Vec::new(), 0);
    for row in 0..1000 {
        let z = &world.z[row * WIDTH..][..WIDTH];
        assert!(grafting.add((row as u32, z), 0, &mut grafted, &mut random, &mut batch));
        let (graft, is) = (&grafted[row * WIDTH..][..WIDTH], batch.targets[row].unwrap());
        let by = f32::from(i8::from(is) - i8::from(world.labels[row][0]));
        moved += usize::from(by != 0.0);
        assert!((head(graft, 0) - head(z, 0) - by).abs() < 0.03, "its own head");
        assert!((1..3).all(|other| (head(graft, other) - head(z, other)).abs() < 0.03), "other heads");
    }
    assert!((400..600).contains(&moved), "{moved}");
}

/// What if: a sample without `a` is given one, known to show it with a probability alone.
#[test]
fn a_sample_with_a_given_concept_is_like_those_that_show_it() {
    for rectified in [false, true] {
        let world = World::new(4000, 1, rectified, |_| true);
        let effects = world.effects(rectified);
        let without = World::new(2000, 2, rectified, |labels| !labels[0] && labels[1]);
        let with = World::new(2000, 3, rectified, |labels| labels[0] && labels[1]);
        let mean = |rows: &[Vec<f32>], at: usize| rows.iter().map(|z| z[at]).sum::<f32>() / rows.len() as f32;
        let rows = |world: &World| world.z.chunks_exact(WIDTH).map(<[f32]>::to_vec).collect::<Vec<_>>();
        let changed = |given: &[(usize, bool)]| -> Vec<Vec<f32>> {
            let shown = |row: usize| world_of(&without.labels[row]);
            rows(&without).iter().enumerate().map(|(row, z)| effects.supposed(z, &shown(row), given)).collect()
        };
        let away = |one: &[Vec<f32>], other: &[Vec<f32>]| {
            (0..WIDTH).map(|at| (mean(one, at) - mean(other, at)).abs()).sum::<f32>() / WIDTH as f32
        };
        let (as_is, given) = (away(&rows(&without), &rows(&with)), away(&changed(&[(0, true)]), &rows(&with)));
        assert!(given < 0.25 * as_is, "{as_is} {given}");
        // Given as it is, nothing changes.
        assert_eq!(changed(&[(0, false), (1, true)]), rows(&without));
    }
}

fn world_of(labels: &[bool; 3]) -> Vec<f64> {
    labels.iter().map(|label| f64::from(u8::from(*label))).collect()
}

/// The share of pairs in which a sample that breaks `a => b` has a higher score than one that does not.
fn auroc(test: &World, scores: &[f32]) -> f64 {
    let of = |broken: bool| {
        let rows = (0..test.labels.len()).filter(|&row| (test.labels[row][0] && !test.labels[row][1]) == broken);
        rows.map(|row| scores[row]).collect::<Vec<f32>>()
    };
    let (broken, held) = (of(true), of(false));
    let won: usize = broken.iter().map(|high| held.iter().filter(|low| high > *low).count()).sum();
    won as f64 / (broken.len() * held.len()) as f64
}

type Teach<'a> = dyn Fn(&Dag, Edge, &Ground<'_, (&[f32], usize)>, &LeafFeature) -> Vec<PlacedGate> + 'a;

/// AUROC on fresh samples of what `score` makes of the logits of gates, taught on samples on which `a => b` holds.
fn measured(teach: &Teach<'_>, score: impl Fn(&[f32]) -> f32) -> f64 {
    let train = World::new(3000, 1, true, |labels| !labels[0] || labels[1]);
    let (effects, table) = (train.effects(true), train.table());
    let (dag, root) = rule("a => b");
    let mut moments = Moments::new(WIDTH);
    train.z.chunks_exact(WIDTH).for_each(|z| moments.add(z));
    let (features, leaf) = (train.features(), moments.standard());
    let ground =
        Ground::new(&dag, &[root], &table, (&features, WIDTH), None, |_| leaf.clone()).with_effects(&effects, &table);
    let gates = teach(&dag, root, &ground, &leaf);
    let test = World::new(2000, 4, true, |_| true);
    let mut logits = vec![0.0; 2000 * gates.len()];
    Evaluator::new(WIDTH, &gates).unwrap().run(&test.features(), 0..2000, &mut logits);
    auroc(&test, &logits.chunks_exact(gates.len()).map(score).collect::<Vec<f32>>())
}

fn recipe(negatives: Negatives) -> Recipe {
    Recipe { hidden: 32, negatives, epochs: 10, rate: 3e-3, ..Recipe::default() }
}

/// By 1 - p of gates taught in a way.
fn quality(negatives: Negatives) -> f64 {
    let teach = |_: &Dag, root: Edge, ground: &Ground<'_, (&[f32], usize)>, leaf: &LeafFeature| {
        let cone = ground.cone(root.node(), &|_| None).unwrap();
        let taught = ground.task(&cone, &recipe(negatives), None, 5).teach(&|| {}).unwrap();
        vec![PlacedGate { gate: Arc::new(taught.gate), operands: vec![(Source::Leaf(leaf.clone()), false); 2] }]
    };
    measured(&teach, |logits| -logits[0])
}

/// By p(a) (1 - p(b)) of heads taught on samples as they are, on grafts of the one concept, and on grafts in which others are
/// drawn anew.
fn quality_of_heads(negatives: Negatives, redrawn: bool) -> f64 {
    let recipe = recipe(negatives);
    let teach = |dag: &Dag, root: Edge, ground: &Ground<'_, (&[f32], usize)>, leaf: &LeafFeature| {
        let head = |edge: &Edge| {
            let cone = Cone::single(edge.node(), leaf.clone());
            let task = if redrawn { ground.head(&cone, &recipe, 5) } else { ground.task(&cone, &recipe, None, 5) };
            let gate = Arc::new(task.teach(&|| {}).unwrap().gate);
            PlacedGate { gate, operands: vec![(Source::Leaf(leaf.clone()), false)] }
        };
        dag.operands(root.node()).iter().map(head).collect()
    };
    measured(&teach, |ab| probability(ab[0]) * probability(-ab[1]))
}

#[test]
fn heads_taught_on_grafts_tell_a_concept_by_itself() {
    let same = quality_of_heads(Negatives::Same, false);
    let alone = quality_of_heads(Negatives::Graft, false);
    let redrawn = quality_of_heads(Negatives::Graft, true);
    println!("samples {same:.3}, grafts {alone:.3}, others drawn anew {redrawn:.3}");
    assert!(redrawn > 0.95 && redrawn > same + 0.02, "{redrawn} {same}");
}

#[test]
fn grafts_teach_what_no_sample_shows() {
    let [graft, both, chimera, same] =
        [Negatives::Graft, Negatives::ChimeraGraft, Negatives::Chimera, Negatives::Same].map(quality);
    println!("graft {graft:.3}, chimera and graft {both:.3}, chimera {chimera:.3}, same {same:.3}");
    assert!(graft > 0.93 && both > 0.93 && graft > chimera + 0.01 && graft > same + 0.1);
}

#[test]
fn what_cannot_be_grafted_is_said() {
    let world = World::new(100, 1, true, |_| true);
    let (effects, table, features) = (world.effects(true), world.table(), world.features());
    let (dag, root) = rule("a <=> !a");
    let ground = Ground::new(&dag, &[root], &table, (&features, WIDTH), None, |_| LeafFeature::Shared)
        .with_effects(&effects, &table);
    let cone = ground.cone(root.node(), &|_| None).unwrap();
    let recipe = Recipe { negatives: Negatives::Graft, ..Recipe::default() };
    let problem = ground.task(&cone, &recipe, None, 5).teach(&|| {}).unwrap_err();
    assert!(matches!(problem, Problem::OneTruth(_)), "{problem:?}");
}

/// The truth of a flat node by plain recursion.
fn truth_of(tree: &[FlatNode], at: usize, bits: u32) -> bool {
    match &tree[at] {
        FlatNode::Concept(place) => bits >> place & 1 == 1,
        FlatNode::Gate(op, operands) => {
            assert!(operands.iter().all(|(place, _)| *place > at), "parents come first");
            let values: Vec<bool> =
                operands.iter().map(|(place, negated)| truth_of(tree, *place, bits) != *negated).collect();
            hard_op(*op, &values)
        }
    }
}

/// What is drawn from elsewhere says the same as what is drawn from here.
#[test]
fn flat_grafts_and_drawings_have_the_same_truths() {
    let world = World::new(40, 3, true, |_| true);
    let (effects, table) = (world.effects(true), world.table());
    let labels = Labels::of(&table);
    for formula in ["a => b", "a => (b & !c)", "!(a & b & c)", "(a & b) | (a & c)", "(a | !b) <=> (c => a)"] {
        let (dag, root) = rule(formula);
        let cone = Cone::unfold(&dag, root.node(), &|_| LeafFeature::Shared, &|_| None).unwrap();
        let grafting = Grafting::new(&cone, &effects, &labels, concept(&dag));
        let flat = grafting.flat();
        for bits in 0..1_u32 << flat.concepts.len() {
            let holds = truth_of(&flat.tree, 0, bits);
            assert!(flat.listed[usize::from(holds)].contains(&bits), "{formula}: {bits:b}");
            assert!(!flat.listed[usize::from(!holds)].contains(&bits), "{formula}: {bits:b}");
        }

        let features = (world.z.as_slice(), WIDTH);
        let ground = Ground::new(&dag, &[root], &table, (&features, WIDTH), None, |_| LeafFeature::Shared);
        let drawing = ground.drawing(&cone, Depth::Deep);
        let flat = drawing.flat();
        assert_eq!((flat.parts.len(), flat.pieces[0].can), (drawing.parts(), drawing.can()), "{formula}");
        assert_eq!(flat.parts.iter().map(std::ops::Range::len).sum::<usize>(), cone.spots);
        let samples = flat.pieces.iter().filter(|piece| matches!(piece.kind, FlatKind::Sample { .. })).count();
        assert_eq!(samples, drawing.parts(), "{formula}");
    }
}
