//! What rules can speak of: `obj:<category>` and `rel:<subject>-<predicate>-<object>`, as the importer calls them.

use chimera_data::error::{Error, Result};
use chimera_data::vidor::{object_name, relation_name};
use chimera_logic::vocabulary::Vocabulary;

use super::cast::Category;
use super::relation::Predicate;
use super::walk::heights;
use crate::meanings::Meaning;

/// A concept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concept {
    /// One of a category is there.
    There(Category),
    /// One of a category does something to one of another.
    Related(Category, Predicate, Category),
}

impl Concept {
    /// The concept of a name.
    ///
    /// # Errors
    /// A name that is none, with the nearest one, or a relation that can never hold.
    pub fn named(name: &str) -> Result<Self> {
        let categories = || Category::ALL.iter().map(|category| category.name().to_owned());
        let category = |word: &str| {
            Category::from_name(word).ok_or_else(|| unknown(name, ("category", word), categories().collect()))
        };
        if let Some(word) = name.strip_prefix("obj:") {
            return Ok(Self::There(category(word)?));
        }
        let parts: Option<Vec<&str>> = name.strip_prefix("rel:").map(|parts| parts.split('-').collect());
        let Some([subject, predicate, object]) = parts.as_deref() else {
            let message =
                format!("expected `obj:<category>` or `rel:<subject>-<predicate>-<object>` in rules, got `{name}`");
            let known = Vocabulary::closed(categories().map(|word| object_name(&word)), "categories");
            let nearest = known.nearest(name).map(|nearest| format!("did you mean `{nearest}`?"));
            let example = "write it as in `obj:baby` or `rel:adult-watch-baby`".to_owned();
            return Err(Error::input(message, Some(nearest.unwrap_or(example))));
        };
        let known = || Predicate::ALL.iter().map(|predicate| predicate.name().to_owned()).collect();
        let (subject, object) = (category(subject)?, category(object)?);
        let predicate =
            Predicate::from_name(predicate).ok_or_else(|| unknown(name, ("predicate", predicate), known()))?;
        if let Some(why) = never(subject, predicate, object) {
            let message = format!("expected a relation that can hold, got `{name}`");
            return Err(Error::input(message, Some(why)));
        }
        Ok(Self::Related(subject, predicate, object))
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::There(category) => object_name(category.name()),
            Self::Related(subject, predicate, object) => relation_name(subject.name(), predicate.name(), object.name()),
        }
    }
}

/// A word that is none of those there are.
fn unknown(name: &str, (what, word): (&str, &str), known: Vec<String>) -> Error {
    let message = format!("expected a {what} ({}) in `{name}`, got `{word}`", known.join(", "));
    let nearest = Vocabulary::closed(known, what);
    Error::input(message, nearest.nearest(word).map(|nearest| format!("did you mean `{nearest}`?")))
}

/// Why a relation never holds between two categories, if so: by what they do, and by how high they begin and end.
fn never(subject: Category, predicate: Predicate, object: Category) -> Option<String> {
    let (one, other) = (subject.name(), object.name());
    let stays = |category: Category| {
        (category.nature().speed == 0.0).then(|| format!("`{}` stays where it is", category.name()))
    };
    let ([begins, ends], [others_begin, others_end]) = (heights(subject), heights(object));
    match predicate {
        Predicate::Chase | Predicate::Watch if !subject.nature().lives => {
            Some("only people and animals watch and chase".to_owned())
        }
        Predicate::Chase => stays(object),
        Predicate::Towards | Predicate::Away => stays(subject),
        Predicate::Above => {
            (begins.end < others_end.start).then(|| format!("`{one}` is never as high as the top of `{other}`"))
        }
        Predicate::Beneath => never(object, Predicate::Above, subject),
        Predicate::InFrontOf | Predicate::Behind | Predicate::NextTo => {
            let apart = begins.start >= others_end.end || others_begin.start >= ends.end;
            apart.then(|| format!("`{one}` and `{other}` are never at the same height"))
        }
        Predicate::Watch => None,
    }
}

impl Meaning for Concept {
    type Object = Category;

    /// Everybody is seen in a frame that is looked at; what happens to whom depends on where they go.
    fn among(&self, objects: &[Category]) -> Option<bool> {
        match self {
            Self::There(category) => Some(objects.contains(category)),
            Self::Related(..) => None,
        }
    }

    fn entails(&self, wider: &Self) -> bool {
        let Self::Related(subject, predicate, object) = *self else { return self == wider };
        match *wider {
            Self::There(category) => category == subject || category == object,
            Self::Related(one, other, two) => {
                let (same, swapped) = ((subject, object) == (one, two), (object, subject) == (one, two));
                (same && predicate == other)
                    || match (predicate, other) {
                        (Predicate::Chase, Predicate::Towards) => same,
                        (Predicate::Chase, Predicate::Away)
                        | (Predicate::Above, Predicate::Beneath)
                        | (Predicate::Beneath, Predicate::Above) => swapped,
                        _ => false,
                    }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::draw::Kind;
    use crate::presets;
    use crate::vidor::story::Stories;
    use crate::wish::{HouseRules, Wish};

    const CLIPS: usize = 120;

    fn named(name: &str) -> Concept {
        Concept::named(name).unwrap()
    }

    #[test]
    fn names_come_back_and_mistakes_are_named() {
        for name in ["obj:baby", "rel:adult-in_front_of-baby", "rel:cat-above-chair", "rel:child-next_to-child"] {
            assert_eq!(named(name).name(), name);
        }
        let message = |name: &str| Concept::named(name).unwrap_err().to_string();
        assert!(message("obj:babby").ends_with("got `babby`\nhint: did you mean `baby`?"), "{}", message("obj:babby"));
        assert!(message("rel:adult-wach-baby").ends_with("got `wach`\nhint: did you mean `watch`?"));
        assert!(message("rel:adult-watch-baybe").contains("(adult, child,"));
        assert!(message("baby").contains("write it as in `obj:baby`"), "{}", message("baby"));
        assert!(message("obj_baby").ends_with("did you mean `obj:baby`?"), "{}", message("obj_baby"));
        assert!(message("rel:adult-baby").contains("got `rel:adult-baby`"));
        assert!(message("rel:chair-chase-dog").ends_with("hint: only people and animals watch and chase"));
        assert!(message("rel:dog-chase-chair").ends_with("hint: `chair` stays where it is"));
        assert!(message("rel:toy-away-dog").ends_with("hint: `toy` stays where it is"));
        assert!(message("rel:horse-above-dog").ends_with("hint: `horse` is never as high as the top of `dog`"));
        assert!(message("rel:dog-beneath-cat").ends_with("hint: `cat` is never as high as the top of `dog`"));
        assert!(message("rel:bird-next_to-baby").ends_with("hint: `bird` and `baby` are never at the same height"));
    }

    /// What is said never to hold holds in no clip, and nearly all else does, among hundreds with each pair of categories.
    #[test]
    fn what_never_holds_is_never_drawn() {
        let (kind, mut random) = (Stories::new(0.0).unwrap(), fastrand::Rng::with_seed(9));
        let mut met = BTreeSet::new();
        let pairs = Category::ALL.into_iter().flat_map(|one| Category::ALL.map(|other| (one, other)));
        for (one, other) in pairs.filter(|(one, other)| one <= other) {
            for _ in 0..CLIPS {
                // A chair, for whoever may be on it.
                let Some(story) = kind.place(&mut random, &[one, other, Category::Chair]) else { continue };
                let category = |who: usize| story.beings[who].category;
                met.extend(
                    story.relations.iter().map(|met| (category(met.subject), met.predicate, category(met.object))),
                );
            }
        }
        let (mut possible, mut unmet) = (0, Vec::new());
        for (subject, object) in Category::ALL.into_iter().flat_map(|one| Category::ALL.map(|other| (one, other))) {
            for predicate in Predicate::ALL {
                let (is_met, why) = (met.contains(&(subject, predicate, object)), never(subject, predicate, object));
                assert!(!is_met || why.is_none(), "{subject:?} {predicate:?} {object:?}: {why:?}");
                possible += usize::from(why.is_none());
                unmet.extend((!is_met && why.is_none()).then_some((subject, predicate, object)));
            }
        }
        assert!(unmet.len() * 20 < possible, "{} of {possible}: {unmet:?}", unmet.len());
    }

    #[test]
    fn a_relation_entails_its_sides_and_what_it_is_made_of() {
        let entails = |one: &str, other: &str| named(one).entails(&named(other));
        assert!(entails("rel:dog-chase-cat", "obj:dog") && entails("rel:dog-chase-cat", "obj:cat"));
        assert!(
            entails("rel:dog-chase-cat", "rel:dog-towards-cat") && entails("rel:dog-chase-cat", "rel:cat-away-dog")
        );
        assert!(
            !entails("rel:dog-chase-cat", "rel:cat-towards-dog")
                && !entails("rel:dog-towards-cat", "rel:dog-chase-cat")
        );
        assert!(entails("rel:cat-above-chair", "rel:chair-beneath-cat"));
        assert!(entails("rel:chair-beneath-cat", "rel:cat-above-chair"));
        assert!(
            !entails("obj:dog", "rel:dog-chase-cat") && entails("obj:dog", "obj:dog") && !entails("obj:dog", "obj:cat")
        );
        assert!(!entails("rel:dog-watch-cat", "obj:baby"));
    }

    /// What relations entail counts: a rule that says no more than that can never be broken.
    #[test]
    fn rules_are_broken_alone_where_meaning_allows_it() {
        let alone = |text: &str| -> Vec<bool> {
            let rules = HouseRules::over(presets::rules(text), Concept::named).unwrap();
            (0..rules.len()).map(|rule| rules.in_order(Wish::Broken(rule))[0] == Wish::Broken(rule)).collect()
        };
        assert_eq!(alone("a: rel:dog-chase-cat => obj:dog\nb: obj:dog => rel:dog-chase-cat\n"), [false, true]);
        assert_eq!(alone("a: rel:dog-chase-cat => rel:cat-away-dog\nb: obj:cat => obj:dog\n"), [false, true]);
        // Whoever breaks the first breaks the second.
        assert_eq!(alone("a: rel:adult-watch-baby => obj:dog\nb: obj:baby => obj:dog\n"), [false, true]);
        assert!(alone(presets::VIDOR).iter().all(|alone| *alone), "a rule of the preset follows from others");
    }
}
