//! Flags of samples: by one threshold for all rules together, by one for each rule, or by Benjamini and Hochberg over rules. All
//! thresholds come from normal samples alone. Every command that says whether a sample is flagged asks here.

use std::collections::BTreeMap;
use std::fmt;

use chimera_data::error::Result;
use serde::{Deserialize, Serialize};

use super::samples::SampleScores;
use super::threshold::{Conformal, benjamini_hochberg};

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

/// The false-alarm rate where none is asked for.
pub const DEFAULT_RATE: f64 = 0.01;

/// Where normal rows are too few for [`DEFAULT_RATE`] and no rate was asked for, the smallest rate that they can promise is taken up
/// to this one.
pub(crate) const LARGEST_DEFAULT_RATE: f64 = 0.05;

/// The smallest false-alarm rate that so many normal rows can promise, rounded up to two digits.
#[must_use]
pub fn least_rate(rows: usize) -> f64 {
    let rate = 1.0 / (rows as f64 + 1.0);
    let digits = 10_f64.powf(1.0 - rate.log10().floor());
    (rate * digits).ceil() / digits
}

/// The rate that is used: the one that was asked for, or the default as far as so many normal rows can promise it.
fn rate_of(asked: Option<f64>, rows: usize) -> f64 {
    asked.unwrap_or_else(|| {
        let least = least_rate(rows);
        if (DEFAULT_RATE..=LARGEST_DEFAULT_RATE).contains(&least) { least } else { DEFAULT_RATE }
    })
}

/// A way to flag samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlagParams {
    /// What thresholds are about.
    pub flagging: Flagging,
    /// The share of normal samples that may be flagged; `None` for the default.
    pub rate: Option<f64>,
    /// Thresholds that were given for rules, by number. These rules are judged by them alone: they do not count for the one number of
    /// a sample where samples are flagged by that.
    pub set: BTreeMap<usize, f64>,
}

/// The reason why no sample can be judged by a false-alarm rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoPromise {
    /// No calibration row is normal: each breaks a rule, leaves one open, or cannot be scored.
    NoRows,
    /// Fewer normal calibration rows than the rate needs.
    TooFewRows {
        /// Rows.
        rows: usize,
        /// Rows that the rate needs.
        needed: usize,
        /// The rate.
        rate: f64,
    },
}

impl fmt::Display for NoPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRows => {
                f.write_str("the model has no normal calibration row, so no false-alarm rate can be promised")
            }
            Self::TooFewRows { rows, needed, rate } => {
                write!(
                    f,
                    "a false-alarm rate of {rate} needs {needed} normal calibration rows, and the model has {rows}"
                )
            }
        }
    }
}

/// The reason why it is unknown whether one sample is flagged.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown {
    /// No sample can be judged.
    NoPromise(NoPromise),
    /// No rule that counts has a score on the sample.
    NoScore,
    /// The rules have scores, and the way to one number gives none for this sample: it has learned from it, say.
    NoAnomaly,
    /// Some rules have no score on it, by number; others have, and are not beyond their thresholds.
    OpenRules(Vec<usize>),
    /// Rules that have no threshold, by number: too few normal samples have a score for them.
    NoThreshold(Vec<usize>),
    /// Rules that the sample breaks worse than every normal sample, which are too few to flag them, by number.
    TooOdd(Vec<usize>),
}

impl Unknown {
    /// The reason in words; `names` are those of all rules.
    #[must_use]
    pub fn words(&self, names: &[&str]) -> String {
        let listed = |rules: &[usize]| {
            let quoted: Vec<String> = rules.iter().take(NAMED).map(|&rule| format!("`{}`", names[rule])).collect();
            let more = if rules.len() > quoted.len() {
                format!(" and {} more", rules.len() - quoted.len())
            } else {
                String::new()
            };
            quoted.join(", ") + &more
        };
        match self {
            Self::NoPromise(reason) => reason.to_string(),
            Self::NoScore => "no rule has a score".to_owned(),
            Self::NoAnomaly => "the aggregation gives no number for a sample that it has learned from".to_owned(),
            Self::OpenRules(rules) => format!("no score for {}", listed(rules)),
            Self::NoThreshold(rules) => {
                format!("too few normal calibration rows have a score for a threshold of {}", listed(rules))
            }
            Self::TooOdd(rules) => {
                format!(
                    "{} is broken worse than on all normal calibration rows, which are too few to flag it",
                    listed(rules)
                )
            }
        }
    }
}

/// Rules that a reason names.
const NAMED: usize = 5;

/// The highest score that a rule can have.
pub(super) const HIGHEST: f64 = 1.0;

/// Thresholds of one way to flag samples.
#[derive(Clone, Debug)]
pub struct Thresholds {
    flagging: Flagging,
    rate: f64,
    /// Whether somebody asked for the rate.
    is_asked: bool,
    /// Of the anomaly of a sample; `None` where normal samples are too few.
    global: Option<f64>,
    /// Of each rule.
    rules: Vec<Option<f64>>,
    /// Scores of normal samples, a rule each.
    normal: Vec<Conformal>,
    set: BTreeMap<usize, f64>,
    rows: usize,
    /// The highest number that a sample can have.
    highest: f64,
    /// The rules that are judged: those that count and can be scored.
    judged: Vec<bool>,
}

/// The flags of a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flags {
    /// Whether the sample is flagged; `None` where that is unknown.
    pub sample: Option<bool>,
    /// Why that is unknown.
    pub unknown: Option<Unknown>,
    /// The rules that are beyond a threshold of their own.
    pub rules: Vec<usize>,
    /// The rules that a flagged sample is flagged for: those beyond thresholds of their own and, where the sample is flagged as a
    /// whole, the rule that decides its anomaly.
    pub why: Vec<usize>,
}

impl Flags {
    /// Returns true for a sample that is known to be flagged.
    #[must_use]
    pub fn is_flagged(&self) -> bool {
        self.sample == Some(true)
    }
}

impl Thresholds {
    /// From scores of normal samples. `judged` are the rules that count and can be scored; a sample on which one of them has no
    /// score is not known to be normal. `highest` is the highest number that a sample can have.
    ///
    /// # Errors
    /// Scores that are no numbers.
    pub fn new(params: &FlagParams, normal: &[SampleScores], judged: &[bool], highest: f64) -> Result<Self> {
        let anomalies = Conformal::new(normal.iter().filter_map(|scores| scores.anomaly).collect())?;
        let rate = rate_of(params.rate, anomalies.len());
        let of_rule = |(rule, judged): (usize, &bool)| {
            let scores = normal.iter().filter(|_| *judged).filter_map(|scores| scores.s[rule]);
            Conformal::new(scores.collect())
        };
        let normal_rules = judged.iter().enumerate().map(of_rule).collect::<Result<Vec<Conformal>>>()?;
        let rules = normal_rules.iter().enumerate();
        let rules = rules.map(|(rule, scores)| params.set.get(&rule).copied().or_else(|| scores.threshold(rate)));
        Ok(Self {
            flagging: params.flagging,
            rate,
            is_asked: params.rate.is_some(),
            global: anomalies.threshold(rate),
            rules: rules.collect(),
            normal: normal_rules,
            set: params.set.clone(),
            rows: anomalies.len(),
            highest,
            judged: judged.to_vec(),
        })
    }

    /// What thresholds are about.
    #[must_use]
    pub fn flagging(&self) -> Flagging {
        self.flagging
    }

    /// The share of normal samples that may be flagged.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns true where the rate is not the default because normal samples are too few for that.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        !self.is_asked && self.rate > DEFAULT_RATE
    }

    /// The threshold of the anomaly of a sample; `None` where it is not judged by one, or there are too few normal samples.
    #[must_use]
    pub fn global(&self) -> Option<f64> {
        self.global.filter(|_| self.flagging == Flagging::Global)
    }

    /// The threshold of each rule that it is judged by; `None` for rules that are not judged by a threshold of their own.
    #[must_use]
    pub fn rules(&self) -> Vec<Option<f64>> {
        let is_judged = |rule: &usize| self.flagging == Flagging::PerRule || self.set.contains_key(rule);
        self.rules.iter().enumerate().map(|(rule, limit)| limit.filter(|_| is_judged(&rule))).collect()
    }

    /// The threshold of each rule for the rate, however samples are flagged.
    #[must_use]
    pub fn rule_thresholds(&self) -> &[Option<f64>] {
        &self.rules
    }

    /// Thresholds that were given for rules.
    #[must_use]
    pub fn set(&self) -> &BTreeMap<usize, f64> {
        &self.set
    }

    /// Normal samples that thresholds come from.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many normal samples it takes before anything can be flagged; for Benjamini and Hochberg, before all rules together
    /// can be.
    fn rows_needed(&self) -> usize {
        (1.0 / self.rate - 1.0 - 1e-9).ceil() as usize
    }

    /// How many normal samples it takes before a single rule can be flagged: for Benjamini and Hochberg, more.
    #[must_use]
    pub fn rows_needed_for_one(&self) -> usize {
        match self.flagging {
            Flagging::Global | Flagging::PerRule => self.rows_needed(),
            Flagging::BenjaminiHochberg => {
                (self.by_rate().count().max(1) as f64 / self.rate - 1.0 - 1e-9).ceil() as usize
            }
        }
    }

    /// The rules that are judged by the false-alarm rate and not by a threshold that was given.
    fn by_rate(&self) -> impl Iterator<Item = usize> {
        (0..self.judged.len()).filter(|rule| self.judged[*rule] && !self.set.contains_key(rule))
    }

    /// The reason why no sample can be judged by the rate; `None` where samples can be, or where every rule that is judged has a
    /// threshold that was given.
    #[must_use]
    pub fn no_promise(&self) -> Option<NoPromise> {
        if self.by_rate().next().is_none() && !self.set.is_empty() {
            return None;
        }
        let rows_of = |rule: usize| self.normal[rule].len();
        let (can_judge, rows) = match self.flagging {
            Flagging::Global => (self.global.is_some(), self.rows),
            // A rule with a threshold can be flagged, whatever becomes of the others.
            Flagging::PerRule => {
                (self.by_rate().any(|rule| self.rules[rule].is_some()), self.by_rate().map(rows_of).max().unwrap_or(0))
            }
            Flagging::BenjaminiHochberg => {
                let least: Vec<f64> = self.by_rate().map(|rule| self.normal[rule].least_p_value()).collect();
                let can_judge = benjamini_hochberg(&least, self.rate).contains(&true);
                (can_judge, self.by_rate().map(rows_of).min().unwrap_or(0))
            }
        };
        if can_judge {
            return None;
        }
        let too_few = NoPromise::TooFewRows { rows, needed: self.rows_needed(), rate: self.rate };
        Some(if rows == 0 { NoPromise::NoRows } else { too_few })
    }

    /// Rules that are judged by a threshold of their own and have none, since too few normal samples have a score for them.
    #[must_use]
    pub fn without_threshold(&self) -> Vec<usize> {
        let lacks = |rule: &usize| self.flagging == Flagging::PerRule && self.rules[*rule].is_none();
        self.by_rate().filter(lacks).collect()
    }

    /// Rules that are judged by a threshold of their own that no score exceeds.
    #[must_use]
    pub fn saturated(&self) -> Vec<usize> {
        let limits = self.rules().into_iter().enumerate();
        let is_highest = |limit: Option<f64>| limit.is_some_and(|limit| limit >= HIGHEST);
        limits.filter(|(rule, limit)| self.is_judged(*rule) && is_highest(*limit)).map(|(rule, _)| rule).collect()
    }

    /// Returns true where no sample can be flagged, however odd it is: no threshold can be exceeded.
    #[must_use]
    pub fn is_deaf(&self) -> bool {
        let can_exceed = |limit: Option<f64>, highest: f64| limit.is_some_and(|limit| limit < highest);
        let mut limits = self.rules().into_iter().enumerate();
        let by_rule = limits.any(|(rule, limit)| self.is_judged(rule) && can_exceed(limit, HIGHEST));
        let together = match self.flagging {
            Flagging::Global => self.by_rate().next().is_some() && can_exceed(self.global, self.highest),
            Flagging::PerRule => false,
            // Normal samples may have the highest score, too.
            Flagging::BenjaminiHochberg => {
                let oddest: Vec<f64> = self.by_rate().map(|rule| self.normal[rule].p_value(HIGHEST)).collect();
                benjamini_hochberg(&oddest, self.rate).contains(&true)
            }
        };
        !by_rule && !together
    }

    /// Whether a rule is judged at all.
    fn is_judged(&self, rule: usize) -> bool {
        self.judged[rule] || self.set.contains_key(&rule)
    }

    /// For each rule the share of normal samples, the sample counted among them, that break it as badly; `None` where there is
    /// no score, or no normal sample to compare with.
    #[must_use]
    pub(crate) fn normal_shares(&self, scores: &SampleScores) -> Vec<Option<f64>> {
        let share = |(normal, score): (&Conformal, &Option<f64>)| {
            score.filter(|_| !normal.is_empty()).map(|score| normal.p_value(score))
        };
        self.normal.iter().zip(&scores.s).map(share).collect()
    }

    /// The flags of a sample.
    #[must_use]
    pub fn flags(&self, scores: &SampleScores) -> Flags {
        let is_beyond = |(rule, limit): (&usize, &f64)| scores.s[*rule].filter(|score| score > limit).map(|_| *rule);
        let mut rules: Vec<usize> = self.set.iter().filter_map(is_beyond).collect();
        let by_rate: Vec<(usize, f64)> = self.by_rate().filter_map(|rule| Some((rule, scores.s[rule]?))).collect();
        let (mut is_above, mut unknown) = (false, None);
        match self.flagging {
            Flagging::Global => {
                let compared = scores.anomaly.zip(self.global).filter(|_| self.by_rate().next().is_some());
                is_above = compared.is_some_and(|(anomaly, limit)| anomaly > limit);
            }
            Flagging::PerRule => {
                let limits = by_rate.iter().map(|&(rule, score)| (rule, self.rules[rule].map(|limit| score > limit)));
                let (known, without): (Vec<_>, Vec<_>) = limits.partition(|(_, is_beyond)| is_beyond.is_some());
                rules.extend(known.into_iter().filter(|(_, is_beyond)| *is_beyond == Some(true)).map(|(rule, _)| rule));
                let without: Vec<usize> = without.into_iter().map(|(rule, _)| rule).collect();
                unknown = (!without.is_empty()).then_some(Unknown::NoThreshold(without));
            }
            Flagging::BenjaminiHochberg => {
                let chosen = |lowered: bool| {
                    let p_value = |&(rule, score): &(usize, f64)| {
                        let (p, least) = (self.normal[rule].p_value(score), self.normal[rule].least_p_value());
                        if lowered && p <= least { 0.0 } else { p }
                    };
                    let chosen = benjamini_hochberg(&by_rate.iter().map(p_value).collect::<Vec<_>>(), self.rate);
                    by_rate.iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|((rule, _), _)| *rule).collect()
                };
                rules.extend::<Vec<usize>>(chosen(false));
                // What is odder than all normal samples could be as odd as it likes: more of them would tell.
                let odd: Vec<usize> = chosen(true);
                let without = |rule: &usize| self.normal[*rule].is_empty();
                unknown = match odd.iter().copied().filter(without).collect::<Vec<usize>>() {
                    none if none.is_empty() => (!odd.is_empty()).then_some(Unknown::TooOdd(odd)),
                    without => Some(Unknown::NoThreshold(without)),
                };
            }
        }
        rules.sort_unstable();
        let mut why = rules.clone();
        if let Some(reason) = scores.reason.filter(|reason| is_above && !why.contains(reason)) {
            why.push(reason);
            why.sort_unstable();
        }
        if is_above || !rules.is_empty() {
            return Flags { sample: Some(true), unknown: None, rules, why };
        }
        let unscored = self.unscored(scores);
        let judged = (0..self.judged.len()).filter(|&rule| self.is_judged(rule)).count();
        let unknown = if unscored.len() == judged {
            Some(Unknown::NoScore)
        } else if let Some(reason) = self.no_promise() {
            Some(Unknown::NoPromise(reason))
        } else if !unscored.is_empty() {
            Some(Unknown::OpenRules(unscored))
        } else if self.lacks_anomaly(scores) {
            Some(Unknown::NoAnomaly)
        } else {
            unknown
        };
        Flags { sample: unknown.is_none().then_some(false), unknown, rules, why }
    }

    /// Whether a sample that is judged by its one number has none.
    #[must_use]
    pub fn lacks_anomaly(&self, scores: &SampleScores) -> bool {
        self.flagging == Flagging::Global && self.by_rate().next().is_some() && scores.anomaly.is_none()
    }

    /// Rules that are judged and have no score on a sample.
    #[must_use]
    pub fn unscored(&self, scores: &SampleScores) -> Vec<usize> {
        (0..self.judged.len()).filter(|&rule| self.is_judged(rule) && scores.s[rule].is_none()).collect()
    }

    /// Whether a sample is flagged for a rule; `None` where that is unknown.
    #[must_use]
    pub(crate) fn flag_of(&self, rule: usize, scores: &SampleScores, flags: &Flags) -> Option<bool> {
        if flags.why.contains(&rule) {
            return Some(true);
        }
        scores.s[rule]?;
        if !self.is_judged(rule) || self.set.contains_key(&rule) {
            return Some(false);
        }
        let is_below = match self.flagging {
            Flagging::Global => self.global.is_some() && scores.anomaly.is_some(),
            Flagging::PerRule => self.rules[rule].is_some(),
            Flagging::BenjaminiHochberg => {
                // Odder than all normal samples, it might be flagged if there were more of them.
                let normal = &self.normal[rule];
                let is_odd = scores.s[rule].is_some_and(|score| normal.p_value(score) <= normal.least_p_value());
                self.no_promise().is_none() && (!is_odd || normal.len() >= self.rows_needed_for_one())
            }
        };
        is_below.then_some(false)
    }

    /// The rules by number, the worst first: those that the sample is flagged for, then those that the fewest normal samples break
    /// as badly, then the highest score. Rules without a score are last. Scores of different rules are no measure of each other,
    /// shares of normal samples are (`docs/explain.md` has how much more often the broken rule comes first).
    #[must_use]
    pub fn ranking(&self, scores: &SampleScores, flags: &Flags) -> Vec<usize> {
        let shares = self.normal_shares(scores);
        let key = |rule: usize| {
            (
                !flags.why.contains(&rule),
                shares[rule].unwrap_or(f64::INFINITY),
                -scores.s[rule].unwrap_or(f64::NEG_INFINITY),
            )
        };
        let mut rules: Vec<usize> = (0..scores.s.len()).collect();
        rules.sort_by(|&one, &other| {
            let (one, other) = (key(one), key(other));
            one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.total_cmp(&other.2))
        });
        rules
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn scores(anomaly: f64, s: [f64; 2]) -> SampleScores {
        let reason = Some(usize::from(s[1] > s[0]));
        SampleScores { anomaly: Some(anomaly), reason, p: s.map(|s| Some(1.0 - s)).into(), s: s.map(Some).into() }
    }

    /// Normal samples: the first rule is up to .99 on 99 of them, the second up to .099; the anomaly is the larger one.
    fn normal(count: u32) -> Vec<SampleScores> {
        (1..=count)
            .map(f64::from)
            .map(|at| scores(at / f64::from(count + 1), [at / f64::from(count + 1), at / f64::from(count + 1) / 10.0]))
            .collect()
    }

    fn thresholds(flagging: Flagging, rate: Option<f64>, set: &[(usize, f64)], rows: u32) -> Thresholds {
        let params = FlagParams { flagging, rate, set: set.iter().copied().collect() };
        Thresholds::new(&params, &normal(rows), &[true, true], 1.0).unwrap()
    }

    #[test]
    fn each_way_flags_what_it_says() {
        let ask = |flagging, rate, set: &[(usize, f64)], s: [f64; 2]| {
            let flags = thresholds(flagging, Some(rate), set, 99).flags(&scores(s[0].max(s[1]), s));
            (flags.is_flagged(), flags.rules)
        };
        // .5 is odd for the second rule alone, and not for a sample as a whole.
        assert_eq!(ask(Flagging::Global, 0.05, &[], [0.1, 0.5]), (false, vec![]));
        assert_eq!(ask(Flagging::Global, 0.05, &[], [0.96, 0.0]), (true, vec![]));
        assert_eq!(ask(Flagging::Global, 0.05, &[(1, 0.4)], [0.1, 0.5]), (true, vec![1]));
        assert_eq!(ask(Flagging::PerRule, 0.05, &[], [0.1, 0.5]), (true, vec![1]));
        assert_eq!(ask(Flagging::PerRule, 0.05, &[], [0.96, 0.096]), (true, vec![0, 1]));
        // A threshold that was given wins, upwards too.
        assert_eq!(ask(Flagging::PerRule, 0.05, &[(1, 0.6)], [0.1, 0.5]), (false, vec![]));
        // p-values .01 and .9 of two rules at 2 %: the first step is .01. At 1 % it is .005, and nothing passes.
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.02, &[], [0.1, 0.5]), (true, vec![1]));
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.01, &[], [0.1, 0.5]), (false, vec![]));
        // A rule that has a threshold of its own is judged by that.
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.02, &[(1, 0.6)], [0.1, 0.5]), (false, vec![]));
        assert_eq!(ask(Flagging::BenjaminiHochberg, 0.02, &[(1, 0.01)], [0.1, 0.02]), (true, vec![1]));
        let needed = |flagging| thresholds(flagging, Some(0.01), &[], 99).rows_needed_for_one();
        assert_eq!([Flagging::Global, Flagging::BenjaminiHochberg].map(needed), [99, 199]);
    }

    #[test]
    fn rules_that_do_not_count_flag_nothing() {
        let params = FlagParams { flagging: Flagging::PerRule, rate: Some(0.05), set: BTreeMap::new() };
        let one = Thresholds::new(&params, &normal(99), &[true, false], 1.0).unwrap();
        let flags = one.flags(&scores(0.5, [0.1, 0.5]));
        assert_eq!(flags, Flags { sample: Some(false), ..Flags::default() });
    }

    /// Unknown is not false: with 54 normal samples a rate of 1 % cannot be promised.
    #[test]
    fn too_few_normal_samples_leave_the_flag_unknown() {
        let odd = scores(1.0, [1.0, 1.0]);
        for flagging in Flagging::ALL.map(|(_, flagging)| flagging) {
            let few = thresholds(flagging, Some(0.01), &[], 54);
            let too_few = NoPromise::TooFewRows { rows: 54, needed: 99, rate: 0.01 };
            let open = Flags { unknown: Some(Unknown::NoPromise(too_few)), ..Flags::default() };
            assert_eq!(few.flags(&odd), open, "{flagging:?}");
            assert_eq!(few.no_promise(), Some(too_few));
            assert_eq!(thresholds(flagging, Some(0.01), &[], 0).no_promise(), Some(NoPromise::NoRows));
            let enough = thresholds(flagging, Some(0.01), &[], 99);
            assert_eq!((enough.flags(&odd).sample, enough.no_promise()), (Some(true), None), "{flagging:?}");
            assert_eq!(enough.flags(&scores(0.0, [0.0, 0.0])).sample, Some(false), "{flagging:?}");
            // A sample without a score is never known to be normal.
            let untold = SampleScores { anomaly: None, reason: None, p: vec![None; 2], s: vec![None; 2] };
            assert_eq!(enough.flags(&untold).sample, None, "{flagging:?}");
            // A threshold that was given needs no normal sample; what is below it is open still, unless all rules have one.
            let given = thresholds(flagging, Some(0.01), &[(1, 0.4)], 54);
            assert_eq!(given.flags(&scores(0.5, [0.1, 0.5])).sample, Some(true), "{flagging:?}");
            assert_eq!(given.flags(&scores(0.1, [0.1, 0.1])).sample, None, "{flagging:?}");
            let all = thresholds(flagging, Some(0.01), &[(0, 0.4), (1, 0.4)], 54);
            let (sample, promise) = (all.flags(&scores(0.1, [0.1, 0.1])).sample, all.no_promise());
            assert_eq!((sample, promise), (Some(false), None), "{flagging:?}");
        }
    }

    /// A sample without a score of a rule that is judged is not known to be normal, whatever is known of the others.
    #[test]
    fn a_rule_without_a_score_leaves_the_flag_unknown() {
        let half = |s: f64| SampleScores {
            anomaly: Some(s),
            reason: Some(0),
            p: vec![Some(1.0 - s), None],
            s: vec![Some(s), None],
        };
        for flagging in Flagging::ALL.map(|(_, flagging)| flagging) {
            let enough = thresholds(flagging, Some(0.01), &[], 199);
            let flags = enough.flags(&half(0.1));
            assert_eq!((flags.sample, flags.unknown), (None, Some(Unknown::OpenRules(vec![1]))), "{flagging:?}");
            assert_eq!(enough.unscored(&half(0.1)), [1]);
            assert_eq!(enough.flags(&half(1.0)).sample, Some(true), "{flagging:?}");
            // A rule that has no score on any normal sample decides nothing.
            let params = FlagParams { flagging, rate: Some(0.01), set: BTreeMap::new() };
            let one = Thresholds::new(&params, &normal(199), &[true, false], 1.0).unwrap();
            assert_eq!(one.flags(&half(0.1)), Flags { sample: Some(false), ..Flags::default() }, "{flagging:?}");
        }
    }

    #[test]
    fn a_rule_that_few_normal_samples_have_a_score_for_has_no_threshold() {
        let mut rows = normal(99);
        rows.iter_mut().skip(54).for_each(|row| (row.s[1], row.p[1]) = (None, None));
        let params = FlagParams { flagging: Flagging::PerRule, rate: Some(0.01), set: BTreeMap::new() };
        let found = Thresholds::new(&params, &rows, &[true, true], 1.0).unwrap();
        assert_eq!((found.no_promise(), found.without_threshold(), found.is_deaf()), (None, vec![1], false));
        let (usual, odd) = (scores(0.1, [0.1, 0.05]), scores(1.0, [1.0, 0.05]));
        let flags = found.flags(&usual);
        assert_eq!((flags.sample, &flags.unknown), (None, &Some(Unknown::NoThreshold(vec![1]))));
        assert_eq!([0, 1].map(|rule| found.flag_of(rule, &usual, &flags)), [Some(false), None]);
        let flags = found.flags(&odd);
        assert_eq!((flags.sample, flags.unknown.clone(), flags.why.clone()), (Some(true), None, vec![0]));
        assert_eq!([0, 1].map(|rule| found.flag_of(rule, &odd, &flags)), [Some(true), None]);
    }

    /// With 120 normal samples and a rate of 1 %, two rules can be flagged together and none alone: 199 are needed for that.
    #[test]
    fn a_rule_that_is_odder_than_all_normal_samples_is_not_called_normal() {
        let found = thresholds(Flagging::BenjaminiHochberg, Some(0.01), &[], 120);
        assert_eq!((found.no_promise(), found.rows_needed_for_one()), (None, 199));
        let of = |s: [f64; 2]| {
            let flags = found.flags(&scores(s[0].max(s[1]), s));
            (flags.sample, flags.unknown)
        };
        assert_eq!(of([1.0, 1.0]), (Some(true), None));
        assert_eq!(of([0.1, 1.0]), (None, Some(Unknown::TooOdd(vec![1]))));
        assert_eq!(of([0.1, 0.05]), (Some(false), None));
        let enough = thresholds(Flagging::BenjaminiHochberg, Some(0.01), &[], 199);
        assert_eq!(enough.flags(&scores(1.0, [0.1, 1.0])).rules, [1]);
    }

    #[test]
    fn a_threshold_that_no_score_exceeds_is_named() {
        let sure: Vec<SampleScores> = (0..99).map(|_| scores(1.0, [1.0, 0.5])).collect();
        let of = |flagging, set: &[(usize, f64)]| {
            let params = FlagParams { flagging, rate: Some(0.01), set: set.iter().copied().collect() };
            let found = Thresholds::new(&params, &sure, &[true, true], 1.0).unwrap();
            (found.is_deaf(), found.saturated())
        };
        assert_eq!(of(Flagging::Global, &[]), (true, vec![]));
        assert_eq!(of(Flagging::Global, &[(1, 0.9)]), (false, vec![]));
        assert_eq!(of(Flagging::PerRule, &[]), (false, vec![0]));
        assert_eq!(of(Flagging::PerRule, &[(1, 1.0)]), (true, vec![0, 1]));
        assert!(thresholds(Flagging::Global, Some(0.01), &[], 54).is_deaf(), "no threshold is exceeded, either");
        assert!(!thresholds(Flagging::Global, Some(0.01), &[], 99).is_deaf());
        // An aggregation whose numbers end before 1.
        let below = FlagParams { rate: Some(0.01), ..FlagParams::default() };
        let normal: Vec<SampleScores> = (0..99).map(|_| scores(0.9, [0.9, 0.5])).collect();
        let of = |highest| Thresholds::new(&below, &normal, &[true, true], highest).unwrap().is_deaf();
        assert_eq!([of(0.9), of(0.91)], [true, false]);
        // Where all normal samples have the highest score, not even the oddest one passes.
        let sure: Vec<SampleScores> = (0..199).map(|_| scores(1.0, [1.0, 1.0])).collect();
        let params = FlagParams { flagging: Flagging::BenjaminiHochberg, ..below };
        let all = Thresholds::new(&params, &sure, &[true, true], 1.0).unwrap();
        assert!(all.is_deaf() && all.no_promise().is_none());
    }

    /// What is unknown of one rule stays unknown where another one flags the sample.
    #[test]
    fn a_flag_for_one_rule_says_nothing_about_others() {
        let few = thresholds(Flagging::Global, Some(0.01), &[(0, 0.5)], 54);
        let sample = scores(0.9, [0.9, 0.1]);
        let flags = few.flags(&sample);
        assert_eq!(
            (flags.sample, few.flag_of(0, &sample, &flags), few.flag_of(1, &sample, &flags)),
            (Some(true), Some(true), None)
        );
        let few = thresholds(Flagging::BenjaminiHochberg, Some(0.01), &[(0, 0.5)], 54);
        assert_eq!(few.flag_of(1, &sample, &few.flags(&sample)), None);
        let enough = thresholds(Flagging::BenjaminiHochberg, Some(0.01), &[(0, 0.5)], 199);
        let usual = scores(0.9, [0.9, 0.05]);
        assert_eq!(enough.flag_of(1, &usual, &enough.flags(&usual)), Some(false));
        let enough = thresholds(Flagging::Global, Some(0.05), &[], 99);
        assert_eq!(enough.flag_of(1, &sample, &enough.flags(&sample)), Some(false));
    }

    /// An aggregation may give no number for a sample whose rules all have scores: it has learned from it.
    #[test]
    fn a_sample_without_an_anomaly_is_not_known_to_be_normal() {
        let learned_from = SampleScores { anomaly: None, reason: None, ..scores(0.1, [0.1, 0.05]) };
        let global = thresholds(Flagging::Global, Some(0.05), &[], 99);
        let flags = global.flags(&learned_from);
        assert_eq!((flags.sample, flags.unknown), (None, Some(Unknown::NoAnomaly)));
        assert_eq!(global.flag_of(0, &learned_from, &Flags::default()), None);
        // Other ways to flag do not look at it.
        let per_rule = thresholds(Flagging::PerRule, Some(0.05), &[], 99);
        assert_eq!(per_rule.flags(&learned_from).sample, Some(false));
    }

    /// Whoever sees a flag sees all that it is for, by a threshold of a rule's own and by that of the sample.
    #[test]
    fn a_sample_is_flagged_for_all_that_is_beyond_a_threshold() {
        let found = thresholds(Flagging::Global, Some(0.05), &[(1, 0.4)], 99);
        let flags = found.flags(&scores(0.99, [0.99, 0.5]));
        assert_eq!((flags.rules, flags.why), (vec![1], vec![0, 1]));
    }

    #[test]
    fn the_default_rate_is_the_smallest_that_can_be_promised_up_to_five_percent() {
        let of = |rows| {
            let found = thresholds(Flagging::Global, None, &[], rows);
            (found.rate(), found.is_raised(), found.no_promise().is_none())
        };
        assert_eq!(of(99), (0.01, false, true));
        assert_eq!(of(98), (0.011, true, true));
        assert_eq!(of(54), (0.019, true, true));
        assert_eq!(of(19), (0.05, true, true));
        assert_eq!(of(18), (0.01, false, false));
        assert_eq!(of(0), (0.01, false, false));
        // One that was asked for stays.
        assert_eq!(thresholds(Flagging::Global, Some(0.01), &[], 54).rate(), 0.01);
        assert_eq!([3, 26, 98, 99].map(least_rate), [0.25, 0.038, 0.011, 0.01]);
        assert!((1..2_000).all(|rows| 1.0 / least_rate(rows) - 1.0 <= rows as f64 + 1e-9));
    }

    #[test]
    fn rules_that_are_flagged_come_first_then_those_that_few_normal_samples_break_as_badly() {
        // .5 is reached by half of the normal samples for the first rule, by none for the second.
        let sample = scores(0.5, [0.5, 0.4]);
        let of = |set: &[(usize, f64)]| {
            let thresholds = thresholds(Flagging::Global, Some(0.05), set, 99);
            thresholds.ranking(&sample, &thresholds.flags(&sample))
        };
        assert_eq!(of(&[]), [1, 0]);
        assert_eq!(of(&[(0, 0.45)]), [0, 1]);
        // Flagged as a whole, for the rule that decides the anomaly.
        let sample = scores(0.99, [0.99, 0.5]);
        let thresholds = thresholds(Flagging::Global, Some(0.05), &[], 99);
        let flags = thresholds.flags(&sample);
        assert_eq!((flags.why.clone(), thresholds.ranking(&sample, &flags)), (vec![0], vec![0, 1]));
    }
}
