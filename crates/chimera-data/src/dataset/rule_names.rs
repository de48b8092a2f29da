//! Names for rules that nobody wrote: made of the names of their concepts.

use std::collections::BTreeSet;

/// A name of small letters, digits and `_`.
pub fn slug(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// The name, with a number behind it where it is taken.
pub fn unused(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = |number: usize| if number == 1 { name.to_owned() } else { format!("{name}_{number}") };
    let free = (1..).map(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
    taken.insert(free.clone());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_and_never_the_same() {
        assert_eq!(slug("rel:Dog-chase-\u{c9}t\u{e9} (2)"), "rel_dog_chase_\u{e9}t\u{e9}_2");
        let mut taken = BTreeSet::new();
        assert_eq!(["a", "a", "b", "a"].map(|name| unused(name, &mut taken)), ["a", "a_2", "b", "a_3"]);
    }
}
