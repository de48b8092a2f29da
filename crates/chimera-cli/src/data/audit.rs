//! `data check --model`: of rows that break a rule, whether their labels are wrong or they are.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use chimera::audit::{self, Audit, Verdict};
use chimera::model::Model;
use chimera_data::dataset::Dataset;
use chimera_data::new_folder::NewFolder;
use chimera_leaf::device::DeviceChoice;
use chimera_leaf::stage::encode;
use chimera_logic::rules::RuleSet;

use crate::args::DataCheckArguments;
use crate::console::Console;
use crate::table::{Align, Table, grouped};
use crate::train::cache_folder;
use crate::train::events::Shown;

/// The page for people.
pub(super) const PAGE: &str = "audit.html";

/// So many rows are shown of each verdict.
const SHOWN: usize = 20;

/// Makes sure before any work that the files can go where `-o` says.
pub(super) fn check_place(arguments: &DataCheckArguments) -> anyhow::Result<()> {
    let Some(out) = &arguments.out else { return Ok(()) };
    NewFolder::create(out).map(drop)?;
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let around = |folder: &&Path| matches!((parent.canonicalize(), folder.canonicalize()), (Ok(parent), Ok(folder)) if parent.starts_with(&folder));
    let read = arguments.model.as_deref().into_iter().chain([arguments.folder.as_path()]);
    if let Some(folder) = read.into_iter().find(around) {
        bail!(
            "`{}` lies in `{}`, which the command reads; that is left as it is\nhint: give a folder elsewhere to `-o`",
            out.display(),
            folder.display()
        );
    }
    Ok(())
}

/// Opens the model that is asked, where one is, and makes sure that it can tell something of the dataset.
pub(super) fn open(
    arguments: &DataCheckArguments,
    dataset: &Dataset,
    rules: &RuleSet,
) -> anyhow::Result<Option<Model>> {
    let Some(folder) = &arguments.model else { return Ok(None) };
    let model = Model::open(folder, &DeviceChoice::default().open()?)?;
    audit::check_fit(&model, folder, dataset, rules)?;
    Ok(Some(model))
}

/// Audits, and writes the files where they are wanted.
pub(super) fn run(
    arguments: &DataCheckArguments,
    dataset: &Dataset,
    rules: &RuleSet,
    model: &Model,
    console: &Console,
) -> anyhow::Result<Audit> {
    let (cache, threads) = (cache_folder(arguments.cache.as_deref())?, arguments.threads.get());
    let shown = Shown::new(console);
    let encoded = encode(dataset, &model.bank, (&cache, threads, false), &|event| shown.show(&event))?;
    drop(shown);
    let bar = console.bar("fitting heads");
    let found = audit::audit(dataset, rules, &encoded, threads, &|done, total| bar.set(done, total))?;
    drop(bar);
    if let Some(out) = &arguments.out {
        audit::write(&found, dataset, out, threads)?;
    }
    Ok(found)
}

pub(super) fn write_text(audit: &Audit, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out)?;
    for note in audit.notes() {
        writeln!(out, "{note}")?;
    }
    match (audit.suspects.len(), audit.unjudged()) {
        (0, 0) => return writeln!(out, "no row to learn from breaks a rule: there is nothing to audit"),
        (0, _) => {
            return writeln!(
                out,
                "rows to learn from break only rules that are left out: nothing is said of their labels"
            );
        }
        _ => {}
    }
    let mut table = Table::new(&[
        ("rule", Align::Left),
        ("label errors", Align::Right),
        ("unsure", Align::Right),
        ("real violations", Align::Right),
        ("unknown", Align::Right),
    ]);
    for rule in audit.rules.iter().filter(|rule| rule.left_out.is_none()) {
        let counts = [rule.label_errors, rule.unsure, rule.real_violations, rule.unknown];
        let counts = counts.map(|count| grouped(count as u64));
        table.row([vec![rule.rule.clone()], counts.to_vec()].concat());
    }
    writeln!(out, "rows to learn from that break a rule, by what they probably are:")?;
    table.write(out, 2)?;
    for verdict in Verdict::ALL {
        write_verdict(audit, verdict, out)?;
    }
    Ok(())
}

fn write_verdict(audit: &Audit, verdict: Verdict, out: &mut dyn Write) -> io::Result<()> {
    let count = audit.count(verdict);
    if count == 0 {
        return Ok(());
    }
    let title = match verdict {
        Verdict::LabelError => "probable label errors",
        Verdict::Unsure => "unsure",
        Verdict::RealViolation => "probable real violations",
    };
    writeln!(out, "\n{title}, {} in all:", grouped(count as u64))?;
    let mut table = Table::new(&[
        ("confidence", Align::Right),
        ("id", Align::Left),
        ("split", Align::Left),
        ("rule", Align::Left),
        ("why", Align::Left),
    ]);
    let suspects = audit.suspects.iter().filter(|suspect| suspect.verdict == verdict);
    for suspect in suspects.take(SHOWN) {
        table.row(vec![
            format!("{:.2}", suspect.confidence),
            suspect.id.clone(),
            suspect.split.as_str().to_owned(),
            suspect.rule.clone(),
            suspect.words(),
        ]);
    }
    table.write(out, 2)?;
    if count > SHOWN {
        writeln!(out, "  and {} more; `--json` and `-o` have all", grouped((count - SHOWN) as u64))?;
    }
    Ok(())
}
