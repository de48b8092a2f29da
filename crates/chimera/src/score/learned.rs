//! Aggregations that are fitted: to normal samples alone, or (marked as such) to samples that break rules.

use chimera_data::error::{Error, Result};
use chimera_gate::linear::Factor;

use super::aggregate::RuleScore;
use super::samples::SampleScores;
use crate::baseline::FoldOf;

/// Fewer normal samples than this say nothing about how a rule's score is spread.
const FEWEST: usize = 20;

/// No rule is so sure of normal samples that less than this, in logits, counts as a spread.
const LEAST_SPREAD: f64 = 0.5;

/// Scores below this are all alike: that a rule is surer than sure on normal samples makes nothing else odd.
const LEAST_SCORE: f64 = 1e-3;

/// The upper decile of a normal distribution, in deviations.
const UPPER_DECILE: f64 = 1.281_551_565_544_600_4;

/// How far a rule's score is from what it is on normal samples, in spreads of these; the furthest rule counts. A rule that is
/// a little broken everywhere no longer hides one that never is.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// For each rule the median and the spread of its scores, as logits.
    rules: Vec<Option<(f64, f64)>>,
}

impl Learned {
    /// Fits to normal samples.
    ///
    /// # Errors
    /// Too few of them.
    pub fn fit(normal: &[SampleScores]) -> Result<Self> {
        if normal.len() < FEWEST {
            let message = format!("`learned` needs {FEWEST} normal calibration rows, got {}", normal.len());
            return Err(Error::input(message, Some("another `--agg`, or more calibration rows".to_owned())));
        }
        let rules = normal.first().map_or(0, |scores| scores.s.len());
        let of_rule = |rule: usize| {
            let mut logits: Vec<f64> = normal.iter().filter_map(|scores| scores.s[rule]).map(logit).collect();
            logits.sort_by(f64::total_cmp);
            let at = |share: f64| logits[((logits.len() - 1) as f64 * share) as usize];
            (logits.len() >= FEWEST).then(|| (at(0.5), ((at(0.9) - at(0.5)) / UPPER_DECILE).max(LEAST_SPREAD)))
        };
        Ok(Self { rules: (0..rules).map(of_rule).collect() })
    }

    /// The score of a sample, from 0 to 1, one half being what is usual; and the rule that decides it.
    #[must_use]
    pub fn of(&self, rules: &[RuleScore]) -> Option<(f64, usize)> {
        let away = rules.iter().filter_map(|score| {
            let (median, spread) = self.rules[score.rule]?;
            Some(((logit(score.s) - median) / spread, score.rule))
        });
        let (furthest, rule) = away.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
        // Never flat: of two that are far away, the further one stays ahead.
        Some((0.5 + 0.5 * furthest / (1.0 + furthest.abs()), rule))
    }
}

/// A score of 1 is far out, but not infinitely so.
fn logit(s: f64) -> f64 {
    let s = s.clamp(LEAST_SCORE, 1.0 - 1e-9);
    (s / (1.0 - s)).ln()
}

/// A logistic regression over the scores of all rules, for each part of the samples that it was fitted without.
#[derive(Clone, Debug)]
pub(crate) struct Supervised {
    lines: Vec<Line>,
    fold_of: FoldOf,
}

impl Supervised {
    /// Fits a line for each part: `parts` has the scores of samples, and whether they break a rule; only rules that count are
    /// seen.
    ///
    /// # Errors
    /// A part in which all samples break a rule, or none does.
    pub(crate) fn fit(parts: &[Vec<(&SampleScores, bool)>], counted: &[bool], fold_of: FoldOf) -> Result<Self> {
        let lines = parts.iter().map(|samples| Line::fit(samples, counted)).collect::<Option<Vec<Line>>>();
        let lines = lines.ok_or_else(|| {
            let message = "`learned-supervised` needs samples that break rules and samples that do not".to_owned();
            Error::input(message, Some("`learned` needs neither".to_owned()))
        })?;
        Ok(Self { lines, fold_of })
    }

    /// The score of a sample: how likely it breaks a rule.
    #[must_use]
    pub(crate) fn of(&self, rules: &[RuleScore], z: &[f32]) -> Option<f64> {
        if rules.is_empty() {
            return None;
        }
        // What was learned from is not scored.
        let line = &self.lines[self.fold_of.of(z)?];
        let sum: f64 = rules.iter().map(|score| line.weights[score.rule] * (score.s - line.means[score.rule])).sum();
        Some(1.0 / (1.0 + (-(line.offset + sum)).exp()))
    }
}

/// The mean of each rule's score, what one unit of it is worth, and what is worth nothing.
#[derive(Clone, Debug)]
struct Line {
    means: Vec<f64>,
    weights: Vec<f64>,
    offset: f64,
}

impl Line {
    /// Newton's method with a ridge of 1 on scores brought to one scale; scores that are unknown count as the mean.
    fn fit(samples: &[(&SampleScores, bool)], counted: &[bool]) -> Option<Self> {
        let broken = samples.iter().filter(|(_, broken)| *broken).count();
        if broken == 0 || broken == samples.len() {
            return None;
        }
        let rules = samples[0].0.s.len();
        let known = |rule: usize| samples.iter().filter_map(move |(scores, _)| scores.s[rule]);
        let mean = |rule: usize| known(rule).sum::<f64>() / (known(rule).count().max(1) as f64);
        let means: Vec<f64> = (0..rules).map(mean).collect();
        let spread = |rule: usize| {
            let count = known(rule).count().max(1) as f64;
            let deviation = (known(rule).map(|s| (s - means[rule]).powi(2)).sum::<f64>() / count).sqrt();
            if counted[rule] && deviation > 1e-9 { 1.0 / deviation } else { 0.0 }
        };
        let scales: Vec<f64> = (0..rules).map(spread).collect();
        let row = |scores: &SampleScores| -> Vec<f64> {
            let scaled = |rule: usize| scores.s[rule].map_or(0.0, |s| (s - means[rule]) * scales[rule]);
            (0..rules).map(scaled).chain([1.0]).collect()
        };
        let rows: Vec<(Vec<f64>, f64)> =
            samples.iter().map(|(scores, broken)| (row(scores), f64::from(u8::from(*broken)))).collect();
        let size = rules + 1;
        let loss = |weights: &[f64]| -> f64 {
            let of = |(x, y): &(Vec<f64>, f64)| {
                let sum: f64 = x.iter().zip(weights).map(|(x, w)| x * w).sum();
                sum.max(0.0) - sum * y + (-sum.abs()).exp().ln_1p()
            };
            rows.iter().map(of).sum::<f64>() + weights[..rules].iter().map(|w| 0.5 * w * w).sum::<f64>()
        };
        let mut weights = vec![0.0; size];
        for _ in 0..50 {
            let (mut matrix, mut gradient) = (vec![0.0; size * size], vec![0.0; size]);
            for (x, y) in &rows {
                let sum: f64 = x.iter().zip(&weights).map(|(x, w)| x * w).sum();
                let p = 1.0 / (1.0 + (-sum).exp());
                for one in 0..size {
                    gradient[one] += (y - p) * x[one];
                    for other in 0..=one {
                        matrix[one * size + other] += p * (1.0 - p) * x[one] * x[other];
                    }
                }
            }
            for rule in 0..rules {
                gradient[rule] -= weights[rule];
                matrix[rule * size + rule] += 1.0;
            }
            matrix[size * size - 1] += 1e-9;
            let mut step = gradient;
            Factor::new(matrix, size)?.solve(&mut step);
            let (before, mut share) = (loss(&weights), 1.0);
            let moved = |share: f64| -> Vec<f64> { weights.iter().zip(&step).map(|(w, s)| w + share * s).collect() };
            // A step that is too long is taken by halves.
            while share > 1e-6 && loss(&moved(share)) > before {
                share *= 0.5;
            }
            let next = moved(share);
            let gained = before - loss(&next);
            weights = next;
            if gained < 1e-9 {
                break;
            }
        }
        let offset = weights[rules];
        weights.truncate(rules);
        weights.iter_mut().zip(&scales).for_each(|(weight, scale)| *weight *= scale);
        Some(Self { means, weights, offset })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn scores(s: &[f64]) -> SampleScores {
        SampleScores {
            anomaly: None,
            reason: None,
            p: s.iter().map(|s| Some(1.0 - s)).collect(),
            s: s.iter().copied().map(Some).collect(),
        }
    }

    fn rules(s: &[f64]) -> Vec<RuleScore> {
        s.iter().enumerate().map(|(rule, &s)| RuleScore { rule, p: 1.0 - s, s, weight: 1.0 }).collect()
    }

    #[test]
    fn a_rule_that_is_always_a_little_broken_hides_no_other() {
        let mut random = fastrand::Rng::with_seed(2);
        // The first rule is anything up to .9 on normal samples, the second never above .01.
        let normal: Vec<SampleScores> = (0..200).map(|_| scores(&[0.9 * random.f64(), 0.01 * random.f64()])).collect();
        let learned = Learned::fit(&normal).unwrap();
        let of = |s: &[f64]| learned.of(&rules(s)).unwrap().0;
        assert!(of(&[0.2, 0.5]) > of(&[0.89, 0.005]), "by `max` it would be the other way round");
        assert!(of(&[0.2, 0.9]) > of(&[0.2, 0.5]) && of(&[0.2, 1.0]) < 1.0);
        assert!((0.0..1.0).contains(&of(&[0.0, 0.0])));
        assert_eq!(learned.of(&rules(&[0.2, 0.5])).unwrap().1, 1);
        // A rule that is nothing at all on normal samples does not make a trifle an anomaly.
        let sure: Vec<SampleScores> = (0..200).map(|_| scores(&[0.1 * random.f64(), 0.0])).collect();
        let learned = Learned::fit(&sure).unwrap();
        let of = |s: &[f64]| learned.of(&rules(s)).unwrap().0;
        assert!(of(&[0.99, 0.0]) > of(&[0.05, 1e-4]) && of(&[0.05, 0.5]) > of(&[0.1, 0.0]));
        assert!(Learned::fit(&normal[..10]).unwrap_err().to_string().contains("needs 20 normal"));
        assert_eq!(learned.of(&[]), None);
    }

    /// The loss is convex, so it is smallest exactly where its gradient, written down here anew, is zero.
    #[test]
    fn the_supervised_line_is_where_the_gradient_vanishes() {
        let x = [[0.1, 0.9], [0.2, 0.3], [0.6, 0.8], [0.9, 0.1], [0.7, 0.4], [0.3, 0.6]];
        let y = [false, false, true, true, true, false];
        let samples: Vec<SampleScores> = x.iter().map(|s| scores(s)).collect();
        let pairs: Vec<(&SampleScores, bool)> = samples.iter().zip(y).collect();
        let line = Line::fit(&pairs, &[true, true]).unwrap();
        let p = |x: &[f64; 2]| {
            let sum: f64 = (0..2).map(|rule| line.weights[rule] * (x[rule] - line.means[rule])).sum();
            1.0 / (1.0 + (-(line.offset + sum)).exp())
        };
        let residual: Vec<f64> = x.iter().zip(y).map(|(x, y)| f64::from(u8::from(y)) - p(x)).collect();
        assert!(residual.iter().sum::<f64>().abs() < 1e-6, "{residual:?}");
        for rule in 0..2 {
            let mean = x.iter().map(|x| x[rule]).sum::<f64>() / 6.0;
            let deviation = (x.iter().map(|x| (x[rule] - mean).powi(2)).sum::<f64>() / 6.0).sqrt();
            let pull: f64 = x.iter().zip(&residual).map(|(x, r)| (x[rule] - mean) / deviation * r).sum();
            assert!((pull - line.weights[rule] * deviation).abs() < 1e-5, "{pull} {line:?}");
        }
        assert!(p(&[0.9, 0.5]) > p(&[0.1, 0.5]));
        assert!(Line::fit(&pairs[..2], &[true, true]).is_none());
        assert_eq!(Line::fit(&pairs, &[true, false]).unwrap().weights[1], 0.0);
    }
}
