//! `card.md` of a model: what it was made of, what it can do and what it cannot, on a page for people.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_data::metric::MacroMean;
use chimera_data::split::Split;
use chimera_leaf::stage::MeasuredOn;
use serde::Deserialize;

use crate::gate::report::{AuditedOn, GateReport, GatesReport};
use crate::model::{CARD, LEAVES, ModelManifest};

/// So many rules and concepts are listed.
const LISTED: usize = 50;

/// The columns of `leaves.csv` that the card reads.
const READ: [&str; 4] = ["concept", "auroc", "ap", "prevalence"];

/// Writes the card of a model, from its manifest, the dataset that it was trained on, what became of its gates, and the files
/// that lie in its folder.
///
/// # Errors
/// A folder that cannot be written, and metrics of concepts that cannot be read.
pub fn write(folder: &Path, manifest: &ModelManifest, dataset: &Dataset, gates: Option<&GatesReport>) -> Result<()> {
    let leaves = manifest.measured_on.map(|on| Ok((on, leaves_in(folder)?))).transpose()?;
    let text = card(manifest, dataset, gates, leaves.as_ref());
    write_atomic(&folder.join(CARD), |out| out.write_all(text.as_bytes()))
}

/// Metrics of concepts, and the rows that they are of.
type Leaves = (MeasuredOn, Vec<Leaf>);

/// What the card says of a concept. Columns of `leaves.csv` are known by their names; others may stand between them.
#[derive(Debug, Deserialize)]
struct Leaf {
    concept: String,
    auroc: Option<f64>,
    ap: Option<f64>,
    prevalence: Option<f64>,
}

fn leaves_in(folder: &Path) -> Result<Vec<Leaf>> {
    let path = folder.join(LEAVES);
    let text = fs::read_to_string(&path).map_err(|cause| Error::read(&path, cause))?;
    let other = |why: String| {
        let message = format!("expected metrics of concepts in `{}`, got other content: {why}", path.display());
        Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
    };
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|error| other(error.to_string()))?;
    // A number that is missing in all rows would otherwise look like one that is undefined.
    if let Some(name) = READ.into_iter().find(|name| !columns.iter().any(|column| column == *name)) {
        return Err(other(format!("there is no column `{name}`")));
    }
    reader.deserialize().collect::<csv::Result<_>>().map_err(|error| other(error.to_string()))
}

fn card(manifest: &ModelManifest, dataset: &Dataset, gates: Option<&GatesReport>, leaves: Option<&Leaves>) -> String {
    let mut text = format!("# A model of {}\n\n", plain(&manifest.dataset.name));
    let concepts = manifest.bank.concepts.len();
    let rules = gates.map_or(0, |report| report.rules.len());
    let _ = writeln!(
        text,
        "It recognises {concepts} concepts{}. Made by chimera {} with seed {}.\n",
        if rules > 0 {
            format!(" and tells how likely a sample breaks each of {rules} rules over them")
        } else {
            String::new()
        },
        manifest.chimera,
        manifest.config.seed
    );
    data(&mut text, manifest, dataset);
    recognised(&mut text, leaves);
    if let Some(gates) = gates {
        taught(&mut text, manifest, gates);
    }
    limits(&mut text, gates);
    text
}

fn data(text: &mut String, manifest: &ModelManifest, dataset: &Dataset) {
    let trained_on = &manifest.dataset;
    let _ = writeln!(text, "## Data\n\n| what | |\n|---|---|");
    let _ = writeln!(text, "| dataset | {}, of kind {} |", plain(&trained_on.name), dataset.manifest().kind.as_str());
    for split in Split::ALL {
        let rows = dataset.splits().iter().filter(|other| **other == split).count();
        if rows > 0 {
            let _ = writeln!(text, "| split {split} | {rows} rows |");
        }
    }
    let _ = writeln!(text, "| learned from | {} rows of train |", trained_on.rows);
    let _ = writeln!(text, "| left out | {} rows without a medium that can be decoded |", trained_on.left_out);
    for (what, hash) in &trained_on.fingerprints {
        let _ = writeln!(text, "| fingerprint of {what} | `{}` |", hash.get(..16).unwrap_or(hash));
    }
    let _ = writeln!(
        text,
        "| encoder | {} numbers a sample, `{}` |\n",
        manifest.bank.encoder.features(),
        manifest.encoder.hash.get(..16).unwrap_or(&manifest.encoder.hash)
    );
}

/// Metrics of concepts, from `leaves.csv`.
fn recognised(text: &mut String, leaves: Option<&Leaves>) {
    let _ = writeln!(text, "## How well concepts are recognised\n");
    let Some((on, rows)) = leaves else {
        let _ = writeln!(text, "There are neither test nor calibration rows: nothing tells.\n");
        return;
    };
    let on = match on {
        MeasuredOn::Test => "test rows, which nothing was fitted to",
        MeasuredOn::FitHalf => {
            "calibration rows, for want of test rows; training has seen them, so the numbers flatter"
        }
    };
    let mean = |metric: fn(&Leaf) -> Option<f64>| {
        let mean = MacroMean::of(rows.iter().map(metric));
        format!("{} (of {})", mean.mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.3}")), mean.defined)
    };
    let [auroc, ap] = [mean(|leaf| leaf.auroc), mean(|leaf| leaf.ap)];
    let _ = writeln!(text, "On {on}. Mean over concepts: AUROC {auroc}, average precision {ap}.\n");
    let _ = writeln!(text, "| concept | AUROC | AP | prevalence |\n|---|--:|--:|--:|");
    for Leaf { concept, auroc, ap, prevalence } in rows.iter().take(LISTED) {
        let [auroc, ap, prevalence] =
            [auroc, ap, prevalence].map(|value| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}")));
        let _ = writeln!(text, "| {} | {auroc} | {ap} | {prevalence} |", plain(concept));
    }
    if rows.len() > LISTED {
        let _ = writeln!(text, "\nAnd {} more in `{LEAVES}`.", rows.len() - LISTED);
    }
    text.push('\n');
}

/// Rules, with how faithful their gates are.
fn taught(text: &mut String, manifest: &ModelManifest, gates: &GatesReport) {
    let Some(section) = &manifest.gates else { return };
    let _ = writeln!(text, "## Rules\n\n{}", fenced(&section.rules));
    let on = match gates.audited_on {
        AuditedOn::FitHalf => "chimeras of rows that no gate has seen",
        AuditedOn::Train => "chimeras of train rows, as there are too few others (so they flatter)",
    };
    let _ = writeln!(
        text,
        "{} of {} train rows break a rule. How often gates are right about {on}, by rule:\n",
        gates.broken_rows, gates.train_rows
    );
    let _ = writeln!(text, "| rule | gates | right | note |\n|---|--:|--:|---|");
    let fallbacks = gates.grafts.as_ref().map(|grafts| &grafts.fallbacks);
    for rule in gates.rules.iter().take(LISTED) {
        let of_rule: Vec<&GateReport> = gates.gates_of(&rule.name).collect();
        let right = of_rule.iter().filter_map(|gate| gate.audit.fidelity()).min_by(f64::total_cmp);
        let note = match (&rule.skipped, fallbacks.and_then(|fallbacks| fallbacks.get(&rule.name))) {
            (Some(reason), _) => format!("cannot be scored: {reason}"),
            (None, Some(_)) => "`neural` is `indep-cal` here: grafts cannot be trusted".to_owned(),
            (None, None) => String::new(),
        };
        let right = right.map_or_else(|| "-".to_owned(), |right| format!("{right:.3}"));
        let _ = writeln!(text, "| {} | {} | {right} | {} |", plain(&rule.name), of_rule.len(), plain(&note));
    }
    if gates.rules.len() > LISTED {
        let _ = writeln!(text, "\nAnd {} more in `gates.json`.", gates.rules.len() - LISTED);
    }
    let _ = writeln!(
        text,
        "\nThresholds come from {} calibration rows on which every rule holds (`thresholds.json`). How well violations are found is what \
         `chimera eval` measures.\n",
        section.normal_rows
    );
}

fn limits(text: &mut String, gates: Option<&GatesReport>) {
    let _ = writeln!(text, "## Limits\n");
    let mut lines = vec![
        "Labels are the dataset's own, and a violation is what they come to by the rules; neither is a human judgement of what is dangerous or wrong.",
        "It knows the concepts that it was taught, on data like those that it was taught on. Other cameras, places and times need a test of their own.",
        "Do not decide anything of consequence by its scores without a validation of your own.",
    ];
    if gates.is_some() {
        lines.push("A score ranks samples. Thresholds promise a rate of false alarms on samples like the normal calibration rows, and no rate of violations found.");
    }
    lines.iter().for_each(|line| _ = writeln!(text, "- {line}"));
}

/// A name in a cell of a table.
fn plain(name: &str) -> String {
    name.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// Text as it is, between fences that nothing in it can close.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}text\n{text}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_closes_a_fence_but_its_end() {
        assert_eq!(fenced("a: b => c\n"), "```text\na: b => c\n```\n");
        assert_eq!(fenced("\"```\": b\n"), "````text\n\"```\": b\n````\n");
        assert_eq!(fenced("`` `````\n"), "``````text\n`` `````\n``````\n");
    }

    #[test]
    fn metrics_that_cannot_be_read_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(leaves_in(folder.path()).unwrap_err().to_string().contains(LEAVES));
        fs::write(folder.path().join(LEAVES), "concept,auroc\na,0.5,0.5\n").unwrap();
        let error = leaves_in(folder.path()).unwrap_err().to_string();
        assert!(error.starts_with("expected metrics of concepts in"), "{error}");
        fs::write(folder.path().join(LEAVES), "concept,auroc,accuracy,prevalence\na,0.5,0.5,0.5\n").unwrap();
        let error = leaves_in(folder.path()).unwrap_err().to_string();
        assert!(error.contains("there is no column `ap`"), "{error}");
    }

    #[test]
    fn metrics_are_read_by_the_names_of_their_columns() {
        let folder = tempfile::tempdir().unwrap();
        let rows = "new,prevalence,ap,concept,auroc\n1,0.25,0.75,\"a, b\",0.5\n1,,,c,\n";
        fs::write(folder.path().join(LEAVES), rows).unwrap();
        let leaves = leaves_in(folder.path()).unwrap();
        let mut text = String::new();
        recognised(&mut text, Some(&(MeasuredOn::Test, leaves)));
        assert!(text.contains("AUROC 0.500 (of 1), average precision 0.750 (of 1).\n"), "{text}");
        assert!(text.contains("| a, b | 0.500 | 0.750 | 0.250 |\n| c | - | - | - |\n"), "{text}");
    }
}
