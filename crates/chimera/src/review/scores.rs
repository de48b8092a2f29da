//! Scores as `chimera score` wrote them, of the samples that were reviewed: from CSV, JSON lines and Parquet alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, PrimitiveArray, RecordBatch};
use serde_json::{Map, Value};

use chimera_data::error::{Error, Result};
use chimera_data::table::parquet_file::{guarded, open};

/// What stands before a rule's name in the column with how badly it is broken.
const RULE: &str = "rule:";

/// Scores of some samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scores {
    /// Rules that there is a column of.
    rules: Vec<String>,
    /// By id: the one number of the sample, then that of each rule.
    samples: BTreeMap<String, Vec<Option<f64>>>,
}

impl Scores {
    /// Reads those of wanted samples; others are passed over.
    ///
    /// # Errors
    /// A file that cannot be read, that has no scores, or a wanted sample twice.
    pub fn read(path: &Path, wanted: &BTreeSet<&str>) -> Result<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
        let file = File::open(path).map_err(|cause| Error::read(path, cause))?;
        let mut kept = Kept { path, wanted, columns: Vec::new(), scores: Self::default() };
        match ending.as_str() {
            "csv" | "tsv" => kept.csv(file, if ending == "tsv" { b'\t' } else { b',' })?,
            "jsonl" => kept.lines(file)?,
            "parquet" => kept.parquet(file)?,
            _ => {
                let message = format!("expected scores in `.csv`, `.jsonl` or `.parquet`, got `{}`", path.display());
                return Err(Error::input(message, Some("name the file that `chimera score -o` wrote".to_owned())));
            }
        }
        Ok(kept.scores)
    }

    /// Whether a sample is there.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.samples.contains_key(id)
    }

    /// Whether there is a column of a rule.
    #[must_use]
    pub(crate) fn has_rule(&self, rule: &str) -> bool {
        self.rules.iter().any(|name| name == rule)
    }

    /// The score of a sample and a rule, or of the sample as a whole; `None` where it is not known.
    #[must_use]
    pub fn get(&self, id: &str, rule: Option<&str>) -> Option<f64> {
        let place = match rule {
            None => 0,
            Some(rule) => 1 + self.rules.iter().position(|name| name == rule)?,
        };
        self.samples.get(id)?[place]
    }
}

/// What is being read.
struct Kept<'a> {
    path: &'a Path,
    wanted: &'a BTreeSet<&'a str>,
    /// Names of the columns that are read: the id, the one number of a sample, and rules.
    columns: Vec<String>,
    scores: Scores,
}

impl Kept<'_> {
    fn wrong(&self, words: &str) -> Error {
        let hint = "name the file that `chimera score -o` wrote";
        Error::input(format!("`{}`: {words}", self.path.display()), Some(hint.to_owned()))
    }

    /// Chooses columns by their names.
    fn head<'n>(&mut self, names: impl Iterator<Item = &'n str>) -> Result<()> {
        let names: Vec<&str> = names.collect();
        if let Some(missing) = ["id", "anomaly"].into_iter().find(|name| !names.contains(name)) {
            return Err(self.wrong(&format!("expected a column `{missing}`, got none")));
        }
        self.scores.rules = names.iter().filter_map(|name| name.strip_prefix(RULE)).map(str::to_owned).collect();
        let rules = self.scores.rules.iter().map(|rule| format!("{RULE}{rule}"));
        self.columns = ["id", "anomaly"].into_iter().map(str::to_owned).chain(rules).collect();
        Ok(())
    }

    fn add(&mut self, id: &str, place: u64, numbers: Vec<Option<f64>>) -> Result<()> {
        if self.scores.samples.insert(id.to_owned(), numbers).is_some() {
            return Err(self.wrong(&format!("line {place}: sample `{id}` is there twice")));
        }
        Ok(())
    }

    /// A number that is one.
    fn number(&self, place: u64, column: &str, (number, text): (Option<f64>, &str)) -> Result<Option<f64>> {
        match number.filter(|number| number.is_finite()) {
            Some(number) => Ok(Some(number)),
            None => Err(self.wrong(&format!("line {place}: expected a number in column `{column}`, got `{text}`"))),
        }
    }

    fn csv(&mut self, file: File, delimiter: u8) -> Result<()> {
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(file);
        let head = reader.headers().map_err(|error| self.wrong(&error.to_string()))?.clone();
        self.head(head.iter())?;
        let places: Vec<usize> =
            self.columns.iter().filter_map(|name| head.iter().position(|cell| cell == name)).collect();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(|error| self.wrong(&error.to_string()))? {
            let id = record.get(places[0]).unwrap_or_default().trim();
            if !self.wanted.contains(id) {
                continue;
            }
            let line = record.position().map_or(0, csv::Position::line);
            let number = |place: &usize| match record.get(*place).unwrap_or_default().trim() {
                "" => Ok(None),
                text => self.number(line, &head[*place], (text.parse().ok(), text)),
            };
            let numbers = places[1..].iter().map(number).collect::<Result<_>>()?;
            let id = id.to_owned();
            self.add(&id, line, numbers)?;
        }
        Ok(())
    }

    fn lines(&mut self, file: File) -> Result<()> {
        for (number, line) in (1_u64..).zip(BufReader::new(file).lines()) {
            let line = line.map_err(|cause| Error::read(self.path, cause))?;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |_| self.wrong(&format!("line {number}: expected a JSON object with scores"));
            let object: Map<String, Value> = serde_json::from_str(&line).map_err(wrong)?;
            if self.columns.is_empty() {
                self.head(object.keys().map(String::as_str))?;
            }
            let id = object.get("id").and_then(Value::as_str).map(str::trim);
            let Some(id) = id.filter(|id| self.wanted.contains(id)) else { continue };
            let of = |name: &String| match object.get(name) {
                None | Some(Value::Null) => Ok(None),
                Some(value) => self.number(number, name, (value.as_f64(), &value.to_string())),
            };
            let numbers = self.columns[1..].iter().map(of).collect::<Result<_>>()?;
            self.add(id, number, numbers)?;
        }
        if self.columns.is_empty() { Err(self.wrong("expected scores, got an empty file")) } else { Ok(()) }
    }

    fn parquet(&mut self, file: File) -> Result<()> {
        let builder = open(self.path, file)?;
        let names: Vec<String> = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        self.head(names.iter().map(String::as_str))?;
        let mut reader = guarded(self.path, || builder.build())?;
        let mut row = 0;
        while let Some(batch) = guarded(self.path, || reader.next().transpose())? {
            self.batch(&batch, &mut row)?;
        }
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch, row: &mut u64) -> Result<()> {
        let column = |name: &String| batch.column_by_name(name);
        let ids = self.columns.first().and_then(column).and_then(|ids| ids.as_string_opt::<i32>());
        let numbers = self.columns[1..].iter().map(|name| column(name)?.as_primitive_opt::<Float64Type>());
        let (Some(ids), Some(numbers)) = (ids, numbers.collect::<Option<Vec<_>>>()) else {
            return Err(self.wrong("expected ids as strings and scores as 64-bit floats, got other types"));
        };
        for place in 0..batch.num_rows() {
            *row += 1;
            let id = ids.value(place).trim();
            if self.wanted.contains(id) {
                let of = |(column, name): (&&PrimitiveArray<Float64Type>, &String)| {
                    let value = column.is_valid(place).then(|| column.value(place));
                    value.map_or(Ok(None), |value| self.number(*row, name, (Some(value), &value.to_string())))
                };
                let values = numbers.iter().zip(&self.columns[1..]).map(of).collect::<Result<_>>()?;
                self.add(id, *row, values)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Scores> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        Scores::read(&path, &BTreeSet::from(["a", "b"]))
    }

    #[test]
    fn what_was_wanted_is_read_from_text() {
        let csv = "id,anomaly,flagged,rule:r,rule:a b,p:r,p:a b\na,0.9,1,0.25,,0.1,\nc,0.1,0,0.1,0.1,0.9,0.9\nb,,0,1e-7,0.5,1,0.5\n";
        let lines = "{\"id\":\"a\",\"anomaly\":0.9,\"rule:r\":0.25,\"rule:a b\":null}\n\n{\"id\":\"b\",\"anomaly\":null,\"rule:r\":1e-7,\"rule:a b\":0.5}\n";
        for (name, text) in [("s.csv", csv), ("s.jsonl", lines), ("s.tsv", &csv.replace(',', "\t"))] {
            let found = read(name, text).unwrap();
            assert_eq!(
                [found.get("a", None), found.get("a", Some("r")), found.get("a", Some("a b"))],
                [Some(0.9), Some(0.25), None]
            );
            assert_eq!(
                [found.get("b", None), found.get("b", Some("r")), found.get("b", Some("a b"))],
                [None, Some(1e-7), Some(0.5)]
            );
            assert!(!found.has("c") && found.has_rule("a b") && !found.has_rule("p:r"), "{name}");
        }
    }

    #[test]
    fn ids_are_read_without_the_space_around_them() {
        for (name, text) in [("s.csv", "id,anomaly\n a ,0.5\n"), ("s.jsonl", "{\"id\":\" a \",\"anomaly\":0.5}\n")] {
            assert_eq!(read(name, text).unwrap().get("a", None), Some(0.5), "{name}");
        }
    }

    #[test]
    fn what_is_no_file_of_scores_is_said() {
        let refused = |name: &str, text: &str| read(name, text).unwrap_err().to_string();
        assert!(refused("s.txt", "").contains("expected scores in `.csv`, `.jsonl` or `.parquet`"));
        assert!(refused("s.csv", "id,a\na,1\n").contains("expected a column `anomaly`, got none"));
        let words = refused("s.csv", "id,anomaly,rule:r\na,0.5,high\n");
        assert!(words.contains("line 2: expected a number in column `rule:r`, got `high`"), "{words}");
        for word in ["NaN", "inf", "-inf"] {
            let words = refused("s.csv", &format!("id,anomaly\na,{word}\n"));
            assert!(words.contains(&format!("line 2: expected a number in column `anomaly`, got `{word}`")), "{words}");
        }
        let words = refused("s.jsonl", "{\"id\":\"a\",\"anomaly\":\"high\"}\n");
        assert!(words.contains("line 1: expected a number in column `anomaly`, got `\"high\"`"), "{words}");
        assert!(refused("s.csv", "id,anomaly\na,1\na,1\n").contains("line 3: sample `a` is there twice"));
        assert!(refused("s.jsonl", "").contains("empty file"));
        assert!(refused("s.jsonl", "[]\n").contains("line 1: expected a JSON object"));
        assert!(refused("s.parquet", "id").contains("expected a Parquet file"));
    }
}
