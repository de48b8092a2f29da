//! What a mined file says about how it came about, and which rows it has seen: TOML in comments, which a person can read, and
//! which a model keeps. Nothing may be evaluated on rows that selected the rules; [`Overlap`] says how surely they are told.
//!
//! ```text
//! # [[mined]]
//! # command = "chimera mine ds -o mined.rules"
//! # dataset = "ds"
//! # rows = 720
//! # fingerprint = "3e2a..."
//! ```

mod comments;

use std::collections::BTreeSet;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::Rows;
use chimera_data::error::{Error, Result};
use serde::{Deserialize, Serialize};

use super::options::MineOptions;

pub use self::comments::{read_records, records_in};

/// Rows of a larger number that are listed. Rows that have a share `s` of those that were seen are missed with probability
/// (1 - s)^64: hardly ever where a split was dealt anew, half the time where they have one in a hundred.
const LISTED: usize = 64;

/// Where mined rules come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct MiningRecord {
    /// Version of Chimera that mined.
    pub chimera: String,
    /// What was typed.
    pub command: String,
    /// The dataset's name.
    pub dataset: String,
    /// How many train rows were seen.
    pub rows: usize,
    /// A hash of which rows these are, whatever split they are in.
    pub fingerprint: String,
    /// Every choice.
    pub options: MineOptions,
    /// Some of the rows.
    pub seen: SeenRows,
}

/// The rows with the smallest hashes, up to 64: which rows these are depends on nothing but the rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenRows {
    /// Hashes of ids and media, in ascending order.
    pub rows: Vec<String>,
}

/// How rows that are to be evaluated meet rows that selected rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlap {
    /// They are the same rows.
    Same,
    /// At least so many of them were seen.
    Partly(usize),
    /// None of them is listed among those that were seen: certain where at most 64 were, else as good as 64 of them tell.
    Apart,
}

/// A name of a row that does not depend on the dataset that it is in.
fn hash(dataset: &Dataset, row: usize) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("chimera mined row");
    let texts = [&dataset.table().ids[row], dataset.media_name(row).unwrap_or_default()];
    texts.iter().for_each(|text| _ = hasher.update(&(text.len() as u64).to_le_bytes()).update(text.as_bytes()));
    hasher.finalize().to_hex()[..12].to_owned()
}

/// The names of rows, in ascending order.
fn hashes<Purpose>(dataset: &Dataset, rows: &Rows<Purpose>) -> Vec<String> {
    let mut hashes: Vec<String> = rows.numbers().iter().map(|&row| hash(dataset, row)).collect();
    hashes.sort_unstable();
    hashes
}

/// A name of all rows together. It knows no splits ([`Dataset::row_fingerprint`] does): rows that were mined for training are the
/// same rows where they are test rows.
fn fingerprint(hashes: &[String]) -> String {
    let mut hasher = blake3::Hasher::new_derive_key("chimera mined rows");
    hashes.iter().for_each(|hash| _ = hasher.update(hash.as_bytes()));
    hasher.finalize().to_string()
}

impl MiningRecord {
    /// The record of rules that were mined from these rows.
    pub(super) fn new<Purpose>(dataset: &Dataset, rows: &Rows<Purpose>, options: &MineOptions, command: &str) -> Self {
        let mut hashes = hashes(dataset, rows);
        let fingerprint = fingerprint(&hashes);
        hashes.truncate(LISTED);
        Self {
            chimera: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.to_owned(),
            dataset: dataset.manifest().name.clone(),
            rows: rows.len(),
            fingerprint,
            options: options.clone(),
            seen: SeenRows { rows: hashes },
        }
    }

    /// Whether rows selected the rules, whatever dataset they are in now.
    #[must_use]
    pub fn overlap<Purpose>(&self, dataset: &Dataset, rows: &Rows<Purpose>) -> Overlap {
        let hashes = hashes(dataset, rows);
        if fingerprint(&hashes) == self.fingerprint {
            return Overlap::Same;
        }
        let listed: BTreeSet<&String> = self.seen.rows.iter().collect();
        match hashes.iter().filter(|hash| listed.contains(hash)).count() {
            0 => Overlap::Apart,
            seen => Overlap::Partly(seen),
        }
    }
}

/// Records from several places, each once, in the order in which they are met.
#[must_use]
pub fn joined(records: impl IntoIterator<Item = MiningRecord>) -> Vec<MiningRecord> {
    let mut once = Vec::new();
    for record in records {
        if !once.contains(&record) {
            once.push(record);
        }
    }
    once
}

/// Refuses test rows that selected rules, by what the rules say about where they come from. Whoever selects rules reads labels,
/// also those of rows whose medium cannot be decoded: all test rows count.
///
/// # Errors
/// How many selected, and what to do.
pub fn refuse_selected<'a>(dataset: &Dataset, mined: impl IntoIterator<Item = &'a MiningRecord>) -> Result<()> {
    let (test, folder) = (dataset.test(), dataset.folder().display());
    for record in mined {
        let message = match record.overlap(dataset, &test) {
            Overlap::Apart => continue,
            Overlap::Same => format!("the test rows of `{folder}` selected the rules"),
            Overlap::Partly(seen) => format!(
                "at least {seen} of {} test rows of `{folder}` selected the rules: mined by `{}`",
                test.len(),
                record.command
            ),
        };
        let hint = "rules that were chosen on these rows look better on them than they are; mine on other rows";
        return Err(Error::input(message, Some(hint.to_owned())));
    }
    Ok(())
}
