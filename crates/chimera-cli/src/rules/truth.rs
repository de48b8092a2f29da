//! `rules truth`: the exact truth of every rule on every sample, the numbers that training and evaluation use.

use std::io::{self, Write};

use anyhow::bail;
use chimera_data::dataset::labels_at;
use chimera_data::table::LabelTable;
use chimera_logic::bits::TruthTable;
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;

use super::input;
use crate::Outcome;
use crate::args::TruthArguments;
use crate::console::{Console, csv_error};
use crate::ending;
use crate::table::counted;

pub(crate) fn run(arguments: &TruthArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let expected = if arguments.json { ["jsonl", "json"] } else { ["csv", "txt"] };
    ending::expect(arguments.out.as_deref(), &expected)?;
    let table = labels_at(&arguments.labels.data)?;
    let rule_set = input::load_sound(&arguments.rules.file, Some(&table), console)?;
    if !arguments.json && rule_set.find("id").is_some() {
        bail!("a rule is named `id`, like the column of sample ids\nhint: rename the rule, or use `--json`");
    }
    let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(&table.labels);
    let write = |out: &mut dyn Write| {
        if arguments.json {
            write_json(&table, &rule_set, &truth, out)
        } else {
            write_csv(&table, &rule_set, &truth, out)
        }
    };
    console.write_out(arguments.out.as_deref(), &[&arguments.rules.file, &arguments.labels.data], write)?;
    let broken = (0..truth.rows()).filter(|&row| breaks_any(&truth, row)).count();
    let rows = counted(truth.rows(), "row");
    console.say(format_args!(
        "{rows}, {}: {} at least one rule",
        counted(truth.columns(), "rule"),
        break_words(broken)
    ));
    Ok(Outcome::Done)
}

fn break_words(broken: usize) -> String {
    if broken == 1 { "1 row breaks".to_owned() } else { format!("{} break", counted(broken, "row")) }
}

fn breaks_any(truth: &TruthTable, row: usize) -> bool {
    (0..truth.columns()).any(|column| truth.get(row, column) == Some(false))
}

fn write_csv(table: &LabelTable, rule_set: &RuleSet, truth: &TruthTable, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    let names = rule_set.rules.iter().map(|rule| rule.name.as_str());
    csv.write_record(std::iter::once("id").chain(names)).map_err(csv_error)?;
    for (row, id) in table.ids.iter().enumerate() {
        csv.write_field(id).map_err(csv_error)?;
        for column in 0..truth.columns() {
            let cell = match truth.get(row, column) {
                Some(true) => "1",
                Some(false) => "0",
                None => "",
            };
            csv.write_field(cell).map_err(csv_error)?;
        }
        csv.write_record(None::<&[u8]>).map_err(csv_error)?;
    }
    csv.flush()
}

fn write_json(table: &LabelTable, rule_set: &RuleSet, truth: &TruthTable, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<_> =
        rule_set.rules.iter().map(|rule| serde_json::Value::from(rule.name.as_str()).to_string()).collect();
    for (row, id) in table.ids.iter().enumerate() {
        write!(out, "{{\"id\":{},\"rules\":{{", serde_json::Value::from(id))?;
        for (column, name) in names.iter().enumerate() {
            let comma = if column > 0 { "," } else { "" };
            let value = match truth.get(row, column) {
                Some(true) => "true",
                Some(false) => "false",
                None => "null",
            };
            write!(out, "{comma}{name}:{value}")?;
        }
        writeln!(out, "}}}}")?;
    }
    Ok(())
}
