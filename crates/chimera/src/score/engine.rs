//! The one way from a model and samples to scores.

use std::num::NonZeroUsize;
use std::path::Path;

use burn::tensor::Device;
use chimera_gate::cone::Features;
use serde::Serialize;

use super::aggregate::{Aggregation, RuleScore};
use super::method::{Evaluators, Method};
use super::nominal::Nominal;
use super::threshold::Conformal;
use super::violation::violation;
use crate::error::{Error, Result};
use crate::gate::rules::{GATES, RuleGates};
use crate::leaf::encode::EncodedRows;
use crate::model::Model;
use crate::parallel::in_parallel;

/// Samples that are scored at a time: what one thread holds.
const BLOCK: usize = 1024;

/// A model ready to score.
#[derive(Debug)]
pub struct Engine {
    /// The model.
    pub model: Model,
    /// Its rules and their gates.
    pub gates: RuleGates,
    nominal: Nominal,
}

/// What decides a score beside the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scoring {
    /// Where rules' probabilities come from.
    pub method: Method,
    /// How rules become one number.
    pub aggregation: Aggregation,
    /// From which probability of an antecedent on a violation counts, for rules that say nothing about it.
    pub tau: f64,
}

impl Default for Scoring {
    fn default() -> Self {
        Self { method: Method::default(), aggregation: Aggregation::default(), tau: 0.0 }
    }
}

/// The scores of a sample.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleScores {
    /// One number for the sample; `None` where no rule can be scored.
    pub anomaly: Option<f64>,
    /// For each rule the probability that it holds; `None` where the method cannot tell.
    pub p: Vec<Option<f64>>,
    /// For each rule how badly it is broken, gated.
    pub s: Vec<Option<f64>>,
}

impl SampleScores {
    /// The rules that are broken most, by number, the worst first.
    #[must_use]
    pub fn top(&self, count: usize) -> Vec<usize> {
        let mut rules: Vec<usize> = (0..self.s.len()).filter(|&rule| self.s[rule].is_some()).collect();
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

impl Encodings for Nominal {
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
        let Some(section) = &model.manifest.gates else {
            let message = format!("expected a model with rules, got `{}` without any", folder.display());
            return Err(Error::input(message, Some("teach it some with `chimera add`".to_owned())));
        };
        let features = model.manifest.bank.encoder.features();
        let gates = RuleGates::open(folder, section, &model.manifest.bank.concepts, features)?;
        let nominal = Nominal::read(&folder.join(GATES).join(&section.nominal))?;
        let (width, concepts) = (features * nominal.rows, model.manifest.bank.concepts.len() * nominal.rows);
        if nominal.z.len() != width || nominal.logits.len() != concepts {
            let message = format!("expected normal samples of the model in `{}`, got others", section.nominal);
            return Err(Error::input(message, Some("train again".to_owned())));
        }
        Ok(Self { model, gates, nominal })
    }

    /// Names of the rules, in order.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.gates.rule_set.rules.iter().map(|rule| rule.name.as_str())
    }

    /// Scores samples and hands them over in their order, a block at a time.
    ///
    /// # Errors
    /// What `take` refuses.
    pub fn score<E: Encodings>(
        &self,
        samples: &E,
        scoring: Scoring,
        threads: NonZeroUsize,
        take: &mut dyn FnMut(usize, SampleScores) -> Result<()>,
    ) -> Result<()> {
        let evaluators = Evaluators::new(&self.gates, &self.model.calibration, scoring.method);
        let at_a_time = BLOCK * threads.get();
        for start in (0..samples.rows()).step_by(at_a_time) {
            let count = (samples.rows() - start).min(at_a_time);
            let blocks = in_parallel(threads, count.div_ceil(BLOCK), |block| {
                let first = start + block * BLOCK;
                self.block(&evaluators, samples, first, (start + count - first).min(BLOCK), scoring)
            })?;
            for (row, scores) in blocks.into_iter().flatten().enumerate() {
                take(start + row, scores)?;
            }
        }
        Ok(())
    }

    fn block<E: Encodings>(
        &self,
        evaluators: &Evaluators<'_>,
        samples: &E,
        first: usize,
        rows: usize,
        scoring: Scoring,
    ) -> Result<Vec<SampleScores>> {
        let logits: Vec<f32> = (first..first + rows).flat_map(|row| samples.logits(row)).copied().collect();
        let found = evaluators.evaluate(&Window(samples, first), &logits, rows)?;
        let rules = &self.gates.rule_set.rules;
        Ok((0..rows)
            .map(|row| {
                let p: Vec<Option<f64>> = found.p.iter().map(|p| p[row]).collect();
                let s: Vec<Option<f64>> = (0..rules.len())
                    .map(|rule| {
                        let tau = rules[rule].attributes.tau.unwrap_or(scoring.tau);
                        // An antecedent that cannot be told leaves the violation open, too.
                        match (found.is_implication[rule], found.antecedent[rule][row]) {
                            (true, None) => None,
                            (_, antecedent) => p[rule].map(|p| violation(p, antecedent, tau)),
                        }
                    })
                    .collect();
                let scored: Vec<RuleScore> = (0..rules.len())
                    .filter_map(|rule| {
                        let weight = rules[rule].attributes.weight.unwrap_or(1.0);
                        Some(RuleScore { p: p[rule]?, s: s[rule]?, weight })
                    })
                    .collect();
                SampleScores { anomaly: scoring.aggregation.of(&scored), p, s }
            })
            .collect())
    }

    /// The scores of normal samples.
    ///
    /// # Errors
    /// Scores that are no numbers.
    pub fn normal(&self, scoring: Scoring, threads: NonZeroUsize) -> Result<Conformal> {
        let mut all = Vec::new();
        self.score(&self.nominal, scoring, threads, &mut |_, scores| {
            all.extend(scores.anomaly);
            Ok(())
        })?;
        Conformal::new(all)
    }

    /// How many normal samples the model keeps.
    #[must_use]
    pub fn normal_rows(&self) -> usize {
        self.nominal.rows
    }
}
