//! Features of some rows, where they lie.

use chimera_gate::cone::Features;
use chimera_leaf::encode::EncodedRows;

/// z of some rows of a dataset.
pub(crate) struct Slices<'a>(pub(crate) Vec<&'a [f32]>);

impl Features for Slices<'_> {
    fn of(&self, row: usize) -> &[f32] {
        self.0[row]
    }
}

impl<'a> Slices<'a> {
    pub(crate) fn of_rows(encoded: &'a EncodedRows, rows: &[usize]) -> Self {
        Self(rows.iter().map(|&row| encoded.z(row).unwrap_or_default()).collect())
    }
}
