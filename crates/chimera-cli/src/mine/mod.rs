//! `mine`: rules from the labels of a dataset's train rows.

mod explain;
mod report;
mod words;

use std::fs;
use std::path::Path;

use anyhow::bail;
use chimera_data::dataset::Dataset;
use chimera_data::error::Error;
use chimera_mine::is_as_written;

use self::report::{Report, write_table};
use crate::Outcome;
use crate::args::MineArguments;
use crate::console::{self, Console, file_of};
use crate::ending;
use crate::table::counted;

pub(crate) fn run(arguments: &MineArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let out = arguments.out.as_deref();
    ending::expect(out, &["rules", "txt"])?;
    console::check_out(out, std::iter::empty(), &[&arguments.folder])?;
    keep_edited(out)?;
    explain::check_sheet(arguments)?;
    let options = arguments.options();
    options.check()?;
    let dataset = Dataset::open(&arguments.folder)?;
    let bar = console.bar("searching");
    let mining =
        chimera_mine::mine(&dataset, &options, &arguments.command(), arguments.threads.get(), &|done, total| {
            bar.set(done, total);
        })?;
    drop(bar);
    words::say_left_out(&mining, console);
    if let Some(rule) = &arguments.explain {
        return explain::run(arguments, &dataset, &mining, rule, console);
    }
    let elsewhere = mining.elsewhere(&dataset);
    if arguments.json {
        console::heard(console.write_json(&Report::new(&mining, &elsewhere)))?;
    }
    let to_file = file_of(out);
    if to_file.is_some() || !arguments.json {
        let text = mining.to_text()?;
        console::heard(console.write_out(out, &[], |out| out.write_all(text.as_bytes())))?;
    }
    if mining.rules.is_empty() {
        console.complain(words::nothing(&mining, &options));
        return Ok(Outcome::Findings);
    }
    if let (Some(path), false) = (to_file, arguments.json) {
        write_table(&mining, &elsewhere, console.results())?;
        console.results().flush()?;
        console.say(format_args!("wrote {} to `{}`", counted(mining.rules.len(), "rule"), path.display()));
    } else if !arguments.json {
        let mut table = Vec::new();
        write_table(&mining, &elsewhere, &mut table)?;
        console.say(String::from_utf8_lossy(&table).trim_end());
    }
    Ok(Outcome::Done)
}

/// Refuses to write over what may be somebody's work: anything but a file that `mine` wrote and nobody has changed since.
fn keep_edited(out: Option<&Path>) -> anyhow::Result<()> {
    let Some(path) = file_of(out).filter(|path| path.is_file()) else { return Ok(()) };
    let bytes = fs::read(path).map_err(|cause| Error::read(path, cause))?;
    if !std::str::from_utf8(&bytes).is_ok_and(is_as_written) {
        bail!(
            "`{}` is not as `chimera mine` wrote it, so it may be somebody's work; it is left as it is\n\
             hint: give another file to `-o`",
            path.display()
        );
    }
    Ok(())
}
