//! `audit.html`: one page that needs nothing else, with a card for each row that breaks a rule, to be gone through by eye.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::parallel::in_parallel;

use super::{Audit, LIKELY, SURE, Suspect, Verdict};
use crate::eval::gallery::{MOST_BYTES, SIDE, in_page, thumbnail};
use crate::report::html::{counted, escape, grouped, name, table};
use crate::report::{document, looks};

/// So many cards a verdict; the rest is in `audit.csv`.
const MOST_CARDS: usize = 300;

/// Thumbnails as JPEG, by row, and what is to be said of those that are missing.
pub(super) struct Pictures {
    by_row: BTreeMap<usize, Vec<u8>>,
    words: Option<String>,
}

impl Pictures {
    /// Those of all cards.
    pub(super) fn of(audit: &Audit, dataset: &Dataset, threads: NonZeroUsize) -> Self {
        let none = |words: String| Self { by_row: BTreeMap::new(), words: Some(words) };
        let Ok(reader) = dataset.media_reader() else {
            return none("the dataset has no media, so there is nothing to look at".to_owned());
        };
        let mut rows = Vec::new();
        for suspect in Verdict::ALL.into_iter().flat_map(|verdict| cards(audit, verdict)) {
            if !rows.contains(&suspect.row) {
                rows.push(suspect.row);
            }
        }
        let pictures = match in_parallel(threads, rows.len(), |at| thumbnail(dataset, &reader, rows[at], SIDE)) {
            Ok(pictures) => pictures,
            Err(error) => return none(format!("no thumbnails: {error}")),
        };
        let (mut by_row, mut bytes) = (BTreeMap::new(), 0);
        for (row, picture) in rows.iter().zip(pictures) {
            let picture = picture.unwrap_or_default();
            bytes += in_page(&picture);
            if bytes > MOST_BYTES {
                break;
            }
            by_row.insert(*row, picture);
        }
        let words = (by_row.len() < rows.len()).then(|| {
            format!(
                "thumbnails of {} are left out: the page would be too large",
                counted(rows.len() - by_row.len(), "row")
            )
        });
        Self { by_row, words }
    }
}

fn cards(audit: &Audit, verdict: Verdict) -> impl Iterator<Item = &Suspect> {
    audit.suspects.iter().filter(move |suspect| suspect.verdict == verdict).take(MOST_CARDS)
}

pub(super) fn page(audit: &Audit, pictures: &Pictures) -> String {
    let title = format!("{}: labels under {}", audit.dataset, counted(audit.rules.len(), "rule"));
    let [errors, unsure, real] = Verdict::ALL.map(|verdict| audit.count(verdict));
    let mut body = format!("<h1>{}</h1>\n<p class=\"answer\">", escape(&title));
    let _ = writeln!(
        body,
        "Among {} to learn from, a rule that can be audited is broken {}: {} probably {}, {} probably {}, and of {} that cannot be said.</p>",
        counted(audit.rows, "row"),
        times(audit.suspects.len()),
        grouped(errors),
        if errors == 1 { "a label error" } else { "label errors" },
        grouped(real),
        if real == 1 { "a real violation" } else { "real violations" },
        grouped(unsure),
    );
    let _ = writeln!(
        body,
        "<p>An opinion is the probability that a concept is there, by heads over the model's features that have not seen the row. Where labels \
         that would mend the rule are wrong with a probability of {SURE} at least, they are called an error; where opinion, too, finds the rule \
         broken with a probability of {LIKELY} at least, the violation is called real. Whoever looks decides.</p>"
    );
    let notes = audit.notes();
    let notes: Vec<String> =
        notes.iter().chain(&pictures.words).map(|words| format!("<p>{}</p>", escape(words))).collect();
    if !notes.is_empty() {
        let _ = writeln!(body, "<div class=\"note\">{}</div>", notes.concat());
    }
    body += "<h2 id=\"rules\">Rules</h2>\n";
    body += &rules(audit);
    for verdict in Verdict::ALL {
        let count = audit.count(verdict);
        if count == 0 {
            continue;
        }
        let (anchor, heading) = match verdict {
            Verdict::LabelError => ("errors", "Probably label errors"),
            Verdict::Unsure => ("unsure", "Unsure"),
            Verdict::RealViolation => ("real", "Probably real violations"),
        };
        let _ = writeln!(body, "<h2 id=\"{anchor}\">{heading}: {}</h2>", grouped(count));
        if count > MOST_CARDS {
            let _ = writeln!(body, "<p class=\"faint\">The first {MOST_CARDS}; audit.csv has all.</p>");
        }
        let cards: String = cards(audit, verdict).map(|suspect| card(suspect, pictures)).collect();
        let _ = writeln!(body, "<div class=\"grid\">\n{cards}</div>");
    }
    document(&title, &looks::thumbnails(&pictures.by_row), &body)
}

fn times(count: usize) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", grouped(count)) }
}

fn rules(audit: &Audit) -> String {
    let row = |rule: &super::AuditedRule| {
        let counts = [rule.label_errors, rule.unsure, rule.real_violations, rule.unknown].map(grouped);
        let said = rule.left_out.as_ref().map_or_else(String::new, |words| format!("<small>{}</small>", escape(words)));
        let mut cells = vec![
            format!("{}{said}", name(&rule.rule)),
            format!("<td class=\"formula\"><code>{}</code></td>", escape(&rule.formula)),
        ];
        cells.extend(counts);
        ("", cells)
    };
    let rows: Vec<(&str, Vec<String>)> = audit.rules.iter().map(row).collect();
    let head = ["rule", "<th class=\"left\">formula</th>", "label errors", "unsure", "real violations", "unknown"];
    table(&head, &rows)
}

fn card(suspect: &Suspect, pictures: &Pictures) -> String {
    let id = escape(&suspect.id);
    let picture = if pictures.by_row.get(&suspect.row).is_some_and(|picture| !picture.is_empty()) {
        format!("<div class=\"tile bad t{}\"><i role=\"img\" aria-label=\"{id}\"></i></div>", suspect.row)
    } else {
        String::new()
    };
    let mut text = format!(
        "<div class=\"card\" data-verdict=\"{}\" data-confidence=\"{}\"><h4>{id}</h4>{picture}<small>{} · {} · {:.2}</small><p>{}</p>",
        suspect.verdict.name(),
        suspect.confidence,
        suspect.split.as_str(),
        name(&suspect.rule),
        suspect.confidence,
        escape(&suspect.words()),
    );
    let bit = |value: Option<bool>| value.map_or("–", |value| if value { "1" } else { "0" });
    let row = |concept: &super::ConceptOpinion| {
        let label = concept.repair.map_or_else(
            || bit(concept.label).to_owned(),
            |repair| format!("{} → <b>{}</b>", bit(concept.label), bit(Some(repair))),
        );
        let opinion = concept.opinion.map_or_else(|| "–".to_owned(), |opinion| format!("{opinion:.2}"));
        ("", vec![name(&concept.concept), label, opinion])
    };
    let rows: Vec<(&str, Vec<String>)> = suspect.concepts.iter().map(row).collect();
    text += &table(&["concept", "label", "opinion"], &rows);
    text + "</div>\n"
}
