//! Rules going in and what became of their gates.

use std::io::{self, Write};
use std::path::Path;

use chimera::gate::effects::ExplainedReport;
use chimera::gate::report::GraftsReport;
use chimera::gate::report::{AuditedOn, GateReport, GatesReport, Origin};
use chimera_data::dataset::Dataset;
use chimera_logic::diagnostic::Diagnostics;
use chimera_logic::lint::lint;

use crate::console::Console;
use crate::rules::input::{self, Traced};
use crate::table::{Align, Table, counted, grouped};

/// A gate that is right less often than this on a row of its truth table has not learned it.
const TOO_OFTEN_WRONG: f64 = 0.5;

/// Longer lists are cut: `gates.json` has all of it.
const LISTED: usize = 40;

/// Loads rules over the concepts of a dataset; there must be some.
pub(crate) fn load(path: &Path, dataset: &Dataset, console: &Console) -> anyhow::Result<Traced> {
    let traced = input::load_some(path, dataset.table().vocabulary(), console)?;
    let mut findings = Diagnostics::default();
    if lint(&traced.rule_set, &mut findings).is_ok() && findings.errors() + findings.warnings() > 0 {
        let (errors, warnings) = (counted(findings.errors(), "error"), counted(findings.warnings(), "warning"));
        let (file, data) = (input::shown(path), dataset.folder().display());
        console.say(format_args!(
            "{errors} and {warnings} in the logic of the rules; to see them: chimera rules check {file} --data {data}"
        ));
    }
    Ok(traced)
}

/// Says how many normal rows there are for thresholds: few promise little.
pub(crate) fn say_normal(rows: usize, console: &Console) {
    let least = if rows == 0 {
        "no false-alarm rate can be promised".to_owned()
    } else {
        format!("false-alarm rates from {:.2} % on can be promised", 100.0 / (rows as f64 + 1.0))
    };
    console
        .say(format_args!("{} for thresholds, on which every rule holds: {least}", counted(rows, "calibration row")));
}

/// A table of rules, then what could not be taught or shown.
pub(crate) fn write_text(report: &GatesReport, out: &mut dyn Write) -> io::Result<()> {
    let counts = report.counts();
    let replaced = if counts.replaced > 0 { format!(" ({} for damaged ones)", counts.replaced) } else { String::new() };
    let left_out = if report.rows < report.train_rows { " and are left out" } else { "" };
    writeln!(
        out,
        "\ngates: {} trained{replaced}, {} from cache or model, {} skipped; {} of {} train rows break a rule{left_out}",
        counts.trained,
        counts.cached,
        counts.skipped,
        grouped(report.broken_rows as u64),
        grouped(report.train_rows as u64)
    )?;
    let mut table = Table::new(&[
        ("rule", Align::Left),
        ("gates", Align::Right),
        ("right", Align::Right),
        ("worst", Align::Right),
        ("moves", Align::Right),
        ("broken rows", Align::Right),
        ("note", Align::Left),
    ]);
    let asks_what_was_taught = report.config.negatives.has_chimeras() || !report.config.negatives.has_grafts();
    for rule in report.rules.iter().take(LISTED) {
        let gates: Vec<&GateReport> = report.gates_of(&rule.name).collect();
        let right = gates.iter().filter_map(|gate| gate.audit.fidelity()).min_by(f64::total_cmp);
        let worst = gates.iter().filter_map(|gate| Some((gate, gate.audit.worst()?)));
        let worst = worst.min_by(|(_, one), (_, other)| one.share().total_cmp(&other.share()));
        let moves = gates.iter().filter_map(|gate| gate.audit.moved).max_by(f64::total_cmp);
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
        let note = match (&rule.skipped, &rule.root, worst) {
            (Some(_), ..) => "has no gate, see below".to_owned(),
            (None, None, _) => "one literal: its score is the concept's".to_owned(),
            (None, Some(_), Some((gate, answer))) if asks_what_was_taught && answer.share() < TOO_OFTEN_WRONG => {
                format!("mostly wrong where `{}` has operands {}", gate.formula, answer.operands)
            }
            _ => String::new(),
        };
        table.row(vec![
            rule.name.clone(),
            gates.len().to_string(),
            shown(right),
            shown(worst.map(|(_, answer)| answer.share())),
            shown(moves),
            rule.broken.to_string(),
            note,
        ]);
    }
    table.write(out, 2)?;
    if report.rules.len() > LISTED {
        writeln!(out, "  and {} more; `gates.json` in the model has all", report.rules.len() - LISTED)?;
    }
    if !asks_what_was_taught {
        writeln!(
            out,
            "  (these gates were taught on grafts, and are asked about chimeras here, which they have never seen)"
        )?;
    }
    let on = match report.audited_on {
        AuditedOn::FitHalf => "chimeras of rows that no gate has seen",
        AuditedOn::Train => "chimeras of train rows, as there are too few others (so they flatter)",
    };
    writeln!(
        out,
        "  right: answers of the rule's weakest gate on {on}, all rows of its truth table alike; worst: its worst row"
    )?;
    writeln!(
        out,
        "  moves: how far a probability moves when an operand that cannot matter is another sample's; best 0"
    )?;
    if let Some(explained) = &report.explained {
        write_explained(explained, report.audited_on, out)?;
    }
    write_skipped("skipped", report, out)?;
    write_missing(report, out)?;
    report.grafts.as_ref().map_or(Ok(()), |grafts| write_grafts(grafts, out))
}

/// What was taught on grafts.
fn write_grafts(grafts: &GraftsReport, out: &mut dyn Write) -> io::Result<()> {
    let (gates, heads) = (grafts.gates.counts(), grafts.heads);
    writeln!(
        out,
        "\ngrafts: {} and {} trained, {} from cache or model, {} skipped",
        counted(gates.trained, "gate"),
        counted(heads.trained, "head"),
        gates.cached + heads.cached,
        gates.skipped + heads.skipped
    )?;
    if let Some(explained) = &grafts.gates.explained {
        write_explained(explained, grafts.gates.audited_on, out)?;
    }
    match (grafts.trust.distrust(), grafts.fallbacks.len()) {
        (Some(reason), _) => writeln!(out, "  not trusted: {reason}; `neural` is `indep-cal` here")?,
        (None, 0) => {}
        (None, _) => {
            for (rule, reason) in grafts.fallbacks.iter().take(LISTED) {
                writeln!(out, "  not trusted for `{rule}`, whose `neural` is `indep-cal`: {reason}")?;
            }
        }
    }
    for (concept, reason) in grafts.skipped.iter().take(LISTED) {
        writeln!(out, "  no head for `{concept}`, so `neural` asks the leaf bank: {reason}")?;
    }
    write_skipped("not taught on grafts", &grafts.gates, out)
}

/// How much of z concepts explain.
fn write_explained(explained: &ExplainedReport, on: AuditedOn, out: &mut dyn Write) -> io::Result<()> {
    let shown = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), |share| format!("{share:.2}"));
    let on = if on == AuditedOn::Train { " of train rows (so it flatters)" } else { "" };
    let mut concepts: Vec<(&String, &Option<f64>)> = explained.concepts.iter().collect();
    concepts.sort_by(|(_, one), (_, other)| one.unwrap_or(0.0).total_cmp(&other.unwrap_or(0.0)));
    let least: Vec<String> =
        concepts.iter().take(3).map(|(name, share)| format!("{name} {}", shown(**share))).collect();
    writeln!(
        out,
        "  concepts explain {} of the variance of z{on}; seen least along their own effect: {}",
        shown(explained.overall),
        least.join(", ")
    )
}

fn write_skipped(title: &str, report: &GatesReport, out: &mut dyn Write) -> io::Result<()> {
    let skipped = report.gates.iter().filter_map(|gate| match &gate.origin {
        Origin::Skipped { reason } => Some((gate, reason)),
        _ => None,
    });
    let skipped: Vec<_> = skipped.collect();
    if skipped.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    for (gate, reason) in skipped.iter().take(LISTED) {
        writeln!(out, "  `{}` ({}): {reason}", gate.formula, gate.rules.join(", "))?;
    }
    if skipped.len() > LISTED {
        writeln!(out, "  and {} more", skipped.len() - LISTED)?;
    }
    Ok(())
}

/// Configurations that training could not show to a gate that was taught.
fn write_missing(report: &GatesReport, out: &mut dyn Write) -> io::Result<()> {
    let missing: Vec<(&GateReport, Vec<&str>)> = report
        .gates
        .iter()
        .filter(|gate| gate.is_there())
        .map(|gate| {
            let absent = gate.configurations.iter().filter(|configuration| configuration.shown == 0);
            (gate, absent.map(|configuration| configuration.operands.as_str()).collect())
        })
        .filter(|(_, absent): &(_, Vec<&str>)| !absent.is_empty())
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nnever shown in training, as truths of the operands in their order:")?;
    for (gate, absent) in missing.iter().take(LISTED) {
        let (first, more) = (absent.iter().take(8).copied().collect::<Vec<_>>(), absent.len().saturating_sub(8));
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        writeln!(out, "  `{}`: {}{more}", gate.formula, first.join(" "))?;
    }
    if missing.len() > LISTED {
        writeln!(out, "  and {}", counted(missing.len() - LISTED, "more gate"))?;
    }
    Ok(())
}
