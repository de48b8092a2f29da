//! Whether labels are as closed as their hierarchy says: a sample that shows a class shows all that it is a kind of.

use std::collections::BTreeSet;

use chimera_logic::printer::quote_name;

use super::Hierarchy;
use crate::table::LabelTable;

/// So many rows are named as examples.
const EXAMPLES: usize = 5;

/// A tie between two concepts that some rows break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrokenTie {
    /// As rules are written: `Car => Vehicle`.
    pub(crate) rule: String,
    /// Rows that show the one and not the other; what is unknown breaks nothing.
    pub(crate) rows: usize,
    /// The first of them, by id.
    pub(crate) examples: Vec<String>,
}

impl BrokenTie {
    /// `2 rows, such as a, b`.
    pub(crate) fn in_words(&self) -> String {
        let listed = self.examples.join(", ");
        match self.rows {
            1 => format!("1 row, {listed}"),
            rows if rows == self.examples.len() => format!("{rows} rows, {listed}"),
            rows => format!("{rows} rows, such as {listed}"),
        }
    }
}

impl Hierarchy {
    /// Pairs of a concept and one that it is a kind of, directly or through other classes, by their numbers among `concepts`.
    pub(crate) fn ancestors_among(&self, concepts: &[String]) -> BTreeSet<(usize, usize)> {
        let mut concept_of = vec![None; self.classes.len()];
        for (concept, name) in concepts.iter().enumerate() {
            self.number(name).into_iter().for_each(|class| concept_of[class] = Some(concept));
        }
        let above = self.ancestors();
        let known = (0..above.len()).filter_map(|class| Some((class, concept_of[class]?)));
        known
            .flat_map(|(class, concept)| above[class].iter().map(move |&up| (concept, up)))
            .filter_map(|(concept, up)| Some((concept, concept_of[up]?)))
            .collect()
    }

    /// The ties that labels break although the hierarchy says that they are closed; none where it does not.
    pub(crate) fn broken_ties(&self, table: &LabelTable) -> Vec<BrokenTie> {
        if !self.closed {
            return Vec::new();
        }
        let broken = |(kind, above): (usize, usize)| {
            let labels = table.labels.value();
            let (shows, lacks) = (labels.column(kind), labels.column(above));
            let known = table.labels.known().map(|known| known.column(above));
            let breaks = |word: usize| shows[word] & !lacks[word] & known.map_or(u64::MAX, |known| known[word]);
            let words: Vec<u64> = (0..shows.len()).map(breaks).collect();
            let rows = words.iter().map(|word| word.count_ones() as usize).sum();
            let is_broken = |row: &usize| (words[row / 64] >> (row % 64)) & 1 == 1;
            let first = (0..table.ids.len()).filter(is_broken).take(EXAMPLES);
            let examples = first.map(|row| table.ids[row].to_owned()).collect();
            let [kind, above] = [kind, above].map(|concept| quote_name(&table.concepts[concept]));
            (rows > 0).then(|| BrokenTie { rule: format!("{kind} => {above}"), rows, examples })
        };
        self.ancestors_among(&table.concepts).into_iter().filter_map(broken).collect()
    }
}
