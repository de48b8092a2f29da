//! Options of flagging, checked, and what is to be said about thresholds that come from normal samples.

use std::collections::BTreeMap;

use anyhow::bail;
use chimera::gate::calibration_rows::Half;
use chimera::score::engine::{Engine, Scoring};
use chimera::score::flag::{DEFAULT_RATE, FlagParams, Flagging, Thresholds, Unknown, least_rate};
use chimera::score::method::Method;
use chimera::score::ready::Ready;
use chimera_logic::attributes::RuleSeverity;

use crate::args::FlagArguments;
use crate::console::Console;
use crate::table::{counted, grouped};

/// The options of scoring and flagging, checked.
pub(crate) fn params(
    arguments: &FlagArguments,
    method: Method,
    engine: &Engine,
) -> anyhow::Result<(Scoring, FlagParams)> {
    let &FlagArguments { agg: aggregation, min_severity: least_severity, flag: flagging, fpr: rate, tau, .. } =
        arguments;
    let set = given(&arguments.threshold, engine, least_severity.unwrap_or(RuleSeverity::Low))?;
    Ok((Scoring { method, aggregation, tau, least_severity }, FlagParams { flagging, rate, set }))
}

/// Refuses numbers that no model could use, before a model is opened.
pub(crate) fn check(arguments: &FlagArguments) -> anyhow::Result<()> {
    if let Some(rate) = arguments.fpr.filter(|rate| !(1e-6..1.0).contains(rate)) {
        bail!("expected `--fpr` from 0.000001 to below 1, got `{rate}`");
    }
    if !(0.0..1.0).contains(&arguments.tau) {
        bail!("expected `--tau` from 0 to below 1, got `{}`", arguments.tau);
    }
    Ok(())
}

/// Thresholds of single rules, as typed. Rules that do not count have none.
fn given(words: &[String], engine: &Engine, least: RuleSeverity) -> anyhow::Result<BTreeMap<usize, f64>> {
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

/// Says where thresholds promise less than one might think. Where nothing can be flagged, `-q` does not mute that: an alarm that
/// never goes off looks like a quiet day.
pub(crate) fn say(thresholds: &Thresholds, ready: &Ready<'_>, console: &Console) {
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
    let names: Vec<&str> = engine.rules().collect();
    let (rows, rate) = (thresholds.rows(), thresholds.rate());
    let mute: Vec<usize> = (0..names.len()).filter(|&rule| ready.counted()[rule] && !ready.decides()[rule]).collect();
    if !mute.is_empty() {
        console.complain(format_args!(
            "warning: no calibration row has a score for {}: what has none decides no flag",
            quoted(&mute, &names)
        ));
    }
    if let Some(reason) = thresholds.no_promise() {
        let least = least_rate(rows);
        let (other, never) = (format!("`--fpr {least}`, or "), engine.never_hold());
        let other = if rows > 0 && thresholds.flagging() != Flagging::BenjaminiHochberg { &other } else { "" };
        console.complain(format_args!(
            "warning: `flagged` is empty{}: {reason}\nhint: {other}more calibration rows that break no rule",
            if thresholds.set().is_empty() { "" } else { " but where a given threshold is exceeded" }
        ));
        if rows == 0 && normal.rows == 0 && !never.is_empty() {
            let never: Vec<String> = never.iter().take(5).map(|rule| format!("`{rule}`")).collect();
            console.complain(format_args!("hint: these rules hold on none of them: {}", never.join(", ")));
        }
    }
    if thresholds.is_raised() {
        console.say(format_args!(
            "{} cannot promise the default false-alarm rate of {DEFAULT_RATE}: the smallest that they can, {rate}, is used \
             (`--fpr` sets another)",
            counted(rows, "normal calibration row")
        ));
    }
    let (without, saturated) = (thresholds.without_threshold(), thresholds.saturated());
    if !without.is_empty() {
        let reason = Unknown::NoThreshold(without).words(&names);
        console.complain(format_args!("warning: `flagged` is empty unless another rule is broken: {reason}"));
    }
    if thresholds.is_deaf() && thresholds.no_promise().is_none() {
        let given = thresholds.set().len() == ready.decides().iter().filter(|decides| **decides).count();
        let hint = if given { "lower `--threshold`s" } else { "another `--agg`, or a larger `--fpr`" };
        console.complain(format_args!("warning: {DEAF}\nhint: {hint}"));
    } else if !saturated.is_empty() {
        console.complain(format_args!(
            "warning: no score exceeds the threshold of {}: it is never flagged",
            quoted(&saturated, &names)
        ));
    }
    let for_one = thresholds.rows_needed_for_one();
    match thresholds.flagging() {
        Flagging::PerRule if names.len() > 1 => console.say(format_args!(
            "each rule may flag {:.2} % of normal samples, all {} together more; `--flag global` and `--flag bh` bound the whole",
            100.0 * rate,
            names.len()
        )),
        Flagging::BenjaminiHochberg if rows < for_one && thresholds.no_promise().is_none() => console.complain(format_args!(
            "warning: with {} no rule can be flagged alone at a rate of {rate}, only several together: {for_one} are needed; \
             `flagged` is empty where that decides",
            counted(rows, "normal calibration row")
        )),
        _ => {}
    }
}

/// Why nothing can be flagged although there are thresholds.
pub(crate) const DEAF: &str = "no score exceeds the threshold, so nothing can be flagged";

fn quoted(rules: &[usize], names: &[&str]) -> String {
    let named = rules.iter().take(5).map(|&rule| format!("`{}`", names[rule])).collect::<Vec<_>>().join(", ");
    if rules.len() > 5 { format!("{named} and {} more", rules.len() - 5) } else { named }
}

/// What samples were flagged by, for the closing line.
pub(crate) fn words(thresholds: &Thresholds) -> String {
    let flagging = thresholds.flagging();
    let words = match (flagging, thresholds.global()) {
        // Sure models have thresholds of many zeros.
        (Flagging::Global, Some(0.0)) => " above 0".to_owned(),
        (Flagging::Global, Some(limit)) if limit < 1e-3 => format!(" above {limit:.2e}"),
        (Flagging::Global, Some(limit)) => format!(" above {limit:.4}"),
        (Flagging::Global, None) => String::new(),
        (Flagging::PerRule, _) => " by a rule's own threshold".to_owned(),
        (Flagging::BenjaminiHochberg, _) => " by Benjamini and Hochberg over rules".to_owned(),
    };
    match (flagging, thresholds.set().is_empty()) {
        (Flagging::PerRule, _) | (_, true) => words,
        (_, false) if words.is_empty() => " by `--threshold`".to_owned(),
        (_, false) => words + " or by `--threshold`",
    }
}
