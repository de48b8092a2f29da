//! `rules check`: everything that is wrong with a rule file, and what it comes to.

use chimera_data::dataset::labels_at;
use chimera_data::table::LabelTable;
use chimera_logic::bits::{TruthCounts, TruthTable};
use chimera_logic::diagnostic::DiagnosticRecord;
use chimera_logic::lint::{lint, lint_data};
use chimera_logic::load::Loaded;
use chimera_logic::render::render_all;
use chimera_logic::rules::Sharing;
use chimera_logic::truth::Program;
use chimera_mine::record::records_in;
use serde::Serialize;

use super::input;
use crate::Outcome;
use crate::args::CheckArguments;
use crate::console::{self, Console};
use crate::table::{Align, Table, counted, grouped};

pub(crate) fn run(arguments: &CheckArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let table = arguments.data.as_deref().map(labels_at).transpose()?;
    let mut loaded = input::load_rules(&arguments.rules.file, table.as_ref())?;
    records_in(&loaded.sources, &mut loaded.diagnostics);
    lint(&loaded.rule_set, &mut loaded.diagnostics)?;
    if let Some(table) = &table {
        let (labels, rows) = training_labels(table);
        lint_data(&loaded.rule_set, &labels, &rows, &mut loaded.diagnostics);
    }
    let counts = table.as_ref().map(|table| truth_counts(&loaded, table));
    if arguments.json {
        let report = Report::new(&loaded, table.as_ref().map(|table| table.ids.len()), counts.as_deref());
        console::heard(console.write_json(&report))?;
    } else {
        let text = render_all(&loaded.diagnostics, &loaded.sources, console::results_palette());
        console::heard(write!(console.results(), "{text}"))?;
        if !console.is_quiet() {
            console::heard(write_summary(arguments, &loaded, table.as_ref(), counts.as_deref(), console))?;
        }
    }
    Ok(if loaded.diagnostics.errors() > 0 { Outcome::Findings } else { Outcome::Done })
}

/// The labels of the rows that a model would be trained on, and what to call them.
fn training_labels(table: &LabelTable) -> (TruthTable, String) {
    let rows = table.training_rows();
    let kind = if table.splits.is_some() { "training row" } else { "row" };
    let name = format!("the {} of `{}`", counted(rows.len(), kind), table.path.display());
    (table.labels.select(&rows), name)
}

/// On how many rows each rule holds, is broken or cannot be told.
fn truth_counts(loaded: &Loaded, table: &LabelTable) -> Vec<TruthCounts> {
    let truth = Program::compile(&loaded.rule_set.dag, &loaded.rule_set.roots()).evaluate(&table.labels);
    (0..truth.columns()).map(|column| truth.counts(column)).collect()
}

fn write_summary(
    arguments: &CheckArguments,
    loaded: &Loaded,
    table: Option<&LabelTable>,
    counts: Option<&[TruthCounts]>,
    console: &mut Console,
) -> anyhow::Result<()> {
    let rule_set = &loaded.rule_set;
    let Sharing { rules, concepts, gates, gates_unshared, levels, .. } = rule_set.sharing();
    let out = console.results();
    if let (Some(table), Some(counts), true) = (table, counts, rules > 0) {
        let mut lines = Table::new(&[
            ("rule", Align::Left),
            ("family", Align::Left),
            ("holds", Align::Right),
            ("broken", Align::Right),
            ("unknown", Align::Right),
        ]);
        for (rule, counts) in rule_set.rules.iter().zip(counts) {
            let numbers = [counts.holds, counts.fails, counts.unknown].map(grouped);
            let mut cells = vec![rule.name.clone(), rule_set.family(rule).to_string()];
            cells.extend(numbers);
            lines.row(cells);
        }
        writeln!(out, "{} of `{}`:", counted(table.ids.len(), "row"), table.path.display())?;
        lines.write(out, 2)?;
        writeln!(out)?;
    }
    writeln!(
        out,
        "{}: {} over {}, {} in {} ({} without sharing)",
        input::shown(&arguments.rules.file),
        counted(rules, "rule"),
        counted(concepts, "concept"),
        counted(gates, "gate"),
        counted(levels, "level"),
        grouped(gates_unshared),
    )?;
    let (errors, warnings) = (loaded.diagnostics.errors(), loaded.diagnostics.warnings());
    match (errors, warnings) {
        (0, 0) => writeln!(out, "no findings")?,
        _ => writeln!(out, "{}, {}", counted(errors, "error"), counted(warnings, "warning"))?,
    }
    Ok(())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    errors: usize,
    warnings: usize,
    /// Findings that are counted above but not listed.
    not_listed: usize,
    diagnostics: Vec<DiagnosticRecord>,
    sharing: Sharing,
    rows: Option<usize>,
    rules: Vec<RuleReport<'a>>,
}

#[derive(Serialize)]
struct RuleReport<'a> {
    name: &'a str,
    family: String,
    formula: String,
    #[serde(flatten)]
    counts: Option<TruthCounts>,
}

impl<'a> Report<'a> {
    fn new(loaded: &'a Loaded, rows: Option<usize>, counts: Option<&[TruthCounts]>) -> Self {
        let Loaded { rule_set, diagnostics, sources } = loaded;
        let rule = |(index, rule): (usize, &'a chimera_logic::rules::Rule)| RuleReport {
            name: &rule.name,
            family: rule_set.family(rule).to_string(),
            formula: rule_set.dag.text(rule.root),
            counts: counts.map(|counts| counts[index]),
        };
        Self {
            errors: diagnostics.errors(),
            warnings: diagnostics.warnings(),
            not_listed: diagnostics.dropped(),
            diagnostics: diagnostics.kept().iter().map(|diagnostic| diagnostic.to_record(sources)).collect(),
            sharing: rule_set.sharing(),
            rows,
            rules: rule_set.rules.iter().enumerate().map(rule).collect(),
        }
    }
}
