//! Samples that break rules, for what may learn from them: the split `oracle`, or, without one, the test rows in five parts,
//! each of which is scored by what was fitted to the other four.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::data::dataset::Dataset;
use crate::data::rows::Rows;
use crate::error::{Error, Result};
use crate::gate::lesson::{Slices, print_of};
use crate::leaf::encode::EncodedRows;

/// Parts of the test rows.
const FOLDS: usize = 5;

/// Where samples that break rules came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FittedOn {
    /// The split `oracle`.
    Oracle,
    /// The test rows, each scored by what was fitted without its part.
    CrossFitted,
}

/// The part of the samples to which one belongs, told from its z: a pure function, so that a sample is scored in the same way
/// everywhere.
#[derive(Clone, Debug)]
pub struct FoldOf {
    count: usize,
    known: BTreeMap<[u8; 32], usize>,
}

impl FoldOf {
    /// The part of a sample. One that was not learned from belongs to any.
    #[must_use]
    pub fn of(&self, z: &[f32]) -> usize {
        if self.count == 1 {
            return 0;
        }
        let hash = hash_of(z);
        self.known.get(&hash).copied().unwrap_or_else(|| part(&hash, self.count))
    }

    /// How many parts there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }
}

/// Rows to learn from for the samples of one part.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Their numbers.
    pub numbers: Vec<usize>,
    /// The fingerprint of who they are and of their z.
    pub print: String,
}

/// All samples that break rules may be learned from.
#[derive(Clone, Debug)]
pub struct Violations {
    /// What to learn from, for each part.
    pub folds: Vec<Fold>,
    /// Who belongs to which part.
    pub fold_of: FoldOf,
    /// Where they came from.
    pub fitted_on: FittedOn,
}

impl Violations {
    /// Those of a dataset.
    ///
    /// # Errors
    /// A dataset with neither oracle nor test rows.
    pub fn of(dataset: &Dataset, encoded: &EncodedRows) -> Result<Self> {
        let oracle = encoded.present(&dataset.oracle());
        if !oracle.is_empty() {
            let fold_of = FoldOf { count: 1, known: BTreeMap::new() };
            let folds = vec![fold(dataset, encoded, &oracle)?];
            return Ok(Self { folds, fold_of, fitted_on: FittedOn::Oracle });
        }
        let test = encoded.present(&dataset.test());
        if test.is_empty() {
            let message =
                format!("expected rows of split oracle or test in `{}`, got none", dataset.folder().display());
            let hint = "only samples that break rules can teach what sees them; other methods need none";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let group = |row: usize| dataset.table().groups.as_ref().map_or("", |groups| groups[row].as_str());
        let z_of = |row: usize| encoded.z(row).unwrap_or_default();
        // Samples of one group stay together, and so do those that look the same to the encoder.
        let own = |row: usize| match group(row) {
            "" => part(&hash_of(z_of(row)), FOLDS),
            group => part(blake3::hash(group.as_bytes()).as_bytes(), FOLDS),
        };
        let mut known = BTreeMap::new();
        for &row in test.numbers() {
            known.entry(hash_of(z_of(row))).or_insert_with(|| own(row));
        }
        let fold_of = FoldOf { count: FOLDS, known };
        let folds = (0..FOLDS).map(|number| {
            let others = test.filtered(|row| own(row) != number && fold_of.of(z_of(row)) != number);
            fold(dataset, encoded, &others)
        });
        Ok(Self { folds: folds.collect::<Result<_>>()?, fold_of, fitted_on: FittedOn::CrossFitted })
    }
}

fn fold<Purpose>(dataset: &Dataset, encoded: &EncodedRows, rows: &Rows<Purpose>) -> Result<Fold> {
    let z = Slices::of_rows(encoded, rows.numbers());
    Ok(Fold { numbers: rows.numbers().to_vec(), print: print_of(dataset, rows, &z)? })
}

fn hash_of(z: &[f32]) -> [u8; 32] {
    *blake3::hash(bytemuck::cast_slice(z)).as_bytes()
}

fn part(hash: &[u8; 32], count: usize) -> usize {
    usize::from(u16::from_le_bytes([hash[0], hash[1]])) % count
}
