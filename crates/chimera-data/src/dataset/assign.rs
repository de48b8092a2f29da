//! Dealing samples to splits, whole groups at a time, and all samples of one picture or video together. The order comes
//! from a hash of names and the seed, so the outcome depends on neither the order of the rows nor on the platform.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use indexmap::IndexMap;

use crate::split::Split;
use crate::table::LabelTable;
use crate::table::names::Names;

/// The seed unless another is asked for; the paper's.
pub const DEFAULT_SEED: u64 = 123;

/// The share of train that becomes calibration where a source has none.
pub(crate) const CALIBRATION_SHARE: f64 = 0.1;

/// What ties samples to each other: those of one group and those of one medium are never told apart by a split.
#[derive(Clone, Copy)]
pub(crate) struct Ties<'a> {
    ids: &'a Names,
    groups: Option<&'a [String]>,
    media: Option<&'a [String]>,
}

impl<'a> Ties<'a> {
    pub(crate) fn of(table: &'a LabelTable) -> Self {
        Self { ids: &table.ids, groups: table.groups.as_deref(), media: table.media.as_deref() }
    }

    fn named(names: Option<&'a [String]>, row: usize) -> Option<&'a str> {
        names.map(|names| names[row].as_str()).filter(|name| !name.is_empty())
    }

    /// What a row is dealt by: its group, or its id where it has none.
    fn hash(self, row: usize, seeded: &blake3::Hasher) -> [u8; 32] {
        let group = Self::named(self.groups, row);
        let mut hasher = seeded.clone();
        hasher.update(&[u8::from(group.is_some())]);
        *hasher.update(group.unwrap_or(&self.ids[row]).as_bytes()).finalize().as_bytes()
    }

    /// The given rows in bundles that stay together, in the order of the smallest hash of each.
    fn bundles(self, rows: &[usize], seed: u64) -> Vec<Vec<usize>> {
        let mut first: HashMap<(bool, &str), usize, FixedState> = HashMap::default();
        let mut leaders: Vec<usize> = (0..rows.len()).collect();
        for (place, &row) in rows.iter().enumerate() {
            let names = [(false, Self::named(self.groups, row)), (true, Self::named(self.media, row))];
            for (of_media, name) in names {
                let Some(name) = name else { continue };
                let other = *first.entry((of_media, name)).or_insert(place);
                let (here, there) = (leader(&mut leaders, place), leader(&mut leaders, other));
                leaders[here.max(there)] = here.min(there);
            }
        }
        let mut bundles: IndexMap<usize, ([u8; 32], Vec<usize>), FixedState> = IndexMap::default();
        let mut seeded = blake3::Hasher::new_derive_key("chimera split");
        seeded.update(&seed.to_le_bytes());
        for (place, &row) in rows.iter().enumerate() {
            let hash = self.hash(row, &seeded);
            let (smallest, members) = bundles.entry(leader(&mut leaders, place)).or_insert((hash, Vec::new()));
            *smallest = hash.min(*smallest);
            members.push(row);
        }
        bundles.sort_unstable_by(|_, (one, _), _, (other, _)| one.cmp(other));
        bundles.into_values().map(|(_, members)| members).collect()
    }
}

/// The first of those that a place is tied to; the way there is made shorter.
fn leader(leaders: &mut [usize], mut place: usize) -> usize {
    while leaders[place] != place {
        leaders[place] = leaders[leaders[place]];
        place = leaders[place];
    }
    place
}

/// Deals all samples to splits in the given shares: each bundle goes to where most is lacking.
pub(crate) fn by_shares(ties: Ties<'_>, shares: &[(Split, f64)], seed: u64) -> Vec<Option<Split>> {
    let all: Vec<usize> = (0..ties.ids.len()).collect();
    let whole: f64 = shares.iter().map(|(_, share)| share).sum();
    let mut lacking: Vec<f64> = shares.iter().map(|(_, share)| share / whole * all.len() as f64).collect();
    let mut splits = vec![None; all.len()];
    for bundle in ties.bundles(&all, seed) {
        // The first of several that lack as much wins.
        let best = (0..shares.len()).reduce(|best, next| if lacking[next] > lacking[best] { next } else { best });
        let Some(best) = best else { break };
        lacking[best] -= bundle.len() as f64;
        bundle.iter().for_each(|&row| splits[row] = Some(shares[best].0));
    }
    splits
}

/// Turns about a tenth of the train rows into calibration rows, by whole bundles; none if there is but one.
pub(super) fn carve_calibration(splits: &mut [Split], ties: Ties<'_>, seed: u64) {
    let train: Vec<usize> = (0..splits.len()).filter(|&row| splits[row] == Split::Train).collect();
    part(ties, &train, CALIBRATION_SHARE, seed).into_iter().for_each(|row| splits[row] = Split::Calibration);
}

/// About so large a share of the rows, at least one and not all, by whole bundles; none if there is but one bundle.
pub(super) fn part(ties: Ties<'_>, rows: &[usize], share: f64, seed: u64) -> Vec<usize> {
    let wanted = ((rows.len() as f64 * share).round() as usize).max(1);
    let dealt = ties.bundles(rows, seed);
    if dealt.len() < 2 {
        return Vec::new();
    }
    let mut taken = Vec::new();
    for bundle in &dealt {
        // A large bundle is taken only if that comes nearer to the share than leaving it.
        let after = taken.len() + bundle.len();
        if after < rows.len() && wanted.abs_diff(after) < wanted.abs_diff(taken.len()) {
            taken.extend_from_slice(bundle);
        }
    }
    if taken.is_empty()
        && let Some(smallest) = dealt.iter().min_by_key(|bundle| bundle.len())
    {
        taken.extend_from_slice(smallest);
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(count: usize) -> Names {
        (0..count).map(|row| format!("s{row}")).collect()
    }

    fn alone(ids: &Names) -> Ties<'_> {
        Ties { ids, groups: None, media: None }
    }

    #[test]
    fn shares_are_met_whatever_the_order_of_rows() {
        let forward = ids(1000);
        let shares = [(Split::Train, 8.0), (Split::Test, 2.0)];
        let splits = by_shares(alone(&forward), &shares, 1);
        assert_eq!(splits.iter().filter(|split| **split == Some(Split::Train)).count(), 800);
        let backward: Names = forward.iter().rev().collect();
        let mut again = by_shares(alone(&backward), &shares, 1);
        again.reverse();
        assert_eq!(splits, again);
        assert_ne!(splits, by_shares(alone(&forward), &shares, 2));
    }

    #[test]
    fn groups_stay_whole() {
        let ids = ids(400);
        // Groups of 1, 2, 3, ... rows, and some rows alone.
        let names: Vec<String> = (0..400usize).map(|row| format!("g{}", (row as f64).sqrt() as usize)).collect();
        let names: Vec<String> =
            names.into_iter().map(|name| if name == "g3" { String::new() } else { name }).collect();
        for seed in 0..20 {
            let dealt = by_shares(
                Ties { groups: Some(&names), ..alone(&ids) },
                &[(Split::Train, 0.7), (Split::Test, 0.3)],
                seed,
            );
            let mut splits: Vec<Split> = dealt.into_iter().map(Option::unwrap).collect();
            carve_calibration(&mut splits, Ties { groups: Some(&names), ..alone(&ids) }, seed);
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
            carve_calibration(&mut splits, alone(&ids(rows)), DEFAULT_SEED);
            assert_eq!(splits.iter().filter(|split| **split == Split::Calibration).count(), expected, "{rows}");
        }
        let one = vec!["scene".to_owned(); 10];
        let mut splits = vec![Split::Train; 10];
        carve_calibration(&mut splits, Ties { groups: Some(&one), ..alone(&ids(10)) }, DEFAULT_SEED);
        assert_eq!(splits, [Split::Train; 10]);
    }

    /// Groups and media make chains; against repeated merging of lists until nothing changes.
    #[test]
    fn bundles_are_what_hangs_together() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..200 {
            let count = random.usize(1..30);
            let mut names = |word: &str, most: usize| -> Vec<String> {
                let name = |number: usize| if number == 0 { String::new() } else { format!("{word}{number}") };
                (0..count).map(|_| name(random.usize(0..most))).collect()
            };
            let (groups, media, ids) = (names("g", 12), names("m", 20), ids(count));
            let ties = Ties { ids: &ids, groups: Some(&groups), media: Some(&media) };
            let tied =
                |a: usize, b: usize| [&groups, &media].iter().any(|names| !names[a].is_empty() && names[a] == names[b]);
            let mut expected: Vec<Vec<usize>> = (0..count).map(|row| vec![row]).collect();
            while let Some((one, other)) = (0..expected.len())
                .flat_map(|one| (one + 1..expected.len()).map(move |other| (one, other)))
                .find(|&(one, other)| expected[one].iter().any(|&a| expected[other].iter().any(|&b| tied(a, b))))
            {
                let moved = expected.remove(other);
                expected[one].extend(moved);
            }
            expected.iter_mut().for_each(|bundle| bundle.sort_unstable());
            let rows: Vec<usize> = (0..count).collect();
            let mut bundles = ties.bundles(&rows, 1);
            let backward: Vec<usize> = rows.iter().rev().copied().collect();
            let mut again = ties.bundles(&backward, 1);
            again.iter_mut().for_each(|bundle| bundle.sort_unstable());
            assert_eq!(bundles, again, "the order of the rows has no say");
            bundles.sort();
            expected.sort();
            assert_eq!(bundles, expected);
        }
    }
}
