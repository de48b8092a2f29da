//! Label tables in JSON lines: an object a line, a key a column. What an object does not mention is unknown.

use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

use indexmap::IndexSet;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::error::table::{Numbering, TableProblems};
use crate::error::{Error, Result, shown};
use crate::table::LabelTable;
use crate::table::cell::{CellRule, NotALabel};
use crate::table::columns::{TableOptions, Text};
use crate::table::extras::Extras;
use crate::table::header::Header;
use crate::table::label_columns::LabelColumns;
use crate::table::sample_ids::SampleIds;

/// Reads a table. The file is read twice, since the last line may name a new column.
pub(super) fn read(path: &Path, mut file: File, options: &TableOptions) -> Result<LabelTable> {
    let mut names: IndexSet<String> = IndexSet::new();
    let mut problems = TableProblems::new(path, Numbering::Lines);
    each_object(path, &file, &mut problems, |_, object, _| names.extend(object.0.into_iter().map(|(name, _)| name)))?;
    let mut problems = problems.stop_here()?;
    if names.is_empty() {
        let message = format!("expected an object with `id` and concepts a line in `{}`, got none", path.display());
        return Err(Error::input(message, None));
    }
    let header = Header::from_names(names.iter().map(String::as_str), 1, options, &mut problems);
    let mut problems = problems.stop_here()?;

    file.rewind().map_err(|cause| Error::read(path, cause))?;
    let (mut ids, mut columns, mut rows) = (SampleIds::default(), LabelColumns::new(header.concepts.len()), 0);
    let mut extras = Extras::new(&header);
    let mut values: Vec<Value> = Vec::new();
    each_object(path, &file, &mut problems, |line, object, problems| {
        values.clear();
        values.resize(names.len(), Value::Null);
        for (name, value) in object.0 {
            if let Some(position) = names.get_index_of(&name) {
                values[position] = value;
            }
        }
        ids.add(&text_of(&values[header.id]).unwrap_or_default(), line, problems);
        for (text, position) in Text::ALL.into_iter().zip(header.texts) {
            let Some(position) = position else { continue };
            let cell = text_of(&values[position]);
            if cell.is_none() {
                let got = || shown(&values[position].to_string());
                let words = || (format!("expected a string or an integer, got `{}`", got()), None);
                problems.add_in_column(line, (position, &names[position]), words);
            }
            extras.add(text, &cell.unwrap_or_default());
        }
        if let Some(position) = header.oov_ancestors {
            match &values[position] {
                Value::Array(items) => extras.add_ancestors(items.iter().filter_map(Value::as_str)),
                other => extras.add_ancestor_cell(&text_of(other).unwrap_or_default()),
            }
        }
        for (concept, &position) in header.positions.iter().enumerate() {
            match label_of(&values[position], options.cells) {
                Ok(Some(label)) => columns.set(concept, label),
                Ok(None) => {}
                Err(NotALabel) => {
                    let words = || options.cells.complaint(&values[position].to_string());
                    problems.add_in_column(line, (position, &names[position]), words);
                }
            }
        }
        columns.end_row();
        rows += 1;
    })?;
    problems.into_result()?;
    Ok(LabelTable::from_parts(path, ids.into_parts(), columns.into_table(rows), header.concepts, extras))
}

/// Hands over every object with its line; lines that hold none are problems, blank ones nothing.
fn each_object(
    path: &Path,
    file: &File,
    problems: &mut TableProblems,
    mut take: impl FnMut(u64, Object, &mut TableProblems),
) -> Result<()> {
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let (mut bytes, mut line) = (Vec::new(), 0);
    loop {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(|cause| Error::read(path, cause))? == 0 {
            return Ok(());
        }
        line += 1;
        // What Windows puts before text in UTF-8.
        let object = if line == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) } else { &bytes };
        if object.trim_ascii().is_empty() {
            continue;
        }
        match serde_json::from_slice(object) {
            Ok(object) => take(line, object, problems),
            Err(error) => {
                let words = error.to_string();
                // The parser counts lines itself, but sees only one.
                let words = words.split(" at line ").next().unwrap_or(&words);
                problems.add(line, format!("expected an object a line, got something else: {words}"), None);
            }
        }
    }
}

/// The text in a value; an integer is an id too. `None` if it is neither.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::String(text) => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

fn label_of(value: &Value, rule: CellRule) -> std::result::Result<Option<bool>, NotALabel> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(label) => Ok(Some(*label)),
        Value::String(text) => rule.parse(text),
        Value::Number(number) => match number.as_f64() {
            Some(0.0) => rule.label(0),
            Some(1.0) => rule.label(1),
            Some(-1.0) => rule.label(-1),
            _ => Err(NotALabel),
        },
        _ => Err(NotALabel),
    }
}

/// The members of an object in the order of the file, none twice.
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
        let (mut members, mut names) = (Vec::new(), IndexSet::new());
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if !names.insert(name.trim().to_owned()) {
                return Err(serde::de::Error::custom(format_args!("`{}` twice", shown(&name))));
            }
            members.push((name.trim().to_owned(), value));
        }
        Ok(Object(members))
    }
}
