//! `chimera compare`: two reports against each other, rule by rule.

use std::io::{self, Write};

use anyhow::bail;
use chimera::eval::compare::{Comparison, Report};

use crate::Outcome;
use crate::args::CompareArguments;
use crate::console::{self, Console};
use crate::table::{Align, Table};

pub(crate) fn run(arguments: &CompareArguments, console: &mut Console) -> anyhow::Result<Outcome> {
    if !(0.0..=1.0).contains(&arguments.tolerance) {
        bail!("expected `--tolerance` from 0 to 1, got `{}`", arguments.tolerance);
    }
    let (before, after) = (Report::open(&arguments.before)?, Report::open(&arguments.after)?);
    let first = arguments.method.map_or(before.main(), |method| method.name());
    let second = arguments.with.or(arguments.method).map_or(after.main(), |method| method.name());
    let comparison = Comparison::of(&before, &after, [first, second], arguments.tolerance)?;
    if arguments.json {
        console::heard(console.write_json(&comparison))?;
    } else {
        console::heard(write_text(&comparison, console.results()))?;
    }
    if first != second && arguments.method.is_none() && arguments.with.is_none() {
        console.say(format_args!(
            "`{first}` is compared with `{second}`, of which the reports speak first; `--method` compares one method"
        ));
    }
    comparison.words.iter().for_each(|words| console.say(words));
    let regressions = comparison.differences.iter().filter(|one| one.is_regression).count();
    if regressions == 0 {
        console.say(format_args!("no regression beyond {}", arguments.tolerance));
        return Ok(Outcome::Done);
    }
    console.say(format_args!("{regressions} worse by more than {}", arguments.tolerance));
    Ok(Outcome::Findings)
}

fn write_text(comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
    let [first, second] = &comparison.methods;
    let (before, after) = (format!("before ({first})"), format!("after ({second})"));
    let mut table = Table::new(&[
        ("rule", Align::Left),
        (&before, Align::Right),
        (&after, Align::Right),
        ("difference", Align::Right),
        ("95 %", Align::Left),
        ("", Align::Left),
    ]);
    for one in &comparison.differences {
        table.row(vec![
            one.rule.clone().unwrap_or_else(|| "mean".to_owned()),
            format!("{:.4}", one.before),
            format!("{:.4}", one.after),
            format!("{:+.4}", one.difference),
            one.interval.map_or_else(|| "-".to_owned(), |found| format!("{:+.4} to {:+.4}", found.low, found.high)),
            match (one.is_regression, one.says_little) {
                (true, false) => "worse".to_owned(),
                (true, true) => "worse, few rows".to_owned(),
                (false, true) => "few rows".to_owned(),
                (false, false) => String::new(),
            },
        ]);
    }
    table.write(out, 2)
}
