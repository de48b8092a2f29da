//! Tables of concepts and rules.

use super::chart::{Marks, interval_line, least_of, share_bar};
use super::html::{counted, escape, grouped, interval, name, number, signed, signed_interval, table};
use crate::eval::summary::{Summary, averaged};
use crate::eval::{Evaluation, REFERENCE, RuleOf, ScoreKind};
use crate::metric::MacroMean;
use crate::metric::bootstrap::Interval;
use crate::score::method::Method;

/// Longer tables begin folded.
const LONG: usize = 60;

fn folded(rows: usize, what: &str, content: String) -> String {
    if rows > LONG { format!("<details><summary>All {rows} {what}</summary>\n{content}</details>\n") } else { content }
}

pub(super) fn concepts(evaluation: &Evaluation) -> String {
    let leaves = &evaluation.leaves;
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for row in &leaves.rows {
        let bar = share_bar(row.auroc, 0.5, &format!("AUROC of {}: {}", row.concept, number(row.auroc)));
        rows.push((
            if row.positives < crate::eval::FEW { "few" } else { "" },
            vec![
                name(&row.concept),
                format!("<td data-auroc=\"{}\">{}</td>", exact(row.auroc), number(row.auroc)),
                bar,
                number(row.ap),
                number(row.accuracy),
                number(row.prevalence),
                grouped(row.positives),
            ],
        ));
    }
    let means = leaves.means();
    let mean = |mean: MacroMean| match mean.undefined {
        0 => number(mean.mean),
        _ => format!("{} <small>of {}</small>", number(mean.mean), mean.defined),
    };
    rows.push((
        "total",
        vec![
            "mean".to_owned(),
            mean(means.auroc),
            String::new(),
            mean(means.ap),
            mean(means.accuracy),
            mean(means.prevalence),
            String::new(),
        ],
    ));
    let head = ["concept", "AUROC", "<th class=\"left\">0.5 to 1</th>", "AP", "accuracy", "prevalence", "positives"];
    format!(
        "<p>How well the leaf bank recognises each concept on the test rows. Rules cannot be told better than their concepts allow.</p>\n{}",
        folded(leaves.rows.len(), "concepts", table(&head, &rows))
    )
}

/// All digits, as in `rules.csv`; empty where undefined.
fn exact(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

pub(super) fn rules(evaluation: &Evaluation, summary: &Summary<'_>) -> String {
    let main = evaluation.about.main;
    let values: Vec<Option<(f64, Vec<f32>)>> =
        (0..evaluation.rules.len()).map(|rule| averaged(evaluation, main, ScoreKind::Raw, rule)).collect();
    let lows = values.iter().flatten().filter_map(|(_, again)| Interval::of(again)).map(|found| found.low);
    let least = least_of(lows.chain(values.iter().flatten().map(|(value, _)| *value)));
    let against = summary.method(main).and_then(|main| main.against_indep_cal.as_ref());
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for (number_of, rule) in evaluation.rules.iter().enumerate() {
        let value = values[number_of].as_ref().map(|(value, _)| *value);
        let found = interval_of(rule, values[number_of].as_ref());
        let reference = averaged(evaluation, REFERENCE, ScoreKind::Raw, number_of).map(|(value, _)| value);
        let reference = reference.filter(|_| main != REFERENCE);
        let line = interval_line(&Marks {
            least,
            main: (value, found),
            reference,
            about: &format!("{}: AUROC {}", rule.name, number(value)),
        });
        let difference = against.and_then(|against| against.by_rule.get(&number_of));
        rows.push((
            if rule.says_enough() { "" } else { "few" },
            vec![
                format!(
                    "<td data-rule=\"{0}\"><span class=\"name\">{0}</span>{1}<div class=\"formula\"><code>{2}</code></div></td>",
                    escape(&rule.name),
                    fallback(rule),
                    escape(&rule.formula)
                ),
                cell(value, found),
                line,
                difference.map_or_else(|| "–".to_owned(), |(difference, found)| verdict(*difference, *found)),
                grouped(rule.positives),
                grouped(rule.negatives),
                rule.family.clone(),
            ],
        ));
    }
    let head =
        ["rule", "AUROC, 95 %", "<th class=\"left\">drawn</th>", "against indep-cal", "broken", "holds", "family"];
    let reference = if main == REFERENCE { "" } else { ", the grey tick <code>indep-cal</code>" };
    let notes = notes(evaluation);
    format!(
        "<p>By <code>{}</code>{}: how well <code>1 − p</code> ranks rows that break a rule above rows that do not. The dot is the AUROC, \
         the line its interval of 95 %{reference}; the axis runs from {least:.1} to 1, chance is dashed. Pale rules have fewer than {} rows of a \
         kind. Green and red differences have intervals that do not hold zero.</p>\n{}{notes}{}",
        main.name(),
        if evaluation.about.seeds.len() > 1 {
            format!(", mean over {} seeds", evaluation.about.seeds.len())
        } else {
            String::new()
        },
        crate::eval::FEW,
        folded(evaluation.rules.len(), "rules", table(&head, &rows)),
        all_methods(evaluation)
    )
}

fn interval_of(rule: &RuleOf, value: Option<&(f64, Vec<f32>)>) -> Option<Interval> {
    value.filter(|_| rule.positives > 1 && rule.negatives > 1).and_then(|(_, again)| Interval::of(again))
}

fn cell(value: Option<f64>, found: Option<Interval>) -> String {
    let (low, high) = (exact(found.map(|found| found.low)), exact(found.map(|found| found.high)));
    format!(
        "<td data-auroc=\"{}\" data-lo=\"{low}\" data-hi=\"{high}\">{} <small>{}</small></td>",
        exact(value),
        number(value),
        interval(found)
    )
}

/// A difference, green or red where its interval does not hold zero.
pub(super) fn verdict(difference: f64, found: Option<Interval>) -> String {
    let class = match found {
        Some(found) if found.low > 0.0 => "win",
        Some(found) if found.high < 0.0 => "loss",
        _ => "faint",
    };
    format!("<span class=\"{class}\">{}</span> <small>{}</small>", signed(difference), signed_interval(found))
}

fn fallback(rule: &RuleOf) -> &'static str {
    if rule.fallback.is_some() {
        " <small title=\"grafts cannot be trusted for this rule\">= indep-cal</small>"
    } else {
        ""
    }
}

/// What is to be known about single rules.
fn notes(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let fallbacks = evaluation.rules.iter().filter(|rule| rule.fallback.is_some()).count();
    if evaluation.about.main == Method::Neural && fallbacks > 0 {
        text += &format!(
            "<p class=\"faint\"><code>neural</code> is <code>indep-cal</code> for {}: grafts cannot be trusted there.</p>\n",
            counted(fallbacks, "rule")
        );
    }
    let unknown: u64 = evaluation.rules.iter().map(|rule| rule.unknown).sum();
    let beyond: u64 = evaluation.rules.iter().map(|rule| rule.out_of_vocabulary).sum();
    if unknown + beyond > 0 {
        text += &format!(
            "<p class=\"faint\">Not judged, over all rules: {} rows whose labels leave a rule open, {} rows on which an antecedent is absent \
             in the labels alone (a kind of it that is no concept is there).</p>\n",
            grouped(unknown),
            grouped(beyond)
        );
    }
    text
}

/// Every rule by every method.
fn all_methods(evaluation: &Evaluation) -> String {
    let methods: Vec<Method> = evaluation.present().map(|method| method.method).collect();
    let mut head = vec!["rule"];
    head.extend(methods.iter().map(|method| method.name()));
    let of = |rule: usize, method: Method| {
        let value = averaged(evaluation, method, ScoreKind::Raw, rule);
        let found = interval_of(&evaluation.rules[rule], value.as_ref());
        let auroc = value.as_ref().map(|(value, _)| *value);
        let (low, high) = (exact(found.map(|found| found.low)), exact(found.map(|found| found.high)));
        format!(
            "<td data-method=\"{}\" data-auroc=\"{}\" data-lo=\"{low}\" data-hi=\"{high}\" title=\"{}\">{}</td>",
            method.name(),
            exact(auroc),
            interval(found),
            number(auroc)
        )
    };
    let rows: Vec<(&str, Vec<String>)> = (0..evaluation.rules.len())
        .map(|rule| {
            let first = format!(
                "<td data-all=\"{0}\"><span class=\"name\">{0}</span></td>",
                escape(&evaluation.rules[rule].name)
            );
            ("", std::iter::once(first).chain(methods.iter().map(|&method| of(rule, method))).collect())
        })
        .collect();
    format!("<details><summary>AUROC of every rule by every method</summary>\n{}</details>\n", table(&head, &rows))
}
