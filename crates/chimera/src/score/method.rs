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
    exact: Exact,
    /// Of rules that are implications: the exact probability of the antecedent.
    antecedents: Exact,
}

/// Exact counts of some formulas; those whose diagram gets too large have none.
#[derive(Debug)]
struct Exact {
    circuit: Circuit,
    /// For each formula its place among the circuit's functions.
    places: Vec<Option<usize>>,
}

impl Exact {
    fn compile(rule_set: &RuleSet, formulas: &[Option<Edge>]) -> Self {
        let roots: Vec<Edge> = formulas.iter().flatten().copied().collect();
        let mut diagrams = Diagrams::new(&rule_set.dag, &roots, Limits::default());
        let (mut places, mut compiled) = (Vec::new(), Vec::new());
        for formula in formulas {
            let diagram = formula.and_then(|formula| diagrams.compile(formula).ok());
            places.push(diagram.map(|diagram| {
                compiled.push(diagram);
                compiled.len() - 1
            }));
        }
        Self { circuit: diagrams.circuit(&compiled), places }
    }

    /// A value for each formula and row.
    fn evaluate(&self, probabilities: &Probabilities<'_>) -> Vec<Vec<Option<f64>>> {
        let (values, rows) = (self.circuit.evaluate(probabilities), probabilities.rows());
        let of = |place: &Option<usize>| {
            (0..rows).map(|row| place.map(|place| values[place * rows + row])).collect::<Vec<Option<f64>>>()
        };
        self.places.iter().map(of).collect()
    }
}

/// What is known of each rule on each sample of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleProbabilities {
    /// The probability that the rule holds, `[rule][row]`; `None` where the method cannot tell.
    pub p: Vec<Vec<Option<f64>>>,
    /// The probability of an implication's antecedent, `[rule][row]`; `None` for other rules.
    pub antecedent: Vec<Vec<Option<f64>>>,
}

impl<'a> Evaluators<'a> {
    /// Makes the rules of a model ready.
    #[must_use]
    pub fn new(gates: &'a RuleGates, calibration: &'a Calibration) -> Self {
        let rule_set = &gates.rule_set;
        let roots = rule_set.roots();
        let antecedent = |root: &Edge| match rule_set.dag.node(root.node()) {
            Node::Gate(Op::Implies, operands) if !root.is_negated() => operands.first().copied(),
            _ => None,
        };
        let antecedents: Vec<Option<Edge>> = roots.iter().map(antecedent).collect();
        let whole: Vec<Option<Edge>> = roots.iter().copied().map(Some).collect();
        Self {
            gates,
            calibration,
            independent: Independent::compile(&rule_set.dag, &roots),
            exact: Exact::compile(rule_set, &whole),
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
    pub fn evaluate(
        &self,
        method: Method,
        features: &impl Features,
        logits: &[f32],
        rows: usize,
    ) -> Result<RuleProbabilities> {
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
        let p = match method {
            Method::Indep => by_rule(self.independent.evaluate(&raw)),
            Method::IndepCal => by_rule(self.independent.evaluate(&calibrated)),
            Method::Wmc => self.exact.evaluate(&calibrated),
            Method::Chimera => self.chimera(features, &calibrated, rows),
        };
        Ok(RuleProbabilities { p, antecedent })
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
                        Some(f64::from(probability(if negated { -logit } else { logit })))
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
