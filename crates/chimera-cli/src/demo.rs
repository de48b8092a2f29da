//! `chimera demo`: the whole story on a world of our own. Runs the commands that a person would type, then says how many clips
//! that nobody has seen before are flagged, how often that is right, and why the first of them are.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, bail};
use chimera::explain::told::RuleTold;
use chimera_data::dataset::Dataset;
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
    let Verdict { odd, caught, named, normal, false_alarms, unknown, unknown_flagged, unjudged } = *verdict;
    let share = 100.0 * false_alarms as f64 / normal.max(1) as f64;
    let open = match unknown {
        0 => String::new(),
        _ => format!("{unknown_flagged} of {unknown} clips whose labels do not tell are flagged.\n"),
    };
    let open = match unjudged {
        0 => open,
        _ => format!("{open}{unjudged} clips could not be judged and are not counted.\n"),
    };
    format!(
        "{open}{caught} of {odd} clips that break a rule are flagged; {named} of these {caught} break the rule that is named first.\n\
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
    named.iter().for_each(|rule| text += &suspicion(rule));
    text + "  " + &truth(named.map(|rule| rule.rule.as_str()), &alarm.broken, &alarm.unknown) + "\n\n"
}

/// The rule that is named first, and how it is broken if it is: flags go by all that the gates see, these words by concepts alone.
fn suspicion(rule: &RuleTold) -> String {
    let mut text = format!("  first of all for `{}`: {}\n", rule.rule, rule.formula);
    if let Some(breach) = &rule.breach {
        let lead = if breach.is_likeliest {
            "broken as seen"
        } else {
            "what is most likely seen keeps it; most likely broken with"
        };
        let seen =
            breach.concepts.iter().map(|of| format!("{} {}", of.concept, if of.shown { "present" } else { "absent" }));
        text += &format!("  {lead}: {}\n", seen.collect::<Vec<_>>().join(", "));
    }
    for change in [&rule.repair, &rule.breaks].into_iter().flatten() {
        text += &format!("  {}\n", change.words);
    }
    text
}

/// The truth of an alarm by the clip's labels, which may leave rules open.
fn truth(named: Option<&str>, broken: &[String], unknown: &[String]) -> String {
    let is_in = |rules: &[String]| named.is_some_and(|named| rules.iter().any(|rule| rule == named));
    match (broken, unknown) {
        _ if is_in(broken) => "right: its labels break this rule".to_owned(),
        ([], []) => "a false alarm: by its labels, all rules hold".to_owned(),
        ([], open) => format!("right or not is unknown: its labels do not tell about `{}`", open.join("`, `")),
        (other, _) => {
            let this = if is_in(unknown) { "do not tell about this rule, and" } else { "keep this rule, and" };
            format!("its labels {this} break another: `{}`", other.join("`, `"))
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use chimera::explain::told::{BreachTold, ChangeTold, Shown};

    #[test]
    fn only_what_labels_say_is_called_right_or_false() {
        let said = |broken: &[&str], unknown: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            truth(Some("one"), &owned(broken), &owned(unknown))
        };
        assert_eq!(said(&["two", "one"], &["three"]), "right: its labels break this rule");
        assert_eq!(said(&[], &[]), "a false alarm: by its labels, all rules hold");
        assert_eq!(said(&[], &["two"]), "right or not is unknown: its labels do not tell about `two`");
        assert_eq!(said(&["two"], &[]), "its labels keep this rule, and break another: `two`");
        assert_eq!(said(&["two"], &["one"]), "its labels do not tell about this rule, and break another: `two`");
        let open = Verdict { unknown: 4, unknown_flagged: 3, ..Verdict::default() };
        assert!(in_words(&open).starts_with("3 of 4 clips whose labels do not tell are flagged.\n0 of 0 clips"));
        assert!(in_words(&Verdict::default()).starts_with("0 of 0 clips"));
    }

    #[test]
    fn a_rule_that_holds_by_its_concepts_is_not_said_to_be_broken() {
        let of = |is_likeliest: bool| {
            let concept = |name: &str, shown: bool, p: f64| Shown { concept: name.to_owned(), shown, p };
            let change =
                |words: &str| Some(ChangeTold { concepts: Vec::new(), cost: Some(0.1), words: words.to_owned() });
            let (repair, breaks) = match is_likeliest {
                true => (change("would hold if `b` were present"), None),
                false => (None, change("would be broken if `b` were absent")),
            };
            let concepts = vec![concept("a", true, 0.9), concept("b", false, 0.4)];
            suspicion(&RuleTold {
                rule: "one".to_owned(),
                formula: "a => b".to_owned(),
                parts: None,
                breach: Some(BreachTold { concepts, p: 0.5, is_likeliest }),
                repair,
                breaks,
                maps: Vec::new(),
                when: None,
            })
        };
        assert_eq!(
            of(true),
            "  first of all for `one`: a => b\n  broken as seen: a present, b absent\n  would hold if `b` were present\n"
        );
        assert_eq!(
            of(false),
            "  first of all for `one`: a => b\n  what is most likely seen keeps it; most likely broken with: a present, b absent\n  \
             would be broken if `b` were absent\n"
        );
    }
}
