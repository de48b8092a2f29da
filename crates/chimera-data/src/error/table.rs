//! What is wrong with a table: the first problems in the order of the file, the number of all, and what to do.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::{Error, Result, shown};

/// So many problems are kept; the rest is counted.
pub(crate) const LISTED_PROBLEMS: usize = 20;

/// So many of them may be of one column: a column that holds no labels would hide everything else.
const LISTED_A_COLUMN: usize = 3;

/// How places in a table are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
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

/// Everything that is wrong with one table: the first [`LISTED_PROBLEMS`], a few of each column, and the number of all.
#[derive(Clone, Debug)]
pub struct TableProblems {
    path: PathBuf,
    numbering: Numbering,
    listed: Vec<TableProblem>,
    /// Problems of each column, by its position.
    in_columns: BTreeMap<usize, InColumn>,
    total: u64,
}

/// The problems of one column.
#[derive(Clone, Debug)]
struct InColumn {
    name: String,
    listed: u64,
    total: u64,
}

impl TableProblems {
    pub(crate) fn new(path: &Path, numbering: Numbering) -> Self {
        Self { path: path.to_owned(), numbering, listed: Vec::new(), in_columns: BTreeMap::new(), total: 0 }
    }

    /// The file they are in.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the places of the problems count.
    #[must_use]
    pub(crate) fn numbering(&self) -> Numbering {
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
    pub(crate) fn add(&mut self, place: u64, message: impl Into<String>, hint: Option<&str>) {
        self.insert(TableProblem { place, column: None, message: message.into(), hint: hint.map(str::to_owned) });
    }

    /// Adds a problem with one cell or column, its message and what to do. Words are made only for what is listed: a bad column may hold millions.
    pub(crate) fn add_in_column(
        &mut self,
        place: u64,
        column: (usize, &str),
        words: impl FnOnce() -> (String, Option<&'static str>),
    ) {
        let (position, name) = column;
        let known = || InColumn { name: name.to_owned(), listed: 0, total: 0 };
        let counts = self.in_columns.entry(position).or_insert_with(known);
        counts.total += 1;
        let is_full = counts.listed as usize >= LISTED_A_COLUMN;
        if !self.is_listed((place, Some(position))) {
            self.total += 1;
            return;
        }
        if is_full {
            let is_of_column = |problem: &TableProblem| problem.column.as_ref().is_some_and(|(at, _)| *at == position);
            match self.listed.iter().rposition(is_of_column) {
                Some(last) if place < self.listed[last].place => self.remove(last),
                _ => {
                    self.total += 1;
                    return;
                }
            }
        }
        let (column, (message, hint)) = (Some((position, name.to_owned())), words());
        self.insert(TableProblem { place, column, message, hint: hint.map(str::to_owned) });
    }

    /// Whether a problem there is among the first. Parquet is read column by column, so problems come in any order.
    fn is_listed(&self, order: (u64, Option<usize>)) -> bool {
        self.listed.len() < LISTED_PROBLEMS || self.listed.last().is_some_and(|last| order < last.order())
    }

    fn insert(&mut self, problem: TableProblem) {
        self.total += 1;
        let place = self.listed.partition_point(|earlier| earlier.order() <= problem.order());
        if place == LISTED_PROBLEMS {
            return;
        }
        if let Some(counts) = problem.column.as_ref().and_then(|(position, _)| self.in_columns.get_mut(position)) {
            counts.listed += 1;
        }
        self.listed.insert(place, problem);
        if self.listed.len() > LISTED_PROBLEMS {
            self.remove(LISTED_PROBLEMS);
        }
    }

    /// Takes a problem off the list; it stays counted.
    fn remove(&mut self, place: usize) {
        let problem = self.listed.remove(place);
        if let Some(counts) = problem.column.and_then(|(position, _)| self.in_columns.get_mut(&position)) {
            counts.listed -= 1;
        }
    }

    /// An error if there is any problem.
    pub(crate) fn into_result(self) -> Result<()> {
        if self.total == 0 { Ok(()) } else { Err(Error::Table(Box::new(self))) }
    }

    /// Like [`Self::into_result`], midway: problems so far end the reading.
    pub(crate) fn stop_here(self) -> Result<Self> {
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
        let mut rest = self.total - self.listed.len() as u64;
        let hidden = self.in_columns.values().filter(|column| column.total > column.listed);
        for column in hidden.take(LISTED_PROBLEMS) {
            let more = column.total - column.listed;
            write!(f, "\n  column `{}`: {more} more", shown(&column.name))?;
            rest -= more;
        }
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
    fn the_first_in_the_order_of_the_file_are_listed_and_no_column_fills_the_list() {
        let mut problems = TableProblems::new(Path::new("a.parquet"), Numbering::Rows);
        for column in [1, 0] {
            for row in (1..=30).rev() {
                problems.add_in_column(row, (column, "x"), || (format!("{row}/{column}"), Some("same")));
            }
        }
        problems.add(7, "whole", None);
        assert_eq!(problems.total(), 61);
        let listed: Vec<String> = problems.listed().iter().map(|problem| problem.message.clone()).collect();
        assert_eq!(listed, ["1/0", "1/1", "2/0", "2/1", "3/0", "3/1", "whole"]);
        let text = problems.to_string();
        assert!(text.starts_with("cannot use the labels in `a.parquet`: 61 problems\n  row 1, column `x`: 1/0\n"));
        assert!(text.ends_with("  row 7: whole\n  column `x`: 27 more\n  column `x`: 27 more\nhint: same"), "{text}");
    }

    #[test]
    fn twenty_are_listed_whatever_comes_when() {
        let mut problems = TableProblems::new(Path::new("a.csv"), Numbering::Lines);
        for column in (0..30).rev() {
            for line in [9, 4, 5, 6, 7] {
                problems.add_in_column(line, (column, "x"), || (format!("{line}/{column}"), None));
            }
        }
        let listed: Vec<String> = problems.listed().iter().map(|problem| problem.message.clone()).collect();
        assert_eq!(listed, (0..20).map(|column| format!("4/{column}")).collect::<Vec<_>>());
        // Twenty columns have four more each; ten columns of five are not named.
        assert!(problems.to_string().ends_with("\n  column `x`: 4 more\n  and 50 more"), "{problems}");
    }
}
