//! Fingerprints of content: the same whatever the order of rows and columns, the format of the table or its place on disk.

use chimera_logic::bits::TruthTable;
use serde::Serialize;

use crate::dataset::Dataset;
use crate::dataset::rows::Rows;
use crate::error::Result;
pub use crate::table::fingerprint::Fingerprint;
use crate::table::fingerprint::Texts;
use crate::table::names::Names;

/// The fingerprints of a whole dataset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fingerprints {
    /// Which samples there are, with split and group.
    pub rows: Fingerprint,
    /// Their labels, with the names of the concepts and what they show beyond the vocabulary.
    pub labels: Fingerprint,
    /// Which media they have, by path.
    pub media: Fingerprint,
    /// Their ready-made features, where there are any.
    pub features: Option<Fingerprint>,
}

/// A hash of one concept's labels on rows that are sorted by id.
fn of_column(name: &str, ids: &Names, labels: &TruthTable, column: usize, sorted: &[usize]) -> Fingerprint {
    let mut texts = Texts::new("chimera labels of a concept");
    texts.add(name);
    for &row in sorted {
        texts.add(&ids[row]);
        texts.bytes(&[labels.get(row, column).map_or(2, u8::from)]);
    }
    texts.finish()
}

impl Dataset {
    /// Numbers of rows, sorted by id.
    pub(super) fn by_id(&self, mut rows: Vec<usize>) -> Vec<usize> {
        rows.sort_unstable_by(|&a, &b| self.table().ids[a].cmp(&self.table().ids[b]));
        rows
    }

    /// The group of a row, empty where it has none.
    fn group(&self, row: usize) -> &str {
        self.table().groups.as_ref().map_or("", |groups| &groups[row])
    }

    /// Fingerprint of which samples these rows are, and what ties them together.
    #[must_use]
    pub fn row_fingerprint<Purpose>(&self, rows: &Rows<Purpose>) -> Fingerprint {
        let mut texts = Texts::new("chimera rows of a purpose");
        texts.add(rows.split().as_str());
        for &row in rows.numbers() {
            texts.add(&self.table().ids[row]);
            texts.add(self.group(row));
        }
        texts.finish()
    }

    /// Fingerprint of the labels that one concept has on these rows.
    #[must_use]
    pub fn label_fingerprint<Purpose>(&self, concept: usize, rows: &Rows<Purpose>) -> Fingerprint {
        let table = self.table();
        of_column(&table.concepts[concept], &table.ids, &table.labels, concept, rows.numbers())
    }

    /// The fingerprints of everything.
    ///
    /// # Errors
    /// Features that cannot be read.
    pub fn fingerprints(&self) -> Result<Fingerprints> {
        let table = self.table();
        let sorted = self.by_id((0..table.ids.len()).collect());
        let (mut rows, mut media) = (Texts::new("chimera rows"), Texts::new("chimera media"));
        for &row in &sorted {
            rows.add(&table.ids[row]);
            rows.add(self.splits()[row].as_str());
            rows.add(self.group(row));
            if let Some(path) = self.media_name(row) {
                media.add(&table.ids[row]);
                media.add(path);
            }
        }
        let mut concepts: Vec<usize> = (0..table.concepts.len()).collect();
        concepts.sort_unstable_by(|&a, &b| table.concepts[a].cmp(&table.concepts[b]));
        let mut labels = Texts::new("chimera labels");
        for concept in concepts {
            let column = of_column(&table.concepts[concept], &table.ids, &table.labels, concept, &sorted);
            labels.bytes(column.0.as_bytes());
        }
        for (row, ancestors) in sorted.iter().filter_map(|&row| Some((row, table.oov_ancestors.as_ref()?.get(row)?))) {
            labels.add(&table.ids[row]);
            labels.bytes(&(ancestors.len() as u64).to_le_bytes());
            ancestors.iter().for_each(|ancestor| labels.add(ancestor));
        }
        let features = self.features()?.map(|features| {
            let mut texts = Texts::new("chimera features");
            for &row in &sorted {
                texts.add(&table.ids[row]);
                features.row(row).iter().for_each(|value| texts.bytes(&value.to_le_bytes()));
            }
            texts.finish()
        });
        Ok(Fingerprints { rows: rows.finish(), labels: labels.finish(), media: media.finish(), features })
    }
}
