//! `why.html`: one page about one sample, which needs nothing else and asks nobody. Drawings are SVG of our own, pictures are in the page
//! once; its only script is that of the what-if switches.

mod pictures;
mod rows;
mod rules;
#[cfg(test)]
mod tests;
mod what_if;
mod when;

use chimera_logic::rules::RuleSet;

pub use self::pictures::Pictures;
use self::rows::Rows;
use super::explainer::Explained;
use super::told::{Explanation, Standing};
use crate::report::document;
use crate::report::html::{counted, escape, grouped, name, number};

const STYLE: &str = include_str!("why.css");

/// Rows of a table; `--json` has all.
const MOST_ROWS: usize = 500;

/// The whole page.
#[must_use]
pub fn page(explained: &Explained<'_>, rule_set: &RuleSet, pictures: &Pictures) -> String {
    let told = &explained.told;
    let mut page = first(told);
    page += &pictures.strip(told);
    for (at, (rule, &number)) in told.rules.iter().zip(&explained.rules).enumerate() {
        let anchor = format!("rule{at}");
        page += &format!(
            "<h2 id=\"{anchor}\">{} <small class=\"name\">{}</small></h2>\n",
            name(&rule.rule),
            escape(&rule.formula)
        );
        page += &rules::told(rule, standing(told, &rule.rule));
        page += &pictures.maps(told, rule);
        page += &when::chart(rule, standing(told, &rule.rule));
        page += &rules::drawing(rule_set, number, &explained.parts);
        page += &rules::parts(rule);
    }
    page += "<h2 id=\"rules\">All rules</h2>\n";
    page += &rules::standings(told);
    page += "<h2 id=\"what-if\">What if</h2>\n";
    let rows = Rows::of(told, rule_set);
    page += &what_if::switches(told, rule_set, &rows);
    page += "<h2 id=\"concepts\">Concepts</h2>\n";
    page += &rules::concepts(told, &rows);
    page += &fine_print(told);
    document(&format!("{}: why", told.id), &format!("{STYLE}{}", pictures.style()), &page)
}

fn standing<'t>(told: &'t Explanation, rule: &str) -> Option<&'t Standing> {
    told.standings.iter().find(|standing| standing.rule == rule)
}

/// The first screen: the answer in a sentence.
fn first(told: &Explanation) -> String {
    let verdict = match (told.flagged, told.unknown.as_deref()) {
        (Some(true), _) => flagged_words(told),
        (Some(false), _) => "<b class=\"win\">Not flagged</b>".to_owned(),
        (None, why) => format!("<b>Flagged or not is unknown</b>: {}", escape(why.unwrap_or_default())),
    };
    let why = told.rules.first().map_or_else(String::new, |rule| {
        let standing = standing(told, &rule.rule);
        let (lead, is_flagged) = lead(told, standing);
        let p = standing.and_then(|standing| standing.p);
        let repair = rule.repair.as_ref().filter(|_| is_flagged);
        let mend = repair.map_or_else(String::new, |repair| format!(" It {}.", code(&repair.words)));
        format!(" {lead} {}, which holds with probability {}.{mend}", name(&rule.rule), number(p))
    });
    let links: Vec<String> = told
        .rules
        .iter()
        .enumerate()
        .map(|(at, rule)| format!("<a href=\"#rule{at}\">{}</a>", escape(&rule.rule)))
        .chain(
            [("rules", "all rules"), ("what-if", "what if"), ("concepts", "concepts")]
                .map(|(anchor, words)| format!("<a href=\"#{anchor}\">{words}</a>")),
        )
        .collect();
    format!(
        "<h1>{}</h1>\n<p class=\"answer\">{verdict}.{why}</p>\n<div class=\"figures\"><div class=\"figure\"><b>{}</b><span>anomaly (<code>{}</code> over rules)</span></div>{}<div \
         class=\"figure\"><b>{}</b><span>that it is flagged for, of {}</span></div></div>\n<nav>{}</nav>\n",
        escape(&told.id),
        number(told.anomaly),
        told.aggregation,
        threshold_figure(told),
        told.standings.iter().filter(|standing| standing.is_flagged()).count(),
        counted(told.standings.len(), "rule"),
        links.join("\n"),
    )
}

/// Says that the sample is flagged, and for which rule where the page is about another one.
fn flagged_words(told: &Explanation) -> String {
    let is_shown = |standing: &Standing| told.rules.first().is_some_and(|rule| rule.rule == standing.rule);
    let mut flagged = told.standings.iter().filter(|standing| standing.is_flagged());
    let worst = flagged.clone().next().filter(|_| !flagged.any(is_shown));
    let what = worst.map_or_else(String::new, |worst| format!(" for {}", name(&worst.rule)));
    format!("<b class=\"loss\">Flagged</b>{what}")
}

/// The beginning of the sentence about a rule, and whether the sample is flagged for it.
fn lead(told: &Explanation, standing: Option<&Standing>) -> (&'static str, bool) {
    let is_worst = standing.zip(told.standings.first()).is_some_and(|(one, worst)| one.rule == worst.rule);
    match standing {
        Some(standing) if standing.is_flagged() => ("It breaks", true),
        _ if is_worst => ("Its worst rule is", false),
        Some(standing) if standing.flagged.is_none() => ("It is unknown whether it is flagged for", false),
        _ => ("It is not flagged for", false),
    }
}

/// The threshold of the whole sample, or what takes its place.
fn threshold_figure(told: &Explanation) -> String {
    let words = match (told.flag, told.threshold) {
        ("global", Some(_)) => format!("threshold: at most {} of normal samples are above it", percent(told.fpr)),
        ("global", None) => "no threshold".to_owned(),
        ("per-rule", _) => {
            format!("each rule has its own threshold: at most {} of normal samples are above it", percent(told.fpr))
        }
        _ => format!("rules are judged together: at most {} of those flagged wrongly, in the mean", percent(told.fpr)),
    };
    format!("<div class=\"figure\"><b>{}</b><span>{words}</span></div>", number(told.threshold))
}

fn fine_print(told: &Explanation) -> String {
    format!(
        "<div class=\"note\"><p>Probabilities are by <code>{}</code> of the model <code>{}</code>; thresholds come from {} that break no rule. \
         Breaches, repairs and what-if count exactly over these probabilities of concepts, taken as independent. Evidence is how much \
         less is seen of the concepts that break a rule when a part of the picture is covered: it shows what the model looks at, which need not be what matters. These are statistical judgements; \
         look for yourself before you act on one.</p></div>\n",
        told.method,
        escape(&told.model),
        counted(told.normal_samples, "calibration sample"),
    )
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 1e4).round() / 100.0)
}

/// What is said under a table that has not all rows.
fn cut(all: usize, which: &str) -> String {
    if all <= MOST_ROWS {
        return String::new();
    }
    format!(
        "<p class=\"faint\">The {which}: {MOST_ROWS} of {}; <code>--json</code> has all.</p>\n",
        grouped(all as u64)
    )
}

/// Text with names between backticks, as HTML.
fn code(text: &str) -> String {
    let pieces: Vec<String> = text.split('`').map(escape).collect();
    let mut html = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        html += &if at % 2 == 1 { format!("<span class=\"name\">{piece}</span>") } else { piece.clone() };
    }
    html
}
