//! The one way from a model and samples to scores.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use burn::tensor::Device;
use chimera_gate::cone::Features;
use chimera_logic::attributes::RuleSeverity;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;
use serde::Serialize;

use super::aggregate::{Aggregation, RuleScore};
use super::calibration_rows::{CalibrationRows, Half, Normal};
use super::flag::{Flagging, Thresholds};
use super::learned::{Learned, Supervised};
use super::method::{Evaluators, Method};
use super::violation::violation;
use crate::baseline::{self, Baseline, FittedOn, Teaching, Violations};
use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::gate::rules::{GATES, GateSection, Root, RuleGates};
use crate::gate::stage::{GateEvent, Material, Place};
use crate::leaf::encode::EncodedRows;
use crate::model::Model;
use crate::parallel::in_parallel;

/// Samples that are scored at a time: what one thread holds.
const BLOCK: usize = 1024;

/// So many calibration rows tell which rules can be scored at all.
const PROBED: usize = 64;

/// A model ready to score.
#[derive(Debug)]
pub struct Engine {
    /// The model.
    pub model: Model,
    /// Its rules and their gates.
    pub gates: RuleGates,
    rows: CalibrationRows,
    /// What was taught beside the model.
    baselines: BTreeMap<Method, Baseline>,
}

/// What decides a score beside the model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scoring {
    /// Where rules' probabilities come from.
    pub method: Method,
    /// How rules become one number.
    pub aggregation: Aggregation,
    /// From which probability of an antecedent on a violation counts, for rules that say nothing about it.
    pub tau: f64,
    /// Rules that matter less than this do not count for the one number of a sample; those that say nothing are in the middle.
    pub least_severity: Option<RuleSeverity>,
}

/// The scores of a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleScores {
    /// One number for the sample; `None` where no rule can be scored.
    pub anomaly: Option<f64>,
    /// The rule that decides it, by number, or weighs most in it.
    #[serde(skip)]
    pub reason: Option<usize>,
    /// For each rule the probability that it holds; `None` where the method cannot tell.
    pub p: Vec<Option<f64>>,
    /// For each rule how badly it is broken, gated.
    pub s: Vec<Option<f64>>,
}

impl SampleScores {
    /// The rules that are broken most of those that count, by number, the worst first.
    #[must_use]
    pub fn top(&self, count: usize, counted: &[bool]) -> Vec<usize> {
        let mut rules: Vec<usize> = (0..self.s.len()).filter(|&rule| counted[rule] && self.s[rule].is_some()).collect();
        let score = |rule: usize| self.s[rule].unwrap_or_default();
        rules.sort_by(|&one, &other| score(other).total_cmp(&score(one)).then(one.cmp(&other)));
        rules.truncate(count);
        rules
    }
}

/// Samples by z and logits.
pub trait Encodings: Sync {
    /// How many there are.
    fn rows(&self) -> usize;
    /// z of a sample.
    fn z(&self, row: usize) -> &[f32];
    /// Logits of a sample.
    fn logits(&self, row: usize) -> &[f32];
}

/// z of a window of samples.
struct Window<'a, E>(&'a E, usize);

impl<E: Encodings> Features for Window<'_, E> {
    fn of(&self, row: usize) -> &[f32] {
        self.0.z(self.1 + row)
    }
}

impl Encodings for Normal {
    fn rows(&self) -> usize {
        self.rows
    }

    fn z(&self, row: usize) -> &[f32] {
        let width = self.z.len() / self.rows;
        &self.z[row * width..][..width]
    }

    fn logits(&self, row: usize) -> &[f32] {
        let width = self.logits.len() / self.rows;
        &self.logits[row * width..][..width]
    }
}

/// Some rows of a dataset that are encoded.
#[derive(Debug)]
pub struct RowsOf<'a> {
    /// The dataset's encodings.
    pub encoded: &'a EncodedRows,
    /// Numbers of rows that have a place there.
    pub numbers: &'a [usize],
}

impl Encodings for RowsOf<'_> {
    fn rows(&self) -> usize {
        self.numbers.len()
    }

    fn z(&self, row: usize) -> &[f32] {
        self.encoded.z(self.numbers[row]).unwrap_or_default()
    }

    fn logits(&self, row: usize) -> &[f32] {
        self.encoded.logits_of(self.numbers[row]).unwrap_or_default()
    }
}

impl Engine {
    /// Opens a model that has rules.
    ///
    /// # Errors
    /// As [`Model::open`] and [`RuleGates::open`], and a model without rules.
    pub fn open(folder: &Path, device: &Device) -> Result<Self> {
        let model = Model::open(folder, device)?;
        let section = section_of(&model, folder)?;
        let features = model.manifest.bank.encoder.features();
        let concepts = &model.manifest.bank.concepts;
        let gates = RuleGates::open(folder, section, concepts, features)?;
        let rows = CalibrationRows::read(&folder.join(GATES).join(&section.calibration))?;
        if !rows.fits(features, concepts.len()) {
            let message = format!("expected calibration rows of the model in `{}`, got others", section.calibration);
            return Err(Error::input(message, Some("train again".to_owned())));
        }
        Ok(Self { model, gates, rows, baselines: BTreeMap::new() })
    }

    /// The same model with other rules, over its concepts. For the method `chimera` every part of them must have a gate in the
    /// model or in the cache; other methods need none. What was taught for the rules before is forgotten.
    ///
    /// # Errors
    /// As [`RuleGates::of_rules`].
    pub fn with_rules(self, folder: &Path, rule_set: RuleSet, method: Method, cache: Option<&Path>) -> Result<Self> {
        let section = section_of(&self.model, folder)?;
        let gates = if method == Method::Chimera {
            RuleGates::of_rules(folder, &self.model.manifest, section, rule_set, cache)?
        } else {
            let roots = vec![Root::Missing; rule_set.rules.len()];
            RuleGates::of_roots(rule_set, &[], roots, self.model.manifest.bank.encoder.features())?
        };
        Ok(Self { gates, baselines: BTreeMap::new(), ..self })
    }

    /// Names of the rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.gates.rule_set.rules.iter().map(|rule| rule.name.as_str())
    }

    /// How much a violation of each rule matters; in the middle where a rule says nothing about it.
    pub fn severities(&self) -> impl Iterator<Item = RuleSeverity> {
        self.gates.rule_set.rules.iter().map(|rule| rule.attributes.severity.unwrap_or(RuleSeverity::Medium))
    }

    /// Teaches a method that models do not have, from the data that the model was trained on.
    ///
    /// # Errors
    /// As [`baseline::teach`]. There is nothing to teach for other methods.
    pub fn teach(
        &mut self,
        method: Method,
        (dataset, encoded): (&Dataset, &EncodedRows),
        place: Place<'_>,
        events: &(dyn Fn(GateEvent<'_>) + Sync),
    ) -> Result<Option<Teaching>> {
        let (Some(kind), Some(section)) = (method.baseline(), &self.model.manifest.gates) else { return Ok(None) };
        let rows = self.model.manifest.config.share(encoded.present(&dataset.train()?));
        let material = Material { dataset, rows: &rows, bank: &self.model.bank, encoded };
        let (baseline, teaching) =
            baseline::teach(kind, material, &self.gates.rule_set, &section.config, place, events)?;
        self.baselines.insert(method, baseline);
        Ok(Some(teaching))
    }

    /// Makes everything ready that does not depend on samples. `violations` has the samples that a supervised aggregation
    /// learns from.
    ///
    /// # Errors
    /// A method or an aggregation that needs what is not there.
    pub fn ready(
        &self,
        scoring: Scoring,
        violations: Option<(&Dataset, &EncodedRows)>,
        threads: NonZeroUsize,
    ) -> Result<Ready<'_>> {
        let baseline = self.baselines.get(&scoring.method);
        let evaluators = Evaluators::new(&self.gates, &self.model.calibration, scoring.method, baseline)?;
        let least = scoring.least_severity.unwrap_or(RuleSeverity::Low);
        let counted: Vec<bool> = self.severities().map(|severity| severity >= least).collect();
        if !counted.contains(&true) {
            let message = format!("expected rules that matter at least `{least}`, got none");
            return Err(Error::input(message, Some("`severity` is an attribute of rules".to_owned())));
        }
        let mut ready = Ready {
            engine: self,
            evaluators,
            aggregator: Aggregator::Formula,
            scoring,
            counted,
            decides: Vec::new(),
            fitted_on: None,
        };
        ready.decides = ready.told(threads)?;
        match scoring.aggregation {
            Aggregation::Learned => {
                let normal = ready.all(&ready.normal(Half::Fit), threads)?;
                ready.aggregator = Aggregator::Learned(Learned::fit(&normal)?);
            }
            Aggregation::LearnedSupervised => {
                let (dataset, encoded) = violations.ok_or_else(|| {
                    let message = "`learned-supervised` learns from samples that break rules, and a model has none";
                    let hint = "name the dataset that the model was trained on with `--data`";
                    Error::input(message.to_owned(), Some(hint.to_owned()))
                })?;
                if scoring.method == Method::Oracle {
                    let message =
                        "`learned-supervised` would be fitted to what the oracle says of rows that it has learned from";
                    return Err(Error::input(message.to_owned(), Some("another `--agg` or `--method`".to_owned())));
                }
                let (supervised, fitted_on) = ready.supervised(dataset, encoded, threads)?;
                ready.aggregator = Aggregator::Supervised(supervised);
                ready.fitted_on = Some(fitted_on);
            }
            _ => {}
        }
        Ok(ready)
    }

    /// Names of rules that hold on no calibration row: where there is one, no row is normal.
    #[must_use]
    pub fn never_hold(&self) -> Vec<&str> {
        let rule_set = &self.gates.rule_set;
        self.rows.never_hold(rule_set).into_iter().map(|rule| rule_set.rules[rule].name.as_str()).collect()
    }
}

fn section_of<'a>(model: &'a Model, folder: &Path) -> Result<&'a GateSection> {
    model.manifest.gates.as_ref().ok_or_else(|| {
        let message = format!("expected a model with rules, got `{}` without any", folder.display());
        Error::input(message, Some("teach it some with `chimera add`".to_owned()))
    })
}

/// A model with everything that a way of scoring needs.
#[derive(Debug)]
pub struct Ready<'a> {
    engine: &'a Engine,
    evaluators: Evaluators<'a>,
    aggregator: Aggregator,
    scoring: Scoring,
    /// Which rules count for the one number of a sample.
    counted: Vec<bool>,
    /// Which rules decide whether a calibration row is normal: those that count and can be scored.
    decides: Vec<bool>,
    fitted_on: Option<FittedOn>,
}

#[derive(Debug)]
enum Aggregator {
    Formula,
    Learned(Learned),
    Supervised(Supervised),
}

impl Ready<'_> {
    /// The model.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        self.engine
    }

    /// Which rules count for the one number of a sample.
    #[must_use]
    pub fn counted(&self) -> &[bool] {
        &self.counted
    }

    /// The samples that break rules that the aggregation was fitted to; `None` where it was not.
    #[must_use]
    pub fn fitted_on(&self) -> Option<FittedOn> {
        self.fitted_on
    }

    /// Scores samples and hands them over in their order, a block at a time.
    ///
    /// # Errors
    /// What `take` refuses.
    pub fn score<E: Encodings>(
        &self,
        samples: &E,
        threads: NonZeroUsize,
        take: &mut dyn FnMut(usize, SampleScores) -> Result<()>,
    ) -> Result<()> {
        let at_a_time = BLOCK * threads.get();
        for start in (0..samples.rows()).step_by(at_a_time) {
            let count = (samples.rows() - start).min(at_a_time);
            // A few samples are spread over the threads, too.
            let block = BLOCK.min(count.div_ceil(threads.get())).max(1);
            let blocks = in_parallel(threads, count.div_ceil(block), |number| {
                let first = start + number * block;
                self.block(samples, first, (start + count - first).min(block))
            })?;
            for (row, scores) in blocks.into_iter().flatten().enumerate() {
                take(start + row, scores)?;
            }
        }
        Ok(())
    }

    fn all<E: Encodings>(&self, samples: &E, threads: NonZeroUsize) -> Result<Vec<SampleScores>> {
        let mut all = Vec::with_capacity(samples.rows());
        self.score(samples, threads, &mut |_, scores| {
            all.push(scores);
            Ok(())
        })?;
        Ok(all)
    }

    fn block<E: Encodings>(&self, samples: &E, first: usize, rows: usize) -> Result<Vec<SampleScores>> {
        let logits: Vec<f32> = (first..first + rows).flat_map(|row| samples.logits(row)).copied().collect();
        let found = self.evaluators.evaluate(&Window(samples, first), &logits, rows)?;
        let rules = &self.engine.gates.rule_set.rules;
        Ok((0..rows)
            .map(|row| {
                let p: Vec<Option<f64>> = found.p.iter().map(|p| p[row]).collect();
                let s: Vec<Option<f64>> = (0..rules.len())
                    .map(|rule| {
                        let tau = rules[rule].attributes.tau.unwrap_or(self.scoring.tau);
                        // An antecedent that cannot be told leaves the violation open, too.
                        match (found.is_implication[rule], found.antecedent[rule][row]) {
                            (true, None) => None,
                            (_, antecedent) => p[rule].map(|p| violation(p, antecedent, tau)),
                        }
                    })
                    .collect();
                let scored: Vec<RuleScore> = (0..rules.len())
                    .filter(|&rule| self.counted[rule])
                    .filter_map(|rule| {
                        let weight = rules[rule].attributes.weight.unwrap_or(1.0);
                        Some(RuleScore { rule, p: p[rule]?, s: s[rule]?, weight })
                    })
                    .collect();
                let most = |by: &dyn Fn(&RuleScore) -> f64| {
                    scored.iter().max_by(|one, other| by(one).total_cmp(&by(other))).map(|score| score.rule)
                };
                let (anomaly, reason) = match &self.aggregator {
                    Aggregator::Formula => {
                        let reason = match self.scoring.aggregation {
                            Aggregation::Min | Aggregation::Geo => most(&|score| 1.0 - score.p),
                            _ => most(&|score| score.s),
                        };
                        (self.scoring.aggregation.of(&scored), reason)
                    }
                    Aggregator::Learned(learned) => learned.of(&scored).unzip(),
                    Aggregator::Supervised(supervised) => {
                        (supervised.of(&scored, samples.z(first + row)), most(&|score| score.s))
                    }
                };
                SampleScores { anomaly, reason, p, s }
            })
            .collect())
    }

    /// Calibration rows on which every rule that counts and can be scored is known to hold.
    #[must_use]
    pub fn normal(&self, half: Half) -> Normal {
        self.engine.rows.normal(&self.engine.gates.rule_set, &self.decides, half)
    }

    /// Which rules count and can be scored on some calibration row; all that count where there are none.
    fn told(&self, threads: NonZeroUsize) -> Result<Vec<bool>> {
        let scores = self.all(&self.engine.rows.some(PROBED), threads)?;
        let told = |rule: usize| scores.is_empty() || scores.iter().any(|scores| scores.p[rule].is_some());
        Ok((0..self.counted.len()).map(|rule| self.counted[rule] && told(rule)).collect())
    }

    /// Thresholds for a rate of false alarms, from normal samples; `set` are those that somebody has set for rules.
    ///
    /// # Errors
    /// Scores that are no numbers.
    pub fn thresholds(
        &self,
        flagging: Flagging,
        rate: f64,
        set: BTreeMap<usize, f64>,
        threads: NonZeroUsize,
    ) -> Result<Thresholds> {
        let normal = self.all(&self.normal(Half::Thresholds), threads)?;
        Thresholds::new(flagging, rate, &normal, &self.counted, set)
    }

    fn supervised(
        &self,
        dataset: &Dataset,
        encoded: &EncodedRows,
        threads: NonZeroUsize,
    ) -> Result<(Supervised, FittedOn)> {
        let violations = Violations::of(dataset, encoded)?;
        let rule_set = &self.engine.gates.rule_set;
        let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(&dataset.table().labels);
        let breaks = |row: usize| {
            let rules = || (0..rule_set.rules.len()).filter(|&rule| self.counted[rule]);
            let broken = rules().any(|rule| truth.get(row, rule) == Some(false));
            (broken || rules().all(|rule| truth.get(row, rule) == Some(true))).then_some(broken)
        };
        let scored = violations.folds.iter().map(|fold| {
            let numbers: Vec<usize> = fold.numbers.iter().copied().filter(|&row| breaks(row).is_some()).collect();
            let scores = self.all(&RowsOf { encoded, numbers: &numbers }, threads)?;
            let broken = numbers.into_iter().filter_map(breaks).collect::<Vec<bool>>();
            Ok(scores.into_iter().zip(broken).collect::<Vec<_>>())
        });
        let scored = scored.collect::<Result<Vec<_>>>()?;
        let parts: Vec<Vec<(&SampleScores, bool)>> =
            scored.iter().map(|part| part.iter().map(|(scores, broken)| (scores, *broken)).collect()).collect();
        Ok((Supervised::fit(&parts, &self.counted, violations.fold_of)?, violations.fitted_on))
    }
}
