//! What a rule carries beside its formula: `[severity=high weight=2 tau=0.3 family=chain support=812 confidence=0.997
//! interval=0.991..0.999]`.

use std::fmt;

/// How much a violation matters to the person who reads the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleSeverity {
    /// Good to know.
    Low,
    /// The default.
    Medium,
    /// Look at it first.
    High,
}

/// The shape of a rule, by which results are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// One literal implies another.
    Simple,
    /// A conjunction of simple implications, each starting where the one before ended.
    Chain,
    /// An implication with a formula on at least one side.
    Compound,
    /// Everything else.
    Other,
}

/// A closed set of words that an attribute can be.
trait Word: Copy + 'static {
    const WORDS: &'static [(&'static str, Self)];
}

impl Word for RuleSeverity {
    const WORDS: &'static [(&'static str, Self)] =
        &[("low", Self::Low), ("medium", Self::Medium), ("high", Self::High)];
}

impl Word for Family {
    const WORDS: &'static [(&'static str, Self)] =
        &[("simple", Self::Simple), ("chain", Self::Chain), ("compound", Self::Compound), ("other", Self::Other)];
}

impl fmt::Display for RuleSeverity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(spelling(*self))
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(spelling(*self))
    }
}

fn spelling<W: Word + PartialEq>(word: W) -> &'static str {
    W::WORDS.iter().find(|&&(_, value)| value == word).map_or("", |&(text, _)| text)
}

/// A rule's attributes; what is not given is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// How much a violation matters.
    pub severity: Option<RuleSeverity>,
    /// Weight in aggregations, above 0.
    pub weight: Option<f64>,
    /// Antecedent threshold of the gated score, in [0, 1).
    pub tau: Option<f64>,
    /// The rule's shape, when it is to be counted under another than the inferred one.
    pub family: Option<Family>,
    /// Rows that the rule applied to when it was mined: those on which its antecedent held.
    pub support: Option<u64>,
    /// Share of these rows that kept the rule, in [0, 1].
    pub confidence: Option<f64>,
    /// What the data leave open about the confidence.
    pub interval: Option<Interval>,
}

/// A range of shares, written `0.981..1`: 0 <= low <= high <= 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.low, self.high)
    }
}

/// Why an attribute cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttributeError {
    /// There is no attribute of this name.
    Unknown,
    /// It has been set before.
    Duplicate,
    /// The value is not what is expected here.
    Value(String),
}

impl Attributes {
    /// The attribute names in the order in which they are printed.
    pub const NAMES: [&'static str; 7] = ["severity", "weight", "tau", "family", "support", "confidence", "interval"];

    /// Sets one attribute from its text, checked as in a rule file.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), AttributeError> {
        match name {
            "severity" => fill(&mut self.severity, word(value)),
            "weight" => fill(&mut self.weight, number(value, |x| x > 0.0, "a number above 0")),
            "tau" => fill(&mut self.tau, number(value, |x| (0.0..1.0).contains(&x), "a number from 0 to below 1")),
            "family" => fill(&mut self.family, word(value)),
            "support" => fill(&mut self.support, value.parse().map_err(|_| "a whole number, 0 or more".to_owned())),
            "confidence" => {
                fill(&mut self.confidence, number(value, |x| (0.0..=1.0).contains(&x), "a number from 0 to 1"))
            }
            "interval" => fill(&mut self.interval, interval(value)),
            _ => Err(AttributeError::Unknown),
        }
    }

    /// The given attributes as name and text, in print order.
    #[must_use]
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let texts = [
            self.severity.map(|value| value.to_string()),
            self.weight.map(|value| value.to_string()),
            self.tau.map(|value| value.to_string()),
            self.family.map(|value| value.to_string()),
            self.support.map(|value| value.to_string()),
            self.confidence.map(|value| value.to_string()),
            self.interval.map(|value| value.to_string()),
        ];
        Self::NAMES.into_iter().zip(texts).filter_map(|(name, text)| Some((name, text?))).collect()
    }
}

fn fill<T>(slot: &mut Option<T>, value: Result<T, String>) -> Result<(), AttributeError> {
    if slot.is_some() {
        return Err(AttributeError::Duplicate);
    }
    *slot = Some(value.map_err(AttributeError::Value)?);
    Ok(())
}

fn word<W: Word>(text: &str) -> Result<W, String> {
    let found = W::WORDS.iter().find(|(word, _)| *word == text).map(|&(_, value)| value);
    found.ok_or_else(|| {
        let words: Vec<_> = W::WORDS.iter().map(|(word, _)| format!("`{word}`")).collect();
        format!("one of {}", words.join(", "))
    })
}

fn number(text: &str, valid: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && valid(*value));
    // `-0` is 0.
    value.map(|value| value + 0.0).ok_or_else(|| expected.to_owned())
}

fn interval(text: &str) -> Result<Interval, String> {
    let expected = "two numbers from 0 to 1 such as 0.98..1, the lower one first";
    let bound = |text: &str| number(text, |x| (0.0..=1.0).contains(&x), expected);
    let (low, high) = text.split_once("..").ok_or_else(|| expected.to_owned())?;
    let (low, high) = (bound(low)?, bound(high)?);
    if low <= high { Ok(Interval { low, high }) } else { Err(expected.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_print_as_they_are_read() {
        let mut attributes = Attributes::default();
        for (name, text) in [
            ("weight", "2"),
            ("severity", "high"),
            ("tau", "0.3"),
            ("confidence", "0.997"),
            ("support", "812"),
            ("interval", "0.9..1.0"),
        ] {
            assert_eq!(attributes.set(name, text), Ok(()));
        }
        let given: Vec<_> = attributes.given().into_iter().map(|(name, text)| format!("{name}={text}")).collect();
        assert_eq!(
            given,
            ["severity=high", "weight=2", "tau=0.3", "support=812", "confidence=0.997", "interval=0.9..1"]
        );
    }

    #[test]
    fn values_out_of_range_say_what_is_expected() {
        let refused = |name, text| Attributes::default().set(name, text).is_err();
        for (name, text) in [
            ("weight", "0"),
            ("weight", "inf"),
            ("weight", "nan"),
            ("tau", "1"),
            ("tau", "-0.1"),
            ("support", "1.5"),
            ("support", "-1"),
            ("confidence", "1.01"),
            ("interval", "0.9"),
            ("interval", "0.9..0.8"),
            ("interval", "0.9..1.1"),
            ("interval", "0.9...1"),
            ("interval", "..1"),
            ("severity", "High"),
            ("family", "tree"),
        ] {
            assert!(refused(name, text), "{name}={text}");
        }
        assert_eq!(Attributes::default().set("colour", "red"), Err(AttributeError::Unknown));
    }
}
