//! `import mnist`: idx files.

use chimera_data::import::{Imported, MnistImport, import_mnist};

use crate::args::ImportMnistArguments;

pub(crate) fn run(arguments: &ImportMnistArguments) -> anyhow::Result<Imported> {
    let import = MnistImport { folder: arguments.folder.clone(), options: super::options(&arguments.into) };
    Ok(import_mnist(&import, &arguments.into.out)?)
}
