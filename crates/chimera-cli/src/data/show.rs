//! `data show`: what a dataset holds.

use std::io::{self, Write};

use chimera_data::dataset::Dataset;
use chimera_data::dataset::summary::{ConceptSummary, Summary, summarise};
use chimera_data::media::png::write_png;
use chimera_data::media::sheet::SheetParams;

use crate::Outcome;
use crate::args::DataShowArguments;
use crate::console::Console;
use crate::ending;
use crate::table::{Align, Table, counted, grouped};

pub(crate) fn run(arguments: &DataShowArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let dataset = Dataset::open(&arguments.folder)?;
    ending::expect(arguments.sheet.as_deref(), &["png"])?;
    let summary = summarise(&dataset, arguments.top)?;
    if arguments.json {
        console.write_json(&summary)?;
    } else {
        write_text(&summary, arguments.top, console.results())?;
    }
    if let Some(path) = &arguments.sheet {
        let sheet = dataset.contact_sheet(arguments.samples, arguments.seed, SheetParams::default())?;
        write_png(path, &sheet.picture)?;
        console.say(format_args!("{} in `{}`", counted(sheet.shown, "sample"), path.display()));
        for (_, error) in &sheet.left_out {
            console.complain(format_args!("warning: left out: {error}"));
        }
    }
    Ok(Outcome::Done)
}

fn write_text(summary: &Summary, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let (kind, concepts) = (summary.kind.as_str(), counted(summary.concepts.len(), "concept"));
    writeln!(out, "{}: {} of kind {kind}, {concepts}", summary.name, counted(summary.rows, "sample"))?;
    for size in &summary.splits {
        writeln!(out, "  {:<12} {:>10}", size.split.as_str(), grouped(size.rows as u64))?;
    }
    let [fit, thresholds] = summary.calibration_halves;
    if fit + thresholds > 0 {
        writeln!(out, "  calibration: {fit} to fit, {thresholds} for thresholds")?;
    }
    if let Some(groups) = summary.groups {
        writeln!(out, "  {}", counted(groups, "group"))?;
    }
    if summary.with_media > 0 {
        let missing = match summary.missing_media {
            0 => String::new(),
            missing => format!(", {} of which are not there", grouped(missing as u64)),
        };
        writeln!(out, "  {} with media{missing}", counted(summary.with_media, "sample"))?;
    }
    if let Some(width) = summary.feature_width {
        writeln!(out, "  features of {} each", counted(width, "number"))?;
    }
    if let Some(share) = summary.unknown_share.filter(|share| *share > 0.0) {
        writeln!(out, "  {:.1} % of labels unknown", 100.0 * share)?;
    }
    write_concepts(summary, top, out)?;
    write_pairs(summary, out)?;
    let prints = &summary.fingerprints;
    writeln!(out, "\nrows {}\nlabels {}\nmedia {}", prints.rows, prints.labels, prints.media)?;
    prints.features.as_ref().map_or(Ok(()), |features| writeln!(out, "features {features}"))
}

fn write_concepts(summary: &Summary, top: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut concepts: Vec<&ConceptSummary> = summary.concepts.iter().collect();
    concepts.sort_by_key(|concept| std::cmp::Reverse(concept.positives));
    let mut table = Table::new(&[
        ("concept", Align::Left),
        ("positives", Align::Right),
        ("unknown", Align::Right),
        ("prevalence", Align::Right),
    ]);
    for concept in concepts.iter().take(top) {
        let prevalence = concept.prevalence.map_or_else(String::new, |share| format!("{share:.4}"));
        let numbers = [concept.positives, concept.unknown].map(grouped);
        let [positives, unknown] = numbers;
        table.row(vec![concept.concept.clone(), positives, unknown, prevalence]);
    }
    writeln!(out)?;
    table.write(out, 2)?;
    if concepts.len() > top {
        writeln!(out, "  and {}", counted(concepts.len() - top, "rarer concept"))?;
    }
    Ok(())
}

fn write_pairs(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    if summary.pairs.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&[
        ("together or apart", Align::Left),
        ("", Align::Left),
        ("both", Align::Right),
        ("phi", Align::Right),
        ("lift", Align::Right),
    ]);
    for pair in &summary.pairs {
        let (phi, lift) = (format!("{:.3}", pair.phi), format!("{:.2}", pair.lift));
        table.row(vec![pair.first.clone(), pair.second.clone(), grouped(pair.both), phi, lift]);
    }
    writeln!(out)?;
    table.write(out, 2)
}
