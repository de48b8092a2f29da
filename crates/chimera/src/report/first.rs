//! The first screen: what was asked, of which data, the answer, and what a score does not mean.

use chimera_data::metric::bootstrap::Interval;

use super::html::{chance, counted, escape, grouped, name, number};
use super::methods::all_rules;
use crate::eval::summary::{MethodSummary, Summary};
use crate::eval::{Evaluation, REFERENCE};
use crate::score::aggregate::Aggregation;
use crate::score::method::Method;

pub(super) fn screen(evaluation: &Evaluation, summary: &Summary<'_>) -> String {
    let about = &evaluation.about;
    let Some(main) = summary.method(about.main) else { return String::new() };
    let [broken, normal, open] = about.broken.map(grouped);
    let rules = counted(evaluation.rules.len(), "rule");
    let concepts = counted(evaluation.leaves.rows.len(), "concept");
    let (model, about_what) = if about.other_rules {
        (format!("A model of {concepts}"), format!("{rules} that were given beside it, on "))
    } else {
        (format!("A model with {rules} over {concepts}"), String::new())
    };
    let mut text = format!(
        "<h1>Which samples of {} break which rule?</h1>\n<p class=\"faint\">{model}, trained on {} rows of {} \
         ({}), is asked about {about_what}{} test rows: {broken} break a rule, {normal} break none{}.</p>\n",
        escape(&about.dataset),
        grouped(about.train_rows),
        escape(&about.trained_on),
        escape(&about.encoder),
        grouped(about.rows),
        if about.broken[2] > 0 { format!(", and of {open} that cannot be told") } else { String::new() }
    );
    text += &answer(evaluation, summary, main);
    text += &figures(evaluation, main);
    text += "<div class=\"note\"><p><b>What a score does not mean.</b> Labels here are violations of rules, worked out from the \
        dataset's own labels; they are not human judgements of what is dangerous, wrong or unusual. A high score says that a sample \
        looks as if it broke a rule, to this model, on data like these. Nothing here says how it does on other data, nor whether the \
        rules are the right ones. Do not decide anything of consequence by it without a validation of your own.</p></div>\n";
    if !evaluation.words.is_empty() || !summary.absent.is_empty() {
        text += "<div class=\"note\"><p><b>What is not in this report.</b></p><ul>\n";
        for (method, reason) in &summary.absent {
            text += &format!("<li>{}: {}</li>\n", name(method), escape(reason));
        }
        for words in &evaluation.words {
            text += &format!("<li>{}</li>\n", escape(words));
        }
        text += "</ul></div>\n";
    }
    text
}

/// The answer in a few sentences, with all methods drawn beside it.
fn answer(evaluation: &Evaluation, summary: &Summary<'_>, main: &MethodSummary) -> String {
    let Some(mean) = main.all.auroc.mean else {
        return format!(
            "<p class=\"answer\">Nothing can be said about {}: no rule has both a test row that breaks it and one that does not.</p>\n",
            counted(evaluation.rules.len(), "rule")
        );
    };
    let (title, svg) = all_rules(evaluation, summary);
    let fitted_on = summary.method(Method::Oracle).and_then(|oracle| oracle.seen_violations);
    let ceiling = fitted_on.map_or_else(String::new, |fitted_on| {
        let how = evaluation.about.seen_violations(fitted_on);
        format!("<small><code>oracle</code> has learned from violations, as no other has: {how}</small>")
    });
    format!(
        "<div class=\"top\"><div>\n{}{}</div>\n<div class=\"card\"><h4>{}</h4>{svg}{ceiling}</div></div>\n",
        found(evaluation, main, mean),
        compared(evaluation, main),
        escape(&title)
    )
}

/// How good the method is.
fn found(evaluation: &Evaluation, main: &MethodSummary, mean: f64) -> String {
    let share = |value: f64| format!("{:.1}&nbsp;%", 100.0 * value);
    let range = main.all.interval.map_or_else(String::new, |Interval { low, high }| {
        let over = over(main.all.interval_rules, main.all.rules, main.all.interval_mean, &share);
        format!(" (95&nbsp;%: {:.1} to {:.1}&nbsp;%{over})", 100.0 * low, 100.0 * high)
    });
    let undefined = match main.all.undefined {
        0 => String::new(),
        count => format!("; {} cannot be measured here", counted(count, "rule")),
    };
    format!(
        "<p class=\"answer\">Of a sample that breaks a rule and one that keeps it, {} scores the first one higher in \
         <b>{:.1}&nbsp;%</b> of cases{range}, in the mean over {}{undefined}.</p>\n",
        name(evaluation.about.main.name()),
        100.0 * mean,
        counted(main.all.rules, "rule")
    )
}

/// How many rules an interval is of, and the mean over them, where these are not all.
fn over(told: usize, rules: usize, mean: Option<f64>, shown: &dyn Fn(f64) -> String) -> String {
    match mean.filter(|_| told < rules) {
        Some(mean) => format!(", around {} over the {told} of which enough rows tell", shown(mean)),
        None => String::new(),
    }
}

/// How good it is against independent events.
fn compared(evaluation: &Evaluation, main: &MethodSummary) -> String {
    match &main.against_indep_cal {
        Some(against) => {
            let verdict = match against.interval {
                Some(interval) if interval.low > 0.0 => "better than",
                Some(interval) if interval.high < 0.0 => "worse than",
                _ => "not to be told from",
            };
            let points = |value: f64| format!("{:+.1}", 100.0 * value).replace('-', "−");
            let range = against.interval.map_or_else(String::new, |Interval { low, high }| {
                let over = over(against.interval_rules, against.rules, against.interval_mean, &points);
                format!(" (95&nbsp;%: {} to {}{over})", points(low), points(high))
            });
            // Of rules that one of them cannot tell, nothing can be compared.
            let own = if against.rules < main.all.rules {
                let own = 100.0 * (against.reference + against.difference);
                format!(
                    "On the {} that both tell it is {own:.1}&nbsp;%, <b>{verdict}</b>",
                    counted(against.rules, "rule")
                )
            } else {
                format!("That is <b>{verdict}</b>")
            };
            format!(
                "<p class=\"answer\">{own} independent events over the same concepts and rules: {:.1}&nbsp;%, a difference of {} \
                 points{range}. {} won, {} tied, {} lost; signed-rank test over rules, p {}.</p>\n",
                100.0 * against.reference,
                points(against.difference),
                counted(against.tally.wins, "rule"),
                against.tally.ties,
                against.tally.losses,
                match against.p {
                    Some(p) if p >= 0.001 => format!("= {p:.3}"),
                    p => chance(p),
                }
            )
        }
        _ if evaluation.about.main == REFERENCE => {
            "<p class=\"answer\">These are independent events, which others are compared with.</p>\n".to_owned()
        }
        _ => String::new(),
    }
}

fn figures(evaluation: &Evaluation, main: &MethodSummary) -> String {
    let about = &evaluation.about;
    let figure =
        |value: String, words: String| format!("<div class=\"figure\"><b>{value}</b><span>{words}</span></div>\n");
    let spread =
        |std: Option<f64>| std.map_or_else(String::new, |std| format!(" ± {std:.3} over {} seeds", about.seeds.len()));
    let samples = main.consistency_anomaly.get(Aggregation::default().name());
    let leaves = evaluation.leaves.means();
    let mut text = String::from("<div class=\"figures\">\n");
    text += &figure(
        number(main.all.auroc.mean),
        format!("AUROC of rules, {}{}", about.main.name(), spread(main.all.auroc.std)),
    );
    text += &figure(
        number(main.all.fpr95.mean),
        "of normal samples are flagged where 95 % of violations are found".to_owned(),
    );
    text += &figure(
        number(samples.and_then(|samples| samples.auroc.mean)),
        format!("AUROC of samples that break any rule, by {}", Aggregation::default().name()),
    );
    text += &figure(number(leaves.auroc.mean), format!("AUROC of concepts, mean over {}", leaves.auroc.defined));
    text += &figure(grouped(about.rows), format!("test rows, drawn {} times for intervals", grouped(about.resamples)));
    text + "</div>\n"
}
