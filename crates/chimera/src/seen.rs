//! Rows that a model has learned from, or that chose its rules, are no test of it.
//!
//! A model keeps two hashes of every row that it has seen (`seen.bin`): of id and content together, and of the content alone, as
//! the same picture under another id was learned from all the same. Rows of the dataset that it was trained on are told apart
//! by their splits; those of any other dataset by these hashes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::dataset::rows::TestRows;
use chimera_data::error::{Error, Result};
use chimera_leaf::encode::EncodedRows;

/// The file of a model with the rows that it has seen.
pub const SEEN: &str = "seen.bin";

/// So many rows are named.
const NAMED: usize = 3;

/// What the file begins with. Those of older programs begin with a hash, and have no hashes of contents.
const HEADER: [u8; 8] = *b"seen 2\r\n";

/// Hashes of rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeenRows {
    /// Of id and content, sorted.
    rows: Vec<u64>,
    /// Of contents, sorted; `None` where an older program has not written them.
    contents: Option<Vec<u64>>,
}

impl SeenRows {
    /// The rows of a dataset that training may look at: all of train and calibration that are encoded.
    ///
    /// # Errors
    /// A dataset without train rows.
    pub fn of(dataset: &Dataset, encoded: &EncodedRows) -> Result<Self> {
        let (train, fit, threshold) = (dataset.train()?, dataset.fit_half(), dataset.threshold_half());
        let numbers = train.numbers().iter().chain(fit.numbers()).chain(threshold.numbers());
        Ok(Self::of_contents(numbers.filter_map(|&row| Some((encoded.content_of(row)?, &dataset.table().ids[row])))))
    }

    fn of_contents<'a>(rows: impl Iterator<Item = ([u8; 32], &'a str)>) -> Self {
        let (mut rows, mut contents): (Vec<u64>, Vec<u64>) =
            rows.map(|(content, id)| (hash_of_row(&content, id), hash_of_content(&content))).unzip();
        rows.sort_unstable();
        contents.sort_unstable();
        Self { rows, contents: Some(contents) }
    }

    /// The content of the file: hashes of rows, then of as many contents.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let hashes = self.rows.iter().chain(self.contents.iter().flatten()).flat_map(|hash| hash.to_le_bytes());
        HEADER.into_iter().filter(|_| self.contents.is_some()).chain(hashes).collect()
    }

    /// Reads the file of a model; `None` where an older program wrote the model without one. `files` are the hashes of the model's
    /// manifest: an emptied file would let rows that were learned from pass as a test.
    ///
    /// # Errors
    /// A file that cannot be read, or is not the one that the manifest names.
    pub fn read(model: &Path, files: &BTreeMap<String, String>) -> Result<Option<Self>> {
        let Some(hash) = files.get(SEEN) else { return Ok(None) };
        let path = model.join(SEEN);
        let bytes = fs::read(&path).map_err(|cause| Error::read(&path, cause))?;
        let read = Self::from_bytes(&bytes).filter(|_| *hash == blake3::hash(&bytes).to_string());
        read.map(Some).ok_or_else(|| {
            let message = format!("expected `{}` as it was trained, got other content", path.display());
            Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
        })
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (hashes, rest) = bytes.as_chunks::<8>();
        let numbers = |hashes: &[[u8; 8]]| hashes.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect::<Vec<u64>>();
        let read = match hashes.split_first() {
            Some((&HEADER, hashes)) => {
                let (rows, contents) = hashes.split_at(hashes.len() / 2);
                Self { rows: numbers(rows), contents: Some(numbers(contents)) }
            }
            _ => Self { rows: numbers(hashes), contents: None },
        };
        let is_whole = read.contents.as_ref().is_none_or(|of| of.len() == read.rows.len() && of.is_sorted());
        (rest.is_empty() && read.rows.is_sorted() && is_whole).then_some(read)
    }

    fn has_row(&self, content: &[u8; 32], id: &str) -> bool {
        self.rows.binary_search(&hash_of_row(content, id)).is_ok()
    }

    fn has_content(&self, content: &[u8; 32]) -> bool {
        self.contents.as_ref().is_some_and(|seen| seen.binary_search(&hash_of_content(content)).is_ok())
    }
}

fn hash_of_row(content: &[u8; 32], id: &str) -> u64 {
    short(blake3::Hasher::new_derive_key("chimera row that was seen").update(content).update(id.as_bytes()))
}

fn hash_of_content(content: &[u8; 32]) -> u64 {
    short(blake3::Hasher::new_derive_key("chimera content that was seen").update(content))
}

fn short(hasher: &blake3::Hasher) -> u64 {
    let mut bytes = [0; 8];
    hasher.finalize_xof().fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Refuses test rows that trained the model, by what it has seen; `media` says whether contents are pictures or videos. One of
/// these under another id was learned from as well. Equal features may be those of other samples, which is only said.
///
/// # Errors
/// Who was seen, and what to do.
pub(crate) fn refuse_seen(
    (dataset, encoded, test): (&Dataset, &EncodedRows, &TestRows),
    seen: &SeenRows,
    media: bool,
) -> Result<Option<String>> {
    let row = |&row: &usize| Some((encoded.content_of(row)?, &dataset.table().ids[row]));
    let tested: Vec<([u8; 32], &str)> = test.numbers().iter().filter_map(row).collect();
    refuse(&tested, seen, media, &dataset.folder().display().to_string())
}

fn refuse(tested: &[([u8; 32], &str)], seen: &SeenRows, media: bool, folder: &str) -> Result<Option<String>> {
    let named = |found: &[&str]| {
        let ids: Vec<String> = found.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
        format!("{}{}", ids.join(", "), if found.len() > NAMED { ", .." } else { "" })
    };
    let refused = |found: &[&str], what: &str| {
        let message = format!("{} of {} test rows of `{folder}` {what}: {}", found.len(), tested.len(), named(found));
        let hint = "what was learned from is no test; give rows that the model has not seen";
        Err(Error::input(message, Some(hint.to_owned())))
    };
    let who = |is_seen: &dyn Fn(&[u8; 32], &str) -> bool| -> Vec<&str> {
        tested.iter().filter(|(content, id)| is_seen(content, id)).map(|(_, id)| *id).collect()
    };
    let trained = who(&|content, id| seen.has_row(content, id));
    if !trained.is_empty() {
        return refused(&trained, "trained the model");
    }
    let alike = who(&|content, _| seen.has_content(content));
    match (alike.len(), &seen.contents) {
        (0, None) => Ok(Some(
            "the model says which rows it has seen by their ids alone, so nobody can tell test rows that are the same under others"
                .to_owned(),
        )),
        (0, _) => Ok(None),
        (_, _) if media => refused(&alike, "trained the model under other ids"),
        (count, _) => Ok(Some(format!(
            "{count} of {} test rows look exactly like rows that trained the model: {}; if they are the same, they are no test",
            tested.len(),
            named(&alike)
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_file_that_the_manifest_names_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(SEEN);
        let seen = SeenRows { rows: vec![3, 5, 8], contents: Some(vec![1, 1, 2]) };
        let files = BTreeMap::from([(SEEN.to_owned(), blake3::hash(&seen.to_bytes()).to_string())]);
        let error = || SeenRows::read(folder.path(), &files).unwrap_err().to_string();
        assert!(error().contains(SEEN), "{}", error());
        assert_eq!(SeenRows::read(folder.path(), &BTreeMap::new()).unwrap(), None);
        fs::write(&path, seen.to_bytes()).unwrap();
        assert_eq!(SeenRows::read(folder.path(), &files).unwrap(), Some(seen));
        let fewer = SeenRows { rows: vec![3, 8], contents: Some(vec![1, 2]) }.to_bytes();
        for other in [&[][..], &fewer, &[1, 2, 3]] {
            fs::write(&path, other).unwrap();
            assert!(error().contains("as it was trained, got other content"), "{}", error());
        }
    }

    #[test]
    fn a_row_is_seen_under_any_id() {
        let content = |of: &str| *blake3::hash(of.as_bytes()).as_bytes();
        let seen = SeenRows::of_contents([(content("cat"), "a"), (content("dog"), "b")].into_iter());
        assert_eq!(SeenRows::from_bytes(&seen.to_bytes()), Some(seen.clone()));
        let refused = |tested: &[([u8; 32], &str)], media| refuse(tested, &seen, media, "ds");
        let error = refused(&[(content("cat"), "a"), (content("dog"), "c")], false).unwrap_err().to_string();
        assert!(error.starts_with("1 of 2 test rows of `ds` trained the model: `a`"), "{error}");
        let renamed = [(content("cat"), "x"), (content("owl"), "a")];
        let error = refused(&renamed, true).unwrap_err().to_string();
        assert!(error.starts_with("1 of 2 test rows of `ds` trained the model under other ids: `x`"), "{error}");
        let words = refused(&renamed, false).unwrap().unwrap();
        assert!(words.starts_with("1 of 2 test rows look exactly like rows that trained the model: `x`;"), "{words}");
        assert_eq!(refused(&[(content("owl"), "a")], true).unwrap(), None);

        // A file of an older program has no contents.
        let old = SeenRows { contents: None, ..seen };
        assert_eq!(SeenRows::from_bytes(&old.to_bytes()), Some(old.clone()));
        let words = refuse(&renamed, &old, true, "ds").unwrap().unwrap();
        assert!(words.contains("by their ids alone"), "{words}");
    }
}
