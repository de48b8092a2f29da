//! What `mine` gives: a table of its rules with what speaks for each, or all of it as JSON.

use std::io::{self, Write};

use chimera_data::split::Split;
use chimera_mine::record::MiningRecord;
use chimera_mine::rounding::{down, up};
use chimera_mine::{Constant, Elsewhere, Funnel, LeftOut, Meant, MinedRule, Mining};
use serde::Serialize;

use crate::table::{Align, Table, counted, grouped};

/// What `--json` prints, with or without rules.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    /// Rows that were searched, and that were held out.
    rows: [usize; 2],
    rules: &'a [MinedRule],
    elsewhere: Vec<SplitReport<'a>>,
    candidates: &'a Funnel,
    meant: &'a [Meant],
    skipped: &'a [LeftOut],
    constant: &'a [Constant],
    gave_up: bool,
    record: &'a MiningRecord,
}

#[derive(Serialize)]
struct SplitReport<'a> {
    split: Split,
    rules: &'a [Elsewhere],
}

impl<'a> Report<'a> {
    pub(super) fn new(mining: &'a Mining, elsewhere: &'a [(Split, Vec<Elsewhere>)]) -> Self {
        Self {
            rows: mining.rows,
            rules: &mining.rules,
            elsewhere: elsewhere.iter().map(|(split, rules)| SplitReport { split: *split, rules }).collect(),
            candidates: &mining.funnel,
            meant: &mining.meant,
            skipped: &mining.skipped,
            constant: &mining.constant,
            gave_up: mining.gave_up,
            record: &mining.record,
        }
    }
}

/// The bounds of a share.
pub(super) fn interval([low, high]: [f64; 2]) -> String {
    format!("{:.4}..{:.4}", down(low), up(high))
}

pub(super) fn write_table(
    mining: &Mining,
    elsewhere: &[(Split, Vec<Elsewhere>)],
    out: &mut dyn Write,
) -> io::Result<()> {
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
        ("adjusted p", Align::Right),
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
