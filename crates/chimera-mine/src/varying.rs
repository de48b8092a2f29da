//! Which concepts rules can be about: those that vary on the rows that are searched.

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_logic::bits::TruthCounts;

use super::outcome::Constant;
use super::parts::Parts;

/// Concepts that vary, at most: counts of all their pairs are kept in memory.
const MOST_CONCEPTS: usize = 4096;

/// Constant concepts that a refusal names.
const LISTED: usize = 5;

/// Concepts by whether they vary.
pub(super) struct Varying {
    /// Numbers of those that do.
    pub(super) active: Vec<usize>,
    /// Those that do not.
    pub(super) constant: Vec<Constant>,
}

impl Varying {
    /// # Errors
    /// Fewer than two that vary, or more than can be counted.
    pub(super) fn of(dataset: &Dataset, parts: &Parts) -> Result<Self> {
        let (mut active, mut constant) = (Vec::new(), Vec::new());
        for (column, name) in dataset.table().concepts.iter().enumerate() {
            let what = match parts.searched.counts(column) {
                TruthCounts { holds: 0, fails: 0, .. } => "is never known",
                TruthCounts { holds: 0, .. } => "is never true",
                TruthCounts { fails: 0, .. } => "is always true",
                _ => {
                    active.push(column);
                    continue;
                }
            };
            constant.push(Constant { concept: name.clone(), what });
        }
        let varying = Self { active, constant };
        varying.check(dataset)?;
        Ok(varying)
    }

    fn check(&self, dataset: &Dataset) -> Result<()> {
        let (folder, count) = (dataset.folder().display(), self.active.len());
        if count > MOST_CONCEPTS {
            let message = format!("expected at most {MOST_CONCEPTS} concepts that vary in `{folder}`, got {count}");
            return Err(Error::input(message, Some("import the most common ones alone".to_owned())));
        }
        if count < 2 {
            let named = self.constant.iter().take(LISTED);
            let listed: Vec<String> = named.map(|Constant { concept, what }| format!("`{concept}` {what}")).collect();
            let rest = if listed.is_empty() { String::new() } else { format!(": {}", listed.join(", ")) };
            let left = self.constant.len().saturating_sub(LISTED);
            let more = if left > 0 { format!(", and {left} more") } else { String::new() };
            let message = format!(
                "expected two concepts at least that vary on the rows to search in `{folder}`, got {count}{rest}{more}"
            );
            let hint = "a rule ties one concept to another; label more samples or concepts";
            return Err(Error::input(message, Some(hint.to_owned())));
        }
        Ok(())
    }
}
