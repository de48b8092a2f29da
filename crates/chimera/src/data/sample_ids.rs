//! The ids of a table's samples: not empty, none twice.

use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::data::cell::shown;
use crate::data::problem::{Numbering, TableProblems};

/// Ids in the order of the table, each with its line or row for the message about a second one.
#[derive(Default)]
pub(super) struct SampleIds {
    places: IndexMap<String, u64>,
}

impl SampleIds {
    /// Adds the id found at `place`; white space around it is ignored, as in all cells.
    pub(super) fn add(&mut self, id: &str, place: u64, problems: &mut TableProblems) {
        let id = id.trim();
        if id.is_empty() {
            problems.add(place, "expected an id, got an empty cell", None);
            return;
        }
        match self.places.entry(id.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(place);
            }
            Entry::Occupied(entry) => {
                let unit = match problems.numbering() {
                    Numbering::Lines => "line",
                    Numbering::Rows => "row",
                };
                let message = format!("expected a new id, got `{}` again, first on {unit} {}", shown(id), entry.get());
                problems.add(place, message, None);
            }
        }
    }

    /// The ids in order.
    pub(super) fn into_vec(self) -> Vec<String> {
        self.places.into_keys().collect()
    }
}
