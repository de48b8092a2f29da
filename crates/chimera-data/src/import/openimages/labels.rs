//! From boxes to labels: the classes that most train pictures show become concepts, and a picture that shows a class shows
//! everything that it is a kind of, as far as that is a concept. Parts say nothing of wholes: by Open Images a laptop is a part
//! of a building, and a hand one of a person, yet a box around either shows no more than that.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use chimera_logic::bits::{BitTable, TruthTable};

use super::boxes::Cell;
use super::verified::Verified;
use crate::dataset::hierarchy::Hierarchy;

/// The concepts and what the hierarchy says about them.
pub(super) struct Vocabulary {
    /// Classes by number, most common first; their order is that of the columns.
    pub(super) classes: Vec<usize>,
    /// For each class its own column, if it is a concept.
    pub(super) column_of: Vec<Option<usize>>,
    /// For each class the columns of the concepts that it is a kind of, itself left out, in order.
    pub(super) above: Vec<Vec<usize>>,
    /// For each class all that it is a kind of, concept or not.
    ancestors: Vec<BTreeSet<usize>>,
}

impl Vocabulary {
    /// Takes the `top` classes that most pictures of `rows` show by a box of their own; the smaller id wins a tie.
    pub(super) fn choose(hierarchy: &Hierarchy, rows: &Rows, is_train: &[bool], top: usize) -> Self {
        let mut counts = vec![0_usize; hierarchy.classes().len()];
        rows.shown.iter().filter(|cell| is_train[cell.0 as usize]).for_each(|cell| counts[cell.1 as usize] += 1);
        let mut classes: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
        classes.sort_by_key(|&class| (Reverse(counts[class]), hierarchy.classes()[class].id.as_deref()));
        classes.truncate(top);
        Self::of(hierarchy, classes)
    }

    /// Given classes as concepts.
    fn of(hierarchy: &Hierarchy, classes: Vec<usize>) -> Self {
        let ancestors = hierarchy.ancestors();
        let mut column_of = vec![None; ancestors.len()];
        classes.iter().enumerate().for_each(|(column, &class)| column_of[class] = Some(column));
        let concepts = |above: &BTreeSet<usize>| -> BTreeSet<usize> {
            above.iter().filter_map(|&class| column_of[class]).collect()
        };
        let above = ancestors.iter().map(|above| concepts(above).into_iter().collect()).collect();
        Self { classes, column_of, above, ancestors }
    }

    /// The same with more classes behind, those that are none of these yet.
    pub(super) fn and(self, hierarchy: &Hierarchy, more: &[usize]) -> Self {
        let mut classes = self.classes;
        for &class in more.iter().filter(|class| self.column_of[**class].is_none()) {
            classes.push(class);
        }
        Self::of(hierarchy, classes)
    }

    /// Names of columns.
    pub(super) fn names(&self, hierarchy: &Hierarchy) -> Vec<String> {
        self.classes.iter().map(|&class| hierarchy.classes()[class].name.clone()).collect()
    }
}

/// What the rows of a table show: cells by row instead of picture, once each and in order.
pub(super) struct Rows {
    pub(super) count: usize,
    pub(super) shown: Vec<Cell>,
}

impl Rows {
    /// The pictures of the given numbers, ascending, as rows.
    pub(super) fn of(cells: &[Cell], pictures: &[usize], all: usize) -> Self {
        let mut row_of = vec![None; all];
        pictures.iter().enumerate().for_each(|(row, &picture)| row_of[picture] = Some(row as u32));
        let shown = cells.iter().filter_map(|&(picture, class)| Some((row_of[picture as usize]?, class))).collect();
        Self { count: pictures.len(), shown }
    }

    /// The classes of a row.
    fn of_row(&self, row: u32) -> impl Iterator<Item = usize> {
        let start = self.shown.partition_point(|cell| cell.0 < row);
        self.shown[start..].iter().take_while(move |cell| cell.0 == row).map(|cell| cell.1 as usize)
    }
}

/// What rows show for sure, and what they show beyond the vocabulary.
pub(super) struct Shown {
    /// The concepts with a box of their own or of one that is a kind of them.
    pub(super) value: BitTable,
    /// For each row the columns of concepts that only classes outside the vocabulary speak for, in order.
    pub(super) oov_ancestors: Vec<BTreeSet<usize>>,
}

/// Upward closure within the vocabulary. The way from a concept to another may lead through classes that are none.
pub(super) fn close(vocabulary: &Vocabulary, rows: &Rows) -> Shown {
    let mut value = BitTable::zeros(rows.count, vocabulary.classes.len());
    for &(row, class) in &rows.shown {
        let Some(own) = vocabulary.column_of[class as usize] else { continue };
        value.set(row as usize, own, true);
        vocabulary.above[class as usize].iter().for_each(|&column| value.set(row as usize, column, true));
    }
    let mut oov_ancestors = vec![BTreeSet::new(); rows.count];
    for &(row, class) in rows.shown.iter().filter(|cell| vocabulary.column_of[cell.1 as usize].is_none()) {
        let lacking = vocabulary.above[class as usize].iter().filter(|&&column| !value.get(row as usize, column));
        oov_ancestors[row as usize].extend(lacking);
    }
    Shown { value, oov_ancestors }
}

/// Labels of an open world: what boxes show is true, what people said no to is false, and so is every kind of it; all else is
/// unknown. A no to what a box, or a yes, speaks for is believed of nothing; those are returned, by row and class.
pub(super) fn open_world(
    vocabulary: &Vocabulary,
    shown: &Shown,
    rows: &Rows,
    verified: (&Rows, &Rows),
) -> (TruthTable, Vec<Cell>) {
    let (present, absent) = verified;
    // For each class the columns of the concepts that are a kind of it, its own among them.
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); vocabulary.ancestors.len()];
    for (column, &kind) in vocabulary.classes.iter().enumerate() {
        vocabulary.ancestors[kind].iter().chain([&kind]).for_each(|&class| below[class].push(column));
    }
    let mut known = shown.value.clone();
    let mut clashes = Vec::new();
    for &(row, class) in &absent.shown {
        let no = class as usize;
        let speaks = |shown: usize| shown == no || vocabulary.ancestors[shown].contains(&no);
        if rows.of_row(row).any(speaks) || present.of_row(row).any(speaks) {
            clashes.push((row, class));
            continue;
        }
        below[no].iter().for_each(|&column| known.set(row as usize, column, true));
    }
    (TruthTable::partial(shown.value.clone(), known), clashes)
}

/// Both kinds of answers as rows.
pub(super) fn answers(verified: &Verified, pictures: &[usize], all: usize) -> (Rows, Rows) {
    (Rows::of(&verified.present, pictures, all), Rows::of(&verified.absent, pictures, all))
}

#[cfg(test)]
mod tests;
