//! `chimera demo`: the story so far on built-in data. Writes a rule file and a label table, then runs the commands on them
//! that a person would type next.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};
use chimera::error::system_words;
use clap::Parser;

use crate::Outcome;
use crate::args::{Arguments, Command, DemoArguments};
use crate::console::Console;
use crate::rules;

const FILES: [(&str, &str); 2] =
    [("site.rules", include_str!("../demo/site.rules")), ("labels.csv", include_str!("../demo/labels.csv"))];

/// What the commands of the demo write.
const RESULTS: [&str; 3] = ["rules.svg", "truth.csv", "coverage.csv"];

pub(crate) fn run(arguments: &DemoArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let folder = &arguments.out;
    fs::create_dir_all(folder).with_context(|| format!("cannot make folder `{}`", folder.display()))?;
    // What the demo is about to write must be new, or from an earlier demo: then the folder holds its rules.
    let fresh = FILES.iter().all(|(name, _)| !folder.join(name).exists());
    if let Some(name) = RESULTS.iter().find(|name| fresh && folder.join(name).exists()) {
        bail!("{}", not_ours(&folder.join(name)));
    }
    for (name, content) in FILES {
        write_once(&folder.join(name), content)?;
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let (site, labels, truth) = (path("site.rules"), path("labels.csv"), path("truth.csv"));

    tell(console, "Seven house rules of a building site, and what a camera saw in 200 frames.")?;
    write!(console.results(), "\n{}\n", FILES[0].1)?;
    tell(console, "Are the rules sound, and do the labels keep them?")?;
    command(console, &["rules", "check", &site, "--data", &labels])?;
    tell(console, "\nOne graph for all rules. What a rule is made of, how likely it holds, and what would mend it:")?;
    let seen = "crane_moving=0.95,barrier=0.3,warning_sign=0.8";
    command(console, &["rules", "show", &site, "crane_zone", "--p", seen])?;
    tell(console, "The same as a picture:")?;
    command(console, &["rules", "graph", &site, "--p", seen, "-o", &path("rules.svg")])?;
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
        Ok(_) => bail!("{}", not_ours(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Ok(chimera::file::write_atomic(path, |out| out.write_all(content.as_bytes()))?)
        }
        Err(error) => bail!("cannot read `{}`: {}", path.display(), system_words(&error)),
    }
}

fn not_ours(path: &Path) -> String {
    let path = path.display();
    format!("`{path}` is there and is not the demo's file\nhint: give another folder with `chimera demo --out DIR`")
}

/// Words between the commands; after the results so far, so that both streams read as one story.
fn tell(console: &mut Console, words: &str) -> anyhow::Result<()> {
    console.finish()?;
    console.say(words);
    Ok(())
}

/// Shows a command line and runs it, through the same parser as if it had been typed.
fn command(console: &mut Console, words: &[&str]) -> anyhow::Result<()> {
    tell(console, &format!("\n$ chimera {}", words.join(" ")))?;
    let arguments = Arguments::try_parse_from(std::iter::once("chimera").chain(words.iter().copied()))?;
    let Command::Rules(command) = arguments.command else { bail!("the demo only runs `rules` commands") };
    rules::run(&command, console)?;
    console.finish()
}
