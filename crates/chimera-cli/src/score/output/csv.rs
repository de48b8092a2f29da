//! Scores as CSV: empty cells are unknown, names in lists of rules are separated by `|`.

use std::io::{self, Write};

use super::{FIRST, LAST, Row, Writer, number_columns, numbers};
use crate::console::csv_error;

pub(super) struct Csv {
    columns: Vec<String>,
}

impl Csv {
    pub(super) fn new(rules: &[&str]) -> Self {
        let first = FIRST.map(str::to_owned).into_iter();
        Self { columns: first.chain(number_columns(rules)).chain(LAST.map(str::to_owned)).collect() }
    }
}

impl Writer for Csv {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        record(out, &self.columns)
    }

    fn row(&mut self, out: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
        let cell = |number: Option<f64>| number.map_or_else(String::new, text);
        let mut cells = vec![row.id.to_owned(), cell(row.scores.anomaly)];
        cells.push(row.flagged.map_or_else(String::new, |flagged| u8::from(flagged).to_string()));
        cells.push(row.error.unwrap_or_default().to_owned());
        cells.extend(numbers(row.scores).map(cell));
        cells.extend([row.top.join("|"), row.flagged_rules.as_deref().unwrap_or_default().join("|")]);
        cells.push(row.severity.map_or_else(String::new, |severity| severity.to_string()));
        record(out, &cells)
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// The shortest text that gives the number back; small ones with an exponent rather than fifty zeros.
fn text(number: f64) -> String {
    if number != 0.0 && number.abs() < 1e-4 { format!("{number:e}") } else { number.to_string() }
}

/// One line. It goes through memory: a writer of its own would flush what is below it, row by row.
fn record(out: &mut dyn Write, cells: &[String]) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(Vec::with_capacity(1024));
    csv.write_record(cells).map_err(csv_error)?;
    out.write_all(&csv.into_inner().map_err(|error| io::Error::other(error.to_string()))?)
}
