//! Samples that break rules, for what may learn from them: the split `oracle`, or, without one, the test rows in five parts,
//! each of which is scored by what was fitted to the other four.

use std::collections::BTreeMap;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::Rows;
use chimera_data::error::{Error, Result};
use chimera_leaf::encode::EncodedRows;
use serde::{Deserialize, Serialize};

use crate::gate::lesson::print_of;
use crate::gate::slices::Slices;

/// Parts of rows that are judged by what was fitted to the others.
pub(crate) const FOLDS: usize = 5;

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
    /// Samples that were learned from; `None` for those that belong to no part, as everything has learned from them.
    known: BTreeMap<[u8; 32], Option<usize>>,
}

impl FoldOf {
    /// The part of a sample. One that was not learned from belongs to any; `None` for one that cannot be scored, since
    /// everything has learned from it.
    #[must_use]
    pub fn of(&self, z: &[f32]) -> Option<usize> {
        let hash = hash_of(z);
        self.known.get(&hash).copied().unwrap_or_else(|| Some(part(&hash, self.count)))
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
        let z_of = |row: usize| hash_of(encoded.z(row).unwrap_or_default());
        let oracle = encoded.present(&dataset.oracle());
        if !oracle.is_empty() {
            let known = oracle.numbers().iter().map(|&row| (z_of(row), None)).collect();
            let folds = vec![fold(dataset, encoded, &oracle)?];
            return Ok(Self { folds, fold_of: FoldOf { count: 1, known }, fitted_on: FittedOn::Oracle });
        }
        let test = encoded.present(&dataset.test());
        if test.is_empty() {
            let message =
                format!("expected rows of split oracle or test in `{}`, got none", dataset.folder().display());
            let hint = "only samples that break rules can teach what sees them; other methods need none";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let parts = parts_of(dataset, test.numbers(), |row| encoded.z(row).unwrap_or_default());
        let known = parts.iter().map(|(&row, &part)| (z_of(row), Some(part))).collect();
        let folds = (0..FOLDS).map(|number| fold(dataset, encoded, &test.filtered(|row| parts[&row] != number)));
        let folds = folds.collect::<Result<_>>()?;
        Ok(Self { folds, fold_of: FoldOf { count: FOLDS, known }, fitted_on: FittedOn::CrossFitted })
    }
}

/// The part of each of some rows, so that no row need be judged by what has learned from it or its likes.
pub(crate) fn parts_of<'a>(
    dataset: &Dataset,
    rows: &[usize],
    z: impl Fn(usize) -> &'a [f32],
) -> BTreeMap<usize, usize> {
    parts(rows, |row| group_of(dataset, row), |row| hash_of(z(row)))
}

fn group_of(dataset: &Dataset, row: usize) -> Option<&str> {
    dataset.table().groups.as_ref().map(|groups| groups[row].as_str()).filter(|group| !group.is_empty())
}

/// The part of each row. Rows of one group, and rows that look the same to the encoder, stay together. Labels play no part in
/// it: whoever scores a row must not learn anything from its own.
fn parts<'a>(
    rows: &[usize],
    group: impl Fn(usize) -> Option<&'a str>,
    z: impl Fn(usize) -> [u8; 32],
) -> BTreeMap<usize, usize> {
    // Each row points to one that it stays with, and at the end of the chain is the row that stands for all of them.
    fn first(leads: &BTreeMap<usize, usize>, mut row: usize) -> usize {
        while leads[&row] != row {
            row = leads[&row];
        }
        row
    }
    let mut leads: BTreeMap<usize, usize> = rows.iter().map(|&row| (row, row)).collect();
    let (mut by_group, mut by_z) = (BTreeMap::new(), BTreeMap::new());
    for &row in rows {
        let same_z = *by_z.entry(z(row)).or_insert(row);
        let same_group = group(row).map_or(row, |group| *by_group.entry(group).or_insert(row));
        for other in [same_z, same_group] {
            let (one, other) = (first(&leads, row), first(&leads, other));
            leads.insert(one.max(other), one.min(other));
        }
    }
    let mut units: BTreeMap<usize, [u8; 32]> = BTreeMap::new();
    for &row in rows {
        let unit = units.entry(first(&leads, row)).or_insert([u8::MAX; 32]);
        *unit = z(row).min(*unit);
    }
    let mut order: Vec<(usize, [u8; 32])> = units.into_iter().collect();
    order.sort_by_key(|(_, hash)| *hash);
    let part_of: BTreeMap<usize, usize> =
        order.into_iter().enumerate().map(|(place, (unit, _))| (unit, place % FOLDS)).collect();
    rows.iter().map(|&row| (row, part_of[&first(&leads, row)])).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_together_stays_together_and_parts_are_even() {
        let rows: Vec<usize> = (0..50).collect();
        // Rows 0 and 1 are a group, and 1 and 2 look the same.
        let group = |row| if row < 2 { Some("g") } else { None };
        let z = |row: usize| {
            let mut hash = *blake3::hash(&[row as u8]).as_bytes();
            if row == 2 {
                hash = *blake3::hash(&[1]).as_bytes();
            }
            hash
        };
        let parts = parts(&rows, group, z);
        assert_eq!((parts[&0], parts[&1]), (parts[&1], parts[&2]));
        for part in 0..FOLDS {
            assert!((8..=12).contains(&parts.values().filter(|&&other| other == part).count()));
        }
    }
}
