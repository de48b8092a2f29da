//! From scores to numbers: ranks against truth for every rule and for samples as a whole, and the same again on resamples.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::time::{Duration, Instant};

use chimera_data::error::Result;
use chimera_data::metric::bootstrap::{Draws, Interval, RESAMPLES};
use chimera_data::metric::ranking::Ranking;
use chimera_data::metric::reliability::{BINS, Reliability};

use super::plot::RulePlot;
use super::resampled::MeanResamples;
use super::score::Scored;
use super::truth::RuleTruths;
use super::{AnomalyCell, Cell};
use crate::score::method::Method;

/// Rules that are ranked and drawn again at once: rankings of all of them would not fit in memory where there are thousands.
const TOGETHER: usize = 64;

/// What a method's scores come to at one seed.
pub(super) struct Measured {
    /// Who was asked, at which seed.
    pub(super) of: (Method, u64),
    /// Each rule by `1 - p`, with its AUROC on every resample.
    pub(super) raw: Vec<(Cell, Vec<f32>)>,
    /// Each rule by gated scores.
    pub(super) gated: Vec<Cell>,
    /// These in the mean over rules.
    pub(super) gated_mean: MeanResamples,
    pub(super) anomalies: Vec<AnomalyCell>,
    pub(super) plots: Vec<RulePlot>,
    pub(super) reliability: Reliability,
    /// How long rows were drawn again.
    pub(super) resampling: Duration,
}

/// Measures scores.
pub(super) fn measure(
    of: (Method, u64),
    scored: &Scored,
    truths: &RuleTruths,
    draws: &Draws,
    threads: NonZeroUsize,
) -> Result<Measured> {
    let rules = scored.raw.len();
    let told = (0..rules).flat_map(|rule| scored.raw[rule].iter().zip(&truths.broken[rule]));
    let probable = told.filter_map(|(score, broken)| Some((score.as_ref()?.clamp(0.0, 1.0) as f32, (*broken)?)));
    let mut measured = Measured {
        of,
        raw: Vec::with_capacity(rules),
        gated: Vec::with_capacity(rules),
        gated_mean: MeanResamples::default(),
        anomalies: Vec::new(),
        plots: Vec::with_capacity(rules),
        reliability: Reliability::equal_width(probable, BINS)?,
        resampling: Duration::ZERO,
    };
    for first in (0..rules).step_by(TOGETHER) {
        measured.rules(first..rules.min(first + TOGETHER), scored, truths, (draws, threads))?;
    }
    let any_broken: Vec<Option<bool>> = (0..truths.rows()).map(|row| truths.any_broken(row)).collect();
    let rankings = scored.anomalies.iter().map(|(_, scores)| Ranking::of_doubles(scores, &any_broken));
    let rankings = rankings.collect::<Result<Vec<_>>>()?;
    let again = measured.draw(&rankings, (draws, threads))?;
    let told = scored.raw.iter().filter(|rule| rule.iter().any(Option::is_some)).count();
    for (((aggregation, scores), ranking), again) in scored.anomalies.iter().zip(&rankings).zip(again) {
        let Cell { seed, metrics, interval, .. } = cell(of.1, ranking, &again, draws);
        measured.anomalies.push(AnomalyCell {
            method: of.0,
            aggregation: *aggregation,
            seed,
            metrics,
            interval,
            again,
            unscored: unscored(scores, &any_broken),
            rules: told,
        });
    }
    Ok(measured)
}

impl Measured {
    /// Measures some rules. Those without an antecedent have the same score, raw and gated, and are ranked once.
    fn rules(
        &mut self,
        rules: Range<usize>,
        scored: &Scored,
        truths: &RuleTruths,
        (draws, threads): (&Draws, NonZeroUsize),
    ) -> Result<()> {
        let (method, seed) = self.of;
        let rank = |scores: &[Vec<Option<f64>>], rule: usize| Ranking::of_doubles(&scores[rule], &truths.broken[rule]);
        let mut rankings = rules.clone().map(|rule| rank(&scored.raw, rule)).collect::<Result<Vec<_>>>()?;
        for (rule, ranking) in rules.clone().zip(&rankings) {
            self.plots.push(RulePlot::of((rule, method), &scored.raw[rule], &truths.broken[rule], ranking));
        }
        // Where each rule's gated scores are ranked.
        let mut gated_at = Vec::with_capacity(rules.len());
        for (at, rule) in rules.clone().enumerate() {
            let is_same = scored.raw[rule] == scored.gated[rule];
            gated_at.push(if is_same { at } else { rankings.len() });
            if !is_same {
                rankings.push(rank(&scored.gated, rule)?);
            }
        }
        let mut again = self.draw(&rankings, (draws, threads))?;
        for at in gated_at {
            let cell = cell(seed, &rankings[at], &again[at], draws);
            if let (Some(auroc), Some(_)) = (cell.metrics.auroc, cell.interval) {
                self.gated_mean.add(&again[at], auroc);
            }
            self.gated.push(cell);
        }
        again.truncate(rules.len());
        for ((rule, ranking), again) in rules.zip(&rankings).zip(again) {
            let unscored = unscored(&scored.raw[rule], &truths.broken[rule]);
            self.raw.push((Cell { unscored, ..cell(seed, ranking, &again, draws) }, again));
        }
        Ok(())
    }

    fn draw(&mut self, rankings: &[Ranking], (draws, threads): (&Draws, NonZeroUsize)) -> Result<Vec<Vec<f32>>> {
        let began = Instant::now();
        let again = draws.aurocs(&rankings.iter().collect::<Vec<_>>(), RESAMPLES, threads)?;
        self.resampling += began.elapsed();
        Ok(again)
    }
}

/// Rows whose truth is known and that have no score, of a rule that has a score on some row.
fn unscored(scores: &[Option<f64>], broken: &[Option<bool>]) -> usize {
    let told = scores.iter().any(Option::is_some);
    let is_lost = |(score, broken): &(&Option<f64>, &Option<bool>)| told && score.is_none() && broken.is_some();
    scores.iter().zip(broken).filter(is_lost).count()
}

fn cell(seed: u64, ranking: &Ranking, again: &[f32], draws: &Draws) -> Cell {
    let interval = if draws.tell(ranking) { Interval::of(again) } else { None };
    Cell { seed, metrics: ranking.metrics(), interval, unscored: 0 }
}
