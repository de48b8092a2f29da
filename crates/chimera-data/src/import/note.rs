//! What importers did without being told to: what was left out, and what was assumed. Counted, the first of each listed.

use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Result};

/// So many names are kept in a note, and told in a refusal.
const LISTED: usize = 20;

/// Something that an importer did without being told to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What, in words that follow the count.
    pub message: String,
    /// How many things it is about; 0 where there is nothing to count.
    pub count: usize,
    /// The first of them.
    pub listed: Vec<String>,
    /// How many others are not listed, where any are.
    pub more: usize,
    /// What is said of one thing, and of several.
    #[serde(skip)]
    words: [String; 2],
}

impl Note {
    /// A note without a count.
    pub(super) fn new(message: impl Into<String>) -> Self {
        let message = message.into();
        Self::about(message.clone(), message)
    }

    /// A note about things that are counted while they are met; the words are about one of them, and about several.
    pub(super) fn about(one: impl Into<String>, several: impl Into<String>) -> Self {
        let words = [one.into(), several.into()];
        Self { message: words[1].clone(), count: 0, listed: Vec::new(), more: 0, words }
    }

    /// The same about so many things, of which none is listed.
    pub(super) fn of(count: usize, one: impl Into<String>, several: impl Into<String>) -> Self {
        let mut note = Self::about(one, several);
        note.count_more(count);
        note
    }

    /// Another thing was met.
    pub(super) fn add(&mut self, what: impl FnOnce() -> String) {
        self.add_many(1, what);
    }

    /// So many more were met, which are listed as one.
    pub(super) fn add_many(&mut self, count: usize, what: impl FnOnce() -> String) {
        self.count_more(count);
        if self.listed.len() < LISTED {
            self.listed.push(what());
        } else {
            self.more += count;
        }
    }

    /// Lists something about what was counted before.
    pub(super) fn list(&mut self, what: impl FnOnce() -> String) {
        if self.listed.len() < LISTED {
            self.listed.push(what());
        } else {
            self.more += 1;
        }
    }

    fn count_more(&mut self, count: usize) {
        self.count += count;
        self.words[usize::from(self.count != 1)].clone_into(&mut self.message);
    }
}

/// Notes that are about something.
pub(super) fn met(notes: impl IntoIterator<Item = Note>) -> impl Iterator<Item = Note> {
    notes.into_iter().filter(|note| note.count > 0)
}

/// Whether what cannot be used is left out, or ends the import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// It is left out and counted.
    LeftOut,
    /// The user asked for all or nothing.
    Refused,
    /// It is all there is.
    Everything,
}

impl Bad {
    /// As `--strict` says, and whether something is left without it.
    pub(super) fn of(strict: bool, something_is_left: bool) -> Self {
        match (strict, something_is_left) {
            (_, false) => Self::Everything,
            (true, true) => Self::Refused,
            (false, true) => Self::LeftOut,
        }
    }
}

/// Notes what was left out, or refuses it; `expected` says what should have been there ("3 rows of `a.csv`, each once").
pub(super) fn leave_out<const N: usize>(
    found: [Note; N],
    expected: &str,
    bad: Bad,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let count: usize = found.iter().map(|note| note.count).sum();
    if count > 0 && bad != Bad::LeftOut {
        let message = format!("expected {expected}, got {count} that cannot{}", all_of(&found));
        let hint = "mend or remove what is listed; without `--strict`, it is left out and counted";
        return Err(Error::input(message, (bad == Bad::Refused).then(|| hint.to_owned())));
    }
    notes.extend(met(found));
    Ok(())
}

/// What notes list, as the end of a message: one thing on its line, several on lines of their own.
fn all_of(found: &[Note]) -> String {
    let listed: Vec<&str> = found.iter().flat_map(|note| &note.listed).map(String::as_str).collect();
    let more = found.iter().map(|note| note.more).sum::<usize>() + listed.len().saturating_sub(LISTED);
    match &listed[..] {
        [] => String::new(),
        [one] if more == 0 => format!(": {one}"),
        _ => {
            let lines: String = listed.iter().take(LISTED).map(|line| format!("\n  {line}")).collect();
            lines + &if more > 0 { format!("\n  and {more} more") } else { String::new() }
        }
    }
}

/// Refuses the first that was met of what `--strict` does not bear, each with what was expected in its place.
pub(super) fn refuse_first<const N: usize>(refusals: [(&Note, String); N], source: &Path, hint: &str) -> Result<()> {
    match refusals.into_iter().find(|(note, _)| note.count > 0) {
        None => Ok(()),
        Some((note, expected)) => {
            let (source, all) = (source.display(), all_of(std::slice::from_ref(note)));
            let message = format!("{expected} in `{source}`, got {} otherwise{all}", note.count);
            Err(Error::input(message, Some(hint.to_owned())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_told_as_one() {
        let mut note = Note::about("row was left out", "rows were left out");
        note.add(|| "a".to_owned());
        assert_eq!((note.count, note.message.as_str()), (1, "row was left out"));
        note.add_many(30, || "b".to_owned());
        assert_eq!((note.count, note.message.as_str()), (31, "rows were left out"));
        assert_eq!((note.listed.join(" "), note.more), ("a b".to_owned(), 0));
        (0..20).for_each(|_| note.add_many(2, || "c".to_owned()));
        assert_eq!((note.count, note.listed.len(), note.more), (71, 20, 4));
        assert_eq!(Note::of(1, "row", "rows").message, "row");
        assert_eq!(Note::of(0, "row", "rows").message, "rows");
    }

    #[test]
    fn what_is_bad_is_left_out_or_refused_with_the_hint_that_helps() {
        let found = || [Note::about("a", "a"), Note { listed: vec!["x: y".to_owned()], ..Note::of(2, "row", "rows") }];
        let told = |bad: Bad| {
            let mut notes = Vec::new();
            leave_out(found(), "3 rows that can be used", bad, &mut notes).map(|()| notes).map_err(|e| e.to_string())
        };
        let notes = told(Bad::of(false, true)).unwrap();
        assert_eq!(notes.len(), 1, "what was not met is not noted");
        let refused = told(Bad::of(true, true)).unwrap_err();
        assert!(refused.starts_with("expected 3 rows that can be used, got 2 that cannot: x: y\nhint: "), "{refused}");
        // Where nothing is left, the option changes nothing.
        for strict in [false, true] {
            assert!(told(Bad::of(strict, false)).unwrap_err().ends_with("got 2 that cannot: x: y"));
        }
        let mut several = [Note::about("a", "a"), Note::about("b", "b")];
        several[0].add_many(3, || "x: 3".to_owned());
        several[1].add(|| "y".to_owned());
        let refused = leave_out(several, "rows", Bad::Refused, &mut Vec::new()).unwrap_err().to_string();
        assert!(refused.starts_with("expected rows, got 4 that cannot\n  x: 3\n  y\nhint: mend"), "{refused}");
        let mut many = [Note::about("a", "a"), Note::about("b", "b")];
        (0..23).for_each(|number| many[0].add(|| format!("x{number}")));
        (0..5).for_each(|number| many[1].add(|| format!("y{number}")));
        let refused = leave_out(many, "rows", Bad::Everything, &mut Vec::new()).unwrap_err().to_string();
        assert!(refused.ends_with("\n  x19\n  and 8 more") && !refused.contains("y0"), "{refused}");
        let nothing = [Note::about("a", "a")];
        assert!(leave_out(nothing, "rows", Bad::Refused, &mut Vec::new()).is_ok());
    }
}
