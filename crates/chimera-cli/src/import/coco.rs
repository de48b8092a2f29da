//! `import coco`: instances JSON.

use chimera_data::import::{CocoImport, Imported, import_coco};

use crate::args::ImportCocoArguments;

pub(crate) fn run(arguments: &ImportCocoArguments) -> anyhow::Result<Imported> {
    let import = CocoImport {
        instances: arguments.instances.clone(),
        test: arguments.test.clone(),
        media_root: arguments.media_root.clone(),
        strict: arguments.strict,
        options: super::options(&arguments.into),
    };
    Ok(import_coco(&import, &arguments.into.out)?)
}
