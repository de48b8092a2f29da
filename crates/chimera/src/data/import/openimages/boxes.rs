//! Boxes: which picture shows which class at least once. Rows that cannot be used are left out and counted.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::path::Path;

use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashSet;
use indexmap::IndexSet;

use super::classes::Classes;
use super::rows::Rows;
use crate::data::cell::shown;
use crate::data::import::Note;
use crate::error::{Error, Result};

/// The columns that are read; the others say how a box was drawn, not what it shows.
const COLUMNS: [&str; 6] = ["ImageID", "LabelName", "XMin", "XMax", "YMin", "YMax"];

/// A picture, by number, that shows a class, by number.
pub(super) type Cell = (u32, u32);

/// What all box files say together.
pub(super) struct Boxes<'a> {
    classes: &'a Classes,
    /// Ids of pictures in the order in which they are first named.
    pub(super) pictures: IndexSet<String, RandomState>,
    /// For each picture the number of its split's word.
    split_of: Vec<usize>,
    words: Vec<String>,
    /// Once each and in order when all is read.
    pub(super) shown: Vec<Cell>,
    /// Hashes of boxes: 14 million of Open Images take as many words. That two different ones share a hash among so many has a
    /// chance of one in 100,000, and is only counted wrong.
    seen: HashSet<u64, RandomState>,
    rows: usize,
    unknown: BTreeMap<String, usize>,
    unusable: Note,
    twice: Note,
}

impl<'a> Boxes<'a> {
    pub(super) fn new(classes: &'a Classes) -> Self {
        Self {
            classes,
            pictures: IndexSet::default(),
            split_of: Vec::new(),
            words: Vec::new(),
            shown: Vec::new(),
            seen: HashSet::default(),
            rows: 0,
            unknown: BTreeMap::new(),
            unusable: Note::new("rows of boxes were left out, since they cannot be used"),
            twice: Note::new("rows of boxes came before, with the same class and place"),
        }
    }

    /// Reads a file whose pictures belong to a split, by the source's word for it.
    pub(super) fn read(&mut self, word: &str, path: &Path) -> Result<()> {
        let split = self.words.iter().position(|other| other == word).unwrap_or_else(|| {
            self.words.push(word.to_owned());
            self.words.len() - 1
        });
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let mut rows = Rows::open(path, COLUMNS)?;
        // Rows of a picture follow each other, and often those of a class.
        let (mut picture, mut class) = ((Vec::new(), 0), (Vec::new(), None));
        while let Some(row) = rows.next()? {
            self.rows += 1;
            let [id, label, place @ ..] = row.cells;
            if class.0 != label {
                class = (label.to_vec(), self.classes.number(label));
            }
            let Some(class) = class.1 else {
                *self.unknown.entry(shown(&String::from_utf8_lossy(label))).or_default() += 1;
                continue;
            };
            let place = match sides(place) {
                Ok(place) => place,
                Err(reason) => {
                    self.unusable.add(|| format!("{file}, line {}: {reason}", row.line));
                    continue;
                }
            };
            if picture.0 != id || id.is_empty() {
                match std::str::from_utf8(id).ok().filter(|id| !id.trim().is_empty()) {
                    Some(text) => picture = (id.to_vec(), self.picture(text, split, path)?),
                    None => {
                        let got = shown(&String::from_utf8_lossy(id));
                        self.unusable.add(|| format!("{file}, line {}: expected an ImageID, got `{got}`", row.line));
                        continue;
                    }
                }
            }
            let same = FixedState::default().hash_one((picture.1, class, place.map(f64::to_bits)));
            self.shown.push((picture.1, class));
            if !self.seen.insert(same) {
                self.twice.add(|| format!("{file}, line {}", row.line));
            }
        }
        Ok(())
    }

    /// The number of a picture. One in two splits would be learned from and tested on.
    fn picture(&mut self, id: &str, split: usize, path: &Path) -> Result<u32> {
        let number = match self.pictures.get_index_of(id) {
            Some(number) => number,
            None => {
                self.split_of.push(split);
                self.pictures.insert_full(id.to_owned()).0
            }
        };
        let before = self.split_of[number];
        if before != split {
            let (file, id, here, there) = (path.display(), shown(id), &self.words[split], &self.words[before]);
            let message =
                format!("expected a picture in one split, got `{id}` of `{there}` again in `{file}` ({here})");
            return Err(Error::input(message, Some("remove it from one of the files".to_owned())));
        }
        Ok(number as u32)
    }

    /// The source's word for the split of a picture.
    pub(super) fn word(&self, picture: usize) -> &str {
        &self.words[self.split_of[picture]]
    }

    /// Notes what was left out, or refuses it.
    pub(super) fn finish(&mut self, path: &Path, strict: bool, notes: &mut Vec<Note>) -> Result<()> {
        self.seen = HashSet::default();
        self.shown.sort_unstable();
        self.shown.dedup();
        let mut unknown = Note::new("rows of boxes were left out, since their classes have no name");
        unknown.count = self.unknown.values().sum();
        unknown.listed = self.unknown.iter().take(super::LISTED).map(|(id, rows)| format!("{id}: {rows}")).collect();
        let [unusable, twice] =
            [&mut self.unusable, &mut self.twice].map(|note| std::mem::replace(note, Note::new("")));
        let found = [unknown, unusable, twice];
        let worst = found.iter().find(|note| note.count > 0);
        if let Some(worst) = worst.filter(|_| strict || self.shown.is_empty()) {
            let (count, first) = (worst.count, worst.listed.first().map_or("", String::as_str));
            let message = format!(
                "expected {} rows of boxes in `{}` that can be used, each once, got {count} that cannot: {first}",
                self.rows,
                path.display()
            );
            let hint = "mend or remove what is listed; without `--strict`, it is left out and counted";
            return Err(Error::input(message, (!self.shown.is_empty()).then(|| hint.to_owned())));
        }
        notes.extend(found.into_iter().filter(|note| note.count > 0));
        Ok(())
    }
}

/// XMin, XMax, YMin, YMax as shares of the picture's width and height.
fn sides(cells: [&[u8]; 4]) -> std::result::Result<[f64; 4], String> {
    let number = |cell: &[u8]| std::str::from_utf8(cell).ok().and_then(|text| text.trim().parse::<f64>().ok());
    let place = cells.map(|cell| number(cell).unwrap_or(f64::NAN));
    let [left, right, top, bottom] = place;
    // Nothing compares with what is no number.
    if 0.0 <= left && left < right && right <= 1.0 && 0.0 <= top && top < bottom && bottom <= 1.0 {
        return Ok(place);
    }
    let got = cells.map(|cell| shown(&String::from_utf8_lossy(cell))).join(", ");
    Err(format!("expected 0 <= XMin < XMax <= 1 and 0 <= YMin < YMax <= 1, got {got}"))
}
