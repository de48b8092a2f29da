//! Verified labels of whole pictures (`*-annotations-human-imagelabels-boxable.csv`): a person was asked whether a picture
//! shows a class, and said yes (1) or no (0).

use std::hash::BuildHasher;
use std::path::Path;

use foldhash::fast::{FixedState, RandomState};
use hashbrown::HashSet;

use super::boxes::{Boxes, Cell};
use super::classes::Classes;
use super::rows::Rows;
use crate::error::{Result, shown};
use crate::import::note::{Bad, Note, leave_out, met};

const COLUMNS: [&str; 3] = ["ImageID", "LabelName", "Confidence"];

/// What people said of pictures that have boxes.
#[derive(Default)]
pub(super) struct Verified {
    /// Yes; once each and in order.
    pub(super) present: Vec<Cell>,
    /// No; once each and in order.
    pub(super) absent: Vec<Cell>,
}

impl Verified {
    /// Reads all files. Pictures without boxes are no samples; how many were passed over is noted.
    pub(super) fn read(
        files: &[impl AsRef<Path>],
        classes: &Classes,
        boxes: &Boxes<'_>,
        strict: bool,
        notes: &mut Vec<Note>,
    ) -> Result<Self> {
        let mut unusable = Note::about(
            "row of verified labels was left out, since it cannot be used",
            "rows of verified labels were left out, since they cannot be used",
        );
        let mut passed = Note::about(
            "picture has verified labels but no boxes: it is no sample",
            "pictures have verified labels but no boxes: they are no samples",
        );
        // Hashes of their ids: there may be millions.
        let mut boxless: HashSet<u64, RandomState> = HashSet::default();
        let mut verified = Self::default();
        for path in files.iter().map(AsRef::as_ref) {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let mut rows = Rows::open(path, COLUMNS)?;
            while let Some(lines) = rows.block()? {
                for row in lines {
                    let [id, label, answer] = row.cells;
                    let said = match answer.trim_ascii() {
                        b"1" | b"1.0" => Some(&mut verified.present),
                        b"0" | b"0.0" => Some(&mut verified.absent),
                        _ => None,
                    };
                    let (Some(said), Some(class)) = (said, classes.number(label)) else {
                        unusable.add(|| {
                            let [label, answer] = [label, answer].map(|cell| shown(&String::from_utf8_lossy(cell)));
                            let line = row.line;
                            format!("{file}, line {line}: expected a class that has a name and 0 or 1, got `{label}` and `{answer}`")
                        });
                        continue;
                    };
                    let id = String::from_utf8_lossy(id);
                    match boxes.pictures.get_index_of(&*id) {
                        Some(picture) => said.push((picture as u32, class)),
                        None if boxless.insert(FixedState::default().hash_one(&*id)) => passed.add(|| shown(&id)),
                        None => {}
                    }
                }
            }
        }
        // Without any of them, boxes are still there to learn from.
        leave_out([unusable], "rows of verified labels that can be used", Bad::of(strict, true), notes)?;
        notes.extend(met([passed]));
        for cells in [&mut verified.present, &mut verified.absent] {
            cells.sort_unstable();
            cells.dedup();
        }
        Ok(verified)
    }
}
