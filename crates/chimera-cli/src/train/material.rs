//! The data that a model was trained on, brought back for what is taught later.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::bail;
use chimera::model::{self, Model};
use chimera_data::dataset::Dataset;
use chimera_leaf::encode::EncodedRows;
use chimera_leaf::stage;

use super::events::Shown;

/// z of a dataset that must be the one that the model was trained on.
pub(crate) fn encode(
    model: &Model,
    dataset: &Dataset,
    cache: &Path,
    threads: NonZeroUsize,
    shown: &Shown<'_>,
) -> anyhow::Result<EncodedRows> {
    if let Some(what) = model::difference(&model.manifest, dataset)? {
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
