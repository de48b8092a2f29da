//! Contact sheets: many small pictures in a grid under a title, each with its id and its labels below, to see at a glance what
//! is in a dataset or what a rule flags. The same input gives the same bytes.

mod caption;
mod font;

use std::num::NonZeroUsize;

use self::font::{ADVANCE, HEIGHT, glyph};
use super::picture::{Picture, Size};
use crate::error::{Error, Result};

const PAPER: [u8; 3] = [255; 3];
const FRAME: [u8; 3] = [236, 237, 240];
const ID: [u8; 3] = [16, 20, 32];
const LABELS: [u8; 3] = [70, 88, 128];
/// Pixels of paper round every cell.
const MARGIN: usize = 10;
/// Pixels between a thumbnail and its caption.
const GAP: usize = 5;
/// Pixels from one line of text to the next.
const LINE: usize = HEIGHT + 3;
/// A sheet has at most so many pixels; beyond that nobody looks at it and viewers give up.
const LARGEST_SHEET: usize = 1 << 26;

/// How a sheet is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SheetParams {
    /// Thumbnails a row, at least 1; default 6.
    pub columns: usize,
    /// Pixels of the square that each thumbnail fits into, from 48 to 1024; default 160.
    pub thumbnail: usize,
    /// Lines for labels below the id, at most 20; default 3.
    pub label_lines: usize,
}

impl Default for SheetParams {
    fn default() -> Self {
        Self { columns: 6, thumbnail: 160, label_lines: 3 }
    }
}

/// One picture of a sheet.
#[derive(Clone, Copy, Debug)]
pub struct SheetEntry<'a> {
    /// Shown as large as fits, its aspect ratio kept.
    pub picture: &'a Picture,
    /// The first line below it.
    pub id: &'a str,
    /// The lines after it; those that do not fit are counted.
    pub labels: &'a [String],
}

/// Draws a sheet, row by row from the left, below the lines of a title, if there are any; those that are too long go on in the
/// next line.
///
/// # Errors
/// [`Error::Input`] for parameters out of range, for no entries, or for a sheet of more than 2^26 pixels.
pub fn draw_sheet(title: &[String], entries: &[SheetEntry<'_>], params: SheetParams) -> Result<Picture> {
    let SheetParams { columns, thumbnail, label_lines } = params;
    if columns == 0 || !(48..=1024).contains(&thumbnail) || label_lines > 20 || entries.is_empty() {
        return Err(Error::input(
            format!(
                "no sheet of {} pictures, {columns} a row, {thumbnail} pixels each, {label_lines} lines of labels",
                entries.len()
            ),
            Some("there must be pictures, at least 1 a row, of 48 to 1024 pixels, with 0 to 20 lines".to_owned()),
        ));
    }
    let columns = columns.min(entries.len());
    let cell = (thumbnail + MARGIN, thumbnail + GAP + LINE * (1 + label_lines) + MARGIN);
    let width = columns * cell.0 + MARGIN;
    let title: Vec<String> =
        title.iter().flat_map(|line| caption::wrapped(line, (width - 2 * MARGIN) / ADVANCE)).collect();
    let above = if title.is_empty() { MARGIN } else { 2 * MARGIN + LINE * title.len() };
    let height = entries.len().div_ceil(columns).saturating_mul(cell.1) + above;
    let size = Size::new(width, height).ok().filter(|size| size.bytes() / 3 <= LARGEST_SHEET).ok_or_else(|| {
        Error::input(
            format!("a sheet of {width} x {height} pixels is too large"),
            Some("show fewer pictures, or smaller ones".to_owned()),
        )
    })?;
    let mut sheet = Picture::filled(size, PAPER);
    for (at, line) in title.iter().enumerate() {
        draw_text(&mut sheet, MARGIN, MARGIN + at * LINE, line, ID);
    }
    for (at, entry) in entries.iter().enumerate() {
        let corner = (MARGIN + at % columns * cell.0, above + at / columns * cell.1);
        draw_entry(&mut sheet, corner, entry, params);
    }
    Ok(sheet)
}

fn draw_entry(sheet: &mut Picture, (left, top): (usize, usize), entry: &SheetEntry<'_>, params: SheetParams) {
    let side = params.thumbnail;
    for row in top..top + side {
        fill_row(sheet, left, row, side, FRAME);
    }
    let small =
        entry.picture.resized(entry.picture.size().within(NonZeroUsize::new(side).unwrap_or(NonZeroUsize::MIN)));
    let (width, height) = (small.size().width(), small.size().height());
    let (inner_left, inner_top) = (left + (side - width) / 2, top + (side - height) / 2);
    for (row, pixels) in small.pixels().chunks_exact(3 * width).enumerate() {
        let start = offset(sheet, inner_left, inner_top + row);
        sheet.pixels_mut()[start..start + pixels.len()].copy_from_slice(pixels);
    }
    let characters = side / ADVANCE;
    let mut baseline = top + side + GAP;
    draw_text(sheet, left, baseline, &caption::cut(entry.id, characters), ID);
    for line in caption::pack(entry.labels, characters, params.label_lines) {
        baseline += LINE;
        draw_text(sheet, left, baseline, &line, LABELS);
    }
}

fn draw_text(sheet: &mut Picture, left: usize, top: usize, text: &str, color: [u8; 3]) {
    for (at, character) in text.chars().enumerate() {
        for (row, bits) in glyph(character).into_iter().enumerate() {
            for column in (0..5).filter(|column| bits >> (4 - column) & 1 == 1) {
                fill_row(sheet, left + at * ADVANCE + column, top + row, 1, color);
            }
        }
    }
}

fn fill_row(sheet: &mut Picture, left: usize, row: usize, width: usize, color: [u8; 3]) {
    let start = offset(sheet, left, row);
    sheet.pixels_mut()[start..start + 3 * width].as_chunks_mut().0.fill(color);
}

fn offset(sheet: &Picture, left: usize, row: usize) -> usize {
    3 * (row * sheet.size().width() + left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(picture: &Picture, column: usize, row: usize) -> [u8; 3] {
        let start = offset(picture, column, row);
        [picture.pixels()[start], picture.pixels()[start + 1], picture.pixels()[start + 2]]
    }

    #[test]
    fn pictures_stand_where_they_belong() {
        let red = Picture::filled(Size::new(20, 10).unwrap(), [255, 0, 0]);
        let blue = Picture::filled(Size::new(1, 1).unwrap(), [0, 0, 255]);
        let labels = ["cat", "dog"].map(str::to_owned);
        let entry = |picture, id| SheetEntry { picture, id, labels: &labels };
        let params = SheetParams { columns: 2, thumbnail: 60, label_lines: 1 };
        let entries = [entry(&red, "a"), entry(&blue, "b"), entry(&red, "\u{e9}")];
        let sheet = draw_sheet(&[], &entries, params).unwrap();
        // Two columns of 60 + 10, two rows of 60 + 5 + 2 * 12 + 10, and a margin.
        assert_eq!(sheet.size(), Size::new(150, 208).unwrap());
        assert_eq!(at(&sheet, 0, 0), PAPER);
        // The red one is twice as wide as high: 60 x 30, with 15 rows of frame above and below.
        assert_eq!([at(&sheet, 10, 24), at(&sheet, 10, 25), at(&sheet, 69, 54)], [FRAME, [255, 0, 0], [255, 0, 0]]);
        assert_eq!(at(&sheet, 40, 55), FRAME);
        assert_eq!(at(&sheet, 80, 10), [0, 0, 255]);
        // The third is in the second row, and its id is a box.
        assert_eq!(at(&sheet, 10, 99 + 25), [255, 0, 0]);
        assert_eq!([at(&sheet, 10, 174), at(&sheet, 14, 180), at(&sheet, 12, 177)], [ID, ID, PAPER]);
        assert_eq!(at(&sheet, 80, 99 + 25), PAPER);
        // A title of two lines, one of which goes on, moves everything down by three lines and a margin.
        let title = ["a_long_formula => another_long_one".to_owned(), "no sample".to_owned()];
        let titled = draw_sheet(&title, &entries, params).unwrap();
        assert_eq!(titled.size(), Size::new(150, 208 + 3 * LINE + MARGIN).unwrap());
        let below = 3 * (3 * LINE + MARGIN) * 150;
        assert!(titled.pixels()[below + 3 * MARGIN * 150..] == sheet.pixels()[3 * MARGIN * 150..]);
        assert!(titled.pixels()[..below].as_chunks().0.contains(&ID));
    }

    #[test]
    fn impossible_sheets_are_refused() {
        let dot = Picture::filled(Size::new(1, 1).unwrap(), [0; 3]);
        let entry = SheetEntry { picture: &dot, id: "", labels: &[] };
        let with = SheetParams::default;
        for params in [
            SheetParams { columns: 0, ..with() },
            SheetParams { thumbnail: 47, ..with() },
            SheetParams { label_lines: 21, ..with() },
        ] {
            assert!(draw_sheet(&[], &[entry], params).is_err());
        }
        assert!(draw_sheet(&[], &[], with()).is_err());
        let error = draw_sheet(&[], &vec![entry; 40_000], with()).unwrap_err().to_string();
        assert!(error.contains("is too large\nhint: show fewer"), "{error}");
        assert!(draw_sheet(&[], &vec![entry; 400], SheetParams { columns: 1_000_000, ..with() }).is_err());
    }
}
