//! Thresholds as typed, and what is to be said about those that come from normal samples.

use anyhow::bail;
use chimera::score::engine::Engine;
use chimera::score::flag::{Flagging, Thresholds};

use crate::console::Console;
use crate::table::counted;

/// Thresholds of single rules, as typed.
pub(crate) fn parse(words: &[String], engine: &Engine) -> anyhow::Result<Vec<(usize, f64)>> {
    let one = |word: &String| {
        let parts = word.rsplit_once('=').and_then(|(name, number)| Some((name, number.parse::<f64>().ok()?)));
        let Some((name, limit)) = parts.filter(|(_, limit)| (0.0..=1.0).contains(limit)) else {
            bail!("expected `--threshold RULE=SCORE` with a score from 0 to 1, got `{word}`");
        };
        match engine.rules().position(|rule| rule == name) {
            Some(rule) => Ok((rule, limit)),
            None => bail!("there is no rule `{name}`\nhint: the rules are {}", listed(engine)),
        }
    };
    words.iter().map(one).collect()
}

fn listed(engine: &Engine) -> String {
    let names: Vec<&str> = engine.rules().take(20).collect();
    names.join(", ") + if engine.rules().count() > names.len() { ", ..." } else { "" }
}

/// Says where thresholds promise less than one might think.
pub(crate) fn say(thresholds: &Thresholds, flagging: Flagging, rate: f64, rules: usize, console: &Console) {
    let (rows, needed) = (thresholds.rows(), thresholds.rows_needed());
    if rows < needed {
        console.say(format_args!(
            "{} are too few for `--flag {}` at a rate of {rate}: {needed} are needed, so nothing is flagged by it\n\
             hint: a larger `--fpr`, or more calibration rows",
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
        _ => {}
    }
}

/// What samples were flagged by, for the closing line.
pub(crate) fn words(thresholds: &Thresholds, flagging: Flagging) -> String {
    match (flagging, thresholds.global()) {
        (Flagging::Global, Some(limit)) => format!(" above {limit:.4}"),
        (Flagging::Global, None) => String::new(),
        (Flagging::PerRule, _) => " by a rule's own threshold".to_owned(),
        (Flagging::BenjaminiHochberg, _) => " by Benjamini and Hochberg over rules".to_owned(),
    }
}
