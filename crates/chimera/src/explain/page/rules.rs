//! Rules on the page: what is said of one, its drawing with probabilities in colour, its parts, and the table of all.

use chimera_logic::draw::{Figure, Options, to_svg};
use chimera_logic::rules::RuleSet;

use super::rows::Rows;
use super::{MOST_ROWS, code, cut, percent};
use crate::explain::told::{Explanation, RuleTold, Shown, Standing};
use crate::report::html::{escape, name, number, table};

/// How it stands, how it is broken and what would mend it.
pub(super) fn told(rule: &RuleTold, standing: Option<&Standing>) -> String {
    let mut cards = String::new();
    if let Some(standing) = standing {
        let share = standing.normal_share.map_or_else(String::new, |share| {
            format!("<p>At most {} of normal samples break it as badly.</p>", percent(share))
        });
        let without = standing.without_grafts.as_ref().map_or_else(String::new, |why| {
            format!("<p class=\"faint\">By <code>indep-cal</code>: {}.</p>", escape(why))
        });
        cards += &format!(
            "<div class=\"card\"><h4>Score {} {}</h4><p>{}</p>{share}{without}</div>",
            number(standing.score),
            if standing.is_flagged() { "<span class=\"loss\">flagged for it</span>" } else { "" },
            bar(standing.score, standing.threshold, standing.is_flagged()),
        );
    }
    if let Some(breach) = &rule.breach {
        let lead = if breach.is_likeliest {
            "What is most likely seen breaks it"
        } else {
            "What is most likely seen keeps it; the most likely way to break it"
        };
        // Several ways to break it may add up, and gates see more of a sample than how likely its concepts are.
        let is_broken = standing.and_then(|standing| standing.p).is_some_and(|p| p < 0.5);
        let otherwise = if is_broken && !breach.is_likeliest {
            "<p class=\"faint\">The rule's own probability says otherwise: several ways to break it add up, or its gates look at \
             more than how likely each concept is.</p>"
        } else {
            ""
        };
        cards += &format!(
            "<div class=\"card\"><h4>{lead} (p {})</h4><ul>{}</ul>{otherwise}</div>",
            number(Some(breach.p)),
            breach.concepts.iter().map(|of| format!("<li>{}</li>", shown(of))).collect::<String>()
        );
    }
    for (title, change) in [("Repair", &rule.repair), ("What would break it", &rule.breaks)] {
        let Some(change) = change else { continue };
        let cost = match change.cost {
            Some(cost) => format!("Against odds of {} (cost {cost:.2}).", odds(cost)),
            None => "Against something certain.".to_owned(),
        };
        cards += &format!(
            "<div class=\"card\"><h4>{title}</h4><p>It {}.</p><p class=\"faint\">{cost}</p></div>",
            code(&change.words)
        );
    }
    format!("<div class=\"says\">{cards}</div>\n")
}

fn odds(cost: f64) -> String {
    let odds = cost.exp();
    if odds < 10.0 {
        format!("{odds:.1} to 1")
    } else if odds < 1e6 {
        format!("{odds:.0} to 1")
    } else {
        "over a million to 1".to_owned()
    }
}

fn shown(of: &Shown) -> String {
    let word = if of.shown { "present" } else { "absent" };
    format!("{} {word} <small>(p {} that it is there)</small>", name(&of.concept), number(Some(of.p)))
}

/// A score as a bar, with its threshold as a line.
fn bar(score: Option<f64>, limit: Option<f64>, bad: bool) -> String {
    let Some(score) = score else { return String::new() };
    let share = |value: f64| (100.0 * value.clamp(0.0, 1.0) * 100.0).round() / 100.0;
    let line = limit.map_or_else(String::new, |limit| format!("<u style=\"left:{}%\"></u>", share(limit).min(98.7)));
    format!(
        "<span class=\"bar{}\"><i style=\"width:{}%\"></i>{line}</span>",
        if bad { " bad" } else { "" },
        share(score)
    )
}

/// The rule's graph with the probability of every part in colour.
pub(super) fn drawing(rule_set: &RuleSet, rule: usize, parts: &[Option<f64>]) -> String {
    let figure = Figure::of_rule(rule_set, &rule_set.rules[rule]);
    let svg = to_svg(&figure, &Options { values: parts, ..Options::default() });
    // An XML file's first line has no place in a page.
    let svg = svg.find("<svg").map_or("", |at| &svg[at..]);
    format!("<div class=\"dag\">{svg}</div>\n")
}

/// Parts by how much they would help.
pub(super) fn parts(rule: &RuleTold) -> String {
    let Some(parts) = &rule.parts else {
        return "<p class=\"faint\">The rule is too large to count what its parts have to do with it.</p>\n".to_owned();
    };
    // A rule of one literal has none.
    if parts.is_empty() {
        return String::new();
    }
    let rows: Vec<(&str, Vec<String>)> = parts
        .iter()
        .map(|part| {
            let wanted = match part.wanted.filter(|_| part.gains()) {
                Some(true) => "holds",
                Some(false) => "fails",
                None => "–",
            };
            let cells = vec![
                format!("<td class=\"formula\"><span class=\"name\">{}</span></td>", escape(&part.formula)),
                number(part.p),
                wanted.to_owned(),
                number(Some(part.then)),
                format!("{:+.3}", part.lift),
            ];
            ("", cells)
        })
        .collect();
    let head = ["part", "p that it holds", "the rule gains if it", "then the rule holds with p", "gain"];
    format!("<h3>Parts, by what they would mend</h3>\n{}", table(&head, &rows))
}

/// Every rule, the worst first.
pub(super) fn standings(told: &Explanation) -> String {
    let rows: Vec<(&str, Vec<String>)> = told
        .standings
        .iter()
        .take(MOST_ROWS)
        .map(|of| {
            let share = of.normal_share.map_or_else(|| "–".to_owned(), percent);
            let cells = vec![
                format!("<td class=\"left\" data-rule=\"{}\">{}</td>", escape(&of.rule), name(&of.rule)),
                bar(of.score, of.threshold, of.is_flagged()),
                number(of.score),
                number(of.threshold),
                match of.flagged {
                    Some(true) => "<b class=\"loss\">flagged</b>".to_owned(),
                    Some(false) => String::new(),
                    None => "unknown".to_owned(),
                },
                share,
                number(of.p),
                escape(&of.severity),
            ];
            ("", cells)
        })
        .collect();
    let head = ["rule", "", "score", "threshold", "", "normal samples as bad, at most", "p that it holds", "severity"];
    table(&head, &rows) + &cut(told.standings.len(), "worst rules")
}

/// What is seen of every concept.
pub(super) fn concepts(told: &Explanation, shown: &Rows) -> String {
    let rows: Vec<(&str, Vec<String>)> = shown
        .shown
        .iter()
        .map(|&place| {
            let of = &told.concepts[place];
            let cells = vec![
                name(&of.concept),
                bar(Some(of.p), None, false),
                number(Some(of.p)),
                number(Some(of.p_bank)),
                format!("{:.2}", of.logit),
            ];
            ("", cells)
        })
        .collect();
    let method = format!("p by {}", told.method);
    table(&["concept", "", &method, "p by the leaf bank", "its logit"], &rows)
        + &cut(told.concepts.len(), "concepts of the worst rules")
}
