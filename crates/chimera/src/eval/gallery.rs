//! Samples to look at, sorted by score: of each class those with the ten smallest and the ten largest scores, and of a balanced
//! selection every tenth, small. Where a method is good, normal samples are in front and violations at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::error::{Error, Result};
use chimera_data::media::jpeg::encode;
use chimera_data::media::reader::MediaReader;
use chimera_data::parallel::in_parallel;
use chimera_data::seed::stream;

/// Samples at either end.
const ENDS: usize = 10;

/// Of a balanced selection one in so many is shown.
const STEP: usize = 10;

/// No more of it than this are shown; the step grows where they would be more, which is said.
const MOST: usize = 1000;

/// Pixels of a thumbnail's longer side.
pub(crate) const SIDE: NonZeroUsize = NonZeroUsize::new(88).unwrap();

/// The same, of small ones.
const SMALL_SIDE: NonZeroUsize = NonZeroUsize::new(44).unwrap();

/// JPEG's quality: small pictures need little.
const QUALITY: u8 = 72;

/// All galleries together take no more than this in the page, so that a report stays below 15 MB.
pub(crate) const MOST_BYTES: usize = 11 << 20;

/// A tile takes about so much beside its thumbnail and its id, which is there twice.
const TILE_BYTES: usize = 110;

/// A sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// Its row.
    pub row: usize,
    /// Its id.
    pub id: String,
    /// Its score.
    pub score: f64,
    /// Whether it breaks the rule.
    pub broken: bool,
}

/// Samples in a row, from low to high.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// What they are.
    pub title: String,
    /// They themselves.
    pub tiles: Vec<Tile>,
    /// Whether they are shown small.
    pub is_small: bool,
}

/// What is shown of a rule, or of all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The rule, by number; `None` for the one number of a sample.
    pub rule: Option<usize>,
    /// Strips.
    pub strips: Vec<Strip>,
}

/// Everything that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gallery {
    /// Panels, that of whole samples first.
    pub panels: Vec<Panel>,
    /// Thumbnails as JPEG, by row.
    pub pictures: BTreeMap<usize, Vec<u8>>,
    /// Small ones, of rows that were not there large when they were needed.
    pub small: BTreeMap<usize, Vec<u8>>,
    /// What is not shown, and why.
    pub words: Vec<String>,
}

/// What is sorted: the rule (`None` for samples as a whole), scores, and who breaks it.
pub(super) type Sorted<'a> = (Option<usize>, &'a [Option<f64>], Vec<Option<bool>>);

impl Gallery {
    /// Chooses samples and makes their thumbnails. `rows` are the test rows that scores are about.
    pub(super) fn of(
        dataset: &Dataset,
        rows: &[usize],
        sorted: &[Sorted<'_>],
        seed: u64,
        threads: NonZeroUsize,
    ) -> Self {
        let Ok(reader) = dataset.media_reader() else {
            let words = vec!["the dataset has no media, so there is nothing to look at".to_owned()];
            return Self { words, ..Self::default() };
        };
        let mut gallery = Self::default();
        let (mut bytes, mut hidden, mut unreadable) = (0, 0, BTreeSet::new());
        let mut is_full = false;
        for (rule, scores, broken) in sorted {
            let panel = panel(dataset, rows, (*rule, scores, broken), seed);
            if panel.strips.is_empty() {
                continue;
            }
            if is_full {
                hidden += 1;
                continue;
            }
            let wanted = gallery.wanted(&panel);
            let picture = |at: usize| {
                let (row, is_small) = wanted[at];
                thumbnail(dataset, &reader, row, if is_small { SMALL_SIDE } else { SIDE })
            };
            match in_parallel(threads, wanted.len(), picture) {
                Err(error) => {
                    gallery.words.push(format!("no thumbnails: {error}"));
                    return Self { words: gallery.words, ..Self::default() };
                }
                Ok(pictures) => {
                    let tiles = panel.strips.iter().flat_map(|strip| &strip.tiles);
                    bytes += tiles.map(|tile| TILE_BYTES + 2 * tile.id.len()).sum::<usize>();
                    bytes += pictures.iter().flatten().map(|picture| in_page(picture)).sum::<usize>();
                    if bytes > MOST_BYTES {
                        (is_full, hidden) = (true, hidden + 1);
                        continue;
                    }
                    for ((row, is_small), picture) in wanted.into_iter().zip(pictures) {
                        unreadable.extend(picture.is_none().then_some(row));
                        let kept = if is_small { &mut gallery.small } else { &mut gallery.pictures };
                        kept.insert(row, picture.unwrap_or_default());
                    }
                }
            }
            gallery.panels.push(panel);
        }
        if hidden > 0 {
            gallery.words.push(format!("galleries of {hidden} rules are left out: the page would be too large"));
        }
        if !unreadable.is_empty() {
            let count = unreadable.len();
            gallery.words.push(format!("{count} samples of the galleries have no medium that can be read"));
        }
        gallery
    }

    /// Rows of a panel that have no thumbnail yet, and whether they need a small one alone. A large one serves as a small one.
    fn wanted(&self, panel: &Panel) -> Vec<(usize, bool)> {
        let of_kind = |is_small: bool| -> BTreeSet<usize> {
            let strips = panel.strips.iter().filter(|strip| strip.is_small == is_small);
            strips.flat_map(|strip| &strip.tiles).map(|tile| tile.row).collect()
        };
        let (large, small) = (of_kind(false), of_kind(true));
        let is_new = |row: &&usize| !self.pictures.contains_key(*row);
        let large_ones = large.iter().filter(is_new).map(|row| (*row, false));
        let small_ones = small.difference(&large).filter(is_new).filter(|row| !self.small.contains_key(*row));
        large_ones.chain(small_ones.map(|row| (*row, true))).collect()
    }
}

/// A sample's thumbnail as JPEG; `None` where its medium is missing or cannot be read.
///
/// # Errors
/// Without the program that reads videos there are no thumbnails at all.
pub(crate) fn thumbnail(
    dataset: &Dataset,
    reader: &MediaReader,
    row: usize,
    side: NonZeroUsize,
) -> Result<Option<Vec<u8>>> {
    let Some(path) = dataset.media_path(row) else { return Ok(None) };
    match reader.thumbnail(&path, side) {
        Ok(picture) => Ok(Some(encode(&picture, QUALITY)?)),
        Err(error @ Error::Program { .. }) => Err(error),
        Err(_) => Ok(None),
    }
}

/// Bytes of a picture as base64: four for every three.
pub(crate) fn in_page(picture: &[u8]) -> usize {
    4 * picture.len().div_ceil(3)
}

fn panel(
    dataset: &Dataset,
    rows: &[usize],
    (rule, scores, broken): (Option<usize>, &[Option<f64>], &[Option<bool>]),
    seed: u64,
) -> Panel {
    let tile = |at: usize| {
        let (row, score, broken) = (rows[at], scores[at]?, broken[at]?);
        Some(Tile { row, id: dataset.table().ids[row].to_owned(), score, broken })
    };
    let mut tiles: Vec<Tile> = (0..rows.len()).filter_map(tile).collect();
    tiles.sort_by(|one, other| one.score.total_cmp(&other.score).then(one.id.cmp(&other.id)));
    let of_class =
        |broken: bool| tiles.iter().filter(move |tile| tile.broken == broken).cloned().collect::<Vec<Tile>>();
    let (normal, violating) = (of_class(false), of_class(true));
    let mut strips = Vec::new();
    let mut push = |title: String, tiles: Vec<Tile>, is_small: bool| {
        if !tiles.is_empty() {
            strips.push(Strip { title, tiles, is_small });
        }
    };
    for (name, class) in [("normal", &normal), ("violating", &violating)] {
        let count = class.len();
        if count <= 2 * ENDS {
            push(format!("{name}, all {count}"), class.clone(), false);
        } else {
            push(format!("{name}, the {ENDS} smallest of {count}"), class[..ENDS].to_vec(), false);
            push(format!("{name}, the {ENDS} largest"), class[count - ENDS..].to_vec(), false);
        }
    }
    let each = normal.len().min(violating.len());
    if each >= ENDS {
        let mut random = stream(seed, "gallery", rule.map_or(0, |rule| rule as u64 + 1));
        let mut chosen: Vec<Tile> = [normal, violating]
            .into_iter()
            .flat_map(|mut class| {
                random.shuffle(&mut class);
                class.truncate(each);
                class
            })
            .collect();
        chosen.sort_by(|one, other| one.score.total_cmp(&other.score).then(one.id.cmp(&other.id)));
        let step = STEP.max((2 * each).div_ceil(MOST));
        let tenth = (2 * each).div_ceil(STEP);
        let why = if step > STEP { format!(", as every tenth would be {tenth} samples") } else { String::new() };
        let title = format!("{each} normal and {each} violating, one of every {step}, low to high{why}");
        push(title, chosen.into_iter().step_by(step).collect(), true);
    }
    Panel { rule, strips }
}

#[cfg(test)]
mod tests;
