//! What all gates of a run are taught with: the rows, their z, what leaves make of it, and the names of all that.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::{FitRows, Rows};
use chimera_data::error::{Error, Result};
use chimera_gate::cone::{LeafFeature, Moments};
use chimera_gate::graft::{Effects, Labels};
use chimera_gate::ground::Ground;
use chimera_gate::trust::Trial;
use chimera_leaf::bank::LeafBank;
use chimera_leaf::encode::EncodedRows;
use chimera_logic::bits::TruthTable;
use chimera_logic::dag::{Dag, Node, NodeId};
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;

use super::config::{GateConfig, LeafFeatures};
use super::effects;
use super::heads::ConceptHeads;
use super::material::Material;
use super::naming::{Lineage, Naming};
use super::slices::Slices;
use super::trust::{Trust, concepts, left_out, seen};

/// Rows that tell whether effects carry over to what was left out.
const LEFT_OUT: usize = 4_000;

/// Rows on which heads are held against the leaf bank's: among them are enough also of rare concepts.
const HELD_AGAINST: usize = 20_000;

/// How well a concept's label must be seen along its own effect to tell which samples are alike.
const LEAST_SHOWN: f64 = 0.05;

/// Numbers that are hashed at a time: row by row takes several times as long.
const HASHED: usize = 1 << 14;

/// Rows to learn from, and everything that comes with them.
pub(crate) struct Lesson<'a> {
    pub(crate) dataset: &'a Dataset,
    /// The rows that are learned from.
    pub(crate) rows: FitRows,
    pub(crate) z: Slices<'a>,
    /// Numbers of a feature.
    pub(crate) width: usize,
    /// What each concept's leaf gives its gates.
    pub(crate) leaves: BTreeMap<String, LeafFeature>,
    pub(crate) lineage: Lineage,
    pub(crate) naming: Naming,
    /// The truth of each rule on every row of the dataset.
    pub(crate) truth: TruthTable,
    /// Rows of the material that break a rule.
    pub(crate) broken_rows: usize,
    /// What concepts add to z, where grafts are taught on.
    pub(crate) effects: Option<Effects>,
    labels: TruthTable,
}

impl<'a> Lesson<'a> {
    pub(crate) fn new(
        material: Material<'a>,
        rule_set: &RuleSet,
        config: &GateConfig,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        config.check()?;
        let Material { dataset, bank, encoded, .. } = material;
        check_concepts(dataset, bank, rule_set)?;
        if material.rows.is_empty() {
            let message = format!("expected train rows with media in `{}`, got none", dataset.folder().display());
            return Err(Error::input(message, Some("`chimera data check` says what is wrong with them".to_owned())));
        }
        let roots = rule_set.roots();
        let truth = Program::compile(&rule_set.dag, &roots).evaluate(&dataset.table().labels);
        let breaks = |row: usize| (0..roots.len()).any(|rule| truth.get(row, rule) == Some(false));
        let broken_rows = material.rows.numbers().iter().filter(|&&row| breaks(row)).count();
        let rows = if config.nominal_only { material.rows.filtered(|row| !breaks(row)) } else { material.rows.clone() };
        if rows.is_empty() {
            let message = "expected train rows that break no rule, got none".to_owned();
            let hint = "leave out `--nominal-only`, or see `chimera rules check`";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let z = Slices::of_rows(encoded, rows.numbers());
        let width = bank.config().encoder.features();
        let leaves = leaf_features(config.leaf_features, bank, &z, width);
        let encoder = bank.encoder_fingerprint()?.hash;
        let table = dataset.table();
        let of_labels = |(number, concept): (usize, &String)| {
            (concept.clone(), dataset.label_fingerprint(number, &rows).to_string())
        };
        let print = print_of(dataset, &rows, &z)?;
        let labels = table.labels.select(rows.numbers());
        let rectified = bank.config().encoder.is_projected();
        let fit = || effects::fit(&z, &labels, width, rectified, threads);
        let effects = config.negatives.has_grafts().then(fit).transpose()?;
        let lineage = Lineage {
            rows: print,
            labels: table.concepts.iter().enumerate().map(of_labels).collect(),
            effects: effects.as_ref().map(|effects| effects::fingerprint(effects, &labels)),
        };
        let naming = Naming::new(&lineage, &leaves, &encoder, width);
        Ok(Self { dataset, rows, z, width, leaves, lineage, naming, truth, broken_rows, effects, labels })
    }

    /// Whether what concepts add to z can be trusted, with the heads that were taught on it.
    pub(crate) fn trust(&self, heads: &ConceptHeads, encoded: &EncodedRows, threads: NonZeroUsize) -> Result<Trust> {
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        fastrand::Rng::with_seed(0).shuffle(&mut rows);
        rows.truncate(HELD_AGAINST);
        let z = Slices(rows.iter().map(|&row| self.z.0[row]).collect());
        let numbers: Vec<usize> = rows.iter().map(|&row| self.rows.numbers()[row]).collect();
        let mut known = concepts(heads, &z, &self.labels.select(&rows), &encoded.logits(&numbers)?, threads)?;
        if let Some(effects) = &self.effects {
            let fit = encoded.present(&self.dataset.fit_half());
            let labels = self.dataset.table().labels.select(fit.numbers());
            let seen = seen(effects, &Slices::of_rows(encoded, fit.numbers()), &labels, threads)?;
            known.iter_mut().zip(seen).for_each(|(known, seen)| known.seen = seen);
        }
        rows.truncate(LEFT_OUT);
        let z = Slices(z.0.into_iter().take(LEFT_OUT).collect());
        let labels = self.labels.select(&rows);
        let explained = match &self.effects {
            Some(effects) => effects.told_along(&effects::along(effects, &z, &Labels::of(&labels), threads)?, &labels),
            None => Vec::new(),
        };
        // What z does not show says nothing about who is like whom.
        let shown = |concept: &usize| explained[*concept].is_some_and(|share| share > LEAST_SHOWN);
        let alike: Vec<usize> = (0..explained.len()).filter(shown).collect();
        let left_out = left_out(&z, self.width, &Trial::new(&labels, &alike), threads)?;
        Ok(Trust::new(left_out, &self.labels, &self.dataset.table().concepts, known))
    }

    /// What a concept's leaf gives its gates.
    pub(crate) fn leaf_of(&self, concept: &str) -> LeafFeature {
        self.leaves.get(concept).cloned().unwrap_or_default()
    }

    /// What the leaf of a node gives its gates.
    pub(crate) fn leaf(&self, dag: &Dag, node: NodeId) -> LeafFeature {
        match dag.node(node) {
            Node::Leaf(concept) => self.leaf_of(dag.vocabulary().name(concept)),
            Node::Gate(..) => LeafFeature::Shared,
        }
    }

    /// What a leaf that is no concept gives: z, on the scale of the others.
    pub(crate) fn plain_leaf(&self, choice: LeafFeatures) -> LeafFeature {
        if choice == LeafFeatures::Shared {
            return LeafFeature::Shared;
        }
        let mut moments = Moments::new(self.width);
        self.z.0.iter().for_each(|z| moments.add(z));
        moments.standard()
    }

    /// The rows with the exact truth of every node.
    pub(crate) fn ground<'g>(&'g self, rule_set: &'g RuleSet) -> Ground<'g, Slices<'a>> {
        let groups = groups(self.dataset, self.rows.numbers());
        let dag = &rule_set.dag;
        let leaf = |node| self.leaf(dag, node);
        let ground = Ground::new(dag, &rule_set.roots(), &self.labels, (&self.z, self.width), groups, leaf);
        match &self.effects {
            Some(effects) => ground.with_effects(effects, &self.labels),
            None => ground,
        }
    }

    /// The rows on which a rule is known to hold, by their place among the rows; `None` where that is all of them.
    pub(crate) fn kept(&self, rule: usize) -> Option<Vec<u32>> {
        let holds = |place: &u32| self.truth.get(self.rows.numbers()[*place as usize], rule) == Some(true);
        let kept: Vec<u32> = (0..self.rows.len() as u32).filter(holds).collect();
        (kept.len() < self.rows.len()).then_some(kept)
    }
}

/// Makes sure that a number means the same concept in the labels, in the leaf bank's logits and in the rules.
fn check_concepts(dataset: &Dataset, bank: &LeafBank, rule_set: &RuleSet) -> Result<()> {
    let (table, vocabulary) = (&dataset.table().concepts, rule_set.dag.vocabulary());
    if *table == bank.config().concepts && vocabulary.names().eq(table) {
        return Ok(());
    }
    let message = format!(
        "expected concepts in the same order in `{}`, in the model and in its rules",
        dataset.folder().display()
    );
    Err(Error::input(message, Some("they do not belong together, or this is a defect of chimera".to_owned())))
}

/// The fingerprint of rows: who they are, what ties them together, and their z.
pub(crate) fn print_of<Purpose>(dataset: &Dataset, rows: &Rows<Purpose>, z: &Slices<'_>) -> Result<String> {
    let (mut hasher, mut waiting) = (blake3::Hasher::new(), Vec::with_capacity(2 * HASHED));
    for (z, &row) in z.0.iter().zip(rows.numbers()) {
        if !z.iter().all(|number| number.is_finite()) {
            let message = format!("expected numbers in z of `{}`, got one that is none", &dataset.table().ids[row]);
            return Err(Error::input(message, Some("the encoder gives it; train it again".to_owned())));
        }
        waiting.extend_from_slice(z);
        if waiting.len() >= HASHED {
            hasher.update(bytemuck::cast_slice(&waiting));
            waiting.clear();
        }
    }
    hasher.update(bytemuck::cast_slice(&waiting));
    Ok(format!("{} {} z {}", rows.len(), dataset.row_fingerprint(rows), hasher.finalize()))
}

/// What each concept's leaf gives its gates.
fn leaf_features(choice: LeafFeatures, bank: &LeafBank, z: &Slices<'_>, width: usize) -> BTreeMap<String, LeafFeature> {
    let mut moments = Moments::new(width);
    if choice != LeafFeatures::Shared {
        z.0.iter().for_each(|z| moments.add(z));
    }
    let concepts = &bank.config().concepts;
    let features: Vec<LeafFeature> = match (choice, moments.standard()) {
        (LeafFeatures::Standard, standard) => vec![standard; concepts.len()],
        (LeafFeatures::Concept, LeafFeature::Affine { shift, scale }) => bank
            .head_weights()
            .iter()
            .map(|weights| {
                // What one deviation of a number adds to the concept's logit; all together of size one a number.
                let says: Vec<f32> =
                    weights.iter().zip(scale.iter()).map(|(w, s)| if *s > 0.0 { w / s } else { 0.0 }).collect();
                let size = (says.iter().map(|number| number * number).sum::<f32>() / width as f32).sqrt().max(1e-12);
                let scale = says.iter().zip(scale.iter()).map(|(says, scale)| says / size * scale).collect();
                LeafFeature::Affine { shift: shift.clone(), scale }
            })
            .collect(),
        _ => vec![LeafFeature::Shared; concepts.len()],
    };
    concepts.iter().cloned().zip(features).collect()
}

/// A number for each group; rows that stand alone have one each. `None` without groups.
pub(crate) fn groups(dataset: &Dataset, rows: &[usize]) -> Option<Arc<[u32]>> {
    let groups = dataset.table().groups.as_ref()?;
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next
    };
    Some(
        rows.iter()
            .map(|&row| match groups[row].as_str() {
                "" => fresh(),
                group => *numbers.entry(group).or_insert_with(&mut fresh),
            })
            .collect(),
    )
}
