//! How well methods tell which samples break a rule, and whether one does it better than another: AUROC, and a paired
//! bootstrap that draws the same test rows for all methods.

use std::ops::RangeInclusive;

use chimera::metric::MacroMean;
use chimera::metric::ranking::Ranking;
use rayon::prelude::*;

use super::run::Scored;

/// A rule that fewer test rows break, or fewer fulfil, says too little.
const FEWEST: usize = 10;

const RESAMPLES: usize = 1000;

/// Of the resamples, in order, what lies between these is the interval of 95 %.
const INTERVAL: RangeInclusive<usize> = RESAMPLES * 25 / 1000..=RESAMPLES * 975 / 1000 - 1;

/// Where methods differ by less, there is no way to go.
const NO_DISTANCE: f64 = 0.002;

/// What came of a dataset.
pub(crate) struct Measured {
    pub(crate) world: &'static str,
    pub(crate) setting: &'static str,
    pub(crate) seed: u64,
    pub(crate) rules: Vec<MeasuredRule>,
    /// Methods by name, in the order of tables.
    pub(crate) methods: Vec<MeasuredMethod>,
    pub(crate) seconds: Vec<(String, f64)>,
    /// The mean AUROC of concepts.
    pub(crate) concepts: Option<f64>,
}

/// A rule on the test rows.
pub(crate) struct MeasuredRule {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) violations: usize,
    /// Whether enough rows break it and enough do not.
    pub(crate) is_defined: bool,
}

/// A method on the test rows.
pub(crate) struct MeasuredMethod {
    pub(crate) name: String,
    /// For each rule that is defined and that the method can tell.
    pub(crate) aurocs: Vec<Option<Resampled>>,
}

/// An AUROC, on the rows as they are and on resamples; NaN where a resample has no violation, or nothing else.
pub(crate) struct Resampled {
    pub(crate) auroc: f64,
    again: Vec<f32>,
}

/// By how much one method is better than another.
#[derive(Clone, Copy)]
pub(crate) struct Difference {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Measures all methods on a dataset.
pub(crate) fn measure((world, setting, seed): (&'static str, &'static str, u64), scored: Scored) -> Measured {
    let rules: Vec<MeasuredRule> = scored
        .rules
        .iter()
        .map(|rule| {
            let violations = rule.broken.iter().filter(|broken| **broken).count();
            let is_defined = (FEWEST..=rule.broken.len() - FEWEST).contains(&violations);
            MeasuredRule { name: rule.name.clone(), family: rule.family.clone(), violations, is_defined }
        })
        .collect();
    let draws = draws(scored.rules[0].broken.len(), seed);
    let of_rule = |rule: usize, scores: &Option<Vec<f64>>| {
        let scores = scores.as_ref().filter(|_| rules[rule].is_defined)?;
        let ranking = Ranking::new(&places(scores), &scored.rules[rule].broken).expect("numbers");
        let auroc = ranking.metrics().auroc?;
        let again = |draw: &Vec<u32>| ranking.resampled(draw).expect("a resample").auroc.unwrap_or(f64::NAN) as f32;
        Some(Resampled { auroc, again: draws.iter().map(again).collect() })
    };
    let methods = scored.methods.par_iter().map(|(name, scores)| {
        let aurocs = scores.iter().enumerate().map(|(rule, scores)| of_rule(rule, scores)).collect();
        MeasuredMethod { name: name.clone(), aurocs }
    });
    let methods = methods.collect();
    Measured { world, setting, seed, rules, methods, seconds: scored.seconds, concepts: scored.concepts }
}

/// How often each row is drawn, a resample each.
fn draws(rows: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let draw = || {
        let mut counts = vec![0; rows];
        (0..rows).for_each(|_| counts[random.usize(..rows)] += 1);
        counts
    };
    std::iter::repeat_with(draw).take(RESAMPLES).collect()
}

/// Scores by their places: rankings take single precision, in which probabilities near 0 or 1 would become ties.
fn places(scores: &[f64]) -> Vec<f32> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&one, &other| scores[one].total_cmp(&scores[other]));
    let (mut places, mut place) = (vec![0.0; scores.len()], 0.0);
    for (at, &row) in order.iter().enumerate() {
        if at > 0 && scores[row] > scores[order[at - 1]] {
            place += 1.0;
        }
        places[row] = place;
    }
    places
}

impl Measured {
    fn method(&self, name: &str) -> Option<&MeasuredMethod> {
        self.methods.iter().find(|method| method.name == name)
    }
}

/// The mean over rules and datasets.
pub(crate) fn mean(datasets: &[&Measured], method: &str) -> Option<f64> {
    let methods = datasets.iter().filter_map(|dataset| dataset.method(method));
    MacroMean::of(methods.flat_map(|method| &method.aurocs).map(|auroc| auroc.as_ref().map(|auroc| auroc.auroc))).mean
}

/// By how much one method is better than another in the mean over rules and datasets, on those that both can tell.
pub(crate) fn difference(datasets: &[&Measured], one: &str, other: &str) -> Option<Difference> {
    let both = datasets.iter().filter_map(|dataset| Some((dataset.method(one)?, dataset.method(other)?)));
    let pairs: Vec<(&Resampled, &Resampled)> = both
        .flat_map(|(one, other)| one.aurocs.iter().zip(&other.aurocs))
        .filter_map(|(one, other)| Some((one.as_ref()?, other.as_ref()?)))
        .collect();
    let mean_of = |difference: &dyn Fn(&Resampled, &Resampled) -> f64| {
        let differences = pairs.iter().map(|(one, other)| difference(one, other));
        MacroMean::of(differences.map(|difference| (!difference.is_nan()).then_some(difference))).mean
    };
    let mean = mean_of(&|one, other| one.auroc - other.auroc)?;
    let again = |at: usize| mean_of(&|one, other| f64::from(one.again[at]) - f64::from(other.again[at]));
    let mut again = (0..RESAMPLES).map(again).collect::<Option<Vec<f64>>>()?;
    again.sort_by(f64::total_cmp);
    Some(Difference { mean, low: again[*INTERVAL.start()], high: again[*INTERVAL.end()] })
}

/// Which share of the way from one method to another a third one goes.
pub(crate) fn share(datasets: &[&Measured], method: &str, (from, to): (&str, &str)) -> Option<f64> {
    let (from, to) = (mean(datasets, from)?, mean(datasets, to)?);
    let way = to - from;
    (way > NO_DISTANCE).then_some((mean(datasets, method)? - from) / way)
}
