//! The concepts that rules may speak of: interned names, taken from the rules' own use or from a table's columns.

use indexmap::IndexSet;

/// A concept, numbered in the order of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConceptId(pub u32);

impl ConceptId {
    /// The number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Concept names with their numbers. An *open* vocabulary takes every name that a rule uses; a *closed* one knows just the
/// names it was made with, so that a misspelt concept is an error.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    names: IndexSet<String, foldhash::fast::RandomState>,
    /// Where the names of a closed vocabulary come from, for messages.
    origin: Option<String>,
}

impl Vocabulary {
    /// A vocabulary that grows with use.
    #[must_use]
    pub fn open() -> Self {
        Self::default()
    }

    /// A vocabulary of exactly these names, in this order; `origin` says where they come from ("the columns of x.csv").
    pub fn closed(names: impl IntoIterator<Item = String>, origin: impl Into<String>) -> Self {
        Self { names: names.into_iter().collect(), origin: Some(origin.into()) }
    }

    /// Where a closed vocabulary comes from; `None` if it is open.
    #[must_use]
    pub fn origin(&self) -> Option<&str> {
        self.origin.as_deref()
    }

    /// The concept of this name; an open vocabulary takes it in if it is new.
    pub fn resolve(&mut self, name: &str) -> Option<ConceptId> {
        if let Some(id) = self.get(name) {
            return Some(id);
        }
        self.origin.is_none().then(|| ConceptId(self.names.insert_full(name.to_owned()).0 as u32))
    }

    /// The concept of this name, if it is known.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<ConceptId> {
        self.names.get_index_of(name).map(|index| ConceptId(index as u32))
    }

    /// A concept's name.
    #[must_use]
    pub fn name(&self, id: ConceptId) -> &str {
        &self.names[id.index()]
    }

    /// Number of concepts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no concept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The known name that is most like `name`, if any is like it at all.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names())
    }
}

/// The candidate with the smallest edit distance, if that is at most a third of the word; upper and lower case count as equal.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Longer names are not compared: nobody misspells them by hand, and time stays bounded.
    const LONGEST: usize = 128;
    let folded: Vec<char> = word.chars().flat_map(char::to_lowercase).take(LONGEST + 1).collect();
    if folded.len() > LONGEST {
        return None;
    }
    let mut limit = (folded.len() / 3).max(1);
    let mut best = None;
    for candidate in candidates {
        if candidate.len().abs_diff(word.len()) > 4 * limit + 4 {
            continue;
        }
        let other: Vec<char> = candidate.chars().flat_map(char::to_lowercase).take(LONGEST).collect();
        if other.len().abs_diff(folded.len()) > limit {
            continue;
        }
        let distance = edit_distance(&folded, &other, limit);
        // The first of several at the same distance wins; a better one tightens the limit.
        if distance < limit || (distance == limit && best.is_none()) {
            limit = distance;
            best = Some(candidate);
            if distance == 0 {
                break;
            }
        }
    }
    best
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment), given up once above `limit`.
fn edit_distance(a: &[char], b: &[char], limit: usize) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..=b.len() {
            let replace = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replace.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        // A swap reaches back two rows, so both must be beyond the limit.
        let hopeless = row.iter().chain(&previous).all(|&distance| distance > limit);
        if hopeless {
            return limit + 1;
        }
        std::mem::swap(&mut before, &mut previous);
        std::mem::swap(&mut previous, &mut row);
    }
    previous[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>(), 9);
        // Counted by hand.
        for (a, b, expected) in
            [("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("bule", "blue", 1), ("ab", "ba", 1)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn nearest_needs_likeness() {
        let words = ["blue_sphere", "red_cube", "Person", "a"];
        assert_eq!(nearest("bule_sphere", words), Some("blue_sphere"));
        assert_eq!(nearest("person", words), Some("Person"));
        assert_eq!(nearest("zebra", words), None);
        assert_eq!(nearest("b", words), Some("a"));
        assert_eq!(nearest(&"x".repeat(10_000), words), None);
    }

    #[test]
    fn open_grows_and_closed_does_not() {
        let mut open = Vocabulary::open();
        assert_eq!(open.resolve("b"), Some(ConceptId(0)));
        assert_eq!(open.resolve("a"), Some(ConceptId(1)));
        assert_eq!(open.resolve("b"), Some(ConceptId(0)));
        let mut closed = Vocabulary::closed(["b".to_owned()], "a test");
        assert_eq!(closed.resolve("a"), None);
        assert_eq!(closed.resolve("b"), Some(ConceptId(0)));
    }
}
