//! `import clevr` and `import clevrer`: scenes and videos of plain solids.

use chimera::data::import::{
    ClevrImport, ClevrerImport, ConceptChoice, ConceptOptions, Imported, RuleConcepts, import_clevr, import_clevrer,
};

use crate::args::{ConceptArguments, ImportClevrArguments, ImportClevrerArguments};
use crate::console::Console;
use crate::rules::input;

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
    let rules = arguments.rules.as_ref().map(|file| -> anyhow::Result<RuleConcepts> {
        let rule_set = input::load_sound(file, None, console)?;
        let names = rule_set.dag.vocabulary().names().map(str::to_owned).collect();
        Ok(RuleConcepts { file: file.clone(), names })
    });
    Ok(ConceptOptions { choices, rules: rules.transpose()?, max_event_pairs })
}
