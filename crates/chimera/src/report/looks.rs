//! Samples to look at: every thumbnail is in the page once, as a background of its class, however often it is shown.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::html::{base64, counted, escape};
use crate::eval::Evaluation;
use crate::eval::gallery::{Gallery, Panel, Tile};

/// The thumbnails of a gallery as style; a small one is left out where there is a large one.
pub(super) fn gallery_thumbnails(gallery: &Gallery) -> String {
    let small = gallery.small.iter().filter(|(row, _)| !gallery.pictures.contains_key(*row));
    thumbnails(&gallery.pictures) + &styled('s', small)
}

/// Thumbnails as style.
pub(crate) fn thumbnails(pictures: &BTreeMap<usize, Vec<u8>>) -> String {
    styled('t', pictures.iter())
}

fn styled<'p>(class: char, pictures: impl Iterator<Item = (&'p usize, &'p Vec<u8>)>) -> String {
    let mut style = String::new();
    for (row, picture) in pictures.filter(|(_, picture)| !picture.is_empty()) {
        let _ = writeln!(style, ".{class}{row} i{{background-image:url(data:image/jpeg;base64,{})}}", base64(picture));
    }
    style
}

pub(super) fn galleries(evaluation: &Evaluation) -> String {
    let gallery = &evaluation.gallery;
    if gallery.panels.is_empty() {
        return "<p class=\"faint\">There is nothing to look at.</p>\n".to_owned();
    }
    let mut text = format!(
        "<p>Sorted by the scores of <code>{}</code>, low to high. Green frames keep the rule, red frames with a cross break it; below each sample its \
         score. Where the method is right, every strip of normal samples is low and every strip of violating ones high.</p>\n",
        evaluation.about.main.name()
    );
    for panel in &gallery.panels {
        let title = match panel.rule {
            None => "<b>Samples as a whole</b>: any rule".to_owned(),
            Some(rule) => {
                let rule = &evaluation.rules[rule];
                format!("<span class=\"name\">{}</span> <small>{}</small>", escape(&rule.name), escape(&rule.formula))
            }
        };
        let open = if panel.rule.is_none() { " open" } else { "" };
        let _ = writeln!(text, "<details{open}><summary>{title}</summary>{}</details>", strips(gallery, panel));
    }
    text
}

fn strips(gallery: &Gallery, panel: &Panel) -> String {
    let mut text = String::new();
    for strip in &panel.strips {
        let tiles: String = strip.tiles.iter().map(|one| tile(gallery, one)).collect();
        let class = if strip.is_small { "tiles small" } else { "tiles" };
        let _ = writeln!(text, "<h3>{}</h3><div class=\"{class}\">{tiles}</div>", escape(&strip.title));
    }
    if text.is_empty() {
        text = format!("<p class=\"faint\">{}</p>", counted(0, "sample"));
    }
    text
}

fn tile(gallery: &Gallery, tile: &Tile) -> String {
    let (class, words, mark) = if tile.broken { (" bad", "breaks", "✕ ") } else { ("", "keeps", "") };
    let id = escape(&tile.id);
    let picture = if gallery.pictures.contains_key(&tile.row) { 't' } else { 's' };
    format!(
        "<div class=\"tile {picture}{}{class}\" title=\"{id}\"><i role=\"img\" aria-label=\"{id}, {words} the rule\"></i>{mark}{:.3}</div>",
        tile.row, tile.score
    )
}
