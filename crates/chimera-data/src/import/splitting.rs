//! From what a source says about splits, or does not say, to the splits of a dataset.

use std::collections::BTreeMap;
use std::fmt;

use super::{ImportOptions, Note};
use crate::dataset::assign::{self, Ties};
use crate::error::{Error, Result, shown};
use crate::split::Split;
use crate::table::LabelTable;

/// The shares where a source says nothing.
pub(super) const DEFAULT_SHARES: [(Split, f64); 2] = [(Split::Train, 0.8), (Split::Test, 0.2)];

/// Who goes to which split. Calibration rows are carved from train where there are none, by group, in every case.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum SplitRule {
    /// As the source says, by a column or by its files; where it says nothing, four fifths train and one fifth test.
    #[default]
    Source,
    /// By shares that sum to 1, train among them; seeded, whole groups at a time. What the source says is ignored.
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

/// So far from 1 may the sum of shares be: what decimals lose.
const ROUNDING: f64 = 1e-6;

/// Gives every row a split of ours and tells by which rule in the end.
pub(super) fn settle(table: &mut LabelTable, options: &ImportOptions, notes: &mut Vec<Note>) -> Result<SplitRule> {
    settle_by(table, options, &Unsplit { why: "the source has no splits", shares: &DEFAULT_SHARES, asked: None }, notes)
}

/// What is done where a source says nothing of splits.
pub(super) struct Unsplit<'a> {
    /// Why it is so.
    pub(super) why: &'a str,
    /// How samples are dealt.
    pub(super) shares: &'a [(Split, f64)],
    /// The option that asked for these shares, where one did.
    pub(super) asked: Option<&'a str>,
}

/// The same, with other shares where a source says nothing.
pub(super) fn settle_by(
    table: &mut LabelTable,
    options: &ImportOptions,
    unsplit: &Unsplit<'_>,
    notes: &mut Vec<Note>,
) -> Result<SplitRule> {
    if table.ids.is_empty() {
        return Err(Error::input(format!("expected samples in `{}`, got none", table.path.display()), None));
    }
    let shares = match &options.split {
        SplitRule::Shares(shares) => shares.as_slice(),
        SplitRule::Source if table.splits.is_some() => return translate(table, notes).map(|()| SplitRule::Source),
        SplitRule::Source => {
            let rule = SplitRule::Shares(unsplit.shares.to_vec());
            notes.push(Note::new(format!("{}: {rule} with seed {}", unsplit.why, options.seed)));
            unsplit.shares
        }
    };
    check_shares(shares)?;
    let dealt = assign::by_shares(Ties::of(table), shares, options.seed);
    let option = if options.split == SplitRule::Source { unsplit.asked } else { Some("--split") };
    for (split, _) in shares.iter().filter(|(split, _)| !dealt.contains(&Some(*split))) {
        // Where nobody asked for shares, a handful of samples may all be for training.
        if option.is_none() && *split != Split::Train {
            notes.push(Note::new(format!("there are too few samples or groups for the split `{split}`: it is empty")));
            continue;
        }
        let (path, all, rule) = (table.path.display(), table.ids.len(), SplitRule::Shares(shares.to_vec()));
        let message = format!("expected rows for the split `{split}` in `{path}`, got none of {all} by {rule}");
        let option = option.unwrap_or("--split");
        let hint = format!("there are too few samples or groups to divide so; give other shares with `{option}`");
        return Err(Error::input(message, Some(hint)));
    }
    table.splits = Some(dealt.into_iter().map(|split| split.unwrap_or(Split::Train).as_str().to_owned()).collect());
    Ok(SplitRule::Shares(shares.to_vec()))
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
    if shares.is_empty() {
        return wrong("none".to_owned());
    }
    let (sum, rule) = (shares.iter().map(|(_, share)| share).sum::<f64>(), SplitRule::Shares(shares.to_vec()));
    if (sum - 1.0).abs() > ROUNDING {
        return Err(Error::input(format!("expected shares that sum to 1, got {rule}, which sum to {sum}"), None));
    }
    if !shares.iter().any(|(split, _)| *split == Split::Train) {
        return Err(Error::input(format!("expected a share of train to learn from, got {rule}"), None));
    }
    Ok(())
}

/// The source's words become ours.
fn translate(table: &mut LabelTable, notes: &mut Vec<Note>) -> Result<()> {
    let (mut problems, mut splits) = (table.no_problems(), table.splits.take());
    // Rows of each word for a validation set.
    let mut validation: BTreeMap<String, usize> = BTreeMap::new();
    for (row, word) in splits.iter_mut().flatten().enumerate() {
        match Split::from_source(word) {
            Some(split) => {
                if split == Split::Test && !word.to_lowercase().starts_with("test") {
                    *validation.entry(word.clone()).or_default() += 1;
                }
                split.as_str().clone_into(word);
            }
            None => {
                let got = if word.is_empty() { "an empty cell".to_owned() } else { format!("`{}`", shown(word)) };
                let message = format!("expected a split (train, calibration, test or oracle; val is test), got {got}");
                let hint = "to deal the rows anew, give shares: `--split train=0.8,test=0.2`";
                problems.add(table.place(row), message, Some(hint));
            }
        }
    }
    table.splits = splits;
    let told = |(word, count): (String, usize)| {
        let word = shown(&word);
        Note::of(
            count,
            format!("row of the split `{word}` counts as test: nothing is fitted on it"),
            format!("rows of the split `{word}` count as test: nothing is fitted on them"),
        )
    };
    notes.extend(validation.into_iter().map(told));
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
