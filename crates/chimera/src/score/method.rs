//! How likely each rule is, by several methods on the same z and logits.

use chimera_gate::cone::Features;
use chimera_gate::pass::probability;
use chimera_logic::bdd::count::Circuit;
use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::dag::{Edge, Node};
use chimera_logic::prob::{Independent, Probabilities};
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::Op;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::gate::rules::{Root, RuleGates};
use crate::leaf::calibrate::{Calibration, Method as Calibrated};

/// A way to a rule's probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Independent events over the leaf bank's probabilities as they are.
    Indep,
    /// Independent events over calibrated probabilities.
    IndepCal,
    /// Exact counting over calibrated probabilities: right where a concept occurs twice.
    Wmc,
    /// Gates taught on chimeras.
    #[default]
    Chimera,
}

impl Method {
    /// Every method, by the names of options.
    pub const ALL: [(&'static str, Self); 4] =
        [("indep", Self::Indep), ("indep-cal", Self::IndepCal), ("wmc", Self::Wmc), ("chimera", Self::Chimera)];
}

/// Rules made ready for every method.
#[derive(Debug)]
pub struct Evaluators<'a> {
    gates: &'a RuleGates,
    calibration: &'a Calibration,
    independent: Independent,
    /// Compiled only for the method that asks for it.
    exact: Option<Exact>,
    /// Of rules that are implications: the exact probability of the antecedent.
    antecedents: Exact,
    method: Method,
}

/// Exact counts of some formulas; those whose diagram gets too large have none.
#[derive(Debug)]
struct Exact(Vec<Option<Circuit>>);

impl Exact {
    fn compile(rule_set: &RuleSet, formulas: &[Option<Edge>]) -> Self {
        // Each on its own: whether a formula is too large must not depend on other rules.
        let compile = |formula: &Option<Edge>| {
            let formula = (*formula)?;
            let mut diagrams = Diagrams::new(&rule_set.dag, &[formula], Limits::default());
            let compiled = diagrams.compile(formula).ok()?;
            Some(diagrams.circuit(&[compiled]))
        };
        Self(formulas.iter().map(compile).collect())
    }

    /// A value for each formula and row.
    fn evaluate(&self, probabilities: &Probabilities<'_>) -> Vec<Vec<Option<f64>>> {
        let of = |circuit: &Option<Circuit>| match circuit {
            Some(circuit) => circuit.evaluate(probabilities).into_iter().map(Some).collect(),
            None => vec![None; probabilities.rows()],
        };
        self.0.iter().map(of).collect()
    }
}

/// The antecedent of an implication; other rules, and negated ones, have none.
fn antecedent_of(rule_set: &RuleSet, root: Edge) -> Option<Edge> {
    match rule_set.dag.node(root.node()) {
        Node::Gate(Op::Implies, operands) if !root.is_negated() => operands.first().copied(),
        _ => None,
    }
}

/// What is known of each rule on each sample of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleProbabilities {
    /// The probability that the rule holds, `[rule][row]`; `None` where the method cannot tell.
    pub p: Vec<Vec<Option<f64>>>,
    /// The probability of an implication's antecedent, `[rule][row]`; `None` where it cannot be told.
    pub antecedent: Vec<Vec<Option<f64>>>,
    /// Whether the rule is an implication.
    pub is_implication: Vec<bool>,
}

impl<'a> Evaluators<'a> {
    /// Makes the rules of a model ready for a method.
    #[must_use]
    pub fn new(gates: &'a RuleGates, calibration: &'a Calibration, method: Method) -> Self {
        let rule_set = &gates.rule_set;
        let roots = rule_set.roots();
        let antecedents: Vec<Option<Edge>> = roots.iter().map(|root| antecedent_of(rule_set, *root)).collect();
        let whole: Vec<Option<Edge>> = roots.iter().copied().map(Some).collect();
        Self {
            method,
            gates,
            calibration,
            independent: Independent::compile(&rule_set.dag, &roots),
            exact: (method == Method::Wmc).then(|| Exact::compile(rule_set, &whole)),
            antecedents: Exact::compile(rule_set, &antecedents),
        }
    }

    /// The probabilities of all rules on some samples.
    ///
    /// # Shapes
    /// `logits`: rows x concepts, in the order of the leaf bank; `features` has as many rows.
    ///
    /// # Errors
    /// Logits that are not whole rows.
    pub fn evaluate(&self, features: &impl Features, logits: &[f32], rows: usize) -> Result<RuleProbabilities> {
        let raw = self.columns(Calibrated::Raw, logits, rows)?;
        let calibrated = self.columns(Calibrated::Platt, logits, rows)?;
        let concepts = self.gates.rule_set.dag.vocabulary().len();
        let table =
            |values| Probabilities::new(values, concepts, rows).map_err(|error| Error::input(error.to_string(), None));
        let (raw, calibrated) = (table(&raw)?, table(&calibrated)?);
        let antecedent = self.antecedents.evaluate(&calibrated);
        let by_rule = |values: Vec<f64>| -> Vec<Vec<Option<f64>>> {
            values.chunks_exact(rows.max(1)).map(|rows| rows.iter().copied().map(Some).collect()).collect()
        };
        let p = match self.method {
            Method::Indep => by_rule(self.independent.evaluate(&raw)),
            Method::IndepCal => by_rule(self.independent.evaluate(&calibrated)),
            Method::Wmc => self.exact.as_ref().map_or_else(Vec::new, |exact| exact.evaluate(&calibrated)),
            Method::Chimera => self.chimera(features, &calibrated, rows),
        };
        let rule_set = &self.gates.rule_set;
        let is_implication = rule_set.rules.iter().map(|rule| antecedent_of(rule_set, rule.root).is_some()).collect();
        Ok(RuleProbabilities { p, antecedent, is_implication })
    }

    /// Probabilities of concepts, a concept's side by side.
    fn columns(&self, method: Calibrated, logits: &[f32], rows: usize) -> Result<Vec<f64>> {
        let by_row = self.calibration.probabilities(method, logits)?;
        let concepts = by_row.len() / rows.max(1);
        Ok((0..concepts)
            .flat_map(|concept| (0..rows).map(move |row| (row, concept)))
            .map(|(row, concept)| f64::from(by_row[row * concepts + concept]))
            .collect())
    }

    fn chimera(&self, features: &impl Features, leaves: &Probabilities<'_>, rows: usize) -> Vec<Vec<Option<f64>>> {
        let logits = self.gates.logits(features, 0..rows);
        let count = self.gates.len();
        let rules = self.gates.rule_set.rules.iter().zip(&self.gates.roots);
        rules
            .map(|(rule, root)| {
                let negated = rule.root.is_negated();
                let of_row = |row: usize| match *root {
                    Root::Gate(place) => {
                        let logit = logits[row * count + place];
                        // Features far beyond all that was seen can overflow; that is no probability.
                        logit.is_finite().then(|| f64::from(probability(if negated { -logit } else { logit })))
                    }
                    Root::Literal(concept) => {
                        let p = leaves.get(row, concept);
                        Some(if negated { 1.0 - p } else { p })
                    }
                    Root::Missing => None,
                };
                (0..rows).map(of_row).collect()
            })
            .collect()
    }
}
