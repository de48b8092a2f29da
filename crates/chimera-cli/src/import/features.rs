//! `import features`: labels with ready-made feature vectors.

use chimera_data::features::FeatureSource;
use chimera_data::import::{FeaturesImport, Imported, import_features};

use super::table::source;
use crate::args::ImportFeaturesArguments;

pub(crate) fn run(arguments: &ImportFeaturesArguments) -> anyhow::Result<Imported> {
    let features = FeatureSource { path: arguments.features.clone(), array: arguments.array.clone() };
    let import = FeaturesImport { table: source(&arguments.source, &arguments.into), features };
    Ok(import_features(&import, &arguments.into.out)?)
}
