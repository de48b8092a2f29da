//! Scores as JSON lines: an object a sample, `null` where something is unknown.

use std::io::{self, Write};

use serde::ser::{SerializeMap, Serializer};

use super::{FIRST, LAST, Row, Writer, number_columns, numbers};

pub(super) struct Lines {
    columns: Vec<String>,
}

impl Lines {
    pub(super) fn new(rules: &[&str]) -> Self {
        Self { columns: number_columns(rules) }
    }
}

impl Writer for Lines {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, out: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
        let mut line = serde_json::Serializer::new(&mut *out);
        let mut object = line.serialize_map(None)?;
        let [id, anomaly, flagged, error] = FIRST;
        object.serialize_entry(id, row.id)?;
        object.serialize_entry(anomaly, &row.scores.anomaly)?;
        object.serialize_entry(flagged, &row.flagged)?;
        object.serialize_entry(error, &row.error)?;
        for (name, number) in self.columns.iter().zip(numbers(row.scores)) {
            object.serialize_entry(name, &number)?;
        }
        let [top, flagged, severity] = LAST;
        object.serialize_entry(top, &row.top)?;
        object.serialize_entry(flagged, &row.flagged_rules)?;
        object.serialize_entry(severity, &row.severity.map(|severity| severity.to_string()))?;
        object.end()?;
        writeln!(out)
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
