//! `import clevr` and `import clevrer`: scenes and videos of plain solids.

use chimera_data::import::{
    ClevrImport, ClevrerImport, ConceptChoice, ConceptOptions, Imported, import_clevr, import_clevrer,
};

use super::rule_concepts;
use crate::args::{ConceptArguments, ImportClevrArguments, ImportClevrerArguments};
use crate::console::Console;

pub(crate) fn run(arguments: &ImportClevrArguments, console: &Console) -> anyhow::Result<Imported> {
    let import = ClevrImport {
        folder: arguments.folder.clone(),
        concepts: concepts(&arguments.concepts, None, console)?,
        strict: arguments.strict,
        options: super::options(&arguments.into),
    };
    Ok(import_clevr(&import, &arguments.into.out)?)
}

pub(crate) fn run_videos(arguments: &ImportClevrerArguments, console: &Console) -> anyhow::Result<Imported> {
    let import = ClevrerImport {
        folder: arguments.folder.clone(),
        concepts: concepts(&arguments.concepts, arguments.max_event_pairs, console)?,
        strict: arguments.strict,
        options: super::options(&arguments.into),
    };
    Ok(import_clevrer(&import, &arguments.into.out)?)
}

fn concepts(
    arguments: &ConceptArguments,
    max_event_pairs: Option<usize>,
    console: &Console,
) -> anyhow::Result<ConceptOptions> {
    let choices = arguments.concepts.iter().flat_map(|text| ConceptChoice::parse_list(text)).collect();
    let rules = rule_concepts(arguments.rules.as_deref(), console)?;
    Ok(ConceptOptions { choices, rules, max_event_pairs })
}
