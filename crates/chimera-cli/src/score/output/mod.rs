//! Rows of scores in the formats that they are written in. All have the same columns.

mod csv;
mod lines;
mod parquet;
mod reader;

use std::io::{self, Write};
use std::path::Path;

use anyhow::bail;
use chimera::score::samples::SampleScores;
use chimera_logic::attributes::RuleSeverity;

use self::csv::Csv;
use self::lines::Lines;
use self::parquet::Parquet;
pub(crate) use self::reader::Reader;
use crate::console::file_of;
use crate::ending;

/// One input.
pub(crate) struct Row<'a> {
    pub(crate) id: &'a str,
    /// `None` where that is unknown.
    pub(crate) flagged: Option<bool>,
    /// Why it could not be scored.
    pub(crate) error: Option<&'a str>,
    /// How much the worst of what it is flagged for matters.
    pub(crate) severity: Option<RuleSeverity>,
    pub(crate) scores: &'a SampleScores,
    /// Names of the rules that are broken most, the worst first.
    pub(crate) top: Vec<&'a str>,
    /// Names of the rules that a flagged sample is flagged for; `None` where it is unknown whether it is flagged.
    pub(crate) flagged_rules: Option<Vec<&'a str>>,
}

impl<'a> Row<'a> {
    /// The row of an input that could not be scored. `nothing` has no score for each rule.
    pub(crate) fn without_scores(id: &'a str, error: &'a str, nothing: &'a SampleScores) -> Self {
        let (top, flagged_rules) = (Vec::new(), None);
        Self { id, flagged: None, error: Some(error), severity: None, scores: nothing, top, flagged_rules }
    }
}

/// Writes rows one after the other. What it was given may wait until the end.
pub(crate) trait Writer {
    /// What stands before all rows.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;
    fn row(&mut self, out: &mut dyn Write, row: &Row<'_>) -> io::Result<()>;
    /// What waits, and what stands behind all rows. Without it a file is not whole.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Lines,
    Parquet,
}

impl Format {
    /// What the name of a file says; standard output gets CSV, or with `--json` JSON lines.
    pub(crate) fn of(out: Option<&Path>, json: bool) -> anyhow::Result<Self> {
        let Some(path) = file_of(out) else { return Ok(if json { Self::Lines } else { Self::Csv }) };
        match ending::of(Some(path)).as_deref() {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::Lines),
            Some("parquet") => Ok(Self::Parquet),
            _ if path.starts_with("/dev") => Ok(Self::Csv),
            _ => bail!("expected a file ending in `.csv`, `.jsonl` or `.parquet`, got `{}`", path.display()),
        }
    }

    /// A writer for these rules.
    pub(crate) fn writer<'a>(self, rules: &[&'a str]) -> Box<dyn Writer + 'a> {
        match self {
            Self::Csv => Box::new(Csv::new(rules)),
            Self::Lines => Box::new(Lines::new(rules)),
            Self::Parquet => Box::new(Parquet::new(rules)),
        }
    }
}

/// The columns before those with numbers.
const FIRST: [&str; 4] = ["id", "anomaly", "flagged", "error"];

/// The columns behind those with numbers: the rules that are broken most, those beyond thresholds of their own, and how much the
/// worst of what a sample is flagged for matters.
const LAST: [&str; 3] = ["top_rules", "flagged_rules", "severity"];

/// Names of the columns with a number: of all rules how badly they are broken, then of all how probable they are.
fn number_columns(rules: &[&str]) -> Vec<String> {
    let named = |kind: &'static str| rules.iter().map(move |rule| format!("{kind}:{rule}"));
    named("rule").chain(named("p")).collect()
}

/// The numbers in these columns.
fn numbers(scores: &SampleScores) -> impl Iterator<Item = Option<f64>> {
    scores.s.iter().chain(&scores.p).copied()
}

#[cfg(test)]
mod tests {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_array::Array;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Float64Type;

    use super::*;

    /// A rule that can be scored, one that cannot, and a name that needs quotes.
    fn written(format: Format) -> Vec<u8> {
        let (rules, mut out) = (["r", "q"], Vec::new());
        let mut writer = format.writer(&rules);
        writer.begin(&mut out).unwrap();
        let half =
            SampleScores { anomaly: Some(0.1), reason: Some(0), p: vec![Some(0.9), None], s: vec![Some(0.1), None] };
        let (top, flagged_rules, severity) = (vec!["r"], Some(vec!["r"]), Some(RuleSeverity::High));
        let row = Row { id: "a,\"b", flagged: Some(true), error: None, severity, scores: &half, top, flagged_rules };
        writer.row(&mut out, &row).unwrap();
        let none = SampleScores { anomaly: None, reason: None, p: vec![None; 2], s: vec![None; 2] };
        writer.row(&mut out, &Row::without_scores("c", "cannot read `c`", &none)).unwrap();
        writer.end(&mut out).unwrap();
        out
    }

    #[test]
    fn the_unknown_is_no_number() {
        let text = |format| String::from_utf8(written(format)).unwrap();
        assert_eq!(
            text(Format::Csv),
            "id,anomaly,flagged,error,rule:r,rule:q,p:r,p:q,top_rules,flagged_rules,severity\n\
             \"a,\"\"b\",0.1,1,,0.1,,0.9,,r,r,high\nc,,,cannot read `c`,,,,,,,\n"
        );
        assert_eq!(
            text(Format::Lines),
            "{\"id\":\"a,\\\"b\",\"anomaly\":0.1,\"flagged\":true,\"error\":null,\"rule:r\":0.1,\"rule:q\":null,\"p:r\":0.9,\"p:q\":null,\
             \"top_rules\":[\"r\"],\"flagged_rules\":[\"r\"],\"severity\":\"high\"}\n{\"id\":\"c\",\"anomaly\":null,\"flagged\":null,\"error\":\"cannot read `c`\",\"rule:r\":null,\"rule:q\":null,\
             \"p:r\":null,\"p:q\":null,\"top_rules\":[],\"flagged_rules\":null,\"severity\":null}\n"
        );
        // The reader takes its bytes from a file.
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&written(Format::Parquet)).unwrap();
        let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        let batch = reader.next().unwrap().unwrap();
        let number = |column: usize, row: usize| {
            let column = batch.column(column).as_primitive::<Float64Type>();
            column.is_valid(row).then(|| column.value(row))
        };
        assert_eq!([1, 4, 5, 6, 7].map(|column| number(column, 0)), [Some(0.1), Some(0.1), None, Some(0.9), None]);
        assert_eq!([1, 4, 5, 6, 7].map(|column| number(column, 1)), [None; 5]);
        assert_eq!(batch.column(0).as_string::<i32>().value(0), "a,\"b");
        let (flagged, error) = (batch.column(2).as_boolean(), batch.column(3).as_string::<i32>());
        assert_eq!((flagged.value(0), flagged.is_null(1)), (true, true));
        assert_eq!((error.is_null(0), error.value(1)), (true, "cannot read `c`"));
        let lists = batch.column(8).as_list::<i32>();
        assert_eq!((lists.value_length(0), lists.value_length(1), lists.null_count()), (1, 0, 0));
        let severity = batch.column(10).as_string::<i32>();
        assert_eq!((severity.value(0), severity.is_null(1)), ("high", true));
    }
}
