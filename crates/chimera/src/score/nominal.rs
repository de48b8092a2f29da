//! Normal samples that nothing was fitted on, as a model keeps them: their z and logits. Thresholds for any method, any
//! aggregation and any rate come from them when they are asked for.

use std::fs;
use std::path::Path;

use chimera_logic::rules::RuleSet;
use chimera_logic::truth::Program;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::file::write_atomic;
use crate::leaf::encode::EncodedRows;

/// No more rows than this are kept: the rate of false alarms is known to a thousandth by then.
const MOST_ROWS: usize = 20_000;

/// z and logits of normal samples.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Nominal {
    /// Rows x features.
    pub z: Vec<f32>,
    /// Rows x concepts.
    pub logits: Vec<f32>,
    /// Number of rows.
    pub rows: usize,
}

impl Nominal {
    /// The rows of a dataset's half for thresholds on which every rule is known to hold.
    ///
    /// # Errors
    /// A row that is not encoded.
    pub fn of(dataset: &Dataset, encoded: &EncodedRows, rule_set: &RuleSet) -> Result<Self> {
        let truth = Program::compile(&rule_set.dag, &rule_set.roots()).evaluate(&dataset.table().labels);
        let holds = |row: usize| (0..rule_set.rules.len()).all(|rule| truth.get(row, rule) == Some(true));
        let rows = encoded.present(&dataset.threshold_half()).filtered(holds);
        // Ids say when or where a sample was taken, so the first ones are not like the others; their hashes say nothing.
        let mut numbers = rows.numbers().to_vec();
        numbers.sort_by_key(|&row| *blake3::hash(dataset.table().ids[row].as_bytes()).as_bytes());
        numbers.truncate(MOST_ROWS);
        let numbers = numbers.as_slice();
        let z = numbers.iter().filter_map(|&row| encoded.z(row)).flatten().copied().collect();
        Ok(Self { z, logits: encoded.logits(numbers)?, rows: numbers.len() })
    }

    /// Writes them under the name of their content and gives that name.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<String> {
        let refused = |error: &dyn std::fmt::Display| Error::input(format!("cannot write the model: {error}"), None);
        let tensors = [("logits", &self.logits), ("z", &self.z)];
        let bytes = tensors.map(|(name, numbers)| (name, numbers.len(), bytes_of(numbers)));
        let views = bytes.iter().map(|(name, length, bytes)| {
            let sizes = vec![self.rows, length / self.rows.max(1)];
            TensorView::new(Dtype::F32, sizes, bytes).map(|view| (*name, view)).map_err(|error| refused(&error))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        let bytes = safetensors::serialize(views, None).map_err(|error| refused(&error))?;
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
        let numbers = |name: &str| {
            let tensor = file.tensor(name).map_err(|_| changed())?;
            let rows = tensor.shape().first().copied().unwrap_or_default();
            Ok((rows, bytemuck::pod_collect_to_vec::<u8, f32>(tensor.data())))
        };
        let ((rows, z), (_, logits)) = (numbers("z")?, numbers("logits")?);
        Ok(Self { z, logits, rows })
    }
}

/// Whether a path is that of a file of normal samples.
pub(crate) fn is_nominal(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.starts_with("nominal-") && name.ends_with(".safetensors")
}

fn name_of(bytes: &[u8]) -> String {
    format!("nominal-{}.safetensors", &blake3::hash(bytes).to_string()[..16])
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
