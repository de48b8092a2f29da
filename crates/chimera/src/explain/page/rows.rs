//! What of long lists a page shows: concepts of the worst rules, and where each is among all that are told.

use chimera_logic::rules::RuleSet;

use super::MOST_ROWS;
use crate::explain::told::Explanation;
use crate::gate::heads::concepts_of;

/// Concepts of a page.
pub(super) struct Rows {
    /// For each concept of the vocabulary, its place among those that are told.
    places: Vec<Option<usize>>,
    /// Places of those that tables show, in their order.
    pub(super) shown: Vec<usize>,
}

impl Rows {
    pub(super) fn of(told: &Explanation, rule_set: &RuleSet) -> Self {
        let vocabulary = rule_set.dag.vocabulary();
        let mut places = vec![None; vocabulary.len()];
        for (place, of) in told.concepts.iter().enumerate() {
            if let Some(concept) = vocabulary.get(&of.concept) {
                places[concept.index()] = Some(place);
            }
        }
        let mut is_shown = vec![told.concepts.len() <= MOST_ROWS; told.concepts.len()];
        let mut left = MOST_ROWS;
        for standing in &told.standings {
            let Some(rule) = rule_set.rules.iter().position(|rule| rule.name == standing.rule) else { continue };
            for place in concepts_of(rule_set, rule).filter_map(|concept| places[concept.index()]) {
                if left > 0 && !is_shown[place] {
                    is_shown[place] = true;
                    left -= 1;
                }
            }
            if left == 0 {
                break;
            }
        }
        let shown = (0..is_shown.len()).filter(|&place| is_shown[place]).collect();
        Self { places, shown }
    }

    /// The place of a concept, by number, among those that are told.
    pub(super) fn place(&self, concept: usize) -> Option<usize> {
        self.places.get(concept).copied().flatten()
    }
}
