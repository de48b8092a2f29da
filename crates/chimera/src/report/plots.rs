//! Pictures of scores: histograms, curves of false and true alarms, calibration; and all drawings as files.

use chimera_data::metric::reliability::Reliability;
use chimera_leaf::calibrate::Method as Calibrated;

use super::chart::{Curve, histogram, reliability_points, square, standalone};
use super::html::{counted, escape, number};
use super::methods::charts;
use crate::eval::summary::Summary;
use crate::eval::{Evaluation, REFERENCE, RulePlot};
use crate::score::method::Method;

/// So many rules are drawn at once; the rest is folded.
const OPEN: usize = 12;

fn key(entries: &[(&str, &str)]) -> String {
    let entry =
        |(colour, words): &(&str, &str)| format!("<span><i style=\"background:var(--{colour})\"></i>{words}</span>");
    format!("<div class=\"key\">{}</div>\n", entries.iter().map(entry).collect::<String>())
}

fn plot_of(evaluation: &Evaluation, rule: usize, method: Method) -> Option<&RulePlot> {
    evaluation.plots.iter().find(|plot| plot.rule == rule && plot.method == method)
}

pub(super) fn scores(evaluation: &Evaluation) -> String {
    let main = evaluation.about.main;
    let mut text = format!(
        "<p>By <code>{0}</code> at the model's own seed: scores of samples that keep a rule (upwards) and of samples that break it (downwards), \
         each class to its own scale, heights as square roots. Below them, for every share of normal samples that is flagged, the \
         share of violations that is found.</p>\n",
        main.name()
    );
    let mut entries = vec![("normal", "keeps the rule"), ("violating", "breaks the rule"), ("main", main.name())];
    let others = [(REFERENCE, "reference"), (Method::Oracle, "ceiling")];
    let there = |method: Method| method != main && evaluation.present().any(|of| of.method == method);
    entries.extend(others.iter().filter(|(method, _)| there(*method)).map(|(method, colour)| (*colour, method.name())));
    text += &key(&entries);
    let cards: Vec<String> = evaluation
        .rules
        .iter()
        .enumerate()
        .filter_map(|(number_of, rule)| {
            let plot = plot_of(evaluation, number_of, main)?;
            let name = escape(&rule.name);
            let (first, second) = (histogram_of(plot, &rule.name), curves_of(evaluation, number_of)?);
            Some(format!("<div class=\"card\"><h4>{name}</h4>{first}{second}</div>\n"))
        })
        .collect();
    let untold = evaluation.rules.len() - cards.len();
    let (open, rest) = cards.split_at(cards.len().min(OPEN));
    text += &format!("<div class=\"grid\">\n{}</div>\n", open.concat());
    if !rest.is_empty() {
        text += &format!(
            "<details><summary>{} more rules</summary><div class=\"grid\">\n{}</div></details>\n",
            rest.len(),
            rest.concat()
        );
    }
    if untold > 0 {
        let untold = counted(untold, "rule");
        text += &format!("<p class=\"faint\">Not drawn: {untold} that no test row breaks, or every one.</p>\n");
    }
    text
}

fn histogram_of(plot: &RulePlot, rule: &str) -> String {
    histogram(&plot.normal, &plot.violating, &format!("scores of {rule}: normal above, violating below"))
}

/// The curves of a rule; `None` where there are none.
fn curves_of(evaluation: &Evaluation, rule: usize) -> Option<String> {
    let main = evaluation.about.main;
    let of = |method: Method, colour: &'static str, dashed: bool| {
        let plot = plot_of(evaluation, rule, method).filter(|plot| !plot.curve.is_empty())?;
        Some(Curve { points: &plot.curve, colour, dashed, dots: false })
    };
    let others = [(REFERENCE, "reference"), (Method::Oracle, "ceiling")];
    let others = others.into_iter().filter(|(method, _)| *method != main);
    let mut curves: Vec<Curve<'_>> = others.filter_map(|(method, colour)| of(method, colour, true)).collect();
    curves.push(of(main, "main", false)?);
    let about = format!("false and true alarms of {}", evaluation.rules[rule].name);
    Some(square(&curves, ("false alarms", "found"), &about))
}

pub(super) fn calibration(evaluation: &Evaluation) -> String {
    let mut text = String::from(
        "<p>Of samples that are given about 0.8, is it so for eight of ten? Points on the diagonal say yes. Concepts, as the leaf bank gives them \
         and calibrated, and rules, by how likely they are broken.</p>\n",
    );
    text += "<div class=\"wide\">\n";
    for (title, key, svg) in reliability_charts(evaluation) {
        text += &format!("<div class=\"card\"><h4>{title}</h4>{key}{svg}</div>\n");
    }
    text + "</div>\n"
}

/// Two drawings: title, key and SVG of concepts, and of rules.
fn reliability_charts(evaluation: &Evaluation) -> [(&'static str, String, String); 2] {
    let mut leaves = Vec::new();
    for (method, colour, words) in [(Calibrated::Raw, "reference", "raw"), (Calibrated::Platt, "main", "calibrated")] {
        let quality = evaluation.quality.iter().find(|quality| quality.method == method);
        leaves.extend(quality.map(|quality| Reliable { colour, name: words, of: &quality.reliability }));
    }
    let mut rules: Vec<Reliable<'_>> = Vec::new();
    let main = evaluation.about.main;
    for (method, reliability) in &evaluation.reliability {
        if [REFERENCE, main].contains(method) {
            let colour = if *method == main { "main" } else { "reference" };
            rules.push(Reliable { colour, name: method.name(), of: reliability });
        }
    }
    [("Concepts", leaves), ("Rules that are broken", rules)].map(|(title, curves)| {
        let (key, svg) = reliability_chart(title, &curves);
        (title, key, svg)
    })
}

/// Probabilities of one kind, with a colour of the style.
struct Reliable<'a> {
    colour: &'static str,
    name: &'static str,
    of: &'a Reliability,
}

fn reliability_chart(title: &str, curves: &[Reliable<'_>]) -> (String, String) {
    let words: Vec<String> =
        curves.iter().map(|curve| format!("{}, error {}", curve.name, number(curve.of.error))).collect();
    let entries: Vec<(&str, &str)> =
        curves.iter().zip(&words).map(|(curve, words)| (curve.colour, words.as_str())).collect();
    let points: Vec<Vec<(f64, f64)>> = curves.iter().map(|curve| reliability_points(curve.of)).collect();
    let drawn: Vec<Curve<'_>> = curves
        .iter()
        .zip(&points)
        .map(|(curve, points)| Curve { points, colour: curve.colour, dashed: false, dots: true })
        .collect();
    let about = format!("{title}: probability and frequency");
    (key(&entries), square(&drawn, ("probability", "frequency"), &about))
}

/// All drawings as files of their own, by name.
pub(crate) fn plots(evaluation: &Evaluation, summary: &Summary<'_>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut put = |name: String, svg: &str| files.push((name, standalone(svg)));
    for (number_of, (_, svg)) in charts(evaluation, summary).iter().enumerate() {
        put(format!("methods-{}", number_of + 1), svg);
    }
    for (title, _, svg) in reliability_charts(evaluation) {
        put(format!("calibration-{}", file_name(title)), &svg);
    }
    for (number_of, rule) in evaluation.rules.iter().enumerate() {
        let Some(plot) = plot_of(evaluation, number_of, evaluation.about.main) else { continue };
        // The number keeps apart what names alike in a file system would not.
        let name = format!("{}-{}", number_of + 1, file_name(&rule.name));
        put(format!("scores-{name}"), &histogram_of(plot, &rule.name));
        if let Some(curves) = curves_of(evaluation, number_of) {
            put(format!("roc-{name}"), &curves);
        }
    }
    files
}

/// Letters and digits of a name, for a file.
fn file_name(name: &str) -> String {
    let kept: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    kept.chars().take(60).collect()
}
