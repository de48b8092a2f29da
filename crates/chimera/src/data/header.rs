//! What the columns of a label table are: the id, the concepts, and reserved ones that others read.

use std::collections::HashMap;

use crate::data::cell::shown;
use crate::data::problem::TableProblems;
use crate::data::table::Split;

/// The column that names the sample.
const ID: &str = "id";

/// The column that says what a sample is for.
const SPLIT: &str = "split";

/// Columns that are no concepts and are not read here.
const RESERVED: [&str; 3] = ["media", "group", "oov_ancestors"];

/// Where the id and the concepts are among the columns of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Position of the id column.
    pub(super) id: usize,
    /// Position of the split column, if there is one.
    pub(super) split: Option<usize>,
    /// Position of each concept's column, ascending.
    pub(super) positions: Vec<usize>,
    /// Names of the concepts in the same order.
    pub(super) concepts: Vec<String>,
    /// Number of all columns.
    pub(super) width: usize,
}

impl Header {
    /// The split in a cell; `None` where it is empty or wrong, which goes to `problems`.
    pub(super) fn read_split(&self, cell: &str, place: u64, problems: &mut TableProblems) -> Option<Split> {
        let word = cell.trim();
        let split = Split::from_word(word);
        if let (None, Some(position), false) = (split, self.split, word.is_empty()) {
            let message = || format!("expected `train`, `calibration`, `test` or `oracle`, got `{}`", shown(word));
            let hint = "leave the cell empty, or the column out, if a sample belongs to no split";
            problems.add_in_column(place, (position, SPLIT), message, Some(hint));
        }
        split
    }

    /// Sorts the columns by their names, white space around them ignored. `place` is the header's line; what is wrong
    /// goes to `problems`, and the header is of use only if there is nothing.
    pub(super) fn from_names<'a>(
        names: impl IntoIterator<Item = &'a str>,
        place: u64,
        problems: &mut TableProblems,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().map(str::trim).collect();
        let mut header = Self { id: 0, split: None, positions: Vec::new(), concepts: Vec::new(), width: names.len() };
        let mut first_position = HashMap::new();
        for (position, &name) in names.iter().enumerate() {
            let number = position + 1;
            if name.is_empty() {
                let hint = "name every column; a table written by pandas has a nameless index unless `index=False`";
                problems.add(place, format!("expected a name for column {number}, got none"), Some(hint));
            } else if let Some(first) = first_position.insert(name, number) {
                let message =
                    format!("expected different names, got `{}` for columns {first} and {number}", shown(name));
                problems.add(place, message, None);
            } else if name.contains(char::is_control) {
                let message =
                    format!("expected a name without control characters for column {number}, got `{}`", shown(name));
                let hint = name.contains('\r').then_some("if lines end in `\\r` alone, save the file with `\\n`");
                problems.add(place, message, hint);
            } else if name == ID {
                header.id = position;
            } else if name == SPLIT {
                header.split = Some(position);
            } else if !RESERVED.contains(&name) {
                header.positions.push(position);
                header.concepts.push(name.to_owned());
            }
        }
        if !first_position.contains_key(ID) {
            problems.add(
                place,
                format!("expected a column `{ID}`, got {}", listed(&names)),
                id_hint(&names).as_deref(),
            );
        } else if header.concepts.is_empty() && problems.total() == 0 {
            let message = format!("expected a column for each concept, got {}", listed(&names));
            problems.add(place, message, Some("add a column of 0 and 1 for each concept, named after it"));
        }
        header
    }
}

/// The first names, for a message.
fn listed(names: &[&str]) -> String {
    const MOST: usize = 5;
    if names.is_empty() {
        return "no columns".to_owned();
    }
    let mut text: Vec<String> = names.iter().take(MOST).map(|name| format!("`{}`", shown(name))).collect();
    if names.len() > MOST {
        text.push(format!("and {} more", names.len() - MOST));
    }
    text.join(", ")
}

/// What to do about a missing id, judged by the names that are there.
fn id_hint(names: &[&str]) -> Option<String> {
    if let [name] = names {
        if name.contains(';') {
            return Some("the columns seem to be separated by `;`; separate them by `,`".to_owned());
        }
        if name.contains('\t') {
            return Some("the columns seem to be separated by tabs; name the file `.tsv`".to_owned());
        }
    }
    let like_id = |name: &&&str| name.eq_ignore_ascii_case(ID);
    let like_some_id = |name: &&&str| {
        let lower = name.to_ascii_lowercase();
        ["_id", "-id", " id", "imageid", "sampleid"].iter().any(|ending| lower.ends_with(ending))
    };
    let name = names.iter().find(like_id).or_else(|| names.iter().find(like_some_id))?;
    Some(format!("rename `{}` to `{ID}`", shown(name)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::data::problem::Numbering;

    #[test]
    fn columns_are_sorted_by_their_names() {
        let mut problems = TableProblems::new(Path::new("a.csv"), Numbering::Lines);
        let names = ["red", " media", "id ", "split", "blue sphere", "group", "oov_ancestors"];
        let header = Header::from_names(names, 1, &mut problems);
        assert_eq!(problems.total(), 0);
        let concepts = vec!["red".to_owned(), "blue sphere".to_owned()];
        assert_eq!(header, Header { id: 2, split: Some(3), positions: vec![0, 4], concepts, width: 7 });
    }

    #[test]
    fn hints_fit_the_names() {
        assert_eq!(id_hint(&["ID", "x_id"]).unwrap(), "rename `ID` to `id`");
        assert_eq!(id_hint(&["a", "image_id"]).unwrap(), "rename `image_id` to `id`");
        assert_eq!(id_hint(&["a", "ImageID"]).unwrap(), "rename `ImageID` to `id`");
        assert_eq!(id_hint(&["covid", "red"]), None);
        assert!(id_hint(&["id;red"]).unwrap().contains("`;`"));
        assert!(id_hint(&["id\tred"]).unwrap().contains("`.tsv`"));
    }
}
