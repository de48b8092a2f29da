//! Strips of samples sorted by a score: the ten smallest, then the ten largest.

use std::num::NonZeroUsize;

use chimera_data::dataset::Dataset;
use chimera_data::error::Result;
use chimera_data::media::picture::Picture;
use chimera_data::media::sheet::{SheetEntry, SheetParams, draw_sheet};

/// Samples of each end.
pub const EACH: usize = 10;

/// Pixels a side of a sample.
const THUMBNAIL: usize = 56;

/// A strip.
#[derive(Clone, Debug)]
pub struct Strip {
    /// What its samples are, in a few letters.
    pub class: String,
    /// What it is sorted by, in a few letters.
    pub name: String,
    /// Rows of the dataset with their scores, in any order.
    pub scored: Vec<(usize, f64)>,
}

impl Strip {
    /// The rows with the smallest and with the largest scores, low to high; without both, all rows there are.
    #[must_use]
    pub fn ends(&self) -> Vec<(usize, f64)> {
        let mut sorted = self.scored.clone();
        sorted.sort_by(|one, other| one.1.total_cmp(&other.1).then(one.0.cmp(&other.0)));
        if sorted.len() > 2 * EACH {
            sorted.drain(EACH..sorted.len() - EACH);
        }
        sorted
    }
}

/// Draws strips below each other.
///
/// # Errors
/// Media that cannot be read.
pub fn draw(dataset: &Dataset, title: &[String], strips: &[Strip]) -> Result<Picture> {
    let reader = dataset.media_reader()?;
    let side = NonZeroUsize::new(THUMBNAIL).unwrap_or(NonZeroUsize::MIN);
    let mut tiles: Vec<(Picture, String, Vec<String>)> = Vec::new();
    for strip in strips {
        for (row, score) in strip.ends() {
            let Some(path) = dataset.media_path(row) else { continue };
            let labels = vec![strip.name.clone(), told(score)];
            tiles.push((reader.thumbnail(&path, side)?, strip.class.clone(), labels));
        }
    }
    let entries: Vec<SheetEntry<'_>> =
        tiles.iter().map(|(picture, id, labels)| SheetEntry { picture, id, labels }).collect();
    draw_sheet(title, &entries, SheetParams { columns: 2 * EACH, thumbnail: THUMBNAIL, label_lines: 2 })
}

/// A score in a few letters; of a tiny one, its size.
fn told(score: f64) -> String {
    if score == 0.0 || score >= 0.001 { format!("{score:.3}") } else { format!("{score:.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_the_smallest_and_the_largest_in_order() {
        let scored: Vec<(usize, f64)> = (0..50).map(|row| (row, f64::from((row as i32 * 7) % 50))).collect();
        let ends = strip(&scored).ends();
        let scores: Vec<f64> = ends.iter().map(|(_, score)| *score).collect();
        assert_eq!(scores, (0..10).chain(40..50).map(f64::from).collect::<Vec<_>>());
        assert!(ends.iter().all(|end| scored.contains(end)));
        assert_eq!(strip(&scored[..7]).ends().len(), 7);
    }

    #[test]
    fn scores_are_told_in_a_few_letters() {
        assert_eq!([0.0, 3.2e-7, 0.0123, 1.0].map(told), ["0.000", "3e-7", "0.012", "1.000"]);
    }

    fn strip(scored: &[(usize, f64)]) -> Strip {
        Strip { class: "a".to_owned(), name: "b".to_owned(), scored: scored.to_vec() }
    }
}
