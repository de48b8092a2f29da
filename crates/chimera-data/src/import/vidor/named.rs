//! Concepts that rules name are labelled however rare they are, also where they hold in no video. What no annotation has a word
//! for is a mistake; a word that is only met in frames that are not taken is told.

use std::collections::{BTreeMap, BTreeSet};

use chimera_logic::bits::BitTable;

use super::outline::{Clip, Words};
use super::vocabulary::{object_name, relation_name};
use crate::error::{Error, Result, shown};
use crate::import::RuleConcepts;
use crate::import::note::{Note, met};
use crate::import::samples::Labelled;

/// Adds what rules name and is no concept yet, in the rules' order. `words` are those of all annotations, also of samples that
/// are not taken.
pub(super) fn with(
    labelled: Labelled,
    rules: &RuleConcepts,
    clips: &[&Clip],
    words: &Words,
    notes: &mut Vec<Note>,
) -> Result<Labelled> {
    let Labelled { mut concepts, labels } = labelled;
    let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let known: BTreeSet<&String> = concepts.iter().collect();
    let added: Vec<&String> = rules.names.iter().filter(|name| !known.contains(name)).collect();
    added.iter().for_each(|name| drop(rows.insert(name, Vec::new())));
    let mut seen = Words::default();
    for (row, clip) in clips.iter().enumerate() {
        seen.categories.extend(clip.objects.iter().cloned());
        seen.predicates.extend(clip.relations.iter().map(|triple| triple.predicate.clone()));
        let names = clip.objects.iter().map(|category| object_name(category));
        for name in names.chain(clip.relations.iter().map(relation_name)) {
            if let Some(rows) = rows.get_mut(name.as_str()) {
                rows.push(row);
            }
        }
    }
    // What holds somewhere has words that are seen.
    let mut unseen = BTreeSet::new();
    for name in added.iter().filter(|name| rows[name.as_str()].is_empty()) {
        unseen.extend(words.of_name(name, rules)?.into_iter().filter(|word| !seen.has(*word)));
    }
    notes.extend(why_unseen(&unseen, &Words::of(clips.iter().copied())));
    let mut all = BitTable::zeros(clips.len(), concepts.len() + added.len());
    for column in 0..concepts.len() {
        (0..clips.len()).filter(|&row| labels.get(row, column)).for_each(|row| all.set(row, column, true));
    }
    for name in added {
        rows.remove(name.as_str()).into_iter().flatten().for_each(|row| all.set(row, concepts.len(), true));
        concepts.push(name.clone());
    }
    Ok(Labelled { concepts, labels: all })
}

/// Why words of the annotations are not seen, by those of the clips that are taken.
fn why_unseen(unseen: &BTreeSet<Word<'_>>, taken: &Words) -> impl Iterator<Item = Note> {
    let never = "in the annotations, but in no frame that is taken: more `--frames` may show";
    let left_out = "only in annotations that are left out, by `--limit` or since their video came before";
    let [mut elsewhere, mut beyond] = [(never, " it", " them"), (left_out, "", "")].map(|(why, one, more)| {
        Note::about(format!("word of rules is {why}{one}"), format!("words of rules are {why}{more}"))
    });
    for word in unseen {
        let note = if taken.has(*word) { &mut elsewhere } else { &mut beyond };
        note.add(|| shown(word.text()));
    }
    met([elsewhere, beyond])
}

/// A word of a name. One may be for things and for what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word<'a> {
    Category(&'a str),
    Predicate(&'a str),
}

impl<'a> Word<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Category(word) | Self::Predicate(word) => word,
        }
    }
}

impl Words {
    /// All that clips have.
    pub(super) fn of<'a>(clips: impl Iterator<Item = &'a Clip>) -> Self {
        let mut words = Self::default();
        for clip in clips {
            words.categories.extend(clip.words.categories.iter().cloned());
            words.predicates.extend(clip.words.predicates.iter().cloned());
        }
        words
    }

    fn has(&self, word: Word<'_>) -> bool {
        self.alike(word).contains(word.text())
    }

    /// The words of its kind.
    fn alike(&self, word: Word<'_>) -> &BTreeSet<String> {
        match word {
            Word::Category(_) => &self.categories,
            Word::Predicate(_) => &self.predicates,
        }
    }

    /// The words of a name; refuses one that is none of these.
    fn of_name<'a>(&self, name: &'a str, rules: &RuleConcepts) -> Result<Vec<Word<'a>>> {
        // Of several ways to read a name, the first that knows most of its words.
        let known = |words: &Vec<Word<'_>>| words.iter().filter(|word| self.has(**word)).count();
        let Some(words) = readings(name).into_iter().rev().max_by_key(known) else {
            let form = "`obj:<category>` or `rel:<subject>-<predicate>-<object>`";
            let message =
                format!("expected {form} of the annotations in `{}`, got `{}`", rules.file.display(), shown(name));
            return Err(Error::input(message, None));
        };
        match words.iter().find(|word| !self.has(**word)) {
            None => Ok(words),
            Some(word) => {
                let expected = format!("words of the annotations in `{}`", shown(name));
                let text = shown(word.text());
                let hint =
                    format!("no annotation speaks of `{text}`: take out the rules that do, or import more videos");
                Err(rules.unknown(&expected, word.text(), self.alike(*word).iter().cloned(), &hint))
            }
        }
    }
}

/// All ways to read a name: words may have hyphens, as a `t-shirt` has.
fn readings(name: &str) -> Vec<Vec<Word<'_>>> {
    if let Some(category) = name.strip_prefix("obj:") {
        return vec![vec![Word::Category(category)]];
    }
    let Some(parts) = name.strip_prefix("rel:") else { return Vec::new() };
    let hyphens: Vec<usize> = parts.match_indices('-').map(|(at, _)| at).collect();
    let pairs =
        hyphens.iter().enumerate().flat_map(|(number, one)| hyphens[number + 1..].iter().map(move |two| (*one, *two)));
    let read = |(one, two): (usize, usize)| {
        vec![Word::Category(&parts[..one]), Word::Predicate(&parts[one + 1..two]), Word::Category(&parts[two + 1..])]
    };
    pairs.map(read).collect()
}
