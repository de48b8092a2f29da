//! How likely each rule is, by several methods on the same z and logits.

use chimera_data::error::{Error, Result};
use chimera_gate::cone::Features;
use chimera_gate::graft::Effects;
use chimera_leaf::calibrate::{Calibration, Method as Calibrated, sigmoid};
use chimera_logic::bdd::count::Circuit;
use chimera_logic::bdd::{Diagrams, Limits};
use chimera_logic::dag::{Edge, Node};
use chimera_logic::prob::{Independent, Probabilities};
use chimera_logic::rules::RuleSet;
use chimera_logic::syntax::Op;
use serde::{Deserialize, Serialize};

use super::engine::Engine;
use super::neural::Neural;
use crate::baseline::{Baseline, CrossFitted, Kind};
use crate::gate::heads::ConceptHeads;
use crate::gate::rules::{Root, RuleGates};

/// A way to a rule's probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Independent events over the leaf bank's probabilities as they are.
    Indep,
    /// Independent events over calibrated probabilities.
    IndepCal,
    /// Independent events over heads of a gate's size.
    IndepDeep,
    /// Exact counting over calibrated probabilities: right where a concept occurs twice.
    Wmc,
    /// Gates taught on samples as they are, on which the rule holds.
    Sem,
    /// One gate a rule, taught on samples as they are, on which the rule holds.
    MonoN,
    /// One gate a rule, taught on chimeras.
    MonoC,
    /// Gates taught on chimeras.
    Chimera,
    /// Gates taught on grafts.
    Graft,
    /// Gates taught on grafts together with exact counting over heads taught on grafts and the leaf bank's; independent events
    /// where grafts cannot be trusted.
    #[default]
    Neural,
    /// One gate a rule, taught on samples that break it: the ceiling.
    Oracle,
}

impl Method {
    /// Every method, by the names of options and of files.
    pub const ALL: [(&'static str, Self); 11] = [
        ("indep", Self::Indep),
        ("indep-cal", Self::IndepCal),
        ("indep-deep", Self::IndepDeep),
        ("wmc", Self::Wmc),
        ("sem", Self::Sem),
        ("mono-n", Self::MonoN),
        ("mono-c", Self::MonoC),
        ("chimera", Self::Chimera),
        ("graft", Self::Graft),
        ("neural", Self::Neural),
        ("oracle", Self::Oracle),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// What must be taught for it, since models do not have it.
    #[must_use]
    pub fn baseline(self) -> Option<Kind> {
        match self {
            Self::Indep | Self::IndepCal | Self::Wmc | Self::Chimera | Self::Graft | Self::Neural => None,
            Self::IndepDeep => Some(Kind::IndepDeep),
            Self::Sem => Some(Kind::Sem),
            Self::MonoN => Some(Kind::MonoN),
            Self::MonoC => Some(Kind::MonoC),
            Self::Oracle => Some(Kind::Oracle),
        }
    }
}

/// Rules made ready for a method.
#[derive(Debug)]
pub(crate) struct Evaluators<'a> {
    rule_set: &'a RuleSet,
    calibration: &'a Calibration,
    source: Source<'a>,
    /// Concepts that are taken as given, shown or not.
    given: Vec<(usize, bool)>,
    /// What concepts add to z, where some are given and the source looks at z.
    effects: Option<&'a Effects>,
    /// Of rules that are implications: the exact probability of the antecedent.
    antecedents: Exact,
}

/// Where probabilities come from.
#[derive(Debug)]
enum Source<'a> {
    Independent(Calibrated, Independent),
    Exact(Exact),
    Gates(&'a RuleGates),
    Heads(&'a ConceptHeads, Independent),
    Neural(Neural<'a>),
    CrossFitted(&'a CrossFitted),
}

/// Exact counts of some formulas; those whose diagram gets too large have none.
#[derive(Debug)]
pub(super) struct Exact(Vec<Option<Circuit>>);

impl Exact {
    pub(super) fn compile(rule_set: &RuleSet, formulas: &[Option<Edge>]) -> Self {
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
    pub(super) fn evaluate(&self, probabilities: &Probabilities<'_>) -> ByRule {
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

/// A probability for each rule and row, `[rule][row]`; `None` where it cannot be told.
pub(super) type ByRule = Vec<Vec<Option<f64>>>;

/// Probabilities of all rules, one rule's after the other, by rule.
pub(super) fn by_rule(values: &[f64], rows: usize) -> ByRule {
    values.chunks_exact(rows.max(1)).map(|rows| rows.iter().copied().map(Some).collect()).collect()
}

/// What is known of each rule on each sample of a batch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RuleProbabilities {
    /// The probability that the rule holds, `[rule][row]`; `None` where the method cannot tell.
    pub p: ByRule,
    /// The probability of an implication's antecedent, `[rule][row]`; `None` where it cannot be told.
    pub antecedent: ByRule,
    /// Whether the rule is an implication.
    pub(crate) is_implication: Vec<bool>,
}

impl<'a> Evaluators<'a> {
    /// Makes the rules of a model ready for a method.
    ///
    /// # Errors
    /// A method that has to be taught, and was not.
    pub(crate) fn new(engine: &'a Engine, method: Method) -> Result<Self> {
        let Engine { gates, grafts, baselines, model, .. } = engine;
        let (rule_set, baseline) = (&gates.rule_set, baselines.get(&method));
        let roots = rule_set.roots();
        let antecedents: Vec<Option<Edge>> = roots.iter().map(|root| antecedent_of(rule_set, *root)).collect();
        let whole: Vec<Option<Edge>> = roots.iter().copied().map(Some).collect();
        let independent = || Independent::compile(&rule_set.dag, &roots);
        let source = match (method, baseline) {
            (Method::Indep, _) => Source::Independent(Calibrated::Raw, independent()),
            (Method::IndepCal, _) => Source::Independent(Calibrated::Platt, independent()),
            (Method::Wmc, _) => Source::Exact(Exact::compile(rule_set, &whole)),
            (Method::Chimera, _) => Source::Gates(gates),
            (Method::Graft | Method::Neural, _) => match (grafts, method) {
                (Some(grafts), Method::Graft) => Source::Gates(&grafts.gates),
                (Some(grafts), _) => Source::Neural(Neural::new(grafts, rule_set)),
                (None, _) => {
                    let message = format!("the model was trained without grafts, which `{}` needs", method.name());
                    let hint = "train it again with `--grafts`, or use another `--method`";
                    return Err(Error::input(message, Some(hint.to_owned())));
                }
            },
            (_, Some(Baseline::Rules(gates))) => Source::Gates(gates),
            (_, Some(Baseline::Concepts(heads))) => Source::Heads(heads, independent()),
            (_, Some(Baseline::CrossFitted(gates))) => Source::CrossFitted(gates),
            (_, None) => {
                let message = format!("the method `{}` is not part of a model: it has to be taught", method.name());
                let hint = "name the dataset that the model was trained on with `--data`";
                return Err(Error::input(message, Some(hint.to_owned())));
            }
        };
        let calibration = &model.calibration;
        let antecedents = Exact::compile(rule_set, &antecedents);
        Ok(Self { rule_set, calibration, source, given: Vec::new(), effects: None, antecedents })
    }

    /// The same, as if some concepts were given. What is computed from concepts' probabilities takes them as they are given; what
    /// looks at z looks at a graft.
    pub(super) fn supposing(self, given: Vec<(usize, bool)>, effects: Option<&'a Effects>) -> Self {
        let looks_at_z = !matches!(self.source, Source::Independent(..) | Source::Exact(_));
        let effects = effects.filter(|_| looks_at_z && !given.is_empty());
        Self { given, effects, ..self }
    }

    /// The probabilities of all rules on some samples.
    ///
    /// # Shapes
    /// `logits`: rows x concepts, in the order of the leaf bank; `features` has as many rows.
    ///
    /// # Errors
    /// Logits that are not whole rows.
    pub(crate) fn evaluate(&self, features: &impl Features, logits: &[f32], rows: usize) -> Result<RuleProbabilities> {
        let concepts = self.rule_set.dag.vocabulary().len();
        let as_seen = self.columns(Calibrated::Platt, logits, rows)?;
        let given = if self.given.is_empty() { None } else { Some(self.given(as_seen.clone(), rows)) };
        let calibrated = table(given.as_ref().unwrap_or(&as_seen), concepts, rows)?;
        let rules = &self.rule_set.rules;
        let is_implication = rules.iter().map(|rule| antecedent_of(self.rule_set, rule.root).is_some()).collect();
        let [p, antecedent] = match self.effects {
            None => self.rules(features, logits, &calibrated)?,
            Some(effects) => {
                let of_row = |row: usize| -> Vec<f64> { (0..concepts).map(|c| as_seen[c * rows + row]).collect() };
                let z: Vec<f32> =
                    (0..rows).flat_map(|row| effects.supposed(features.of(row), &of_row(row), &self.given)).collect();
                self.rules(&(z.as_slice(), z.len() / rows.max(1)), logits, &calibrated)?
            }
        };
        Ok(RuleProbabilities { p, antecedent, is_implication })
    }

    /// The probability that each rule holds, and that of its antecedent.
    fn rules(&self, features: &impl Features, logits: &[f32], calibrated: &Probabilities<'_>) -> Result<[ByRule; 2]> {
        let (concepts, rows) = (self.rule_set.dag.vocabulary().len(), calibrated.rows());
        let mut antecedent = self.antecedents.evaluate(calibrated);
        let p = match &self.source {
            Source::Independent(Calibrated::Platt, independent) => by_rule(&independent.evaluate(calibrated), rows),
            Source::Independent(method, independent) => {
                let columns = self.given(self.columns(*method, logits, rows)?, rows);
                by_rule(&independent.evaluate(&table(&columns, concepts, rows)?), rows)
            }
            Source::Exact(exact) => exact.evaluate(calibrated),
            Source::Gates(gates) => self.gates(gates, features, calibrated, rows),
            Source::Heads(heads, independent) => {
                let (logits, lost) = heads.logits(features, 0..rows);
                let probabilities = self.given(logits.into_iter().map(sigmoid).collect(), rows);
                let mut p = by_rule(&independent.evaluate(&table(&probabilities, concepts, rows)?), rows);
                let untold = p.iter_mut().enumerate().filter(|(rule, _)| !heads.can_tell(*rule));
                untold.for_each(|(_, p)| p.fill(None));
                p.iter_mut().for_each(|p| lost.iter().for_each(|&row| p[row] = None));
                p
            }
            Source::Neural(neural) => {
                let (heads, lost) = neural.grafts.heads.logits(features, 0..rows);
                let told = self.given(neural.concepts(self.calibration, &heads, logits, rows), rows);
                let gates = self.gates(&neural.grafts.gates, features, calibrated, rows);
                let told = table(&told, concepts, rows)?;
                // What a rule is about is told by what tells the rule.
                neural.take_trusted(&mut antecedent, self.antecedents.evaluate(&told));
                neural.rules(&told, calibrated, &gates, &lost)
            }
            Source::CrossFitted(gates) => {
                let (logits, rules) = (gates.logits(features, rows), self.rule_set.rules.len());
                let of_rule = |rule: usize| {
                    let negated = self.rule_set.rules[rule].root.is_negated();
                    (0..rows).map(|row| told(logits[row * rules + rule], negated)).collect()
                };
                (0..rules).map(of_rule).collect()
            }
        };
        Ok([p, antecedent])
    }

    /// Probabilities of concepts with those that are given.
    fn given(&self, mut probabilities: Vec<f64>, rows: usize) -> Vec<f64> {
        for &(concept, shown) in &self.given {
            probabilities[concept * rows..][..rows].fill(f64::from(u8::from(shown)));
        }
        probabilities
    }

    /// Probabilities of concepts, a concept's side by side.
    fn columns(&self, method: Calibrated, logits: &[f32], rows: usize) -> Result<Vec<f64>> {
        let by_row = self.calibration.probabilities(method, logits)?;
        let concepts = by_row.len() / rows.max(1);
        Ok((0..concepts)
            .flat_map(|concept| (0..rows).map(move |row| (row, concept)))
            .map(|(row, concept)| by_row[row * concepts + concept])
            .collect())
    }

    fn gates(&self, gates: &RuleGates, features: &impl Features, leaves: &Probabilities<'_>, rows: usize) -> ByRule {
        let (logits, count) = (gates.logits(features, 0..rows), gates.len());
        let rules = self.rule_set.rules.iter().zip(&gates.roots);
        rules
            .map(|(rule, root)| {
                let negated = rule.root.is_negated();
                let of_row = |row: usize| match *root {
                    Root::Gate(place) => told(logits[row * count + place], negated),
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

/// The probability of a rule from the logit of its root, in double precision: where gates are sure, single precision would make
/// all samples alike. Features far beyond all that was seen can overflow; that is none.
fn told(logit: f32, negated: bool) -> Option<f64> {
    logit.is_finite().then(|| sigmoid(f64::from(if negated { -logit } else { logit })))
}

fn table(values: &[f64], concepts: usize, rows: usize) -> Result<Probabilities<'_>> {
    Probabilities::new(values, concepts, rows).map_err(|error| Error::input(error.to_string(), None))
}
