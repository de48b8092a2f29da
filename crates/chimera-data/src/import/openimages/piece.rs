//! What a piece of a file of boxes says, found out apart from all others: pieces are read side by side and put together in
//! order.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::classes::Classes;
use super::rows::Lines;
use crate::error::shown;

/// The columns that are read; the others say how a box was drawn, not what it shows.
pub(super) const COLUMNS: [&str; 6] = ["ImageID", "LabelName", "XMin", "XMax", "YMin", "YMax"];

/// What its rows say.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) rows: usize,
    /// Ids of pictures as they are named, each with where its boxes end. Rows of a picture follow each other.
    pub(super) pictures: Vec<(String, usize)>,
    pub(super) boxes: Vec<Shown>,
    /// Classes that have no name, with their rows.
    pub(super) unknown: BTreeMap<String, usize>,
    /// Lines that cannot be used, and why.
    pub(super) unusable: Vec<(u64, String)>,
}

/// A box.
pub(super) struct Shown {
    pub(super) class: u32,
    /// Hash of class and place.
    pub(super) hash: u64,
    pub(super) line: u64,
}

impl Piece {
    pub(super) fn read(lines: Lines<'_, { COLUMNS.len() }>, classes: &Classes) -> Self {
        let mut piece = Self::default();
        // Rows of a class often follow each other.
        let mut last: (&[u8], Option<u32>) = (&[], None);
        for row in lines {
            piece.rows += 1;
            let [id, label, place @ ..] = row.cells;
            if last.0 != label {
                last = (label, classes.number(label));
            }
            let Some(class) = last.1 else {
                *piece.unknown.entry(shown(&String::from_utf8_lossy(label))).or_default() += 1;
                continue;
            };
            let place = match sides(place) {
                Ok(place) => place,
                Err(reason) => {
                    piece.unusable.push((row.line, reason));
                    continue;
                }
            };
            if piece.pictures.last().is_none_or(|(before, _)| before.as_bytes() != id) {
                let Some(id) = std::str::from_utf8(id).ok().filter(|id| !id.trim().is_empty()) else {
                    let got = shown(&String::from_utf8_lossy(id));
                    piece.unusable.push((row.line, format!("expected an ImageID, got `{got}`")));
                    continue;
                };
                piece.pictures.push((id.to_owned(), 0));
            }
            let hash = FixedState::default().hash_one((class, place.map(f64::to_bits)));
            piece.boxes.push(Shown { class, hash, line: row.line });
            if let Some((_, end)) = piece.pictures.last_mut() {
                *end = piece.boxes.len();
            }
        }
        piece
    }
}

/// XMin, XMax, YMin, YMax as shares of the picture's width and height.
fn sides(cells: [&[u8]; 4]) -> Result<[f64; 4], String> {
    let place = cells.map(|cell| number(cell).unwrap_or(f64::NAN));
    let [left, right, top, bottom] = place;
    // Nothing compares with what is no number.
    if 0.0 <= left && left < right && right <= 1.0 && 0.0 <= top && top < bottom && bottom <= 1.0 {
        return Ok(place);
    }
    let got = cells.map(|cell| shown(&String::from_utf8_lossy(cell))).join(", ");
    Err(format!("expected 0 <= XMin < XMax <= 1 and 0 <= YMin < YMax <= 1, got {got}"))
}

/// A number as `f64` reads it.
fn number(cell: &[u8]) -> Option<f64> {
    decimal(cell).or_else(|| std::str::from_utf8(cell).ok()?.trim().parse().ok())
}

/// A short one such as 0.0125. 15 digits are a whole number that `f64` holds, and so is the power of ten: their quotient is
/// rounded once, to the nearest.
fn decimal(cell: &[u8]) -> Option<f64> {
    if cell.len() > 15 || !cell.first()?.is_ascii_digit() {
        return None;
    }
    let (mut digits, mut scale, mut is_fraction) = (0_u64, 1_u64, false);
    for &byte in cell {
        match byte {
            b'0'..=b'9' => {
                digits = 10 * digits + u64::from(byte - b'0');
                scale *= if is_fraction { 10 } else { 1 };
            }
            b'.' if !is_fraction => is_fraction = true,
            _ => return None,
        }
    }
    Some(digits as f64 / scale as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        let mut random = fastrand::Rng::with_seed(4);
        for _ in 0..100_000 {
            let (value, places) = (random.f64(), random.usize(..18));
            let text = format!("{value:.places$}");
            assert_eq!(number(text.as_bytes()), text.parse().ok(), "{text}");
        }
        for text in ["1", "1.", "0", " 0.5 ", "1e-3", ".5", "-0.1", "999999999999999", "9999999999999999", "NaN"] {
            let expected: f64 = text.trim().parse().unwrap();
            assert_eq!(number(text.as_bytes()).unwrap().to_bits(), expected.to_bits(), "{text}");
        }
        for text in ["", ".", "0.1.2", "0,5", "x", "1 2"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }
}
