//! Samples to look at, sorted by score: of each class those with the ten smallest and the ten largest scores, and of a balanced
//! selection every tenth. Where a method is good, normal samples are in front and violations at the end.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::data::dataset::Dataset;
use crate::error::Error;
use crate::media::jpeg::encode;
use crate::parallel::in_parallel;
use crate::seed::stream;

/// Samples at either end.
const ENDS: usize = 10;

/// Of a balanced selection one in so many is shown.
const STEP: usize = 10;

/// No more of it than this are shown; the step grows where they would be more.
const MOST: usize = 48;

/// Pixels of a thumbnail's longer side.
const SIDE: NonZeroUsize = NonZeroUsize::new(88).unwrap();

/// JPEG's quality: small pictures need little.
const QUALITY: u8 = 72;

/// All thumbnails together take no more than this in the page, so that a report stays below 15 MB.
const MOST_BYTES: usize = 8 << 20;

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
        let (mut bytes, mut hidden, mut unreadable) = (0, 0, 0);
        let mut is_full = false;
        for (rule, scores, broken) in sorted {
            let panel = panel(dataset, rows, (*rule, scores, broken), seed);
            let mut wanted: Vec<usize> =
                panel.strips.iter().flat_map(|strip| &strip.tiles).map(|tile| tile.row).collect();
            wanted.sort_unstable();
            wanted.dedup();
            wanted.retain(|row| !gallery.pictures.contains_key(row));
            if wanted.is_empty() && panel.strips.is_empty() {
                continue;
            }
            if is_full {
                hidden += 1;
                continue;
            }
            let picture = |at: usize| {
                let Some(path) = dataset.media_path(wanted[at]) else { return Ok(None) };
                match reader.thumbnail(&path, SIDE) {
                    Ok(picture) => Ok(Some(encode(&picture, QUALITY)?)),
                    // Without the program that reads videos there are no thumbnails at all.
                    Err(error @ Error::Program { .. }) => Err(error),
                    Err(_) => Ok(None),
                }
            };
            match in_parallel(threads, wanted.len(), picture) {
                Err(error) => {
                    gallery.words.push(format!("no thumbnails: {error}"));
                    return Self { words: gallery.words, ..Self::default() };
                }
                Ok(pictures) => {
                    bytes += pictures.iter().flatten().map(|picture| in_page(picture)).sum::<usize>();
                    if bytes > MOST_BYTES {
                        (is_full, hidden) = (true, hidden + 1);
                        continue;
                    }
                    for (row, picture) in wanted.into_iter().zip(pictures) {
                        unreadable += usize::from(picture.is_none());
                        gallery.pictures.insert(row, picture.unwrap_or_default());
                    }
                }
            }
            gallery.panels.push(panel);
        }
        if hidden > 0 {
            gallery.words.push(format!("galleries of {hidden} rules are left out: the page would be too large"));
        }
        if unreadable > 0 {
            gallery.words.push(format!("{unreadable} samples of the galleries have no medium that can be read"));
        }
        gallery
    }
}

/// Bytes of a picture as base64: four for every three.
fn in_page(picture: &[u8]) -> usize {
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
    for (name, class) in [("normal", &normal), ("violating", &violating)] {
        let count = class.len();
        if count <= 2 * ENDS {
            push(&mut strips, format!("{name}, all {count}"), class.clone());
        } else {
            push(&mut strips, format!("{name}, the {ENDS} smallest of {count}"), class[..ENDS].to_vec());
            push(&mut strips, format!("{name}, the {ENDS} largest"), class[count - ENDS..].to_vec());
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
        let title = format!("{each} normal and {each} violating, one of every {step}, low to high");
        push(&mut strips, title, chosen.into_iter().step_by(step).collect());
    }
    Panel { rule, strips }
}

fn push(strips: &mut Vec<Strip>, title: String, tiles: Vec<Tile>) {
    if !tiles.is_empty() {
        strips.push(Strip { title, tiles });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::import::{TableImport, import_table};

    #[test]
    fn both_ends_of_both_classes_and_every_tenth_of_as_many_of_each() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("t.csv");
        let lines: String = (0..200).map(|row| format!("r{row:03},{}\n", row % 2)).collect();
        std::fs::write(&table, format!("id,a\n{lines}")).unwrap();
        let import = TableImport { table, ..TableImport::default() };
        let dataset = import_table(&import, &folder.path().join("ds")).unwrap().dataset;
        let rows: Vec<usize> = (0..200).collect();
        let scores: Vec<Option<f64>> = (0..200).map(|row| (row != 7).then_some(f64::from(row) / 200.0)).collect();
        // 60 of 200 break it; nobody knows whether the second does, and the eighth has no score.
        let broken: Vec<Option<bool>> = (0..200).map(|row| (row != 1).then_some(row >= 140)).collect();
        let panel = panel(&dataset, &rows, (None, &scores, &broken), 1);
        let titles: Vec<&str> = panel.strips.iter().map(|strip| strip.title.as_str()).collect();
        let expected = [
            "normal, the 10 smallest of 138",
            "normal, the 10 largest",
            "violating, the 10 smallest of 60",
            "violating, the 10 largest",
            "60 normal and 60 violating, one of every 10, low to high",
        ];
        assert_eq!(titles, expected);
        assert!(panel.strips.iter().all(|strip| strip.tiles.is_sorted_by_key(|tile| tile.score)));
        assert_eq!(panel.strips[0].tiles[1].id, "r002");
        assert_eq!(panel.strips[3].tiles[9].id, "r199");
        let balanced = &panel.strips[4].tiles;
        assert_eq!((balanced.len(), balanced.iter().filter(|tile| tile.broken).count()), (12, 6));
        let gallery = Gallery::of(&dataset, &rows, &[(None, &scores, broken)], 1, NonZeroUsize::MIN);
        assert!(gallery.panels.is_empty() && gallery.words[0].contains("no media"));
    }
}
