//! What a person said about flagged samples: a table of ids, rules and verdicts.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use chimera_data::error::{Error, Result};

/// Words that say that a rule is really broken.
const REAL: [&str; 3] = ["real", "1", "true"];

/// Words that say that it is not.
const FALSE_ALARM: [&str; 5] = ["false alarm", "false-alarm", "false_alarm", "0", "false"];

/// So many problems are named.
const LISTED: usize = 20;

/// What was said of a sample and a rule, or of a sample as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The sample.
    pub id: String,
    /// The rule; `None` for the sample as a whole.
    pub rule: Option<String>,
    /// Whether the violation is real.
    pub is_real: bool,
    /// The line that says so.
    pub line: u64,
}

/// A file of verdicts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Each once, in the order of the file.
    pub said: Vec<Said>,
    /// Lines that repeat another one.
    pub repeated: usize,
    /// Lines without a verdict, which somebody has yet to give.
    pub open: usize,
}

impl Verdicts {
    /// Reads a table with the columns `id` and `verdict`, and `rule` where verdicts are about rules; other columns are left alone.
    ///
    /// # Errors
    /// A file that cannot be read, without these columns or without a verdict; and, with all their lines, words that are no
    /// verdict, lines without an id, and lines that contradict each other.
    pub fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|cause| Error::read(path, cause))?;
        let is_tsv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tsv"));
        let mut builder = csv::ReaderBuilder::new();
        builder.flexible(true).trim(csv::Trim::All).delimiter(if is_tsv { b'\t' } else { b',' });
        let mut reader = builder.from_reader(file);
        let wrong = |error: csv::Error| match error.into_kind() {
            csv::ErrorKind::Io(cause) => Error::read(path, cause),
            csv::ErrorKind::Utf8 { pos, .. } => {
                let line = pos.map_or(1, |pos| pos.line());
                Error::input(format!("`{}`, line {line}: expected text in UTF-8", path.display()), None)
            }
            _ => Error::input(format!("expected a table in `{}`, got something else", path.display()), None),
        };
        let head = reader.headers().map_err(wrong)?.clone();
        let column = |name: &str| head.iter().position(|cell| cell.trim_start_matches('\u{feff}') == name);
        let [Some(id), Some(verdict)] = ["id", "verdict"].map(column) else {
            let got: Vec<&str> = head.iter().collect();
            let message =
                format!("expected the columns `id` and `verdict` in `{}`, got `{}`", path.display(), got.join("`, `"));
            let hint = "the first line names columns: `id,rule,verdict`";
            return Err(Error::input(message, Some(hint.to_owned())));
        };
        let rule = column("rule");
        let (mut verdicts, mut problems) = (Self::default(), Vec::new());
        let mut met: BTreeMap<(String, Option<String>), (bool, u64)> = BTreeMap::new();
        for record in reader.records() {
            let record = record.map_err(wrong)?;
            let line = record.position().map_or(0, csv::Position::line);
            let cell = |column: usize| record.get(column).unwrap_or_default();
            let (id, word) = (cell(id).to_owned(), cell(verdict).to_lowercase());
            if word.is_empty() {
                verdicts.open += 1;
                continue;
            }
            let Some(is_real) = parse(&word) else {
                let word = cell(verdict);
                problems.push(format!("line {line}: expected `real` or `false alarm` (or 1 and 0), got `{word}`"));
                continue;
            };
            if id.is_empty() {
                problems.push(format!("line {line}: expected the id of a sample, got nothing"));
                continue;
            }
            let rule = rule.map(cell).filter(|rule| !rule.is_empty()).map(str::to_owned);
            let key = (id.clone(), rule.clone());
            match met.get(&key) {
                Some((other, _)) if *other == is_real => verdicts.repeated += 1,
                Some((_, first)) => {
                    let of = rule.map_or_else(String::new, |rule| format!(" and rule `{rule}`"));
                    problems.push(format!("line {line}: contradicts line {first} on sample `{id}`{of}"));
                }
                None => {
                    met.insert(key, (is_real, line));
                    verdicts.said.push(Said { id, rule, is_real, line });
                }
            }
        }
        refuse(path, &problems, "one verdict for each sample and rule")?;
        if verdicts.said.is_empty() {
            let message = format!("expected verdicts in `{}`, got none", path.display());
            let hint = "a line for each: `id,rule,verdict`, such as `photo-17,watched,real`";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        Ok(verdicts)
    }
}

fn parse(word: &str) -> Option<bool> {
    REAL.contains(&word).then_some(true).or_else(|| FALSE_ALARM.contains(&word).then_some(false))
}

/// Refuses a file with everything that is wrong with it.
pub(super) fn refuse(path: &Path, problems: &[String], hint: &str) -> Result<()> {
    if problems.is_empty() {
        return Ok(());
    }
    let listed: Vec<String> = problems.iter().take(LISTED).map(|problem| format!("\n  {problem}")).collect();
    let more = problems.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("\n  and {more} more") } else { String::new() };
    let message = format!("`{}` cannot be used:{}{more}", path.display(), listed.concat());
    Err(Error::input(message, Some(hint.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Verdicts> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("v.csv");
        std::fs::write(&path, text).unwrap();
        Verdicts::read(&path)
    }

    fn refused(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn all_words_are_read_and_what_is_said_twice_counts_once() {
        let text = "\u{feff}note,id,rule,verdict\nx,s1,r,real\n,s1,q,False Alarm\n,s2,,1\n,s1,r,TRUE\n,s3,r,\n\"a,\nb\",s4,r,0\n";
        let found = read(text).unwrap();
        let said = |id: &str, rule: Option<&str>, is_real, line| Said {
            id: id.to_owned(),
            rule: rule.map(str::to_owned),
            is_real,
            line,
        };
        let expected = [
            said("s1", Some("r"), true, 2),
            said("s1", Some("q"), false, 3),
            said("s2", None, true, 4),
            said("s4", Some("r"), false, 7),
        ];
        assert_eq!((found.said.as_slice(), found.repeated, found.open), (expected.as_slice(), 1, 1));
        // Without the column, all verdicts are about samples.
        assert_eq!(read("id,verdict\ns1,false\n").unwrap().said, [said("s1", None, false, 2)]);
    }

    #[test]
    fn everything_that_is_wrong_is_named_with_its_line() {
        let text = "id,rule,verdict\ns1,r,real\ns2,r,maybe\n,r,real\ns1,r,false alarm\ns3,,1\ns3,,0\n";
        let words = refused(text);
        for part in [
            "line 3: expected `real` or `false alarm` (or 1 and 0), got `maybe`",
            "line 4: expected the id of a sample",
            "line 5: contradicts line 2 on sample `s1` and rule `r`",
            "line 7: contradicts line 6 on sample `s3`",
        ] {
            assert!(words.contains(part), "{words}");
        }
        assert!(refused("").contains("expected the columns `id` and `verdict`"), "{}", refused(""));
        assert!(refused("id,rule\ns,r\n").contains("got `id`, `rule`"));
        assert!(refused("id,rule,verdict\n").contains("got none"));
        assert!(refused("id,rule,verdict\ns1,r,\n").contains("got none"));
    }
}
