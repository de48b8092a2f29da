//! `mine --explain`: what speaks for one rule, and samples that keep and break it.

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use chimera_data::dataset::Dataset;
use chimera_data::media::png::write_png;
use chimera_data::media::sheet::SheetParams;
use chimera_mine::Mining;
use chimera_mine::explain::{Explanation, explain};
use chimera_mine::rounding::down;

use super::report::interval;
use crate::Outcome;
use crate::args::MineArguments;
use crate::console::{self, Console};
use crate::ending;
use crate::table::{Align, Table, counted, grouped};

/// Refuses a place for the sheet before any work.
pub(super) fn check_sheet(arguments: &MineArguments) -> anyhow::Result<()> {
    let sheet = arguments.sheet.as_deref();
    ending::expect(sheet, &["png"])?;
    console::check_out(sheet, std::iter::empty(), &[&arguments.folder])
}

pub(super) fn run(
    arguments: &MineArguments,
    dataset: &Dataset,
    mining: &Mining,
    rule: &str,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let mut explanation = explain(dataset, mining, rule)?;
    let title = [explanation.formula.clone(), broken_words(&explanation)];
    if let Some(path) = &arguments.sheet {
        draw(path, arguments, dataset, &title, &mut explanation, console)?;
    }
    if arguments.json {
        console.write_json(&explanation)?;
    } else {
        write_text(&explanation, console.results())?;
    }
    Ok(Outcome::Done)
}

/// Half of the sheet for samples that break the rule, the rest for those that keep it, drawn by the seed.
fn draw(
    path: &Path,
    arguments: &MineArguments,
    dataset: &Dataset,
    title: &[String],
    explanation: &mut Explanation,
    console: &Console,
) -> anyhow::Result<()> {
    dataset.media_reader()?;
    if explanation.breaking.is_empty() && explanation.keeping.is_empty() {
        bail!(
            "no train sample keeps or breaks `{}`, so there is none to show on a sheet\nhint: leave out `--sheet`",
            explanation.formula
        );
    }
    for rows in [&mut explanation.breaking, &mut explanation.keeping] {
        chimera_data::seed::stream(arguments.seed, "samples that explain", 0).shuffle(rows);
    }
    let breaking = explanation.breaking.len().min(arguments.samples / 2);
    let keeping = explanation.keeping.len().min(arguments.samples - breaking);
    let breaking = &explanation.breaking[..explanation.breaking.len().min(arguments.samples - keeping)];
    let groups = [("breaks it", breaking), ("keeps it", &explanation.keeping[..])];
    let sheet = dataset.grouped_sheet(title, &groups, keeping.max(breaking.len()), SheetParams::default())?;
    write_png(path, &sheet.picture)?;
    let broken = title.last().map(String::as_str).unwrap_or_default();
    console.say(format_args!("{} in `{}`: {broken}", counted(sheet.shown, "sample"), path.display()));
    for (_, error) in &sheet.left_out {
        console.complain(format_args!("warning: left out: {error}"));
    }
    Ok(())
}

/// How many samples break a rule, for whoever looks at samples.
fn broken_words(explanation: &Explanation) -> String {
    let [breaking, keeping] = [&explanation.breaking, &explanation.keeping].map(Vec::len);
    match breaking {
        0 => format!("no train sample breaks it; {} with both sides keep it", counted(keeping, "sample")),
        _ => format!(
            "{} of the train split break{} it; {} with both sides keep it",
            counted(breaking, "sample"),
            if breaking == 1 { "s" } else { "" },
            counted(keeping, "sample")
        ),
    }
}

fn write_text(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    let [left, right] = &explanation.sides;
    writeln!(out, "{}\n\ntrain rows, `{left}` by `{right}`:", explanation.formula)?;
    let mut table =
        Table::new(&[("", Align::Left), ("holds", Align::Right), ("fails", Align::Right), ("unknown", Align::Right)]);
    for (name, counts) in ["holds", "fails", "unknown"].into_iter().zip(explanation.table) {
        let cells = counts.map(grouped);
        table.row(std::iter::once(name.to_owned()).chain(cells).collect());
    }
    table.write(out, 2)?;
    if !explanation.parts.is_empty() {
        let mut table = Table::new(&[
            ("rows", Align::Left),
            ("applies", Align::Right),
            ("kept", Align::Right),
            ("confidence", Align::Right),
            ("95 % interval", Align::Right),
            ("lift", Align::Right),
            ("p of these rows", Align::Right),
        ]);
        for part in &explanation.parts {
            let confidence = if part.support > 0 {
                format!("{:.4}", down(part.kept as f64 / part.support as f64))
            } else {
                String::new()
            };
            table.row(vec![
                part.rows.to_owned(),
                grouped(part.support),
                grouped(part.kept),
                confidence,
                interval(part.interval),
                part.lift.map_or_else(String::new, |lift| format!("{lift:.2}")),
                format!("{:.0e}", part.p),
            ]);
        }
        writeln!(out)?;
        table.write(out, 2)?;
    }
    if let Some(p) = explanation.p_adjusted {
        writeln!(out, "\nadjusted p, with all other tests taken into account: {p:.0e}")?;
    }
    writeln!(out, "\n{}", explanation.verdict)
}
