//! `import vidor`: objects and relations of videos.

use chimera_data::import::{Imported, VidorConcepts, VidorImport, VidorVideos, import_vidor};

use crate::args::ImportVidorArguments;
use crate::console::Console;

pub(crate) fn run(arguments: &ImportVidorArguments, console: &Console) -> anyhow::Result<Imported> {
    let import = VidorImport {
        source: arguments.source.clone(),
        videos: match &arguments.videos {
            Some(folder) => VidorVideos::Below(folder.clone()),
            None if arguments.labels_only => VidorVideos::LabelsOnly,
            None => VidorVideos::Beside,
        },
        frames: arguments.frames,
        concepts: VidorConcepts {
            top_objects: arguments.top_objects,
            top_relations: arguments.top_relations,
            min_rel_support: arguments.min_rel_support,
        },
        rules: super::rule_concepts(arguments.rules.as_deref(), console)?,
        strict: arguments.strict,
        options: super::options(&arguments.into),
    };
    Ok(import_vidor(&import, &arguments.into.out)?)
}
