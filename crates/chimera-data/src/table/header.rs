//! Where the columns of a label table are: the id, the concepts, and reserved ones that others read.

use std::collections::HashMap;

use crate::error::shown;
use crate::error::table::TableProblems;
use crate::table::columns::{ID, Role, TableOptions, Text};

/// Where the id and the concepts are among the columns of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Position of the id column.
    pub(super) id: usize,
    /// Positions of the columns of [`Text::ALL`], where they are there.
    pub(super) texts: [Option<usize>; 3],
    /// Position of the list of ancestors beyond the vocabulary, if there is one.
    pub(super) oov_ancestors: Option<usize>,
    /// What each column is for, by position.
    pub(super) roles: Vec<Role>,
    /// Position of each concept's column, ascending.
    pub(super) positions: Vec<usize>,
    /// Names of the concepts in the same order.
    pub(super) concepts: Vec<String>,
}

impl Header {
    /// Sorts the columns by their names, white space around them ignored. `place` is the header's line; what is wrong
    /// goes to `problems`, and the header is of use only if there is nothing.
    pub(super) fn from_names<'a>(
        names: impl IntoIterator<Item = &'a str>,
        place: u64,
        options: &TableOptions,
        problems: &mut TableProblems,
    ) -> Self {
        let names: Vec<&str> = names.into_iter().map(str::trim).collect();
        let mut header = Self {
            id: 0,
            texts: [None; 3],
            oov_ancestors: None,
            roles: vec![Role::Nothing; names.len()],
            positions: Vec::new(),
            concepts: Vec::new(),
        };
        let id = options.names.id.as_str();
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
            } else {
                match options.role_of(name) {
                    Ok(role) => header.give(position, name, role),
                    Err(both) => {
                        let message = format!("expected one use for the column `{}`, got {both}", shown(name));
                        problems.add(place, message, Some("only the id and the media may share a column"));
                    }
                }
            }
        }
        let chosen = options.names.chosen().chain(options.ignored.iter().map(String::as_str));
        let mut missing: Vec<&str> = chosen.filter(|name| *name != id && !first_position.contains_key(name)).collect();
        missing.dedup();
        for name in missing {
            problems.add(place, format!("expected a column `{}`, got {}", shown(name), listed(&names)), None);
        }
        if !first_position.contains_key(id) {
            let message = format!("expected a column `{}`, got {}", shown(id), listed(&names));
            problems.add(place, message, Some(&id_hint(&names)));
        } else if header.concepts.is_empty() && problems.total() == 0 {
            let message = format!("expected a column for each concept, got {}", listed(&names));
            problems.add(place, message, Some("add a column of 0 and 1 for each concept, named after it"));
        }
        header
    }

    fn give(&mut self, position: usize, name: &str, role: Role) {
        self.roles[position] = role;
        match role {
            Role::Id => self.id = position,
            Role::IdAndMedia => (self.id, self.texts[Text::Media as usize]) = (position, Some(position)),
            Role::Text(text) => self.texts[text as usize] = Some(position),
            Role::Ancestors => self.oov_ancestors = Some(position),
            Role::Concept => {
                self.positions.push(position);
                self.concepts.push(name.to_owned());
            }
            Role::Nothing => {}
        }
    }

    /// Number of all columns.
    pub(super) fn width(&self) -> usize {
        self.roles.len()
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
fn id_hint(names: &[&str]) -> String {
    if let [name] = names {
        if name.contains(';') {
            return "the columns seem to be separated by `;`; separate them by `,`".to_owned();
        }
        if name.contains('\t') {
            return "the columns seem to be separated by tabs; name the file `.tsv`".to_owned();
        }
    }
    let like_id = |name: &&&str| name.eq_ignore_ascii_case(ID);
    let like_some_id = |name: &&&str| {
        let lower = name.to_ascii_lowercase();
        ["_id", "-id", " id", "imageid", "sampleid"].iter().any(|ending| lower.ends_with(ending))
    };
    let name = names.iter().find(like_id).or_else(|| names.iter().find(like_some_id));
    let name = name.map_or_else(|| "COLUMN".to_owned(), |name| shown(name));
    format!("`chimera import table --id-column {name}` takes the ids from another column")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::error::table::Numbering;
    use crate::table::columns::ColumnNames;

    #[test]
    fn columns_are_sorted_by_their_names() {
        let mut problems = TableProblems::new(Path::new("a.csv"), Numbering::Lines);
        let names = ["red", " media", "id ", "split", "blue sphere", "group", "oov_ancestors"];
        let header = Header::from_names(names, 1, &TableOptions::default(), &mut problems);
        assert_eq!(problems.total(), 0);
        let concepts = vec!["red".to_owned(), "blue sphere".to_owned()];
        let texts = [Some(1), Some(3), Some(5)];
        let [media, split, group] = Text::ALL.map(Role::Text);
        let roles = vec![Role::Concept, media, Role::Id, split, Role::Concept, group, Role::Ancestors];
        let expected =
            Header { id: 2, texts, oov_ancestors: Some(6), roles, positions: vec![0, 4], concepts: concepts.clone() };
        assert_eq!(header, expected);
        assert_eq!(concepts, header.concepts);
    }

    #[test]
    fn chosen_names_replace_ours_and_must_be_there() {
        let mut problems = TableProblems::new(Path::new("a.csv"), Numbering::Lines);
        let own = ColumnNames { id: "image".to_owned(), split: "fold".to_owned(), ..ColumnNames::default() };
        let options = TableOptions { names: own, ignored: vec!["note".to_owned()], ..TableOptions::default() };
        // A column `id` beside the chosen one stays reserved: it could not be written to a dataset folder.
        let header = Header::from_names(["id", "image", "red", "note", "fold"], 1, &options, &mut problems);
        assert_eq!((problems.total(), header.id, header.texts[1]), (0, 1, Some(4)));
        assert_eq!(header.concepts, ["red"]);
        Header::from_names(["id", "red"], 1, &options, &mut problems);
        assert_eq!(problems.total(), 3, "neither `image` nor `fold` nor `note` is there: {problems}");
    }

    #[test]
    fn a_column_in_two_roles_is_told_once() {
        let twice = ColumnNames { id: "a".to_owned(), split: "a".to_owned(), ..ColumnNames::default() };
        let mut problems = TableProblems::new(Path::new("a.csv"), Numbering::Lines);
        let options = TableOptions { names: twice, ..TableOptions::default() };
        Header::from_names(["a", "red"], 1, &options, &mut problems);
        assert_eq!(problems.total(), 1, "{problems}");
        assert!(problems.to_string().contains("expected one use for the column `a`"), "{problems}");
    }

    #[test]
    fn hints_fit_the_names() {
        let option =
            |name: &str| format!("`chimera import table --id-column {name}` takes the ids from another column");
        assert_eq!(id_hint(&["ID", "x_id"]), option("ID"));
        assert_eq!(id_hint(&["a", "image_id"]), option("image_id"));
        assert_eq!(id_hint(&["a", "ImageID"]), option("ImageID"));
        assert_eq!(id_hint(&["covid", "red"]), option("COLUMN"));
        assert!(id_hint(&["id;red"]).contains("`;`"));
        assert!(id_hint(&["id\tred"]).contains("`.tsv`"));
    }
}
