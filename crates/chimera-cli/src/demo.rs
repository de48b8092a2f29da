//! `chimera demo`: the story so far on built-in data. Writes a rule file and a label table, then runs the commands on them
//! that a person would type next.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use clap::Parser;

use crate::Outcome;
use crate::args::{Arguments, Command, DemoArguments};
use crate::console::Console;
use crate::rules;

const FILES: [(&str, &str); 2] =
    [("site.rules", include_str!("../demo/site.rules")), ("labels.csv", include_str!("../demo/labels.csv"))];

pub(crate) fn run(arguments: &DemoArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).with_context(|| format!("cannot make folder `{}`", folder.display()))?;
    for (name, content) in FILES {
        write_once(&folder.join(name), content)?;
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let (site, labels, truth) = (path("site.rules"), path("labels.csv"), path("truth.csv"));

    tell(console, "Seven house rules of a building site, and what a camera saw in 200 frames.")?;
    write!(console.results(), "\n{}\n", FILES[0].1)?;
    tell(console, "Are the rules sound, and do the labels keep them?")?;
    command(console, &["rules", "check", &site, "--data", &labels])?;
    tell(console, "\nOne DAG for all rules. What a rule is made of:")?;
    command(console, &["rules", "show", &site, "crane_zone"])?;
    tell(console, "\nWhich frame breaks which rule, exactly:")?;
    command(console, &["rules", "truth", &site, "--data", &labels, "-o", &truth])?;
    tell(console, "\nA gate learns only what it is shown. Which rows of its truth table do real frames fill?")?;
    command(console, &["rules", "coverage", &site, "--data", &labels, "--format", "csv", "-o", &path("coverage.csv")])?;
    tell(
        console,
        &format!("\nEverything is in `{}`. Change the rules there and run the commands again.", folder.display()),
    )?;
    Ok(Outcome::Done)
}

/// Writes an example file, unless it is there from an earlier demo. Somebody's own file is never written over.
fn write_once(path: &Path, content: &str) -> anyhow::Result<()> {
    match fs::read(path) {
        Ok(present) if present == content.as_bytes() => Ok(()),
        Ok(_) => bail!(
            "`{}` is there and is not the demo's file\nhint: give another folder with `chimera demo --out DIR`",
            path.display()
        ),
        Err(_) => Ok(chimera::file::write_atomic(path, |out| out.write_all(content.as_bytes()))?),
    }
}

fn tell(console: &mut Console, words: &str) -> anyhow::Result<()> {
    Ok(writeln!(console.results(), "{words}")?)
}

/// Shows a command line and runs it, through the same parser as if it had been typed.
fn command(console: &mut Console, words: &[&str]) -> anyhow::Result<()> {
    write!(console.results(), "\n$ chimera {}\n", words.join(" "))?;
    console.finish()?;
    let arguments = Arguments::try_parse_from(std::iter::once("chimera").chain(words.iter().copied()))?;
    let Command::Rules(command) = arguments.command else { bail!("the demo only runs `rules` commands") };
    rules::run(&command, console)?;
    console.finish()
}
