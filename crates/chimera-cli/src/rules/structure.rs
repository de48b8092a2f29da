//! `rules structure`: rules that a dataset's hierarchy gives, and why others are left out.

use anyhow::bail;
use chimera::data::dataset::Dataset;
use chimera::data::hierarchy::HIERARCHY;
use chimera::data::structure::{StructureOptions, rules_from_structure};

use crate::Outcome;
use crate::args::{StructureArguments, StructureDirection};
use crate::console::Console;
use crate::ending;
use crate::table::counted;

/// So many rules that were left out are listed; the file has all.
const LISTED: usize = 20;

pub(crate) fn run(arguments: &StructureArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    ending::expect(arguments.out.as_deref(), &["rules", "txt"])?;
    let dataset = Dataset::open(&arguments.folder)?;
    let options = StructureOptions {
        natural: arguments.direction != StructureDirection::Inverted,
        inverted: arguments.direction != StructureDirection::Natural,
        per_parent_pair_limit: arguments.per_parent_pair_limit,
    };
    let structure = rules_from_structure(&dataset, options)?;
    for (rule, reason) in structure.left_out.iter().take(LISTED) {
        console.say(format_args!("left out: {} ({reason})", rule.formula));
    }
    if structure.left_out.len() > LISTED {
        console.say(format_args!("left out: {} more", structure.left_out.len() - LISTED));
    }
    if structure.rules.is_empty() {
        bail!(
            "no rule is left of {}\nhint: give another `--direction`",
            counted(structure.left_out.len(), "rule of the hierarchy")
        );
    }
    let text = structure.to_text(&dataset);
    let inputs = [arguments.folder.join(HIERARCHY)];
    let inputs: Vec<_> = inputs.iter().map(AsRef::as_ref).collect();
    console.write_out(arguments.out.as_deref(), &inputs, |out| out.write_all(text.as_bytes()))?;
    if let Some(path) = &arguments.out {
        console.say(format_args!("wrote {} to `{}`", counted(structure.rules.len(), "rule"), path.display()));
    }
    Ok(Outcome::Done)
}
