//! Media that are missing, cannot be decoded, or occur twice.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Finding, FindingKind, MediaCheck, Severity};
use crate::data::dataset::Dataset;
use crate::data::manifest::Kind;
use crate::error::{Error, Result};
use crate::media::frames::FrameShape;
use crate::media::prepared::{Digest, digest};
use crate::parallel::in_parallel;

/// What is decoded of each medium: enough to meet every compressed byte of a picture and the middle of each eighth of a
/// video, small enough to keep memory and scaling out of the way.
const SHAPE: (usize, usize) = (8, 32);

/// What a medium turned out to be.
enum Seen {
    Missing,
    Undecodable(String),
    Whole(Option<Digest>),
}

pub(super) fn check(dataset: &Dataset, media: MediaCheck<'_>) -> Result<Vec<Finding>> {
    if dataset.manifest().media_root.is_none() {
        return Ok(Vec::new());
    }
    let mut missing = Finding::new(FindingKind::MissingMedia, Severity::Error, "media that are not there");
    let mut broken = Finding::new(FindingKind::UndecodableMedia, Severity::Error, "media that cannot be decoded");
    let mut nameless = Finding::new(FindingKind::NoMedia, Severity::Warning, "samples without media");
    let mut straddling = Finding::new(FindingKind::MediaInTwoSplits, Severity::Error, "media that are in two splits");
    let mut twice = Finding::new(FindingKind::MediaTwice, Severity::Warning, "media that several samples share");

    // Each path is looked at once, in the order of the table.
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    for (row, id) in dataset.table().ids.iter().enumerate() {
        match dataset.media_name(row) {
            None => nameless.add(|| id.to_owned()),
            Some(name) => {
                first.entry(name).or_insert_with(|| {
                    rows.push(row);
                    rows.len() - 1
                });
            }
        }
    }
    let seen = look(dataset, &rows, media)?;
    for (&row, seen) in rows.iter().zip(&seen) {
        let name = dataset.media_name(row).unwrap_or_default();
        match seen {
            Seen::Missing => missing.add(|| name.to_owned()),
            Seen::Undecodable(reason) => broken.add(|| reason.clone()),
            Seen::Whole(_) => {}
        }
    }

    // A medium is known by its content where that was read, else by its path.
    let mut owner: BTreeMap<(Option<Digest>, &str), usize> = BTreeMap::new();
    for row in 0..dataset.table().ids.len() {
        let Some(name) = dataset.media_name(row) else { continue };
        let known = match first.get(name).map(|&place| &seen[place]) {
            Some(Seen::Whole(Some(digest))) => (Some(*digest), ""),
            _ => (None, name),
        };
        let before = *owner.entry(known).or_insert(row);
        if before == row {
            continue;
        }
        let (here, there) = (dataset.splits()[row], dataset.splits()[before]);
        let other = dataset.media_name(before).filter(|other| *other != name);
        let copy = other.map_or_else(String::new, |other| format!(", the same as {other}"));
        if here == there {
            twice.add(|| format!("{name}{copy}"));
        } else {
            straddling.add(|| format!("{name} ({there} and {here}{copy})"));
        }
    }
    Ok(vec![missing, broken, nameless, straddling, twice])
}

/// Looks at the media of these rows.
fn look(dataset: &Dataset, rows: &[usize], media: MediaCheck<'_>) -> Result<Vec<Seen>> {
    let path_of = |row: usize| dataset.media_path(row).filter(|path| path.exists());
    let MediaCheck::Decode { threads, progress } = media else {
        return Ok(rows.iter().map(|&row| path_of(row).map_or(Seen::Missing, |_| Seen::Whole(None))).collect());
    };
    let reader = dataset.media_reader()?;
    let frames = if dataset.manifest().kind == Kind::Video { SHAPE.0 } else { 1 };
    let shape = FrameShape::new(frames, SHAPE.1, SHAPE.1)?;
    let done = AtomicUsize::new(0);
    in_parallel(threads, rows.len(), |number| {
        let seen = match path_of(rows[number]) {
            None => Seen::Missing,
            Some(path) => {
                let mut out = vec![0; shape.bytes()];
                match reader.read(&path, shape, &mut out).and_then(|()| digest(&path)) {
                    Ok(digest) => Seen::Whole(Some(digest)),
                    Err(error @ Error::Program { .. }) => return Err(error),
                    Err(error) => Seen::Undecodable(error.to_string().replace("\nhint: ", "; ")),
                }
            }
        };
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, rows.len());
        Ok(seen)
    })
}
