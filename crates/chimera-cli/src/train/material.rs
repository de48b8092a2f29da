//! The data that a model was trained on, brought back for what is taught later.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::bail;
use chimera::data::dataset::Dataset;
use chimera::leaf::encode::EncodedRows;
use chimera::leaf::stage;
use chimera::model::{self, Model};

use super::events::Shown;

/// z of a dataset that must be the one that the model was trained on.
pub(crate) fn encode(
    model: &Model,
    dataset: &Dataset,
    cache: &Path,
    threads: NonZeroUsize,
    shown: &Shown<'_>,
) -> anyhow::Result<EncodedRows> {
    if let Some(what) = difference(model, dataset)? {
        bail!(
            "expected the data that the model was trained on (`{}`), got `{}` with other {what}\nhint: give that dataset \
             to `--data`, or train a new model on this one",
            model.manifest.dataset.name,
            dataset.folder().display()
        );
    }
    let encoded = stage::encode(dataset, &model.bank, (cache, threads, false), &|event| shown.show(&event))?;
    if encoded.content() != model.manifest.dataset.content {
        bail!(
            "expected the media that the model was trained on, got others in `{}`: some were changed, or are missing\n\
             hint: `chimera data check` lists what cannot be read; train a new model on data that have changed",
            dataset.folder().display()
        );
    }
    Ok(encoded)
}

/// What of a dataset is not as the model was trained on; `None` where it is the same.
pub(crate) fn difference(model: &Model, dataset: &Dataset) -> anyhow::Result<Option<String>> {
    let (trained_on, found) = (&model.manifest.dataset.fingerprints, model::fingerprints_of(dataset)?);
    let what = trained_on.keys().chain(found.keys()).find(|what| trained_on.get(*what) != found.get(*what));
    Ok(what.cloned())
}
