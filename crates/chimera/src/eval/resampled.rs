//! Resamples in little memory: of each rule by each method one AUROC a resample, in the mean over seeds; of gated scores, which
//! nobody compares rule by rule, those of the mean over rules alone.

use std::collections::BTreeMap;

use chimera_data::metric::bootstrap::Interval;

use crate::score::method::Method;

/// Resamples of a mean over rules. All of them are means over the same rules: where a resample has no row of one of the kinds, a
/// rule has its value on the rows as they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MeanResamples {
    sums: Vec<f64>,
    value: f64,
    rules: usize,
}

impl MeanResamples {
    /// Adds a rule that tells, with its value on the rows as they are.
    pub(super) fn add(&mut self, again: &[f32], value: f64) {
        self.sums.resize(again.len(), 0.0);
        for (sum, &again) in self.sums.iter_mut().zip(again) {
            *sum += if again.is_nan() { value } else { f64::from(again) };
        }
        (self.value, self.rules) = (self.value + value, self.rules + 1);
    }

    /// The interval of the mean; `None` where no rule tells.
    pub(super) fn interval(&self) -> Option<Interval> {
        Interval::of(&self.sums.iter().map(|sum| (sum / self.rules as f64) as f32).collect::<Vec<f32>>())
    }

    /// The mean on the rows as they are; `None` where no rule tells.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.rules > 0).then(|| self.value / self.rules as f64)
    }

    /// How many rules there are.
    pub(super) fn rules(&self) -> usize {
        self.rules
    }

    fn join(&mut self, other: &Self) {
        self.sums.resize(other.sums.len().max(self.sums.len()), 0.0);
        self.sums.iter_mut().zip(&other.sums).for_each(|(sum, other)| *sum += other);
        (self.value, self.rules) = (self.value + other.value, self.rules + other.rules);
    }
}

/// A mean over seeds that grows with each of them; undefined where one of them is.
#[derive(Clone, Debug, PartialEq)]
struct OverSeeds {
    again: Vec<f32>,
    seeds: usize,
}

/// The resamples of an evaluation.
#[derive(Clone, Debug, Default)]
pub struct Resampled {
    raw: BTreeMap<(Method, usize), OverSeeds>,
    gated: BTreeMap<Method, (MeanResamples, usize)>,
}

impl Resampled {
    /// Takes a rule's resamples at one more seed.
    pub(super) fn add(&mut self, method: Method, rule: usize, again: Vec<f32>) {
        let Some(mean) = self.raw.get_mut(&(method, rule)) else {
            self.raw.insert((method, rule), OverSeeds { again, seeds: 1 });
            return;
        };
        mean.seeds += 1;
        for (mean_so_far, value) in mean.again.iter_mut().zip(again) {
            let so_far = f64::from(*mean_so_far);
            *mean_so_far = (so_far + (f64::from(value) - so_far) / mean.seeds as f64) as f32;
        }
    }

    /// Takes the mean of gated scores over rules at one more seed.
    pub(super) fn add_gated(&mut self, method: Method, means: &MeanResamples) {
        let (all, seeds) = self.gated.entry(method).or_default();
        all.join(means);
        *seeds += 1;
    }

    /// The AUROC of a rule by `1 - p` on each resample, in the mean over seeds; `None` where the rule is undefined.
    #[must_use]
    pub fn of(&self, method: Method, rule: usize) -> Option<&[f32]> {
        self.raw.get(&(method, rule)).map(|mean| mean.again.as_slice())
    }

    /// The mean of gated scores over rules and seeds, and over how many rules it is.
    pub(super) fn gated(&self, method: Method) -> (&MeanResamples, usize) {
        const NONE: &MeanResamples = &MeanResamples { sums: Vec::new(), value: 0.0, rules: 0 };
        self.gated.get(&method).map_or((NONE, 0), |(means, seeds)| (means, means.rules() / seeds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resamples_of_a_mean_are_of_the_same_rules_by_hand() {
        let mut means = MeanResamples::default();
        assert_eq!((means.interval(), means.mean(), means.rules()), (None, None, 0));
        means.add(&[0.5; 4], 0.5);
        // Without its value in the third place, that resample would be 0.5, the mean over the other rule alone.
        means.add(&[1.0, 1.0, f32::NAN, 1.0], 0.75);
        assert_eq!(means.interval(), Some(Interval { low: 0.625, high: 0.75 }));
        assert_eq!((means.mean(), means.rules()), (Some(0.625), 2));
    }

    #[test]
    fn seeds_are_averaged_one_after_the_other() {
        let mut resampled = Resampled::default();
        for seed in [[0.5, 0.25, 1.0, 0.7], [0.75, 0.25, f32::NAN, 0.7], [1.0, 0.25, 1.0, 0.7]] {
            resampled.add(Method::Sem, 3, seed.to_vec());
        }
        let found = resampled.of(Method::Sem, 3).unwrap();
        assert_eq!([found[0], found[1], found[3]], [0.75, 0.25, 0.7]);
        assert!(found[2].is_nan() && resampled.of(Method::Sem, 2).is_none());
        let mut means = MeanResamples::default();
        [0.5, 0.75].into_iter().for_each(|value| means.add(&[value; 2], f64::from(value)));
        resampled.add_gated(Method::Sem, &means);
        resampled.add_gated(Method::Sem, &means);
        let (means, rules) = resampled.gated(Method::Sem);
        assert_eq!((means.mean(), rules), (Some(0.625), 2));
        assert_eq!(means.interval(), Some(Interval { low: 0.625, high: 0.625 }));
    }
}
