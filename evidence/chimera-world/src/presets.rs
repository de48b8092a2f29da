//! Built-in rules, a file a world.

use chimera_logic::load::load_text;
use chimera_logic::rules::RuleSet;
use chimera_logic::vocabulary::Vocabulary;

/// Rules for still scenes.
pub const CLEVR: &str = include_str!("../presets/clevr.rules");

/// Rules for clips.
pub const CLEVRER: &str = include_str!("../presets/clevrer.rules");

/// Rules for clips of moving figures.
pub const VIDOR: &str = include_str!("../presets/vidor.rules");

/// Rules for pictures of the kind of Open Images.
pub const OPENIMAGES: &str = include_str!("../presets/openimages.rules");

/// A built-in file as rules.
#[must_use]
pub fn rules(text: &str) -> RuleSet {
    load_text("built-in rules", text, Vocabulary::open()).rule_set
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photo::class::Class;
    use crate::vidor::concept::Concept;
    use crate::wish::HouseRules;

    /// How many rules a file has, which are all sound.
    fn sound(text: &str) -> usize {
        let loaded = load_text("built-in", text, Vocabulary::open());
        assert_eq!(loaded.diagnostics.errors(), 0);
        for rule in &loaded.rule_set.rules {
            // What is written is what would be inferred.
            let mut plain = rule.clone();
            let written = plain.attributes.family.take().unwrap();
            assert_eq!(loaded.rule_set.family(&plain), written, "{}", rule.name);
        }
        loaded.rule_set.rules.len()
    }

    #[test]
    fn built_in_files_are_sound() {
        for (text, moving, count) in [(CLEVR, false, 8), (CLEVRER, true, 10)] {
            assert_eq!(sound(text), count);
            assert_eq!(HouseRules::new(rules(text), moving).unwrap().len(), count);
        }
        assert!(HouseRules::new(rules(CLEVRER), false).is_err(), "no events in still pictures");
        assert_eq!(sound(VIDOR), 10);
        assert_eq!(HouseRules::over(rules(VIDOR), Concept::named).unwrap().len(), 10);
        assert_eq!(sound(OPENIMAGES), 13);
        assert_eq!(HouseRules::over(rules(OPENIMAGES), Class::named).unwrap().len(), 13);
    }
}
