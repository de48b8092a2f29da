//! What a table says about its samples beside their labels: media, split, group, and ancestors beyond the vocabulary.

use crate::table::columns::Text;
use crate::table::header::Header;

/// What separates several ancestors in one cell of text.
const SEPARATOR: char = '|';

/// The columns so far; `None` where the table has no such column.
#[derive(Debug)]
pub(super) struct Extras {
    texts: [Option<Vec<String>>; 3],
    oov_ancestors: Option<Vec<Vec<String>>>,
}

impl Extras {
    /// The columns that a header promises, without rows.
    pub(super) fn new(header: &Header) -> Self {
        Self {
            texts: header.texts.map(|position| position.map(|_| Vec::new())),
            oov_ancestors: header.oov_ancestors.map(|_| Vec::new()),
        }
    }

    /// Adds the text of the next row; white space around it is ignored, as in all cells.
    pub(super) fn add(&mut self, text: Text, cell: &str) {
        if let Some(column) = &mut self.texts[text as usize] {
            column.push(cell.trim().to_owned());
        }
    }

    /// Adds the ancestors of the next row as a list.
    pub(super) fn add_ancestors<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) {
        let names = names.into_iter().map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned);
        if let Some(column) = &mut self.oov_ancestors {
            column.push(names.collect());
        }
    }

    /// Adds the ancestors of the next row as one cell: `Vehicle|Land vehicle`.
    pub(super) fn add_ancestor_cell(&mut self, cell: &str) {
        self.add_ancestors(cell.split(SEPARATOR));
    }

    /// Takes a column out.
    pub(super) fn take(&mut self, text: Text) -> Option<Vec<String>> {
        self.texts[text as usize].take()
    }

    /// Takes the ancestors out.
    pub(super) fn take_ancestors(&mut self) -> Option<Vec<Vec<String>>> {
        self.oov_ancestors.take()
    }
}
