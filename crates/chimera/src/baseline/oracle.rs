//! The supervised oracle: one gate a rule over `[z || 0]`, taught on samples of which some break the rule. Nothing that must
//! do without such samples can be expected to do better.

use chimera_data::error::Result;
use chimera_gate::cone::{Cone, Features};
use chimera_gate::draw::{Choice, Depth};
use chimera_gate::evaluate::{PlacedGate, Source};
use chimera_gate::ground::Ground;
use chimera_gate::train::{Negatives, Problem, Recipe};
use chimera_leaf::encode::EncodedRows;
use chimera_logic::rules::Rule;

use super::{Baseline, Course, FoldOf, Teaching, Violations};

use crate::gate::key::{Key, feature_text};
use crate::gate::lesson::groups;
use crate::gate::rules::{Root, RuleGates};
use crate::gate::shelf::Wanted;
use crate::gate::slices::Slices;
use crate::gate::teacher::steps;

/// Raised when the oracle is taught in another way.
const VERSION: u32 = 1;

/// Gates for each part of the samples, and who belongs to which part.
#[derive(Debug)]
pub struct CrossFitted {
    gates: Vec<RuleGates>,
    fold_of: FoldOf,
}

/// Some of a window's samples.
struct Picked<'a, F>(&'a F, &'a [usize]);

impl<F: Features> Features for Picked<'_, F> {
    fn of(&self, row: usize) -> &[f32] {
        self.0.of(self.1[row])
    }
}

impl CrossFitted {
    /// The logit of each rule's root on each sample, a sample's side by side; NaN where there is no gate, and on samples that
    /// all gates have learned from.
    #[must_use]
    pub fn logits(&self, features: &impl Features, rows: usize) -> Vec<f32> {
        let rules = self.gates.first().map_or(0, |gates| gates.roots.len());
        let mut out = vec![f32::NAN; rows * rules];
        let fold: Vec<Option<usize>> = (0..rows).map(|row| self.fold_of.of(features.of(row))).collect();
        for (number, gates) in self.gates.iter().enumerate() {
            let picked: Vec<usize> = (0..rows).filter(|&row| fold[row] == Some(number)).collect();
            let logits = gates.logits(&Picked(features, &picked), 0..picked.len());
            for (place, &row) in picked.iter().enumerate() {
                for (rule, root) in gates.roots.iter().enumerate() {
                    if let Root::Gate(gate) = root {
                        out[row * rules + rule] = logits[place * gates.len() + gate];
                    }
                }
            }
        }
        out
    }
}

pub(super) fn teach(course: &Course<'_>, encoded: &EncodedRows) -> Result<(Baseline, Teaching)> {
    let (lesson, rule_set) = (course.lesson, course.rule_set);
    let (dag, dataset) = (&rule_set.dag, lesson.dataset);
    let violations = Violations::of(dataset, encoded)?;
    let feature = lesson.plain_leaf(course.config.leaf_features);
    let recipe = Recipe {
        // Of single samples, drawn so that the rule holds on half of them.
        negatives: Negatives::Chimera,
        chimeras: Depth::Deep,
        sampler: Choice::Stratified,
        ..course.recipe(Negatives::Chimera)
    };
    let recipes: Vec<Recipe> = violations
        .folds
        .iter()
        // There are fewer of these rows than train rows; what counts are the steps.
        .map(|fold| {
            let epochs = (recipe.epochs * lesson.rows.len()).div_ceil(fold.numbers.len().max(1));
            Recipe { epochs, ..recipe.clone() }
        })
        .collect();
    let z: Vec<Slices<'_>> = violations.folds.iter().map(|fold| Slices::of_rows(encoded, &fold.numbers)).collect();
    let grounds: Vec<Ground<'_, Slices<'_>>> = violations
        .folds
        .iter()
        .zip(&z)
        .map(|(fold, z)| {
            let labels = dataset.table().labels.select(&fold.numbers);
            let groups = groups(dataset, &fold.numbers);
            Ground::new(dag, &rule_set.roots(), &labels, (z, lesson.width), groups, |_| feature.clone())
        })
        .collect();
    let rules = rule_set.rules.len();
    let most = steps(&recipe, lesson.rows.len());
    let cones: Vec<Cone> = rule_set.rules.iter().map(|rule| Cone::single(rule.root.node(), feature.clone())).collect();
    let wanted = (0..violations.folds.len() * rules).map(|at| {
        let (fold, rule) = (&violations.folds[at / rules], &rule_set.rules[at % rules]);
        let (ground, recipe) = (&grounds[at / rules], &recipes[at / rules]);
        let truths = ground.truths(rule.root.node());
        let truth: Vec<u8> = (0..fold.numbers.len() as u32).map(|row| truths.get(row).map_or(2, u8::from)).collect();
        let names = lesson.naming.names(recipe, course.config.seed, &fold.print)?;
        let key = Key::of(format!(
            "chimera oracle {VERSION}\nformula {:?}\ntruth {}\nfeature {}\nhidden {}\n{names}",
            dag.text(rule.root),
            blake3::hash(&truth),
            feature_text(&feature),
            recipe.hidden,
        ));
        let task = ground.task(&cones[at % rules], recipe, None, key.seed("teach"));
        Ok(Wanted { key, formula: dag.text(rule.root), task })
    });
    let wanted = wanted.collect::<Result<Vec<Wanted<'_, _>>>>()?;
    let (answers, counts) = course.teacher.all(&wanted, most)?;
    let why = |problem: &Problem, rule: &Rule| match problem {
        Problem::OneTruth(holds) => {
            let holds = *holds != rule.root.is_negated();
            format!("it {} on every row that is learned from", if holds { "holds" } else { "is broken" })
        }
        problem => problem.to_string(),
    };
    let mut missing: Vec<(usize, String)> = vec![(0, String::new()); rules];
    let mut gates = Vec::new();
    for answers in answers.chunks(rules.max(1)) {
        let mut placed = Vec::new();
        let roots =
            answers.iter().zip(&rule_set.rules).zip(&mut missing).map(|((answer, rule), missing)| match answer {
                Ok(gate) => {
                    placed.push(PlacedGate {
                        gate: gate.clone(),
                        operands: vec![(Source::Leaf(feature.clone()), false)],
                    });
                    Root::Gate(placed.len() - 1)
                }
                Err(problem) => {
                    *missing = (missing.0 + 1, why(problem, rule));
                    Root::Missing
                }
            });
        let roots = roots.collect();
        gates.push(RuleGates::of_roots(rule_set.clone(), &placed, roots, lesson.width)?);
    }
    let parts = violations.folds.len();
    let said = |((count, reason), rule): ((usize, String), &Rule)| {
        let on = if count < parts { format!(" on {count} of {parts} parts of the rows") } else { String::new() };
        (count > 0).then(|| (rule.name.clone(), format!("{reason}{on}")))
    };
    let skipped = missing.into_iter().zip(&rule_set.rules).filter_map(said).collect();
    let baseline = Baseline::CrossFitted(CrossFitted { gates, fold_of: violations.fold_of });
    Ok((baseline, Teaching { counts, skipped, fitted_on: Some(violations.fitted_on) }))
}
