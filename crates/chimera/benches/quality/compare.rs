//! How well methods tell which samples break a rule, and whether one does it better than another: AUROC, and a paired
//! bootstrap that draws the same test rows for all methods.

use std::num::NonZeroUsize;

use chimera_data::metric::MacroMean;
use chimera_data::metric::bootstrap::{Draws, Interval, RESAMPLES, difference_of, mean_of};
use chimera_data::metric::ranking::Ranking;

use super::run::Scored;

/// A rule that fewer test rows break, or fewer fulfil, says too little.
const FEWEST: usize = 10;

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
    let draws = Draws::of_rows(scored.rules[0].broken.len(), seed);
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let of_method = |(name, scores): &(String, Vec<Option<Vec<f64>>>)| {
        let ranking = |rule: usize| {
            let scores: Vec<Option<f64>> = scores[rule].as_ref()?.iter().copied().map(Some).collect();
            let broken: Vec<Option<bool>> = scored.rules[rule].broken.iter().copied().map(Some).collect();
            rules[rule].is_defined.then(|| Ranking::of_doubles(&scores, &broken).expect("numbers"))
        };
        let rankings: Vec<Option<Ranking>> = (0..rules.len()).map(ranking).collect();
        let told: Vec<&Ranking> = rankings.iter().flatten().collect();
        let mut again = draws.aurocs(&told, RESAMPLES, threads).expect("resamples").into_iter();
        let aurocs = rankings.iter().map(|ranking| {
            let again = ranking.as_ref().and_then(|_| again.next());
            Some(Resampled { auroc: ranking.as_ref()?.metrics().auroc?, again: again? })
        });
        MeasuredMethod { name: name.clone(), aurocs: aurocs.collect() }
    };
    let methods = scored.methods.iter().map(of_method).collect();
    Measured { world, setting, seed, rules, methods, seconds: scored.seconds, concepts: scored.concepts }
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
    let mean = MacroMean::of(pairs.iter().map(|(one, other)| Some(one.auroc - other.auroc))).mean?;
    let again: Vec<Vec<f32>> = pairs.iter().map(|(one, other)| difference_of(&one.again, &other.again)).collect();
    let Interval { low, high } = Interval::of(&mean_of(&again.iter().map(Vec::as_slice).collect::<Vec<_>>()))?;
    Some(Difference { mean, low, high })
}

/// Which share of the way from one method to another a third one goes.
pub(crate) fn share(datasets: &[&Measured], method: &str, (from, to): (&str, &str)) -> Option<f64> {
    let (from, to) = (mean(datasets, from)?, mean(datasets, to)?);
    let way = to - from;
    (way > NO_DISTANCE).then_some((mean(datasets, method)? - from) / way)
}
