//! `chimera demo`: the whole story on a world of our own. Runs the commands that a person would type, then says what is wrong with three
//! clips that nobody has seen before.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use chimera::data::dataset::Dataset;
use chimera_lab::demo::{self, MY_RULES, Sizes, Verdict, WORLD_RULES};
use clap::Parser;

use crate::Outcome;
use crate::args::{Arguments, DemoArguments};
use crate::console::Console;

pub(crate) fn run(arguments: &DemoArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let (folder, began) = (&arguments.out, Instant::now());
    // Refused before anything is made.
    arguments.device.unwrap_or_default().open()?;
    make_new(folder)?;
    let sizes = if arguments.quick { Sizes::QUICK } else { Sizes::FULL };
    let (train, test, epochs, seed) =
        (sizes.train.to_string(), sizes.test.to_string(), sizes.epochs.to_string(), arguments.seed.to_string());
    let threads = arguments.threads.get().to_string();
    let device = arguments.device.map(|device| device.to_string());
    let on: Vec<&str> = device.iter().flat_map(|device| ["--device", device]).collect();
    // A name that looks like an option is a path all the same.
    let folder_shown = folder.display().to_string();
    let folder_shown = if folder_shown.starts_with('-') { format!("./{folder_shown}") } else { folder_shown };
    let path = |name: &str| Path::new(&folder_shown).join(name).display().to_string();
    let [world_rules, my_rules, world, ds, mined, model, report, cache] =
        ["world.rules", "my.rules", "world", "ds", "mined.rules", "model", "report", "cache"].map(path);
    for (file, text) in [(&world_rules, WORLD_RULES), (&my_rules, MY_RULES)] {
        fs::write(file, text).with_context(|| format!("cannot write `{file}`"))?;
    }

    tell(
        console,
        "A small world of solids that come, go and collide. It keeps four rules, but for some clips that are kept for the test:",
    )?;
    write!(console.results(), "\n{WORLD_RULES}\n")?;
    #[rustfmt::skip]
    command(console, &["world", "clevrer", "--rules", &world_rules, "--train", &train, "--test", &test, "--oracle", "0", "--size", "96x64", "--seed", &seed, "--threads", &threads, "--out", &world])?;
    tell(console, "\nAny data become a dataset folder. Concepts are what rules speak of:")?;
    let concepts = "purple_any,blue_any,green_any,cyan_any,yellow_any,enter(yellow),exit(yellow),enter(blue)";
    command(console, &["import", "clevrer", &world, "--concepts", concepts, "--out", &ds])?;
    tell(console, "\nYou wrote down one rule. Which others do the labels of train clips keep?")?;
    command(console, &["mine", &ds, "--max-rules", "4", "--threads", &threads, "-o", &mined])?;
    tell(console, "\nA leaf bank learns the concepts, a gate your rule, from clips of which none breaks any rule:")?;
    #[rustfmt::skip]
    command(console, &[&["train", &ds, "--rules", &my_rules, "--out", &model, "--cache", &cache, "--size", "32", "--pooling", "order", "--batch", "16", "--rate", "0.0015",
        "--schedule", "cosine", "--epochs", &epochs, "--patience", &epochs, "--seed", &seed, "--threads", &threads], &on[..]].concat())?;
    tell(console, "\nMore rules need more gates, and nothing else:")?;
    command(
        console,
        &[&["add", &model, &mined, "--data", &ds, "--cache", &cache, "--threads", &threads], &on[..]].concat(),
    )?;
    tell(
        console,
        "\nHow good is that, on clips of which three in ten break a rule? Beside it, everything that one would try instead:",
    )?;
    command(
        console,
        &[&["eval", &model, &ds, "-o", &report, "--cache", &cache, "--threads", &threads], &on[..]].concat(),
    )?;

    tell(console, "\nClips of the test that break one rule each. What is wrong with them?\n")?;
    let dataset = Dataset::open(Path::new(&ds))?;
    let place = (Path::new(&cache), arguments.threads.get(), arguments.device.unwrap_or_default());
    let verdicts = demo::explain(Path::new(&model), &dataset, &folder.join("why"), place)?;
    for verdict in &verdicts {
        write!(console.results(), "{}", told(verdict))?;
    }
    let right = verdicts.iter().filter(|verdict| verdict.is_right()).count();
    writeln!(console.results(), "{right} of {} right.", verdicts.len())?;
    tell(
        console,
        &format!(
            "\nThe report: {report}/report.html\nThe clips:  {}\nAll of it took {:.0} s. Next: your own data, see `chimera import --help`.",
            verdicts
                .iter()
                .map(|verdict| verdict.page.display().to_string())
                .collect::<Vec<_>>()
                .join("\n            "),
            began.elapsed().as_secs_f64()
        ),
    )?;
    Ok(Outcome::Done)
}

/// What was said about a clip, and what is true.
fn told(verdict: &Verdict) -> String {
    let told = &verdict.told;
    let flag = if told.flagged { "flagged" } else { "not flagged" };
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let (score, threshold) = (shown(told.anomaly), shown(told.threshold));
    let mut text = format!("{}: {flag} (score {score}, threshold {threshold})\n", verdict.id);
    if let Some(rule) = told.rules.first() {
        let how = if told.flagged { "it breaks" } else { "if anything, it breaks" };
        text += &format!("  {how} `{}`: {}\n", rule.rule, rule.formula);
        if let Some(breach) = &rule.breach {
            let seen = breach
                .concepts
                .iter()
                .map(|of| format!("{} {}", of.concept, if of.shown { "is there" } else { "is not" }));
            let repair = rule.repair.as_ref().map_or_else(String::new, |repair| format!("; the rule {}", repair.words));
            text += &format!("  {}{repair}\n", seen.collect::<Vec<_>>().join(", "));
        }
    }
    text + &if verdict.is_right() {
        "  right\n\n".to_owned()
    } else {
        format!("  wrong: it breaks `{}`\n\n", verdict.broken)
    }
}

/// A folder of the demo's own: nothing that is there is written over.
fn make_new(folder: &Path) -> anyhow::Result<()> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!(
            "`{0}` is there and not empty\nhint: give another folder with `chimera demo --out DIR`, or remove it",
            folder.display()
        );
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make folder `{}`", folder.display()))
}

/// Words between the commands; after the results so far, so that both streams read as one story.
fn tell(console: &mut Console, words: &str) -> anyhow::Result<()> {
    console.finish()?;
    console.say(words);
    Ok(())
}

/// Shows a command line and runs it, through the same parser as if it had been typed.
fn command(console: &mut Console, words: &[&str]) -> anyhow::Result<()> {
    let quoted = |word: &&str| if word.contains(['(', ' ']) { format!("'{word}'") } else { (*word).to_owned() };
    tell(console, &format!("\n$ chimera {}", words.iter().map(quoted).collect::<Vec<_>>().join(" ")))?;
    let arguments = Arguments::try_parse_from(std::iter::once("chimera").chain(words.iter().copied()))?;
    match crate::dispatch(arguments.command, console)? {
        Outcome::Done => console.finish(),
        Outcome::Findings | Outcome::Interrupted => {
            bail!("the demo ends here, since `chimera {}` did not succeed", words[0])
        }
    }
}
