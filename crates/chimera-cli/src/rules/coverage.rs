//! `rules coverage`: for every gate, how many rows hold each truth configuration of its operands.

use std::io::{self, Write};

use chimera_data::dataset::labels_at;
use chimera_logic::coverage::{Configuration, GateCoverage, coverage};
use chimera_logic::dag::Edge;
use chimera_logic::rules::{RuleId, RuleSet};
use serde::Serialize;

use super::input;
use crate::Outcome;
use crate::args::{CoverageArguments, TableFormat};
use crate::console::{Console, csv_error};
use crate::ending;
use crate::table::{Align, Table, counted, grouped};

pub(crate) fn run(arguments: &CoverageArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let format = format_of(arguments)?;
    let table = labels_at(&arguments.labels.data)?;
    let rule_set = input::load_sound(&arguments.rules.file, Some(&table), console)?;
    let gates = coverage(&rule_set.dag, &rule_set.roots(), &table.labels);
    let coverage = Coverage { rule_set: &rule_set, gates, users: rule_set.users() };
    let write = |out: &mut dyn Write| match format {
        TableFormat::Table => write_table(&coverage, out),
        TableFormat::Csv => write_csv(&coverage, out),
        TableFormat::Json => write_json(&coverage, out),
    };
    console.write_out(arguments.out.as_deref(), &[&arguments.rules.file, &arguments.labels.data], write)?;
    let short = coverage.gates.iter().filter(|gate| gate.missing() != Some(0)).count();
    console.say(format_args!(
        "{} over {}: {short} with configurations that no row holds",
        counted(coverage.gates.len(), "gate"),
        counted(table.ids.len(), "row"),
    ));
    Ok(Outcome::Done)
}

/// The format asked for, else the one that the file's name says, else a table.
fn format_of(arguments: &CoverageArguments) -> anyhow::Result<TableFormat> {
    let asked = if arguments.json { Some(TableFormat::Json) } else { arguments.format };
    let format = asked.unwrap_or(match ending::of(arguments.out.as_deref()).as_deref() {
        Some("csv") => TableFormat::Csv,
        Some("json") => TableFormat::Json,
        _ => TableFormat::Table,
    });
    let endings = match format {
        TableFormat::Table => ["txt", "md"],
        TableFormat::Csv => ["csv", "txt"],
        TableFormat::Json => ["json", "txt"],
    };
    ending::expect(arguments.out.as_deref(), &endings)?;
    Ok(format)
}

/// What is printed: the gates with the rules that use them.
struct Coverage<'a> {
    rule_set: &'a RuleSet,
    gates: Vec<GateCoverage>,
    users: Vec<Vec<RuleId>>,
}

impl Coverage<'_> {
    /// The rules that use a gate, by name.
    fn users(&self, gate: &GateCoverage) -> Vec<&str> {
        self.users[gate.node.index()].iter().map(|rule| self.rule_set.rules[rule.index()].name.as_str()).collect()
    }

    fn formula(&self, gate: &GateCoverage) -> String {
        self.rule_set.dag.text(Edge::new(gate.node, false))
    }

    fn operands(&self, gate: &GateCoverage) -> Vec<String> {
        gate.operands.iter().map(|&operand| self.rule_set.dag.text(operand)).collect()
    }
}

fn bits(configuration: &Configuration) -> String {
    configuration.values.iter().map(|&value| if value { '1' } else { '0' }).collect()
}

fn write_table(coverage: &Coverage<'_>, out: &mut dyn Write) -> io::Result<()> {
    for gate in &coverage.gates {
        writeln!(out, "{}   [{}]", coverage.formula(gate), coverage.users(gate).join(", "))?;
        let operands = coverage.operands(gate);
        let narrow = gate.operands.len() <= 6;
        let mut columns: Vec<(&str, Align)> = Vec::new();
        if narrow {
            columns.extend(operands.iter().map(|text| (text.as_str(), Align::Right)));
        } else {
            columns.push(("operands", Align::Left));
        }
        columns.extend([(gate.op.name(), Align::Right), ("rows", Align::Right), ("", Align::Left)]);
        let mut lines = Table::new(&columns);
        for configuration in gate.configurations() {
            let digit = |value: bool| if value { "1" } else { "0" }.to_owned();
            let mut cells: Vec<_> = if narrow {
                configuration.values.iter().map(|&value| digit(value)).collect()
            } else {
                vec![bits(&configuration)]
            };
            let remark = if configuration.rows == 0 { "none" } else { "" };
            cells.extend([digit(configuration.result), grouped(configuration.rows), remark.to_owned()]);
            lines.row(cells);
        }
        lines.write(out, 4)?;
        if gate.unknown_rows > 0 {
            writeln!(out, "    {} with an unknown operand", counted(gate.unknown_rows as usize, "row"))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_csv(coverage: &Coverage<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record([
        "gate",
        "level",
        "formula",
        "rules",
        "operator",
        "operands",
        "configuration",
        "result",
        "rows",
        "unknown_rows",
    ])
    .map_err(csv_error)?;
    for gate in &coverage.gates {
        let operands = coverage.operands(gate);
        let name = format!("g{}", gate.node.index());
        let (level, operands) = (coverage.rule_set.dag.level(gate.node).to_string(), operands.join("; "));
        let (formula, users) = (coverage.formula(gate), coverage.users(gate).join("; "));
        for configuration in gate.configurations() {
            let result = if configuration.result { "1" } else { "0" };
            let (bits, rows) = (bits(&configuration), configuration.rows.to_string());
            let unknown = gate.unknown_rows.to_string();
            csv.write_record([
                &name,
                &level,
                &formula,
                &users,
                gate.op.name(),
                &operands,
                &bits,
                result,
                &rows,
                &unknown,
            ])
            .map_err(csv_error)?;
        }
    }
    csv.flush()
}

/// One gate of `--json`.
#[derive(Serialize)]
struct GateRecord<'a> {
    gate: usize,
    level: u32,
    formula: String,
    rules: Vec<&'a str>,
    operator: &'static str,
    operands: Vec<String>,
    known_rows: u64,
    unknown_rows: u64,
    /// `null` when there are more than 64 bits can count.
    missing: Option<u64>,
    configurations: Vec<ConfigurationRecord>,
}

#[derive(Serialize)]
struct ConfigurationRecord {
    operands: Vec<bool>,
    result: bool,
    rows: u64,
}

fn write_json(coverage: &Coverage<'_>, out: &mut dyn Write) -> io::Result<()> {
    let configuration = |Configuration { values, result, rows }| ConfigurationRecord { operands: values, result, rows };
    let records: Vec<_> = coverage
        .gates
        .iter()
        .map(|gate| GateRecord {
            gate: gate.node.index(),
            level: coverage.rule_set.dag.level(gate.node),
            formula: coverage.formula(gate),
            rules: coverage.users(gate),
            operator: gate.op.name(),
            operands: coverage.operands(gate),
            known_rows: gate.known_rows,
            unknown_rows: gate.unknown_rows,
            missing: gate.missing(),
            configurations: gate.configurations().into_iter().map(configuration).collect(),
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &records)?;
    writeln!(out)
}
