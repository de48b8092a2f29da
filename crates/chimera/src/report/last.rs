//! The end of the page: what the data can say, what took how long, and what the model is.

use super::html::{counted, escape, grouped, table};
use crate::eval::Evaluation;

/// So many gates are listed at once.
const LISTED: usize = 400;

pub(super) fn coverage(evaluation: &Evaluation) -> String {
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    let (mut empty, mut all) = (0, 0);
    for gate in evaluation.coverage.iter().take(LISTED) {
        for (operands, holds, train, test) in &gate.configurations {
            all += 1;
            empty += usize::from(*test == 0);
            rows.push((
                if *test == 0 { "few" } else { "" },
                vec![
                    format!(
                        "<td class=\"formula\" title=\"{}\"><code>{}</code></td>",
                        escape(&gate.rules.join(", ")),
                        escape(&gate.formula)
                    ),
                    format!("<code>{operands}</code>"),
                    if *holds { "holds" } else { "broken" }.to_owned(),
                    train.map_or_else(|| "–".to_owned(), grouped),
                    grouped(*test),
                ],
            ));
        }
        if gate.more > 0 {
            rows.push((
                "few",
                vec![String::new(), format!("and {} more", gate.more), String::new(), String::new(), String::new()],
            ));
        }
    }
    let more = evaluation.coverage.len().saturating_sub(LISTED);
    let more =
        if more > 0 { format!("<p class=\"faint\">And {}.</p>\n", counted(more, "gate")) } else { String::new() };
    let head = ["gate", "operands", "gives", "train rows", "test rows"];
    format!(
        "<p>For each gate of the rules, which truth values of its operands the rows hold. {empty} of {all} configurations are in no test row: what \
         methods do there, nobody can see here. Training sees those that train rows lack through chimeras and grafts alone.</p>\n\
         <details><summary>All configurations</summary>\n{}{more}</details>\n",
        table(&head, &rows)
    )
}

/// Times; nothing else of the page depends on the clock, and they stand between marks that a reader can cut at.
pub(super) fn times(evaluation: &Evaluation) -> String {
    let all: f64 = evaluation.seconds.iter().map(|part| part.seconds).sum();
    let row = |what: &str, seconds: f64| {
        let share = if all > 0.0 { 100.0 * seconds / all } else { 0.0 };
        vec![escape(what), format!("{seconds:.2} s"), format!("{share:.1} %")]
    };
    let mut rows: Vec<(&str, Vec<String>)> =
        evaluation.seconds.iter().map(|part| ("", row(&part.what, part.seconds))).collect();
    rows.push(("total", row("all", all)));
    format!("<!-- times -->\n{}<!-- /times -->\n", table(&["what", "seconds", "share"], &rows))
}

pub(super) fn manifest(evaluation: &Evaluation) -> String {
    let about = &evaluation.about;
    let seeds: Vec<String> = about.seeds.iter().map(u64::to_string).collect();
    let text = serde_json::to_string_pretty(&evaluation.manifest).unwrap_or_default();
    format!(
        "<p>Made by chimera {}. Model {}; test rows {}; {} ({}){}.</p>\n<details><summary>The model's manifest</summary><pre>{}</pre></details>\n",
        escape(&about.chimera),
        short(&about.model),
        short(&about.test_rows),
        counted(seeds.len(), "seed"),
        seeds.join(", "),
        if about.refit_leaf { ", each with a leaf bank of its own" } else { ", on one leaf bank" },
        escape(&text)
    )
}

fn short(hash: &str) -> String {
    format!("<code title=\"{0}\">{1}</code>", escape(hash), escape(hash.get(..16).unwrap_or(hash)))
}
