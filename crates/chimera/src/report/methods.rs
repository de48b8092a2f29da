//! Methods side by side: their table, bars by family, and samples as a whole.

use super::chart::{Bar, bars, least_of};
use super::html::{chance, counted, escape, grouped, interval, name, number, table};
use super::tables::verdict;
use crate::eval::summary::{GroupSummary, Spread, Summary};
use crate::eval::{Evaluation, MethodOf, REFERENCE};
use crate::metric::bootstrap::Interval;
use crate::score::aggregate::Aggregation;
use crate::score::method::Method;

pub(super) fn methods(evaluation: &Evaluation, summary: &Summary<'_>) -> String {
    let about = &evaluation.about;
    let spread = |spread: Spread| match spread.std {
        Some(std) => format!("{} <small>± {std:.3}</small>", number(spread.mean)),
        None => number(spread.mean),
    };
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for of in evaluation.present() {
        let Some(found) = summary.method(of.method) else { continue };
        let against = found.against_indep_cal.as_ref();
        let seen = of.fitted_on.map_or_else(String::new, |fitted_on| {
            format!(" <small>has seen violations: {}</small>", about.seen_violations(fitted_on))
        });
        rows.push((
            if of.method == about.main { "main" } else { "" },
            vec![
                format!("{}{seen}", name(of.method.name())),
                format!("{} <small>{}</small>", spread(found.all.auroc), interval(found.all.interval)),
                spread(found.all.ap),
                spread(found.all.fpr95),
                spread(found.gated.auroc),
                against.map_or_else(|| "–".to_owned(), |against| verdict(against.difference, against.interval)),
                against
                    .map_or_else(String::new, |a| format!("{} / {} / {}", a.tally.wins, a.tally.ties, a.tally.losses)),
                against.map_or_else(String::new, |against| chance(against.p)),
                rules_of(&found.all),
            ],
        ));
    }
    let head = [
        "method",
        "AUROC, 95 %",
        "AP",
        "FPR at 95 % TPR",
        "AUROC gated",
        "against indep-cal",
        "won / tied / lost",
        "p",
        "rules",
    ];
    let mut text = format!(
        "<p>Means over rules{}. Intervals and differences come from the same {} draws of test rows{}; p is the signed-rank test over rules. \
         A rule is won or lost where the interval of its difference does not hold zero. Gated scores weigh an implication by its antecedent, as <code>chimera score</code> does.</p>\n",
        if about.seeds.len() > 1 { format!(" and {} seeds", about.seeds.len()) } else { String::new() },
        grouped(about.resamples),
        if about.by_group { ", group by group" } else { "" }
    );
    text += &table(&head, &rows);
    text += "<div class=\"wide\">\n";
    for (title, svg) in charts(evaluation, summary) {
        text += &format!("<div class=\"card\"><h4>{}</h4>{svg}</div>\n", escape(&title));
    }
    text += "</div>\n";
    text + &samples(evaluation, summary)
}

fn rules_of(group: &GroupSummary) -> String {
    let mut text = match group.undefined {
        0 => group.rules.to_string(),
        _ => format!("{} <small>of {}</small>", group.rules, group.rules + group.undefined),
    };
    if group.interval_rules < group.rules {
        text += &format!(" <small>({} in the interval)</small>", group.interval_rules);
    }
    text
}

/// The colour of a method: the one that is spoken of, what it is compared with, the ceiling, others.
fn colour_of(evaluation: &Evaluation, method: Method) -> &'static str {
    match method {
        Method::Oracle => "ceiling",
        method if method == evaluation.about.main => "main",
        REFERENCE => "reference",
        _ => "other",
    }
}

/// What a method has in a drawing: a number with its interval, or nothing.
type Drawn<'a> = &'a dyn Fn(Method) -> Option<(Option<f64>, Option<Interval>)>;

/// Bars of all methods.
fn chart(evaluation: &Evaluation, title: String, of: Drawn<'_>) -> (String, String) {
    let found: Vec<Bar> = evaluation
        .present()
        .filter_map(|&MethodOf { method, .. }| {
            let (value, interval) = of(method)?;
            Some(Bar { name: method.name().to_owned(), value, interval, colour: colour_of(evaluation, method) })
        })
        .collect();
    let least = least_of(found.iter().filter_map(|bar| bar.interval.map(|found| found.low).or(bar.value)));
    let svg = bars(&found, least, &title);
    (title, svg)
}

/// Bars of all methods over all rules of the dataset.
pub(super) fn all_rules(evaluation: &Evaluation, summary: &Summary<'_>) -> (String, String) {
    let title = format!("AUROC on {}, mean over rules", evaluation.about.dataset);
    chart(evaluation, title, &|method| {
        let all = &summary.method(method)?.all;
        Some((all.auroc.mean, all.interval))
    })
}

/// Bars of all methods: all rules, each family, samples as a whole.
pub(super) fn charts(evaluation: &Evaluation, summary: &Summary<'_>) -> Vec<(String, String)> {
    let mut charts = vec![all_rules(evaluation, summary)];
    let families = evaluation.families();
    for family in families.iter().filter(|_| families.len() > 1) {
        let count = evaluation.rules.iter().filter(|rule| rule.family == **family).count();
        charts.push(chart(evaluation, format!("Family {family}, {}", counted(count, "rule")), &|method| {
            let group = summary.method(method)?.families.get(*family)?;
            Some((group.auroc.mean, group.interval))
        }));
    }
    for way in [Aggregation::Max, Aggregation::Min] {
        charts.push(chart(evaluation, format!("Samples that break any rule, by {}", way.name()), &|method| {
            let found = summary.method(method)?.consistency_anomaly.get(way.name())?;
            Some((found.auroc.mean, found.interval))
        }));
    }
    charts
}

/// Samples as a whole: every method by every aggregation.
fn samples(evaluation: &Evaluation, summary: &Summary<'_>) -> String {
    let ways: Vec<&str> = Aggregation::ALL
        .iter()
        .map(|(name, _)| *name)
        .filter(|way| summary.methods.values().any(|method| method.consistency_anomaly.contains_key(way)))
        .collect();
    let mut head = vec!["method"];
    head.extend(&ways);
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for of in evaluation.present() {
        let Some(found) = summary.method(of.method) else { continue };
        let value = |way: &&str| match found.consistency_anomaly.get(way) {
            Some(found) => format!("{} <small>{}</small>", number(found.auroc.mean), interval(found.interval)),
            None => "–".to_owned(),
        };
        let class = if of.method == evaluation.about.main { "main" } else { "" };
        rows.push((class, std::iter::once(name(of.method.name())).chain(ways.iter().map(value)).collect()));
    }
    let seen = summary.learned_supervised_on.map_or_else(String::new, |fitted_on| {
        let how = evaluation.about.seen_violations(fitted_on);
        format!(" <code>learned-supervised</code> has seen violations: {how}.")
    });
    format!(
        "<h3>Samples as a whole</h3>\n<p>A sample is an anomaly where it breaks any rule (Y = 1 − min T), and normal where it is known to break none. AUROC of its one \
         number, for each way to it.{seen}</p>\n{}",
        table(&head, &rows)
    )
}
