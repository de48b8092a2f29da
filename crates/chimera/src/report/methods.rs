//! Methods side by side: their table, bars by family, and samples as a whole.

use chimera_data::metric::bootstrap::Interval;

use super::chart::{Bar, bars, least_of};
use super::html::{chance, counted, escape, grouped, interval, name, number, table};
use super::tables::verdict;
use crate::eval::against::Against;
use crate::eval::summary::{Ceiling, GroupSummary, Spread, Summary, common_to, group_summary};
use crate::eval::{Evaluation, MethodOf, REFERENCE, ScoreKind};
use crate::score::aggregate::Aggregation;
use crate::score::method::Method;

pub(super) fn methods(evaluation: &Evaluation, summary: &Summary<'_>) -> String {
    let about = &evaluation.about;
    let spread = |spread: Spread| match spread.std {
        Some(std) => format!("{} <small>± {std:.3}</small>", number(spread.mean)),
        None => number(spread.mean),
    };
    let is_compared = summary.methods.values().any(|found| found.against_indep_cal.is_some());
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for of in evaluation.present() {
        let Some(found) = summary.method(of.method) else { continue };
        let against = found.against_indep_cal.as_ref();
        let seen = of.fitted_on.map_or_else(String::new, |fitted_on| {
            let bound = match summary.ceiling(of.method) {
                Some(Ceiling::Holds) => "; an upper bound here".to_owned(),
                Some(Ceiling::Exceeded { by, mean }) => format!("; no upper bound here, {by} has {mean:.3}"),
                None => String::new(),
            };
            format!(" <small>has learned from violations: {}{bound}</small>", about.seen_violations(fitted_on))
        });
        let means = summary.means(found);
        let gated = match summary.common_rules {
            0 => found.gated.auroc,
            _ => group_summary(evaluation, of.method, ScoreKind::Gated, &summary.common).auroc,
        };
        let mut cells = vec![
            format!("{}{seen}", name(of.method.name())),
            format!("{} <small>{}</small>", spread(means.auroc), interval_of(means)),
            spread(means.ap),
            spread(means.fpr95),
            spread(gated),
        ];
        if is_compared {
            cells.push(against.map_or_else(|| "–".to_owned(), |a| difference_of(a, means)));
            cells.push(
                against
                    .map_or_else(String::new, |a| format!("{} / {} / {}", a.tally.wins, a.tally.ties, a.tally.losses)),
            );
            cells.push(against.map_or_else(String::new, |against| chance(against.p)));
        }
        cells.push(rules_of(&found.all));
        rows.push((if of.method == about.main { "main" } else { "" }, cells));
    }
    let mut head = vec!["method", "AUROC, 95 %", "AP", "FPR at 95 % TPR", "AUROC gated"];
    if is_compared {
        head.extend(["against indep-cal", "won / tied / lost", "p"]);
    }
    head.push("rules told");
    let compared = if is_compared {
        " Differences are on rules that both tell; p is the signed-rank test over them. A rule is won or lost where the interval of its \
         difference does not hold zero."
    } else {
        ""
    };
    let mut text = format!(
        "<p>Means over {}{}. Intervals{} come from the same {} draws of test rows{}.{compared} \
         Gated scores weigh an implication by its antecedent, as <code>chimera score</code> does.</p>\n",
        match summary.means_over() {
            Some(_) if summary.common_rules == 0 =>
                "the rules that each method tells (none is told by all, so they cannot be compared)".to_owned(),
            Some(_) => format!("the {} of {} rules that all methods tell", summary.common_rules, summary.rules.len()),
            None => "rules".to_owned(),
        },
        if about.seeds.len() > 1 { format!(" and {} seeds", about.seeds.len()) } else { String::new() },
        if is_compared { " and differences" } else { "" },
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

/// The difference from independent events, with its rules where these are not those of the mean beside it.
fn difference_of(against: &Against, means: &GroupSummary) -> String {
    let (difference, rules) = against.shown();
    let over = if rules == means.rules { String::new() } else { format!("<br>over {}", counted(rules, "rule")) };
    format!("{}{over}", verdict(difference, against.interval))
}

fn rules_of(group: &GroupSummary) -> String {
    match group.undefined {
        0 => group.rules.to_string(),
        _ => format!("{} <small>of {}</small>", group.rules, group.rules + group.undefined),
    }
}

/// The interval of a mean; where it is over fewer rules than the mean, with the mean over these.
fn interval_of(group: &GroupSummary) -> String {
    let around = match group.interval_mean.filter(|_| group.interval_rules < group.rules) {
        Some(mean) => format!("<br>around {mean:.3} over {}", counted(group.interval_rules, "rule")),
        None => String::new(),
    };
    format!("{}{around}", interval(group.interval))
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

/// Bars of all methods over the same rules, with whiskers: those that every method tells with an interval. Where there are none,
/// those that every method tells, or each has its own, without whiskers.
pub(super) fn all_rules(evaluation: &Evaluation, summary: &Summary<'_>) -> (String, String) {
    let rules = evaluation.rules.len();
    let common = with_intervals(evaluation, &summary.common);
    let over = match common.len() {
        0 if summary.common_rules == 0 => "mean over the rules that each tells".to_owned(),
        0 => format!("mean over the {} of {} that all methods tell", summary.common_rules, counted(rules, "rule")),
        some if some == rules => format!("mean over {}", counted(rules, "rule")),
        some => format!("mean over the {some} of {} that all methods tell with an interval", counted(rules, "rule")),
    };
    chart(evaluation, format!("AUROC on {}, {over}", evaluation.about.dataset), &|method| match common.len() {
        0 => Some((summary.means(summary.method(method)?).auroc.mean, None)),
        _ => Some(drawn(&group_summary(evaluation, method, ScoreKind::Raw, &common))),
    })
}

/// Those of the rules that have an interval by every method.
fn with_intervals(evaluation: &Evaluation, rules: &[usize]) -> Vec<usize> {
    common_to(evaluation, rules.iter().copied(), &|method, rule| evaluation.tells(method, ScoreKind::Raw, rule))
}

/// A mean and its interval, which are over the same rules.
fn drawn(group: &GroupSummary) -> (Option<f64>, Option<Interval>) {
    (group.auroc.mean, group.interval)
}

/// Bars of all methods: all rules, each family, samples as a whole.
pub(super) fn charts(evaluation: &Evaluation, summary: &Summary<'_>) -> Vec<(String, String)> {
    let mut charts = vec![all_rules(evaluation, summary)];
    let families = evaluation.families();
    for family in families.iter().filter(|_| families.len() > 1) {
        let all = evaluation.rules.iter().filter(|rule| rule.family == **family).count();
        let of_family: Vec<usize> =
            summary.common.iter().copied().filter(|&rule| evaluation.rules[rule].family == **family).collect();
        let common = with_intervals(evaluation, &of_family);
        let over = match common.len() {
            0 => format!("{} by those that tell them", counted(all, "rule")),
            some if some == all => counted(all, "rule"),
            some => format!("{some} of {} that all methods tell with an interval", counted(all, "rule")),
        };
        charts.push(chart(evaluation, format!("Family {family}, {over}"), &|method| {
            if common.is_empty() {
                return Some((summary.method(method)?.families.get(*family)?.auroc.mean, None));
            }
            Some(drawn(&group_summary(evaluation, method, ScoreKind::Raw, &common)))
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
