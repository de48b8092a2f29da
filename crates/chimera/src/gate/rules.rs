//! The rules of a model with their gates, ready to run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use chimera_gate::cone::{Features, LeafFeature};
use chimera_gate::evaluate::{Evaluator, PlacedGate, Source};
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::graft::Effects;
use chimera_logic::dag::{Edge, Node, NodeId};
use chimera_logic::load::load_text;
use chimera_logic::rules::{Rule, RuleSet};
use chimera_logic::vocabulary::{ConceptId, Vocabulary};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use super::config::GateConfig;
use super::effects;
use super::grafts::GraftSection;
use super::lesson::Lineage;
use super::report::{Counts, GatesReport};
use super::shelf::look_up;
use super::stage::{GateStage, GatesByHash};
use super::stored::StoredGate;
use crate::error::{Error, Result};
use crate::file::write_atomic;
use crate::mine::record::MiningRecord;
use crate::model::ModelManifest;
use crate::parallel::in_parallel;
use crate::score::calibration_rows::Half;

/// So many nodes without a gate are named.
const MOST_NAMED: usize = 20;

/// The folder of gates in a model.
pub const GATES: &str = "gates";

/// What a model's manifest says about rules and gates. It alone decides what belongs together; `rules.rules` and `gates.json`
/// are there to be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateSection {
    /// Every choice.
    pub config: GateConfig,
    /// The rules as text.
    pub rules: String,
    /// Where rules come from, and which rows chose them; empty where nobody mined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mined: Vec<MiningRecord>,
    /// For each rule the keys of its gates, children before parents; `None` for one that was not taught.
    pub keys: Vec<Vec<Option<String>>>,
    /// The file in [`GATES`] with what leaves give their gates; `None` where that is z.
    pub features: Option<String>,
    /// The file in [`GATES`] with what concepts add to z, where grafts were taught on.
    pub effects: Option<String>,
    /// What was taught on grafts beside these gates.
    pub grafts: Option<GraftSection>,
    /// What names the rows and labels that gates were taught on.
    pub lineage: Lineage,
    /// The file in [`GATES`] with what is kept of the calibration split.
    pub calibration: String,
    /// How many of its rows for thresholds break no rule.
    pub normal_rows: usize,
    /// Train rows that gates were taught on.
    pub rows: usize,
    /// Train rows that break a rule.
    pub broken_rows: usize,
    /// How many gates came from where.
    pub counts: Counts,
    /// Seconds of the last run that taught gates.
    pub seconds: f64,
}

impl GateSection {
    /// What a stage has made, with the features of leaves and the normal samples written beside the gates.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn of(stage: &GateStage, rule_set: &RuleSet, folder: &Path) -> Result<Self> {
        let (report, grafts) = (&stage.report, stage.grafts.as_deref());
        Ok(Self {
            config: report.config.clone(),
            rules: chimera_logic::printer::format_rules(rule_set),
            mined: stage.mined.clone(),
            keys: keys_of(report, rule_set),
            features: write_features(&stage.leaf_features, &folder.join(GATES))?,
            effects: stage.effects.as_ref().map(|effects| effects::write(effects, &folder.join(GATES))).transpose()?,
            grafts: grafts.map(|grafts| GraftSection::of(grafts, rule_set, &folder.join(GATES))).transpose()?,
            // They are taught on the same rows, and theirs names what concepts add to z, too.
            lineage: grafts.map_or(&stage.lineage, |grafts| &grafts.gates.lineage).clone(),
            calibration: stage.calibration_rows.write(&folder.join(GATES))?,
            normal_rows: stage
                .calibration_rows
                .normal(rule_set, &vec![true; rule_set.rules.len()], Half::Thresholds)
                .rows,
            rows: report.rows,
            broken_rows: report.broken_rows,
            counts: report.counts(),
            seconds: stage.seconds,
        })
    }

    /// The rules.
    ///
    /// # Errors
    /// Text that is no rule file over these concepts: the manifest was changed.
    pub fn rule_set(&self, concepts: &[String]) -> Result<RuleSet> {
        let loaded = load_text("the model's rules", &self.rules, Vocabulary::closed(concepts.to_vec(), "the model"));
        if loaded.diagnostics.errors() > 0 || loaded.rule_set.rules.len() != self.keys.len() {
            let message = "expected the rules that the model was trained with, got text that does not fit".to_owned();
            return Err(Error::input(message, Some("the manifest was changed or damaged; train again".to_owned())));
        }
        Ok(loaded.rule_set)
    }

    /// What leaves give their gates, by concept; `None` where that is z.
    pub(crate) fn leaves(&self, folder: &Path) -> Result<Option<BTreeMap<String, LeafFeature>>> {
        self.features.as_ref().map(|name| read_features(&folder.join(name))).transpose()
    }

    /// What concepts add to z, for so many of them and numbers of z; `None` where nothing was taught on grafts.
    ///
    /// # Errors
    /// A file that is missing or was changed.
    pub fn read_effects(&self, folder: &Path, rectified: bool, sizes: [usize; 2]) -> Result<Option<Effects>> {
        let name = self.grafts.as_ref().map(|grafts| &grafts.effects).or(self.effects.as_ref());
        name.map(|name| effects::read(&folder.join(GATES).join(name), rectified, sizes)).transpose()
    }

    /// The model's own gates.
    #[must_use]
    pub fn own(&self) -> GateSet<'_> {
        GateSet { config: self.config.clone(), keys: &self.keys }
    }

    /// Those taught on grafts.
    #[must_use]
    pub fn grafted(&self) -> Option<GateSet<'_>> {
        self.grafts.as_ref().map(|grafts| GateSet { config: self.config.for_grafts(), keys: &grafts.keys })
    }

    /// The hashes of the model's own gates.
    pub fn own_hashes(&self) -> impl Iterator<Item = &String> {
        self.keys.iter().flatten().flatten()
    }

    /// The hashes of all gates and heads.
    pub fn hashes(&self) -> impl Iterator<Item = &String> {
        self.own_hashes().chain(self.grafts.iter().flat_map(GraftSection::hashes))
    }

    /// The names of its files in [`GATES`].
    #[must_use]
    pub fn files(&self) -> BTreeSet<String> {
        self.hashes()
            .map(|hash| format!("{hash}.safetensors"))
            .chain(self.features.clone())
            .chain(self.effects.clone())
            .chain(self.grafts.as_ref().map(|grafts| grafts.effects.clone()))
            .chain([self.calibration.clone()])
            .collect()
    }
}

/// Gates of a model that were taught in one way.
#[derive(Clone, Debug)]
pub struct GateSet<'a> {
    config: GateConfig,
    keys: &'a [Vec<Option<String>>],
}

/// For each rule the keys of its gates, children before parents; `None` for one that was not taught.
pub(super) fn keys_of(report: &GatesReport, rule_set: &RuleSet) -> Vec<Vec<Option<String>>> {
    let keys = rule_set.rules.iter().map(|rule| {
        let of_rule: Vec<_> = report.gates_of(&rule.name).collect();
        let keys = gates_of(rule_set, rule).into_iter().map(|node| {
            let found = of_rule.iter().find(|gate| gate.node == node.index());
            found.filter(|gate| gate.is_there()).map(|gate| gate.key.clone())
        });
        keys.collect()
    });
    keys.collect()
}

/// The keys of a model's own gates, by formula, where it has the same rule, whatever it is called there.
fn own_keys(
    set: &GateSet<'_>,
    own: &RuleSet,
    rule_set: &RuleSet,
    rule: &Rule,
) -> Option<BTreeMap<String, Option<String>>> {
    let wanted = rule_set.dag.text(rule.root);
    let place = own.rules.iter().position(|other| own.dag.text(other.root) == wanted)?;
    let formulas = gates_of(own, &own.rules[place]).into_iter().map(|node| formula(own, node));
    Some(formulas.zip(set.keys[place].iter().cloned()).collect())
}

fn formula(rule_set: &RuleSet, node: NodeId) -> String {
    rule_set.dag.text(Edge::new(node, false))
}

/// The inner nodes of a rule, children before parents.
fn gates_of(rule_set: &RuleSet, rule: &Rule) -> Vec<NodeId> {
    let is_gate = |node: &NodeId| matches!(rule_set.dag.node(*node), Node::Gate(..));
    rule_set.dag.cone(&[rule.root]).into_iter().filter(is_gate).collect()
}

/// What becomes of rules whose gates nobody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingGates {
    /// They are an error.
    Refused,
    /// They have none.
    LeftOut,
}

/// Where a rule's truth comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// A gate, by its place among the logits.
    Gate(usize),
    /// The rule is one literal.
    Literal(ConceptId),
    /// A gate that the rule needs was not taught.
    Missing,
}

/// Rules with their gates.
#[derive(Debug)]
pub struct RuleGates {
    /// The rules.
    pub rule_set: RuleSet,
    /// Where each rule's truth comes from; its negation is on the rule's root.
    pub roots: Vec<Root>,
    evaluator: Evaluator,
}

impl RuleGates {
    /// Opens gates of a model: its own, or those taught on grafts.
    ///
    /// # Errors
    /// Files that are missing, were changed, or do not fit the rules.
    pub fn open(
        folder: &Path,
        section: &GateSection,
        set: &GateSet<'_>,
        concepts: &[String],
        (features, threads): (usize, NonZeroUsize),
    ) -> Result<Self> {
        let folder = folder.join(GATES);
        let leaves = section.leaves(&folder)?;
        let gates = read_gates(&folder, set.keys.iter().flatten().flatten(), threads)?;
        let mut load = |key: &str| gates.get(key).cloned().ok_or_else(|| misfit("a gate is missing"));
        Self::assemble(section.rule_set(concepts)?, set.keys, &leaves, features, &mut load)
    }

    /// Other rules over gates of a model or of the cache: parts of its own rules, or rules that another model was taught on
    /// the same rows. Gates that were taught for one rule alone (`strict`) serve that rule.
    ///
    /// # Errors
    /// Nodes without a gate, by their formulas, and as [`Self::open`].
    pub fn of_rules(
        folder: &Path,
        manifest: &ModelManifest,
        section: &GateSection,
        set: &GateSet<'_>,
        rule_set: RuleSet,
        (cache, missing_is): (Option<&Path>, MissingGates),
    ) -> Result<Self> {
        let (folder, features) = (folder.join(GATES), manifest.bank.encoder.features());
        let (recipe, none) = (set.config.recipe(), vec![None; rule_set.rules.len()]);
        let encoder = manifest.encoder.hash.as_str();
        let plan = section.lineage.plan(&rule_set, &none, (encoder, features), (&recipe, set.config.seed))?;
        let own = section.rule_set(&manifest.bank.concepts)?;
        let (mut gates, mut missing, mut keys) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        for rule in &rule_set.rules {
            let nodes = gates_of(&rule_set, rule);
            if let Some(own) = own_keys(set, &own, &rule_set, rule) {
                keys.push(nodes.iter().map(|node| own.get(&formula(&rule_set, *node)).cloned().flatten()).collect());
                continue;
            }
            let mut of_rule = Vec::new();
            for node in nodes {
                let place = plan.place(node, None).filter(|_| !set.config.strict);
                let key = place.map(|place| &plan.gates[place].key);
                let arity = rule_set.dag.operands(node).len();
                let shape = Shape { arity, features, hidden: recipe.hidden };
                let key = match key.map(|key| look_up(&folder, cache, key, shape)).transpose()?.flatten() {
                    Some(gate) => {
                        let hash = key.map(|key| key.hash.clone()).unwrap_or_default();
                        gates.insert(hash.clone(), gate);
                        Some(hash)
                    }
                    None => {
                        missing.insert(formula(&rule_set, node));
                        None
                    }
                };
                of_rule.push(key);
            }
            // Without one of its gates none of them is asked.
            let whole = of_rule.iter().all(Option::is_some);
            keys.push(if whole { of_rule } else { vec![None; of_rule.len()] });
        }
        if !missing.is_empty() && missing_is == MissingGates::Refused {
            let shown: Vec<String> = missing.iter().take(MOST_NAMED).map(|formula| format!("  `{formula}`")).collect();
            let more = missing.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
            let message = format!(
                "neither the model nor the cache has gates for these parts of the rules:\n{}{more}",
                shown.join("\n")
            );
            let hint = if set.config.strict {
                "gates of a model that was trained with `--strict` serve their own rule alone; `chimera add` teaches others"
            } else {
                "`chimera add` teaches them"
            };
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let mut load = |key: &str| match gates.get(key) {
            Some(gate) => Ok(gate.clone()),
            None => Ok(Arc::new(read_gate(&folder, key)?.gate)),
        };
        Self::assemble(rule_set, &keys, &section.leaves(&folder)?, features, &mut load)
    }

    /// Gates that a stage has in memory.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(crate) fn of_stage(stage: &GateStage, rule_set: &RuleSet, features: usize) -> Result<Self> {
        let mut load = |key: &str| stage.in_memory.get(key).cloned().ok_or_else(|| misfit("a gate is missing"));
        let leaves = Some(&stage.leaf_features).filter(|leaves| !leaves.is_empty()).cloned();
        Self::assemble(rule_set.clone(), &keys_of(&stage.report, rule_set), &leaves, features, &mut load)
    }

    /// Rules without any gate.
    ///
    /// # Errors
    /// Never in practice.
    pub(crate) fn none(rule_set: RuleSet, features: usize) -> Result<Self> {
        let roots = vec![Root::Missing; rule_set.rules.len()];
        Self::of_roots(rule_set, &[], roots, features)
    }

    /// Gates that read z alone, each at the root of a rule.
    ///
    /// # Errors
    /// Sizes that do not fit.
    pub(crate) fn of_roots(rule_set: RuleSet, gates: &[PlacedGate], roots: Vec<Root>, features: usize) -> Result<Self> {
        let evaluator = Evaluator::new(features, gates).ok_or_else(|| misfit("sizes do not fit"))?;
        Ok(Self { rule_set, roots, evaluator })
    }

    fn assemble(
        rule_set: RuleSet,
        keys: &[Vec<Option<String>>],
        leaves: &Option<BTreeMap<String, LeafFeature>>,
        features: usize,
        load: &mut dyn FnMut(&str) -> Result<Arc<Gate>>,
    ) -> Result<Self> {
        let dag = &rule_set.dag;
        let mut placed: Vec<PlacedGate> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut roots = Vec::new();
        for (rule, keys) in rule_set.rules.iter().zip(keys) {
            let nodes = gates_of(&rule_set, rule);
            if nodes.len() != keys.len() {
                return Err(misfit(&format!("rule `{}` has {} gates, not {}", rule.name, nodes.len(), keys.len())));
            }
            let mut place_of = BTreeMap::new();
            for (node, key) in nodes.iter().zip(keys) {
                let Some(key) = key else { continue };
                let operands: Option<Vec<(Source, bool)>> = dag
                    .operands(*node)
                    .iter()
                    .map(|edge| {
                        let source = match dag.node(edge.node()) {
                            Node::Leaf(concept) => Source::Leaf(match leaves {
                                Some(leaves) => leaves.get(dag.vocabulary().name(concept))?.clone(),
                                None => LeafFeature::Shared,
                            }),
                            Node::Gate(..) => Source::Node(*place_of.get(&edge.node())?),
                        };
                        Some((source, edge.is_negated()))
                    })
                    .collect();
                let place = match places.get(key.as_str()) {
                    Some(place) => *place,
                    None => {
                        let operands = operands.ok_or_else(|| misfit("an operand is missing"))?;
                        placed.push(PlacedGate { gate: load(key)?, operands });
                        places.insert(key, placed.len() - 1);
                        placed.len() - 1
                    }
                };
                place_of.insert(*node, place);
            }
            roots.push(match dag.node(rule.root.node()) {
                Node::Leaf(concept) => Root::Literal(concept),
                Node::Gate(..) => place_of.get(&rule.root.node()).map_or(Root::Missing, |place| Root::Gate(*place)),
            });
        }
        Self::of_roots(rule_set, &placed, roots, features)
    }

    /// Gates that are run for each sample.
    #[must_use]
    pub fn len(&self) -> usize {
        self.evaluator.len()
    }

    /// Whether there is no gate.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.evaluator.is_empty()
    }

    /// The logits of all gates for some samples, row by row. Those of a sample are the same bits whatever is beside it.
    #[must_use]
    pub fn logits(&self, features: &impl Features, rows: Range<usize>) -> Vec<f32> {
        let mut out = vec![0.0; rows.len() * self.len()];
        self.evaluator.run(features, rows, &mut out);
        out
    }
}

fn misfit(what: &str) -> Error {
    let message = format!("cannot use the model's gates: {what}");
    Error::input(message, Some("the manifest was changed or damaged; train again".to_owned()))
}

/// Gates of a folder by the hashes of their keys, each read once.
pub(super) fn read_gates<'a>(
    folder: &Path,
    hashes: impl Iterator<Item = &'a String>,
    threads: NonZeroUsize,
) -> Result<GatesByHash> {
    let hashes: Vec<&String> = hashes.collect::<BTreeSet<_>>().into_iter().collect();
    let read = in_parallel(threads, hashes.len(), |at| {
        Ok((hashes[at].clone(), Arc::new(read_gate(folder, hashes[at])?.gate)))
    })?;
    Ok(read.into_iter().collect())
}

fn read_gate(folder: &Path, hash: &str) -> Result<StoredGate> {
    let path = folder.join(format!("{hash}.safetensors"));
    let bytes = fs::read(&path).map_err(|cause| Error::read(&path, cause))?;
    let refuse = |reason: &str| {
        let message = format!("cannot use `{}`: {reason}", path.display());
        Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
    };
    let stored = StoredGate::from_bytes(&bytes).map_err(|reason| refuse(&reason))?;
    if stored.key.hash == hash { Ok(stored) } else { Err(refuse("it holds the gate of another key")) }
}

/// Writes what leaves give their gates under the name of its content, and gives that name.
fn write_features(leaves: &BTreeMap<String, LeafFeature>, folder: &Path) -> Result<Option<String>> {
    if leaves.is_empty() {
        return Ok(None);
    }
    let refused = |error: &dyn std::fmt::Display| Error::input(format!("cannot write the model: {error}"), None);
    let mut tensors = Vec::new();
    for (concept, feature) in leaves {
        if let LeafFeature::Affine { shift, scale } = feature {
            for (part, numbers) in [("shift", shift), ("scale", scale)] {
                let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                tensors.push((format!("{concept}.{part}"), numbers.len(), bytes));
            }
        }
    }
    let views = tensors.iter().map(|(name, length, bytes)| {
        TensorView::new(Dtype::F32, vec![*length], bytes).map(|view| (name, view)).map_err(|error| refused(&error))
    });
    let views = views.collect::<Result<Vec<_>>>()?;
    let bytes = safetensors::serialize(views, None).map_err(|error| refused(&error))?;
    let name = features_name(&bytes);
    write_atomic(&folder.join(&name), |out| out.write_all(&bytes))?;
    Ok(Some(name))
}

/// The name that such a file has for its content.
fn features_name(bytes: &[u8]) -> String {
    format!("features-{}.safetensors", &blake3::hash(bytes).to_string()[..16])
}

/// Whether a path is that of a file of leaf features.
pub(super) fn is_features(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("features-") && name.ends_with(".safetensors")
}

fn read_features(path: &Path) -> Result<BTreeMap<String, LeafFeature>> {
    let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
    let refuse = || {
        let message = format!("expected `{}` as it was trained, got other content", path.display());
        Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
    };
    let named = features_name(&bytes);
    if path.file_name().is_none_or(|name| *name != *named) {
        return Err(refuse());
    }
    let file = SafeTensors::deserialize(&bytes).map_err(|_| refuse())?;
    let numbers = |name: &str| -> Result<Arc<[f32]>> {
        let tensor = file.tensor(name).map_err(|_| refuse())?;
        Ok(bytemuck::pod_collect_to_vec::<u8, f32>(tensor.data()).into())
    };
    let concepts = file.names().into_iter().filter_map(|name| name.strip_suffix(".shift").map(str::to_owned));
    concepts
        .map(|concept| {
            let (shift, scale) = (numbers(&format!("{concept}.shift"))?, numbers(&format!("{concept}.scale"))?);
            Ok((concept, LeafFeature::Affine { shift, scale }))
        })
        .collect()
}
