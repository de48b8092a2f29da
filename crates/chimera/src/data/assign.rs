//! Dealing samples to splits, whole groups at a time. The order of groups comes from a hash of their names and the seed,
//! so the outcome depends on neither the order of the rows nor on the platform.

use indexmap::IndexMap;

use crate::data::names::Names;
use crate::data::split::Split;

/// The seed unless another is asked for; the paper's.
pub const DEFAULT_SEED: u64 = 123;

/// The share of train that becomes calibration where a source has none.
pub const CALIBRATION_SHARE: f64 = 0.1;

/// Rows that stay together, in the order of the deal.
struct Group {
    hash: [u8; 32],
    rows: Vec<usize>,
}

/// The groups of the given rows in the order of their hashes. A row without a group stands alone, under its id.
fn groups_of(rows: &[usize], ids: &Names, groups: Option<&[String]>, seed: u64) -> Vec<Group> {
    let mut members: IndexMap<(bool, &str), Vec<usize>> = IndexMap::new();
    for &row in rows {
        let named = groups.map(|groups| groups[row].as_str()).filter(|name| !name.is_empty());
        members.entry((named.is_some(), named.unwrap_or(&ids[row]))).or_default().push(row);
    }
    let dealt = members.into_iter().map(|((named, name), rows)| {
        let mut hasher = blake3::Hasher::new_derive_key("chimera split");
        hasher.update(&seed.to_le_bytes()).update(&[u8::from(named)]).update(name.as_bytes());
        Group { hash: *hasher.finalize().as_bytes(), rows }
    });
    let mut dealt: Vec<Group> = dealt.collect();
    dealt.sort_by_key(|group| group.hash);
    dealt
}

/// Deals all samples to splits in the given shares, which need not sum to one: each group goes to where most is lacking.
pub(super) fn by_shares(
    ids: &Names,
    groups: Option<&[String]>,
    shares: &[(Split, f64)],
    seed: u64,
) -> Vec<Option<Split>> {
    let all: Vec<usize> = (0..ids.len()).collect();
    let whole: f64 = shares.iter().map(|(_, share)| share).sum();
    let mut lacking: Vec<f64> = shares.iter().map(|(_, share)| share / whole * ids.len() as f64).collect();
    let mut splits = vec![None; ids.len()];
    for group in groups_of(&all, ids, groups, seed) {
        // The first of several that lack as much wins.
        let best = (0..shares.len()).reduce(|best, next| if lacking[next] > lacking[best] { next } else { best });
        let Some(best) = best else { break };
        lacking[best] -= group.rows.len() as f64;
        group.rows.iter().for_each(|&row| splits[row] = Some(shares[best].0));
    }
    splits
}

/// Turns about a tenth of the train rows into calibration rows, by whole groups; none if there is but one group.
pub(super) fn carve_calibration(splits: &mut [Split], ids: &Names, groups: Option<&[String]>, seed: u64) {
    let train: Vec<usize> = (0..splits.len()).filter(|&row| splits[row] == Split::Train).collect();
    let wanted = ((train.len() as f64 * CALIBRATION_SHARE).round() as usize).max(1);
    let dealt = groups_of(&train, ids, groups, seed);
    if dealt.len() < 2 {
        return;
    }
    let mut taken = 0;
    for group in &dealt {
        // A large group is taken only if that comes nearer to the share than leaving it.
        let after = taken + group.rows.len();
        if after < train.len() && wanted.abs_diff(after) < wanted.abs_diff(taken) {
            taken = after;
            group.rows.iter().for_each(|&row| splits[row] = Split::Calibration);
        }
    }
    if taken == 0
        && let Some(smallest) = dealt.iter().min_by_key(|group| group.rows.len())
    {
        smallest.rows.iter().for_each(|&row| splits[row] = Split::Calibration);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(count: usize) -> Names {
        (0..count).map(|row| format!("s{row}")).collect()
    }

    #[test]
    fn shares_are_met_whatever_the_order_of_rows() {
        let forward = ids(1000);
        let shares = [(Split::Train, 8.0), (Split::Test, 2.0)];
        let splits = by_shares(&forward, None, &shares, 1);
        assert_eq!(splits.iter().filter(|split| **split == Some(Split::Train)).count(), 800);
        let backward: Names = forward.iter().rev().collect();
        let mut again = by_shares(&backward, None, &shares, 1);
        again.reverse();
        assert_eq!(splits, again);
        assert_ne!(splits, by_shares(&forward, None, &shares, 2));
    }

    #[test]
    fn groups_stay_whole() {
        let ids = ids(400);
        // Groups of 1, 2, 3, ... rows, and some rows alone.
        let names: Vec<String> = (0..400usize).map(|row| format!("g{}", (row as f64).sqrt() as usize)).collect();
        let names: Vec<String> =
            names.into_iter().map(|name| if name == "g3" { String::new() } else { name }).collect();
        for seed in 0..20 {
            let dealt = by_shares(&ids, Some(&names), &[(Split::Train, 0.7), (Split::Test, 0.3)], seed);
            let mut splits: Vec<Split> = dealt.into_iter().map(Option::unwrap).collect();
            carve_calibration(&mut splits, &ids, Some(&names), seed);
            let train = splits.iter().filter(|split| **split != Split::Test).count();
            // No group has more than 39 rows.
            assert!(train.abs_diff(280) <= 39, "{train}");
            let calibration = splits.iter().filter(|split| **split == Split::Calibration).count();
            assert!(calibration > 0 && calibration < 50, "{calibration}");
            for (row, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
                let first = names.iter().position(|other| other == name).unwrap();
                assert_eq!(splits[row], splits[first], "{name}");
            }
        }
    }

    #[test]
    fn a_tenth_of_train_becomes_calibration() {
        for (rows, expected) in [(1, 0), (2, 1), (10, 1), (24, 2), (1000, 100)] {
            let mut splits = vec![Split::Train; rows];
            carve_calibration(&mut splits, &ids(rows), None, DEFAULT_SEED);
            assert_eq!(splits.iter().filter(|split| **split == Split::Calibration).count(), expected, "{rows}");
        }
        let one = vec!["scene".to_owned(); 10];
        let mut splits = vec![Split::Train; 10];
        carve_calibration(&mut splits, &ids(10), Some(&one), DEFAULT_SEED);
        assert_eq!(splits, [Split::Train; 10]);
    }
}
