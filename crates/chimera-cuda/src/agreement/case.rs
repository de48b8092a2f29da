//! What both are asked about: samples with labels, rules that hold on them, and all that can be taught of these.

use std::sync::Arc;

use chimera_gate::cone::{Cone, LeafFeature, Moments};
use chimera_gate::effects::Design;
use chimera_gate::evaluate::{PlacedGate, Source};
use chimera_gate::gate::Gate;
use chimera_gate::graft::Effects;
use chimera_gate::ground::Ground;
use chimera_gate::train::{Recipe, Task, Taught};
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::dag::{Dag, Edge, Node, NodeId};
use chimera_logic::load::load_text;
use chimera_logic::truth::holds;
use chimera_logic::vocabulary::Vocabulary;

use crate::gpu::{GpuError, Result};
use crate::teach::Outcome;

/// Numbers of z.
pub(super) const WIDTH: usize = 40;

/// z of all samples.
pub(super) type Z<'a> = (&'a [f32], usize);

/// Who teaches gates that do not need each other.
pub(super) type Teach<'a> = dyn Fn(&[&Task<'_, Z<'_>>]) -> Result<Vec<Outcome>> + 'a;

/// Samples of some concepts, each with numbers of its own, behind a ReLU.
pub(super) struct World {
    pub(super) labels: Vec<Vec<bool>>,
    pub(super) z: Vec<f32>,
}

impl World {
    pub(super) fn new(count: usize, concepts: usize, seed: u64, pass: impl Fn(&[bool]) -> bool) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut world = Self { labels: Vec::new(), z: Vec::new() };
        // Some numbers belong to no concept.
        let each = (WIDTH - 5) / concepts;
        while world.labels.len() < count {
            let labels: Vec<bool> = (0..concepts).map(|_| random.bool()).collect();
            if pass(&labels) {
                for at in 0..WIDTH {
                    let there = labels.get(at / each).is_some_and(|there| *there);
                    let noise = random.f32() + random.f32() + random.f32() - 1.5;
                    world.z.push((0.8 * f32::from(u8::from(there)) + 0.9 * noise).max(0.0));
                }
                world.labels.push(labels);
            }
        }
        world
    }

    pub(super) fn leaf(&self) -> LeafFeature {
        let mut moments = Moments::new(WIDTH);
        self.z.chunks_exact(WIDTH).for_each(|z| moments.add(z));
        moments.standard()
    }
}

/// Rules, and samples on which they hold.
#[derive(Clone, Debug)]
pub(super) struct Setting<'s> {
    pub(super) formulas: &'s [&'s str],
    pub(super) concepts: usize,
    pub(super) rows: usize,
    pub(super) seed: u64,
    /// The share of labels that nobody knows.
    pub(super) unknown: f64,
    /// Samples of a group; no groups where it is none.
    pub(super) grouped: Option<usize>,
    /// Whether every third sample may not be taken as it is.
    pub(super) left_out: bool,
}

impl<'s> Setting<'s> {
    /// Five concepts, everything known, every sample for itself.
    pub(super) fn plain(formulas: &'s [&'s str], rows: usize, seed: u64) -> Self {
        Self { formulas, concepts: 5, rows, seed, unknown: 0.0, grouped: None, left_out: false }
    }
}

/// What is taught of rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A gate for each node.
    Gates,
    /// One gate for each rule, over all its leaves.
    Monoliths,
    /// A head for each concept.
    Heads,
}

/// What a [`Setting`] describes.
pub(super) struct Case {
    pub(super) dag: Dag,
    pub(super) roots: Vec<Edge>,
    pub(super) train: World,
    pub(super) leaf: LeafFeature,
    concepts: usize,
    table: TruthTable,
    effects: Effects,
    groups: Option<Arc<[u32]>>,
    kept: Option<Vec<u32>>,
}

/// Gates by node.
pub(super) type Gates = Vec<Option<Arc<Gate>>>;

impl Case {
    pub(super) fn new(setting: &Setting<'_>) -> Result<Self> {
        let Setting { formulas, concepts, rows, seed, unknown, grouped, left_out } = *setting;
        let names = ('a'..='z').take(concepts).map(String::from);
        let text: String =
            formulas.iter().enumerate().map(|(number, formula)| format!("r{number}: {formula}\n")).collect();
        let loaded = load_text("check", &text, Vocabulary::closed(names, "the check"));
        let refused = || GpuError::Driver(format!("the check cannot use `{}`", formulas.join("`, `")));
        let roots: Vec<Edge> = loaded.rule_set.rules.iter().map(|rule| rule.root).collect();
        if roots.len() != formulas.len() {
            return Err(refused());
        }
        let dag = loaded.rule_set.dag;
        let train = World::new(rows, concepts, seed, |labels| {
            roots.iter().all(|root| holds(&dag, *root, &|concept| labels[concept.index()]))
        });
        let mut random = fastrand::Rng::with_seed(seed ^ 0x5eed);
        let value = BitTable::from_fn(rows, concepts, |row, column| train.labels[row][column]);
        let known = BitTable::from_fn(rows, concepts, |_, _| random.f64() >= unknown);
        let table = TruthTable::partial(value, known);
        let design = Design::new(&table).ok_or_else(refused)?;
        let effects = design.join(&[design.fit(&(train.z.as_slice(), WIDTH), 0..WIDTH, true)], true);
        let numbers = 0..rows as u32;
        Ok(Self {
            leaf: train.leaf(),
            dag,
            roots,
            train,
            concepts,
            table,
            effects,
            groups: grouped.map(|size| numbers.clone().map(|row| row / size.max(1) as u32).collect()),
            kept: left_out.then(|| numbers.filter(|row| row % 3 != 0).collect()),
        })
    }

    /// Nodes of what is taught, in groups of which none needs another of its group, or one of a later group.
    fn levels(&self, what: What) -> Vec<Vec<NodeId>> {
        match what {
            What::Monoliths => vec![self.roots.iter().map(|root| root.node()).collect()],
            What::Heads => {
                let leaves = self.dag.cone(&self.roots).into_iter();
                vec![leaves.filter(|node| matches!(self.dag.node(*node), Node::Leaf(_))).collect()]
            }
            What::Gates => {
                let mut heights = vec![0; self.dag.len()];
                let mut levels: Vec<Vec<NodeId>> = Vec::new();
                for (node, ..) in self.dag.gates() {
                    let below = self.dag.operands(node).iter().map(|edge| heights[edge.node().index()]).max();
                    let height = below.unwrap_or(0) + 1;
                    heights[node.index()] = height;
                    levels.resize(levels.len().max(height), Vec::new());
                    levels[height - 1].push(node);
                }
                levels
            }
        }
    }

    /// Shows tasks for nodes with the gates below them, each with its node and what its input is made of.
    fn tasks<T>(
        &self,
        (what, nodes): (What, &[NodeId]),
        gates: &Gates,
        (recipe, seed): (&Recipe, u64),
        show: impl FnOnce(&[(NodeId, &Cone, Task<'_, Z<'_>>)]) -> T,
    ) -> T {
        let features = (self.train.z.as_slice(), WIDTH);
        let ground = Ground::new(&self.dag, &self.roots, &self.table, (&features, WIDTH), self.groups.clone(), |_| {
            self.leaf.clone()
        })
        .with_effects(&self.effects, &self.table);
        let cones: Vec<(NodeId, Cone, Cone)> = nodes
            .iter()
            .filter_map(|&node| {
                let cone = match what {
                    What::Heads => Cone::single(node, self.leaf.clone()),
                    What::Gates | What::Monoliths => ground.cone(node, &|node| gates[node.index()].clone())?,
                };
                let flat = cone.flattened();
                Some((node, cone, flat))
            })
            .collect();
        let kept = self.kept.as_deref();
        let tasks: Vec<(NodeId, &Cone, Task<'_, Z<'_>>)> = cones
            .iter()
            .map(|(node, cone, flat)| {
                let seed = seed + node.index() as u64;
                match what {
                    What::Gates => (*node, cone, ground.task(cone, recipe, kept, seed)),
                    What::Monoliths => (*node, flat, ground.monolith((cone, flat), recipe, kept, seed)),
                    What::Heads => (*node, cone, ground.head(cone, recipe, seed)),
                }
            })
            .collect();
        show(&tasks)
    }

    /// All gates, the lowest first, those of a level taught by one call of `teach`.
    pub(super) fn taught(
        &self,
        what: What,
        (recipe, seed): (&Recipe, u64),
        teach: &Teach<'_>,
    ) -> Result<Vec<(NodeId, Taught)>> {
        let mut gates: Gates = vec![None; self.dag.len()];
        let mut taught = Vec::new();
        for nodes in self.levels(what) {
            let level = self.tasks((what, &nodes), &gates, (recipe, seed), |tasks| -> Result<Vec<_>> {
                let outcomes = teach(&tasks.iter().map(|(.., task)| task).collect::<Vec<_>>())?;
                let nodes = tasks.iter().map(|(node, ..)| *node);
                let gates = nodes.zip(outcomes).map(|(node, outcome)| match outcome {
                    Ok(taught) => Ok((node, taught)),
                    Err(problem) => Err(GpuError::Driver(problem.to_string())),
                });
                gates.collect()
            })?;
            level.iter().for_each(|(node, taught)| gates[node.index()] = Some(Arc::new(taught.gate.clone())));
            taught.extend(level);
        }
        Ok(taught)
    }

    /// Shows each gate with the task that it came from, over the same gates below it, and with what its input is made of.
    pub(super) fn again(
        &self,
        what: What,
        (recipe, seed): (&Recipe, u64),
        taught: &[(NodeId, Taught)],
        mut show: impl FnMut(&Taught, &Cone, &Task<'_, Z<'_>>) -> Result<()>,
    ) -> Result<()> {
        let mut gates: Gates = vec![None; self.dag.len()];
        taught.iter().for_each(|(node, taught)| gates[node.index()] = Some(Arc::new(taught.gate.clone())));
        let nodes: Vec<NodeId> = taught.iter().map(|(node, _)| *node).collect();
        self.tasks((what, &nodes), &gates, (recipe, seed), |tasks| {
            tasks.iter().zip(taught).try_for_each(|((_, cone, task), (_, taught))| show(taught, cone, task))
        })
    }

    fn placed(&self, what: What, taught: &[(NodeId, Taught)]) -> Vec<PlacedGate> {
        let place = |node: NodeId| taught.iter().position(|(other, _)| *other == node);
        let gates = taught.iter().map(|(node, taught)| {
            let leaf = || (Source::Leaf(self.leaf.clone()), false);
            let operands = match what {
                What::Gates => {
                    let of_edge = |edge: &Edge| {
                        (place(edge.node()).map_or(Source::Leaf(self.leaf.clone()), Source::Node), edge.is_negated())
                    };
                    self.dag.operands(*node).iter().map(of_edge).collect()
                }
                What::Monoliths | What::Heads => (0..taught.gate.shape().arity).map(|_| leaf()).collect(),
            };
            PlacedGate { gate: Arc::new(taught.gate.clone()), operands }
        });
        gates.collect()
    }

    /// How well gates tell fresh samples on which their node is false, on average: of heads all, of the others those of rules.
    pub(super) fn auroc(&self, what: What, taught: &[(NodeId, Taught)]) -> f64 {
        let test = World::new(3000, self.concepts, 77, |_| true);
        let logits = super::on_processor(&self.placed(what, taught), &test.z);
        let asked: Vec<(usize, NodeId)> = taught
            .iter()
            .enumerate()
            .map(|(number, (node, _))| (number, *node))
            .filter(|(_, node)| what == What::Heads || self.roots.iter().any(|root| root.node() == *node))
            .collect();
        let of_gate = |(number, node): (usize, NodeId)| {
            let score = |row: usize| -logits[row * taught.len() + number];
            let is_false =
                |row: &usize| !holds(&self.dag, Edge::new(node, false), &|concept| test.labels[*row][concept.index()]);
            let (broken, held): (Vec<usize>, Vec<usize>) = (0..test.labels.len()).partition(is_false);
            let won: f64 =
                broken.iter().map(|&high| held.iter().map(|&low| wins(score(high), score(low))).sum::<f64>()).sum();
            won / (broken.len() * held.len()) as f64
        };
        asked.iter().map(|&gate| of_gate(gate)).sum::<f64>() / asked.len() as f64
    }
}

fn wins(high: f32, low: f32) -> f64 {
    if high > low {
        1.0
    } else if high < low {
        0.0
    } else {
        0.5
    }
}
