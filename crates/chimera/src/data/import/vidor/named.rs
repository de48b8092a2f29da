//! Concepts that rules name are labelled however rare they are, also where they hold in no video. What no annotation has a word
//! for is a mistake.

use std::collections::{BTreeMap, BTreeSet};

use chimera_logic::bits::BitTable;
use chimera_logic::vocabulary::Vocabulary;

use super::outline::Clip;
use super::vocabulary::{object_name, relation_name};
use crate::data::cell::shown;
use crate::data::import::RuleConcepts;
use crate::data::import::samples::Labelled;
use crate::error::{Error, Result};

/// Adds what rules name and is no concept yet, in the rules' order.
pub(super) fn with(labelled: Labelled, rules: Option<&RuleConcepts>, clips: &[&Clip]) -> Result<Labelled> {
    let Some(rules) = rules else { return Ok(labelled) };
    let Labelled { mut concepts, labels } = labelled;
    let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let known: BTreeSet<&String> = concepts.iter().collect();
    let added: Vec<&String> = rules.names.iter().filter(|name| !known.contains(name)).collect();
    added.iter().for_each(|name| drop(rows.insert(name, Vec::new())));
    let mut words = Words::default();
    for (row, clip) in clips.iter().enumerate() {
        words.categories.extend(&clip.objects);
        words.predicates.extend(clip.relations.iter().map(|triple| &triple.predicate));
        let names = clip.objects.iter().map(|category| object_name(category));
        for name in names.chain(clip.relations.iter().map(relation_name)) {
            if let Some(rows) = rows.get_mut(name.as_str()) {
                rows.push(row);
            }
        }
    }
    let holds = |name: &&&String| rows.get(name.as_str()).is_some_and(|rows| !rows.is_empty());
    for name in added.iter().filter(|name| !holds(name)) {
        words.check(name, rules)?;
    }
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

/// What annotations have words for.
#[derive(Default)]
struct Words<'a> {
    categories: BTreeSet<&'a String>,
    predicates: BTreeSet<&'a String>,
}

impl Words<'_> {
    /// Refuses a name that is not made of known words.
    fn check(&self, name: &str, rules: &RuleConcepts) -> Result<()> {
        let among = |words: &BTreeSet<&String>, word: &str| {
            if words.iter().any(|known| *known == word) {
                return Ok(());
            }
            let vocabulary = Vocabulary::closed(words.iter().map(|word| (*word).clone()), "annotations");
            let nearest = vocabulary.nearest(word).map(|nearest| format!("did you mean `{nearest}`?"));
            let (word, name, file) = (shown(word), shown(name), rules.file.display());
            Err(Error::input(
                format!("expected words of the annotations in `{name}` of `{file}`, got `{word}`"),
                nearest,
            ))
        };
        let parts: Option<Vec<&str>> = name.strip_prefix("rel:").map(|parts| parts.split('-').collect());
        match (name.strip_prefix("obj:"), parts.as_deref()) {
            (Some(category), _) => among(&self.categories, category),
            (_, Some([subject, predicate, object])) => {
                among(&self.categories, subject)?;
                among(&self.predicates, predicate)?;
                among(&self.categories, object)
            }
            _ => {
                let form = "`obj:<category>` or `rel:<subject>-<predicate>-<object>`";
                let message =
                    format!("expected {form} of the annotations in `{}`, got `{}`", rules.file.display(), shown(name));
                Err(Error::input(message, None))
            }
        }
    }
}
