//! A dataset folder: the one form that everything after import reads.
//!
//! `dataset.toml` says what it is ([`Manifest`]); `samples.parquet` (or `samples.csv`) has a row a sample with `id`, `media`,
//! `split`, `group` and a column a concept; media lie under the media root; `features.safetensors` holds ready-made features.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::dataset::assign::{self, Ties};
use crate::dataset::manifest::{Kind, MANIFEST, Manifest, is_inside};
use crate::dataset::rows::{FitRows, OracleRows, Rows, TestRows, ThresholdRows};
use crate::error::{Error, Result, shown};
use crate::features::{FeatureRows, Features, stored};
use crate::split::{Half, Split};
use crate::table::LabelTable;

/// The table that is written.
pub const SAMPLES: &str = "samples.parquet";

/// The table that is read where the other is not there.
pub const SAMPLES_TEXT: &str = "samples.csv";

/// Ready-made features, a row a sample in the order of the table.
pub const FEATURES: &str = "features.safetensors";

/// An opened dataset folder: labels in memory, media and features on disk.
#[derive(Clone, Debug)]
pub struct Dataset {
    folder: PathBuf,
    manifest: Manifest,
    table: LabelTable,
    splits: Vec<Split>,
}

impl Dataset {
    /// Opens a folder. Where its table has no calibration rows, a tenth of train becomes calibration, always the same.
    ///
    /// # Errors
    /// What is wrong with the folder, its manifest, its table or its features.
    pub fn open(folder: &Path) -> Result<Self> {
        let manifest = Manifest::read(folder)?;
        let [parquet, text] = [SAMPLES, SAMPLES_TEXT].map(|name| folder.join(name));
        let path = match (parquet.exists(), text.exists()) {
            (true, true) => {
                let message =
                    format!("expected one table in `{}`, got both `{SAMPLES}` and `{SAMPLES_TEXT}`", folder.display());
                return Err(Error::input(message, Some("remove the one that is out of date".to_owned())));
            }
            (_, false) => parquet,
            (false, true) => text,
        };
        let dataset = Self::assemble(folder, manifest, LabelTable::read(&path)?)?;
        if dataset.has_features() {
            stored::check(&folder.join(FEATURES), &dataset.table.ids)?;
        } else if dataset.manifest.kind == Kind::Features {
            let message = format!("expected `{FEATURES}` in `{}`, a dataset of features, got none", folder.display());
            return Err(Error::input(message, None));
        }
        Ok(dataset)
    }

    /// Puts the parts together and checks what holds for all of them. The table's splits become those of the dataset.
    pub(super) fn assemble(folder: &Path, manifest: Manifest, mut table: LabelTable) -> Result<Self> {
        let mut splits = read_splits(&table)?;
        if !splits.contains(&Split::Calibration) {
            assign::carve_calibration(&mut splits, Ties::of(&table), manifest.seed);
        }
        check_groups(&table, &splits)?;
        check_media(&manifest, &table)?;
        table.splits = Some(splits.iter().map(|split| split.as_str().to_owned()).collect());
        Ok(Self { folder: folder.to_owned(), manifest, table, splits })
    }

    /// The folder as the caller named it.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What `dataset.toml` says.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Ids, labels and the rest of the table.
    #[must_use]
    pub fn table(&self) -> &LabelTable {
        &self.table
    }

    /// The same dataset with its concepts in the order of a model; as it is where these are not its concepts. Columns of one
    /// dataset may come in any order, and what a model has learned is paired with them by number.
    #[must_use]
    pub fn in_order_of(self, concepts: &[String]) -> Self {
        Self { table: self.table.in_order_of(concepts), ..self }
    }

    /// The table without the dataset around it.
    #[must_use]
    pub(crate) fn into_table(self) -> LabelTable {
        self.table
    }

    /// The split of each row.
    #[must_use]
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// The rows to learn from.
    ///
    /// # Errors
    /// A dataset without train rows cannot be learned from.
    pub fn train(&self) -> Result<FitRows> {
        let rows = self.rows_of(Split::Train);
        if rows.is_empty() {
            let message = format!("expected train rows in `{}`, got none", self.folder.display());
            return Err(Error::input(message, Some("a split column must say `train` for some rows".to_owned())));
        }
        Ok(rows)
    }

    /// Deals rows to two parts, the second with about so large a share of them, by whole groups and media; it is empty where
    /// all rows are of one group.
    #[must_use]
    pub fn hold_out(&self, rows: &FitRows, share: f64, seed: u64) -> (FitRows, FitRows) {
        let held_out: BTreeSet<usize> =
            assign::part(Ties::of(&self.table), rows.numbers(), share, seed).into_iter().collect();
        (rows.filtered(|row| !held_out.contains(&row)), rows.filtered(|row| held_out.contains(&row)))
    }

    /// The half of the calibration rows for early stops, temperatures, empirical distributions and choices.
    #[must_use]
    pub fn fit_half(&self) -> FitRows {
        self.half(Half::Fit)
    }

    /// The half of the calibration rows that thresholds are taken from: nothing fitted has seen it.
    #[must_use]
    pub fn threshold_half(&self) -> ThresholdRows {
        self.half(Half::Thresholds)
    }

    /// A group stays in one half, as it stays in one split.
    fn half<Purpose>(&self, half: Half) -> Rows<Purpose> {
        let group = |row: usize| self.table.groups.as_ref().map(|groups| groups[row].as_str());
        let name = |row: usize| group(row).filter(|name| !name.is_empty()).unwrap_or(&self.table.ids[row]);
        self.rows_of(Split::Calibration).filtered(|row| Half::of(name(row)) == half)
    }

    /// The rows that results are computed on.
    #[must_use]
    pub fn test(&self) -> TestRows {
        self.rows_of(Split::Test)
    }

    /// The rows with violations for the supervised oracle alone.
    #[must_use]
    pub fn oracle(&self) -> OracleRows {
        self.rows_of(Split::Oracle)
    }

    fn rows_of<Purpose>(&self, split: Split) -> Rows<Purpose> {
        let numbers: Vec<usize> = (0..self.splits.len()).filter(|&row| self.splits[row] == split).collect();
        Rows::new(split, self.by_id(numbers))
    }

    /// The picture or video of a row as the table names it.
    #[must_use]
    pub fn media_name(&self, row: usize) -> Option<&str> {
        self.table.media.as_ref().map(|media| media[row].as_str()).filter(|name| !name.is_empty())
    }

    /// The path of a row's picture or video.
    #[must_use]
    pub fn media_path(&self, row: usize) -> Option<PathBuf> {
        Some(self.manifest.media_folder(&self.folder)?.join(self.media_name(row)?))
    }

    /// Whether there are ready-made features.
    #[must_use]
    pub(crate) fn has_features(&self) -> bool {
        self.folder.join(FEATURES).exists()
    }

    /// Reads the ready-made features, a row a sample; `None` where there are none.
    ///
    /// # Errors
    /// A file that cannot be read, belongs to other samples, or holds something else than finite numbers.
    pub fn features(&self) -> Result<Option<Features>> {
        self.has_features().then(|| stored::read(&self.folder.join(FEATURES), &self.table.ids)).transpose()
    }

    /// Opens the ready-made features to read some rows at a time; `None` where there are none.
    ///
    /// # Errors
    /// A file that cannot be read or belongs to other samples.
    pub fn feature_rows(&self) -> Result<Option<FeatureRows>> {
        self.has_features().then(|| FeatureRows::open(&self.folder.join(FEATURES), &self.table.ids)).transpose()
    }

    /// Numbers a sample of the ready-made features; `None` where there are none.
    ///
    /// # Errors
    /// A file that cannot be read or belongs to other samples.
    pub fn feature_width(&self) -> Result<Option<usize>> {
        self.has_features().then(|| stored::check(&self.folder.join(FEATURES), &self.table.ids)).transpose()
    }

    /// Moves what was written under another name to where it belongs now.
    pub(super) fn moved_to(mut self, folder: &Path) -> Self {
        (self.table.path, self.table.lines) = (folder.join(SAMPLES), None);
        self.folder = folder.to_owned();
        self
    }
}

/// The split of each row; without that column all are for training.
fn read_splits(table: &LabelTable) -> Result<Vec<Split>> {
    let Some(names) = &table.splits else { return Ok(vec![Split::Train; table.ids.len()]) };
    let mut problems = table.no_problems();
    let mut splits = Vec::with_capacity(names.len());
    for (row, name) in names.iter().enumerate() {
        splits.push(Split::from_name(name).unwrap_or_else(|| {
            let message = format!("expected train, calibration, test or oracle, got the split `{}`", shown(name));
            let hint = "`chimera import table` understands other words too, such as `val`";
            problems.add(table.place(row), message, Some(hint));
            Split::Test
        }));
    }
    problems.into_result()?;
    Ok(splits)
}

/// A group never straddles splits: what is learned from a scene must not be tested on it.
fn check_groups(table: &LabelTable, splits: &[Split]) -> Result<()> {
    let Some(groups) = &table.groups else { return Ok(()) };
    let mut problems = table.no_problems();
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (row, group) in groups.iter().enumerate().filter(|(_, group)| !group.is_empty()) {
        let before = *first.entry(group).or_insert(row);
        if splits[before] != splits[row] {
            let message = format!(
                "expected group `{}` in one split, got `{}` here and `{}` on {}",
                shown(group),
                splits[row],
                splits[before],
                table.place_in_words(before)
            );
            problems.add(table.place(row), message, Some("split by group, or leave out the column: `--ignore group`"));
        }
    }
    problems.into_result()
}

fn check_media(manifest: &Manifest, table: &LabelTable) -> Result<()> {
    let named = table.media.iter().flatten().any(|name| !name.is_empty());
    if matches!(manifest.kind, Kind::Image | Kind::Video) && (!named || manifest.media_root.is_none()) {
        let lacks = if named { "a media root" } else { "a column `media`" };
        let kind = manifest.kind.as_str();
        return Err(Error::input(format!("expected {lacks} in a dataset of kind `{kind}`, got none"), None));
    }
    let mut problems = table.no_problems();
    for (row, name) in table.media.iter().flatten().enumerate() {
        if !is_inside(Path::new(name)) {
            let message = format!("expected a path inside the media root, got `{}`", shown(name));
            problems.add(table.place(row), message, Some("write paths relative to the media root"));
        }
    }
    problems.into_result()
}

/// The labels at a path: the table of a dataset folder, or a table by itself.
///
/// # Errors
/// As [`Dataset::open`] and [`LabelTable::read`]; and a split that is none of ours, since its rows would silently be
/// nobody's.
pub fn labels_at(path: &Path) -> Result<LabelTable> {
    if path.join(MANIFEST).exists() {
        return Dataset::open(path).map(Dataset::into_table);
    }
    let table = LabelTable::read(path)?;
    let mut problems = table.no_problems();
    for (row, word) in table.splits.iter().flatten().enumerate() {
        if !word.is_empty() && Split::from_source(word).is_none() {
            let message = format!("expected train, calibration, test or oracle, got the split `{}`", shown(word));
            let hint = "leave the cell empty, or the column out, if a sample belongs to no split";
            problems.add(table.place(row), message, Some(hint));
        }
    }
    problems.into_result()?;
    Ok(table)
}
