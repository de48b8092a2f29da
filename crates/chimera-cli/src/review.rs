//! `chimera review`: what verdicts on flagged samples say of each rule, and thresholds that follow from them.

use std::io::{self, Write};
use std::num::NonZeroUsize;

use chimera::review::{MOST_VERDICTS, Proposal, Proposals, Review, Reviewed, review};
use chimera::score::engine::Engine;
use chimera_leaf::device::DeviceChoice;

use crate::Outcome;
use crate::args::ReviewArguments;
use crate::console::{Console, check_out, csv_error, file_beside};
use crate::table::{Align, Table, counted, grouped};

/// The columns of `-o`.
const COLUMNS: [&str; 12] = [
    "rule",
    "verdicts",
    "real",
    "precision",
    "precision_lo",
    "precision_hi",
    "threshold",
    "verdicts_above",
    "precision_above",
    "precision_above_lo",
    "real_lost",
    "verdicts_needed",
];

pub(crate) fn run(arguments: &ReviewArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let out = file_beside(arguments.out.as_deref())?;
    let inputs = [&arguments.verdicts].into_iter().chain(&arguments.scores);
    check_out(out, inputs.cloned(), &[&arguments.model])?;
    let engine = Engine::open(&arguments.model, &DeviceChoice::Cpu.open()?, NonZeroUsize::MIN)?;
    let rules: Vec<&str> = engine.rules().collect();
    let found = review(&rules, &arguments.verdicts, arguments.scores.as_deref(), arguments.precision)?;
    if let Some(path) = out {
        console.write_out(Some(path), &[], |out| write_csv(&found, out))?;
    }
    if arguments.json {
        console.write_json(&found)?;
    } else {
        write_text(&found, console.results())?;
    }
    say_left_out(&found, console);
    if arguments.scores.is_none() {
        console.say("without `--scores` no thresholds are proposed; give it what `chimera score -o` wrote");
    }
    Ok(Outcome::Done)
}

fn say_left_out(review: &Review, console: &Console) {
    if review.repeated > 0 {
        console.say(format_args!("{} said again what was said before: counted once", counted(review.repeated, "line")));
    }
    if review.open > 0 {
        console.say(format_args!("{} without a verdict", counted(review.open, "line")));
    }
    if review.unscored > 0 {
        console
            .complain(format_args!("{} left out: nothing could be scored there", counted(review.unscored, "verdict")));
    }
}

fn sure(reviewed: &Reviewed) -> Option<&Proposal> {
    reviewed.proposals.as_ref()?.sure.as_ref()
}

fn name(reviewed: &Reviewed) -> &str {
    reviewed.rule.as_deref().unwrap_or("(whole samples)")
}

fn write_text(review: &Review, out: &mut dyn Write) -> io::Result<()> {
    let mut table = Table::new(&[
        ("rule", Align::Left),
        ("verdicts", Align::Right),
        ("real", Align::Right),
        ("precision", Align::Right),
        ("95 %", Align::Left),
        ("threshold", Align::Right),
        ("real above", Align::Right),
        ("real lost", Align::Right),
    ]);
    for reviewed in &review.reviewed {
        let (of, sure) = (&reviewed.precision, sure(reviewed));
        let shown = |text: &dyn Fn(&Proposal) -> String| sure.map_or_else(|| "-".to_owned(), text);
        table.row(vec![
            name(reviewed).to_owned(),
            of.verdicts.to_string(),
            of.real.to_string(),
            of.precision.map_or_else(String::new, |precision| format!("{precision:.3}")),
            format!("{:.3} to {:.3}", of.low, of.high),
            shown(&|sure| sure.threshold.to_string()),
            shown(&|sure| format!("{} of {}", sure.above.real, sure.above.verdicts)),
            shown(&|sure| sure.lost.to_string()),
        ]);
    }
    table.write(out, 0)?;
    for reviewed in review.reviewed.iter().filter(|reviewed| sure(reviewed).is_none()) {
        let Some(proposals) = &reviewed.proposals else { continue };
        writeln!(out, "{}: {}", name(reviewed), why_not(reviewed, proposals, review.wanted))?;
    }
    if !review.without_scores.is_empty() {
        writeln!(out, "with verdicts only on what has no score: {}", review.without_scores.join(", "))?;
    }
    if !review.without.is_empty() {
        writeln!(out, "without a verdict: {}", review.without.join(", "))?;
    }
    let options: Vec<String> = review
        .reviewed
        .iter()
        .filter_map(|reviewed| Some((reviewed.rule.as_ref()?, sure(reviewed)?)))
        .map(|(rule, sure)| format!("--threshold {}", for_shells(&format!("{rule}={}", sure.threshold))))
        .collect();
    if !options.is_empty() {
        writeln!(out, "\nfor `chimera score`:\n  --flag per-rule {}", options.join(" "))?;
    }
    Ok(())
}

/// Why there is no threshold, and what it would take.
fn why_not(reviewed: &Reviewed, proposals: &Proposals, wanted: f64) -> String {
    let of = &reviewed.precision;
    let too_few = proposals.needed.is_none_or(|needed| of.verdicts < needed);
    let mut words = if too_few || proposals.estimate.is_some() {
        let needed = proposals
            .needed
            .map_or_else(|| format!("more than {}", grouped(MOST_VERDICTS)), |needed| format!("at least {needed}"));
        format!(
            "{} cannot make sure of a precision of {wanted}: {needed} are needed above a threshold, if all are real",
            counted(of.verdicts as usize, "verdict"),
        )
    } else {
        format!("above no threshold is a precision of {wanted} seen: false alarms have the highest scores")
    };
    if let Some(estimate) = &proposals.estimate {
        let (real, verdicts) = (estimate.above.real, estimate.above.verdicts);
        words += &format!("; so far {real} of {verdicts} are real above {}", estimate.threshold);
    }
    words
}

/// A word as shells take it.
fn for_shells(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.=/:@%+,".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// A line a rule; full precision, empty where there is nothing.
fn write_csv(review: &Review, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(COLUMNS).map_err(csv_error)?;
    for reviewed in &review.reviewed {
        let (of, sure) = (&reviewed.precision, sure(reviewed));
        let needed = reviewed.proposals.as_ref().and_then(|proposals| proposals.needed);
        let shown = |text: &dyn Fn(&Proposal) -> String| sure.map_or_else(String::new, text);
        let precision = |precision: Option<f64>| precision.map_or_else(String::new, |share| share.to_string());
        csv.write_record([
            reviewed.rule.clone().unwrap_or_default(),
            of.verdicts.to_string(),
            of.real.to_string(),
            precision(of.precision),
            of.low.to_string(),
            of.high.to_string(),
            shown(&|sure| sure.threshold.to_string()),
            shown(&|sure| sure.above.verdicts.to_string()),
            shown(&|sure| precision(sure.above.precision)),
            shown(&|sure| sure.above.low.to_string()),
            shown(&|sure| sure.lost.to_string()),
            needed.map_or_else(String::new, |needed| needed.to_string()),
        ])
        .map_err(csv_error)?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        let words = ["watched=0.3", "a b=0.3", "it's=1"].map(for_shells);
        assert_eq!(words, ["watched=0.3", "'a b=0.3'", "'it'\\''s=1'"]);
    }
}
