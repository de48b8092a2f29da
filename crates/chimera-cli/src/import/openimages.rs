//! `import openimages`: boxes, classes and hierarchy.

use chimera_data::import::{BoxFile, Imported, OpenImagesImport, import_openimages};

use crate::args::ImportOpenImagesArguments;
use crate::console::Console;

pub(crate) fn run(arguments: &ImportOpenImagesArguments, console: &Console) -> anyhow::Result<Imported> {
    let import = OpenImagesImport {
        folder: arguments.folder.clone(),
        boxes: arguments.boxes.iter().map(|text| BoxFile::parse(text)).collect(),
        classes: arguments.classes.clone(),
        hierarchy: arguments.hierarchy.clone(),
        images: arguments.images.clone(),
        top: arguments.top,
        rules: super::rule_concepts(arguments.rules.as_deref(), console)?,
        val_train_frac: arguments.val_train_frac,
        open_world: arguments.open_world,
        image_labels: arguments.image_labels.clone(),
        strict: arguments.strict,
        options: super::options(&arguments.into),
    };
    Ok(import_openimages(&import, &arguments.into.out)?)
}
