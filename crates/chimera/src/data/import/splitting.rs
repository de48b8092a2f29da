//! From what a source says about splits, or does not say, to the splits of a dataset.

use std::fmt;

use super::{ImportOptions, Note};
use crate::data::assign::{self, Ties};
use crate::data::cell::shown;
use crate::data::problem::{Numbering, TableProblems};
use crate::data::split::Split;
use crate::data::table::LabelTable;
use crate::error::{Error, Result};

/// The shares where a source says nothing.
const DEFAULT_SHARES: [(Split, f64); 2] = [(Split::Train, 0.8), (Split::Test, 0.2)];

/// Who goes to which split. Calibration rows are carved from train where there are none, by group, in every case.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SplitRule {
    /// As the source says, by a column or by its files; where it says nothing, four fifths train and one fifth test.
    #[default]
    Source,
    /// By shares, seeded, whole groups at a time; what the source says is ignored.
    Shares(Vec<(Split, f64)>),
}

impl fmt::Display for SplitRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Source => f.write_str("source"),
            Self::Shares(shares) => {
                let shares: Vec<String> = shares.iter().map(|(split, share)| format!("{split}={share}")).collect();
                f.write_str(&shares.join(","))
            }
        }
    }
}

/// Gives every row a split of ours.
pub(super) fn settle(table: &mut LabelTable, options: &ImportOptions, notes: &mut Vec<Note>) -> Result<()> {
    if table.ids.is_empty() {
        return Err(Error::input(format!("expected samples in `{}`, got none", table.path.display()), None));
    }
    let shares = match &options.split {
        SplitRule::Shares(shares) => shares.as_slice(),
        SplitRule::Source if table.splits.is_some() => return translate(table),
        SplitRule::Source => {
            notes.push(Note::new(format!("the source has no splits: train=0.8,test=0.2 with seed {}", options.seed)));
            &DEFAULT_SHARES
        }
    };
    check_shares(shares)?;
    let dealt = assign::by_shares(Ties::of(table), shares, options.seed);
    if let Some((split, _)) = shares.iter().find(|(split, _)| !dealt.contains(&Some(*split))) {
        if options.split == SplitRule::Source {
            // Nobody asked for shares; a handful of samples may all be for training.
            notes.push(Note::new(format!("there are too few samples or groups for the split `{split}`: it is empty")));
        } else {
            let message = format!("expected rows for the split `{split}` in `{}`, got none", table.path.display());
            let hint = "there are too few samples or groups to divide; change the shares, or give a split column";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
    }
    table.splits = Some(dealt.into_iter().map(|split| split.unwrap_or(Split::Train).as_str().to_owned()).collect());
    Ok(())
}

fn check_shares(shares: &[(Split, f64)]) -> Result<()> {
    let wrong =
        |what: String| Err(Error::input(format!("expected shares such as train=0.8,test=0.2, got {what}"), None));
    for (index, (split, share)) in shares.iter().enumerate() {
        if !share.is_finite() || *share <= 0.0 {
            return wrong(format!("{split}={share}"));
        }
        if shares[..index].iter().any(|(other, _)| other == split) {
            return wrong(format!("`{split}` twice"));
        }
    }
    if shares.is_empty() { wrong("none".to_owned()) } else { Ok(()) }
}

/// The source's words become ours.
fn translate(table: &mut LabelTable) -> Result<()> {
    let mut problems = TableProblems::new(&table.path, Numbering::Rows);
    for (row, word) in table.splits.iter_mut().flatten().enumerate() {
        match Split::from_source(word) {
            Some(split) => split.as_str().clone_into(word),
            None => {
                let got = if word.is_empty() { "an empty cell".to_owned() } else { format!("`{}`", shown(word)) };
                let message = format!("expected a split (train, calibration, test or oracle; val is test), got {got}");
                let hint = "to deal the rows anew, give shares: `--split train=0.8,test=0.2`";
                problems.add(row as u64 + 1, message, Some(hint));
            }
        }
    }
    problems.into_result()
}

/// The rows to import, ascending: all, or about `limit` of them, drawn by a hash of their ids, each split by its share.
pub(super) fn chosen_rows(table: &LabelTable, options: &ImportOptions) -> Result<Vec<usize>> {
    let all: Vec<usize> = (0..table.ids.len()).collect();
    let (Some(limit), Some(splits)) = (options.limit, &table.splits) else { return Ok(all) };
    if limit == 0 {
        return Err(Error::input("expected a limit of 1 at least, got 0".to_owned(), None));
    }
    if limit >= all.len() {
        return Ok(all);
    }
    let mut chosen = Vec::with_capacity(limit);
    for split in Split::ALL {
        let mut rows: Vec<usize> = all.iter().copied().filter(|&row| splits[row] == split.as_str()).collect();
        // Rounded up, so that no split is lost; a few more than `limit` do no harm.
        let wanted = (rows.len() * limit).div_ceil(all.len());
        let key = |&row: &usize| {
            let mut hasher = blake3::Hasher::new_derive_key("chimera limit");
            hasher.update(&options.seed.to_le_bytes()).update(table.ids[row].as_bytes());
            *hasher.finalize().as_bytes()
        };
        rows.sort_by_cached_key(key);
        chosen.extend(rows.into_iter().take(wanted));
    }
    chosen.sort_unstable();
    Ok(chosen)
}
