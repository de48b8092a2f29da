//! Thresholds as typed, and what is to be said about those that come from normal samples.

use std::collections::BTreeMap;

use anyhow::bail;
use chimera::score::calibration_rows::Half;
use chimera::score::engine::Engine;
use chimera::score::flag::{Flagging, Thresholds};
use chimera::score::ready::Ready;
use chimera_logic::attributes::RuleSeverity;

use crate::console::Console;
use crate::table::{counted, grouped};

/// Thresholds of single rules, as typed. Rules that do not count have none.
pub(crate) fn parse(words: &[String], engine: &Engine, least: RuleSeverity) -> anyhow::Result<BTreeMap<usize, f64>> {
    let mut set = BTreeMap::new();
    for word in words {
        let parts = word.rsplit_once('=').and_then(|(name, number)| Some((name, number.parse::<f64>().ok()?)));
        let Some((name, limit)) = parts.filter(|(_, limit)| (0.0..=1.0).contains(limit)) else {
            bail!("expected `--threshold RULE=SCORE` with a score from 0 to 1, got `{word}`");
        };
        let Some(rule) = engine.rules().position(|rule| rule == name) else {
            bail!("there is no rule `{name}`\nhint: the rules are {}", listed(engine));
        };
        if engine.severities().nth(rule).is_some_and(|severity| severity < least) {
            bail!("rule `{name}` does not count with `--min-severity {least}`\nhint: leave its `--threshold` out");
        }
        if set.insert(rule, limit).is_some() {
            bail!("rule `{name}` has two thresholds\nhint: give one");
        }
    }
    Ok(set)
}

fn listed(engine: &Engine) -> String {
    let names: Vec<&str> = engine.rules().take(20).collect();
    names.join(", ") + if engine.rules().count() > names.len() { ", ..." } else { "" }
}

/// Says where thresholds promise less than one might think.
pub(crate) fn say(thresholds: &Thresholds, flagging: Flagging, rate: f64, ready: &Ready<'_>, console: &Console) {
    let engine = ready.engine();
    let normal = ready.normal(Half::Thresholds);
    if normal.unknown > 0 {
        console.say(format_args!(
            "{} for thresholds leave a rule open and are left out ({} break one, {} are normal): rates hold for samples like \
             those that are left",
            counted(normal.unknown, "calibration row"),
            grouped(normal.broken as u64),
            grouped(normal.rows as u64)
        ));
    }
    let rules = engine.rules().count();
    let (rows, needed) = (thresholds.rows(), thresholds.rows_needed());
    let for_one = thresholds.rows_needed_for_one();
    if rows == 0 && normal.rows > 0 {
        // No rule can be scored: that is said of the samples themselves.
        return;
    }
    if rows == 0 {
        console.say(
            "no calibration row is normal, so nothing is flagged by a rate: each breaks a rule or leaves one open",
        );
        let never = engine.never_hold();
        if !never.is_empty() {
            let never: Vec<String> = never.iter().take(5).map(|rule| format!("`{rule}`")).collect();
            console.say(format_args!("hint: these rules hold on none of them: {}", never.join(", ")));
        }
        return;
    }
    if rows < needed {
        let larger = match flagging {
            Flagging::Global | Flagging::PerRule => format!("`--fpr {}`", least_rate(rows)),
            _ => "a larger `--fpr`".to_owned(),
        };
        console.say(format_args!(
            "{} cannot tell `--flag {}` at a rate of {rate}: {needed} are needed, so nothing is flagged by it\n\
             hint: {larger}, or more calibration rows",
            counted(rows, "normal calibration row"),
            flagging.name(),
        ));
        return;
    }
    match flagging {
        Flagging::Global if thresholds.global().is_some_and(|limit| limit >= 1.0) => console.say(
            "normal samples reach the highest score there is: nothing can be flagged\nhint: another `--agg`, or a larger \
             `--fpr`",
        ),
        Flagging::PerRule if rules > 1 => console.say(format_args!(
            "each rule may flag {:.2} % of normal samples, all {rules} together more; `--flag global` and `--flag bh` bound \
             the whole",
            100.0 * rate
        )),
        Flagging::BenjaminiHochberg if rows < for_one => console.say(format_args!(
            "with {} no rule can be flagged alone at a rate of {rate}, only several together: {for_one} are needed",
            counted(rows, "normal calibration row")
        )),
        _ => {}
    }
}

/// The smallest rate that so many normal rows can promise, rounded up to two digits.
fn least_rate(rows: usize) -> f64 {
    let rate = 1.0 / (rows as f64 + 1.0);
    let digits = 10_f64.powf(1.0 - rate.log10().floor());
    (rate * digits).ceil() / digits
}

/// What samples were flagged by, for the closing line.
pub(crate) fn words(thresholds: &Thresholds, flagging: Flagging) -> String {
    let words = match (flagging, thresholds.global()) {
        // Sure models have thresholds of many zeros.
        (Flagging::Global, Some(limit)) if limit < 1e-3 => format!(" above {limit:.2e}"),
        (Flagging::Global, Some(limit)) => format!(" above {limit:.4}"),
        (Flagging::Global, None) => String::new(),
        (Flagging::PerRule, _) => " by a rule's own threshold".to_owned(),
        (Flagging::BenjaminiHochberg, _) => " by Benjamini and Hochberg over rules".to_owned(),
    };
    match (flagging, thresholds.set().is_empty()) {
        (Flagging::PerRule, _) | (_, true) => words,
        (_, false) => words + " or by `--threshold`",
    }
}

#[cfg(test)]
mod tests {
    use super::least_rate;

    #[test]
    fn a_rate_that_is_proposed_can_be_promised() {
        assert_eq!([3, 26, 98, 99].map(least_rate), [0.25, 0.038, 0.011, 0.01]);
        assert!((1..2_000).all(|rows| 1.0 / least_rate(rows) - 1.0 <= rows as f64 + 1e-9));
    }
}
