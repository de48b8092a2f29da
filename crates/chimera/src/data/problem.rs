//! What is wrong with a table: the first problems in the order of the file, the number of all, and what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::data::cell::shown;
use crate::error::{Error, Result};

/// So many problems are kept; the rest is counted.
pub const LISTED_PROBLEMS: usize = 20;

/// How places in a table are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Lines of a text file from 1, the header included.
    Lines,
    /// Rows of data from 1; 0 stands for the schema.
    Rows,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableProblem {
    /// Line or row.
    pub place: u64,
    /// Position and name of the column, where it is about one.
    pub column: Option<(usize, String)>,
    /// What was expected and what was found.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl TableProblem {
    fn order(&self) -> (u64, Option<usize>) {
        (self.place, self.column.as_ref().map(|(position, _)| *position))
    }
}

/// Everything that is wrong with one table: the first [`LISTED_PROBLEMS`] and the number of all.
#[derive(Clone, Debug)]
pub struct TableProblems {
    path: PathBuf,
    numbering: Numbering,
    listed: Vec<TableProblem>,
    total: u64,
}

impl TableProblems {
    pub(super) fn new(path: &Path, numbering: Numbering) -> Self {
        Self { path: path.to_owned(), numbering, listed: Vec::new(), total: 0 }
    }

    /// The file they are in.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the places of the problems count.
    #[must_use]
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// The first problems in the order of the file.
    #[must_use]
    pub fn listed(&self) -> &[TableProblem] {
        &self.listed
    }

    /// The number of all problems.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Adds a problem with a whole line, row or header.
    pub(super) fn add(&mut self, place: u64, message: impl Into<String>, hint: Option<&str>) {
        self.insert(TableProblem { place, column: None, message: message.into(), hint: hint.map(str::to_owned) });
    }

    /// Adds a problem with one cell or column. Words are made only for what is listed: a bad column may hold millions.
    pub(super) fn add_in_column(
        &mut self,
        place: u64,
        column: (usize, &str),
        message: impl FnOnce() -> String,
        hint: Option<&str>,
    ) {
        if self.is_listed((place, Some(column.0))) {
            let column = Some((column.0, column.1.to_owned()));
            self.insert(TableProblem { place, column, message: message(), hint: hint.map(str::to_owned) });
        } else {
            self.total += 1;
        }
    }

    /// Whether a problem there is among the first. Parquet is read column by column, so problems come in any order.
    fn is_listed(&self, order: (u64, Option<usize>)) -> bool {
        self.listed.len() < LISTED_PROBLEMS || self.listed.last().is_some_and(|last| order < last.order())
    }

    fn insert(&mut self, problem: TableProblem) {
        self.total += 1;
        let position = self.listed.partition_point(|earlier| earlier.order() <= problem.order());
        if position < LISTED_PROBLEMS {
            self.listed.insert(position, problem);
            self.listed.truncate(LISTED_PROBLEMS);
        }
    }

    /// An error if there is any problem.
    pub(super) fn into_result(self) -> Result<()> {
        if self.total == 0 { Ok(()) } else { Err(Error::Table(Box::new(self))) }
    }

    /// Like [`Self::into_result`], midway: problems so far end the reading.
    pub(super) fn stop_here(self) -> Result<Self> {
        if self.total == 0 { Ok(self) } else { Err(Error::Table(Box::new(self))) }
    }
}

impl fmt::Display for TableProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.total == 1 { "" } else { "s" };
        write!(f, "cannot use the labels in `{}`: {} problem{plural}", self.path.display(), self.total)?;
        for problem in &self.listed {
            match (self.numbering, problem.place) {
                (Numbering::Lines, line) => write!(f, "\n  line {line}")?,
                (Numbering::Rows, 0) => write!(f, "\n  schema")?,
                (Numbering::Rows, row) => write!(f, "\n  row {row}")?,
            }
            if let Some((_, name)) = &problem.column {
                write!(f, ", column `{}`", shown(name))?;
            }
            write!(f, ": {}", problem.message)?;
        }
        let rest = self.total - self.listed.len() as u64;
        if rest > 0 {
            write!(f, "\n  and {rest} more")?;
        }
        let mut hints: Vec<&str> = Vec::new();
        for hint in self.listed.iter().filter_map(|problem| problem.hint.as_deref()) {
            if !hints.contains(&hint) {
                write!(f, "\nhint: {hint}")?;
                hints.push(hint);
            }
        }
        Ok(())
    }
}

impl std::error::Error for TableProblems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_twenty_in_the_order_of_the_file_are_listed() {
        let mut problems = TableProblems::new(Path::new("a.parquet"), Numbering::Rows);
        for column in [1, 0] {
            for row in (1..=30).rev() {
                problems.add_in_column(row, (column, "x"), || format!("{row}/{column}"), Some("same"));
            }
        }
        assert_eq!(problems.total(), 60);
        let listed: Vec<String> = problems.listed().iter().map(|problem| problem.message.clone()).collect();
        let expected: Vec<String> = (1..=10).flat_map(|row| [format!("{row}/0"), format!("{row}/1")]).collect();
        assert_eq!(listed, expected);
        let text = problems.to_string();
        assert!(text.starts_with("cannot use the labels in `a.parquet`: 60 problems\n  row 1, column `x`: 1/0\n"));
        assert!(text.ends_with("\n  and 40 more\nhint: same"), "{text}");
    }
}
