//! What is refused before anything is asked.

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::weights;
use chimera_logic::dag::Node;
use chimera_logic::rules::RuleSet;

use super::replica::Site;
use super::run::Asked;
use crate::model::{self, ModelManifest};
use crate::score::engine::Engine;

/// Refuses what would do nothing: other leaf banks without other seeds, and weights that the model did not start from.
pub(super) fn check_refit(asked: &Asked<'_>, manifest: &ModelManifest) -> Result<()> {
    if asked.refit_leaf && asked.seeds.get() == 1 {
        let message = "expected more than one seed to train other leaf banks for, got 1".to_owned();
        return Err(Error::input(message, Some("`--seeds 3` has two more; or leave out `--refit-leaf`".to_owned())));
    }
    match (asked.weights, &manifest.weights) {
        (Some(path), None) => {
            let message = format!("expected no weights, as the model did not start from any, got `{}`", path.display());
            Err(Error::input(message, Some("leave out `--weights`".to_owned())))
        }
        (Some(path), Some(hash)) if weights::hash_of(path)? != *hash => {
            let message =
                format!("expected the weights that the model started from, got others in `{}`", path.display());
            let name = manifest.config.weights_file().map(|name| format!("; its file was called `{}`", name.display()));
            Err(Error::input(message, Some(format!("name the same file as in `train`{}", name.unwrap_or_default()))))
        }
        _ => Ok(()),
    }
}

/// z of the data that the model was trained on; refuses others.
pub(super) fn encode_training(site: &Site<'_>, engine: &Engine, training: &Dataset) -> Result<EncodedRows> {
    let manifest = &engine.model.manifest;
    let other = |what: &str| {
        let (name, folder) = (&manifest.dataset.name, training.folder().display());
        let message =
            format!("expected the data that the model was trained on (`{name}`), got `{folder}` with other {what}");
        Error::input(message, Some("name that data, or leave out `--data`".to_owned()))
    };
    if let Some(what) = model::difference(manifest, training)? {
        return Err(other(&what));
    }
    let encoded = site.encode(training, &engine.model.bank)?;
    if encoded.content() == manifest.dataset.content { Ok(encoded) } else { Err(other("media")) }
}

/// Says which concepts of the rules the dataset lacks; without any of them there is nothing to measure.
pub(super) fn check_concepts(dataset: &Dataset, rule_set: &RuleSet, words: &mut Vec<String>) -> Result<()> {
    let dag = &rule_set.dag;
    let used = dag.cone(&rule_set.roots()).into_iter().filter_map(|node| match dag.node(node) {
        Node::Leaf(concept) => Some(dag.vocabulary().name(concept)),
        Node::Gate(..) => None,
    });
    let (there, missing): (Vec<&str>, Vec<&str>) =
        used.partition(|name| dataset.table().concepts.iter().any(|concept| concept == name));
    if there.is_empty() {
        let message = format!("`{}` has none of the concepts of the rules", dataset.folder().display());
        return Err(Error::input(message, Some("the model and the dataset do not belong together".to_owned())));
    }
    if !missing.is_empty() {
        let missing = missing.join("`, `");
        words.push(format!("the dataset has no labels of `{missing}`: rules that hang on them cannot be measured"));
    }
    Ok(())
}
