//! The one way from samples to scores: a model with everything that a way of scoring needs.

use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::parallel::in_parallel;
use chimera_leaf::encode::EncodedRows;
use chimera_logic::attributes::RuleSeverity;
use chimera_logic::truth::Program;

use super::aggregate::{Aggregation, RuleScore};
use super::engine::{Engine, Scoring, check_vocabulary};
use super::flag::{FlagParams, Flagging, HIGHEST, Thresholds};
use super::learned::{Learned, Supervised};
use super::method::{Evaluators, Method};
use super::samples::{Encodings, RowsOf, SampleScores, Window};
use super::violation::violation;
use crate::baseline::{FittedOn, Violations};
use crate::gate::calibration_rows::{Half, Normal};

/// Samples that are scored at a time: what one thread holds.
pub(super) const BLOCK: usize = 1024;

/// So many calibration rows tell which rules can be scored at all.
const PROBED: usize = 64;

/// A model with everything that a way of scoring needs.
#[derive(Debug)]
pub struct Ready<'a> {
    engine: &'a Engine,
    evaluators: Evaluators<'a>,
    aggregator: Aggregator,
    scoring: Scoring,
    /// Which rules count.
    counted: Vec<bool>,
    /// Which of them count for the one number of a sample: all but those with thresholds of their own.
    joint: Vec<bool>,
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

impl<'a> Ready<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        scoring: Scoring,
        violations: Option<(&Dataset, &EncodedRows)>,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let ready = Self::begin(engine, scoring)?;
        Self { decides: ready.told(threads)?, ..ready }.fitted(violations, threads)
    }

    /// Everything but what samples of the calibration split tell.
    fn begin(engine: &'a Engine, scoring: Scoring) -> Result<Self> {
        let evaluators = Evaluators::new(engine, scoring.method)?;
        let least = scoring.least_severity.unwrap_or(RuleSeverity::Low);
        let counted: Vec<bool> = engine.severities().map(|severity| severity >= least).collect();
        if !counted.contains(&true) {
            let message = format!("expected rules that matter at least `{least}`, got none");
            return Err(Error::input(message, Some("`severity` is an attribute of rules".to_owned())));
        }
        Ok(Self {
            engine,
            evaluators,
            aggregator: Aggregator::Formula,
            scoring,
            joint: counted.clone(),
            counted,
            decides: Vec::new(),
            fitted_on: None,
        })
    }

    /// The same with another aggregation, of samples as they are. Which rules can be scored is known by now.
    ///
    /// # Errors
    /// As [`Engine::ready`].
    pub(crate) fn with(
        &self,
        aggregation: Aggregation,
        violations: Option<(&Dataset, &EncodedRows)>,
        threads: NonZeroUsize,
    ) -> Result<Self> {
        let other = Self::begin(self.engine, Scoring { aggregation, ..self.scoring })?;
        Self { decides: self.decides.clone(), ..other }.fitted(violations, threads)
    }

    /// Fits the aggregation to what it learns from.
    fn fitted(mut self, violations: Option<(&Dataset, &EncodedRows)>, threads: NonZeroUsize) -> Result<Self> {
        match self.scoring.aggregation {
            Aggregation::Learned => {
                let normal = self.all(&self.normal(Half::Fit), threads)?;
                self.aggregator = Aggregator::Learned(Learned::fit(&normal)?);
            }
            Aggregation::LearnedSupervised => {
                let (dataset, encoded) = violations.ok_or_else(|| {
                    let message = "`learned-supervised` learns from samples that break rules, and a model has none";
                    let hint = "name the dataset that the model was trained on with `--data`";
                    Error::input(message.to_owned(), Some(hint.to_owned()))
                })?;
                if self.scoring.method == Method::Oracle {
                    let message =
                        "`learned-supervised` would be fitted to what the oracle says of rows that it has learned from";
                    return Err(Error::input(message.to_owned(), Some("another `--agg` or `--method`".to_owned())));
                }
                let (supervised, fitted_on) = self.supervised(dataset, encoded, threads)?;
                self.aggregator = Aggregator::Supervised(supervised);
                self.fitted_on = Some(fitted_on);
            }
            _ => {}
        }
        Ok(self)
    }

    /// The model.
    #[must_use]
    pub fn engine(&self) -> &'a Engine {
        self.engine
    }

    /// Which rules count.
    #[must_use]
    pub fn counted(&self) -> &[bool] {
        &self.counted
    }

    /// Which rules are judged: those that count and have a score on some calibration row.
    #[must_use]
    pub fn decides(&self) -> &[bool] {
        &self.decides
    }

    /// The samples that break rules that the aggregation was fitted to; `None` where it was not.
    #[must_use]
    pub fn fitted_on(&self) -> Option<FittedOn> {
        self.fitted_on
    }

    /// The same, as if some concepts were given, shown or not: for samples that are scored from now on. Thresholds stay those of
    /// samples as they are.
    ///
    /// # Errors
    /// A method that looks at z, of a model that nothing tells what concepts add to it.
    pub fn supposing(self, given: Vec<(usize, bool)>) -> Result<Self> {
        self.engine.can_suppose(self.scoring.method, &given)?;
        Ok(Self { evaluators: self.evaluators.supposing(given, self.engine.effects.as_ref()), ..self })
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
                let (anomaly, reason) = self.aggregated((&p, &s), samples.z(first + row));
                SampleScores { anomaly, reason, p, s }
            })
            .collect())
    }

    /// The one number of a sample, and the rule that decides it, from what is known of its rules.
    fn aggregated(&self, (p, s): (&[Option<f64>], &[Option<f64>]), z: &[f32]) -> (Option<f64>, Option<usize>) {
        let rules = &self.engine.gates.rule_set.rules;
        let scored: Vec<RuleScore> = (0..rules.len())
            .filter(|&rule| self.joint[rule])
            .filter_map(|rule| {
                let weight = rules[rule].attributes.weight.unwrap_or(1.0);
                Some(RuleScore { rule, p: p[rule]?, s: s[rule]?, weight })
            })
            .collect();
        let most = |by: &dyn Fn(&RuleScore) -> f64| {
            scored.iter().max_by(|one, other| by(one).total_cmp(&by(other))).map(|score| score.rule)
        };
        match &self.aggregator {
            Aggregator::Formula => {
                let reason = match self.scoring.aggregation {
                    Aggregation::Min | Aggregation::Geo => most(&|score| 1.0 - score.p),
                    _ => most(&|score| score.s),
                };
                (self.scoring.aggregation.of(&scored), reason)
            }
            Aggregator::Learned(learned) => learned.of(&scored).unzip(),
            Aggregator::Supervised(supervised) => (supervised.of(&scored, z), most(&|score| score.s)),
        }
    }

    /// The one number of samples that were scored in the same way but for the aggregation: their rules' scores are the same.
    pub(crate) fn anomalies<E: Encodings>(&self, samples: &E, scores: &[SampleScores]) -> Vec<Option<f64>> {
        let of = |(row, scores): (usize, &SampleScores)| self.aggregated((&scores.p, &scores.s), samples.z(row)).0;
        scores.iter().enumerate().map(of).collect()
    }

    /// The highest number that a sample can have.
    fn highest(&self) -> f64 {
        match &self.aggregator {
            Aggregator::Formula | Aggregator::Supervised(_) => HIGHEST,
            Aggregator::Learned(learned) => {
                let worst = |rule| RuleScore { rule, p: 0.0, s: HIGHEST, weight: 1.0 };
                let rules: Vec<RuleScore> = (0..self.joint.len()).filter(|&rule| self.joint[rule]).map(worst).collect();
                learned.of(&rules).map_or(HIGHEST, |(highest, _)| highest)
            }
        }
    }

    /// Calibration rows on which every rule that counts and can be scored is known to hold.
    #[must_use]
    pub fn normal(&self, half: Half) -> Normal {
        self.engine.rows.normal(&self.engine.gates.rule_set, &self.decides, half)
    }

    /// Which rules count and can be scored on some calibration row; all that count where there are none.
    fn told(&self, threads: NonZeroUsize) -> Result<Vec<bool>> {
        let scores = self.all(&self.engine.rows.some(PROBED), threads)?;
        let told = |rule: usize| scores.is_empty() || scores.iter().any(|scores| scores.s[rule].is_some());
        Ok((0..self.counted.len()).map(|rule| self.counted[rule] && told(rule)).collect())
    }

    /// Thresholds from normal samples, and the same without the rules that have thresholds of their own in the one number of a
    /// sample, where that is what samples are flagged by.
    ///
    /// # Errors
    /// As [`Engine::ready`]; scores that are no numbers.
    pub fn judged_by(
        mut self,
        params: &FlagParams,
        violations: Option<(&Dataset, &EncodedRows)>,
        threads: NonZeroUsize,
    ) -> Result<(Self, Thresholds)> {
        if params.flagging == Flagging::Global && !params.set.is_empty() {
            params.set.keys().for_each(|rule| self.joint[*rule] = false);
            if self.joint.contains(&true) {
                self = self.fitted(violations, threads)?;
            }
        }
        let normal = self.all(&self.normal(Half::Thresholds), threads)?;
        let thresholds = Thresholds::new(params, &normal, &self.decides, self.highest())?;
        Ok((self, thresholds))
    }

    fn supervised(
        &self,
        dataset: &Dataset,
        encoded: &EncodedRows,
        threads: NonZeroUsize,
    ) -> Result<(Supervised, FittedOn)> {
        let rule_set = &self.engine.gates.rule_set;
        check_vocabulary(rule_set, &dataset.table().concepts)?;
        let violations = Violations::of(dataset, encoded)?;
        let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(&dataset.table().labels);
        let breaks = |row: usize| {
            let rules = || (0..rule_set.rules.len()).filter(|&rule| self.joint[rule]);
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
        Ok((Supervised::fit(&parts, &self.joint, violations.fold_of)?, violations.fitted_on))
    }
}
