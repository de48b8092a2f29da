//! Two reports against each other: the difference of every rule, with an interval. Where both were made on the same test rows,
//! they drew the same resamples, and differences are paired; else they are as uncertain as both together.

mod kept;

use chimera_data::error::{Error, Result};
use chimera_data::metric::MacroMean;
use chimera_data::metric::bootstrap::{Interval, difference_of};
use serde::Serialize;

use self::kept::KeptRule;
pub(crate) use self::kept::about_resamples;
pub use self::kept::{Kept, RESAMPLED, Report};
use super::FEW;
use super::resampled::MeanResamples;

/// So many reasons and rules are named at once.
const NAMED: usize = 5;

/// What the two reports are called.
const NAMES: [&str; 2] = ["first", "second"];

/// The difference of one rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The rule; `None` for the mean over all of them.
    pub rule: Option<String>,
    /// AUROC in the first report.
    pub before: f64,
    /// AUROC in the second.
    pub after: f64,
    /// What was gained.
    pub difference: f64,
    /// Its interval; `None` where too few rows tell.
    pub interval: Option<Interval>,
    /// Whether one of the reports has few rows that break the rule, or few that do not.
    pub says_little: bool,
    /// Whether it is worse by more than the tolerance, and the interval is below zero.
    pub is_regression: bool,
}

/// Two reports side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The method in the first and in the second report.
    pub methods: [String; 2],
    /// Whether both were made on the same test rows.
    pub is_paired: bool,
    /// What may be lost without being a regression.
    pub tolerance: f64,
    /// Rules that both have, then the mean over them.
    pub differences: Vec<Difference>,
    /// What cannot be compared, and why.
    pub words: Vec<String>,
}

impl Comparison {
    /// Compares a method of one report with a method of another.
    ///
    /// # Errors
    /// A method that a report does not have, no rule that both can tell, and rows that were drawn more often in one of them.
    pub fn of(before: &Report, after: &Report, methods: [&str; 2], tolerance: f64) -> Result<Self> {
        if let (Some(one), Some(other)) = (before.resamples(), after.resamples())
            && one != other
        {
            let message = format!("expected reports with as many resamples, got {one} and {other}");
            return Err(Error::input(message, Some("make both with the same chimera".to_owned())));
        }
        check_methods([before, after], methods)?;
        let is_paired = before.kept.test_rows == after.kept.test_rows;
        let (mut differences, mut means, mut words) = (Vec::new(), MeanResamples::default(), Vec::new());
        let (lines, other_lines) = (before.lines(methods[0]), after.lines(methods[1]));
        let mut is_undefined = false;
        for (name, rule) in &before.kept.rules {
            let other = after.kept.rules.get(name);
            if let Some(reason) = cannot_compare(name, rule, other, is_paired) {
                words.push(reason);
                continue;
            }
            match (lines.get(name.as_str()), other_lines.get(name.as_str())) {
                (Some((one, one_again)), Some((two, two_again))) => {
                    let again = difference_of(two_again, one_again);
                    let interval = if one.tells && two.tells { Interval::of(&again) } else { None };
                    if interval.is_some() {
                        means.add(&again, two.auroc - one.auroc);
                    }
                    differences.push(Difference {
                        says_little: rule.says_little() || other.is_some_and(KeptRule::says_little),
                        ..Self::difference(Some(name.clone()), [one.auroc, two.auroc], interval, tolerance)
                    });
                }
                (one, two) => {
                    is_undefined = true;
                    let at = match (one, two) {
                        (None, None) => "both reports",
                        (None, _) => "the first report",
                        _ => "the second report",
                    };
                    words.push(format!("`{name}` is undefined in {at}"));
                }
            }
        }
        let only_after = after.kept.rules.keys().filter(|rule| !before.kept.rules.contains_key(*rule));
        words.extend(only_after.map(|rule| format!("`{rule}` is in the second report alone")));
        if differences.is_empty() {
            return Err(nothing_to_compare([before, after], &words, is_undefined));
        }
        words.extend(seeds_differ(before, after));
        if !is_paired {
            words.push(
                "the reports are of different test rows: differences are not paired, and intervals are wide".to_owned(),
            );
        }
        words.extend(few_rows(&differences));
        let mean = |of: fn(&Difference) -> f64| MacroMean::of(differences.iter().map(|one| Some(of(one)))).mean;
        if let (Some(one), Some(other)) = (mean(|one| one.before), mean(|one| one.after)) {
            if let Some(around) = means.mean().filter(|_| means.rules() < differences.len()) {
                words.push(format!(
                    "the interval of the mean is over {} of {} rules, around {around:+.4}: of the others too few rows tell",
                    means.rules(),
                    differences.len()
                ));
            }
            differences.push(Self::difference(None, [one, other], means.interval(), tolerance));
        }
        Ok(Self { methods: methods.map(str::to_owned), is_paired, tolerance, differences, words })
    }

    fn difference(
        rule: Option<String>,
        [before, after]: [f64; 2],
        interval: Option<Interval>,
        tolerance: f64,
    ) -> Difference {
        let difference = after - before;
        let is_regression = difference < -tolerance && interval.is_some_and(|interval| interval.high < 0.0);
        Difference { rule, before, after, difference, interval, says_little: false, is_regression }
    }
}

/// Both reports have the method that is asked of them.
fn check_methods(reports: [&Report; 2], methods: [&str; 2]) -> Result<()> {
    for ((report, method), name) in reports.into_iter().zip(methods).zip(NAMES) {
        let there = report.methods();
        if there.is_empty() {
            let message =
                format!("no rule of the {name} report has an AUROC: no test row breaks one, or every row does");
            return Err(Error::input(message, Some("evaluate on test rows that break rules".to_owned())));
        }
        if !there.contains(&method) {
            let message = format!("expected a method of the {name} report, got `{method}`, which it does not have");
            let hint = format!("choose with `--method` and `--with`; it has {}", there.join(", "));
            return Err(Error::input(message, Some(hint)));
        }
    }
    Ok(())
}

/// Why a rule of the first report cannot be compared with that of the same name.
fn cannot_compare(name: &str, rule: &KeptRule, other: Option<&KeptRule>, is_paired: bool) -> Option<String> {
    let Some(other) = other else { return Some(format!("`{name}` is in the first report alone")) };
    if rule.formula != other.formula {
        let (one, two) = (&rule.formula, &other.formula);
        return Some(format!("`{name}` is another rule in the second report: `{one}` became `{two}`"));
    }
    (is_paired && rule.truth != other.truth)
        .then(|| format!("labels have changed: other rows break `{name}` in the second report"))
}

fn nothing_to_compare([before, after]: [&Report; 2], words: &[String], is_undefined: bool) -> Error {
    let mut reasons = words.iter().take(NAMED).map(|words| format!("\n  {words}")).collect::<String>();
    if words.len() > NAMED {
        reasons += &format!("\n  and {} more", words.len() - NAMED);
    }
    let others = after.methods();
    let both: Vec<&str> = before.methods().into_iter().filter(|method| others.contains(method)).collect();
    let hint = if is_undefined && !both.is_empty() {
        format!("another method may tell them: `--method` with one of {}", both.join(", "))
    } else {
        "make both reports with the same rules".to_owned()
    };
    Error::input(format!("there is no rule that both reports can tell:{reasons}"), Some(hint))
}

fn seeds_differ(before: &Report, after: &Report) -> Option<String> {
    let [one, two] = [before, after].map(|report| {
        let seeds: Vec<String> = report.kept.seeds.iter().map(u64::to_string).collect();
        seeds.join(", ")
    });
    (one != two).then(|| {
        format!(
            "the reports are of different seeds ({one} and {two}): intervals know of rows, not of what seeds change"
        )
    })
}

/// Rules of which few rows tell, by name.
fn few_rows(differences: &[Difference]) -> Option<String> {
    let few: Vec<&str> =
        differences.iter().filter(|one| one.says_little).filter_map(|one| one.rule.as_deref()).collect();
    let shown: Vec<String> = few.iter().take(NAMED).map(|rule| format!("`{rule}`")).collect();
    let more = if few.len() > NAMED { format!(" and {} more", few.len() - NAMED) } else { String::new() };
    (!few.is_empty()).then(|| format!("fewer than {FEW} rows of a kind, which say little: {}{more}", shown.join(", ")))
}

#[cfg(test)]
mod tests;
