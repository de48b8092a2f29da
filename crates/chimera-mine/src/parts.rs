//! The rows that mining may see, in their parts: those that are searched, those that rules are confirmed on, and both.

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::FitRows;
use chimera_data::error::{Error, Result};
use chimera_logic::bits::TruthTable;

use super::options::MineOptions;

/// Train rows alone: the type admits no others.
pub(super) struct Parts {
    /// All of them.
    pub(super) rows: FitRows,
    pub(super) train: TruthTable,
    pub(super) searched: TruthTable,
    /// `None` where nothing is held out.
    pub(super) held_out: Option<TruthTable>,
}

impl Parts {
    pub(super) fn of(dataset: &Dataset, options: &MineOptions) -> Result<Self> {
        let rows = dataset.train()?;
        let labels = |rows: &FitRows| {
            // In the order of the table, neighbours stay neighbours.
            let mut numbers = rows.numbers().to_vec();
            numbers.sort_unstable();
            dataset.table().labels.select(&numbers)
        };
        if options.holdout == 0.0 {
            let train = labels(&rows);
            return Ok(Self { rows, searched: train.clone(), train, held_out: None });
        }
        let (searched, held_out) = dataset.hold_out(&rows, options.holdout, options.seed);
        if held_out.is_empty() {
            let (count, folder) = (rows.len(), dataset.folder().display());
            let message = format!(
                "expected train rows of two groups at least, to confirm on some what was found on others, got {count} of one in `{folder}`"
            );
            return Err(Error::input(message, Some("`--holdout 0` mines without confirmation".to_owned())));
        }
        Ok(Self { train: labels(&rows), searched: labels(&searched), held_out: Some(labels(&held_out)), rows })
    }
}
