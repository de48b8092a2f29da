//! Flags of samples: by one threshold for all rules together, by one for each rule, or by Benjamini and Hochberg over rules. All
//! thresholds come from normal samples alone. Every command that says whether a sample is flagged asks here.

use std::collections::BTreeMap;
use std::fmt;

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

/// The false-alarm rate where none is asked for.
pub const DEFAULT_RATE: f64 = 0.01;

/// Where normal rows are too few for [`DEFAULT_RATE`] and no rate was asked for, the smallest rate that they can promise is taken up
/// to this one.
pub const LARGEST_DEFAULT_RATE: f64 = 0.05;

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
    /// Thresholds that were given for rules, by number; these rules are judged by them alone.
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
    /// The rules that count.
    counted: Vec<bool>,
}

/// The flags of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Whether the sample is flagged; `None` where that is unknown: too few normal samples for the rate, or no rule with a score.
    pub sample: Option<bool>,
    /// The rules that are beyond a threshold of their own.
    pub rules: Vec<usize>,
    /// The rules that a flagged sample is flagged for: those beyond thresholds of their own or, where the sample is flagged as a
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
    /// From scores of normal samples. `counted` are the rules that count.
    ///
    /// # Errors
    /// Scores that are no numbers.
    pub fn new(params: &FlagParams, normal: &[SampleScores], counted: &[bool]) -> Result<Self> {
        let anomalies = Conformal::new(normal.iter().filter_map(|scores| scores.anomaly).collect())?;
        let rate = rate_of(params.rate, anomalies.len());
        let of_rule = |(rule, counted): (usize, &bool)| {
            let scores = normal.iter().filter(|_| *counted).filter_map(|scores| scores.s[rule]);
            Conformal::new(scores.collect())
        };
        let normal_rules = counted.iter().enumerate().map(of_rule).collect::<Result<Vec<Conformal>>>()?;
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
            counted: counted.to_vec(),
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
        let counted = self.counted.iter().filter(|counted| **counted).count();
        match self.flagging {
            Flagging::Global | Flagging::PerRule => self.rows_needed(),
            Flagging::BenjaminiHochberg => (counted.max(1) as f64 / self.rate - 1.0 - 1e-9).ceil() as usize,
        }
    }

    /// The reason why no sample can be judged by the rate; `None` where samples can be, or where every rule that counts has a
    /// threshold that was given.
    #[must_use]
    pub fn no_promise(&self) -> Option<NoPromise> {
        let is_given = |(rule, counted): (usize, &bool)| !counted || self.set.contains_key(&rule);
        let needed = self.rows_needed();
        if self.rows >= needed || self.flagging != Flagging::Global && self.counted.iter().enumerate().all(is_given) {
            return None;
        }
        let too_few = NoPromise::TooFewRows { rows: self.rows, needed, rate: self.rate };
        Some(if self.rows == 0 { NoPromise::NoRows } else { too_few })
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

    /// The flags of a sample.
    #[must_use]
    pub fn flags(&self, scores: &SampleScores) -> Flags {
        let judged: Vec<(usize, f64)> = (0..self.rules.len())
            .filter(|rule| self.counted[*rule] || self.set.contains_key(rule))
            .filter_map(|rule| Some((rule, scores.s[rule]?)))
            .collect();
        let (given, others): (Vec<_>, Vec<_>) = judged.iter().partition(|(rule, _)| self.set.contains_key(rule));
        let is_beyond = |(rule, score): &(usize, f64)| self.rules[*rule].is_some_and(|limit| *score > limit);
        let mut rules: Vec<usize> = given.iter().filter(|of| is_beyond(of)).map(|(rule, _)| *rule).collect();
        let (mut is_above, mut is_known) = (false, !judged.is_empty());
        match self.flagging {
            Flagging::Global => {
                let compared = scores.anomaly.zip(self.global);
                is_above = compared.is_some_and(|(anomaly, limit)| anomaly > limit);
                is_known = compared.is_some();
            }
            Flagging::PerRule => {
                rules.extend(others.iter().filter(|of| is_beyond(of)).map(|(rule, _)| *rule));
                is_known &= others.iter().all(|(rule, _)| self.rules[*rule].is_some());
            }
            Flagging::BenjaminiHochberg => {
                let compared: Vec<&(usize, f64)> =
                    others.iter().filter(|(rule, _)| !self.normal[*rule].is_empty()).collect();
                let p_values: Vec<f64> =
                    compared.iter().map(|(rule, score)| self.normal[*rule].p_value(*score)).collect();
                let chosen = benjamini_hochberg(&p_values, self.rate);
                rules.extend(compared.iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|((rule, _), _)| *rule));
                // With too few normal samples, even the oddest sample there can be would not be flagged.
                let least: Vec<f64> = compared.iter().map(|(rule, _)| self.normal[*rule].least_p_value()).collect();
                is_known &= others.is_empty()
                    || compared.len() == others.len() && benjamini_hochberg(&least, self.rate).contains(&true);
            }
        }
        rules.sort_unstable();
        is_above |= !rules.is_empty();
        let sample = if is_above { Some(true) } else { is_known.then_some(false) };
        let why = match scores.reason.filter(|_| is_above && rules.is_empty()) {
            Some(reason) => vec![reason],
            None => rules.clone(),
        };
        Flags { sample, rules, why }
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
        Thresholds::new(&params, &normal(rows), &[true, true]).unwrap()
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
        let one = Thresholds::new(&params, &normal(99), &[true, false]).unwrap();
        let flags = one.flags(&scores(0.5, [0.1, 0.5]));
        assert_eq!(flags, Flags { sample: Some(false), ..Flags::default() });
    }

    /// Unknown is not false: with 54 normal samples a rate of 1 % cannot be promised.
    #[test]
    fn too_few_normal_samples_leave_the_flag_unknown() {
        let odd = scores(1.0, [1.0, 1.0]);
        for flagging in Flagging::ALL.map(|(_, flagging)| flagging) {
            let few = thresholds(flagging, Some(0.01), &[], 54);
            assert_eq!(few.flags(&odd), Flags::default(), "{flagging:?}");
            let too_few = NoPromise::TooFewRows { rows: 54, needed: 99, rate: 0.01 };
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
            let is_global = flagging == Flagging::Global;
            assert_eq!((sample, promise.is_some()), (if is_global { None } else { Some(false) }, is_global));
        }
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
