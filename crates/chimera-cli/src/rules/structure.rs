//! `rules structure`: rules that a dataset's hierarchy gives, and why others are left out.

use std::fs;
use std::path::Path;

use anyhow::bail;
use chimera_data::dataset::Dataset;
use chimera_data::dataset::structure::{Origin, Structure, StructureOptions, rules_from_structure};
use chimera_data::error::Error;

use crate::Outcome;
use crate::args::{StructureArguments, StructureDirection};
use crate::console::{Console, file_of};
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
    let undecided = structure.rules.iter().filter(|rule| rule.undecided).count();
    if undecided > 0 {
        console.say(format_args!(
            "{} not settled within the allowed effort and kept: closed labels may never break what says so in its comment",
            if undecided == 1 { "1 rule was".to_owned() } else { format!("{} were", counted(undecided, "rule")) }
        ));
    }
    if structure.rules.is_empty() {
        bail!("{}", nothing_left(arguments.direction, &structure));
    }
    let text = structure.to_text(&dataset);
    write_new(arguments.out.as_deref(), &text, console)?;
    if let Some(path) = &arguments.out {
        console.say(format_args!("wrote {} to `{}`", counted(structure.rules.len(), "rule"), path.display()));
    }
    Ok(Outcome::Done)
}

/// Why there is no rule, and what would change that.
fn nothing_left(direction: StructureDirection, structure: &Structure) -> String {
    let left_out = counted(structure.left_out.len(), "rule of the hierarchy");
    let has_kinds = structure.left_out.iter().any(|(rule, _)| rule.origin == Origin::Kind);
    let hint = if direction == StructureDirection::Natural && has_kinds {
        "closed labels can break what is read the other way: `--direction inverted`"
    } else {
        "write those into a rule file that you believe"
    };
    format!("no rule is left of {left_out}\nhint: {hint}")
}

/// Writes rules where nothing is lost by it: a file with other content may be somebody's work.
fn write_new(out: Option<&Path>, text: &str, console: &mut Console) -> anyhow::Result<()> {
    if let Some(path) = file_of(out)
        && path.is_file()
        && fs::read(path).map_err(|cause| Error::read(path, cause))? != text.as_bytes()
    {
        bail!("`{}` is there with other rules; it is left as it is\nhint: give another file to `-o`", path.display());
    }
    console.write_out(out, &[], |out| out.write_all(text.as_bytes()))
}
