//! Boxes: which picture shows which class at least once. Rows that cannot be used are left out and counted.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashSet;
use indexmap::IndexSet;

use super::classes::Classes;
use super::files::BoxSource;
use super::piece::{COLUMNS, Piece};
use super::rows::Rows;
use crate::error::{Error, Result, shown};
use crate::import::media_list::LOOKERS;
use crate::import::note::{Bad, Note, leave_out};
use crate::parallel::in_parallel;

/// A picture, by number, that shows a class, by number.
pub(super) type Cell = (u32, u32);

/// What all box files say together.
pub(super) struct Boxes<'a> {
    classes: &'a Classes,
    files: &'a [BoxSource],
    /// What the files are called in messages: by their names, or by their paths where two share one.
    called: Vec<String>,
    /// Ids of pictures in the order in which they are first named.
    pub(super) pictures: IndexSet<String, RandomState>,
    /// For each picture the number of the file that names it first.
    file_of: Vec<usize>,
    /// Once each and in order when all is read.
    pub(super) shown: Vec<Cell>,
    /// Hashes of boxes: 14 million of Open Images take as many words. That two different ones share a hash among so many has a
    /// chance of one in 100,000, and is only counted wrong.
    seen: HashSet<u64, RandomState>,
    rows: usize,
    /// Rows of classes without a name, by file and class.
    unknown: BTreeMap<(usize, String), usize>,
    unusable: Note,
    twice: Note,
}

impl<'a> Boxes<'a> {
    pub(super) fn new(classes: &'a Classes, files: &'a [BoxSource]) -> Self {
        let name = |file: &BoxSource| file.path.file_name().unwrap_or_default().to_owned();
        let called = |file: &BoxSource| match files.iter().filter(|other| name(other) == name(file)).count() {
            1 => name(file).to_string_lossy().into_owned(),
            _ => file.path.display().to_string(),
        };
        Self {
            classes,
            files,
            called: files.iter().map(called).collect(),
            pictures: IndexSet::default(),
            file_of: Vec::new(),
            shown: Vec::new(),
            seen: HashSet::default(),
            rows: 0,
            unknown: BTreeMap::new(),
            unusable: Note::about(
                "row of boxes was left out, since it cannot be used",
                "rows of boxes were left out, since they cannot be used",
            ),
            twice: Note::about(
                "row of boxes came before, with the same class and place",
                "rows of boxes came before, with the same class and place",
            ),
        }
    }

    /// Reads all files.
    pub(super) fn read(&mut self) -> Result<()> {
        (0..self.files.len()).try_for_each(|file| self.read_file(file))
    }

    fn read_file(&mut self, number: usize) -> Result<()> {
        let mut rows = Rows::open(&self.files[number].path, COLUMNS)?;
        while let Some(block) = rows.block()? {
            let pieces = block.pieces(LOOKERS.get());
            for piece in in_parallel(LOOKERS, pieces.len(), |piece| Ok(Piece::read(pieces[piece], self.classes)))? {
                self.take(piece, number)?;
            }
        }
        Ok(())
    }

    /// Adds the next piece of a file.
    fn take(&mut self, piece: Piece, number: usize) -> Result<()> {
        self.rows += piece.rows;
        for (class, rows) in piece.unknown {
            *self.unknown.entry((number, class)).or_default() += rows;
        }
        for (line, reason) in piece.unusable {
            self.unusable.add(|| format!("{}, line {line}: {reason}", self.called[number]));
        }
        let mut boxes = piece.boxes.iter();
        let mut begin = 0;
        for (id, end) in piece.pictures {
            let picture = self.picture(id, number)?;
            for shown in boxes.by_ref().take(end - begin) {
                self.shown.push((picture, shown.class));
                if !self.seen.insert(FixedState::default().hash_one((picture, shown.hash))) {
                    self.twice.add(|| format!("{}, line {}: it came before", self.called[number], shown.line));
                }
            }
            begin = end;
        }
        Ok(())
    }

    /// The number of a picture. One in two splits would be learned from and tested on.
    fn picture(&mut self, id: String, file: usize) -> Result<u32> {
        let (number, is_new) = self.pictures.insert_full(id);
        if is_new {
            self.file_of.push(file);
        }
        let [here, there] = [file, self.file_of[number]].map(|file| &self.files[file]);
        if here.split != there.split {
            let (id, [first, again]) = (shown(&self.pictures[number]), [there, here].map(|file| file.path.display()));
            let (there, here) = (&there.split, &here.split);
            let message = format!(
                "expected a picture in one split, got `{id}` of `{there}` in `{first}`, and of `{here}` in `{again}`"
            );
            return Err(Error::input(message, Some("remove it from one of the files".to_owned())));
        }
        Ok(number as u32)
    }

    /// The file that names a picture first.
    pub(super) fn file(&self, picture: usize) -> &'a BoxSource {
        &self.files[self.file_of[picture]]
    }

    /// Notes what was left out, or refuses it.
    pub(super) fn finish(&mut self, strict: bool, notes: &mut Vec<Note>) -> Result<()> {
        self.seen = HashSet::default();
        self.shown.sort_unstable();
        self.shown.dedup();
        let mut unknown = Note::about(
            "row of boxes was left out, since its class has no name",
            "rows of boxes were left out, since their classes have no name",
        );
        for ((file, id), &rows) in &self.unknown {
            unknown.add_many(rows, || format!("{}, {id}: {rows}, without a name", self.called[*file]));
        }
        let [unusable, twice] =
            [&mut self.unusable, &mut self.twice].map(|note| std::mem::replace(note, Note::new("")));
        let files: Vec<String> = self.files.iter().map(|file| format!("`{}`", file.path.display())).collect();
        let expected = format!("{} rows of boxes in {} that can be used, each once", self.rows, files.join(", "));
        leave_out([unknown, unusable, twice], &expected, Bad::of(strict, !self.shown.is_empty()), notes)
    }
}
