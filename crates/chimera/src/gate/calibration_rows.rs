//! What a model keeps of its calibration split: z, logits and labels, so that whatever is asked of it later (another method,
//! aggregation, rate, other rules) can be fitted to normal samples and get its thresholds without training.

use std::fs;
use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::file::write_atomic;
use chimera_leaf::encode::EncodedRows;
use chimera_logic::bits::{BitTable, TruthTable};
use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::named::{concepts_in, named_concepts};

/// No more rows of a half than this are kept: a rate of false alarms of 1 % is known to a thousandth by then.
const MOST_ROWS: usize = 10_000;

/// What calibration rows are for. No row is in both halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// Something may be fitted on them.
    Fit,
    /// Thresholds are taken from them, and nothing is fitted on them.
    Thresholds,
}

/// Calibration rows of both halves.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationRows {
    /// The concepts of logits and labels, in their order.
    concepts: Vec<String>,
    z: Vec<f32>,
    logits: Vec<f32>,
    labels: TruthTable,
    halves: Vec<Half>,
}

/// Samples on which every rule is known to hold.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Normal {
    /// Rows x features.
    pub z: Vec<f32>,
    /// Rows x concepts.
    pub logits: Vec<f32>,
    /// Number of rows.
    pub rows: usize,
    /// Rows beside them that break a rule.
    pub broken: usize,
    /// Rows beside them that break none, but leave one open.
    pub unknown: usize,
}

impl CalibrationRows {
    /// The rows of a dataset's calibration split that are encoded.
    ///
    /// # Errors
    /// A row that is not encoded.
    pub fn of(dataset: &Dataset, encoded: &EncodedRows) -> Result<Self> {
        let fit = encoded.present(&dataset.fit_half());
        let thresholds = encoded.present(&dataset.threshold_half());
        let mut numbers = Vec::new();
        let mut halves = Vec::new();
        for (half, rows) in [(Half::Fit, fit.numbers()), (Half::Thresholds, thresholds.numbers())] {
            // Ids say when or where a sample was taken, so the first ones are not like the others; their hashes say nothing.
            let mut rows = rows.to_vec();
            rows.sort_by_key(|&row| *blake3::hash(dataset.table().ids[row].as_bytes()).as_bytes());
            rows.truncate(MOST_ROWS);
            halves.resize(halves.len() + rows.len(), half);
            numbers.extend(rows);
        }
        let z = numbers.iter().filter_map(|&row| encoded.z(row)).flatten().copied().collect();
        let table = dataset.table();
        let (concepts, labels) = (table.concepts.clone(), table.labels.select(&numbers));
        Ok(Self { concepts, z, logits: encoded.logits(&numbers)?, labels, halves })
    }

    /// No rows, of a bank with these concepts.
    pub(crate) fn none(concepts: &[String]) -> Self {
        let empty = BitTable::from_fn(0, concepts.len(), |_, _| false);
        Self {
            concepts: concepts.to_vec(),
            z: Vec::new(),
            logits: Vec::new(),
            labels: TruthTable::partial(empty.clone(), empty),
            halves: Vec::new(),
        }
    }

    /// Those of a half on which every rule that decides is known to hold, and how many of the others break one or leave one
    /// open.
    #[must_use]
    pub fn normal(&self, rule_set: &RuleSet, decides: &[bool], half: Half) -> Normal {
        let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(&self.labels);
        let any = |row: usize, wanted| (0..decides.len()).any(|rule| decides[rule] && truth.get(row, rule) == wanted);
        let (mut rows, mut broken, mut unknown) = (Vec::new(), 0, 0);
        for row in (0..self.halves.len()).filter(|&row| self.halves[row] == half) {
            match (any(row, Some(false)), any(row, None)) {
                (true, _) => broken += 1,
                (false, true) => unknown += 1,
                (false, false) => rows.push(row),
            }
        }
        Normal { broken, unknown, ..self.gather(&rows) }
    }

    /// The first few of them, whatever they break.
    #[must_use]
    pub fn some(&self, count: usize) -> Normal {
        self.gather(&(0..self.halves.len().min(count)).collect::<Vec<usize>>())
    }

    fn gather(&self, rows: &[usize]) -> Normal {
        let gather = |from: &[f32]| {
            let width = from.len() / self.halves.len().max(1);
            rows.iter().flat_map(|row| &from[row * width..][..width]).copied().collect()
        };
        Normal { z: gather(&self.z), logits: gather(&self.logits), rows: rows.len(), ..Normal::default() }
    }

    /// Rules that hold on none of them: where there is one, no row is normal.
    #[must_use]
    pub fn never_hold(&self, rule_set: &RuleSet) -> Vec<usize> {
        let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(&self.labels);
        let holds = |rule: usize| (0..self.halves.len()).any(|row| truth.get(row, rule) == Some(true));
        (0..rule_set.rules.len()).filter(|&rule| !holds(rule)).collect()
    }

    /// Returns true for rows of a bank with so many features and these concepts.
    #[must_use]
    pub fn fits(&self, features: usize, concepts: &[String]) -> bool {
        let (rows, same, concepts) = (self.halves.len(), self.concepts == concepts, concepts.len());
        same && (self.z.len(), self.logits.len(), self.labels.columns(), self.labels.rows())
            == (rows * features, rows * concepts, concepts, rows)
    }

    /// Writes them under the name of their content and gives that name.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<String> {
        let refused = |error: &dyn std::fmt::Display| Error::input(format!("cannot write the model: {error}"), None);
        let (rows, concepts) = (self.halves.len(), self.labels.columns());
        let cells = (0..rows).flat_map(|row| (0..concepts).map(move |concept| (row, concept)));
        let labels: Vec<u8> =
            cells.map(|(row, concept)| self.labels.get(row, concept).map_or(UNKNOWN, u8::from)).collect();
        let halves: Vec<u8> = self.halves.iter().map(|half| u8::from(*half == Half::Thresholds)).collect();
        let bytes = |numbers: &[f32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
        let tensors = [
            ("half", Dtype::U8, vec![rows], halves),
            ("labels", Dtype::U8, vec![rows, concepts], labels),
            ("logits", Dtype::F32, vec![rows, self.logits.len() / rows.max(1)], bytes(&self.logits)),
            ("z", Dtype::F32, vec![rows, self.z.len() / rows.max(1)], bytes(&self.z)),
        ];
        let views = tensors.iter().map(|(name, kind, sizes, bytes)| {
            TensorView::new(*kind, sizes.clone(), bytes).map(|view| (*name, view)).map_err(|error| refused(&error))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let names = named_concepts(self.concepts.iter().map(String::as_str)).map_err(|error| refused(&error))?;
        let bytes = safetensors::serialize(views, Some(names)).map_err(|error| refused(&error))?;
        let name = name_of(&bytes);
        write_atomic(&folder.join(&name), |out| out.write_all(&bytes))?;
        Ok(name)
    }

    /// Reads a file that [`write`](Self::write) made.
    ///
    /// # Errors
    /// A file that is missing or was changed.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
        let changed = || {
            let message = format!("expected `{}` as it was trained, got other content", path.display());
            Error::input(message, Some("the file was changed or damaged; train again".to_owned()))
        };
        if path.file_name().is_none_or(|name| *name != *name_of(&bytes)) {
            return Err(changed());
        }
        let file = SafeTensors::deserialize(&bytes).map_err(|_| changed())?;
        let tensor = |name: &str| file.tensor(name).map_err(|_| changed());
        let numbers = |name: &str| Ok(bytemuck::pod_collect_to_vec::<u8, f32>(tensor(name)?.data()));
        let (halves, labels) = (tensor("half")?, tensor("labels")?);
        let &[rows, concepts] = labels.shape() else { return Err(changed()) };
        if halves.shape() != [rows] {
            return Err(changed());
        }
        let cell = |row: usize, concept: usize| labels.data()[row * concepts + concept];
        let value = BitTable::from_fn(rows, concepts, |row, concept| cell(row, concept) == 1);
        let known = BitTable::from_fn(rows, concepts, |row, concept| cell(row, concept) != UNKNOWN);
        Ok(Self {
            concepts: concepts_in(&bytes).ok_or_else(changed)?,
            z: numbers("z")?,
            logits: numbers("logits")?,
            labels: TruthTable::partial(value, known),
            halves: halves.data().iter().map(|half| if *half == 1 { Half::Thresholds } else { Half::Fit }).collect(),
        })
    }
}

/// A label that nobody knows, as it is stored.
const UNKNOWN: u8 = 2;

/// Whether a path is that of a file of calibration rows.
pub(crate) fn is_calibration(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("calibration-") && name.ends_with(".safetensors")
}

fn name_of(bytes: &[u8]) -> String {
    format!("calibration-{}.safetensors", &blake3::hash(bytes).to_string()[..16])
}
