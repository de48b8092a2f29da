//! `mine`: rules from the labels of a dataset's train rows.

mod explain;

use std::io::{self, Write};

use anyhow::bail;
use chimera::data::dataset::Dataset;
use chimera::data::promises::Promise;
use chimera::data::split::Split;
use chimera::mine::options::MineOptions;
use chimera::mine::rounding::{down, up};
use chimera::mine::{Elsewhere, Funnel, LeftOut, Meant, MinedRule, Mining};
use serde::Serialize;

use crate::Outcome;
use crate::args::MineArguments;
use crate::console::{self, Console};
use crate::ending;
use crate::table::{Align, Table, counted, grouped};

/// So many of a kind are listed in words; the file or `--json` has all.
const LISTED: usize = 3;

pub(crate) fn run(arguments: &MineArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    let out = arguments.out.as_deref();
    ending::expect(out, &["rules", "txt"])?;
    console::check_out(out, std::iter::empty(), &[&arguments.folder])?;
    explain::check_sheet(arguments)?;
    let options = arguments.options();
    options.check()?;
    let dataset = Dataset::open(&arguments.folder)?;
    let bar = console.bar("searching");
    let mining =
        chimera::mine::mine(&dataset, &options, &arguments.command(), arguments.threads.get(), &|done, total| {
            bar.set(done, total);
        })?;
    drop(bar);
    say_left_out(&mining, console);
    if let Some(rule) = &arguments.explain {
        return explain::run(arguments, &dataset, &mining, rule, console);
    }
    if mining.rules.is_empty() {
        bail!("{}", nothing(&mining, &options));
    }
    let (text, elsewhere) = (mining.to_text()?, mining.elsewhere(&dataset));
    let to_file = console::file_of(out);
    if to_file.is_some() || !arguments.json {
        console.write_out(out, &[], |out| out.write_all(text.as_bytes()))?;
    }
    if arguments.json {
        let report = Report {
            rows: mining.rows,
            rules: &mining.rules,
            elsewhere: elsewhere.iter().map(|(split, rules)| SplitReport { split: *split, rules }).collect(),
            candidates: &mining.funnel,
            meant: &mining.meant,
            skipped: &mining.skipped,
        };
        console.write_json(&report)?;
    } else if let Some(path) = to_file {
        write_table(&mining, &elsewhere, console.results())?;
        console.results().flush()?;
        console.say(format_args!("wrote {} to `{}`", counted(mining.rules.len(), "rule"), path.display()));
    } else {
        let mut table = Vec::new();
        write_table(&mining, &elsewhere, &mut table)?;
        console.say(String::from_utf8_lossy(&table).trim_end());
    }
    Ok(Outcome::Done)
}

#[derive(Serialize)]
struct Report<'a> {
    rows: [usize; 2],
    rules: &'a [MinedRule],
    elsewhere: Vec<SplitReport<'a>>,
    candidates: &'a Funnel,
    meant: &'a [Meant],
    skipped: &'a [LeftOut],
}

#[derive(Serialize)]
struct SplitReport<'a> {
    split: Split,
    rules: &'a [Elsewhere],
}

/// Concepts and candidates that had no chance, in words.
fn say_left_out(mining: &Mining, console: &Console) {
    for (name, what) in mining.constant.iter().take(LISTED) {
        console.say(format_args!(
            "no rule is about `{name}`: it {what} on the {} searched rows",
            grouped(mining.rows[0] as u64)
        ));
    }
    if mining.constant.len() > LISTED {
        console.say(format_args!(
            "no rule is about {} more, which never vary there",
            counted(mining.constant.len() - LISTED, "concept")
        ));
    }
    for promise in [Promise::Closed, Promise::Meant] {
        let meant: Vec<&Meant> = mining.meant.iter().filter(|meant| meant.promise == promise).collect();
        let listed: Vec<String> = meant.iter().take(LISTED).map(|meant| format!("`{}`", meant.formula)).collect();
        let more = if meant.len() > LISTED { format!(" and {} more", meant.len() - LISTED) } else { String::new() };
        if !listed.is_empty() {
            let reason = promise.reason();
            console.say(format_args!("left out, since {reason} (`--definitions keep`): {}{more}", listed.join(", ")));
        }
    }
    if mining.gave_up {
        console.say("there may be more rules: the choice ended, since too many candidates follow from chosen ones");
    }
    let crowded = mining.funnel.all().crowded_out;
    if crowded > 0 {
        console.say(format_args!(
            "{} were dropped for better ones while searching; `--max-candidates` makes room for more",
            counted(crowded as usize, "candidate")
        ));
    }
}

/// Why there is no rule.
fn nothing(mining: &Mining, options: &MineOptions) -> String {
    let fate = mining.funnel.all();
    let mut text = format!(
        "no rule passes: of {} on {} train rows",
        counted(fate.considered as usize, "candidate"),
        grouped(mining.rows.iter().sum::<usize>() as u64)
    );
    for (count, why) in mining.funnel.removed(options) {
        text.push_str(&format!("\n  {:>12} {why}", grouped(count)));
    }
    text.push_str(
        "\nhint: a smaller `--support` or `--confidence-pos` lets more in; more rows tell more of them from chance",
    );
    if fate.meant > 0 {
        text.push_str("\nhint: `--definitions keep` writes what can never be broken");
    }
    text
}

/// The bounds of a share.
fn interval([low, high]: [f64; 2]) -> String {
    format!("{:.4}..{:.4}", down(low), up(high))
}

fn write_table(mining: &Mining, elsewhere: &[(Split, Vec<Elsewhere>)], out: &mut dyn Write) -> io::Result<()> {
    let [searched, held_out] = mining.rows.map(|rows| grouped(rows as u64));
    writeln!(
        out,
        "{}: {} from {searched} searched and {held_out} held-out train rows",
        mining.record.dataset,
        counted(mining.rules.len(), "rule")
    )?;
    let broken: Vec<String> = elsewhere.iter().map(|(split, _)| format!("broken in {split}")).collect();
    let mut columns = vec![
        ("rule", Align::Left),
        ("support", Align::Right),
        ("confidence", Align::Right),
        ("95 % interval", Align::Right),
        ("lift", Align::Right),
        ("p", Align::Right),
        ("held out", Align::Right),
    ];
    columns.extend(broken.iter().map(|heading| (heading.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    for (number, rule) in mining.rules.iter().enumerate() {
        let mut cells = vec![
            rule.formula.clone(),
            grouped(rule.support),
            format!("{:.4}", down(rule.confidence)),
            interval(rule.interval),
            rule.lift.map_or_else(String::new, |lift| format!("{lift:.2}")),
            format!("{:.0e}", rule.p_adjusted),
            rule.held_out.map_or_else(String::new, |[kept, support]| format!("{kept}/{support}")),
        ];
        cells.extend(elsewhere.iter().map(|(_, rules)| grouped(rules[number].truth.fails)));
        table.row(cells);
    }
    table.write(out, 2)?;
    let Funnel { passed, implied, variants, surplus, .. } = mining.funnel;
    if implied + variants + surplus > 0 {
        let [implied, variants, surplus] = [implied, variants, surplus].map(grouped);
        writeln!(
            out,
            "of {} that passed all tests, {implied} follow from these, {variants} are about the same rows as one of these, and {surplus} are beyond `--max-rules`",
            counted(passed as usize, "rule"),
        )?;
    }
    for (split, rules) in elsewhere {
        let evaluable = rules.iter().filter(|rule| rule.truth.fails > 0).count();
        writeln!(
            out,
            "{} of {} can be evaluated on {split}, where rows break them",
            grouped(evaluable as u64),
            counted(rules.len(), "rule")
        )?;
    }
    Ok(())
}
