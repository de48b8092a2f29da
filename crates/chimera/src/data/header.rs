//! What the columns of a label table are: the id, the concepts, and reserved ones that others read.

use std::collections::HashMap;

use crate::data::cell::{CellRule, shown};
use crate::data::problem::TableProblems;

/// The column that names the sample.
const ID: &str = "id";

/// The column that lists what a sample shows beyond the vocabulary.
const OOV_ANCESTORS: &str = "oov_ancestors";

/// Names that are never concepts.
pub(super) const RESERVED: [&str; 5] = [ID, "media", "split", "group", OOV_ANCESTORS];

/// Columns that hold a text about each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Text {
    Media,
    Split,
    Group,
}

impl Text {
    pub(super) const ALL: [Self; 3] = [Self::Media, Self::Split, Self::Group];
}

/// What the columns are called that are no concepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnNames {
    /// The sample's name; `id`.
    pub id: String,
    /// Its picture or video, a path relative to the media root; `media`.
    pub media: String,
    /// What it is for; `split`.
    pub split: String,
    /// What it was taken from (a scene, a patient): samples of one group stay together; `group`.
    pub group: String,
}

impl Default for ColumnNames {
    fn default() -> Self {
        let [id, media, split, group, _] = RESERVED.map(str::to_owned);
        Self { id, media, split, group }
    }
}

impl ColumnNames {
    fn text(&self, text: Text) -> &str {
        match text {
            Text::Media => &self.media,
            Text::Split => &self.split,
            Text::Group => &self.group,
        }
    }

    /// Names that the user chose, which must then be there.
    fn chosen(&self) -> impl Iterator<Item = &str> {
        let names = [&self.id, &self.media, &self.split, &self.group];
        names.into_iter().zip(RESERVED).filter(|(name, own)| name != own).map(|(name, _)| name.as_str())
    }
}

/// How to read a table whose names and signs are not ours.
#[derive(Clone, Debug, Default)]
pub struct TableOptions {
    /// What the signs in label cells mean.
    pub cells: CellRule,
    /// What the columns are called that are no concepts.
    pub names: ColumnNames,
    /// Columns to leave out.
    pub ignored: Vec<String>,
}

/// Where the id and the concepts are among the columns of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Position of the id column.
    pub(super) id: usize,
    /// Positions of the columns of [`Text::ALL`], where they are there.
    pub(super) texts: [Option<usize>; 3],
    /// Position of the list of ancestors beyond the vocabulary, if there is one.
    pub(super) oov_ancestors: Option<usize>,
    /// Position of each concept's column, ascending.
    pub(super) positions: Vec<usize>,
    /// Names of the concepts in the same order.
    pub(super) concepts: Vec<String>,
    /// Number of all columns.
    pub(super) width: usize,
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
        let (positions, concepts, width) = (Vec::new(), Vec::new(), names.len());
        let mut header = Self { id: 0, texts: [None; 3], oov_ancestors: None, positions, concepts, width };
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
            } else if name == id {
                header.id = position;
            } else if let Some(text) = Text::ALL.into_iter().find(|&text| options.names.text(text) == name) {
                header.texts[text as usize] = Some(position);
            } else if name == OOV_ANCESTORS {
                header.oov_ancestors = Some(position);
            } else if !RESERVED.contains(&name) && !options.ignored.iter().any(|ignored| ignored == name) {
                header.positions.push(position);
                header.concepts.push(name.to_owned());
            }
        }
        let chosen = options.names.chosen().chain(options.ignored.iter().map(String::as_str));
        for name in chosen.filter(|name| *name != id && !first_position.contains_key(name)) {
            problems.add(place, format!("expected a column `{}`, got {}", shown(name), listed(&names)), None);
        }
        if !first_position.contains_key(id) {
            let message = format!("expected a column `{}`, got {}", shown(id), listed(&names));
            problems.add(place, message, id_hint(&names).filter(|_| id == ID).as_deref());
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
        let header = Header::from_names(names, 1, &TableOptions::default(), &mut problems);
        assert_eq!(problems.total(), 0);
        let concepts = vec!["red".to_owned(), "blue sphere".to_owned()];
        let texts = [Some(1), Some(3), Some(5)];
        let expected = Header {
            id: 2,
            texts,
            oov_ancestors: Some(6),
            positions: vec![0, 4],
            concepts: concepts.clone(),
            width: 7,
        };
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
    fn hints_fit_the_names() {
        assert_eq!(id_hint(&["ID", "x_id"]).unwrap(), "rename `ID` to `id`");
        assert_eq!(id_hint(&["a", "image_id"]).unwrap(), "rename `image_id` to `id`");
        assert_eq!(id_hint(&["a", "ImageID"]).unwrap(), "rename `ImageID` to `id`");
        assert_eq!(id_hint(&["covid", "red"]), None);
        assert!(id_hint(&["id;red"]).unwrap().contains("`;`"));
        assert!(id_hint(&["id\tred"]).unwrap().contains("`.tsv`"));
    }
}
