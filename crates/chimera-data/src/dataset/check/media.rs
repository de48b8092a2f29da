//! Media that are missing, cannot be decoded, or occur twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Finding, FindingKind, Listed, MediaCheck, Severity};
use crate::dataset::Dataset;
use crate::dataset::manifest::Kind;
use crate::error::{Error, Result};
use crate::media::frames::FrameShape;
use crate::media::prepared::{Digest, digest};
use crate::media::reader::MediaReader;
use crate::parallel::in_parallel;

/// What is decoded of each medium: enough to meet every compressed byte of a picture and the middle of each eighth of a
/// video, small enough to keep memory and scaling out of the way.
const SHAPE: (usize, usize) = (8, 32);

/// What a medium turned out to be.
enum Seen {
    Missing,
    Undecodable(String),
    Whole(Option<Digest>),
    /// A video of so few frames that some are repeated.
    Short(Digest, u64),
}

pub(super) fn check(dataset: &Dataset, media: MediaCheck<'_>) -> Result<Vec<Finding>> {
    let Some(root) = dataset.manifest().media_folder(dataset.folder()) else { return Ok(Vec::new()) };
    // Each path is looked at once, in the order of the table.
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut rows, mut nameless) = (Vec::new(), Vec::new());
    for (row, id) in dataset.table().ids.iter().enumerate() {
        match dataset.media_name(row) {
            None => nameless.push(Listed::named(id)),
            Some(name) => {
                first.entry(name).or_insert_with(|| {
                    rows.push(row);
                    rows.len() - 1
                });
            }
        }
    }
    let mut findings = Vec::new();
    let words = ["sample has no medium", "samples have no medium"];
    findings.extend(Finding::about(FindingKind::NoMedia, Severity::Warning, words, nameless));
    if !root.is_dir() {
        let message = format!("the media root `{}` is not there", root.display());
        findings.push(Finding::new(FindingKind::MissingMedia, Severity::Error, message, rows.len()));
        return Ok(findings);
    }
    let seen = look(dataset, &rows, media)?;
    let (mut missing, mut broken, mut short) = (Vec::new(), Vec::new(), Vec::new());
    for (&row, seen) in rows.iter().zip(&seen) {
        match seen {
            Seen::Missing => missing.push(listed(dataset, row, None)),
            Seen::Undecodable(reason) => broken.push(listed(dataset, row, Some(reason.clone()))),
            Seen::Short(_, count) => {
                let reason = format!("{count} of the {} frames that are taken", frames_of(dataset));
                short.push(listed(dataset, row, Some(reason)));
            }
            Seen::Whole(_) => {}
        }
    }
    let (mut straddling, mut twice) = (Vec::new(), Vec::new());
    for Copy { row, before } in copies(dataset, &first, &seen) {
        let (here, there) = (dataset.splits()[row], dataset.splits()[before]);
        let other = dataset.media_name(before).filter(|other| dataset.media_name(row) != Some(other));
        let mut reason = if here == there { Vec::new() } else { vec![format!("{there} and {here}")] };
        reason.extend(other.map(|other| format!("the same as {other}")));
        let reason = (!reason.is_empty()).then(|| reason.join(", "));
        if here == there { &mut twice } else { &mut straddling }.push(listed(dataset, row, reason));
    }
    let errors = [
        (FindingKind::MissingMedia, ["medium is not there", "media are not there"], missing),
        (FindingKind::UndecodableMedia, ["medium cannot be decoded", "media cannot be decoded"], broken),
        (FindingKind::MediaInTwoSplits, ["medium is in two splits", "media are in two splits"], straddling),
    ];
    findings
        .extend(errors.into_iter().filter_map(|(kind, words, all)| Finding::about(kind, Severity::Error, words, all)));
    let words = ["video is short: frames are repeated", "videos are short: frames are repeated"];
    findings.extend(Finding::about(FindingKind::ShortVideo, Severity::Warning, words, short));
    let words = ["sample has the medium of another", "samples have the medium of another"];
    findings.extend(Finding::about(FindingKind::MediaTwice, Severity::Warning, words, twice));
    Ok(findings)
}

fn listed(dataset: &Dataset, row: usize, reason: Option<String>) -> Listed {
    let name = dataset.media_name(row).unwrap_or_default().to_owned();
    Listed { name, sample: Some(dataset.table().ids[row].to_owned()), reason }
}

/// A row whose medium an earlier row has too.
struct Copy {
    row: usize,
    before: usize,
}

/// Rows that share a medium. It is known by its content where that was read, else by its path.
fn copies(dataset: &Dataset, first: &BTreeMap<&str, usize>, seen: &[Seen]) -> Vec<Copy> {
    let mut owner: BTreeMap<(Option<Digest>, &str), usize> = BTreeMap::new();
    let mut copies = Vec::new();
    for row in 0..dataset.table().ids.len() {
        let Some(name) = dataset.media_name(row) else { continue };
        let known = match first.get(name).map(|&place| &seen[place]) {
            Some(Seen::Whole(Some(digest)) | Seen::Short(digest, _)) => (Some(*digest), ""),
            _ => (None, name),
        };
        let before = *owner.entry(known).or_insert(row);
        if before != row {
            copies.push(Copy { row, before });
        }
    }
    copies
}

/// Frames that are taken of each medium: as the dataset says, else as training does by default.
fn frames_of(dataset: &Dataset) -> usize {
    match dataset.manifest().kind_of_media() {
        Some(Kind::Video) => dataset.manifest().frames.map_or(SHAPE.0, |frames| frames as usize),
        _ => 1,
    }
}

/// Looks at the media of these rows.
fn look(dataset: &Dataset, rows: &[usize], media: MediaCheck<'_>) -> Result<Vec<Seen>> {
    let path_of = |row: usize| dataset.media_path(row).filter(|path| path.exists());
    let MediaCheck::Decode { threads, progress } = media else {
        return Ok(rows.iter().map(|&row| path_of(row).map_or(Seen::Missing, |_| Seen::Whole(None))).collect());
    };
    let reader = dataset.media_reader()?;
    let frames = frames_of(dataset);
    let shape = FrameShape::new(frames.min(SHAPE.0), SHAPE.1, SHAPE.1)?;
    let done = AtomicUsize::new(0);
    in_parallel(threads, rows.len(), |number| {
        let seen = match path_of(rows[number]) {
            None => Seen::Missing,
            Some(path) => match read(&reader, &path, shape) {
                Ok((digest, count)) if count < frames as u64 => Seen::Short(digest, count),
                Ok((digest, _)) => Seen::Whole(Some(digest)),
                Err(error @ Error::Program { .. }) => return Err(error),
                Err(error) => Seen::Undecodable(error.reason()),
            },
        };
        progress(done.fetch_add(1, Ordering::Relaxed) + 1, rows.len());
        Ok(seen)
    })
}

/// Decodes a medium; its content and its number of frames.
fn read(reader: &MediaReader, path: &Path, shape: FrameShape) -> Result<(Digest, u64)> {
    reader.read(path, shape, &mut vec![0; shape.bytes()])?;
    let count = match reader {
        MediaReader::Videos(reader) => reader.count(path)?,
        MediaReader::Pictures(_) => 1,
    };
    Ok((digest(path)?, count))
}
