//! What rules can speak of: `obj:<category>` and `rel:<subject>-<predicate>-<object>`, as the importer calls them.

use chimera::data::vidor::{object_name, relation_name};
use chimera::error::{Error, Result};
use chimera_logic::vocabulary::Vocabulary;

use super::cast::Category;
use super::relation::Predicate;
use crate::wish::Meaning;

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
            return Err(Error::input(message, Some(why.to_owned())));
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

/// Why a relation never holds between two categories, if so.
fn never(subject: Category, predicate: Predicate, object: Category) -> Option<&'static str> {
    let stays = |category: Category| category.nature().speed == 0.0;
    // Birds fly, and cats and toys may be on a chair.
    let rises = |category: Category| matches!(category, Category::Bird | Category::Cat | Category::Toy);
    match predicate {
        Predicate::Chase | Predicate::Watch if !subject.nature().lives => {
            Some("only people and animals watch and chase")
        }
        Predicate::Towards | Predicate::Away if stays(subject) => {
            Some("a toy, a chair and a bicycle stay where they are")
        }
        Predicate::Chase if stays(object) => Some("a toy, a chair and a bicycle stay where they are"),
        Predicate::Above if !rises(subject) => Some("only a bird, a cat and a toy are above others"),
        Predicate::Beneath if !rises(object) => Some("only a bird, a cat and a toy are above others"),
        _ => None,
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
    use super::*;
    use crate::presets;
    use crate::wish::{HouseRules, Wish};

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
        assert!(message("rel:dog-chase-chair").contains("stay where they are"));
        assert!(message("rel:toy-away-dog").contains("stay where they are"));
        assert!(message("rel:horse-above-dog").contains("are above others"));
        assert!(message("rel:dog-beneath-horse").contains("are above others"));
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
