//! What pictures show beyond the vocabulary: classes that are no concepts but kinds of some.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::labels::{Rows, Shown, Vocabulary};
use crate::dataset::hierarchy::Hierarchy;
use crate::import::Note;
use crate::split::Split;
use crate::table::LabelTable;

/// The file beside the labels that lists classes which are no concepts but kinds of some.
pub const OOV_CLASSES: &str = "oov_classes.csv";

/// A class outside the vocabulary that is a kind of a concept.
pub(super) struct OovClass {
    pub(super) class: usize,
    /// Rows that show it.
    pub(super) pictures: usize,
    /// Columns of the concepts that it is a kind of.
    pub(super) above: Vec<usize>,
}

/// Rows whose labels lack a concept, since what speaks for it is none itself, with the classes that do, most common first.
pub(super) fn lacking(
    vocabulary: &Vocabulary,
    hierarchy: &Hierarchy,
    rows: &Rows,
    shown: &Shown,
    table: &LabelTable,
) -> Note {
    let is_lacking = |row: usize| !shown.oov_ancestors[row].is_empty();
    let splits = table.splits.iter().flatten().enumerate();
    let test = splits.filter(|(row, split)| is_lacking(*row) && *split == Split::Test.as_str()).count();
    let why = format!(
        "kinds of concepts that are no concepts themselves ({test} in test): labels do not have what is above them, \
         `oov_ancestors` names it, and `eval` leaves such pictures out where a rule has it as antecedent; a larger `--top` takes in \
         classes that train pictures show, `--rules` those that rules name"
    );
    let count = (0..rows.count).filter(|&row| is_lacking(row)).count();
    let mut note = Note::of(count, format!("picture shows {why}"), format!("pictures show {why}"));
    let mut classes = vec![0_usize; vocabulary.above.len()];
    for &(row, class) in rows.shown.iter().filter(|cell| vocabulary.column_of[cell.1 as usize].is_none()) {
        let above = &vocabulary.above[class as usize];
        classes[class as usize] += usize::from(above.iter().any(|column| !shown.value.get(row as usize, *column)));
    }
    let mut met: Vec<usize> = (0..classes.len()).filter(|&class| classes[class] > 0).collect();
    met.sort_by_key(|&class| Reverse(classes[class]));
    for class in met {
        let above: Vec<&str> = vocabulary.above[class].iter().map(|column| table.concepts[*column].as_str()).collect();
        note.list(|| {
            format!("{}, a kind of {}: {}", hierarchy.classes()[class].name, above.join(", "), classes[class])
        });
    }
    note
}

/// All of them that some row shows, most common first, the smaller number first where that is alike.
pub(super) fn oov_classes(vocabulary: &Vocabulary, rows: &Rows) -> Vec<OovClass> {
    let mut counts = vec![0; vocabulary.above.len()];
    rows.shown.iter().for_each(|cell| counts[cell.1 as usize] += 1);
    let is_one = |class: &usize| {
        counts[*class] > 0 && vocabulary.column_of[*class].is_none() && !vocabulary.above[*class].is_empty()
    };
    let mut found: Vec<OovClass> = (0..counts.len())
        .filter(is_one)
        .map(|class| OovClass { class, pictures: counts[class], above: vocabulary.above[class].clone() })
        .collect();
    found.sort_by_key(|oov| (Reverse(oov.pictures), oov.class));
    found
}

/// A line for each class that is no concept but a kind of some.
pub(super) fn write_oov(
    oov: &[OovClass],
    hierarchy: &Hierarchy,
    vocabulary: &Vocabulary,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(out);
    csv.write_record(["class", "name", "pictures", "ancestors"])?;
    let name = |class: usize| hierarchy.classes()[class].name.as_str();
    for oov in oov {
        let class = &hierarchy.classes()[oov.class];
        let above: Vec<&str> = oov.above.iter().map(|&column| name(vocabulary.classes[column])).collect();
        let (id, pictures) = (class.id.as_deref().unwrap_or_default(), oov.pictures.to_string());
        csv.write_record([id, &class.name, &pictures, &above.join("|")])?;
    }
    csv.flush()
}
