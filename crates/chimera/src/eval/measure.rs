//! From scores to numbers: ranks against truth for every rule and for samples as a whole, and the same again on resamples.

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use super::plot::RulePlot;
use super::score::Scored;
use super::truth::RuleTruths;
use super::{AnomalyCell, Cell, ScoreKind};
use crate::error::Result;
use crate::metric::bootstrap::{Draws, Interval, RESAMPLES};
use crate::metric::ranking::Ranking;
use crate::metric::reliability::{BINS, Reliability};
use crate::score::method::Method;

/// What a method's scores come to at one seed.
pub(super) struct Measured {
    pub(super) cells: Vec<Cell>,
    pub(super) anomalies: Vec<AnomalyCell>,
    pub(super) plots: Vec<RulePlot>,
    pub(super) reliability: Reliability,
    /// How long rows were drawn again.
    pub(super) resampling: Duration,
}

/// Measures scores. Rules without an antecedent have the same score, raw and gated, and are ranked once.
pub(super) fn measure(
    (method, seed): (Method, u64),
    scored: &Scored,
    truths: &RuleTruths,
    draws: &Draws,
    threads: NonZeroUsize,
) -> Result<Measured> {
    let rules = scored.raw.len();
    let any_broken: Vec<Option<bool>> = (0..truths.rows()).map(|row| truths.any_broken(row)).collect();
    let rank = |scores: &[Vec<Option<f64>>], rule: usize| Ranking::of_doubles(&scores[rule], &truths.broken[rule]);
    let mut rankings = (0..rules).map(|rule| rank(&scored.raw, rule)).collect::<Result<Vec<_>>>()?;
    let plots = (0..rules)
        .map(|rule| RulePlot::of((rule, method), &scored.raw[rule], &truths.broken[rule], &rankings[rule]))
        .collect();
    // Where each rule's gated scores are ranked.
    let mut gated_at = Vec::with_capacity(rules);
    for (rule, (raw, gated)) in scored.raw.iter().zip(&scored.gated).enumerate() {
        let is_same = raw == gated;
        gated_at.push(if is_same { rule } else { rankings.len() });
        if !is_same {
            rankings.push(rank(&scored.gated, rule)?);
        }
    }
    let samples_at = rankings.len();
    for (_, scores) in &scored.anomalies {
        rankings.push(Ranking::of_doubles(scores, &any_broken)?);
    }
    let began = Instant::now();
    let again = draws.aurocs(&rankings.iter().collect::<Vec<_>>(), RESAMPLES, threads)?;
    let resampling = began.elapsed();
    // One sample of a kind has no spread, whatever is drawn.
    let interval = |at: usize| {
        let tells = rankings[at].positives() > 1 && rankings[at].negatives() > 1;
        if tells { Interval::of(&again[at]) } else { None }
    };
    let cell = |rule: usize, score: ScoreKind, at: usize| Cell {
        rule,
        method,
        score,
        seed,
        metrics: rankings[at].metrics(),
        interval: interval(at),
        again: again[at].clone(),
    };
    let raw = (0..rules).map(|rule| cell(rule, ScoreKind::Raw, rule));
    let gated = (0..rules).map(|rule| cell(rule, ScoreKind::Gated, gated_at[rule]));
    let anomalies = scored.anomalies.iter().enumerate().map(|(number, (aggregation, _))| {
        let at = samples_at + number;
        let (metrics, interval, again) = (rankings[at].metrics(), interval(at), again[at].clone());
        AnomalyCell { method, aggregation: *aggregation, seed, metrics, interval, again }
    });
    let told = (0..rules).flat_map(|rule| scored.raw[rule].iter().zip(&truths.broken[rule]));
    let probable = told.filter_map(|(score, broken)| Some((score.as_ref()?.clamp(0.0, 1.0) as f32, (*broken)?)));
    Ok(Measured {
        cells: raw.chain(gated).collect(),
        anomalies: anomalies.collect(),
        plots,
        reliability: Reliability::equal_width(probable, BINS)?,
        resampling,
    })
}
