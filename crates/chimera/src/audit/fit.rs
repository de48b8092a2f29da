//! Whether a model can judge the labels of a dataset.

use std::path::Path;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_leaf::stream::Sources;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::ConceptId;

use crate::gate::heads::concepts_of;
use crate::model::Model;

/// Makes sure that a model can judge labels of a dataset under rules, before anything is encoded.
///
/// # Errors
/// A model that looks at something else, and one that does not know a concept of the rules.
pub fn check_fit(model: &Model, folder: &Path, dataset: &Dataset, rule_set: &RuleSet) -> Result<()> {
    let known = &model.manifest.bank.concepts;
    let rules = 0..rule_set.rules.len();
    let mut missing: Vec<ConceptId> = rules
        .flat_map(|rule| concepts_of(rule_set, rule))
        .filter(|concept| !known.iter().any(|name| name == rule_set.dag.vocabulary().name(*concept)))
        .collect();
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|&concept| rule_set.dag.vocabulary().name(concept)).collect();
        let message =
            format!("the model in `{}` does not know `{}`, which rules speak of", folder.display(), names.join("`, `"));
        let hint = "name a model that was trained on these concepts";
        return Err(Error::input(message, Some(hint.to_owned())));
    }
    Sources::Rows { dataset, rows: &[] }.check(&model.manifest.bank.encoder)
}
