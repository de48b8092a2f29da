//! `data check`: what is wrong with a dataset.

use std::io::{self, Write};

use chimera::audit::Audit;
use chimera_data::dataset::Dataset;
use chimera_data::dataset::check::{CheckReport, Finding, Listed, MediaCheck, Severity, UnknownLabels, check};
use chimera_data::split::Split;

use serde::Serialize;

use super::audit;
use crate::Outcome;
use crate::args::DataCheckArguments;
use crate::console::{self, Console};
use crate::rules::input;
use crate::table::{Align, Table, counted, grouped};

/// So many names are shown of a finding.
const LISTED: usize = 20;

/// So many concepts are shown that are unknown somewhere.
const MOST_UNKNOWN: usize = 5;

/// What `--json` prints.
#[derive(Serialize)]
struct Checked {
    #[serde(flatten)]
    report: CheckReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<Audit>,
}

pub(crate) fn run(arguments: &DataCheckArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    audit::check_place(arguments)?;
    let mut audit = None;
    let report = match Dataset::open(&arguments.folder) {
        Ok(dataset) => {
            let load = |path| input::load_sound(path, Some(dataset.table()), console);
            let rules = arguments.rules.as_deref().map(load).transpose()?;
            let bar = console.bar("media");
            let progress = |done: usize, total: usize| bar.set(done, total);
            let media = if arguments.no_decode {
                MediaCheck::Names
            } else {
                MediaCheck::Decode { threads: arguments.threads.get(), progress: &progress }
            };
            let opened = rules.as_ref().map(|rules| audit::open(arguments, &dataset, rules)).transpose()?.flatten();
            let report = check(&dataset, rules.as_ref(), media)?;
            drop(bar);
            if let (Some(rules), Some(model)) = (&rules, opened) {
                audit = Some(audit::run(arguments, &dataset, rules, &model, console)?);
            }
            report
        }
        Err(error) => CheckReport::about_unreadable(&arguments.folder, error)?,
    };
    let broken = audit.as_ref().map_or(0, |audit: &Audit| audit.suspects.len() + audit.unjudged());
    let found = report.count(Severity::Error) > 0 || broken > 0;
    if arguments.json {
        console::heard(console.write_json(&Checked { report, audit }))?;
    } else {
        let quiet = console.is_quiet();
        console::heard(write_text(&report, quiet, console.results()))?;
        if let Some(audit) = &audit {
            console::heard(audit::write_text(audit, console.results()))?;
        }
    }
    if let Some(out) = arguments.out.as_ref().filter(|out| out.join(audit::PAGE).is_file()) {
        console.say(format_args!("audit in `{}`", out.join(audit::PAGE).display()));
    }
    Ok(if found { Outcome::Findings } else { Outcome::Done })
}

fn write_text(report: &CheckReport, quiet: bool, out: &mut dyn Write) -> io::Result<()> {
    for finding in &report.findings {
        write_finding(finding, out)?;
    }
    if quiet {
        return Ok(());
    }
    if !report.rules.is_empty() {
        let mut table = Table::new(&[
            ("rule", Align::Left),
            ("train", Align::Right),
            ("calibration", Align::Right),
            ("test", Align::Right),
            ("oracle", Align::Right),
            ("unknown", Align::Right),
        ]);
        for rule in &report.rules {
            let broken = Split::ALL.map(|split| grouped(rule.broken.get(&split).map_or(0, Vec::len) as u64));
            let mut cells = vec![rule.rule.clone()];
            cells.extend(broken);
            cells.push(grouped(rule.unknown as u64));
            table.row(cells);
        }
        writeln!(out, "rows that break a rule:")?;
        table.write(out, 2)?;
        writeln!(out)?;
    }
    write_unknown(&report.unknown, out)?;
    match (report.count(Severity::Error), report.count(Severity::Warning)) {
        (0, 0) => writeln!(out, "no findings"),
        (errors, warnings) => writeln!(out, "{}, {}", counted(errors, "error"), counted(warnings, "warning")),
    }
}

fn write_finding(finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let word = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let count = if finding.listed.is_empty() { String::new() } else { format!("{} ", grouped(finding.count as u64)) };
    writeln!(out, "{word}: {count}{}", finding.message)?;
    for Listed { name, reason, .. } in finding.listed.iter().take(LISTED) {
        let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
        writeln!(out, "  {name}{reason}")?;
    }
    if finding.listed.len() > LISTED {
        writeln!(out, "  and {} more; `--json` lists all", grouped((finding.listed.len() - LISTED) as u64))?;
    }
    Ok(())
}

fn write_unknown(unknown: &UnknownLabels, out: &mut dyn Write) -> io::Result<()> {
    let Some(share) = unknown.share.filter(|share| *share > 0.0) else { return Ok(()) };
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let (part, all) = (grouped(unknown.unknown), grouped(unknown.cells));
    writeln!(out, "unknown labels: {} ({part} of {all})", percent(share))?;
    for (concept, share) in unknown.concepts.iter().take(MOST_UNKNOWN) {
        writeln!(out, "  {concept}: {}", percent(*share))?;
    }
    if unknown.concepts.len() > MOST_UNKNOWN {
        writeln!(out, "  and {} with less", counted(unknown.concepts.len() - MOST_UNKNOWN, "concept"))?;
    }
    writeln!(out)
}
