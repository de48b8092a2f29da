//! `chimera demo`: the whole story on a world of our own. Runs the commands that a person would type, then says how many clips
//! that nobody has seen before are flagged, how often that is right, and why the first of them are.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use chimera::data::dataset::Dataset;
use chimera_lab::demo::{self, Alarm, MY_RULES, Sizes, Verdict, WORLD_RULES};
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
    let [world_rules, my_rules, world, ds, mined, model, report, scores, cache] =
        ["world.rules", "my.rules", "world", "ds", "mined.rules", "model", "report", "scores.csv", "cache"].map(path);
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

    tell(console, "\nNow as an alarm: which of the test clips are flagged, if one normal clip in twenty may be?")?;
    let rate = demo::RATE.to_string();
    #[rustfmt::skip]
    command(console, &[&["score", &model, &ds, "--split", "test", "--fpr", &rate, "-o", &scores, "--cache", &cache, "--threads", &threads], &on[..]].concat())?;
    let dataset = Dataset::open(Path::new(&ds))?;
    let place = (Path::new(&cache), arguments.threads.get(), arguments.device.unwrap_or_default());
    let (verdict, alarms) = demo::judge(Path::new(&model), &dataset, &folder.join("why"), place)?;
    tell(console, "\nThe first alarms, explained, whether they are right or not:\n")?;
    for alarm in &alarms {
        write!(console.results(), "{}", told(alarm))?;
    }
    writeln!(console.results(), "{}", in_words(&verdict))?;
    let pages: Vec<String> = alarms.iter().map(|alarm| alarm.page.display().to_string()).collect();
    tell(
        console,
        &format!(
            "\nThe report: {report}/report.html\nThe alarms: {}\nAll of it took {:.0} s. Next: your own data, see `chimera import --help`.",
            pages.join("\n            "),
            began.elapsed().as_secs_f64()
        ),
    )?;
    Ok(Outcome::Done)
}

/// How many clips are flagged, and how often that is right.
fn in_words(verdict: &Verdict) -> String {
    let Verdict { odd, caught, named, normal, false_alarms } = *verdict;
    let share = 100.0 * false_alarms as f64 / normal.max(1) as f64;
    format!(
        "{caught} of {odd} clips that break a rule are flagged; {named} of these {caught} break the rule that is named first.\n\
         {false_alarms} of {normal} clips that break none are flagged: {share:.1} %, where {:.0} % were allowed.",
        100.0 * demo::RATE
    )
}

/// An alarm, and what is true of the clip.
fn told(alarm: &Alarm) -> String {
    let told = &alarm.told;
    let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    let mut text =
        format!("{}: flagged (anomaly {}, threshold {})\n", told.id, shown(told.anomaly), shown(told.threshold));
    let named = told.rules.first();
    if let Some(rule) = named {
        text += &format!("  it breaks `{}`: {}\n", rule.rule, rule.formula);
        if let Some(breach) = &rule.breach {
            let seen = breach
                .concepts
                .iter()
                .map(|of| format!("{} {}", of.concept, if of.shown { "is there" } else { "is not" }));
            let repair = rule.repair.as_ref().map_or_else(String::new, |repair| format!("; the rule {}", repair.words));
            text += &format!("  {}{repair}\n", seen.collect::<Vec<_>>().join(", "));
        }
    }
    let is_named = named.is_some_and(|rule| alarm.broken.contains(&rule.rule));
    text + &match (&alarm.broken[..], is_named) {
        ([], _) => "  a false alarm: its labels break no rule\n\n".to_owned(),
        (_, true) => "  right: its labels break this rule\n\n".to_owned(),
        (broken, false) => format!("  its labels break another rule: `{}`\n\n", broken.join("`, `")),
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
        _ => {
            bail!("the demo ends here, since `chimera {}` did not succeed", words[0])
        }
    }
}
