//! The gates of a model folder, found by their keys: the key of every node is computed from the rules as they are parsed now, and
//! a file must hold exactly the text of that key. It names operator, operands in order with their negations, and through the
//! leaves the concepts, so a gate can never be used for another node than the one that it was trained for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chimera_data::error::{Error, Result};
use chimera_data::parallel::in_parallel;
use chimera_gate::gate::{Gate, Shape};
use chimera_gate::train::Recipe;
use chimera_leaf::bank::{Fingerprint, LeafBankConfig};
use chimera_logic::dag::{Edge, NodeId};
use chimera_logic::rules::RuleSet;

use super::heads::ConceptHeads;
use super::key::Key;
use super::leaf_file;
use super::naming::{ConceptFeatures, Naming};
use super::plan::{Plan, Planned};
use super::rules::{Root, RuleGates};
use super::section::{GATES, GateSection, GateSet, GraftSection};
use super::shelf::look_up;
use super::stored::{StoredGate, file_name};

/// So many nodes without a gate are named.
const MOST_NAMED: usize = 20;

/// What becomes of rules whose gates nobody has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingGates {
    /// They are an error.
    Refused,
    /// They have none.
    LeftOut,
}

/// The gates of a model, not yet read, with everything that names them.
#[derive(Debug)]
pub(crate) struct ModelGates<'a> {
    folder: PathBuf,
    section: &'a GateSection,
    concepts: &'a [String],
    leaves: ConceptFeatures,
    naming: Naming,
    width: usize,
}

impl<'a> ModelGates<'a> {
    /// Opens the gates of a model with this leaf bank and encoder, whose folder need not be its own.
    ///
    /// # Errors
    /// A file that is missing or was changed.
    pub(crate) fn open(
        folder: &Path,
        bank: &'a LeafBankConfig,
        encoder: &Fingerprint,
        section: &'a GateSection,
    ) -> Result<Self> {
        let (folder, width) = (folder.join(GATES), bank.encoder.features());
        let leaves = section.features.as_ref().map(|name| leaf_file::read(&folder.join(name))).transpose()?;
        let leaves = leaves.unwrap_or_default();
        let naming = Naming::new(&section.lineage, &leaves, &encoder.hash, width);
        Ok(Self { folder, section, concepts: &bank.concepts, leaves, naming, width })
    }

    /// The manifest's part about them.
    pub(super) fn section(&self) -> &'a GateSection {
        self.section
    }

    /// The model's rules with the gates of a set.
    ///
    /// # Errors
    /// Files that are missing, were changed, or are not the gates of these rules.
    pub(crate) fn rules(&self, set: &GateSet<'_>, threads: NonZeroUsize) -> Result<RuleGates> {
        let rule_set = self.section.rule_set(self.concepts)?;
        let plan = self.own_plan(set, &rule_set)?;
        let needed: BTreeSet<&String> = plan.gates.iter().map(|planned| &planned.key.hash).collect();
        if let Some(planned) = plan.gates.iter().find(|planned| !is_listed(set, &planned.key)) {
            let formula = text(&rule_set, planned.node);
            return Err(misfit(&format!("the manifest does not list the gate of `{formula}`")));
        }
        if let Some(hash) = set.keys.trained.iter().find(|hash| !needed.contains(hash)) {
            return Err(misfit(&format!("no part of the rules has the gate `{hash}`")));
        }
        let trained: Vec<&Planned> =
            plan.gates.iter().filter(|planned| set.keys.trained.contains(&planned.key.hash)).collect();
        let shape = |planned: &Planned| self.shape(&rule_set, planned.node, &set.config.recipe());
        let wanted: Vec<(&Key, Shape)> = trained.iter().map(|planned| (&planned.key, shape(planned))).collect();
        let gates = self.read(&wanted, threads)?;
        let mut gate_of = |planned: &Planned| Ok(gates.get(&planned.key.hash).cloned());
        let assembled = RuleGates::assemble(rule_set, &plan, (&self.leaves, self.width), &mut gate_of)?;
        if assembled.len() != gates.len() {
            return Err(misfit("a gate lacks one that it reads"));
        }
        Ok(assembled)
    }

    /// Other rules over gates of the model or of the cache: parts of its own rules, or rules that another model was trained on
    /// with the same rows. Gates that were trained for one rule alone (`strict`) serve that rule.
    ///
    /// # Errors
    /// Nodes without a gate, by their formulas, and files that were changed.
    pub(crate) fn of_rules(
        &self,
        set: &GateSet<'_>,
        rule_set: &RuleSet,
        (cache, missing_is): (Option<&Path>, MissingGates),
    ) -> Result<RuleGates> {
        let own = OwnRules::of(self, set)?;
        let recipe = set.config.recipe();
        let unfiltered = vec![None; rule_set.rules.len()];
        let plain = self.naming.plan(rule_set, &unfiltered, &recipe, set.config.seed)?;
        let known: Vec<Option<bool>> = (0..rule_set.rules.len()).map(|rule| own.find(rule_set, &plain, rule)).collect();
        let roots = rule_set.roots();
        let first_of = |rule: usize| roots.iter().position(|other| *other == roots[rule]);
        let filters: Vec<Option<usize>> =
            (0..roots.len()).map(|rule| first_of(rule).filter(|_| known[rule] == Some(true))).collect();
        let plan = self.naming.plan(rule_set, &filters, &recipe, set.config.seed)?;
        let mut missing = BTreeSet::new();
        let (strict, is_own) = (set.config.strict, |rule: &usize| known[*rule].is_some());
        let mut gate_of = |planned: &Planned| {
            if set.keys.skipped.contains(&planned.key.hash) && planned.rules.iter().all(is_own) {
                return Ok(None);
            }
            let shape = self.shape(rule_set, planned.node, &recipe);
            let found = if !strict || planned.rules.iter().any(is_own) {
                look_up(&self.folder, cache, &planned.key, shape)?
            } else {
                None
            };
            if found.is_none() {
                missing.insert(text(rule_set, planned.node));
            }
            Ok(found)
        };
        let mut gates = RuleGates::assemble(rule_set.clone(), &plan, (&self.leaves, self.width), &mut gate_of)?;
        // With `strict`, gates of a rule that the model does not have would have been trained on other rows.
        for rule in (0..roots.len()).filter(|rule| strict && !is_own(rule) && plan.roots[*rule].is_some()) {
            missing.insert(text(rule_set, roots[rule].node()));
            gates.roots[rule] = Root::Missing;
        }
        if missing.is_empty() || missing_is == MissingGates::LeftOut {
            return Ok(gates);
        }
        Err(missing_gates(&missing, strict))
    }

    /// Heads of concepts that were trained on grafts, for the concepts of some rules. `shares` are those of samples that show each
    /// concept.
    ///
    /// # Errors
    /// Files that are missing, were changed, or are not the heads of these concepts.
    pub(super) fn heads(
        &self,
        (grafts, set): (&GraftSection, &GateSet<'_>),
        rule_set: &RuleSet,
        shares: &[f32],
        threads: NonZeroUsize,
    ) -> Result<ConceptHeads> {
        let recipe = set.config.recipe();
        let shape = self.naming.shape(1, &recipe);
        let keys = grafts.heads.iter().map(|(concept, hash)| {
            let key = self.naming.head(concept, &recipe, set.config.seed)?;
            if key.hash == *hash {
                Ok(key)
            } else {
                Err(misfit(&format!("the manifest lists another head for `{concept}`")))
            }
        });
        let keys = keys.collect::<Result<Vec<Key>>>()?;
        let read = self.read(&keys.iter().map(|key| (key, shape)).collect::<Vec<_>>(), threads)?;
        let gate_of = |(concept, hash): (&String, &String)| Some((concept.clone(), read.get(hash)?.clone()));
        let gates: BTreeMap<String, Arc<Gate>> = grafts.heads.iter().filter_map(gate_of).collect();
        let leaf = |concept: &str| self.leaves.get(concept).cloned().unwrap_or_default();
        ConceptHeads::new(rule_set, &gates, &leaf, self.width)?.with_shares(shares)
    }

    /// The gates that the model's own rules need.
    fn own_plan(&self, set: &GateSet<'_>, rule_set: &RuleSet) -> Result<Plan> {
        let roots = rule_set.roots();
        let first_of = |root: &Edge| roots.iter().position(|other| other == root);
        let is_filtered = |rule: usize| set.keys.filtered.contains(&rule_set.rules[rule].name);
        let filters: Vec<Option<usize>> =
            roots.iter().enumerate().map(|(rule, root)| first_of(root).filter(|_| is_filtered(rule))).collect();
        self.naming.plan(rule_set, &filters, &set.config.recipe(), set.config.seed)
    }

    fn shape(&self, rule_set: &RuleSet, node: NodeId, recipe: &Recipe) -> Shape {
        self.naming.shape(rule_set.dag.operands(node).len(), recipe)
    }

    /// Reads gates that must be there, by the hashes of their keys.
    fn read(&self, wanted: &[(&Key, Shape)], threads: NonZeroUsize) -> Result<BTreeMap<String, Arc<Gate>>> {
        let read = in_parallel(threads, wanted.len(), |at| {
            let (key, shape) = wanted[at];
            let path = self.folder.join(file_name(key));
            let bytes = fs::read(&path).map_err(|cause| Error::read(&path, cause))?;
            let stored = StoredGate::of_key(&bytes, key, shape).map_err(|reason| {
                let message = format!("cannot use `{}`: {reason}", path.display());
                Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
            })?;
            Ok((key.hash.clone(), Arc::new(stored.gate)))
        })?;
        Ok(read.into_iter().collect())
    }
}

/// The model's own rules, known by the keys of their roots.
struct OwnRules(BTreeMap<(Option<String>, bool), bool>);

impl OwnRules {
    /// `true` for a rule whose gates saw only rows on which it holds.
    fn of(model: &ModelGates<'_>, set: &GateSet<'_>) -> Result<Self> {
        let rule_set = model.section.rule_set(model.concepts)?;
        let unfiltered = vec![None; rule_set.rules.len()];
        let plan = model.naming.plan(&rule_set, &unfiltered, &set.config.recipe(), set.config.seed)?;
        let of_rule =
            |rule: usize| (key_of_root(&rule_set, &plan, rule), set.keys.filtered.contains(&rule_set.rules[rule].name));
        Ok(Self((0..rule_set.rules.len()).map(of_rule).collect()))
    }

    /// `None` where the model has no rule of this formula. `plan` has the keys without any filter.
    fn find(&self, rule_set: &RuleSet, plan: &Plan, rule: usize) -> Option<bool> {
        self.0.get(&key_of_root(rule_set, plan, rule)).copied()
    }
}

/// The key at the root of a rule, and whether it is negated; no key for a rule of one literal.
fn key_of_root(rule_set: &RuleSet, plan: &Plan, rule: usize) -> (Option<String>, bool) {
    let key = plan.roots[rule].map(|root| plan.gates[root].key.hash.clone());
    (key, rule_set.rules[rule].root.is_negated())
}

fn is_listed(set: &GateSet<'_>, key: &Key) -> bool {
    set.keys.trained.contains(&key.hash) || set.keys.skipped.contains(&key.hash)
}

fn text(rule_set: &RuleSet, node: NodeId) -> String {
    rule_set.dag.text(Edge::new(node, false))
}

/// Files of a model that do not belong together. Nothing that a user types can bring that about.
fn misfit(what: &str) -> Error {
    let message = format!("the files of the model do not belong together: {what}");
    let hint = "your rules are not the cause: the manifest was changed, or this is a defect of chimera; train again (cached gates \
                are reused)";
    Error::input(message, Some(hint.to_owned()))
}

fn missing_gates(missing: &BTreeSet<String>, strict: bool) -> Error {
    let shown: Vec<String> = missing.iter().take(MOST_NAMED).map(|formula| format!("  `{formula}`")).collect();
    let more = missing.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    let message =
        format!("neither the model nor the cache has gates for these parts of the rules:\n{}{more}", shown.join("\n"));
    let hint = if strict {
        "gates of a model that was trained with `--strict` serve their own rule alone; `chimera add` teaches others"
    } else {
        "`chimera add` teaches them"
    };
    Error::input(message, Some(hint.to_owned()))
}
