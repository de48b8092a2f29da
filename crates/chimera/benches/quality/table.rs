//! What is told: a table a setting and one a world, aligned for the console and as Markdown alike, and everything as
//! CSV.

use std::fmt::Write;

use chimera_data::metric::MacroMean;

use super::compare::{Difference, Measured, difference, mean, share};
use super::world::World;

/// What all methods are compared with.
const PLAIN: &str = "indep-cal";
/// What has seen violations.
const CEILING: &str = "oracle";
/// The first is compared with the second, too.
const RIVALS: (&str, &str) = ("neural", "chimera");

/// Everything about a world.
pub(crate) fn of_world(world: &World, measured: &[Measured]) -> String {
    let datasets: Vec<&Measured> = measured.iter().filter(|dataset| dataset.world == world.name).collect();
    let mut text = format!("## {}\n\n{}.\n", world.name, world.about);
    let is_skipped = |name: &&str| !datasets.iter().any(|dataset| dataset.setting == *name);
    let skipped: Vec<&str> = world.settings.iter().map(|setting| setting.name).filter(is_skipped).collect();
    if !skipped.is_empty() {
        let settings = skipped.join(", ");
        text += &format!("\nSkipped, since `CHIMERA_DATA` does not name a folder with `mnist`: {settings}.\n");
    }
    if datasets.is_empty() {
        return text;
    }
    let by_setting: Vec<(&str, Vec<&Measured>)> = world
        .settings
        .iter()
        .map(|setting| (setting.name, datasets.iter().copied().filter(|d| d.setting == setting.name).collect()))
        .filter(|(_, datasets): &(_, Vec<_>)| !datasets.is_empty())
        .collect();
    text += "\nMean AUROC over rules and seeds:\n\n";
    text += &overview(&by_setting);
    for (name, datasets) in &by_setting {
        text += &format!("\n### {name}\n\n{}{}", compared(datasets), told(datasets));
    }
    text += &format!("\n### All settings\n\n{}", compared(&datasets));
    text += "\nSeconds in the mean over seeds:\n\n";
    text + &seconds(&by_setting)
}

fn names<'a>(datasets: &[&'a Measured]) -> Vec<&'a str> {
    datasets[0].methods.iter().map(|method| method.name.as_str()).collect()
}

/// Methods by settings.
fn overview(by_setting: &[(&str, Vec<&Measured>)]) -> String {
    let head = ["method"].into_iter().chain(by_setting.iter().map(|(name, _)| *name));
    let row = |method: &str| {
        let means = by_setting.iter().map(|(_, datasets)| number(mean(datasets, method)));
        std::iter::once(method.to_owned()).chain(means).collect()
    };
    aligned(&head.collect::<Vec<_>>(), &names(&by_setting[0].1).into_iter().map(row).collect::<Vec<_>>())
}

/// Methods against others.
fn compared(datasets: &[&Measured]) -> String {
    let row = |method: &str| {
        vec![
            method.to_owned(),
            number(mean(datasets, method)),
            interval(difference(datasets, method, PLAIN).filter(|_| method != PLAIN)),
            share(datasets, method, (PLAIN, CEILING)).map_or_else(dash, |share| format!("{:.0} %", 100.0 * share)),
        ]
    };
    let (against, way) = (format!("against {PLAIN}, 95 %"), format!("of the way to {CEILING}"));
    let mut text =
        aligned(&["method", "AUROC", &against, &way], &names(datasets).into_iter().map(row).collect::<Vec<_>>());
    if let Some(difference) = difference(datasets, RIVALS.0, RIVALS.1) {
        let _ = write!(text, "\n{} against {}: {}.\n", RIVALS.0, RIVALS.1, interval(Some(difference)));
    }
    text
}

/// What the numbers of a setting are means of.
fn told(datasets: &[&Measured]) -> String {
    let undefined: Vec<String> = datasets
        .iter()
        .flat_map(|dataset| dataset.rules.iter().map(move |rule| (dataset.seed, rule)))
        .filter(|(_, rule)| !rule.is_defined)
        .map(|(seed, rule)| format!("{} (seed {seed}, {} violations)", rule.name, rule.violations))
        .collect();
    let rules: usize = datasets.iter().map(|dataset| dataset.rules.len()).sum();
    let named = if undefined.is_empty() { String::new() } else { format!(": {}", undefined.join(", ")) };
    let concepts = MacroMean::of(datasets.iter().map(|dataset| dataset.concepts)).mean;
    let (seeds, undefined, concepts) = (datasets.len(), undefined.len(), number(concepts));
    format!(
        "\nSeeds: {seeds}. Rules times seeds: {rules}, undefined {undefined}{named}. AUROC of concepts: {concepts}.\n"
    ) + &untold(datasets)
}

/// Rules that a method cannot tell although others can.
fn untold(datasets: &[&Measured]) -> String {
    let mut text = String::new();
    for dataset in datasets {
        for method in &dataset.methods {
            let rules = dataset.rules.iter().zip(&method.aurocs);
            let untold: Vec<&str> = rules
                .filter(|(rule, auroc)| rule.is_defined && auroc.is_none())
                .map(|(rule, _)| rule.name.as_str())
                .collect();
            if !untold.is_empty() {
                let _ = writeln!(text, "\n{} cannot tell {} (seed {}).", method.name, untold.join(", "), dataset.seed);
            }
        }
    }
    text
}

/// What takes how long, by settings.
fn seconds(by_setting: &[(&str, Vec<&Measured>)]) -> String {
    let head = ["what"].into_iter().chain(by_setting.iter().map(|(name, _)| *name));
    let took = |dataset: &Measured, what: &str| {
        dataset.seconds.iter().find(|(name, _)| name == what).map_or(0.0, |(_, seconds)| *seconds)
    };
    let row = |name: &str, seconds: &dyn Fn(&Measured) -> f64| {
        let of = |datasets: &[&Measured]| datasets.iter().map(|d| seconds(d)).sum::<f64>() / datasets.len() as f64;
        let cells = by_setting.iter().map(|(_, datasets)| format!("{:.1}", of(datasets)));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> =
        by_setting[0].1[0].seconds.iter().map(|(what, _)| row(what, &|dataset| took(dataset, what))).collect();
    rows.push(row("all", &|dataset| dataset.seconds.iter().map(|(_, seconds)| seconds).sum()));
    aligned(&head.collect::<Vec<_>>(), &rows)
}

/// Every AUROC, a line each; empty where it is undefined.
pub(crate) fn csv(measured: &[Measured]) -> String {
    let mut text = String::from("world,setting,seed,rule,family,method,violations,auroc\n");
    for dataset in measured {
        for method in &dataset.methods {
            for (rule, auroc) in dataset.rules.iter().zip(&method.aurocs) {
                let auroc = auroc.as_ref().map(|auroc| format!("{:.6}", auroc.auroc)).unwrap_or_default();
                let (name, family, violations) = (&rule.name, &rule.family, rule.violations);
                let (world, setting, seed) = (dataset.world, dataset.setting, dataset.seed);
                let method = &method.name;
                let _ = writeln!(text, "{world},{setting},{seed},{name},{family},{method},{violations},{auroc}");
            }
        }
    }
    text
}

fn dash() -> String {
    "-".to_owned()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(dash, |value| format!("{value:.4}"))
}

fn interval(difference: Option<Difference>) -> String {
    difference.map_or_else(dash, |Difference { mean, low, high }| format!("{mean:+.4} [{low:+.4}, {high:+.4}]"))
}

/// A table in Markdown whose columns are aligned, the first to the left.
fn aligned(head: &[&str], rows: &[Vec<String>]) -> String {
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|column| rows.iter().chain([&head]).map(|row| row[column].chars().count()).max().unwrap_or(0).max(3))
        .collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!(" {cell:<width$} "),
            _ => format!(" {cell:>width$} "),
        });
        format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
    };
    let rule = widths.iter().enumerate().map(|(column, &width)| match column {
        0 => "-".repeat(width + 2),
        _ => "-".repeat(width + 1) + ":",
    });
    let rule = format!("|{}|\n", rule.collect::<Vec<_>>().join("|"));
    line(&head) + &rule + &rows.iter().map(|row| line(row)).collect::<String>()
}
