//! `report.html`: one page that needs nothing else, made of an [`Evaluation`] and its [`Summary`]. No script, no outside request;
//! drawings are SVG of our own, thumbnails are in the page. Numbers stand in `data-` attributes with all their digits, too, so
//! that tests, and whoever else, can read them back.

mod chart;
mod files;
mod first;
pub(crate) mod html;
mod last;
pub(crate) mod looks;
mod methods;
mod plots;
mod tables;

pub use self::files::{check_place, write};
use crate::eval::Evaluation;
use crate::eval::summary::Summary;
pub(crate) use crate::report::plots::plots;

const STYLE: &str = include_str!("style.css");

/// The sections after the first screen: anchor and heading.
const SECTIONS: [(&str, &str); 9] = [
    ("concepts", "Concepts"),
    ("rules", "Rules"),
    ("methods", "Methods and families"),
    ("scores", "Scores and alarms"),
    ("calibration", "Calibration"),
    ("coverage", "Truth configurations"),
    ("samples", "Samples"),
    ("times", "Times"),
    ("manifest", "Manifest"),
];

/// The whole page.
#[must_use]
pub(crate) fn page(evaluation: &Evaluation, summary: &Summary<'_>) -> String {
    let title =
        format!("{}: {} rules by {}", evaluation.about.dataset, evaluation.rules.len(), evaluation.about.main.name());
    let mut page = first::screen(evaluation, summary);
    let links = SECTIONS.map(|(anchor, heading)| format!("<a href=\"#{anchor}\">{heading}</a>"));
    page += &format!("<nav>{}</nav>\n", links.join("\n"));
    for (anchor, heading) in SECTIONS {
        page += &format!("<h2 id=\"{anchor}\">{heading}</h2>\n");
        page += &match anchor {
            "concepts" => tables::concepts(evaluation),
            "rules" => tables::rules(evaluation, summary),
            "methods" => methods::methods(evaluation, summary),
            "scores" => plots::scores(evaluation),
            "calibration" => plots::calibration(evaluation),
            "coverage" => last::coverage(evaluation),
            "samples" => looks::galleries(evaluation),
            "times" => last::times(evaluation),
            _ => last::manifest(evaluation),
        };
    }
    document(&title, &looks::gallery_thumbnails(&evaluation.gallery), &page)
}

/// A page of our looks that needs nothing else, with more style than all have in common.
#[must_use]
pub(crate) fn document(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\">\n<title>{}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}{style}</style>\
         </head>\n<body><main>\n{body}</main></body></html>\n",
        html::escape(title)
    )
}
