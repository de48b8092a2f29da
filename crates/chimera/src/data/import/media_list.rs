//! The media that a table names: brought below one root, looked for, and told apart into pictures and videos.

use std::path::Path;

use super::Note;
use crate::data::cell::shown;
use crate::data::manifest::Kind;
use crate::data::table::LabelTable;
use crate::error::{Error, Result};

/// Endings of videos; everything else is a picture.
const VIDEO: [&str; 10] = ["mp4", "avi", "mov", "mkv", "webm", "m4v", "mpg", "mpeg", "wmv", "flv"];

/// Makes every path relative to the root and notes those where there is nothing. An absolute path may lead into the root.
pub(super) fn settle(table: &mut LabelTable, root: &Path, strict: bool, notes: &mut Vec<Note>) -> Result<()> {
    let Some(media) = &mut table.media else {
        let message = format!("expected a column `media` in `{}` beside a media root, got none", table.path.display());
        let hint = "name the column that holds the paths with `--media-column`, or leave out `--media-root`";
        return Err(Error::input(message, Some(hint.to_owned())));
    };
    let mut missing = Note::new("media that are not there");
    let mut nameless = Note::new("samples without media");
    for (name, id) in media.iter_mut().zip(table.ids.iter()) {
        if let Some(inside) = Path::new(name).strip_prefix(root).ok().and_then(Path::to_str) {
            *name = inside.to_owned();
        }
        if name.is_empty() {
            nameless.add(|| id.to_owned());
        } else if !root.join(&name).exists() {
            missing.add(|| name.clone());
        }
    }
    let named = media.len() - nameless.count;
    if missing.count > 0 && (strict || missing.count == named) {
        let first = missing.listed.first().map(|name| shown(name)).unwrap_or_default();
        let message = format!(
            "expected the media of `{}` under `{}`, got nothing at {} of {named} paths, `{first}` the first",
            table.path.display(),
            root.display(),
            missing.count
        );
        return Err(Error::input(message, Some("paths start at the media root; check `--media-root`".to_owned())));
    }
    notes.extend([missing, nameless].into_iter().filter(|note| note.count > 0));
    Ok(())
}

/// What the media are, by the endings of their names.
pub(super) fn kind_of(table: &LabelTable) -> Result<Kind> {
    let names = table.media.iter().flatten().filter(|name| !name.is_empty());
    let is_video = |name: &&String| {
        let ending = Path::new(name.as_str()).extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| VIDEO.contains(&ending.as_str()))
    };
    let (videos, pictures): (Vec<&String>, Vec<&String>) = names.partition(is_video);
    match (videos.first(), pictures.first()) {
        (Some(video), Some(picture)) => {
            let message = format!(
                "expected pictures or videos in `{}`, got both: `{}` and `{}`",
                table.path.display(),
                shown(picture),
                shown(video)
            );
            Err(Error::input(message, Some("say what they are with `--kind`".to_owned())))
        }
        (Some(_), None) => Ok(Kind::Video),
        _ => Ok(Kind::Image),
    }
}
