//! What is drawn of a rule: how scores of normal and violating samples are spread, and the curve of false and true alarms.

use chimera_data::metric::ranking::Ranking;

use crate::score::method::Method;

/// Bars of a histogram, over scores from 0 to 1.
pub(super) const BARS: usize = 25;

/// A curve has about so many points: more cannot be seen.
const POINTS: usize = 60;

/// A rule by a method.
#[derive(Clone, Debug, PartialEq)]
pub struct RulePlot {
    /// The rule, by number.
    pub rule: usize,
    /// The method.
    pub method: Method,
    /// Samples on which it holds, by score.
    pub normal: [u32; BARS],
    /// Samples that break it, by score.
    pub violating: [u32; BARS],
    /// Shares of false and of true alarms; empty where that is undefined.
    pub curve: Vec<(f64, f64)>,
}

impl RulePlot {
    /// Counts scores by whether they break the rule.
    pub(super) fn of(
        (rule, method): (usize, Method),
        scores: &[Option<f64>],
        broken: &[Option<bool>],
        ranking: &Ranking,
    ) -> Self {
        let (mut normal, mut violating) = ([0; BARS], [0; BARS]);
        for (score, broken) in scores.iter().zip(broken) {
            if let (Some(score), Some(broken)) = (score, broken) {
                let bars = if *broken { &mut violating } else { &mut normal };
                bars[((score * BARS as f64) as usize).min(BARS - 1)] += 1;
            }
        }
        Self { rule, method, normal, violating, curve: thinned(&ranking.roc()) }
    }
}

/// Points of a curve that are apart enough to be seen, both ends among them.
fn thinned(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (at, &point) in curve.iter().enumerate() {
        let is_end = at == 0 || at + 1 == curve.len();
        let is_apart = |last: &(f64, f64)| (point.0 - last.0) + (point.1 - last.1) >= 2.0 / POINTS as f64;
        if is_end || kept.last().is_none_or(is_apart) {
            kept.push(point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_counted_and_curves_keep_their_ends() {
        let scores: Vec<Option<f64>> = vec![Some(0.0), Some(1.0), Some(0.5), None, Some(0.51)];
        let broken = vec![Some(false), Some(true), Some(true), Some(true), None];
        let ranking = Ranking::of_doubles(&scores, &broken).unwrap();
        let plot = RulePlot::of((0, Method::Indep), &scores, &broken, &ranking);
        assert_eq!((plot.normal[0], plot.violating[BARS - 1], plot.violating[12]), (1, 1, 1));
        assert_eq!(plot.normal.iter().chain(&plot.violating).sum::<u32>(), 3);
        let long: Vec<(f64, f64)> = (0..=1000).map(|at| (f64::from(at) / 1000.0, f64::from(at) / 1000.0)).collect();
        let short = thinned(&long);
        assert!((40..=POINTS + 2).contains(&short.len()), "{}", short.len());
        assert_eq!((short[0], short[short.len() - 1]), ((0.0, 0.0), (1.0, 1.0)));
    }
}
