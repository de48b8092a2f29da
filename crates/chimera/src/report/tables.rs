//! Tables of concepts and rules.

use chimera_data::metric::MacroMean;
use chimera_data::metric::bootstrap::Interval;

use super::chart::{Marks, interval_line, least_of, share_bar};
use super::html::{counted, escape, grouped, interval, name, number, signed, signed_interval, table};
use crate::eval::summary::Summary;
use crate::eval::{Evaluation, REFERENCE, RuleOf, ScoreKind};
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
    let value_of = |rule: usize, method: Method| evaluation.auroc_of(method, ScoreKind::Raw, rule);
    let values: Vec<(Option<f64>, Option<Interval>)> =
        (0..evaluation.rules.len()).map(|rule| (value_of(rule, main), evaluation.interval_of(main, rule))).collect();
    let lows = values.iter().filter_map(|(_, found)| Some((*found)?.low));
    let least = least_of(lows.chain(values.iter().filter_map(|(value, _)| *value)));
    let against = summary.method(main).and_then(|main| main.against_indep_cal.as_ref());
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for (number_of, rule) in evaluation.rules.iter().enumerate() {
        let (value, found) = values[number_of];
        let reference = value_of(number_of, REFERENCE).filter(|_| main != REFERENCE);
        let line = interval_line(&Marks {
            least,
            main: (value, found),
            reference,
            about: &format!("{}: AUROC {}", rule.name, number(value)),
        });
        let mut cells = vec![
            format!(
                "<td data-rule=\"{0}\"><span class=\"name\">{0}</span>{1}<div class=\"formula\"><code>{2}</code></div></td>",
                escape(&rule.name),
                fallback(evaluation, rule),
                escape(&rule.formula)
            ),
            cell(value, found),
            line,
        ];
        if let Some(against) = against {
            let difference = against.by_rule.get(&number_of);
            cells.push(difference.map_or_else(|| "–".to_owned(), |(difference, found)| verdict(*difference, *found)));
        }
        cells.extend([grouped(rule.positives), grouped(rule.negatives), rule.family.clone()]);
        rows.push((if rule.says_enough() { "" } else { "few" }, cells));
    }
    let mut head = vec!["rule", "AUROC, 95 %", "<th class=\"left\">drawn</th>"];
    head.extend(against.map(|_| "against indep-cal"));
    head.extend(["broken", "holds", "family"]);
    let (reference, colours) = match against {
        Some(_) => (
            ", the grey tick <code>indep-cal</code>",
            " Green and red differences have intervals that do not hold zero.",
        ),
        None => ("", ""),
    };
    let notes = notes(evaluation);
    format!(
        "<p>By <code>{}</code>{}: how well <code>1 − p</code> ranks rows that break a rule above rows that do not. The dot is the AUROC, \
         the line its interval of 95 %{reference}; the axis runs from {least:.1} to 1, chance is dashed. Pale rules have fewer than {} rows of a \
         kind.{colours}</p>\n{}{notes}{}",
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

/// Whether `neural` is independent events for a rule. Each seed decides for itself.
fn fallback(evaluation: &Evaluation, rule: &RuleOf) -> String {
    let (of, seeds) = (rule.fallback_seeds.len(), evaluation.about.seeds.len());
    if evaluation.about.main != Method::Neural || of == 0 {
        return String::new();
    }
    let at = if of < seeds { format!(" at {of} of {seeds} seeds") } else { String::new() };
    format!(" <small title=\"grafts cannot be trusted for this rule\">= indep-cal{at}</small>")
}

/// What is to be known about single rules.
fn notes(evaluation: &Evaluation) -> String {
    let mut text = String::new();
    let seeds = evaluation.about.seeds.len();
    let always = evaluation.rules.iter().filter(|rule| rule.fallback_seeds.len() == seeds).count();
    let sometimes = evaluation.rules.iter().filter(|rule| (1..seeds).contains(&rule.fallback_seeds.len())).count();
    if evaluation.about.main == Method::Neural && always + sometimes > 0 {
        let sometimes = match sometimes {
            0 => String::new(),
            _ => format!("; at some seeds alone for {}", counted(sometimes, "rule")),
        };
        text += &format!(
            "<p class=\"faint\"><code>neural</code> is <code>indep-cal</code> for {}{sometimes}: grafts cannot be trusted there.</p>\n",
            counted(always, "rule")
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
        let auroc = evaluation.auroc_of(method, ScoreKind::Raw, rule);
        let found = evaluation.interval_of(method, rule);
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
