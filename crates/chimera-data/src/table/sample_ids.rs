//! The ids of a table's samples: not empty, none twice.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::error::shown;
use crate::error::table::{Numbering, TableProblems};
use crate::table::names::Names;

/// Ids in the order of the table.
#[derive(Default)]
pub(super) struct SampleIds {
    names: Names,
    /// Numbers of `names`, found by the hash of the text.
    found: HashTable<u32>,
    hasher: foldhash::quality::RandomState,
    /// Where each stands, only where that is not its number: in a file of lines.
    lines: Vec<u64>,
}

impl SampleIds {
    /// Adds the id found at `place`; white space around it is ignored, as in all cells.
    pub(super) fn add(&mut self, id: &str, place: u64, problems: &mut TableProblems) {
        let id = id.trim();
        let (names, hasher) = (&self.names, &self.hasher);
        let hash = hasher.hash_one(id);
        if id.is_empty() {
            problems.add(place, "expected an id, got an empty cell", None);
        } else if let Some(&before) = self.found.find(hash, |&number| names[number as usize] == *id) {
            let first = match problems.numbering() {
                Numbering::Lines => format!("line {}", self.lines[before as usize]),
                Numbering::Rows => format!("row {}", before + 1),
            };
            problems.add(place, format!("expected a new id, got `{}` again, first on {first}", shown(id)), None);
        } else {
            self.found.insert_unique(hash, names.len() as u32, |&number| hasher.hash_one(&names[number as usize]));
        }
        // Also what is wrong takes its place, so that the rows after it keep their numbers.
        self.names.push(id);
        if matches!(problems.numbering(), Numbering::Lines) {
            self.lines.push(place);
        }
    }

    /// The ids in order, and the line of each in a file of lines.
    pub(super) fn into_parts(mut self) -> (Names, Option<Vec<u64>>) {
        self.names.shrink_to_fit();
        (self.names, Some(self.lines).filter(|lines| !lines.is_empty()))
    }
}
