//! What a report keeps to be compared: `resamples.safetensors`, which says itself whether it is as it was written.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use chimera_data::error::{Error, Result};
use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use crate::eval::summary::SCHEMA;
use crate::eval::{Evaluation, FEW, RuleOf};

/// The file of a report that has its resamples.
pub const RESAMPLED: &str = "resamples.safetensors";

/// What a report keeps to be compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    pub(super) schema: u32,
    pub(super) dataset: String,
    pub(super) test_rows: String,
    pub(super) main: String,
    pub(super) seeds: Vec<u64>,
    pub(super) rules: BTreeMap<String, KeptRule>,
    pub(super) lines: Vec<Line>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptRule {
    pub(super) formula: String,
    /// A hash of who breaks it.
    pub(super) truth: String,
    pub(super) positives: u64,
    pub(super) negatives: u64,
}

impl KeptRule {
    /// Whether fewer rows of a kind are there than say much.
    pub(super) fn says_little(&self) -> bool {
        self.positives < FEW || self.negatives < FEW
    }
}

/// A line of the resamples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    pub(super) rule: String,
    pub(super) method: String,
    /// In the mean over seeds.
    pub(super) auroc: f64,
    /// Whether its resamples say how far it would move.
    pub(super) tells: bool,
}

impl Kept {
    pub(crate) fn of(evaluation: &Evaluation) -> Self {
        let about = &evaluation.about;
        let rule = |rule: &RuleOf| {
            let &RuleOf { positives, negatives, .. } = rule;
            let (formula, truth) = (rule.formula.clone(), rule.truth.clone());
            (rule.name.clone(), KeptRule { formula, truth, positives, negatives })
        };
        Self {
            schema: SCHEMA,
            dataset: about.dataset.clone(),
            test_rows: about.test_rows.clone(),
            main: about.main.name().to_owned(),
            seeds: about.seeds.clone(),
            rules: evaluation.rules.iter().map(rule).collect(),
            lines: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, rule: &str, method: &str, auroc: f64, tells: bool) {
        self.lines.push(Line { rule: rule.to_owned(), method: method.to_owned(), auroc, tells });
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }
}

/// What stands in the file beside the numbers: the text of [`Kept`], and in a line below it a hash of both. One entry, since several would
/// come in any order, and the same report must have the same bytes.
pub(crate) fn about_resamples(kept: &str, values: &[u8]) -> HashMap<String, String> {
    let hash = hash_of(kept, values);
    HashMap::from([("report".to_owned(), format!("{kept}\n{hash}"))])
}

fn hash_of(kept: &str, values: &[u8]) -> String {
    blake3::Hasher::new().update(kept.as_bytes()).update(values).finalize().to_string()
}

/// A report that was read back.
#[derive(Clone, Debug)]
pub struct Report {
    pub(super) kept: Kept,
    pub(super) again: Vec<Vec<f32>>,
}

impl Report {
    /// Reads the folder of a report.
    ///
    /// # Errors
    /// A folder that is no report, of another layout, or whose numbers are not those that were written.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(RESAMPLED);
        if folder.is_dir() && !path.is_file() {
            let message = format!("expected a report, got `{}` without `{RESAMPLED}`", folder.display());
            return Err(Error::input(message, Some("`chimera eval` makes reports".to_owned())));
        }
        let bytes = fs::read(&path).map_err(|cause| Error::read(&path, cause))?;
        let damaged = || {
            let message = format!("expected the resamples of a report in `{}`, got something else", path.display());
            Error::input(message, Some("the file was changed or damaged; make the report again".to_owned()))
        };
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(|_| damaged())?;
        let said = metadata.metadata().as_ref().and_then(|metadata| metadata.get("report")).ok_or_else(damaged)?;
        // Older layouts have no hash.
        let (text, hash) = said.rsplit_once('\n').unwrap_or((said, ""));
        let layout: Layout = serde_json::from_str(text).map_err(|_| damaged())?;
        if layout.schema != SCHEMA {
            let message =
                format!("expected a report of layout {SCHEMA} in `{}`, got {}", folder.display(), layout.schema);
            let hint = if layout.schema > SCHEMA {
                "it was made by a newer chimera; update this one"
            } else {
                "it was made by an older chimera; make it again"
            };
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        let kept: Kept = serde_json::from_str(text).map_err(|_| damaged())?;
        let file = SafeTensors::deserialize(&bytes).map_err(|_| damaged())?;
        let tensor = file.tensor("auroc").map_err(|_| damaged())?;
        let &[lines, resamples] = tensor.shape() else { return Err(damaged()) };
        // Without any rule that is defined there are neither lines nor resamples.
        let is_empty = lines > 0 && resamples == 0;
        let is_whole = hash == hash_of(text, tensor.data());
        if lines != kept.lines.len() || is_empty || tensor.dtype() != Dtype::F32 || !is_whole {
            return Err(damaged());
        }
        let values = bytemuck::pod_collect_to_vec::<u8, f32>(tensor.data());
        let again = values.chunks_exact(resamples.max(1)).map(<[f32]>::to_vec).collect();
        Ok(Self { kept, again })
    }

    /// Methods that it has, in the order of tables.
    #[must_use]
    pub fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = self.kept.lines.iter().map(|line| line.method.as_str()).collect();
        // Lines are sorted by method.
        methods.dedup();
        methods
    }

    /// The method that it speaks of first.
    #[must_use]
    pub fn main(&self) -> &str {
        &self.kept.main
    }

    /// How often rows were drawn again; `None` without any line.
    pub(super) fn resamples(&self) -> Option<usize> {
        self.again.first().map(Vec::len)
    }

    /// The lines of a method, by rule.
    pub(super) fn lines(&self, method: &str) -> BTreeMap<&str, (&Line, &[f32])> {
        let lines = self.kept.lines.iter().zip(&self.again).filter(|(line, _)| line.method == method);
        lines.map(|(line, again)| (line.rule.as_str(), (line, again.as_slice()))).collect()
    }
}

/// The one thing that all layouts have.
#[derive(Deserialize)]
struct Layout {
    schema: u32,
}
