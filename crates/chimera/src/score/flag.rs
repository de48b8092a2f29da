//! Which samples are flagged: by one threshold for all rules together, by one for each rule, or by Benjamini and Hochberg over
//! rules. All of them come from normal samples alone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::samples::SampleScores;
use super::threshold::{Conformal, benjamini_hochberg};
use crate::error::Result;

/// What a threshold is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flagging {
    /// The one number of a sample: of normal samples, a share `rate` is flagged.
    #[default]
    Global,
    /// Each rule's own score: of normal samples, each rule flags a share `rate`.
    PerRule,
    /// Rules whose scores are odd together: of the rules that are flagged, a share `rate` at most is flagged wrongly, in the mean
    /// and where rules are independent or depend on each other positively.
    BenjaminiHochberg,
}

impl Flagging {
    /// Every way, by the names of options.
    pub const ALL: [(&'static str, Self); 3] =
        [("global", Self::Global), ("per-rule", Self::PerRule), ("bh", Self::BenjaminiHochberg)];

    /// The name of its option.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, flagging)| *flagging == self).map_or("", |(name, _)| name)
    }
}

/// Thresholds, ready to be asked.
#[derive(Clone, Debug)]
pub struct Thresholds {
    flagging: Flagging,
    rate: f64,
    /// Of the one number of a sample; `None` where normal samples are too few to tell.
    global: Option<f64>,
    /// Of each rule.
    rules: Vec<Option<f64>>,
    /// Scores of normal samples, a rule each.
    normal: Vec<Conformal>,
    /// Thresholds of rules that somebody has set; these rules are judged by them alone.
    set: BTreeMap<usize, f64>,
    rows: usize,
    /// Rules that count.
    counted: usize,
}

/// What is flagged of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Whether the sample is.
    pub sample: bool,
    /// The rules that are, where thresholds are about rules.
    pub rules: Vec<usize>,
}

impl Thresholds {
    /// From scores of normal samples. `set` are thresholds of rules that win over those, `counted` the rules that count.
    ///
    /// # Errors
    /// Scores that are no numbers.
    pub fn new(
        flagging: Flagging,
        rate: f64,
        normal: &[SampleScores],
        counted: &[bool],
        set: BTreeMap<usize, f64>,
    ) -> Result<Self> {
        let scored = normal.iter().filter(|scores| scores.anomaly.is_some()).count();
        let global = Conformal::new(normal.iter().filter_map(|scores| scores.anomaly).collect())?.threshold(rate);
        let of_rule = |(rule, counted): (usize, &bool)| {
            let scores = normal.iter().filter(|_| *counted).filter_map(|scores| scores.s[rule]);
            Conformal::new(scores.collect())
        };
        let normal_rules = counted.iter().enumerate().map(of_rule).collect::<Result<Vec<Conformal>>>()?;
        let rules = normal_rules.iter().map(|scores| scores.threshold(rate)).collect();
        Ok(Self {
            flagging,
            rate,
            global,
            rules,
            normal: normal_rules,
            set,
            rows: scored,
            counted: counted.iter().filter(|counted| **counted).count(),
        })
    }

    /// The threshold of the one number of a sample; `None` where there is none.
    #[must_use]
    pub fn global(&self) -> Option<f64> {
        self.global
    }

    /// The threshold of each rule, those that somebody has set included.
    #[must_use]
    pub fn rules(&self) -> Vec<Option<f64>> {
        self.rules.iter().enumerate().map(|(rule, limit)| self.set.get(&rule).copied().or(*limit)).collect()
    }

    /// Thresholds of rules that somebody has set.
    #[must_use]
    pub fn set(&self) -> &BTreeMap<usize, f64> {
        &self.set
    }

    /// Normal samples that they come from.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many normal samples it takes before anything can be flagged; for Benjamini and Hochberg, before all rules together
    /// can be.
    #[must_use]
    pub fn rows_needed(&self) -> usize {
        (1.0 / self.rate - 1.0 - 1e-9).ceil() as usize
    }

    /// How many it takes before a single rule can be flagged: for Benjamini and Hochberg, more.
    #[must_use]
    pub fn rows_needed_for_one(&self) -> usize {
        match self.flagging {
            Flagging::Global | Flagging::PerRule => self.rows_needed(),
            Flagging::BenjaminiHochberg => (self.counted.max(1) as f64 / self.rate - 1.0 - 1e-9).ceil() as usize,
        }
    }

    /// For each rule the share of normal samples, the sample counted among them, that break it as badly; `None` where there is
    /// no score, or no normal sample to compare with.
    #[must_use]
    pub fn normal_shares(&self, scores: &SampleScores) -> Vec<Option<f64>> {
        let share = |(normal, score): (&Conformal, &Option<f64>)| {
            score.filter(|_| !normal.is_empty()).map(|score| normal.p_value(score))
        };
        self.normal.iter().zip(&scores.s).map(share).collect()
    }

    /// Which of a sample is flagged.
    #[must_use]
    pub fn flags(&self, scores: &SampleScores) -> Flags {
        let above = |rule: usize, limit: Option<f64>| scores.s[rule].zip(limit).is_some_and(|(s, limit)| s > limit);
        let set = self.set.iter().filter(|(rule, limit)| above(**rule, Some(**limit))).map(|(rule, _)| *rule);
        let mut rules: Vec<usize> = match self.flagging {
            Flagging::Global => set.collect(),
            Flagging::PerRule => {
                let limits = self.rules();
                (0..limits.len()).filter(|&rule| above(rule, limits[rule])).collect()
            }
            Flagging::BenjaminiHochberg => {
                let told: Vec<usize> = (0..self.normal.len())
                    .filter(|&rule| scores.s[rule].is_some() && !self.normal[rule].is_empty())
                    .filter(|rule| !self.set.contains_key(rule))
                    .collect();
                let p_value = |&rule: &usize| self.normal[rule].p_value(scores.s[rule].unwrap_or_default());
                let chosen = benjamini_hochberg(&told.iter().map(p_value).collect::<Vec<f64>>(), self.rate);
                told.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(rule, _)| *rule).chain(set).collect()
            }
        };
        rules.sort_unstable();
        rules.dedup();
        let global = self.flagging == Flagging::Global
            && scores.anomaly.zip(self.global).is_some_and(|(anomaly, limit)| anomaly > limit);
        Flags { sample: global || !rules.is_empty(), rules }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn scores(anomaly: f64, s: [f64; 2]) -> SampleScores {
        SampleScores { anomaly: Some(anomaly), reason: None, p: s.map(|s| Some(1.0 - s)).into(), s: s.map(Some).into() }
    }

    #[test]
    fn each_way_flags_what_it_says() {
        // The first rule is up to .99 on normal samples, the second up to .099; the anomaly is the larger one.
        let normal: Vec<SampleScores> =
            (1..=99).map(|at| scores(f64::from(at) / 100.0, [f64::from(at) / 100.0, f64::from(at) / 1000.0])).collect();
        let ask = |flagging, rate, set: Vec<(usize, f64)>, s: [f64; 2]| {
            let set = set.into_iter().collect();
            let thresholds = Thresholds::new(flagging, rate, &normal, &[true, true], set).unwrap();
            let flags = thresholds.flags(&scores(s[0].max(s[1]), s));
            (flags.sample, flags.rules)
        };
        // .5 is odd for the second rule alone, and not for a sample as a whole.
        assert_eq!(ask(Flagging::Global, 0.05, vec![], [0.1, 0.5]), (false, vec![]));
        assert_eq!(ask(Flagging::Global, 0.05, vec![], [0.96, 0.0]), (true, vec![]));
        assert_eq!(ask(Flagging::Global, 0.05, vec![(1, 0.4)], [0.1, 0.5]), (true, vec![1]));
        assert_eq!(ask(Flagging::PerRule, 0.05, vec![], [0.1, 0.5]), (true, vec![1]));
        assert_eq!(ask(Flagging::PerRule, 0.05, vec![], [0.96, 0.096]), (true, vec![0, 1]));
        // What somebody has set wins, upwards too.
        assert_eq!(ask(Flagging::PerRule, 0.05, vec![(1, 0.6)], [0.1, 0.5]), (false, vec![]));
        // p-values .01 and .9 of two rules at 2 %: the first step is .01. At 1 % it is .005, and nothing passes.
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.02, vec![], [0.1, 0.5]), (true, vec![1]));
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.01, vec![], [0.1, 0.5]), (false, vec![]));
        // A rule that has a threshold of its own is judged by that.
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.02, vec![(1, 0.6)], [0.1, 0.5]), (false, vec![]));
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.02, vec![(1, 0.01)], [0.1, 0.02]), (true, vec![1]));
        let of = |flagging| Thresholds::new(flagging, 0.01, &normal, &[true, true], BTreeMap::new()).unwrap();
        let needed = |flagging| (of(flagging).rows_needed(), of(flagging).rows_needed_for_one());
        assert_eq!([Flagging::Global, Flagging::BenjaminiHochberg].map(needed), [(99, 99), (99, 199)]);
        // A rule that does not count is never flagged.
        let one = Thresholds::new(Flagging::PerRule, 0.05, &normal, &[true, false], BTreeMap::new()).unwrap();
        assert_eq!(one.flags(&scores(0.5, [0.1, 0.5])), Flags::default());
    }
}
